/* next: suggests commands that show more than a short report; see sections.h. */
#include <string.h>

#include <go2heapsnapshot/error.h>

#include "base/printable.h"
#include "base/scope.h"
#include "base/shell.h"
#include "findings/lookup.h"
#include "output/report/sections.h"

/* Adds a command. An option that takes nothing has no argument. */
static void put_command(const struct report *report, const char *command, const char *option,
                        const char *argument)
{
    _cleanup_(text_deinit) struct text line = {0};
    text_append_string(&line, command);
    text_printf(&line, " %s", option);
    if (argument) {
        text_append_string(&line, " ");
        shell_append(&line, argument);
    }
    report->page->out.failed |= line.failed;
    PUT(report->page, "  %s\n", &line);
}

/* Adds an option with a class or an expression as its argument, if that can be typed and leads to
 * something. Ends asked with a NUL. */
static struct g2h_error *put_if_found(const struct report *report, const char *command,
                                      const char *option, struct text *asked)
{
    enum { LONGEST = 160 };
    _cleanup_(lookup_deinit) struct lookup lookup = {.node = UINT32_MAX};
    if (asked->size == 0 || asked->size > LONGEST || asked->data[0] == '-' ||
        !printable_is(asked->data, asked->size))
        return NULL;
    text_append(asked, "", 1);
    TRY_MEMORY(!asked->failed);
    struct g2h_error *error = lookup_find(report->findings, asked->data, &lookup);
    if (!error)
        put_command(report, command, option, asked->data);
    if (error && error->code != G2H_ERROR_NOT_FOUND)
        return error;
    g2h_error_destroy(error);
    return NULL;
}

/* Adds the commands for the first suspect that is objects of a class. */
static struct g2h_error *report_next_put_suspect(const struct report *report, const char *command)
{
    const struct who_suspects *suspects = report->suspects;
    _cleanup_(text_deinit) struct text name = {0}, path = {0};
    size_t i = 0;
    while (i < suspects->count &&
           report_node(report, suspects->list[i].suspect.item)->kind != MERGED_CLASS)
        i++;
    if (i == suspects->count)
        return NULL;
    const struct who *who = &suspects->list[i];
    const struct g2h_bytes item = report_name(report, who->suspect.item);
    text_append(&name, (const char *)item.data, (size_t)item.size);
    text_append(&path, who->path.data, who->path.size);
    TRY_MEMORY(!name.failed && !path.failed);
    /* Hashes have another key the next time. */
    if (g2h_view_is_typed(report->findings->view) && !g2h_view_is_redacted(report->findings->view))
        TRY(put_if_found(report, command, "--show", &path));
    return put_if_found(report, command, "--path-to", &name);
}

struct g2h_error *report_put_next(const struct report *report, const char *command)
{
    page_head(report->page, "NEXT");
    page_say(report->page, "\n");
    TRY(report_next_put_suspect(report, command));
    put_command(report, command, "--full", NULL);
    put_command(report, command, "-o", "page.html");
    return NULL;
}
