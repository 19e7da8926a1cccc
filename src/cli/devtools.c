/* devtools; see devtools.h. */
#include "cli/devtools.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/scope.h"
#include "cli/conversion.h"
#include "cli/messages.h"
#include "inspect/inspect.h"
#include "process/attach/procfs.h"

static void devtools_say_line(const char *line)
{
    say("go2heapsnapshot: %s", line);
}

/* Describes the target: *ret_path is its file, or empty; the title is its name, and the number of
 * the process. */
static struct g2h_error *name_inspected(const struct options *options, struct text *title,
                                        struct text *path)
{
    char target[4096];
    ssize_t size = 0;
    if (options->pid != 0)
        size = readlink(procfs_path(options->pid, "exe").text, target, sizeof(target));
    if (size > 0)
        text_append(path, target, (size_t)size);
    else if (options->exe || options->input_count > 0)
        text_append_string(path, options->exe ? options->exe : options->inputs[0]);
    text_append(path, "", 1);
    TRY_MEMORY(!path->failed);
    const char *slash = strrchr(path->data, '/');
    const char *name = options->command && !options->exe ? options->command
                       : slash                           ? slash + 1
                                                         : path->data;
    text_printf(title, "%.200s", name);
    if (options->pid != 0)
        text_printf(title, " (pid %llu)", (unsigned long long)options->pid);
    text_append(title, "", 1);
    TRY_MEMORY(!title->failed);
    return NULL;
}

struct g2h_error *devtools_serve(const struct options *options)
{
    _cleanup_(text_deinit) struct text title = {0}, path = {0};
    struct series series = {.identity = NULL};
    char process[64];
    struct stat owner;
    TRY(series_open_redaction(options, &series));
    TRY(name_inspected(options, &title, &path));
    snprintf(process, sizeof(process), "/proc/%llu", (unsigned long long)options->pid);
    const bool has_owner = options->pid != 0 && stat(process, &owner) == 0;
    struct inspect_options of = {
        .session = {.taken = {.exe = options->exe,
                              .command = options->command,
                              .pid = options->pid,
                              .threads = options->threads,
                              .forks = options->fork,
                              .collapses = options->fork_huge,
                              .untyped_ok = options->untyped_ok,
                              .no_stacks = options->no_stacks,
                              .full_names = options->full_names,
                              .garbage = options->garbage,
                              .max_nodes = conversion_view_nodes(options),
                              .redaction = series.redaction},
                    .inputs = options->inputs,
                    .input_count = options->input_count,
                    .title = title.data,
                    .path = path.data,
                    .directory = options->source,
                    .no_contexts = options->no_contexts,
                    .say = devtools_say_line},
        .server = {.program = "go2heapsnapshot " G2H_VERSION,
                   .name = title.data,
                   .owner = has_owner ? owner.st_uid : (uid_t)-1},
    };
    server_parse(options->inspect_at, &of.address);
    struct g2h_error *error = inspect_run(&of);
    series_deinit(&series);
    return error;
}
