/* repeat; see repeat.h. */
#include "cli/repeat.h"

#include <string.h>

#include "base/printable.h"

/* Returns whether a shell takes a word as it is. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    return *word && word[strspn(word, plain)] == '\0';
}

/* Appends a word in single quotes; one of its own ends them, and is escaped. */
static void append_quoted(struct text *command, const char *word)
{
    text_append(command, "'", 1);
    for (; *word; word++)
        if (*word == '\'')
            text_append(command, "'\\''", 4);
        else
            text_append(command, word, 1);
    text_append(command, "'", 1);
}

static void append_word(struct text *command, const char *word)
{
    if (is_plain(word))
        text_append(command, word, strlen(word));
    else
        append_quoted(command, word);
}

void repeat_input(struct text *command, const char *path)
{
    text_append(command, " ", 1);
    if (path[0] == '-' && path[1] != '\0')
        text_append(command, "./", 2);
    append_word(command, path);
}

void repeat_option(struct text *command, const char *name, const char *argument, bool is_attached)
{
    text_printf(command, " --%s", name);
    if (argument && !is_attached && *argument != '-')
        text_append(command, " ", 1);
    else if (argument)
        text_append(command, "=", 1);
    if (argument)
        append_word(command, argument);
}

bool repeat_end(struct text *command)
{
    text_append(command, "", 1);
    return !command->failed && printable_is(command->data, command->size - 1);
}
