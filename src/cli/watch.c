/* watch; see watch.h. */
#include "cli/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <go2heapsnapshot/process.h>

#include "base/clock.h"

/* ---- values of options ---- */

/* Reads a number that may be followed by one letter, which multiplies it. */
static bool parse_multiple(const char *text, const char *letters, const uint64_t *factors,
                           uint64_t most, uint64_t *ret)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    uint64_t factor = 1;
    if (text[0] < '0' || text[0] > '9' || errno != 0)
        return false;
    for (size_t i = 0; *end && letters[i]; i++)
        if (*end == letters[i]) {
            factor = factors[i];
            end++;
            break;
        }
    if (*end || number == 0 || number > most / factor)
        return false;
    *ret = number * factor;
    return true;
}

bool watch_parse_time(const char *text, uint64_t *ret_seconds)
{
    enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
    static const uint64_t factors[] = {1, MINUTE, HOUR, DAY};
    return parse_multiple(text, "smhd", factors, 30 * DAY, ret_seconds);
}

bool watch_parse_size(const char *text, uint64_t *ret_bytes)
{
    static const uint64_t factors[] = {1 << 10, 1 << 20, 1 << 30, 1 << 10, 1 << 20, 1 << 30};
    return parse_multiple(text, "KMGkmg", factors, INT64_MAX, ret_bytes);
}

/* ---- moments ---- */

static volatile sig_atomic_t is_stopped;

/* The next signal of this kind ends the program as usual. */
static void on_stop(int number)
{
    (void)number;
    is_stopped = 1;
}

/* Catches a signal once; after that its previous handler is back. */
static void catch_once(int number)
{
    struct sigaction before, own = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &own, NULL);
}

void watch_begin(uint64_t pid, uint64_t every, struct watch *ret)
{
    *ret = (struct watch){pid, every, pid != 0 ? g2h_process_image(pid) : 0, clock_seconds(), 1, 0};
    catch_once(SIGINT);
    catch_once(SIGTERM);
}

bool watch_has_ended(const struct watch *watch)
{
    return watch->pid != 0 && g2h_process_image(watch->pid) != watch->image;
}

bool watch_wait(struct watch *watch, const atomic_bool *is_over)
{
    const double every = (double)watch->every, passed = clock_seconds() - watch->begin;
    const uint64_t next = (uint64_t)(passed / every) + 1;
    if (next > watch->due) {
        watch->missed += next - watch->due;
        watch->due = next;
    }
    const double until = watch->begin + (double)watch->due * every;
    for (double left; !is_stopped && !*is_over && (left = until - clock_seconds()) > 0;) {
        const double part = left < 0.1 ? left : 0.1;
        const struct timespec pause = {.tv_nsec = (long)(part * 1e9)};
        nanosleep(&pause, NULL);
        if (watch_has_ended(watch))
            return false;
    }
    watch->due++;
    return !is_stopped && !*is_over;
}
