/* terminal: how what people read is to look. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

#include "cli/options.h"

/* Whether what is written goes to a terminal. */
bool terminal_is_output(const struct options *options);

/* How wide a report is to be, as other programs are told, or as the terminal is; 0: as it likes. */
unsigned terminal_columns(const struct options *options);

/* Whether there is a colour: no-color.org, and terminals that have none. */
bool terminal_has_color(const struct options *options);

#endif
