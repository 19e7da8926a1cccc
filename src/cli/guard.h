/*
 * guard: --at-death beside --watch: a process of its own that waits for the end of the watched
 * process, and writes its heap then.
 *
 * One thread has one tracer, so the guard lets the process go while its memory is copied for a
 * snapshot. If this program ends, the guard ends as well.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <sys/types.h>

#include "cli/at_death.h"

struct guard {
    pid_t id;    /* 0: there is none */
    int answers; /* a pipe: one byte for each request that is done */
};

/* Starts a guard, which calls at_death_run(). To be called while this program has one thread.
 * Returns false after a message if it cannot be started; guard_end() in any case. */
bool guard_begin(const struct options *options, at_death_write *write, void *context,
                 struct guard *ret);

/* Lets the process go if a snapshot begins, and seizes it again if not. context is the guard. If
 * the process is ending, its heap has been copied when this returns. A function of struct
 * origin_options. */
void guard_around(void *context, bool begins);

/* Ends the guard, once it has written the heap of a process that has ended. status is the exit
 * status of this program so far; returns that which takes what the guard did into account. */
int guard_end(struct guard *guard, int status);

#endif
