/* format: which format --format and --by choose, and which options go with it. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <stdbool.h>

#include "cli/options.h"

/* What is no format of a view: the records that views are made of. */
#define FORMAT_DUMP "dump"

/* Whether a format is written without --by. */
bool format_is_usual(const struct g2h_format *format);

/* Chooses the format of a name. False after saying that there is none. */
bool format_choose(struct options *options, const char *name);

/* Chooses another one of that name. False after saying what --by takes, or which formats take it.
 */
bool format_choose_by(struct options *options, const char *by);

/* Whether the format looks at an option, which some of takes, enum g2h_format_option, say. False
 * after saying which ones do. */
bool format_takes(const struct options *options, const char *option, unsigned takes);

#endif
