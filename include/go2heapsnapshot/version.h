/* The version of libgo2heapsnapshot, by semantic versioning. The Makefile reads it from here. */
#ifndef GO2HEAPSNAPSHOT_VERSION_H
#define GO2HEAPSNAPSHOT_VERSION_H

#include <go2heapsnapshot/visibility.h>

#define G2H_VERSION "0.1.0"

G2H_BEGIN

/* Returns the G2H_VERSION of the library in use at run time. */
G2H_PUBLIC const char *g2h_version(void);

G2H_END

#endif
