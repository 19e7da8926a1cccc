/* implied: the format that the other options and the name of the output imply. */
#ifndef CLI_IMPLIED_H
#define CLI_IMPLIED_H

#include <stdbool.h>

#include "cli/options.h"

/*
 * Sets the format unless --format is given: by the suffix of -o, else by options that only one
 * format takes, else report if the output is a terminal. A suffix .gz implies -z, and .json --json.
 * Returns false after printing that --format and the suffix of -o contradict each other, or that
 * this build lacks the format.
 */
bool implied_format(struct options *options);

#endif
