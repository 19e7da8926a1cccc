/* origin; see origin.h. */
#include "cli/origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/scope.h"

static void close_input(struct g2h_input **input)
{
    g2h_input_close(*input);
}

/* Opens the executable that a core's process ran, by the path that it had then. */
static struct g2h_error *open_recorded(const struct g2h_input *core, struct g2h_exe **ret)
{
    _cleanup_free_ char *path = NULL;
    TRY(g2h_core_executable(core, &path));
    struct g2h_error *error = path ? g2h_exe_open(path, ret) : NULL;
    if (path && !error)
        return NULL;
    struct g2h_error *better = error_create(
        G2H_ERROR_NOT_EXE,
        "%s: a core file has neither functions nor types: --exe takes the executable that ran%s%s",
        core->name, path ? ", which was " : "", path ? path : "");
    g2h_error_destroy(error);
    return better;
}

/* Makes a dump of the core file that has been opened. */
static struct g2h_error *read_core(const struct options *options,
                                   const struct g2h_process_options *process_options,
                                   struct origin *origin)
{
    _cleanup_(close_input) struct g2h_input *core = take_pointer(origin->input);
    origin->is_process = true;
    TRY(options->exe ? g2h_exe_open(options->exe, &origin->exe)
                     : open_recorded(core, &origin->exe));
    return g2h_process_read_core(core, origin->exe, process_options, &origin->account,
                                 &origin->input);
}

static struct g2h_error *read_live(const struct options *options,
                                   const struct g2h_process_options *process_options,
                                   struct origin *origin)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%llu/exe", (unsigned long long)options->pid);
    origin->is_process = true;
    struct g2h_error *error = g2h_exe_open(options->exe ? options->exe : path, &origin->exe);
    if (error && !options->exe && error->code == G2H_ERROR_SYSTEM) {
        g2h_error_destroy(error); /* if the user may not read the process, the next step says so */
        error = NULL;
    }
    TRY(error);
    return g2h_process_read_live(options->pid, origin->exe, process_options, &origin->account,
                                 &origin->memory, &origin->input);
}

struct g2h_error *origin_open(const struct options *options, const char *path,
                              const struct g2h_progress *progress, struct origin *ret)
{
    const struct g2h_process_options process_options = {options->threads, progress};
    *ret = (struct origin){0};
    if (options->pid != 0)
        return read_live(options, &process_options, ret);
    TRY(g2h_input_open(path, progress, &ret->input));
    return g2h_input_is_core(ret->input) ? read_core(options, &process_options, ret) : NULL;
}

bool origin_is_complete(const struct origin *origin)
{
    const struct g2h_process_account *account = &origin->account;
    return !origin->is_process || (account->spans_missing == 0 && account->objects_missing == 0 &&
                                   account->missing_bytes == 0 && account->file_missing == 0);
}
