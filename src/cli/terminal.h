/* terminal: properties of the terminal for text output. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

#include "cli/options.h"

/* Returns whether the output goes to a terminal. */
bool terminal_is_output(const struct options *options);

/* Returns the width of a report: COLUMNS, as for other programs, else that of the terminal; 0: the
 * report chooses. */
unsigned terminal_columns(const struct options *options);

/* Returns whether the output may have colour: not if NO_COLOR is set (no-color.org), and not on a
 * terminal without colours. */
bool terminal_has_color(const struct options *options);

#endif
