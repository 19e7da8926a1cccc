/*
 * attach: copies the memory and registers of a running process; see attach.h. Where possible, a
 * process is refused before it is stopped.
 *
 * attach_copy() finds the pages and allocates memory for them while the process runs
 * (attach_prepare); then stop_and_copy() stops all threads and either copies the pages at once, or
 * forks the process from outside (fork.h) and copies the child while the process goes on. If there
 * is no memory for a copy, the child itself stays and is read when memory is needed: a window.
 * Whatever fails, attach_job_deinit() lets the process continue first.
 */
#include "process/attach/attach.h"

#include <go2heapsnapshot/process.h>

#ifdef __linux__

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <go2heapsnapshot/process.h>

#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/port.h"
#include "process/attach/available.h"
#include "process/attach/copy.h"
#include "process/attach/fork.h"
#include "process/attach/pages.h"
#include "process/attach/procfs.h"
#include "process/attach/refuse.h"
#include "process/attach/stop.h"

/* Address space around the pages of a process, for pages that it starts to use before it is
 * stopped: it takes addresses, not memory. */
#define AROUND (256ull << 20)

/* In place of errno values: the address space that a copy needs is not available; the child was
 * ended because memory became short; the process was not forked, and there is no memory for a
 * copy. */
enum { NO_ADDRESSES = -1, SHORT = -2, NO_CHILD = -3 };

/* How long forking a process is retried, in seconds, if signals for it arrive meanwhile. */
#define PATIENCE_TO_FORK 1.0

/* ---- the copy ---- */

/* Returns how many bytes there are to copy: those of its pages, but at most what the process has in
 * memory or in swap, because pages of zeros are returned to the system at once. */
static uint64_t estimate_bytes_to_copy(uint64_t pid, const struct attach_pages *pages)
{
    _cleanup_(text_deinit) struct text status = {0};
    if (procfs_read_of(pid, "status", &status) != 0)
        return pages->resident;
    const uint64_t kilobytes = procfs_number(&status, "VmRSS:") + procfs_number(&status, "VmSwap:");
    return kilobytes < pages->resident / 1024 ? kilobytes * 1024 : pages->resident;
}

/* State that is checked while memory for the copy is allocated. */
struct preparing {
    uint64_t pid;
    int process; /* a descriptor of it (pidfd_open(2)), or -1 */
    bool has_ended;
    bool spools;               /* the dump goes to a temporary file: see struct attach_after */
    struct g2h_error *refused; /* memory has become short meanwhile */
};

/* Opens a descriptor that becomes readable when a process ends; returns -1 if the system has no
 * such descriptors (before Linux 5.3). */
static int open_process(uint64_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, as_pid(pid), 0);
#else
    (void)pid;
    return -1;
#endif
}

/* Returns whether the process still lives, and whether there still is memory: a process that grows
 * meanwhile, in the same control group, must not be killed because of its copy. A function of
 * struct attach_guard. */
static bool attach_may_go_on(void *context, uint64_t left)
{
    struct preparing *preparing = context;
    struct pollfd end = {preparing->process, POLLIN, 0};
    struct attach_available available;
    if (preparing->process >= 0 && poll(&end, 1, 0) > 0) {
        preparing->has_ended = true;
        return false;
    }
    const struct attach_after copy_alone = {.spools = preparing->spools};
    attach_available_find(&available);
    preparing->refused = attach_available_check(preparing->pid, left, copy_alone, &available);
    return !preparing->refused;
}

/* Allocates memory for the pages. Returns the error if the process ends meanwhile, or memory
 * becomes short. */
static struct g2h_error *attach_fill(uint64_t pid, const struct attach_pages *pages,
                                     const struct attach_space *space,
                                     const struct attach_options *options)
{
    struct preparing preparing = {
        .pid = pid, .process = open_process(pid), .spools = options->dump > 0};
    const struct attach_guard guard = {attach_may_go_on, &preparing};
    (void)attach_space_fill(space, pages, &guard, options->progress);
    if (preparing.process >= 0)
        close(preparing.process);
    return preparing.has_ended ? attach_refuse(pid, ESRCH, true) : preparing.refused;
}

/* Returns what memory the steps after a copy of so many bytes take: the percentage of the copy that
 * small objects would take (options->after), or less if what is known of the objects says so
 * (options->after_most, in bytes). */
static struct attach_after find_after(const struct attach_options *options, uint64_t bytes)
{
    struct attach_after after = {options->after, options->dump > 0};
    const uint64_t most = options->after_most, one_percent = bytes / 100 + 1,
                   percent = bytes > 0 ? most / one_percent + 1 : 0; /* rounded up */
    if (most > 0 && percent < after.percent)
        after.percent = (unsigned)percent;
    return after;
}

/* Returns the addresses that are needed beside a copy of so many bytes: of the dump, and a quarter
 * of that to work with, and buffers and stacks of threads. */
static uint64_t addresses_beside(const struct attach_options *options, uint64_t bytes)
{
    const uint64_t buffers = 64 << 20,
                   dump = options->dump == ATTACH_LIKE_COPY ? bytes : options->dump;
    return dump > 0 ? dump + dump / 4 + buffers : 0;
}

/* Makes the space of a copy if there are so many more addresses beside it. Returns false if there
 * are not. */
static bool make_space(const struct attach_pages *pages, uint64_t around, uint64_t beside,
                       struct attach_space *ret)
{
    return attach_space_make(pages, around, ret) && needs_have_addresses(beside);
}

/* Allocates the memory of the copy while the process still runs, so that neither this work nor a
 * refusal stops it. If there is not enough, but the process may be forked (forks) and there is
 * enough to read the child through a window, a page when it is needed, does nothing and sets
 * *ret_is_window. */
static struct g2h_error *attach_prepare(uint64_t pid, const struct attach_options *options,
                                        bool forks, struct attach_space *ret, bool *ret_is_window)
{
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0};
    struct attach_available available;
    const int error = attach_pages_find(pid, &pages);
    if (error != 0)
        return attach_refuse(pid, error, true);
    attach_available_find(&available);
    const uint64_t bytes = estimate_bytes_to_copy(pid, &pages);
    const struct attach_after after = find_after(options, bytes);
    struct g2h_error *refused = attach_available_check(pid, bytes, after, &available);
    *ret_is_window = forks && (WINDOW_ALWAYS ||
                               (refused && attach_available_has_window(bytes, after, &available)));
    if (*ret_is_window) {
        g2h_error_destroy(refused);
        return NULL;
    }
    if (refused)
        return refused;
    const uint64_t dump = addresses_beside(options, bytes);
    if (!make_space(&pages, AROUND, dump, ret)) {
        attach_space_deinit(ret);
        if (!make_space(&pages, 0, dump, ret))
            return attach_available_refuse_addresses(pid, ret->size + dump);
    }
    return pages.is_guess ? NULL : attach_fill(pid, &pages, ret, options);
}

/* ---- forks ---- */

/* State that lasts as long as a child. */
struct held {
    struct attach_fork fork;
    struct attach_stop stop;
    struct copied_wiped wiped; /* what the child does not have */
    bool forks;                /* a fork is requested, and possible */
    bool holds;                /* signals are blocked */
    sigset_t before;           /* those that were blocked before */
};

/* Blocks the signals that would end this program, so that it ends with no child left behind. The
 * threads that are started meanwhile do not get them either. */
static void hold_signals(struct held *held)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sigaddset(&set, numbers[i]);
    held->holds = pthread_sigmask(SIG_BLOCK, &set, &held->before) == 0;
}

/* Lets the process continue, ends the child, and unblocks signals. */
static void end_held(void *data)
{
    struct held *held = data;
    attach_stop_deinit(&held->stop);
    copied_wiped_deinit(&held->wiped);
    ranges_deinit(&held->fork.wiped);
    if (held->holds)
        pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    free(held);
}

/* Prepares for a child, if one is requested; held->forks is whether the process may be forked.
 * Returns NULL if memory runs out. */
static struct held *begin_held(uint64_t pid, const struct attach_options *options)
{
    struct held *held = calloc(1, sizeof(*held));
    if (!held)
        return NULL;
    held->fork = (struct attach_fork){.pid = pid, .code = options->code};
    held->forks = options->forks && attach_fork_check(&held->fork);
    return held;
}

/* Returns SHORT in place of an error if the child ended because memory became short: its guard
 * ended it, or the process itself still lives. A signal to this program (EINTR) is no such
 * error. */
static int explain_end(uint64_t pid, const struct attach_fork *fork, int error)
{
    return error != 0 && error != EINTR && (fork->was_short || procfs_has_process(pid)) ? SHORT
                                                                                        : error;
}

/* A process that is being copied, and where its copy goes. */
struct attach_job {
    uint64_t pid;
    const struct attach_options *options;
    bool is_window; /* the child is not copied: its memory is read when it is needed */
    struct held *held;
    struct attach_space space; /* for the copy */
    struct process process;    /* the copy */
    struct attach_account account;
};

/* Lets the process continue before anything else. */
static void attach_job_deinit(struct attach_job *job)
{
    if (job->held)
        end_held(job->held);
    attach_space_deinit(&job->space);
    process_deinit(&job->process);
}

/* Copies pages of a process that is stopped, or of the child of its fork if wiped is not NULL, into
 * the job's space, which is made again if the process has grown. Returns 0, an errno value, or
 * NO_ADDRESSES. */
static int copy_found(struct attach_job *job, struct attach_source source,
                      const struct copied_wiped *wiped, struct attach_pages *pages,
                      struct attach_copied *ret)
{
    struct process *process = &job->process;
    if (wiped && !copied_mark_wiped(wiped, pages))
        return ENOMEM;
    const int error = copied_note_resident(pages, process);
    if (error != 0)
        return error;
    if (!wiped)
        copied_note_smaps(source.pid, process);
    if (!copied_make_space(pages, &job->space))
        return NO_ADDRESSES;
    if (wiped)
        copied_fill_wiped(wiped, pages, &job->space);
    return attach_copy_pages(source, pages, &job->space, job->options->progress, &process->memory,
                             ret);
}

/* Copies a process that is stopped, or the child of its fork if wiped, what the child does not
 * have, is not NULL. Returns 0, an errno value, or NO_ADDRESSES. */
static int copy_from(struct attach_job *job, uint64_t pid, const struct copied_wiped *wiped)
{
    const struct attach_source source = {pid, wiped != NULL};
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0};
    struct attach_copied copied;
    const double start = clock_seconds();
    int error = attach_pages_find(pid, &pages);
    if (error == 0)
        error = copy_found(job, source, wiped, &pages, &copied);
    if (error != 0)
        return error;
    job->process.entry = procfs_auxv(pid, AT_ENTRY);
    job->process.maps = take_pointer(pages.maps);
    job->account.bytes = copied.bytes + (wiped ? wiped->pages.resident : 0);
    job->account.reads = copied.reads;
    job->account.unreadable = copied.unreadable;
    job->account.copy_seconds = clock_seconds() - start;
    return 0;
}

/* Copies the child, and ends it. Returns 0, an errno value, NO_ADDRESSES, or SHORT. */
static int copy_child(struct attach_job *job)
{
    struct held *held = job->held;
    assert(held->fork.child != 0 && !job->is_window);
    const int error = copy_from(job, (uint64_t)held->fork.child, &held->wiped);
    attach_stop_end(&held->stop);
    job->account.is_left = held->fork.is_left;
    return error == NO_ADDRESSES ? error : explain_end(job->pid, &held->fork, error);
}

/* Opens a window to the child as the process's memory. Returns 0, an errno value, NO_CHILD,
 * NO_ADDRESSES, or SHORT. */
static int attach_open_window(struct attach_job *job)
{
    const struct held *held = job->held;
    assert(job->is_window);
    if (held->fork.child == 0)
        return NO_CHILD;
    attach_space_deinit(&job->space);
    const int error =
        copied_open_child((uint64_t)held->fork.child, &held->wiped, &job->space, &job->process);
    return explain_end(job->pid, &held->fork, error == EOVERFLOW ? NO_ADDRESSES : error);
}

/* ---- the stop ---- */

/* Records what the stop found out about the process. */
static void note_stop(uint64_t pid, struct attach_stop *stop, struct process *ret,
                      struct attach_account *account)
{
    account->stopped_seconds = stop->seconds;
    account->threads = (unsigned)stop->threads.count;
    account->stuck = stop->stuck;
    account->in_vfork = stop->in_vfork;
    account->is_frozen = stop->stuck > 0 && attach_is_frozen(pid);
    ret->threads.count = stop->threads.count;
    ret->threads.capacity = stop->threads.capacity;
    ret->threads.data = take_pointer(stop->threads.data);
    stop->threads = (struct attach_threads){0};
}

/* Stops the process, forks or copies it, and lets it continue. If it is to be forked and is not,
 * copies it only if may_copy, or if no child can come later. Returns 0, an errno value, or
 * NO_ADDRESSES. */
static int stop_once(struct attach_job *job, bool may_copy)
{
    _cleanup_(attach_urgent_end) struct attach_urgent urgent;
    struct held *held = job->held;
    const struct attach_fork *fork = &held->fork;
    job->account.urgent_error = attach_urgent_begin(&urgent);
    int error = attach_stop(job->pid, held->forks ? &held->fork : NULL, &held->stop);
    const bool copies = !held->forks || (fork->child == 0 && (may_copy || !fork->may_come));
    if (error == 0 && !job->is_window && copies)
        error = copy_from(job, job->pid, NULL);
    if (error == 0 && fork->child != 0) /* the child has zeros there */
        error = copied_take_wiped(job->pid, &fork->wiped, &held->wiped);
    attach_stop_let_go(&held->stop);
    return error;
}

/* Stops the process until it is forked, for at most PATIENCE_TO_FORK seconds, or else copied. It is
 * let go, and stopped again, as long as a child may still come. Then copies the child, or opens a
 * window to it. Returns 0, an errno value, NO_ADDRESSES, NO_CHILD, or SHORT. */
static int stop_and_copy(struct attach_job *job)
{
    assert(job->held && (!job->is_window || job->held->forks)); /* a window is to a child */
    const double start = clock_seconds();
    struct held *held = job->held;
    int error;
    for (;;) {
        const bool is_last = !held->forks || !attach_fork_await(&held->fork) ||
                             clock_seconds() - start > PATIENCE_TO_FORK;
        error = stop_once(job, is_last);
        if (error != 0 || is_last || held->fork.child != 0 || !held->fork.may_come)
            break;
        attach_stop_deinit(&held->stop);
    }
    job->account.is_forked = held->fork.child != 0;
    if (error != 0)
        return error;
    note_stop(job->pid, &held->stop, &job->process, &job->account);
    if (job->account.is_forked)
        copied_note_smaps(job->pid, &job->process); /* the child has no pages of files yet */
    if (job->is_window)
        return attach_open_window(job);
    return job->account.is_forked ? copy_child(job) : 0;
}

/* Returns the error that memory became short. */
static struct g2h_error *refuse_short(uint64_t pid)
{
    return error_create(G2H_ERROR_SYSTEM,
                        "process %llu: memory became short while its fork was read, so the fork "
                        "was ended; the process goes on. Try it when there is more, or without "
                        "--fork",
                        (unsigned long long)pid);
}

/* Adds to an error why the process was not forked either, if that was requested. Takes over the
 * error. */
static struct g2h_error *add_reason(struct g2h_error *error, const struct attach_fork *fork)
{
    if (!error || !fork->refused[0] || error->code == G2H_ERROR_MEMORY)
        return error;
    struct g2h_error *better =
        error_create(error->code, "%s; and it was not forked: %s", error->message, fork->refused);
    g2h_error_destroy(error);
    return better;
}

/* Returns the error that there is no memory for a copy. */
static struct g2h_error *refuse_copy(uint64_t pid, const struct attach_options *options)
{
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0};
    struct attach_available available;
    attach_available_find(&available);
    if (attach_pages_find(pid, &pages) == 0) {
        const uint64_t bytes = estimate_bytes_to_copy(pid, &pages);
        TRY(attach_available_check(pid, bytes, find_after(options, bytes), &available));
    }
    return error_create(G2H_ERROR_SYSTEM, "process %llu: there was no memory for a copy of it",
                        (unsigned long long)pid);
}

/* Returns the error for a result of stop_and_copy(): an errno value, or one of NO_ADDRESSES,
 * NO_CHILD and SHORT. NULL for 0. */
static struct g2h_error *attach_explain(const struct attach_job *job, int error)
{
    if (error == 0)
        return NULL;
    if (error == NO_ADDRESSES)
        return attach_available_refuse_addresses(job->pid, job->space.size);
    if (error == NO_CHILD)
        return add_reason(refuse_copy(job->pid, job->options), &job->held->fork);
    return error == SHORT ? refuse_short(job->pid) : attach_refuse(job->pid, error, true);
}

/* Returns whether the process had one thread when it was stopped. The runtime starts a second one
 * (sysmon) as soon as it is ready, and execve() leaves one, however old the process is. */
static bool has_one_thread(const struct process *process, const struct attach_account *account)
{
    return process->threads.count + account->stuck <= 1;
}

/* Gets the space for the copy: the one that was reserved before, if there is one, else a new one
 * (attach_prepare()). */
static struct g2h_error *find_space(struct attach_job *job)
{
    const struct attach_options *options = job->options;
    const struct held *held = job->held;
    if (options->space) {
        job->space = *options->space;
        *options->space = (struct attach_space){0};
        return NULL;
    }
    struct g2h_error *error =
        attach_prepare(job->pid, options, held->forks, &job->space, &job->is_window);
    return add_reason(error, &held->fork);
}

/* Completes the job's process after the copy: what is derived from the copy, and what it owns. With
 * a window it owns the child, too. */
static struct g2h_error *complete_process(struct attach_job *job)
{
    struct process *process = &job->process;
    process->is_new = has_one_thread(process, &job->account) || g2h_process_is_new(job->pid);
    copied_hand_over(&job->space, process);
    TRY_MEMORY(mapped_parse_maps(process->maps, &process->files));
    job->account.is_window = job->is_window;
    if (job->is_window) {
        process->held = take_pointer(job->held);
        process->end_held = end_held;
    }
    return NULL;
}

/* Stops the threads of a process, copies its memory, and lets it continue. What takes long, and
 * what may be refused, comes before the process is stopped. Whatever fails after that, the end of
 * the job lets the process continue. */
struct g2h_error *attach_copy(uint64_t pid, const struct attach_options *options,
                              struct process *ret, struct attach_account *ret_account)
{
    static const struct attach_options none = {.after = 0};
    _cleanup_(attach_job_deinit) struct attach_job job = {
        .pid = pid, .options = options ? options : &none, .process = {.name = ret_account->name}};
    struct process *process = &job.process;
    struct attach_account *account = &job.account;
    options = job.options;
    snprintf(account->name, sizeof(account->name), "process %llu", (unsigned long long)pid);
    TRY(attach_refuse(pid, 0, false)); /* what is known to prevent it, before anything is tried */
    TRY(copied_check_machine(pid, &process->machine));
    struct held *held = job.held = begin_held(pid, options);
    TRY_MEMORY(held);
    /* While there still is memory for huge pages, which the copy may take. */
    if (held->forks && options->collapses)
        account->collapsed =
            attach_collapse(&held->fork, options->progress, &account->collapse_error);
    TRY(find_space(&job));
    process->executable = copied_executable(pid);
    if (held->forks)
        hold_signals(held);
    if (options->around)
        options->around(options->context, true);
    const int error = stop_and_copy(&job);
    if (options->around)
        options->around(options->context, false);
    TRY(attach_explain(&job, error));
    if (!account->is_forked)
        memcpy(account->not_forked, held->fork.refused, sizeof(account->not_forked));
    TRY(complete_process(&job));
    *ret_account = *account;
    *ret = *process;
    *process = (struct process){0};
    return NULL;
}

/* Ends the child and fills in the account: bytes read, and whether the child is left. The error
 * says why the memory was not read to its end: a signal (EINTR), memory became short (SHORT), or
 * the system's. */
struct g2h_error *attach_finish(struct process *process, struct attach_account *account)
{
    struct held *held = take_pointer(process->held);
    if (!held)
        return NULL;
    const uint64_t pid = held->fork.pid;
    window_check(process->memory.window);
    attach_stop_end(&held->stop);
    const int error = explain_end(pid, &held->fork, window_error(process->memory.window));
    account->bytes = window_read(process->memory.window);
    account->is_left = held->fork.is_left;
    end_held(held); /* a signal that has arrived meanwhile ends this program here */
    if (error == 0)
        return NULL;
    if (error == EINTR)
        return error_create(G2H_ERROR_SYSTEM,
                            "process %llu: was not read to the end, because of a signal",
                            (unsigned long long)pid);
    return error == SHORT ? refuse_short(pid) : attach_refuse(pid, error, true);
}

struct g2h_error *g2h_process_check(uint64_t pid)
{
    return attach_refuse(pid, 0, false);
}

#else

struct g2h_error *attach_finish(struct process *process, struct attach_account *account)
{
    (void)process, (void)account;
    return NULL;
}

struct g2h_error *g2h_process_check(uint64_t pid)
{
    return error_create(G2H_ERROR_SYSTEM, "process %llu: live processes are read on Linux only",
                        (unsigned long long)pid);
}

struct g2h_error *attach_copy(uint64_t pid, const struct attach_options *options,
                              struct process *ret, struct attach_account *ret_account)
{
    (void)options, (void)ret, (void)ret_account;
    return g2h_process_check(pid);
}

#endif
