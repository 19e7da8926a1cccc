/* death; see death.h. The terms are those of ptrace(2). */
#include "process/attach/death.h"

#ifdef __linux__

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/elf_format.h"
#include "base/scope.h"
#include "process/attach/procfs.h"

/* The second thread of a Go program is sysmon, in all releases. */
enum { LOOKED_AT = 64, TRIES = 3 };

/* ---- threads ---- */

/* Finds living threads, the oldest first. Returns how many. */
static size_t find_threads(uint64_t pid, pid_t but, pid_t ret[LOOKED_AT])
{
    _cleanup_(procfs_close) DIR *tasks = opendir(procfs_path(pid, "task").text);
    size_t count = 0;
    for (uint64_t id; count < LOOKED_AT && (id = procfs_next_number(tasks)) != 0;)
        if (id <= INT32_MAX && (pid_t)id != but && !procfs_has_exited(pid, id))
            ret[count++] = (pid_t)id;
    return count;
}

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
    const bool is_there = procfs_thread_state(watch->pid, (uint64_t)thread) != '\0';
    watch->thread = is_there ? thread : (pid_t)watch->pid;
    watch->is_stopped = watch->is_alone = false;
    watch->status = 0;
    return 0;
}

/* A thread may end before it is seized (ESRCH): then another one is tried. */
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
    return seize_thread(watch, (pid_t)watch->pid);
}

/* ---- stops ---- */

/* Returns whether the thread is ending by a call of its own that ends nothing else. If another
 * thread ends it, it is in another call, or in none. */
static bool is_in_exit(pid_t thread)
{
    _cleanup_(text_deinit) struct text call = {0};
    uint64_t number;
    const char *at = procfs_read_of((uint64_t)thread, "syscall", &call) == 0 ? call.data : NULL;
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

bool death_is_exec(int wait_status)
{
    return WIFSTOPPED(wait_status) && wait_status >> 16 == PTRACE_EVENT_EXEC;
}

bool death_concerns(const struct death_watch *watch, pid_t id, int wait_status)
{
    return watch->thread != 0 &&
           (id == watch->thread || ((uint64_t)id == watch->pid && death_is_exec(wait_status)));
}

/* The thread continues after each stop except that at its end; a signal is delivered as if nobody
 * watched. */
void death_note(struct death_watch *watch, pid_t id, int wait_status)
{
    if (!WIFSTOPPED(wait_status)) {
        watch->thread = 0;
        watch->status = wait_status;
        watch->is_alone = false;
        return;
    }
    const int event = wait_status >> 16, number = WSTOPSIG(wait_status);
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

bool death_registers(const struct death_watch *watch, struct process_thread *ret)
{
    *ret = (struct process_thread){.id = (uint64_t)watch->thread};
    struct iovec registers = {ret->registers, sizeof(ret->registers)};
    if (ptrace(PTRACE_GETREGSET, watch->thread, (void *)(uintptr_t)NT_PRSTATUS, &registers) < 0)
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

/* Only a stopped tracee can be detached, so it is interrupted first. At its end it stays
 * stopped. */
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

void death_let_go(struct death_watch *watch)
{
    if (!death_let_run(watch))
        (void)ptrace(PTRACE_DETACH, watch->thread, NULL, 0L);
    watch->thread = 0;
    watch->is_stopped = false;
}

/* The first thread may end alone while the program goes on, so another one is watched as soon as
 * there is one. It is seized before the first is let go, so that no end is missed. */
void death_prefer_second(struct death_watch *watch)
{
    pid_t threads[LOOKED_AT];
    if ((uint64_t)watch->thread != watch->pid || watch->is_stopped ||
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

#endif
