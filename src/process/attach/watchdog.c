/* watchdog; see watchdog.h. */
#include "process/attach/watchdog.h"

#ifdef __linux__

#include <signal.h>
#include <time.h>

static struct {
    timer_t timer;
    bool is_set, is_last;
} watchdog;

static void watchdog_set(unsigned seconds)
{
    const struct itimerspec left = {.it_value = {.tv_sec = (time_t)seconds}};
    (void)timer_settime(watchdog.timer, 0, &left, NULL);
}

bool watchdog_begin(unsigned seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    if (!watchdog.is_set)
        watchdog.is_set = timer_create(CLOCK_MONOTONIC, &event, &watchdog.timer) == 0;
    watchdog.is_last = false;
    if (watchdog.is_set)
        watchdog_set(seconds);
    return watchdog.is_set;
}

void watchdog_beat(void)
{
    if (watchdog.is_set && !watchdog.is_last)
        watchdog_set(WATCHDOG_SECONDS);
}

void watchdog_last(unsigned seconds)
{
    if (watchdog_begin(seconds))
        watchdog.is_last = true;
}

void watchdog_end(void)
{
    if (watchdog.is_set)
        (void)timer_delete(watchdog.timer);
    watchdog.is_set = false;
}

#else

bool watchdog_begin(unsigned seconds)
{
    (void)seconds;
    return false;
}

void watchdog_beat(void)
{
}

void watchdog_last(unsigned seconds)
{
    (void)seconds;
}

void watchdog_end(void)
{
}

#endif
