/*
 * stop: stops all threads of a process, and lets them continue as if nothing had happened. What
 * this program must do meanwhile is here, too: not wait for a processor, and end if it stands
 * still.
 */
#ifndef ATTACH_STOP_H
#define ATTACH_STOP_H

#include <pthread.h>
#include <stdbool.h>

#include "process/attach/fork.h"
#include "process/attach/process.h"

/* ==== has the kernel end this program if it stands still while it may hold a process ====
 *
 * A process that has come to its end stays there until its tracer lets it go (death.h). A tracer
 * that is stopped (SIGSTOP) or frozen (a control group's freezer) never does, and the process would
 * remain for ever. So a timer of the kernel's ends this program with SIGKILL unless it is set again
 * and again; then the process ends, or goes on if it lives. Only the freezer of version 1 of
 * control groups holds SIGKILL back, too, until it thaws the group.
 */

/* How long this program may stand still, in seconds. */
enum { WATCHDOG_SECONDS = 30 };

/* Starts the timer, with so many seconds until the first beat. Returns false if the system has no
 * such timers. */
bool watchdog_begin(unsigned seconds);

/* Shows that this program goes on, for another WATCHDOG_SECONDS. Does nothing without a timer. It
 * may be called by any thread. */
void watchdog_beat(void);

/* Ends this program after so many seconds, whatever it does until watchdog_end(). */
void watchdog_last(unsigned seconds);

void watchdog_end(void);

/* ==== threads that do not wait for a processor while a process is stopped ====
 *
 * On a machine with more work than processors, each thread waits for its turn, and the process that
 * is copied waits with it. Threads under SCHED_RR run before all others. They get the lowest
 * priority of that kind, and SCHED_RESET_ON_FORK, so that the threads and processes that they start
 * are normal. If the system refuses (sched(7): it takes CAP_SYS_NICE or RLIMIT_RTPRIO), everything
 * still works, only later.
 */

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

/* ==== stops all threads of a process, and lets them continue as if nothing had happened ====
 *
 * A thread of this program is their tracer, and ends as soon as they continue. When a tracer ends,
 * the kernel detaches all of its tracees, so no thread stays stopped, however this program ends; no
 * signal that arrived meanwhile is lost, nor a stop that existed before. The kernel restarts
 * interrupted system calls, except the few of signal(7) that return EINTR after any stop, such as
 * epoll_wait(2).
 */

struct attach_threads {
    struct process_thread *data;
    size_t count, capacity;
};

struct attach_stop {
    struct attach_threads threads; /* threads that were stopped, with their registers */
    unsigned stuck;    /* number of threads deep in the kernel, which were not waited for */
    unsigned in_vfork; /* of these, threads that wait for a child of vfork(2) */
    double seconds;    /* how long the threads were stopped; set once they continue */
    struct attach_tracer *tracer;
};

/*
 * Stops all threads of a process. If fork is not NULL, the process is forked, too, if possible:
 * fork->child is nonzero if it was; it must have passed attach_fork_check(), and must outlive the
 * stop. Returns 0 or an errno value: ESRCH if the process has ended, ETIMEDOUT if it does not stop.
 * *ret goes to attach_stop_deinit() in any case.
 */
int attach_stop(uint64_t pid, struct attach_fork *fork, struct attach_stop *ret);

/* Lets the threads continue. A child stays until attach_stop_end(), unless memory becomes short. */
void attach_stop_let_go(struct attach_stop *stop);

/* Lets the threads continue, unless they run already, and ends the child, if there is one. */
void attach_stop_end(struct attach_stop *stop);

void attach_stop_deinit(struct attach_stop *stop);

/* Returns whether a process is in a frozen control group of version 1, in which no thread stops.
 * (In those of version 2 they do.) */
bool attach_is_frozen(uint64_t pid);

#endif
