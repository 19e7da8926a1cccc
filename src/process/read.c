/*
 * read: makes a dump of a core file or a live process; see include/go2heapsnapshot/process.h.
 *
 *   read                calls all of these
 *   core                the memory and threads of a process from a core file
 *   modules, loaded, started
 *                       which mapped files are Go, where the one that is read is, and its code
 *   layout, layout_table, layout_dwarf
 *                       the offsets of the runtime's fields in each release
 *   runtime, search     the runtime's variables, found by symbols or by their contents
 *   same_build          whether the executable is the one that ran
 *   spans, specials, heap_bits, type_masks
 *                       which slots are objects, what is attached to them, which words are pointers
 *   threads, unwind, frames, stack_objects, goroutine_records
 *                       stacks
 *   counters, resident, limit
 *                       the runtime's numbers of its memory; RSS and its parts; its limit
 *   death_heap          which parts of the heap are copied first when a process dies
 *   process_types, object_records, profile_records, record_buffer, records
 *                       the dump, as WriteHeapDump would have written it
 *   give_back           gives the copy's memory back while the dump is written
 */
#include <go2heapsnapshot/process.h>

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/workers.h"
#include "input/input.h"
#include "input/magic.h"
#include "process/attach/attach.h"
#include "process/core.h"
#include "process/loaded.h"
#include "process/modules.h"
#include "process/read.h"
#include "process/attach/procfs.h"
#include "process/records.h"
#include "process/resident.h"

/* Writes the dump to a temporary file: for input_spooled(). */
static struct g2h_error *write_records(void *context, int fd)
{
    struct records *records = context;
    records->fd = fd;
    return records_write(records);
}

/* Returns an error if the chains of specials do not end, or if counts show that the layout is not
 * the release's, so that the dump is nonsense. */
static struct g2h_error *process_read_check(const struct records *records)
{
    const struct g2h_process_account *account = records->account;
    const struct runtime *runtime = records->runtime;
    const char *what = NULL;
    if (runtime->specials > runtime->specials_most)
        return error_create(G2H_ERROR_DAMAGED, "%s: the chains of specials do not end",
                            runtime->process->name);
    if (account->file_missing > 0 || runtime->by_dwarf)
        return NULL;
    if (account->spans_miscounted > account->spans / 100 + account->threads + 1)
        what = "spans have other numbers of objects than they count";
    else if (account->stacks_incomplete > account->goroutines / 10 + account->goroutines_running)
        what = "the stacks of goroutines do not end where stacks begin";
    return what ? error_create(G2H_ERROR_NOT_EXE,
                               "%s: %s: without DWARF it is not known where %s has its structures",
                               runtime->process->name, what, runtime->version)
                : NULL;
}

/* What a dump is made of. */
struct read_source {
    struct process *process;
    const struct stat *file; /* has its memory: only users who may read it may read outputs; NULL:
                                there is none */
    const struct g2h_ending
        *ending; /* how the process ended; NULL: it lives, or that is not known */
};

/* Makes a dump of the memory of a process. */
static struct g2h_error *read_process(const struct read_source *source, struct g2h_exe *exe,
                                      const struct g2h_process_options *options,
                                      struct g2h_process_account *account,
                                      struct g2h_memory *ret_memory, struct g2h_input **ret)
{
    static const struct g2h_process_options none = {.threads = 0};
    struct process *process = source->process;
    options = options ? options : &none;
    _cleanup_(runtime_deinit) struct runtime runtime = {0};
    TRY(runtime_init(&runtime, process, exe));
    if (options->modules)
        TRY(modules_read(&runtime, process, options->modules));
    account->by_dwarf = runtime.by_dwarf;
    account->threads = process->threads.count;
    if (account->memory_bytes == 0)
        account->memory_bytes = process->memory.bytes;
    struct counters counters;
    struct resident_spans spans;
    counters_read(&runtime, &counters);
    resident_find_spans(&runtime, &spans);
    struct records records = {.runtime = &runtime,
                              .counters = &counters,
                              .spans = &spans,
                              .memory = ret_memory,
                              .threads =
                                  options->threads > 0 ? options->threads : workers_available(),
                              .progress = options->progress,
                              .account = account,
                              .ending = source->ending};
    struct g2h_input *dump;
    TRY(input_spooled(process->name, source->file, write_records, &records, &dump));
    struct g2h_error *error = runtime_explain(process, process_read_check(&records));
    if (error)
        g2h_input_close(dump);
    else
        *ret = dump;
    return error;
}

bool g2h_input_is_core(const struct g2h_input *input)
{
    return magic_is_core(input->data, input->size);
}

/* ---- cores ---- */

struct g2h_error *g2h_core_executable(const struct g2h_input *core, char **ret)
{
    _cleanup_(process_deinit) struct process process = {0};
    struct core_account account;
    TRY(core_read(core, &process, &account));
    *ret = take_pointer(process.executable);
    return NULL;
}

/* Adds to an error that the core is truncated, which may be the reason for it. Takes over the
 * error. */
static struct g2h_error *process_read_explain(struct g2h_error *error,
                                              const struct core_account *account)
{
    if (!error || account->missing == 0 || error->code == G2H_ERROR_MEMORY)
        return error;
    struct g2h_error *better = error_create(
        error->code,
        "%s; the core is cut: of %llu bytes %llu are missing (ulimit -c; systemd-coredump: "
        "ProcessSizeMax, ExternalSizeMax)",
        error->message, (unsigned long long)account->size, (unsigned long long)account->missing);
    g2h_error_destroy(error);
    return better;
}

struct g2h_error *g2h_process_read_core(const struct g2h_input *core, struct g2h_exe *exe,
                                        const struct g2h_process_options *options,
                                        struct g2h_process_account *ret_account,
                                        struct g2h_input **ret)
{
    _cleanup_(process_deinit) struct process process = {0};
    struct core_account account;
    *ret_account = (struct g2h_process_account){0};
    TRY(core_read(core, &process, &account));
    ret_account->file_missing = account.missing;
    ret_account->file_size = account.size;
    const struct read_source source = {.process = &process, .file = g2h_input_status(core)};
    struct g2h_error *error = read_process(&source, exe, options, ret_account, NULL, ret);
    return process_read_explain(error, &account);
}

/* ---- live processes ---- */

/* Copies what is known of the copy to the account that users see. */
static void note_copied(const struct attach_account *account, struct g2h_process_account *ret)
{
    ret->stopped = account->stopped_seconds;
    ret->urgent_error = account->urgent_error;
    ret->threads_stuck = account->stuck;
    ret->threads_in_vfork = account->in_vfork;
    ret->is_frozen = account->is_frozen;
    ret->memory_bytes = account->bytes;
    ret->is_forked = account->is_forked;
    ret->is_window = account->is_window;
    ret->collapsed = account->collapsed;
    ret->collapse_error = account->collapse_error;
    memcpy(ret->not_forked, account->not_forked, sizeof(ret->not_forked));
}

/* With a window the memory is read while the dump is written, so only attach_finish() knows whether
 * all of it could be read. */
struct g2h_error *g2h_process_read_live(uint64_t pid, struct g2h_exe *exe,
                                        const struct g2h_process_options *options,
                                        struct g2h_process_account *ret_account,
                                        struct g2h_memory *ret_memory, struct g2h_input **ret)
{
    _cleanup_(process_deinit) struct process process = {0};
    struct attach_account account = {0};
    struct stat memory;
    const bool is_there = stat(procfs_path(pid, "mem").text, &memory) == 0;
    *ret_account = (struct g2h_process_account){0};
    *ret_memory = (struct g2h_memory){0};
    struct attach_options attach_options = {.after = 0};
    if (options)
        attach_options = (struct attach_options){.after = options->memory,
                                                 .progress = options->progress,
                                                 .forks = options->forks,
                                                 .collapses = options->collapses,
                                                 .around = options->around,
                                                 .context = options->context};
    if (attach_options.forks && exe)
        attach_options.code = fork_code_find(pid, exe);
    TRY(attach_copy(pid, &attach_options, &process, &account));
    process.pid = pid;
    if (!exe)
        return error_create(G2H_ERROR_NOT_EXE,
                            "%s: its executable cannot be read: --exe takes a copy", process.name);
    note_copied(&account, ret_account);
    const struct read_source source = {.process = &process, .file = is_there ? &memory : NULL};
    struct g2h_error *error = read_process(&source, exe, options, ret_account, ret_memory, ret);
    struct g2h_error *lost = attach_finish(&process, &account);
    ret_account->is_left = account.is_left;
    if (account.bytes > 0)
        ret_account->memory_bytes = account.bytes;
    if (!lost)
        return error;
    if (!error) {
        g2h_input_close(*ret);
        *ret = NULL;
    }
    g2h_error_destroy(error);
    return lost;
}

/* Adds to an error that the copy is truncated, which may be the reason for it; if the kernel took
 * memory away before it was copied, that is the reason. Takes over the error. */
static struct g2h_error *explain_cut(struct g2h_error *error, const struct process_copy *copy,
                                     const struct g2h_process_account *account)
{
    if (!error || account->file_missing == 0 || error->code == G2H_ERROR_MEMORY)
        return error;
    struct g2h_error *better =
        copy->loss.is_late || copy->loss.lost > 0
            ? error_create(G2H_ERROR_DAMAGED,
                           "%s: the kernel took memory of the process before it could be copied, "
                           "and too little is left to read its heap",
                           copy->process.name)
            : error_create(error->code,
                           "%s; the copy is cut: of %llu bytes %llu or more are missing",
                           error->message, (unsigned long long)account->file_size,
                           (unsigned long long)account->file_missing);
    g2h_error_destroy(error);
    return better;
}

struct g2h_error *process_read_copy(struct process_copy *copy, struct g2h_exe *exe,
                                    const struct g2h_process_options *options,
                                    struct g2h_process_account *ret_account,
                                    struct g2h_memory *ret_memory, struct g2h_input **ret)
{
    const struct death_loss *loss = &copy->loss;
    const uint64_t missing = loss->lost + loss->limited + loss->refused;
    *ret_account = (struct g2h_process_account){.is_dead = copy->process.is_dead};
    *ret_memory = (struct g2h_memory){0};
    note_copied(&copy->account, ret_account);
    ret_account->file_missing = loss->is_late && missing == 0 ? 1 : missing;
    ret_account->file_size = copy->account.bytes + missing;
    copy->process.name = copy->account.name;
    const struct read_source source = {&copy->process, &copy->source, &copy->ending};
    struct g2h_error *error = read_process(&source, exe, options, ret_account, ret_memory, ret);
    return explain_cut(error, copy, ret_account);
}
