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

void child_forward(const struct child *child, const siginfo_t *info)
{
    if (!child->has_ended && info->si_code <= 0)
        (void)kill(child->id, info->si_signo);
}

int child_exit_status(const struct child *child)
{
    return WIFEXITED(child->status) ? WEXITSTATUS(child->status) : KILLED + WTERMSIG(child->status);
}

#endif
