/*
 * workers: runs numbered tasks on several threads; see workers.h. workers_run() takes tasks in any
 * order; workers_run_ordered() has their bytes consumed in the order of the tasks: a thread that is
 * ahead waits for its turn. Each run starts its own POSIX threads: a run takes much longer than
 * starting a thread. Of several errors that of the lowest task is returned, so that it does not
 * depend on the threads.
 */
#include "base/contract.h"
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

/* Returns how many threads can run at a time. By the processors that the scheduler allows, else by
 * those that are online; at least 1. */
unsigned workers_available(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

/* A run of either kind. Tasks are taken in order, so the lowest task that fails has always
 * begun. */
struct workers_batch {
    pthread_mutex_t lock; /* for next, consumed, failed_task and error */
    pthread_cond_t turn;  /* consumed or error has changed */
    workers_task *run;    /* of workers_run(); the next three are of workers_run_ordered() */
    workers_produce *produce;
    workers_pack *pack;
    workers_consume *consume;
    void *context;
    size_t tasks, next, consumed; /* how many there are, have been taken, and are consumed */
    size_t failed_task;           /* only with an error */
    struct g2h_error *error;
};

struct thread {
    struct workers_batch *run;
    unsigned worker;
    pthread_t handle;
    bool started;
};

/* Takes the next task. Returns false if there are no more, or one has failed. */
static bool workers_take(struct workers_batch *run, size_t *ret)
{
    pthread_mutex_lock(&run->lock);
    bool more = !run->error && run->next < run->tasks;
    if (more)
        *ret = run->next++;
    pthread_mutex_unlock(&run->lock);
    return more;
}

/* Records an error; of several that of the lowest task, so that it does not depend on which thread
 * was first. */
static void workers_fail(struct workers_batch *run, size_t task, struct g2h_error *error)
{
    pthread_mutex_lock(&run->lock);
    if (!run->error || task < run->failed_task) {
        g2h_error_destroy(run->error);
        run->error = error;
        run->failed_task = task;
    } else {
        g2h_error_destroy(error);
    }
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->lock);
}

/* The body of a thread: runs tasks as long as there are any. */
static void *run_tasks(void *argument)
{
    struct thread *thread = argument;
    struct workers_batch *run = thread->run;
    size_t task;
    while (workers_take(run, &task)) {
        struct g2h_error *error = run->run(run->context, task, thread->worker);
        if (error)
            workers_fail(run, task, error);
    }
    return NULL;
}

/* Waits until all tasks before this one have been consumed. Returns false after an error. */
static bool await_turn(struct workers_batch *run, size_t task)
{
    pthread_mutex_lock(&run->lock);
    while (run->consumed != task && !run->error)
        pthread_cond_wait(&run->turn, &run->lock);
    bool good = !run->error;
    pthread_mutex_unlock(&run->lock);
    return good;
}

/* Lets the next task's bytes be consumed. */
static void end_turn(struct workers_batch *run)
{
    pthread_mutex_lock(&run->lock);
    run->consumed++;
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->lock);
}

/* The current task of a thread in an ordered run. */
struct workers_turn {
    struct workers_batch *run;
    size_t task;
    bool stopped; /* another task failed */
};

/* Passes the buffer's bytes to consume() in the task's turn. Waits for it only now, so that tasks
 * are produced in parallel. If another task has failed, sets turn->stopped and passes nothing. */
static struct g2h_error *pass_on(struct workers_turn *turn, struct worker_buffer *buffer)
{
    if (turn->run->pack)
        TRY(turn->run->pack(buffer));
    if (!turn->stopped)
        turn->stopped = !await_turn(turn->run, turn->task);
    if (turn->stopped)
        return NULL;
    return turn->run->consume(turn->run->context, buffer);
}

/* Waits for the task's turn, passes the bytes so far to consume(), and empties the buffer. */
struct g2h_error *worker_buffer_flush(struct worker_buffer *buffer)
{
    struct g2h_error *error = pass_on(buffer->turn, buffer);
    buffer->size = 0;
    return error;
}

/* Passes the bytes so far, and behind them zeros that are not stored, to consume(). */
struct g2h_error *worker_buffer_flush_zeros(struct worker_buffer *buffer, uint64_t zeros)
{
    assert(buffer->turn && buffer->zeros == 0);
    buffer->zeros = zeros;
    struct g2h_error *error = worker_buffer_flush(buffer);
    buffer->zeros = 0;
    return error;
}

/* Produces the turn's task, and passes on the bytes that are still in the buffer. */
static struct g2h_error *run_task_in_order(const struct thread *thread,
                                           struct worker_buffer *buffer)
{
    const struct workers_batch *run = thread->run;
    TRY(run->produce(run->context, buffer->turn->task, thread->worker, buffer));
    return worker_buffer_flush(buffer);
}

/* The body of a thread of an ordered run: produces tasks, and passes each one's bytes on in its
 * turn. A task that is done waits for all tasks before it. */
static void *run_tasks_in_order(void *argument)
{
    struct thread *thread = argument;
    struct workers_batch *run = thread->run;
    struct workers_turn turn = {.run = run};
    struct worker_buffer buffer = {.turn = &turn};
    while (!turn.stopped && workers_take(run, &turn.task)) {
        struct g2h_error *error = run_task_in_order(thread, &buffer);
        if (error) {
            workers_fail(run, turn.task, error);
            break;
        }
        if (!turn.stopped)
            end_turn(run);
    }
    worker_buffer_deinit(&buffer);
    return NULL;
}

/* Runs body on the caller's thread and on threads - 1 others, or on fewer if there are fewer tasks
 * or the system cannot start as many. threads 0: one for each task. Returns the error of the lowest
 * task that failed, if any. */
static struct g2h_error *run_threads(struct workers_batch *run, unsigned threads,
                                     void *(*body)(void *))
{
    if (threads == 0 || threads > run->tasks)
        threads = run->tasks > 1 ? (unsigned)run->tasks : 1;
    struct thread *all = calloc(threads, sizeof(*all));
    if (!all)
        return &error_no_memory;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->turn, NULL);
    for (unsigned i = 0; i < threads; i++) {
        all[i].run = run;
        all[i].worker = i;
        if (i > 0)
            all[i].started = pthread_create(&all[i].handle, NULL, body, &all[i]) == 0;
    }
    body(&all[0]);
    for (unsigned i = 1; i < threads; i++)
        if (all[i].started)
            pthread_join(all[i].handle, NULL);
    pthread_cond_destroy(&run->turn);
    pthread_mutex_destroy(&run->lock);
    free(all);
    return run->error;
}

/* Runs run(context, 0 … tasks-1) on this many threads, including the caller's. */
struct g2h_error *workers_run(unsigned threads, size_t tasks, workers_task *run, void *context)
{
    assert(threads > 0);
    struct workers_batch state = {.run = run, .context = context, .tasks = tasks};
    return run_threads(&state, threads, run_tasks);
}

/* Runs tasks on several threads; consume() gets their outputs in the order of tasks. */
struct g2h_error *workers_run_ordered(unsigned threads, size_t tasks, workers_produce *produce,
                                      workers_pack *pack, workers_consume *consume, void *context)
{
    assert(threads > 0);
    struct workers_batch state = {
        .produce = produce, .pack = pack, .consume = consume, .context = context, .tasks = tasks};
    return run_threads(&state, threads, run_tasks_in_order);
}

struct aside {
    workers_call *call;
    void *context;
    struct g2h_error *error;
};

/* The body of the thread of workers_beside(). */
static void *run_aside(void *argument)
{
    struct aside *aside = argument;
    aside->error = aside->call(aside->context);
    return NULL;
}

/* Calls here on this thread and beside on another at the same time; one after the other if there is
 * no other thread. The error of here counts first, and then beside's is dropped, since the caller
 * could not go on without it. */
struct g2h_error *workers_beside(unsigned threads, workers_call *here, workers_call *beside,
                                 void *context)
{
    struct aside aside = {beside, context, NULL};
    pthread_t handle;
    const bool is_beside = threads > 1 && pthread_create(&handle, NULL, run_aside, &aside) == 0;
    struct g2h_error *error = here(context);
    if (is_beside)
        pthread_join(handle, NULL);
    if (error) {
        g2h_error_destroy(aside.error);
        return error;
    }
    if (!is_beside)
        run_aside(&aside);
    return aside.error;
}

/* Makes space for size more bytes, and returns where; NULL: memory runs out. The buffer grows by
 * more than is needed, so that it grows rarely. */
char *worker_buffer_reserve(struct worker_buffer *buffer, size_t size)
{
    if (!buffer->data || buffer->capacity - buffer->size < size) {
        size_t wanted = buffer->size + size + buffer->capacity / 2 + 64;
        char *grown = realloc(buffer->data, wanted);
        if (!grown)
            return NULL;
        buffer->data = grown;
        buffer->capacity = wanted;
    }
    return buffer->data + buffer->size;
}

void worker_buffer_deinit(struct worker_buffer *buffer)
{
    free(buffer->data);
    buffer->data = NULL;
    buffer->size = buffer->capacity = 0;
}
