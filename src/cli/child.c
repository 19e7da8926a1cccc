/* child; see child.h. */
#include "cli/child.h"

#ifdef __linux__ /* as at_death.c */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/messages.h"

/* The exit statuses of shells for a command that cannot be run, or does not exist. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127, KILLED = 128 };

/* Runs the command in the child; does not return. */
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

/* When a leader ends by a hangup, the kernel sends SIGHUP to its process group, which also has what
 * a shell has started. This program does so at once, and ignores its own signal. */
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

void child_end(struct child *child, int status)
{
    child->has_ended = true;
    child->status = status;
    if (child->heir > 0 && WIFSIGNALED(status) && WTERMSIG(status) == child->passed)
        (void)kill(child->heir, child->passed);
}

int child_exit_status(const struct child *child)
{
    return WIFEXITED(child->status) ? WEXITSTATUS(child->status) : KILLED + WTERMSIG(child->status);
}

#endif
