/* foreign: recognizes files that are given in place of a dump by their first bytes, and says what
 * to do about them. */
#ifndef DUMP_FOREIGN_H
#define DUMP_FOREIGN_H

#include <go2heapsnapshot/input.h>

/* Makes the error for an input that is not a Go heap dump. The error names the kind of file, if
 * that can be told. */
struct g2h_error *foreign_refuse(const struct g2h_input *input);

#endif
