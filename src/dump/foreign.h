/* foreign: recognizes by their first bytes files that are not dumps, and suggests what to do with
 * them. */
#ifndef DUMP_FOREIGN_H
#define DUMP_FOREIGN_H

#include <go2heapsnapshot/input.h>

/* Makes the error for an input that is not a Go heap dump. The error names the kind of file if it
 * is recognized. */
struct g2h_error *foreign_refuse(const struct g2h_input *input);

#endif
