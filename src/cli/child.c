/*
 * child: the command that --at-death starts; see child.h. child_start() forks it and waits before
 * it executes the program, so that it can be traced from its first instruction (child_go). An heir
 * is the Go program that a command such as sh -c './server; true' has started: it is watched in
 * place of the command, and is searched among all descendants of this.
 */
#include "cli/child.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <go2heapsnapshot/process.h>

#include "cli/messages.h"
#include "library/origin.h"
#include "process/attach/procfs.h"

/* ==== the Go program among the processes that a command has started: sh -c './server; true' ====
 */

void heir_begin(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L); /* without it they are not found */
}

/* Returns whether a process was found before to run no Go program. It may run another one since:
 * then its image is another one, too. */
static bool is_other(const struct heirs *heirs, uint64_t image)
{
    for (unsigned i = 0; i < HEIR_KNOWN && i < heirs->count; i++)
        if (heirs->others[i] == image)
            return true;
    return false;
}

/* Returns the nearest descendant of this program that runs a Go program, but the one `except`; 0 if
 * there is none. *ret_others: there are descendants, but `except`. An executable is opened once,
 * because this is called several times a second: heirs has those that were not Go. A child that a
 * shell has just forked is the shell until it calls execve(). is_quick: children_find_quickly() is
 * enough. */
uint64_t heir_find(struct heirs *heirs, uint64_t except, bool is_quick, bool *ret_others)
{
    enum { MOST = HEIR_KNOWN };
    uint64_t children[MOST];
    const uint64_t own = pid_number(getpid());
    const size_t count =
        is_quick ? children_find_quickly(own, children, MOST) : children_find(own, children, MOST);
    *ret_others = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t image = children[i] != except ? g2h_process_image(children[i]) : 0;
        if (image == 0) /* it has ended */
            continue;
        *ret_others = true;
        if (is_other(heirs, image))
            continue;
        if (origin_is_go(children[i]) && !origin_is_go_command(children[i]))
            return children[i];
        heirs->others[heirs->count++ % HEIR_KNOWN] = image;
    }
    return 0;
}

/* ==== a command that this program starts ==== */

/* The exit statuses of shells for a command that cannot be run, or does not exist. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127, KILLED = 128 };

/* Waits, in the child, for a byte from the pipe `go`, and runs the command with the signal mask;
 * does not return. */
static void child_run(char **command, const sigset_t *mask, int go)
{
    char byte;
    if (read(go, &byte, 1) != 1)
        _exit(CANNOT_RUN); /* this program has ended before */
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    execvp(command[0], command);
    const int error = errno;
    say("go2heapsnapshot: %s: cannot run: %s", command[0], strerror(error));
    _exit(error == ENOENT ? NOT_FOUND : CANNOT_RUN);
}

/* Starts the process of the command. The child waits for a byte in the pipe (child_go()) before it
 * runs the command, so that it can be watched from its first moment on. Returns 0 or an errno
 * value. */
int child_start(char **command, const sigset_t *mask, struct child *ret)
{
    int ends[2];
    *ret = (struct child){.go = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    ret->id = fork();
    if (ret->id == 0) {
        close(ends[1]);
        child_run(command, mask, ends[0]);
    }
    const int error = ret->id < 0 ? errno : 0;
    close(ends[0]);
    if (error != 0) {
        ret->id = 0;
        close(ends[1]);
        return error;
    }
    ret->go = ends[1];
    return 0;
}

/* Lets the child, which waits for a byte, run the command. */
void child_go(struct child *child)
{
    const char byte = 0;
    while (write(child->go, &byte, 1) < 0 && errno == EINTR)
        continue;
    close(child->go);
    child->go = -1;
}

/* Returns whether a terminal has sent a signal to this program alone: at a hangup SIGHUP and
 * SIGCONT, if it is the leader of the session, which has the terminal. */
static bool is_hangup(const siginfo_t *info)
{
    return info->si_code > 0 && (info->si_signo == SIGHUP || info->si_signo == SIGCONT) &&
           getsid(0) == getpid();
}

/* Passes a signal that a process sent (si_code <= 0; the terminal's reach the child by themselves)
 * to the child, or, once it has ended, to the process that took its place. A hangup differs: when a
 * leader of a session ends by one, the kernel sends SIGHUP to its process group, which also has
 * what a shell has started. This program does so at once, and ignores its own signal. */
void child_forward(struct child *child, const siginfo_t *info)
{
    const pid_t to = child->has_ended ? child->heir : child->id;
    if (is_hangup(info)) {
        (void)kill(0, info->si_signo);
    } else if (to > 0 && info->si_code <= 0 && info->si_pid != getpid()) {
        child->passed = info->si_signo;
        (void)kill(to, info->si_signo);
    }
}

/* Notes how the command has ended. If it was by a signal that this program had passed on, passes
 * that on to the process that took its place, too. */
void child_end(struct child *child, int status)
{
    child->has_ended = true;
    child->status = status;
    if (child->heir > 0 && WIFSIGNALED(status) && WTERMSIG(status) == child->passed)
        (void)kill(child->heir, child->passed);
}

/* Returns the exit status of a command, as shells have it: 128 and the number of the signal that
 * ended it. */
int child_exit_status(const struct child *child)
{
    return WIFEXITED(child->status) ? WEXITSTATUS(child->status) : KILLED + WTERMSIG(child->status);
}

#endif
