/* check: checks whether options go together. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stdbool.h>

#include "cli/options.h"

/* Returns whether the options go with the format, and everything that the format needs is given.
 * Returns false after printing what is wrong. */
bool check_options(const struct options *options);

/* Returns whether the dumps can be converted as they are given. Returns false after printing why
 * not. */
bool check_inputs(const struct options *options);

#endif
