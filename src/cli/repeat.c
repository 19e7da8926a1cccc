/* repeat; see repeat.h. */
#include "cli/repeat.h"

#include <string.h>

#include "base/printable.h"
#include "base/shell.h"

void repeat_input(struct text *command, const char *path)
{
    text_append(command, " ", 1);
    if (path[0] == '-' && path[1] != '\0')
        text_append(command, "./", 2);
    shell_append(command, path);
}

void repeat_option(struct text *command, const char *name, const char *argument, bool is_attached)
{
    text_printf(command, " --%s", name);
    if (argument && !is_attached && *argument != '-')
        text_append(command, " ", 1);
    else if (argument)
        text_append(command, "=", 1);
    if (argument)
        shell_append(command, argument);
}

bool repeat_end(struct text *command)
{
    text_append(command, "", 1);
    return !command->failed && printable_is(command->data, command->size - 1);
}
