/* G2H_PUBLIC marks what the library exports; everything else is hidden. All declarations between
 * G2H_BEGIN and G2H_END have C linkage, in C++ as well. */
#ifndef GO2HEAPSNAPSHOT_VISIBILITY_H
#define GO2HEAPSNAPSHOT_VISIBILITY_H

#if defined(__GNUC__)
#define G2H_PUBLIC __attribute__((visibility("default")))
#else
#define G2H_PUBLIC
#endif

#ifdef __cplusplus
#define G2H_BEGIN extern "C" {
#define G2H_END   }
#else
#define G2H_BEGIN
#define G2H_END
#endif

#endif
