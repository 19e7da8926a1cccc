/* What wasi-libc's signal.h lacks. No signal arrives: sets of them have no members. */
#ifndef WEB_LIBC_SIGNAL_H
#define WEB_LIBC_SIGNAL_H

#include_next <signal.h>
#include <sys/types.h>

enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };

struct sigaction {
    void (*sa_handler)(int number);
    sigset_t sa_mask;
    int sa_flags;
};

static inline int sigemptyset(sigset_t *set)
{
    return *set = 0;
}

static inline int sigfillset(sigset_t *set)
{
    return *set = 0;
}

static inline int sigismember(const sigset_t *set, int number)
{
    (void)set, (void)number;
    return 0;
}

static inline int sigpending(sigset_t *ret)
{
    return *ret = 0;
}

/* See web/libc.c. */
int sigaction(int number, const struct sigaction *action, struct sigaction *ret_before);
int kill(pid_t process, int number);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *ret_before);

#endif
