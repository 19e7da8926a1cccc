/* check: whether options go together. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stdbool.h>

#include "cli/options.h"

/* Whether what was given goes with the format, and it has all that it needs; false after saying
 * what is wrong. */
bool check_options(const struct options *options);

/* Whether the dumps can be converted as they are given; false after saying why not. */
bool check_inputs(const struct options *options);

#endif
