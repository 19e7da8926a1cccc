/*
 * workers: a few threads that share out numbered tasks.
 *
 * The result of a task depends on its number only, never on the thread or on the order, so that the
 * output is the same for any number of threads.
 */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The number of processors that this process may run on. */
unsigned workers_available(void);

/* Does one task. worker, which is below the number of threads, tells which of them runs it: each
 * may have memory of its own. */
typedef struct g2h_error *workers_task(void *context, size_t task, unsigned worker);

/*
 * Runs run(context, 0 … tasks-1) on threads threads, the caller's among them. After an error no
 * further task is begun; the error of the lowest task is returned.
 */
struct g2h_error *workers_run(unsigned threads, size_t tasks, workers_task *run, void *context);

/*
 * Does two things, here() on the caller's thread and beside() on another one, or then one after the
 * other where threads is 1 or there is no other. The error of here(), after which beside() need not
 * have been done, else that of beside().
 */
typedef struct g2h_error *workers_step(void *context);
struct g2h_error *workers_beside(unsigned threads, workers_step *here, workers_step *beside,
                                 void *context);

/* Bytes that a task makes. */
struct worker_buffer {
    char *data;
    size_t size, capacity;
    struct workers_turn *turn; /* of the task; see worker_buffer_flush() */
};

/* Makes room for size bytes more; NULL where there is no memory. */
char *worker_buffer_reserve(struct worker_buffer *buffer, size_t size);

void worker_buffer_deinit(struct worker_buffer *buffer);

typedef struct g2h_error *workers_produce(void *context, size_t task, unsigned worker,
                                          struct worker_buffer *buffer);
typedef struct g2h_error *workers_pack(struct worker_buffer *buffer);
typedef struct g2h_error *workers_consume(void *context, const struct worker_buffer *buffer);

/*
 * Like workers_run(), with results in order: what produce() makes of task 0, 1, … is handed to
 * consume() in this order, by one thread at a time. pack, if not NULL, may replace a buffer's bytes
 * before, on the thread that made them.
 */
struct g2h_error *workers_run_ordered(unsigned threads, size_t tasks, workers_produce *produce,
                                      workers_pack *pack, workers_consume *consume, void *context);

/*
 * Within produce(): waits for the task's turn, has the bytes so far consumed, and empties the
 * buffer. A task that makes much calls it now and then, so that no buffer outgrows memory.
 */
struct g2h_error *worker_buffer_flush(struct worker_buffer *buffer);

#endif
