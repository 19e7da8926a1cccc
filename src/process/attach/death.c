/*
 * death: stops a process at its end and copies its memory, before the kernel takes that away; see
 * death.h. The parts, in the order of a process's life:
 *
 * watch    one thread of the process is traced (ptrace(2)), so that this program is told of its end
 * spill    a file for pages for which there is no memory
 * reserve  memory for the copy, allocated while the process still lives
 * dying    copies pages by importance: outside the heap, then the heap by rank, then pages that
 *          may have to be read from a disk
 *
 * A rank says how much a part of the heap matters (death_heap.c): stacks, objects with pointers,
 * others.
 */
#include "process/attach/death.h"

#include <stdbool.h>
#include <stdint.h>

#include "process/attach/copy.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/port.h"
#include "process/attach/available.h"
#include "process/attach/procfs.h"
#include "process/attach/stop.h"

/* ==== stops a process at its end, while its memory still exists ====
 *
 * The terms are those of ptrace(2).
 */

enum {
    LOOKED_AT = 64, /* threads, the oldest */
    TRIES = 3       /* as threads may end before they are seized */
};

/* ---- threads ---- */

/* Finds up to LOOKED_AT living threads of a process, the oldest first, other than but. Returns how
 * many. */
static size_t find_threads(uint64_t pid, pid_t but, pid_t ret[LOOKED_AT])
{
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path(pid, "task").text);
    size_t count = 0;
    for (uint64_t id; count < LOOKED_AT && (id = procfs_next_number(tasks)) != 0;)
        if (id <= INT32_MAX && as_pid(id) != but && !procfs_has_exited(pid, id))
            ret[count++] = as_pid(id);
    return count;
}

/* Returns whether the process has a thread that is not about to end, other than the given one,
 * which may be 0. */
bool death_is_alive(uint64_t pid, pid_t but)
{
    pid_t threads[LOOKED_AT];
    return find_threads(pid, but, threads) > 0;
}

/* Makes a thread a tracee of this one, which is told of its end and of execve() but does not stop
 * it. Returns 0 or an errno value. */
static int seize_thread(struct death_watch *watch, pid_t thread)
{
    const long options = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, thread, NULL, options) != 0)
        return errno;
    /* The kernel lets this wait for an execve() of that thread, which gives it the number of the
     * process. One that ends is there until its end is waited for. */
    const bool is_there = procfs_thread_state(watch->pid, pid_number(thread)) != '\0';
    watch->thread = is_there ? thread : as_pid(watch->pid);
    watch->is_stopped = watch->is_alone = false;
    watch->status = 0;
    return 0;
}

/* Seizes a thread of the process, to be told of its end. Best is the second one, which in a Go
 * program is sysmon, in all releases: it does not end before the process. A thread may end before
 * it is seized (ESRCH): then another one is tried. Returns 0 or an errno value. */
int death_seize(struct death_watch *watch)
{
    int error = ESRCH;
    for (unsigned try = 0; try < TRIES; try++) {
        pid_t threads[LOOKED_AT];
        const size_t count = find_threads(watch->pid, 0, threads);
        for (size_t i = 0; i < count; i++) {
            /* Try the second one, then those after it, and the first one only if there is no
             * other. */
            error = seize_thread(watch, threads[(i + 1) % count]);
            if (error != ESRCH)
                return error;
        }
    }
    return error;
}

int death_seize_child(struct death_watch *watch)
{
    return seize_thread(watch, as_pid(watch->pid));
}

/* ---- stops ---- */

/* Returns whether the thread is ending by a call of its own that ends nothing else. If another
 * thread ends it, it is in another call, or in none. */
static bool is_in_exit(pid_t thread)
{
    _cleanup_(text_deinit) struct text call = {0};
    uint64_t number;
    const char *at = procfs_read_of(pid_number(thread), "syscall", &call) == 0 ? call.data : NULL;
    return at && procfs_take_number(&at, 10, &number) && number == SYS_exit;
}

/* Notes that the thread has stopped at its end. */
static void note_end(struct death_watch *watch)
{
    unsigned long status = 0;
    if (ptrace(PTRACE_GETEVENTMSG, watch->thread, NULL, &status) != 0)
        status = SIGKILL; /* it has been killed once more */
    watch->is_stopped = true;
    watch->status = (int)status;
    watch->is_alone = !WIFSIGNALED(watch->status) && is_in_exit(watch->thread);
}

/* Returns whether a status of waitpid() reports an execve(), after which the process is still
 * stopped. */
bool death_is_exec(int wait_status)
{
    return WIFSTOPPED(wait_status) && wait_status >> 16 == PTRACE_EVENT_EXEC;
}

/* Returns whether a result of waitpid() concerns the seized thread, which execve() may have given
 * another number. */
bool death_concerns(const struct death_watch *watch, pid_t id, int wait_status)
{
    return watch->thread != 0 &&
           (id == watch->thread || (pid_number(id) == watch->pid && death_is_exec(wait_status)));
}

/* Handles a result of waitpid() for the thread. The thread continues after each stop except that at
 * its end; a signal is delivered as if nobody watched. */
void death_note(struct death_watch *watch, pid_t id, int wait_status)
{
    if (!WIFSTOPPED(wait_status)) {
        watch->thread = 0;
        watch->status = wait_status;
        watch->is_alone = false;
        return;
    }
    const int event = wait_status >> 16;
    const int number = WSTOPSIG(wait_status);
    if (event == PTRACE_EVENT_EXIT) {
        note_end(watch);
        return;
    }
    watch->thread = id; /* that of the process, after an execve() */
    watch->signal_stops += event == 0;
    /* A signal such as SIGSTOP has stopped the process, which must stay stopped. */
    const bool is_group_stop = event == PTRACE_EVENT_STOP && number != SIGTRAP;
    const long signal_given = event == 0 ? number : 0;
    (void)ptrace(is_group_stop ? PTRACE_LISTEN : PTRACE_CONT, watch->thread, NULL, signal_given);
}

/* Reads the registers of the thread, which has stopped at its end. Returns false if it cannot. */
static bool death_registers(const struct death_watch *watch, struct process_thread *ret)
{
    *ret = (struct process_thread){.id = pid_number(watch->thread)};
    struct iovec registers = {ret->registers, sizeof(ret->registers)};
    if (ptrace(PTRACE_GETREGSET, watch->thread, as_pointer(NT_PRSTATUS), &registers) < 0)
        return false;
    ret->count = (unsigned)(registers.iov_len / sizeof(*ret->registers));
    return true;
}

/* Stops a running thread so that it can be detached, and returns the signal at which it stopped,
 * which must be delivered; 0: none. If it stops at its end, notes that. */
static int interrupt(struct death_watch *watch)
{
    int status = 0;
    if (ptrace(PTRACE_INTERRUPT, watch->thread, NULL, NULL) != 0)
        return 0;
    while (waitpid(watch->thread, &status, __WALL) < 0)
        if (errno != EINTR)
            return 0;
    if (!WIFSTOPPED(status))
        watch->thread = 0;
    else if (status >> 16 == PTRACE_EVENT_EXIT)
        note_end(watch);
    return WIFSTOPPED(status) && status >> 16 == 0 ? WSTOPSIG(status) : 0;
}

/* Waits for the end of a thread that was killed while it was stopped: it continues by itself, and
 * stops at its end or, as a kernel may have it, does not. */
static void await_end(struct death_watch *watch)
{
    int status = 0;
    pid_t id;
    while ((id = waitpid(watch->thread, &status, __WALL)) < 0 && errno == EINTR)
        continue;
    if (id == watch->thread && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT)
        note_end(watch);
    else
        watch->thread = 0;
}

/* Lets the thread go untraced, and returns true. Only a stopped tracee can be detached, so it is
 * interrupted first. Returns false if it has stopped at its end: then it stays stopped. */
bool death_let_run(struct death_watch *watch)
{
    const int number = watch->thread != 0 && !watch->is_stopped ? interrupt(watch) : 0;
    if (watch->thread != 0 && !watch->is_stopped &&
        ptrace(PTRACE_DETACH, watch->thread, NULL, (long)number) != 0 && errno == ESRCH)
        await_end(watch);
    if (watch->is_stopped)
        return false;
    watch->thread = 0;
    return true;
}

/* Lets the thread end, or run, untraced. watch->thread becomes 0. */
void death_let_go(struct death_watch *watch)
{
    if (!death_let_run(watch))
        (void)ptrace(PTRACE_DETACH, watch->thread, NULL, 0L);
    watch->thread = 0;
    watch->is_stopped = false;
}

/* Watches the second thread in place of the first. The first thread may end alone while the program
 * goes on, so another one is watched as soon as there is one. It is seized before the first is let
 * go, so that no end is missed. */
void death_prefer_second(struct death_watch *watch)
{
    pid_t threads[LOOKED_AT];
    if (pid_number(watch->thread) != watch->pid || watch->is_stopped ||
        find_threads(watch->pid, 0, threads) < 2)
        return;
    struct death_watch second = *watch;
    if (seize_thread(&second, threads[1]) != 0)
        return;
    const int number = interrupt(watch);
    if (watch->thread == 0 || watch->is_stopped) { /* it is ending: one of them is enough */
        death_let_go(&second);
        return;
    }
    (void)ptrace(PTRACE_DETACH, watch->thread, NULL, (long)number);
    *watch = second;
}

/* ==== copies pages of a process at its end to a file, if there is no memory for them ====
 *
 * They go through a small buffer, and the file is mapped where their copy would be, so that all
 * that reads the copy need not know. The kernel drops pages of the file as it needs their memory.
 */

struct death_spill {
    int file;                         /* -1: none */
    uint64_t most, size;              /* bytes that may be written to it, and that have been */
    const struct attach_space *space; /* of the copy */
};

/* Bytes that are copied to a file at once, and how many of the last ones the kernel keeps in
 * memory, because they may not be on the disk yet. */
#define SPILL_AT_ONCE (1ull << 20)
#define SPILL_KEPT    (8ull << 20)

/* Returns how many of the bytes are whole pages. */
static uint64_t whole_pages(uint64_t size)
{
    return size - size % 4096;
}

/* Reads a page or more of the process. Returns the bytes read; 0: the page cannot be read. */
static uint64_t spill_read(int from, uint64_t address, uint8_t *to, uint64_t size)
{
    ssize_t count;
    do
        count = pread(from, to, (size_t)size, (off_t)address);
    while (count < 0 && errno == EINTR);
    return count > 0 ? whole_pages(as_size(count)) : 0;
}

/* Writes bytes at an offset of the file. Returns false if the file takes no more. */
static bool spill_write(int to, uint64_t offset, const uint8_t *data, uint64_t size)
{
    for (uint64_t at = 0; at < size;) {
        const ssize_t count = pwrite(to, data + at, (size_t)(size - at), (off_t)(offset + at));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += as_size(count);
    }
    return true;
}

/* Copies a piece of the process to the file by way of the buffer, which must be as large, maps it
 * where its copy would be, and adds it to memory. *ret_size is how many bytes of it could be read.
 * Returns false if the file takes no more, or memory runs out. */
static bool spill_piece(struct death_spill *spill, int from, uint8_t *buffer,
                        const struct attach_run *piece, struct memory *ret, uint64_t *ret_size)
{
    const int to = spill->file;
    const off_t offset = (off_t)spill->size;
    *ret_size = spill_read(from, piece->address, buffer, piece->size);
    if (*ret_size == 0)
        return true;
    if (*ret_size > spill->most - spill->size || !spill_write(to, spill->size, buffer, *ret_size))
        return false;
    /* Pages of the file that are on the disk are not needed in memory. */
    (void)sync_file_range(to, offset, (off_t)*ret_size, SYNC_FILE_RANGE_WRITE);
    if (spill->size >= SPILL_KEPT)
        (void)posix_fadvise(to, 0, offset - (off_t)SPILL_KEPT, POSIX_FADV_DONTNEED);
    uint8_t *const data = attach_space_at(spill->space, piece);
    if (mmap(data, (size_t)*ret_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, to,
             offset) == MAP_FAILED)
        return false;
    spill->size += *ret_size;
    return memory_add(ret, piece->address, *ret_size, data);
}

/* Copies a run to the file, piece by piece. Returns how many bytes of it the file does not take. */
static uint64_t spill_run(struct death_spill *spill, int from, uint8_t *buffer,
                          const struct attach_run *run, struct memory *memory,
                          struct attach_copied *ret)
{
    const uint64_t page = 4096; /* what is passed over if it cannot be read */
    uint64_t at = 0;
    while (at < run->size) {
        uint64_t size;
        const uint64_t left = run->size - at;
        const struct attach_run piece = {run->address + at, MIN(left, SPILL_AT_ONCE), run->kind};
        watchdog_beat();
        if (!spill_piece(spill, from, buffer, &piece, memory, &size))
            return left;
        ret->bytes += size;
        ret->reads++;
        ret->unreadable += size == 0 ? page : 0;
        at += size > 0 ? size : page;
    }
    return 0;
}

/* Copies pages of a process, of which a thread is given, and adds those that could be read to
 * memory. Returns how many bytes the file does not take. */
static uint64_t death_spill(struct death_spill *spill, uint64_t thread,
                            const struct attach_pages *pages, struct memory *memory,
                            struct attach_copied *ret)
{
    const int from = open(procfs_path(thread, "mem").text, O_RDONLY | O_CLOEXEC);
    _cleanup_free_ uint8_t *buffer = malloc(SPILL_AT_ONCE);
    bool can = from >= 0 && buffer && spill->file >= 0;
    uint64_t refused = 0;
    *ret = (struct attach_copied){0};
    VECTOR_EACH(const struct attach_run, run, pages->runs) {
        const uint64_t rest = can ? spill_run(spill, from, buffer, run, memory, ret) : run->size;
        refused += rest;
        can = can && rest == 0;
    }
    if (from >= 0)
        close(from);
    memory_sort(memory);
    return refused;
}

/* ==== memory for the copy, which is allocated while the process lives ==== */

/* Addresses reserved around the pages of a process for those that it gets until its end: they cost
 * nothing. If the system does not provide as many, fewer. */
#define AROUND (64ull << 30)

#define AROUND_LESS (256ull << 20)

/* Memory that a process may have beyond what its limit counts: files, most of which other processes
 * map as well. */
#define NOT_CHARGED (16ull << 20)

/* Bytes that are left to other processes: SPARE, or a quarter (SPARE_PART) of a group's limit if
 * that is less; but at least LEAST_SPARE, more than is reserved between two looks at it. */
#define SPARE (64ull << 20)

#define LEAST_SPARE (24ull << 20)

enum { SPARE_PART = 4 };

/* Of a limit that the process and this program have together, a sixteenth is reserved. */
enum { SHARED_PART = 16 };

/* Returns whether a signal is pending that reports an event of the process, or ends the wait. */
static bool has_pending_event(void)
{
    static const int numbers[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t waiting;
    if (sigpending(&waiting) != 0)
        return false;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (sigismember(&waiting, numbers[i]) > 0)
            return true;
    return false;
}

/* Returns how much of the memory that is left must remain. */
static uint64_t spare_of(const struct attach_available *available)
{
    const uint64_t part = available->bytes / SPARE_PART;
    return *available->limit && part < SPARE ? part : SPARE;
}

/* Returns whether memory may be allocated further: not if an event of the process waits, or if
 * little is left to others. A function of struct attach_guard; stores in *context how much is still
 * to be allocated. */
static bool reserve_may_go_on(void *context, uint64_t left)
{
    struct attach_available available;
    uint64_t *const ret_left = context;
    *ret_left = left;
    watchdog_beat();
    if (has_pending_event())
        return false;
    attach_available_find(&available);
    const uint64_t spare = spare_of(&available);
    return available.left > MAX(spare, LEAST_SPARE);
}

static int compare_runs(const void *a, const void *b)
{
    const struct attach_run *one = a;
    const struct attach_run *other = b;
    return COMPARE(one->address, other->address);
}

/* Makes a space for pages and for the slow ones, unless the existing one holds them. Returns false
 * if there are no addresses. */
static bool death_reserve_space(struct death_reserve *reserve, const struct attach_pages *pages)
{
    static const uint64_t around[] = {AROUND, AROUND_LESS, 0};
    _cleanup_(attach_pages_deinit) struct attach_pages all = {0};
    if (!vector_grow(&all.runs, pages->runs.count + pages->slow.count + 1))
        return false;
    VECTOR_EACH(const struct attach_run, run, pages->runs)
        all.runs.data[all.runs.count++] = *run;
    VECTOR_EACH(const struct attach_run, run, pages->slow)
        all.runs.data[all.runs.count++] = *run;
    vector_sort(&all.runs, compare_runs);
    if (reserve->space.data && attach_space_holds(&reserve->space, &all))
        return true;
    reserve->touched = 0;
    for (size_t i = 0; i < COUNT_OF(around); i++) {
        attach_space_deinit(&reserve->space);
        if (attach_space_make(&all, around[i], &reserve->space))
            return true;
    }
    return false;
}

/* Returns the end of the last page of the heap that has been written to; 0: there is none. */
static uint64_t end_of_heap(const struct attach_pages *pages, const struct range *heap)
{
    for (size_t i = pages->runs.count; i > 0; i--) {
        const struct attach_run *run = &pages->runs.data[i - 1];
        if (run->kind != ATTACH_ZERO && run->address >= heap->begin && run->address < heap->end)
            return run->address + run->size;
    }
    return 0;
}

/* Cuts the list of runs where those that were written to reach `most` bytes. */
static void cut_runs(struct attach_pages *pages, uint64_t most)
{
    uint64_t left = most;
    for (size_t i = 0; i < pages->runs.count; i++) {
        struct attach_run *run = &pages->runs.data[i];
        if (run->kind != ATTACH_WRITTEN)
            continue;
        if (run->size > left) {
            run->size = whole_pages(left);
            pages->runs.count = i + (run->size > 0);
            return;
        }
        left -= run->size;
    }
}

/* Compares the addresses of two parts, for vector_sort(). */
static int death_part_compare(const void *a, const void *b)
{
    const struct death_part *one = a;
    const struct death_part *other = b;
    return COMPARE(one->address, other->address);
}

static void death_parts_deinit(struct death_parts *parts)
{
    free(parts->data);
}

/* Finds the parts of the heap of a running process, which may change meanwhile: they are only worth
 * guessing. Leaves *ret empty if they are not known. */
static void find_living_parts(uint64_t pid, const struct death_order *order,
                              struct death_parts *ret)
{
    _cleanup_(attach_space_deinit) struct attach_space space = {0};
    struct process process = {.name = "process"};
    if (order->find && copied_open_window(pid, &space, &process) == 0)
        (void)order->find(order->context, &process.memory, ret);
    process_deinit(&process);
    vector_sort(ret, death_part_compare);
}

/* Appends the parts of a run that have a rank, and no others. Returns false if memory runs out.
 * *next is the first part that does not end before the run: runs come in the order of their
 * addresses. Parts that follow each other become one run. */
static bool append_rank(const struct attach_run *run, const struct death_parts *parts, size_t *next,
                        enum death_rank rank, struct attach_pages *ret)
{
    const uint64_t end = run->address + run->size;
    while (*next < parts->count &&
           parts->data[*next].address + parts->data[*next].size <= run->address)
        ++*next;
    for (size_t i = *next; i < parts->count && parts->data[i].address < end; i++) {
        const struct death_part *part = &parts->data[i];
        const uint64_t to = part->address + part->size;
        const uint64_t last = MIN(to, end);
        uint64_t first = run->address;
        if (part->address > first)
            first = part->address;
        struct attach_run *before =
            ret->runs.count > 0 ? &ret->runs.data[ret->runs.count - 1] : NULL;
        if (part->rank != rank || first >= last)
            continue;
        if (before && before->kind == run->kind && before->address + before->size == first)
            before->size += last - first;
        else if (!vector_push(&ret->runs, ((struct attach_run){first, last - first, run->kind})))
            return false;
    }
    return true;
}

/* Lists the pages for which memory is reserved, those that matter most first: all pages outside the
 * heap, and of the heap stacks and what has pointers. Objects without pointers come last, and get
 * memory when the process dies. Returns false if memory runs out. */
static bool list_reserved(const struct attach_pages *pages, const struct death_order *order,
                          const struct death_parts *parts, struct attach_pages *ret)
{
    for (int rank = -1; rank <= DEATH_POINTERS; rank++) { /* -1: outside the heap */
        size_t next = 0;
        VECTOR_EACH(const struct attach_run, run, pages->runs) {
            const bool is_in_heap =
                run->address >= order->heap.begin && run->address < order->heap.end;
            if (run->kind == ATTACH_ZERO || is_in_heap != (rank >= 0))
                continue;
            if (!(rank < 0 ? vector_push(&ret->runs, *run)
                           : append_rank(run, parts, &next, (enum death_rank)rank, ret)))
                return false;
        }
    }
    VECTOR_EACH(const struct attach_run, run, ret->runs)
        ret->resident += run->size;
    return true;
}

/* Sets how many of the bytes that a copy needs are to be reserved: at most what the user allows, a
 * part of a limit that this program has, too, and not much more than the process's own limit. */
static void limit_wanted(struct death_reserve *reserve, uint64_t needed)
{
    reserve->wanted = MIN(needed, reserve->most);
    if (reserve->is_shared && reserve->wanted > reserve->enough / SHARED_PART)
        reserve->wanted = reserve->enough / SHARED_PART;
    if (reserve->enough > 0 && reserve->wanted > reserve->enough + NOT_CHARGED)
        reserve->wanted = reserve->enough + NOT_CHARGED;
}

/* Reserves memory for the copy of a running process. Memory is allocated now for what the process
 * has and for how far it may grow until the next call, since at its end there may be none. The heap
 * grows upwards, so the space after it counts as pages of it. Returns 0 or an errno value; memory
 * that is refused is no error (reserve->is_refused). */
int death_reserve(uint64_t pid, const struct death_order *order, struct death_reserve *reserve)
{
    uint64_t left = 0; /* bytes that were still to be allocated when the guard was asked last */
    const struct attach_guard guard = {reserve_may_go_on, &left};
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0}, listed = {0};
    _cleanup_(death_parts_deinit) struct death_parts parts = {0};
    const int error = attach_pages_find_apart(pid, &pages);
    if (error != 0 || pages.runs.count == 0)
        return error != 0 ? error : ESRCH;
    if (!death_reserve_space(reserve, &pages))
        return ENOMEM;
    find_living_parts(pid, order, &parts);
    struct attach_pages *wanted = &pages;
    if (parts.count > 0) {
        if (!list_reserved(&pages, order, &parts, &listed))
            return ENOMEM;
        wanted = &listed;
    }
    reserve->later = pages.resident - MIN(wanted->resident, pages.resident);
    const uint64_t margin = reserve->margin;
    const uint64_t end = end_of_heap(&pages, &order->heap);
    const struct attach_run growth = {end, margin, ATTACH_WRITTEN};
    limit_wanted(reserve, wanted->resident + margin);
    if (end > 0 && attach_space_area(&reserve->space, end, margin) &&
        !vector_push(&wanted->runs, growth))
        return ENOMEM;
    cut_runs(wanted, reserve->wanted);
    wanted->resident = reserve->wanted;
    const bool is_full = attach_space_fill(&reserve->space, wanted, &guard, NULL);
    reserve->is_refused = !is_full && left > 0 && !has_pending_event();
    reserve->touched = is_full ? reserve->wanted : reserve->wanted - left;
    return 0;
}

void death_reserve_deinit(struct death_reserve *reserve)
{
    attach_space_deinit(&reserve->space);
    reserve->touched = 0;
}

/* Returns how much memory may be allocated besides. *ret_is_group is whether a control group says
 * so. */
static uint64_t death_reserve_left(bool *ret_is_group)
{
    struct attach_available available;
    attach_available_find(&available);
    const uint64_t spare = spare_of(&available);
    *ret_is_group = *available.limit != '\0';
    return available.left > spare ? available.left - spare : 0;
}

/* Returns how many bytes of a run are in memory that was reserved. */
static uint64_t present_of(const struct attach_space *space, const struct attach_run *run)
{
    enum { AT_ONCE = 4096 };
    const uint64_t page = procfs_page_size();
    uint8_t *const data = attach_space_at(space, run);
    unsigned char there[AT_ONCE];
    uint64_t pages = 0;
    for (uint64_t at = 0, size; at < run->size; at += size) {
        size = MIN(run->size - at, AT_ONCE * page);
        if (mincore(data + at, (size_t)size, there) != 0)
            continue;
        for (uint64_t i = 0; i < size / page; i++)
            pages += there[i] & 1;
    }
    return pages * page;
}

/* Returns how many bytes of pages are in memory that was reserved: it may have been reserved for
 * others that the process had then. */
static uint64_t death_reserve_present(const struct death_reserve *reserve,
                                      const struct attach_pages *pages)
{
    uint64_t present = 0;
    VECTOR_EACH(const struct attach_run, run, pages->runs)
        if (run->kind != ATTACH_ZERO)
            present += present_of(&reserve->space, run);
    return present;
}

/* Gives the reserved memory back to the system, but not its addresses: where it is, is not where
 * what matters most will be copied to, and its huge pages would take more than there is. */
static void death_reserve_give_back(struct death_reserve *reserve)
{
    (void)munlockall();
    (void)madvise(reserve->space.data, reserve->space.size, MADV_DONTNEED);
    (void)madvise(reserve->space.data, reserve->space.size, MADV_NOHUGEPAGE);
    reserve->touched = 0;
}

/* ==== copies the memory of a process that has stopped at its end ==== */

/* This many bytes may be counted late (percpu counters of the kernel). */
#define FEW (4ull << 20)

/* No process that Go's runtime has started has less memory. */
#define LEAST_OF_GO (1ull << 20)

/* Of the memory for a copy, one part in so many remains to work with. */
enum { WORK_PART = 8 };

/* The memory that the least that follows a copy takes: writing it as a dump. */
#define LEAST_AFTER (16ull << 20)

/* The pages that are copied together, one list after the other. */
enum { OUTSIDE, FIRST_OF_HEAP, SLOW = FIRST_OF_HEAP + DEATH_RANKS, ZEROS, LISTS };

struct dying {
    const struct death_watch *watch;
    const struct death_order *order;
    struct death_reserve *reserve;
    struct attach_pages all, lists[LISTS];
    struct death_parts parts; /* ascending */
    uint64_t left;            /* bytes that may still be copied */
    bool is_left_for_memory;  /* more may not be copied because there is no memory for more */
    uint64_t memory;          /* bytes that may still be copied to memory; UINT64_MAX: all */
    struct death_spill spill; /* where the rest goes */
    bool is_late;             /* as in struct death_loss: far fewer pages than expected */
    bool is_doubtful;         /* it may be late: see can_read_new_page() */
};

/* ---- whether it is too late ---- */

/* Returns whether a page that the process has never written to can still be read. As soon as the
 * kernel begins to reclaim pages it refuses that, because such a page may also be one that it has
 * reclaimed (MMF_UNSTABLE, check_stable_address_space() in mm/). A kernel that has no page of zeros
 * also refuses it if the process's group is full. */
static bool can_read_new_page(const struct dying *dying)
{
    const struct attach_run *largest = NULL;
    uint8_t byte;
    VECTOR_EACH(const struct attach_run, run, dying->all.runs)
        if (run->kind == ATTACH_ZERO && (!largest || run->size > largest->size))
            largest = run;
    if (!largest)
        return true;
    const int memory =
        open(procfs_path(pid_number(dying->watch->thread), "mem").text, O_RDONLY | O_CLOEXEC);
    const bool can = memory >= 0 && pread(memory, &byte, sizeof(byte),
                                          (off_t)(largest->address + largest->size - 1)) == 1;
    if (memory >= 0)
        close(memory);
    return can;
}

/* Returns whether the kernel had begun to reclaim the process's pages before they were listed: some
 * of them then look as if they had never been written to. Here the number of pages that the process
 * had tells, which is known to within a few hundred; for the rest see note_loss(). */
static bool is_late(const struct dying *dying)
{
    enum { PART = 16 /* a sixteenth may have been freed since they were counted */ };
    const uint64_t found = dying->all.resident;
    return found + found / PART + FEW < dying->order->expected;
}

/* ---- the order of copying ---- */

/* Adds pages to a list. Returns false if memory runs out. */
static bool add_run(struct attach_pages *list, uint64_t address, uint64_t size,
                    enum attach_kind kind)
{
    const struct attach_run run = {address, size, kind};
    list->size += size;
    list->resident += kind == ATTACH_ZERO ? 0 : size;
    return size == 0 || vector_push(&list->runs, run);
}

/* Returns whether a run of pages is in the heap's range. */
static bool is_in_heap(const struct dying *dying, const struct attach_run *run)
{
    return run->address >= dying->order->heap.begin && run->address < dying->order->heap.end;
}

/* Lists the pages outside the heap, which are copied first. Returns false if memory runs out. */
static bool list_outside(struct dying *dying)
{
    VECTOR_EACH(const struct attach_run, run, dying->all.runs)
        if (run->kind != ATTACH_ZERO && !is_in_heap(dying, run) &&
            !add_run(&dying->lists[OUTSIDE], run->address, run->size, run->kind))
            return false;
    return true;
}

/* Lists the pages that were never written to, which are zeros and need no copy. Returns false if
 * memory runs out. */
static bool list_zeros(struct dying *dying)
{
    VECTOR_EACH(const struct attach_run, run, dying->all.runs)
        if (run->kind == ATTACH_ZERO &&
            !add_run(&dying->lists[ZEROS], run->address, run->size, run->kind))
            return false;
    return true;
}

/* The process's executable, whose pages that the process has not written to are read from the file.
 * path is the one in /proc/PID/maps. */
struct dying_file {
    int descriptor; /* -1: none */
    char *path;
};

static void dying_file_open(uint64_t thread, struct dying_file *ret)
{
    ret->path = copied_executable(thread);
    ret->descriptor = ret->path ? open(procfs_path(thread, "exe").text, O_RDONLY | O_CLOEXEC) : -1;
}

/* Closes what dying_file_open() opened, if anything. */
static void dying_file_close(struct dying_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->path);
}

/* Reads pages that the process has not written to from the executable. *ret_size is how many bytes:
 * 0 if they are of another file, if more may not be copied, or if pages that it has written to may
 * look like these because the kernel has reclaimed them (is_late, is_doubtful). Returns false if
 * memory runs out. */
static bool read_clean(struct dying *dying, const struct dying_file *file, struct range pages,
                       struct process *ret, struct attach_account *account, uint64_t *ret_size)
{
    const struct attach_run run = {pages.begin, pages.end - pages.begin, ATTACH_WRITTEN};
    const struct mapped_file *mapped = mapped_at(&ret->files, pages.begin);
    *ret_size = 0;
    if (dying->is_late || dying->is_doubtful || file->descriptor < 0 || !mapped ||
        run.size > dying->left || run.size > mapped->size - (pages.begin - mapped->address) ||
        !bytes_same(mapped->path, bytes_of(file->path)) || run.size > dying->memory)
        return true;
    uint8_t *const to = attach_space_at(&dying->reserve->space, &run);
    const ssize_t size = pread(file->descriptor, to, (size_t)run.size,
                               (off_t)(mapped->offset + (pages.begin - mapped->address)));
    *ret_size = size > 0 ? (uint64_t)size & ~(procfs_page_size() - 1) : 0;
    dying->left -= *ret_size;
    dying->memory -= *ret_size;
    account->bytes += *ret_size;
    account->reads++;
    return memory_add(&ret->memory, pages.begin, *ret_size, to);
}

/* Adds the runs that are not whole mappings of files to a list. Returns false if memory runs out.
 */
static bool list_changed(const struct attach_run *runs, size_t count, struct ranges *ret)
{
    for (size_t i = 0; i < count; i++) {
        const struct range run = {runs[i].address, runs[i].address + runs[i].size};
        if (runs[i].kind != ATTACH_FILE && !vector_push(&ret->list, run))
            return false;
    }
    return true;
}

/* Reads the pages of a mapping that the process has not written to, or lists them to be copied.
 * changed has those that it has written to, among others. Returns false if memory runs out. */
static bool list_clean(struct dying *dying, const struct dying_file *file,
                       const struct attach_run *mapping, const struct ranges *changed,
                       struct process *ret, struct attach_account *account)
{
    const uint64_t end = mapping->address + mapping->size;
    struct range next;
    for (uint64_t at = mapping->address, size; at < end; at = next.end) {
        (void)ranges_next(changed, at, end, &next);
        const struct range pages = {at, next.begin};
        if (!read_clean(dying, file, pages, ret, account, &size) ||
            !add_run(&dying->lists[SLOW], at + size, next.begin - (at + size), ATTACH_FILE))
            return false;
    }
    return true;
}

/* Lists the pages that may have to be read from a disk. They come last: a page that has to be read
 * in counts for the process's control group, and if that is full, waits until the kernel reclaims
 * the process's memory. Those of the executable are read from the file at once, because without all
 * of the program's data there are no types. Returns false if memory runs out. */
static bool list_slow(struct dying *dying, struct process *ret, struct attach_account *account)
{
    _cleanup_(dying_file_close) struct dying_file file;
    _cleanup_(ranges_deinit) struct ranges changed = {0};
    const struct attach_pages *all = &dying->all;
    dying_file_open(pid_number(dying->watch->thread), &file);
    if (!list_changed(all->runs.data, all->runs.count, &changed) ||
        !list_changed(all->slow.data, all->slow.count, &changed))
        return false;
    ranges_sort(&changed);
    VECTOR_EACH(const struct attach_run, run, all->slow)
        if (!(run->kind == ATTACH_FILE
                  ? list_clean(dying, &file, run, &changed, ret, account)
                  : add_run(&dying->lists[SLOW], run->address, run->size, run->kind)))
            return false;
    memory_sort(&ret->memory);
    return true;
}

/* Divides a run of the heap among the lists by the parts in it; *next is the first part that ends
 * after its start. Returns false if memory runs out. */
static bool list_run(struct dying *dying, const struct attach_run *run, size_t *next)
{
    const uint64_t end = run->address + run->size;
    for (uint64_t at = run->address; at < end;) {
        const struct death_part *parts = dying->parts.data;
        while (*next < dying->parts.count && parts[*next].address + parts[*next].size <= at)
            ++*next;
        const struct death_part *part = *next < dying->parts.count ? &parts[*next] : NULL;
        const bool is_part = part && part->address <= at;
        enum death_rank rank = DEATH_OTHER;
        uint64_t last = end; /* of the part, or of what is before the next part */
        if (is_part) {
            rank = part->rank;
            last = part->address + part->size;
        } else if (part) {
            last = part->address;
        }
        const uint64_t to = MIN(last, end);
        if (!add_run(&dying->lists[FIRST_OF_HEAP + rank], at, to - at, run->kind))
            return false;
        at = to;
    }
    return true;
}

/* Divides the pages of the heap among the lists of their ranks, in dying->lists, which are copied
 * one after the other. order->find finds the parts of the heap, and so the ranks, in memory: what
 * has been copied from outside the heap; if it is not given, all pages are DEATH_OTHER. Pages that
 * were never written to are left out: see list_zeros(). Returns false if memory runs out. */
static bool list_heap(struct dying *dying, const struct memory *memory)
{
    size_t next = 0; /* of dying->parts, as runs and parts both ascend: see list_run() */
    if (dying->order->find && !dying->order->find(dying->order->context, memory, &dying->parts))
        return false;
    vector_sort(&dying->parts, death_part_compare);
    VECTOR_EACH(const struct attach_run, run, dying->all.runs)
        if (run->kind != ATTACH_ZERO && is_in_heap(dying, run) && !list_run(dying, run, &next))
            return false;
    return true;
}

/* Cuts a list to the bytes that may still be copied (dying->left), at whole pages; runs of zeros
 * take none. What is cut is counted as refused if memory is the reason, else as limited. */
static void cut_to_limit(struct dying *dying, struct attach_pages *list, struct death_loss *loss)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->runs.count; i++) {
        struct attach_run run = list->runs.data[i];
        if (run.kind != ATTACH_ZERO && run.size > dying->left) {
            const uint64_t size = whole_pages(dying->left);
            *(dying->is_left_for_memory ? &loss->refused : &loss->limited) += run.size - size;
            run.size = size;
        }
        if (run.kind != ATTACH_ZERO)
            dying->left -= run.size;
        if (run.size > 0)
            list->runs.data[kept++] = run;
    }
    list->runs.count = kept;
}

/* Divides a list into the pages for which there is memory, which remain, and the others. Returns
 * false if memory runs out. */
static bool divide_list(struct dying *dying, struct attach_pages *list, struct attach_pages *ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->runs.count; i++) {
        struct attach_run rest;
        struct attach_run run = list->runs.data[i];
        const uint64_t most = run.kind != ATTACH_ZERO ? whole_pages(dying->memory) : UINT64_MAX;
        rest = run;
        run.size = MIN(run.size, most);
        rest.address += run.size;
        rest.size -= run.size;
        if (run.kind != ATTACH_ZERO)
            dying->memory -= run.size;
        if (rest.size > 0 && !add_run(ret, rest.address, rest.size, rest.kind))
            return false;
        if (run.size > 0)
            list->runs.data[kept++] = run;
    }
    list->runs.count = kept;
    return true;
}

/* Copies the pages of a list, as many as may still be copied. Returns 0 or an errno value. */
static int copy_list(struct dying *dying, struct attach_pages *list, struct process *ret,
                     struct attach_account *account, struct death_loss *loss)
{
    _cleanup_(attach_pages_deinit) struct attach_pages others = {0};
    struct attach_copied copied = {0};
    int error = 0;
    cut_to_limit(dying, list, loss);
    if (dying->memory != UINT64_MAX && !divide_list(dying, list, &others))
        return ENOMEM;
    if (list->runs.count > 0)
        error = attach_copy_pages((struct attach_source){pid_number(dying->watch->thread), false},
                                  list, &dying->reserve->space, NULL, &ret->memory, &copied);
    account->bytes += copied.bytes;
    account->reads += copied.reads;
    account->unreadable += copied.unreadable;
    if (error != 0 || others.runs.count == 0)
        return error;
    loss->refused += death_spill(&dying->spill, pid_number(dying->watch->thread), &others,
                                 &ret->memory, &copied);
    account->bytes += copied.bytes;
    account->reads += copied.reads;
    account->unreadable += copied.unreadable;
    return 0;
}

/* ---- lost pages ---- */

/* Returns how many of the bytes of a run are missing in the copy. */
static uint64_t missing_of(const struct attach_run *run, const struct memory *memory)
{
    const uint64_t end = run->address + run->size;
    const uint64_t page = procfs_page_size();
    uint64_t missing = 0;
    for (uint64_t at = run->address; run->kind != ATTACH_ZERO && at < end;) {
        const struct memory_range *range = memory_range_at(memory, at);
        missing += range ? 0 : page;
        at = range ? range->address + range->size : at + page;
    }
    return missing;
}

/* Counts the bytes that existed and are missing in the copy: of a mapping of a file those that the
 * process has not written to, because the others are among the runs. Returns false if memory runs
 * out. */
static bool count_missing(const struct attach_pages *pages, const struct memory *memory,
                          uint64_t *ret)
{
    _cleanup_(ranges_deinit) struct ranges changed = {0};
    if (!list_changed(pages->runs.data, pages->runs.count, &changed) ||
        !list_changed(pages->slow.data, pages->slow.count, &changed))
        return false;
    ranges_sort(&changed);
    *ret = 0;
    VECTOR_EACH(const struct attach_run, run, pages->runs)
        *ret += missing_of(run, memory);
    VECTOR_EACH(const struct attach_run, slow, pages->slow) {
        const uint64_t end = slow->address + slow->size;
        struct range next = {end, end};
        for (uint64_t at = slow->address; at < end; at = next.end) {
            if (slow->kind == ATTACH_FILE)
                (void)ranges_next(&changed, at, end, &next);
            *ret += missing_of(&(struct attach_run){at, next.begin - at, slow->kind}, memory);
        }
    }
    return true;
}

/* ---- all of it ---- */

/* Copies the pages in the order of their importance: those outside the heap say which pages of the
 * heap matter most. Returns 0 or an errno value. */
static int copy_lists(struct dying *dying, struct process *ret, struct attach_account *account,
                      struct death_loss *loss)
{
    int error = list_outside(dying) && list_slow(dying, ret, account) ? 0 : ENOMEM;
    if (error == 0)
        error = copy_list(dying, &dying->lists[OUTSIDE], ret, account, loss);
    if (error == 0 && !list_heap(dying, &ret->memory))
        error = ENOMEM;
    for (size_t i = FIRST_OF_HEAP; i < ZEROS && error == 0; i++)
        error = copy_list(dying, &dying->lists[i], ret, account, loss);
    return error;
}

/* Counts the bytes missing in the copy, and adds the pages that were never written to as zeros:
 * which ones these are is known if the kernel had not begun to reclaim pages when they were listed,
 * whatever it has reclaimed since. If that is in doubt, no page must be lost: once the kernel has
 * begun, it takes all of them within a fraction of a second. Returns 0 or an errno value. */
static int note_loss(struct dying *dying, struct process *ret, struct attach_account *account,
                     struct death_loss *loss)
{
    const uint64_t left_out = loss->limited + loss->refused;
    uint64_t missing;
    if (!count_missing(&dying->all, &ret->memory, &missing))
        return ENOMEM;
    loss->lost = missing > left_out ? missing - left_out : 0;
    loss->is_late = dying->is_late ||
                    (dying->is_doubtful && (loss->lost > 0 || dying->all.resident < LEAST_OF_GO));
    if (loss->is_late)
        return 0;
    return list_zeros(dying) ? copy_list(dying, &dying->lists[ZEROS], ret, account, loss) : ENOMEM;
}

/* Finds out whether there is memory for the copy and for what follows it. This program has the only
 * copy, so it must not be ended for lack of memory. If there is too little, gives back what was
 * reserved, and limits how much is copied to memory (dying->memory; the rest is spilled) and, if
 * the copy is converted to more than a dump, how much is copied at all (dying->left). */
static void find_memory(struct dying *dying)
{
    uint64_t all = dying->all.resident;
    bool is_group;
    VECTOR_EACH(const struct attach_run, run, dying->all.slow)
        all += run->size;
    const uint64_t needed = MIN(all, dying->left);
    const uint64_t available = death_reserve_left(&is_group);
    /* Outside of groups a conversion is not limited, as in attach_available_check(). */
    const unsigned after = is_group ? dying->order->after : 0;
    const uint64_t wanted = attach_available_wanted(needed, after, false) + LEAST_AFTER;
    dying->memory = UINT64_MAX;
    /* Memory that was reserved for these very pages is there already. */
    if (available >= wanted ||
        available + death_reserve_present(dying->reserve, &dying->all) >= wanted)
        return;
    const uint64_t touched = dying->reserve->touched;
    death_reserve_give_back(dying->reserve);
    const uint64_t available_now = death_reserve_left(&is_group);
    uint64_t usable = touched; /* at least as much as has been given back */
    if (available_now > LEAST_AFTER && available_now - LEAST_AFTER > usable)
        usable = available_now - LEAST_AFTER;
    /* The bytes of a copy whose conversion takes all of this: after percent of the copy. */
    const uint64_t followed = after > 0 ? usable / after * 100 : UINT64_MAX;
    dying->memory = usable - usable / WORK_PART;
    dying->is_left_for_memory = followed < dying->left;
    if (dying->is_left_for_memory)
        dying->left = followed;
}

/* Copies the memory of a process that is stopped at its end. Returns 0 or an errno value. Also
 * notes what cannot be read, and why. */
static int death_copy_all(struct dying *dying, struct process *ret, struct attach_account *account,
                          struct death_loss *loss)
{
    const uint64_t thread = pid_number(dying->watch->thread);
    int error = attach_pages_find_apart(thread, &dying->all);
    if (error != 0)
        return error;
    dying->is_late = is_late(dying);
    dying->is_doubtful = !can_read_new_page(dying);
    if (!death_reserve_space(dying->reserve, &dying->all))
        return ENOMEM;
    find_memory(dying);
    ret->maps = take_pointer(dying->all.maps);
    if (!mapped_parse_maps(ret->maps, &ret->files))
        return ENOMEM;
    error = copied_note_resident(&dying->all, ret);
    if (error == 0)
        error = copy_lists(dying, ret, account, loss);
    if (error != 0)
        return error;
    ret->entry = procfs_auxv(thread, AT_ENTRY);
    error = note_loss(dying, ret, account, loss);
    if (error == 0 && !loss->is_late && loss->lost == 0)
        copied_note_smaps(thread, ret);
    return error;
}

/* Copies a process that has stopped at its end. At its end a process has one thread's registers
 * left: those of the thread that is watched. Returns 0 or an errno value. */
int death_copy(const struct death_watch *watch, const struct death_order *order,
               struct death_reserve *reserve, struct process *ret, struct attach_account *account,
               struct death_loss *loss)
{
    struct dying dying = {.watch = watch,
                          .order = order,
                          .reserve = reserve,
                          .left = reserve->most,
                          .spill = {order->spill, order->spill_most, 0, &reserve->space}};
    struct process_thread thread;
    assert(watch->thread != 0); /* it has stopped */
    const double start = clock_seconds();
    *ret = (struct process){.name = account->name};
    *loss = (struct death_loss){0};
    ret->is_dead = true;
    int error = death_copy_all(&dying, ret, account, loss);
    if (error == 0 && death_registers(watch, &thread) && !vector_push(&ret->threads, thread))
        error = ENOMEM;
    account->threads = (unsigned)ret->threads.count;
    account->copy_seconds = account->stopped_seconds = clock_seconds() - start;
    if (error == 0)
        copied_hand_over(&reserve->space, ret);
    attach_pages_deinit(&dying.all);
    for (size_t i = 0; i < LISTS; i++)
        attach_pages_deinit(&dying.lists[i]);
    death_parts_deinit(&dying.parts);
    return error;
}

#endif
