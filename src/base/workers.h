/*
 * workers: a few threads that share numbered tasks.
 *
 * The result of a task depends only on its number, never on the thread or on the order, so that the
 * output is the same for any number of threads.
 */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* Returns the number of processors that this process may run on. */
unsigned workers_available(void);

/* Does one task. worker is the index of the thread that runs it, less than the number of threads,
 * so that each thread can have its own memory. */
typedef struct g2h_error *workers_task(void *context, size_t task, unsigned worker);

/* Runs run(context, 0 … tasks-1) on this many threads, including the caller's. After an error no
 * further task begins. Returns the error of the lowest task that failed. */
struct g2h_error *workers_run(unsigned threads, size_t tasks, workers_task *run, void *context);

/*
 * Runs here() on the caller's thread and beside() on another one, or one after the other if threads
 * is 1 or no thread can be started. Returns the error of here(), or else that of beside(). If
 * here() fails, beside() need not have run.
 */
typedef struct g2h_error *workers_call(void *context);
struct g2h_error *workers_beside(unsigned threads, workers_call *here, workers_call *beside,
                                 void *context);

/* Makes a number that several threads raise at least this large. */
static inline void workers_raise(uint64_t *number, uint64_t least)
{
    uint64_t now = __atomic_load_n(number, __ATOMIC_RELAXED);
    while (now < least && !__atomic_compare_exchange_n(number, &now, least, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED))
        ;
}

/* The bytes that a task produces. */
struct worker_buffer {
    char *data;
    size_t size, capacity;
    uint64_t zeros; /* that many zeros follow the bytes; worker_buffer_flush_zeros() sets it */
    struct workers_turn *turn; /* the task's turn; see worker_buffer_flush() */
};

/* Makes space for size more bytes. Returns its start, or NULL if memory runs out. */
char *worker_buffer_reserve(struct worker_buffer *buffer, size_t size);

/* Appends bytes, or as many zeros if data is NULL. Returns false if memory runs out. */
static inline bool worker_buffer_put(struct worker_buffer *buffer, const void *data, size_t size)
{
    char *at = worker_buffer_reserve(buffer, size);
    if (!at)
        return false;
    if (data)
        memcpy(at, data, size);
    else
        memset(at, 0, size);
    buffer->size += size;
    return true;
}

void worker_buffer_deinit(struct worker_buffer *buffer);

typedef struct g2h_error *workers_produce(void *context, size_t task, unsigned worker,
                                          struct worker_buffer *buffer);
typedef struct g2h_error *workers_pack(struct worker_buffer *buffer);
typedef struct g2h_error *workers_consume(void *context, const struct worker_buffer *buffer);

/*
 * Like workers_run(), with results in order: consume() gets the outputs of produce() for tasks 0,
 * 1, … in this order, and runs on one thread at a time. pack, if not NULL, may replace a buffer's
 * bytes before that, on the thread that produced them.
 */
struct g2h_error *workers_run_ordered(unsigned threads, size_t tasks, workers_produce *produce,
                                      workers_pack *pack, workers_consume *consume, void *context);

/*
 * Called within produce(): waits for the task's turn, passes the bytes so far to consume(), and
 * empties the buffer. A task with much output calls it periodically, so that no buffer outgrows
 * memory.
 */
struct g2h_error *worker_buffer_flush(struct worker_buffer *buffer);

/* Makes space for size more bytes, and some more for those that follow. A buffer with more than
 * large bytes is flushed first. */
static inline struct g2h_error *worker_buffer_provide(struct worker_buffer *buffer, size_t size,
                                                      size_t large)
{
    enum { MORE = 1 << 18 };
    if (buffer->capacity - buffer->size >= size)
        return NULL;
    if (buffer->size > large)
        TRY(worker_buffer_flush(buffer));
    TRY_MEMORY(worker_buffer_reserve(buffer, size + MORE));
    return NULL;
}

/* Does the same, and adds zeros without storing them: consume() gets their number in buffer->zeros.
 * Only for runs without pack. */
struct g2h_error *worker_buffer_flush_zeros(struct worker_buffer *buffer, uint64_t zeros);

#endif
