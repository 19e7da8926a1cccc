/* G2H_PUBLIC marks what the shared library exports; everything else is hidden. */
#ifndef GO2HEAPSNAPSHOT_VISIBILITY_H
#define GO2HEAPSNAPSHOT_VISIBILITY_H

#if defined(__GNUC__)
#define G2H_PUBLIC __attribute__((visibility("default")))
#else
#define G2H_PUBLIC
#endif

#endif
