/*
 * attach_stop: stops all threads of a process, and lets them go on as if nothing had been.
 *
 * A thread of ours is their tracer, and ends as soon as they go on. The kernel lets go whatever a
 * tracer has when that ends, so none stays stopped, however we end; nor does a signal get lost that
 * arrived meanwhile, nor a stop that was there before. System calls that wait are begun anew by the
 * kernel, but for the few of signal(7) that give EINTR after any stop: epoll_wait(2) is one.
 */
#ifndef PROCESS_ATTACH_STOP_H
#define PROCESS_ATTACH_STOP_H

#include "process/process.h"

struct attach_threads {
    struct process_thread *data;
    size_t count, capacity;
};

struct attach_stop {
    struct attach_threads threads; /* those that were stopped, with their registers */
    unsigned stuck;                /* threads deep in the kernel, which were not waited for */
    double seconds;                /* that they stood still, once they go on */
    struct attach_tracer *tracer;
};

/* Seconds since some moment. */
double attach_clock(void);

/* Stops them. Gives 0, or the number of the system's error: ESRCH: it has ended; ETIMEDOUT: it does
 * not stop. *ret goes to attach_stop_deinit() in any case. */
int attach_stop(uint64_t pid, struct attach_stop *ret);

/* Lets them go on; nothing, if they do already. */
void attach_stop_end(struct attach_stop *stop);
void attach_stop_deinit(struct attach_stop *stop);

#endif
