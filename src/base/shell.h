/* shell: quotes the words of commands that messages suggest. */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

#include "base/text.h"

/* Appends a word quoted for a POSIX shell: in single quotes if it has characters that are special
 * to the shell. */
void shell_append(struct text *command, const char *word);

#endif
