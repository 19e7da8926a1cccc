/* hang: ends a test that hangs, on a busy machine no sooner than on an idle one. */
#ifndef HANG_H
#define HANG_H

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <unistd.h>

/*
 * Limits the processor seconds that the process may use from now on, with all its threads together;
 * then SIGPROF ends it. A process that waits for ever uses no processor time: SIGALRM ends it after
 * an hour. 0: no limit. A program that the process executes keeps the limit; a child of fork() has
 * no limit.
 */
static inline void hang_limit(unsigned seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &timer, NULL);
    alarm(seconds ? 3600 : 0);
}

/* Returns whether a process that this signal ended had exceeded its hang_limit(). */
static inline bool is_hang(int signal)
{
    return signal == SIGPROF || signal == SIGALRM;
}

#endif
