/*
 * urgent: threads that do not wait for a processor while a process is stopped.
 *
 * On a machine with more work than processors, each thread waits for its turn, and the process that
 * is copied waits with it. Threads under SCHED_RR run before all others. They get the lowest
 * priority of that kind, and SCHED_RESET_ON_FORK, so that the threads and processes that they start
 * are normal. If the system refuses (sched(7): it takes CAP_SYS_NICE or RLIMIT_RTPRIO), everything
 * still works, only later.
 */
#ifndef PROCESS_ATTACH_URGENT_H
#define PROCESS_ATTACH_URGENT_H

#include <pthread.h>
#include <stdbool.h>

/* How a thread was scheduled before it became urgent. */
struct attach_urgent {
    bool is_urgent; /* it has become urgent; otherwise nothing was changed */
    int policy, priority;
};

/* Makes the caller's thread urgent until attach_urgent_end(). Returns 0, or an errno value if the
 * system refuses. */
int attach_urgent_begin(struct attach_urgent *ret);

/* Schedules the thread as before; does nothing if it was not made urgent. */
void attach_urgent_end(const struct attach_urgent *urgent);

/* Starts a thread, urgent from its first instruction if the system allows that. Returns 0 or an
 * errno value. */
int attach_urgent_start(pthread_t *ret, void *(*body)(void *), void *argument);

/* Makes the caller's thread, which attach_urgent_start() has started, start no urgent ones. */
void attach_urgent_confine(void);

#endif
