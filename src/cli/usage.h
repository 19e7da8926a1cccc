/* usage: the help text, and messages about a wrong command line. */
#ifndef CLI_USAGE_H
#define CLI_USAGE_H

#include <stdbool.h>

#include "cli/messages.h"

/* Print the text of --help or --version to standard output. Return the exit status. */
int usage_print_help(void);
int usage_print_version(void);

/* Prints all formats on stderr, one per line. */
void usage_say_formats(void);

/* Prints the error in the command line, by the rules of say(), and where to find help. Its value is
 * false. */
#define USAGE_REFUSE(...) (say("go2heapsnapshot: " __VA_ARGS__), usage_say_hint())
bool usage_say_hint(void);

#endif
