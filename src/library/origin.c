/*
 * origin: opens the source of a heap: a dump file, a core file, or a live process; see origin.h. A
 * core or process needs its executable, which is found by its path or by /proc, and is then read as
 * a dump (process/read.h). A process that has just been started, or that starts another program
 * meanwhile (execve), is read once more. Errors say which process is meant instead, as for a shell
 * that has started a Go program.
 */
#include "library/origin.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "process/attach/procfs.h"
#include "process/read.h"

CLEANUP_POINTER(origin_close_input, struct g2h_input, g2h_input_close);

/* ---- what to open ---- */

/* Adds the name of the first file of the process that has Go in it, if there is one, to an error
 * about a file that is not Go. Takes over the error, and returns it or the new one. */
static struct g2h_error *origin_explain(struct g2h_error *error, const struct origin *origin)
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

/* Opens the first file of the process that has a Go runtime (buildmode=c-shared; plugins have
 * none), and notes it as origin->library. Files that cannot be opened are passed over. Leaves *ret
 * alone if no file has one. Error: G2H_ERROR_MEMORY. */
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

/* Opens the program that a process runs or, if that is not Go, its first library that is. Errors:
 * those of g2h_exe_open() for the program. */
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

/* Opens the file of --exe, if there is one, as origin->exe. */
static struct g2h_error *open_given(const struct origin_options *options, struct origin *origin)
{
    return options->exe ? origin_explain(g2h_exe_open(options->exe, &origin->exe), origin) : NULL;
}

/* Returns whether the file that the user gave has a runtime, as plugins have not. */
static bool has_program(const struct origin *origin)
{
    return origin->exe && !g2h_exe_is_plugin(origin->exe);
}

CLEANUP_POINTER(close_exe, struct g2h_exe, g2h_exe_close);

/* Makes the program that was read the executable for names and types, unless a plugin is that
 * already. */
static void take_program(struct origin *origin, struct g2h_exe **program)
{
    if (!origin->exe)
        origin->exe = take_pointer(*program);
}

/* Opens the executable at the path that a core file has of the process's program, or else its first
 * library with a runtime (open_program()); whether it is the same build is checked when the core is
 * read. Errors: G2H_ERROR_NOT_EXE, whose message asks for --exe, if the core has no path, or
 * nothing could be opened; G2H_ERROR_MEMORY; those of g2h_core_executable(). */
static struct g2h_error *open_program_of_core(const struct g2h_input *core, struct origin *origin,
                                              struct g2h_exe **ret)
{
    static const char lacking[] =
        "a core file has neither functions nor types: --exe takes the executable that ran";
    _cleanup_free_ char *path = NULL;
    TRY(g2h_core_executable(core, &path));
    struct g2h_error *error = path ? open_program(path, origin, ret) : NULL;
    if (path && (!error || error->code == G2H_ERROR_MEMORY))
        return error;
    g2h_error_destroy(error);
    if (!path)
        return error_create(G2H_ERROR_NOT_EXE, "%s: %s", core->name, lacking);
    return error_create(G2H_ERROR_NOT_EXE, "%s: %s, which was %s", core->name, lacking, path);
}

/* Makes a dump of the core file that is origin->input, and puts it in its place; origin->exe
 * becomes the executable that was needed for that. */
static struct g2h_error *read_core(const struct origin_options *options,
                                   const struct g2h_process_options *process_options,
                                   struct origin *origin)
{
    _cleanup_(origin_close_input) struct g2h_input *core = take_pointer(origin->input);
    origin->is_process = true;
    TRY(g2h_core_modules(core, &origin->modules));
    TRY(open_given(options, origin));
    _cleanup_(close_exe) struct g2h_exe *program = NULL;
    if (!has_program(origin))
        TRY(open_program_of_core(core, origin, &program));
    TRY(g2h_process_read_core(core, program ? program : origin->exe, process_options,
                              &origin->account, &origin->input));
    take_program(origin, &program);
    return NULL;
}

/* ---- a process ---- */

/* Returns whether a process is the go command, or one of its tools (GOROOT/pkg/tool/…), by the path
 * of its executable. A path that is too long is not. */
bool origin_is_go_command(uint64_t pid)
{
    char path[256];
    const ssize_t size = readlink(procfs_path(pid, "exe").text, path, sizeof(path) - 1);
    path[MAX(size, 0)] = '\0';
    const char *slash = strrchr(path, '/');
    return slash && (strcmp(slash, "/go") == 0 || strstr(path, "/pkg/tool/") != NULL);
}

/* Returns whether a process runs a Go program: whether its executable can be opened as one. */
bool origin_is_go(uint64_t pid)
{
    struct g2h_exe *exe = NULL;
    struct g2h_error *error = g2h_exe_open(procfs_path(pid, "exe").text, &exe);
    g2h_exe_close(exe);
    g2h_error_destroy(error);
    return !error;
}

/* Returns the nearest descendant of a process that is a Go program, but not the go command, with
 * its name; 0: there is none, or its name cannot be read. */
uint64_t origin_find_child(uint64_t pid, struct text *name)
{
    enum { MOST = 64 /* descendants that are looked at */ };
    uint64_t children[MOST];
    const size_t count = children_find(pid, children, MOST);
    for (size_t i = 0; i < count; i++) {
        if (origin_is_go_command(children[i]) || !origin_is_go(children[i]))
            continue;
        return procfs_read_name(children[i], name) == 0 ? children[i] : 0;
    }
    return 0;
}

/* Watches the collections of a process before it is read. Nothing if its executable is not known:
 * reading the process says why. */
static struct g2h_error *origin_watch(const struct origin_options *options, struct g2h_exe *exe,
                                      struct origin *origin)
{
    if (!exe)
        return NULL; /* reading the process says why */
    TRY(g2h_ages_begin(options->pid, exe, &origin->ages));
    return g2h_ages_watch(origin->ages, (double)options->watch, options->progress);
}

/* Reads a live process: finds its program, unless the user gave it, watches its collections if that
 * is wanted, and makes a dump of its memory. */
static struct g2h_error *read_live_once(const struct origin_options *options,
                                        const struct g2h_process_options *process_options,
                                        struct origin *origin)
{
    TRY(g2h_process_check(options->pid));
    TRY(g2h_process_modules(options->pid, &origin->modules));
    TRY(open_given(options, origin));
    _cleanup_(close_exe) struct g2h_exe *program = NULL;
    const bool is_given = has_program(origin);
    struct g2h_error *error =
        is_given ? NULL : open_program(procfs_path(options->pid, "exe").text, origin, &program);
    if (error && error->code != G2H_ERROR_SYSTEM)
        return error;
    g2h_error_destroy(error); /* if the user may not read the process, the next step reports that */
    if (options->watch > 0)
        TRY(origin_watch(options, is_given ? origin->exe : program, origin));
    struct g2h_process_options with_ages = *process_options;
    with_ages.ages = options->ages ? options->ages : origin->ages;
    TRY(g2h_process_read_live(options->pid, is_given ? origin->exe : program, &with_ages,
                              &origin->account, &origin->memory, &origin->input));
    take_program(origin, &program);
    return NULL;
}

/* Opens the executable of a live process. The program is what is given with --exe, or the file that
 * the process runs, or the first of its libraries with a runtime. */
struct g2h_error *origin_open_program(const struct origin_options *options, struct origin *ret)
{
    TRY(g2h_process_check(options->pid));
    TRY(g2h_process_modules(options->pid, &ret->modules));
    TRY(open_given(options, ret));
    _cleanup_(close_exe) struct g2h_exe *program = NULL;
    if (!has_program(ret))
        TRY(open_program(procfs_path(options->pid, "exe").text, ret, &program));
    take_program(ret, &program);
    return NULL;
}

/* Reads a process that has been copied before (options->copy), and takes over its program. */
static struct g2h_error *read_copy(const struct origin_options *options,
                                   const struct g2h_process_options *process_options,
                                   struct origin *origin)
{
    *origin = *options->program;
    *options->program = (struct origin){0};
    origin->is_process = true;
    return process_read_copy(options->copy, origin->exe, process_options, &origin->account,
                             &origin->memory, &origin->input);
}

/* Returns whether the process has begun to run another program since it was the image before. A
 * process that has ended has not, nor has one that may not be read. */
static bool runs_another(uint64_t pid, uint64_t before)
{
    const uint64_t now = g2h_process_image(pid);
    return now != before && (now != 0 || procfs_has_process(pid));
}

/* Replaces the error about a process that has been read twice, if it is_in_motion (it ran another
 * program at the second time) or has only just started, so that its executable may not be loaded
 * yet. Otherwise returns the error as it is. Takes over the error. */
static struct g2h_error *explain_new(struct g2h_error *error, const struct origin_options *options,
                                     bool is_in_motion)
{
    const unsigned long long pid = options->pid;
    const bool may_load =
        error->code == G2H_ERROR_NOT_EXE && !options->exe && g2h_process_is_new(pid);
    if (!is_in_motion && !may_load)
        return error;
    struct g2h_error *better =
        is_in_motion ? error_create(G2H_ERROR_STARTING,
                                    "process %llu: has only just started, or starts another "
                                    "program again and again: try it again",
                                    pid)
                     : error_create(error->code, "%s; process %llu has only just started",
                                    error->message, pid);
    g2h_error_destroy(error);
    return better;
}

/* Names, in the error about a process that is not Go, such as sh -c, the child of it that is.
 * Returns false, and leaves the error alone, if none is. */
static bool explain_child(struct g2h_error **error, const struct origin_options *options,
                          const struct origin *origin)
{
    _cleanup_(text_deinit) struct text name = {0};
    if ((*error)->code != G2H_ERROR_NOT_EXE || options->exe || origin->library ||
        origin_is_go(options->pid))
        return false;
    const uint64_t child = origin_find_child(options->pid, &name);
    if (child == 0)
        return false;
    struct g2h_error *better =
        error_create((*error)->code, "%s; its child %llu (%s) is: --pid %llu", (*error)->message,
                     (unsigned long long)child, name.data, (unsigned long long)child);
    g2h_error_destroy(*error);
    *error = better;
    return true;
}

/* Reads a process. One that has only just started, or starts another program at this moment, is
 * read once more after a pause. Not again if bytes of it were passed on already, or memory has run
 * out. */
static struct g2h_error *read_live(const struct origin_options *options,
                                   const struct g2h_process_options *process_options,
                                   struct origin *origin)
{
    const struct timespec pause = {.tv_nsec = 100000000}; /* 0.1 s */
    origin->is_process = true;
    for (bool is_last = false;; is_last = true) {
        const uint64_t image = g2h_process_image(options->pid);
        struct g2h_error *error = read_live_once(options, process_options, origin);
        if (!error || error->code == G2H_ERROR_MEMORY)
            return error;
        const bool is_in_motion =
            error->code == G2H_ERROR_STARTING || runs_another(options->pid, image);
        const bool has_begun = options->stream && options->stream->has_begun;
        const bool is_final =
            is_last || has_begun || (!is_in_motion && !g2h_process_is_new(options->pid));
        if (is_final && !is_in_motion && explain_child(&error, options, origin))
            return error;
        if (is_final)
            return explain_new(error, options, is_in_motion);
        g2h_error_destroy(error);
        g2h_exe_close(origin->exe);
        origin->exe = NULL;
        origin->library = NULL;
        origin_deinit(origin);
        nanosleep(&pause, NULL);
    }
}

/* Passes bytes of a dump on, and notes that there were some: stream of struct
 * g2h_process_options. */
static struct g2h_error *origin_put(void *context, const void *data, size_t size, uint64_t zeros)
{
    struct origin_stream *stream = context;
    stream->has_begun = true;
    return stream->put(stream->context, data, size, zeros);
}

/* Reads a copy, a process, a core or a dump, whichever the options name, in this order. Only
 * processes and cores can be sampled. */
struct g2h_error *origin_open(const struct origin_options *options, struct origin *ret)
{
    struct g2h_process_options process_options = {.threads = options->threads,
                                                  .progress = options->progress,
                                                  .modules = &ret->modules,
                                                  .memory = options->memory,
                                                  .forks = options->forks,
                                                  .collapses = options->collapses,
                                                  .around = options->around,
                                                  .context = options->context,
                                                  .ages = options->ages,
                                                  .object_memory = options->object_memory,
                                                  .largest_array = options->largest_array,
                                                  .sample = options->sample,
                                                  .sample_seed = options->sample_seed,
                                                  .most_objects = options->most_objects,
                                                  .beyond = options->beyond};
    if (options->stream) {
        process_options.stream = origin_put;
        process_options.stream_context = options->stream;
        process_options.stream_directory = options->stream->directory;
    }
    *ret = (struct origin){0};
    if (options->copy)
        return read_copy(options, &process_options, ret);
    if (options->pid != 0)
        return read_live(options, &process_options, ret);
    TRY(g2h_input_open(options->path, options->progress, &ret->input));
    if (options->sample > 0 && !g2h_input_is_core(ret->input))
        return error_create(G2H_ERROR_NOT_DUMP,
                            "%s: --sample reads a part of a process (--pid) or of a core file, not "
                            "of a dump",
                            ret->input->name);
    return g2h_input_is_core(ret->input) ? read_core(options, &process_options, ret) : NULL;
}

/* Makes this program the one that the kernel kills first if memory runs out, before the process
 * that it reads; failure is ignored. */
void origin_end_first(void)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "w");
    if (!file)
        return;
    fputs("1000", file); /* the most, by proc(5) */
    fclose(file);
}

void origin_deinit(struct origin *origin)
{
    g2h_memory_deinit(&origin->memory);
    g2h_ages_destroy(origin->ages);
    origin->ages = NULL;
    g2h_modules_deinit(&origin->modules);
}

/* Returns whether too many spans have another number of objects than the runtime counted: more than
 * the process has threads, each of which may be within a call of malloc, and one. */
bool origin_is_miscounted(const struct origin *origin)
{
    const struct g2h_process_account *account = &origin->account;
    return origin->is_process &&
           account->spans_miscounted > account->threads + account->threads_stuck + 1;
}

/* Returns whether all that was looked for in a process was there, and understood. A dump is always
 * complete in this sense. */
bool origin_is_complete(const struct origin *origin)
{
    const struct g2h_process_account *account = &origin->account;
    return !origin->is_process ||
           (account->spans_missing == 0 && account->objects_missing == 0 &&
            account->missing_bytes == 0 && account->file_missing == 0 &&
            account->masks_missing == 0 && account->frames_conservative == 0 &&
            !origin_is_miscounted(origin));
}
