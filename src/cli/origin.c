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

/* ---- what to open ---- */

/* Adds to an error about a file that is not Go which file of the process is. Takes over the
 * error. */
static struct g2h_error *explain(struct g2h_error *error, const struct origin *origin)
{
    const struct g2h_module *module = origin->modules.list;
    if (!error || error->code != G2H_ERROR_NOT_EXE || !module)
        return error;
    struct g2h_error *better =
        error_create(error->code, "%s; of the files of the process %s has Go in it: --exe %s",
                     error->message, module->path, module->file);
    g2h_error_destroy(error);
    return better;
}

/* Opens the first library with a runtime of its own. Leaves *ret alone if there is none. */
static struct g2h_error *open_library(struct origin *origin, struct g2h_exe **ret)
{
    for (size_t i = 0; i < origin->modules.count; i++) {
        const struct g2h_module *module = &origin->modules.list[i];
        struct g2h_exe *exe;
        struct g2h_error *error = g2h_exe_open(module->file, &exe);
        if (error && error->code == G2H_ERROR_MEMORY)
            return error;
        if (!error && !g2h_exe_is_plugin(exe)) {
            origin->library = module;
            *ret = exe;
            return NULL;
        }
        if (!error)
            g2h_exe_close(exe);
        g2h_error_destroy(error);
    }
    return NULL;
}

/* Opens the program that a process runs or, if that is not Go, a library of it that is. */
static struct g2h_error *open_program(const char *path, struct origin *origin, struct g2h_exe **ret)
{
    struct g2h_error *error = g2h_exe_open(path, ret);
    if (!error || error->code != G2H_ERROR_NOT_EXE)
        return error;
    struct g2h_error *failed = open_library(origin, ret);
    if (!failed && !*ret)
        return error;
    g2h_error_destroy(error);
    return failed;
}

/* Opens the executable that a core's process ran, by the path that it had then. */
static struct g2h_error *open_recorded(const struct g2h_input *core, struct origin *origin)
{
    _cleanup_free_ char *path = NULL;
    TRY(g2h_core_executable(core, &path));
    struct g2h_error *error = path ? open_program(path, origin, &origin->exe) : NULL;
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
    TRY(g2h_core_modules(core, &origin->modules));
    TRY(options->exe ? explain(g2h_exe_open(options->exe, &origin->exe), origin)
                     : open_recorded(core, origin));
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
    TRY(g2h_process_modules(options->pid, &origin->modules));
    struct g2h_error *error = options->exe
                                  ? explain(g2h_exe_open(options->exe, &origin->exe), origin)
                                  : open_program(path, origin, &origin->exe);
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
    const struct g2h_process_options process_options = {options->threads, progress, &ret->modules};
    *ret = (struct origin){0};
    if (options->pid != 0)
        return read_live(options, &process_options, ret);
    TRY(g2h_input_open(path, progress, &ret->input));
    return g2h_input_is_core(ret->input) ? read_core(options, &process_options, ret) : NULL;
}

void origin_deinit(struct origin *origin)
{
    g2h_memory_deinit(&origin->memory);
    g2h_modules_deinit(&origin->modules);
}

bool origin_is_complete(const struct origin *origin)
{
    const struct g2h_process_account *account = &origin->account;
    return !origin->is_process || (account->spans_missing == 0 && account->objects_missing == 0 &&
                                   account->missing_bytes == 0 && account->file_missing == 0);
}
