/* hang: a test that hangs ends, on a busy machine no sooner than on an idle one. */
#ifndef HANG_H
#define HANG_H

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <unistd.h>

/*
 * From now on the process may take so many seconds of the processors, all its threads together;
 * then SIGPROF ends it. One that waits for what never comes takes none: SIGALRM ends it after an
 * hour. 0: no limit. What it executes keeps the limit, a child of fork() has none.
 */
static inline void hang_limit(unsigned seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &timer, NULL);
    alarm(seconds ? 3600 : 0);
}

/* Whether such a signal means that. */
static inline bool is_hang(int signal)
{
    return signal == SIGPROF || signal == SIGALRM;
}

#endif
