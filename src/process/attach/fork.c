/*
 * fork: makes a copy of a live process by a fork from outside; see fork.h. attach_fork_check()
 * refuses, before the process is stopped, all that a fork might disturb or that has no memory for
 * it; attach_fork_make() borrows a stopped thread that sleeps in runtime.futex and has it call
 * clone(2) (inject.h). The child never runs: this program reads its memory and ends it;
 * attach_fork_end() then has the process wait for it, so that no zombie stays. The last part makes
 * huge pages of the process's memory, so that there are fewer page tables to copy.
 */
#include "process/attach/fork.h"

#include <stddef.h>

#ifdef __linux__

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <go2heapsnapshot/process.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "process/attach/available.h"
#include "process/attach/pages.h"
#include "process/attach/procfs.h"

/* ==== a copy by a fork from outside ==== */

/* Seconds to wait for a thread that sleeps where it can be borrowed: before the process is copied
 * instead, and before a child that has ended stays a zombie. */
#define PATIENCE_TO_FORK 1.0

#define PATIENCE_TO_REAP 10.0

/* The memory that must be left: at least this many bytes, and a fiftieth of the limit. */
#define LEAST_ROOM (64ull << 20)

enum { PART_OF_LIMIT = 50 };

/* Threads and processes that the process must still be able to start: Go exits if it cannot start a
 * thread. */
enum { LEAST_TASKS = 16 };

/* Notes why the process cannot be forked, in fork->refused. Always returns false. */
__attribute__((format(printf, 2, 3))) static bool fork_refuse(struct attach_fork *fork,
                                                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fork->refused, sizeof(fork->refused), format, arguments);
    va_end(arguments);
    return false;
}

/* ---- before the stop ---- */

/* Returns what kind of descriptor this is if a fork might disturb it, by the target of its link, or
 * NULL. Data that the kernel writes to the process's pages meanwhile may go to the copy's pages
 * instead. */
static const char *disturbed_by_fork(const char *target)
{
    static const char *const names[][2] = {
        {"anon_inode:[io_uring]", "io_uring"},
        {"anon_inode:[userfaultfd]", "userfaultfd"},
        {"/dev/infiniband/", "RDMA"},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strncmp(target, names[i][0], strlen(names[i][0])) == 0)
            return names[i][1];
    return NULL;
}

/* Checks that the process has no descriptor that a fork might disturb. Returns false with the
 * reason in fork->refused. */
static bool check_descriptors(struct attach_fork *fork)
{
    _cleanup_(procfs_close) DIR *directory = opendir(procfs_path(fork->pid, "fd").text);
    if (!directory)
        return fork_refuse(fork, "its descriptors cannot be read");
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char target[64];
        const ssize_t size =
            readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
        target[MAX(size, 0)] = '\0';
        const char *what = disturbed_by_fork(target);
        if (what)
            return fork_refuse(fork, "it uses %s", what);
    }
    return true;
}

/* The mapping of smaps whose lines are being read. */
struct fork_mapping {
    uint64_t begin, end;
    uint64_t bytes; /* resident or swapped */
    bool is_private;
};

/* Parses the line that begins a mapping: start-end perms …. is_private: it can be read and written,
 * and writes are not shared ("rw?p"). Returns false for other lines. */
static bool parse_fork_mapping(const char *at, struct fork_mapping *ret)
{
    uint64_t begin, end;
    if (!procfs_take_number(&at, 16, &begin) || *at++ != '-' || !procfs_take_number(&at, 16, &end))
        return false;
    const bool is_private = strnlen(at, 4) == 4 && at[0] == 'r' && at[1] == 'w' && at[3] == 'p';
    *ret = (struct fork_mapping){begin, end, 0, is_private};
    return true;
}

/* Returns the bytes in a line of smaps: 12288 of "Rss:  12 kB". 0: it has another key. */
static uint64_t bytes_in(const char *line, const char *key)
{
    const size_t size = strlen(key);
    uint64_t kilobytes;
    if (strncmp(line, key, size) != 0)
        return 0;
    line += size + strspn(line + size, " ");
    return procfs_take_number(&line, 10, &kilobytes) ? kilobytes << 10 : 0;
}

/* Returns whether a line of smaps, "VmFlags: rd wr mr", has a flag, which begins with a blank. The
 * flags are those of proc(5). */
static bool has_fork_flag(const char *line, const char flag[4])
{
    const size_t size = strcspn(line, "\n");
    return strncmp(line, "VmFlags:", 8) == 0 && memmem(line, size, flag, 3) != NULL;
}

/* Looks at the mappings of the process (smaps). Refuses memory of aio and of io_uring, whose
 * descriptor may be closed, and memory that a child does not get (MADV_DONTFORK, "dc"). Lists the
 * memory that is zeros in a child (MADV_WIPEONFORK, "wf"): it has to be copied from the process.
 * Returns false with the reason in fork->refused. */
bool attach_fork_check_mappings(struct attach_fork *fork, const char *smaps)
{
    struct fork_mapping mapping = {0};
    if (strstr(smaps, " /[aio]"))
        return fork_refuse(fork, "it uses aio");
    if (strstr(smaps, " anon_inode:[io_uring]"))
        return fork_refuse(fork, "it uses io_uring");
    for (const char *line = smaps; *line;) {
        (void)parse_fork_mapping(line, &mapping);
        mapping.bytes += bytes_in(line, "Rss:") + bytes_in(line, "Swap:");
        if (mapping.is_private && has_fork_flag(line, " dc"))
            return fork_refuse(fork, "it has memory that a fork would not have (MADV_DONTFORK)");
        if (has_fork_flag(line, " wf")) {
            const struct range range = {mapping.begin, mapping.end};
            if (!vector_push(&fork->wiped.list, range))
                return fork_refuse(fork, "there is no memory for a list of its mappings");
            fork->wiped_bytes += mapping.bytes;
        }
        line = strchrnul(line, '\n');
        line += *line == '\n';
    }
    return true;
}

/* Reads the mappings of the process and looks at them. Returns false with the reason in
 * fork->refused. */
static bool check_mappings(struct attach_fork *fork)
{
    _cleanup_(text_deinit) struct text smaps = {0};
    if (procfs_read_of(fork->pid, "smaps", &smaps) != 0)
        return fork_refuse(fork, "its mappings cannot be read");
    return attach_fork_check_mappings(fork, smaps.data);
}

/* Returns how many threads the processes of a user have. */
static uint64_t threads_of(uint64_t user)
{
    _cleanup_(procfs_close) DIR *processes = opendir("/proc");
    uint64_t sum = 0;
    for (uint64_t pid; (pid = procfs_next_number(processes)) != 0;) {
        _cleanup_(text_deinit) struct text status = {0};
        if (procfs_read_of(pid, "status", &status) == 0 && procfs_number(&status, "Uid:") == user)
            sum += procfs_number(&status, "Threads:");
    }
    return sum;
}

/* Checks that the process can start threads although there is one more process: by the limit of its
 * control group, and by that of its user, which root (0) has not. Returns false with the reason in
 * fork->refused. */
static bool check_tasks(struct attach_fork *fork)
{
    _cleanup_(text_deinit) struct text limits = {0}, status = {0};
    if (attach_available_tasks_of(fork->pid) < LEAST_TASKS)
        return fork_refuse(fork, "its control group has no room for another process (pids.max)");
    if (procfs_read_of(fork->pid, "limits", &limits) != 0 ||
        procfs_read_of(fork->pid, "status", &status) != 0)
        return fork_refuse(fork, "its limits cannot be read");
    const uint64_t user = procfs_number(&status, "Uid:"),
                   most = procfs_number(&limits, "Max processes");
    if (user != 0 && most != UINT64_MAX && threads_of(user) + LEAST_TASKS > most)
        return fork_refuse(fork, "its user may have no other process (ulimit -u)");
    return true;
}

/* Returns how much memory has to be left beside a child. */
static uint64_t least_room(const struct attach_available *available)
{
    const uint64_t limit = *available->limit
                               ? available->bytes
                               : (uint64_t)sysconf(_SC_PHYS_PAGES) * procfs_page_size();
    return MAX(limit / PART_OF_LIMIT, LEAST_ROOM);
}

/* Checks that there is memory for page tables, and for the pages that both will have: a collection
 * of Go 1.26 and later writes to up to a quarter of the heap. Less than that is enough, because the
 * child ends when memory becomes short, except where the kernel would end the process as well.
 * Returns false with the reason in fork->refused. */
static bool check_room(struct attach_fork *fork)
{
    _cleanup_(text_deinit) struct text status = {0}, overcommit = {0};
    struct attach_available available;
    if (procfs_read_of(fork->pid, "status", &status) != 0)
        return fork_refuse(fork, "its size cannot be read");
    attach_available_find_of(fork->pid, &available);
    const uint64_t resident = procfs_number(&status, "VmRSS:") << 10,
                   tables = procfs_number(&status, "VmPTE:") << 10,
                   wanted =
                       least_room(&available) + tables + (available.ends_all ? resident / 4 : 0);
    if (available.left < wanted)
        return fork_refuse(fork, "a fork needs %.0f MB, and %s leaves %.0f MB", in_millions(wanted),
                           *available.limit ? available.limit : "this machine",
                           in_millions(available.left));
    attach_available_find(&available);
    if (fork->wiped_bytes > 0 && available.left / 2 < fork->wiped_bytes)
        return fork_refuse(fork,
                           "a fork would not have %.0f MB of its memory (MADV_WIPEONFORK), and "
                           "there is no memory for a copy of that",
                           in_millions(fork->wiped_bytes));
    if (procfs_read("/proc/sys/vm/overcommit_memory", &overcommit) == 0 &&
        procfs_number(&overcommit, "") == 2)
        return fork_refuse(fork,
                           "/proc/sys/vm/overcommit_memory is 2, which counts a fork as a copy");
    return true;
}

/* Returns whether the process may be forked: the machine is amd64, the functions of the runtime
 * that the child calls are known, and its descriptors, mappings, tasks and room in memory allow it.
 * If not, why is noted in fork. */
bool attach_fork_check(struct attach_fork *fork)
{
    if (!inject_is_possible())
        return fork_refuse(fork, "that is possible on amd64 only");
    if (fork->code.futex == 0 || fork->code.exit == 0)
        return fork_refuse(fork, "runtime.futex or runtime.exit is not found in the executable");
    return check_descriptors(fork) && check_mappings(fork) && check_tasks(fork) && check_room(fork);
}

/* Returns a thread of the process that seems to sleep where it can be borrowed, or 0. */
static pid_t find_sleeper(const struct attach_fork *fork)
{
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path(fork->pid, "task").text);
    for (uint64_t id; (id = procfs_next_number(tasks)) != 0;)
        if (inject_is_sleeping(fork->pid, as_pid(id), &fork->code))
            return as_pid(id);
    return 0;
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL); /* 1 ms */
}

/* Waits at most PATIENCE_TO_FORK seconds until a thread of the process seems to sleep where it can
 * be borrowed. Returns whether one does. */
bool attach_fork_await(const struct attach_fork *fork)
{
    const double start = clock_seconds();
    while (find_sleeper(fork) == 0) {
        if (clock_seconds() - start > PATIENCE_TO_FORK)
            return false;
        pause_briefly();
    }
    return true;
}

/* ---- the fork ---- */

/* Returns whether children of a thread are in its own pid namespace. In another one the child would
 * be the first process, and no other could start there after its end. */
static bool has_own_namespace(const struct attach_fork *fork, pid_t id)
{
    char path[96], own[64], other[64];
    snprintf(path, sizeof(path), "/proc/%llu/task/%d/ns/pid", (unsigned long long)fork->pid, id);
    const ssize_t size = readlink(path, own, sizeof(own));
    strcat(path, "_for_children");
    return size > 0 && readlink(path, other, sizeof(other)) == size &&
           memcmp(own, other, as_size(size)) == 0;
}

/* Makes the arguments of wait4(2) for a child, by its number in the process's pid namespace;
 * WNOHANG, so that the thread cannot block. */
static void make_wait_arguments(uint64_t child, uint64_t ret[6])
{
    const uint64_t arguments[6] = {child, 0, WNOHANG | __WALL};
    memcpy(ret, arguments, sizeof(arguments));
}

/* Asks the filters of a borrowed thread about a call. Returns whether they do no harm: a filter
 * that only refuses the call is suspended. */
static bool pass_filters(struct injection *injection, long call, const uint64_t arguments[6],
                         enum filters_answer *ret)
{
    *ret = filters_ask(injection->tracee->id, call, inject_pointer(injection), arguments);
    injection->suspends_filters = *ret == FILTERS_REFUSE;
    return *ret == FILTERS_ALLOW || *ret == FILTERS_REFUSE;
}

/* Chooses the thread to be borrowed: if possible one whose sleep has no time limit. If none sleeps,
 * which passes (may_come), returns false with the reason in fork->refused. */
static bool fork_choose(struct attach_fork *fork, struct tracee *tracees, size_t count,
                        struct injection *ret)
{
    for (int may_be_timed = 0; may_be_timed < 2; may_be_timed++)
        for (size_t i = 0; i < count; i++)
            if (inject_begin(&tracees[i], &fork->code, ret) &&
                (may_be_timed != 0 || !ret->is_timed))
                return true;
    fork->may_come = true;
    return fork_refuse(fork,
                       "none of its threads sleeps where it could be borrowed (runtime.futex)");
}

/* Records the result of the call: a pid as the process sees it (fork->there), or a negative errno
 * value. Returns whether there is a child. If there is none, why is noted, and whether another call
 * may help (may_come). */
static bool note_result(struct attach_fork *fork, const struct injection *injection, long result)
{
    /* linux/errno.h: a signal came, the call did nothing. */
    enum { ERESTARTSYS = 512, ERESTART_LAST = 516 };
    if (injection->child != 0) {
        fork->child = injection->child;
        fork->image = g2h_process_image(fork->pid);
        fork->there = result > 0 ? (uint64_t)result : 0;
    }
    fork->is_lost = result == INJECT_LOST;
    fork->may_come =
        injection->child == 0 &&
        (result == INJECT_AGAIN || (-result >= ERESTARTSYS && -result <= ERESTART_LAST));
    if (fork->is_lost)
        return fork_refuse(fork, "a thread of it does not answer");
    if (fork->may_come)
        return fork_refuse(fork, "signals for it came all the time");
    if (fork->child == 0 && result == -EAGAIN)
        return fork_refuse(fork, "it may not start another process (pids.max, ulimit -u)");
    if (fork->child == 0)
        return fork_refuse(fork, "clone: %s",
                           result < 0 ? strerror((int)-result) : "no child appeared");
    return true;
}

/* Forks the stopped process: one of its threads is made to call clone(2). All that could go wrong
 * is checked before, including whether the thread could later wait for the child, so that no zombie
 * stays. Returns whether there is a child; if not, why is in fork->refused. */
bool attach_fork_make(struct attach_fork *fork, struct tracee *tracees, size_t count)
{
    assert(fork->code.futex != 0 && fork->code.exit != 0); /* attach_fork_check() has looked */
    struct injection injection;
    enum filters_answer answer, answer_to_wait;
    uint64_t wait[6];
    uint64_t arguments[6] = {CLONE_FILES | CLONE_FS /* R3 */}; /* without an exit signal: R4 */
    fork->may_come = false;
    for (size_t i = 0; i < count; i++)
        if (tracees[i].state == TRACEE_STUCK)
            return fork_refuse(fork, "a thread of it waits in the kernel for a device");
    if (!fork_choose(fork, tracees, count, &injection))
        return false;
    if (!has_own_namespace(fork, injection.tracee->id))
        return fork_refuse(fork, "its children begin another pid namespace");
    arguments[1] = inject_exit_frame(&injection, &fork->code);
    if (arguments[1] == 0)
        return fork_refuse(fork, "the stack of a thread cannot be written to");
    make_wait_arguments((uint64_t)fork->pid, wait);
    const bool waits = pass_filters(&injection, SYS_wait4, wait, &answer_to_wait),
               clones = pass_filters(&injection, SYS_clone, arguments, &answer);
    if (answer == FILTERS_UNKNOWN || answer_to_wait == FILTERS_UNKNOWN)
        return fork_refuse(fork, "it has a seccomp filter, which takes CAP_SYS_ADMIN to look at");
    if (!waits || !clones)
        return fork_refuse(fork, "its seccomp filter would act on %s", waits ? "clone" : "wait4");
    injection.traces_child = true;
    return note_result(fork, &injection, inject(&injection, SYS_clone, arguments));
}

/* ---- the guard ---- */

/* Returns whether the forked child may stay: there is memory for what goes until the next call, if
 * that is as much as since the last one, and the process has not ended. */
bool attach_fork_may_stay(struct attach_fork *fork)
{
    _cleanup_(text_deinit) struct text status = {0};
    struct attach_available available;
    const char *state =
        procfs_read_of(fork->pid, "status", &status) == 0 ? procfs_value(&status, "State:") : NULL;
    if (!state || *state == 'Z' || *state == 'X')
        return false;
    attach_available_find_of(fork->pid, &available);
    const uint64_t less = fork->left > available.left ? fork->left - available.left : 0;
    fork->left = available.left;
    fork->was_short = available.left / 2 < least_room(&available) / 2 + less;
    return !fork->was_short;
}

/* ---- the end ---- */

/* Seizes and stops one thread. Returns whether it is now the caller's stopped tracee. Notes the
 * signal that it had stopped for, which it must get later, and whether its whole process was
 * stopped already. */
static bool stop_one(pid_t id, struct tracee *ret)
{
    *ret = (struct tracee){.id = id, .state = TRACEE_RUNNING};
    if (ptrace(PTRACE_SEIZE, id, NULL, NULL) != 0)
        return false;
    (void)ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
    const int status = inject_await(id);
    if (status < 0)
        return false;
    ret->state = TRACEE_STOPPED;
    ret->signal = status >> 8 == 0 ? status : 0;
    ret->is_group_stop = status >> 8 != 0 && (status & 0xff) != SIGTRAP;
    return true;
}

static void fork_let_go(const struct tracee *tracee)
{
    (void)ptrace(PTRACE_DETACH, tracee->id, NULL, (void *)(intptr_t)tracee->signal);
}

/* Has one thread of the process wait for a child that has ended. Returns the result of wait4(2)
 * there, INJECT_AGAIN or INJECT_LOST. */
static long reap_once(const struct attach_fork *fork, uint64_t child)
{
    const pid_t id = find_sleeper(fork);
    struct tracee tracee;
    struct injection injection;
    enum filters_answer answer;
    uint64_t arguments[6];
    long result = INJECT_AGAIN;
    if (id == 0 || !stop_one(id, &tracee))
        return INJECT_AGAIN;
    make_wait_arguments(child, arguments);
    if (inject_begin(&tracee, &fork->code, &injection) &&
        pass_filters(&injection, SYS_wait4, arguments, &answer))
        result = inject(&injection, SYS_wait4, arguments);
    fork_let_go(&tracee);
    return result;
}

/* Has the process wait for a child. Returns whether it has, or need not any more. A process that
 * runs another program meanwhile has other code. */
static bool reap(const struct attach_fork *fork, uint64_t child)
{
    const double start = clock_seconds();
    while (clock_seconds() - start < PATIENCE_TO_REAP) {
        const long result = reap_once(fork, child);
        if (result == (long)child || result == -ECHILD || !procfs_has_process(fork->pid))
            return true;
        if (result == INJECT_LOST || g2h_process_image(fork->pid) != fork->image)
            return false;
        pause_briefly();
    }
    return false;
}

/* Moves *at on by count fields of stat, which are separated by blanks. */
static void skip_fields(const char **at, int count)
{
    for (; count > 0 && **at; count--) {
        *at += strcspn(*at, " ");
        *at += **at == ' ';
    }
}

/* Returns whether a child of the process was made by this program: a zombie without an exit signal,
 * which was the OOM killer's first choice, or ended through the exit frame. If so, *ret_there is
 * its number in its own pid namespace, which is that of the process. */
static bool is_left_child(uint64_t child, uint64_t *ret_there)
{
    enum { STATE = 3, EXIT_SIGNAL = 38, EXIT_CODE = 52 }; /* fields of stat, by proc(5) */
    _cleanup_(text_deinit) struct text stat = {0}, status = {0}, score = {0};
    if (procfs_read_of(child, "stat", &stat) != 0 ||
        procfs_read_of(child, "status", &status) != 0 ||
        procfs_read_of(child, "oom_score_adj", &score) != 0)
        return false;
    const char *at = strrchr(stat.data, ')');
    if (!at || strncmp(at, ") Z ", 4) != 0)
        return false;
    at += 2;
    uint64_t exit_signal, exit_code, number;
    skip_fields(&at, EXIT_SIGNAL - STATE);
    if (!procfs_take_number(&at, 10, &exit_signal) || exit_signal != 0)
        return false;
    skip_fields(&at, EXIT_CODE - EXIT_SIGNAL - 1);
    if (procfs_number(&score, "") != 1000 && /* prefer_for_oom_killer() */
        (!procfs_take_number(&at, 10, &exit_code) || exit_code != INJECT_STATUS << 8))
        return false;
    const char *numbers = procfs_value(&status, "NSpid:");
    *ret_there = 0;
    while (numbers && procfs_take_number(&numbers, 10, &number))
        *ret_there = number;
    return *ret_there != 0;
}

/* Has the process wait for children that previous runs of this program have left as zombies,
 * because they were killed before they could do so. Ends at the first child that the process does
 * not wait for. */
static void reap_left(const struct attach_fork *fork)
{
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path(fork->pid, "task").text);
    for (uint64_t id; (id = procfs_next_number(tasks)) != 0;) {
        _cleanup_(text_deinit) struct text children = {0};
        char path[96];
        snprintf(path, sizeof(path), "/proc/%llu/task/%llu/children", (unsigned long long)fork->pid,
                 (unsigned long long)id);
        if (procfs_read(path, &children) != 0)
            continue;
        const char *at = children.data;
        for (uint64_t child, there; procfs_take_number(&at, 10, &child);)
            if (is_left_child(child, &there) && !reap(fork, there))
                return;
    }
}

/* Ends the child. The child is a child of the process, so only the process can remove its
 * zombie. */
void attach_fork_end(struct attach_fork *fork)
{
    siginfo_t info;
    if (fork->child == 0)
        return;
    (void)kill(fork->child, SIGKILL); /* it is a tracee, or waits until this thread reaps it */
    while (waitid(P_PID, (id_t)fork->child, &info, WEXITED | __WALL) != 0 && errno == EINTR)
        continue;
    fork->child = 0;
    fork->is_left = fork->there == 0 || !reap(fork, fork->there);
    if (!fork->is_left)
        reap_left(fork);
}

/* ==== makes the memory of another process huge pages, while it runs ==== */

/* The kernel's numbers (asm-generic/unistd.h; MADV_COLLAPSE), which not all C libraries have. */
enum { CALL_PIDFD_OPEN = 434, CALL_PROCESS_MADVISE = 440, ADVICE_COLLAPSE = 25 };

#define HUGE_PAGE (2ull << 20) /* bytes, on amd64 */
/* How much of a huge page has to be resident, in bytes. */
#define ENOUGH (HUGE_PAGE / 8 * 7)

enum { BLOCKS_BETWEEN_LOOKS = 16 };

struct collapse {
    struct attach_fork *fork;
    const struct g2h_progress *progress;
    int process;                     /* a descriptor */
    uint64_t done, collapsed, total; /* bytes */
    uint64_t blocks;
    int error; /* of the last block that could not be collapsed */
    bool is_over;
};

/* Asks the kernel to make one huge page of the small pages at an address. Checks each
 * BLOCKS_BETWEEN_LOOKS blocks whether there still is memory, and reports progress. is_over is set
 * if there is none, or if the kernel will not do it for any block. */
static void collapse_block(struct collapse *collapse, uint64_t address)
{
    const struct iovec range = {as_pointer(address), (size_t)HUGE_PAGE};
    if (collapse->blocks++ % BLOCKS_BETWEEN_LOOKS == 0) {
        collapse->is_over = !attach_fork_may_stay(collapse->fork);
        if (collapse->progress)
            collapse->progress->update(collapse->progress->context, "collapsing", collapse->done,
                                       collapse->total, 0);
    }
    if (collapse->is_over)
        return;
    if (syscall(CALL_PROCESS_MADVISE, collapse->process, &range, 1, ADVICE_COLLAPSE, 0) > 0) {
        collapse->collapsed += HUGE_PAGE;
        return;
    }
    collapse->error = errno;
    collapse->is_over = errno == EPERM || errno == ENOSYS || errno == ESRCH;
}

/* Collapses the huge pages that are resident enough. Runs of pages ascend, and one huge page may
 * consist of several: `there` adds up its resident bytes. */
static void collapse_pages(struct collapse *collapse, const struct attach_pages *pages)
{
    uint64_t block = 0, there = 0;
    for (size_t i = 0; i < pages->runs.count && !collapse->is_over; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        if (run->kind != ATTACH_WRITTEN)
            continue;
        collapse->done += run->size;
        for (uint64_t at = run->address, next; at < run->address + run->size; at = next) {
            const uint64_t end = run->address + run->size;
            const uint64_t limit = (at / HUGE_PAGE + 1) * HUGE_PAGE;
            next = MIN(end, limit);
            there = at / HUGE_PAGE == block ? there : 0;
            block = at / HUGE_PAGE;
            const uint64_t before = there;
            there += next - at;
            if (before < ENOUGH && there >= ENOUGH && !collapse->is_over)
                collapse_block(collapse, block * HUGE_PAGE);
        }
    }
}

/* Finds the resident pages of the process, and makes huge ones of them. Returns how many bytes have
 * become huge pages; *ret_error, an errno value, may be set even so. */
uint64_t attach_collapse(struct attach_fork *fork, const struct g2h_progress *progress,
                         int *ret_error)
{
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0};
    struct collapse collapse = {.fork = fork, .progress = progress};
    collapse.error = attach_pages_find(fork->pid, &pages);
    collapse.process = (int)syscall(CALL_PIDFD_OPEN, as_pid(fork->pid), 0);
    if (collapse.process < 0)
        collapse.error = errno;
    else if (collapse.error == 0) {
        collapse.total = pages.resident;
        collapse_pages(&collapse, &pages);
    }
    if (collapse.process >= 0)
        close(collapse.process);
    fork->left = 0; /* attach_fork_may_stay() starts anew for the fork */
    fork->was_short = false;
    *ret_error = collapse.error;
    return collapse.collapsed;
}

#endif
