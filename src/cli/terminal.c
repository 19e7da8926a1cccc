/* terminal; see terminal.h. */
#include "cli/terminal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_is_output(const struct options *options)
{
    return !options->output && isatty(STDOUT_FILENO);
}

unsigned terminal_columns(const struct options *options)
{
    const char *columns = getenv("COLUMNS");
    const unsigned long number = columns ? strtoul(columns, NULL, 10) : 0;
    struct winsize size = {.ws_col = 0};
    if (number > 0)
        return number < UINT_MAX ? (unsigned)number : UINT_MAX;
    return terminal_is_output(options) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
                                                                                       : 0;
}

bool terminal_has_color(const struct options *options)
{
    const char *never = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return terminal_is_output(options) && !options->gzip && (!never || *never == '\0') &&
           terminal && *terminal != '\0' && strcmp(terminal, "dumb") != 0;
}
