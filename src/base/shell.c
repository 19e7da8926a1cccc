/* shell; see shell.h. */
#include "base/shell.h"

#include <stdbool.h>
#include <string.h>

/* Returns whether a word needs no quoting. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    return *word && word[strspn(word, plain)] == '\0';
}

/* Appends a word in single quotes; a quote inside closes them, and is escaped. */
static void append_quoted(struct text *command, const char *word)
{
    text_append_string(command, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_append_string(command, "'\\''");
        else
            text_append(command, word, 1);
    text_append_string(command, "'");
}

void shell_append(struct text *command, const char *word)
{
    if (is_plain(word))
        text_append_string(command, word);
    else
        append_quoted(command, word);
}
