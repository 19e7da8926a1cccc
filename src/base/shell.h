/* shell: words of commands that people are told to type. */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

#include "base/text.h"

/* Appends a word as a POSIX shell takes it: in single quotes if it has characters that the shell
 * acts upon. */
void shell_append(struct text *command, const char *word);

#endif
