/*
 * at_death: --at-death, which waits for the end of a process and then writes its heap.
 *
 * It sleeps until something happens, checks a few times per second how much memory the process has,
 * and reserves as much for the copy. It never changes the process: whenever this program ends, the
 * process continues.
 */
#ifndef CLI_AT_DEATH_H
#define CLI_AT_DEATH_H

#include <sys/types.h>

#include "cli/options.h"
#include "library/death_box.h"

/* Converts a process that was copied and writes it to a path. Reports errors. Returns an exit
 * status. */
typedef int at_death_write(void *context, struct death *death, uint64_t pid, const char *path);

/* What is answered when the process is seized, and to each request by SIGUSR2: the first of these
 * lets the process go, the next one seizes it again. */
enum {
    AT_DEATH_READY = 'r', /* done */
    AT_DEATH_ENDED = 'e', /* the process is ending; its heap has been copied if it is wanted */
};

/* Waits for the end of the process of the options, or of their command, which it starts. answers is
 * a descriptor for the answers to requests; -1: there are none. Returns the exit status: that of
 * the command, if there is one. */
int at_death_run(const struct options *options, at_death_write *write, void *context, int answers);

/* Returns whether an output is a directory: it is one, or ends with a slash. */
bool at_death_is_directory(const char *path);

/*
 * guard: --at-death beside --watch: a process of its own that waits for the end of the watched
 * process, and writes its heap then. One thread has one tracer, so the guard lets the process go
 * while its memory is copied for a snapshot. If this program ends, the guard ends as well.
 */
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

/* Returns whether the process has ended, or its end has come: then its heap has been copied. */
bool guard_has_ended(const struct guard *guard);

/* Ends the guard, once it has written the heap of a process that has ended. status is the exit
 * status of this program so far; returns that which takes what the guard did into account. */
int guard_end(struct guard *guard, int status);

#endif
