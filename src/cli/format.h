/* format: chooses the format by --format and --by, and knows which options go with it. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <stdbool.h>

#include "cli/options.h"

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

/* Returns whether the chosen format takes an option: whether it has any of the flags in takes (enum
 * g2h_format_option). Returns false after printing which formats take it. */
bool format_takes(const struct options *options, const char *option, unsigned takes);

#endif
