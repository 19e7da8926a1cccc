/*
 * stop: stops all threads of a process, and lets them continue as if nothing had happened.
 *
 * A thread of this program is their tracer, and ends as soon as they continue. When a tracer ends,
 * the kernel detaches all of its tracees, so no thread stays stopped, however this program ends; no
 * signal that arrived meanwhile is lost, nor a stop that existed before. The kernel restarts
 * interrupted system calls, except the few of signal(7) that return EINTR after any stop, such as
 * epoll_wait(2).
 */
#ifndef PROCESS_ATTACH_STOP_H
#define PROCESS_ATTACH_STOP_H

#include "process/attach/fork.h"
#include "process/attach/process.h"

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
