/*
 * guard: --at-death beside --watch: a process of its own (the guard) waits for the end of the
 * watched process and writes its heap then; see at_death.h. Before each snapshot of --watch, which
 * needs the process for itself, the guard is asked by a signal to let it go, and afterwards to
 * seize it again; answers come through a pipe.
 */
#include "cli/at_death.h"

#ifdef __linux__ /* as at_death.c */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/messages.h"

/* Does the guard's work in the child; does not return. Ends with an error if the parent, the
 * process with the ID parent, has ended; if it ends later, the kernel sends SIGTERM. */
static void guard_run(const struct options *options, at_death_write *write, void *context,
                      int answers, pid_t parent)
{
    sigset_t requests;
    /* guard_ask() and guard_end() send these, even if the caller ignored them. */
    signal(SIGUSR2, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&requests);
    sigaddset(&requests, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &requests, NULL); /* also while the heap is written */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
        _exit(EXIT_FAILED);
    _exit(at_death_run(options, write, context, answers));
}

/* Waits for the answer to a request: AT_DEATH_READY or AT_DEATH_ENDED; 0: the guard has ended. */
static char guard_await(const struct guard *guard)
{
    char answer = 0;
    while (read(guard->answers, &answer, 1) < 0 && errno == EINTR)
        continue;
    return answer;
}

/* Has the guard let the process go, or seize it again, in turn. Returns its answer as
 * guard_await(). */
static char guard_ask(const struct guard *guard)
{
    return kill(guard->id, SIGUSR2) == 0 ? guard_await(guard) : 0;
}

/* Starts the guard, the process that waits for the death of another. The guard is a child made by
 * fork(), connected by a pipe for its answers; this waits for the first. Returns whether the guard
 * is ready; if not, the reason has been printed. */
bool guard_begin(const struct options *options, at_death_write *write, void *context,
                 struct guard *ret)
{
    const pid_t parent = getpid();
    int ends[2];
    *ret = (struct guard){.answers = -1};
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, nobody learns how the guard ended */
    ret->id = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
    if (ret->id < 0) {
        say("go2heapsnapshot: cannot start a process: %s", strerror(errno));
        return false;
    }
    if (ret->id == 0) {
        close(ends[0]);
        guard_run(options, write, context, ends[1], parent);
    }
    close(ends[1]);
    ret->answers = ends[0];
    return guard_await(ret) == AT_DEATH_READY;
}

void guard_around(void *context, bool begins)
{
    (void)begins; /* each request changes the state */
    (void)guard_ask(context);
}

bool guard_has_ended(const struct guard *guard)
{
    /* The first request has the guard let the process go or seize it, the second undoes that. */
    return guard_ask(guard) != AT_DEATH_READY || guard_ask(guard) != AT_DEATH_READY;
}

/* Asks whether the guard still waits for a death (it lets the process go, too): if so, ends it by
 * SIGTERM; if it has copied a process, waits until that is written. Returns the guard's exit status
 * if that is not 0 and status is not EXIT_FAILED, else status. */
int guard_end(struct guard *guard, int status)
{
    int how = SIGKILL;
    if (guard->id <= 0)
        return status;
    if (guard_ask(guard) == AT_DEATH_READY)
        kill(guard->id, SIGTERM);
    while (waitpid(guard->id, &how, 0) < 0 && errno == EINTR)
        continue;
    close(guard->answers);
    guard->id = 0;
    if (WIFSIGNALED(how))
        say("go2heapsnapshot: warning: the process of --at-death was killed by signal %d",
            WTERMSIG(how));
    const int ended = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_FAILED;
    return ended != EXIT_FINE && status != EXIT_FAILED ? ended : status; /* as end_with() */
}

#else

bool guard_begin(const struct options *options, at_death_write *write, void *context,
                 struct guard *ret)
{
    *ret = (struct guard){0};
    (void)at_death_run(options, write, context, -1);
    return false;
}

void guard_around(void *context, bool begins)
{
    (void)context, (void)begins;
}

bool guard_has_ended(const struct guard *guard)
{
    (void)guard;
    return true;
}

int guard_end(struct guard *guard, int status)
{
    (void)guard;
    return status;
}

#endif
