/* The version of libgo2heapsnapshot, by semantic versioning. The Makefile reads it from here. */
#ifndef GO2HEAPSNAPSHOT_VERSION_H
#define GO2HEAPSNAPSHOT_VERSION_H

#define G2H_VERSION "0.1.0"

#endif
