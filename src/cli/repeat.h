/* repeat: the user's own command line, for messages and reports that suggest the next command. */
#ifndef CLI_REPEAT_H
#define CLI_REPEAT_H

#include <stdbool.h>

#include "base/text.h"

/* Appends a blank and the path of a dump, quoted for a shell if it has to be; one that begins with
 * '-' as an option does is given as a path in this directory. */
void repeat_input(struct text *command, const char *path);

/* Appends a long option; argument may be NULL. is_attached: it needs the form --NAME=ARGUMENT. */
void repeat_option(struct text *command, const char *name, const char *argument, bool is_attached);

/* Returns whether a command can be shown and typed: it has no control characters, and memory has
 * not run out. Ends it with a NUL. */
bool repeat_end(struct text *command);

#endif
