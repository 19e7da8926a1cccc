/* usage: what the program says of itself, and of a command line that is wrong. */
#ifndef CLI_USAGE_H
#define CLI_USAGE_H

#include <stdbool.h>

#include "cli/messages.h"

/* Print to standard output what --help and --version say. Give the exit status. */
int usage_print_help(void);
int usage_print_version(void);

/* Says all formats, one a line. */
void usage_say_formats(void);

/* Says what is wrong with the command line, as say() does, and where to look. Gives false. */
#define USAGE_REFUSE(...) (say("go2heapsnapshot: " __VA_ARGS__), usage_say_hint())
bool usage_say_hint(void);

#endif
