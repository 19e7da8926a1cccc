/*
 * check: chooses the format by the options and the name of the output, and checks whether options
 * go together.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stdbool.h>

#include "cli/options.h"

/* ==== chooses the format by --format and --by, and knows which options go with it ==== */

/* The name of the dump itself, which is not a format of a view, but the records that views are made
 * from. */
#define FORMAT_DUMP "dump"

/* Returns whether a format is chosen by its name alone, without --by. */
static inline bool format_is_usual(const struct g2h_format *format)
{
    return g2h_format_find(format->name, NULL) == format;
}

/* Chooses the format of a name. Returns false after printing that it does not exist. */
bool format_choose(struct options *options, const char *name);

/* Chooses the format that has the same name and is selected by --by. Returns false after printing
 * what --by takes, or which formats take it. */
bool format_choose_by(struct options *options, const char *by);

/* ==== the format that the other options and the name of the output imply ==== */

/*
 * Sets the format unless --format is given: by the suffix of -o, else by options that only one
 * format takes, else report if the output is a terminal. A suffix .gz implies -z, and .json --json.
 * Returns false after printing that --format and the suffix of -o contradict each other, or that
 * this build lacks the format.
 */
bool implied_format(struct options *options);

/* ==== checks whether options go together ==== */

/* Returns whether the options go with the format, and everything that the format needs is given.
 * Returns false after printing what is wrong. */
bool check_options(const struct options *options);

/* Returns whether the dumps can be converted as they are given. Returns false after printing why
 * not. */
bool check_inputs(const struct options *options);

#endif
