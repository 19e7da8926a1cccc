/* Covers base/workers: each task runs once, results are in order for any number of threads, the
 * lowest failing task gives the error. */
#include "unit.h"

#include <pthread.h>
#include <unistd.h>

#include "base/workers.h"

static const unsigned thread_counts[] = {1, 2, 3, 8, 17};
enum { THREAD_COUNTS = 5, TASKS = 500 };

/* ---- workers_run() ---- */

struct counting {
    unsigned runs[TASKS];
    unsigned threads;
    bool worker_is_bad;
    size_t failing; /* tasks that are at least this and divisible by 7 fail */
    unsigned begun;
};

static struct g2h_error *count_task(void *context, size_t task, unsigned worker)
{
    struct counting *counting = context;
    __atomic_fetch_add(&counting->runs[task], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counting->begun, 1, __ATOMIC_RELAXED);
    if (worker >= counting->threads)
        counting->worker_is_bad = true;
    if (task >= counting->failing && task % 7 == 0) {
        if (task % 2 == 0)
            usleep(500); /* so that higher tasks fail earlier */
        return error_create(G2H_ERROR_LIMIT, "task %zu", task);
    }
    return NULL;
}

TEST(runs_each_task_once)
{
    for (size_t i = 0; i < THREAD_COUNTS; i++) {
        struct counting counting = {.threads = thread_counts[i], .failing = SIZE_MAX};
        assert_no_error(workers_run(thread_counts[i], TASKS, count_task, &counting));
        for (size_t task = 0; task < TASKS; task++)
            assert_int_equal(counting.runs[task], 1);
        assert_false(counting.worker_is_bad);
    }
}

TEST(no_tasks)
{
    struct counting counting = {.threads = 1, .failing = 0};
    assert_no_error(workers_run(4, 0, count_task, &counting));
    assert_int_equal(counting.begun, 0);
}

/* 98 is the lowest task that fails, and it is slower than 105, 119, …; after an error no further
 * task begins. */
TEST(lowest_error_wins)
{
    for (size_t i = 0; i < THREAD_COUNTS; i++)
        for (int round = 0; round < 20; round++) {
            struct counting counting = {.threads = thread_counts[i], .failing = 98};
            struct g2h_error *error = workers_run(thread_counts[i], TASKS, count_task, &counting);
            assert_non_null(error);
            assert_string_equal(error->message, "task 98");
            for (size_t task = 0; task < 98; task++)
                assert_int_equal(counting.runs[task], 1);
            assert_true(thread_counts[i] > 1 || counting.begun == 99);
            g2h_error_destroy(error);
        }
}

/* ---- workers_run_ordered() ---- */

struct ordered {
    size_t consumed;
    bool wrong;
    size_t failing_produce, failing_consume;
};

/* Gives the task's number as text, in a length of the task's own, except for every third task. */
static struct g2h_error *produce_task(void *context, size_t task, unsigned worker,
                                      struct worker_buffer *buffer)
{
    struct ordered *ordered = context;
    uint64_t random = task * 2654435761u + 1;
    (void)worker;
    if (buffer->size != 0)
        ordered->wrong = true;
    if (unit_random(&random) % 4 == 0)
        usleep((useconds_t)(unit_random(&random) % 300));
    if (task == ordered->failing_produce)
        return error_create(G2H_ERROR_LIMIT, "produce %zu", task);
    size_t repeats = task % 3 == 0 ? 0 : task % 50 + 1;
    for (size_t i = 0; i < repeats; i++) {
        char *at = worker_buffer_reserve(buffer, 10);
        if (!at)
            return &error_no_memory;
        memcpy(at, &task, sizeof(task));
        buffer->size += sizeof(task);
    }
    return NULL;
}

static struct g2h_error *consume_task(void *context, const struct worker_buffer *buffer)
{
    struct ordered *ordered = context;
    size_t task = ordered->consumed++, repeats = task % 3 == 0 ? 0 : task % 50 + 1;
    if (buffer->size != repeats * sizeof(task))
        ordered->wrong = true;
    for (size_t i = 0; i < buffer->size / sizeof(task); i++)
        if (memcmp(buffer->data + i * sizeof(task), &task, sizeof(task)) != 0)
            ordered->wrong = true;
    if (task == ordered->failing_consume)
        return error_create(G2H_ERROR_SYSTEM, "consume %zu", task);
    return NULL;
}

TEST(results_in_order)
{
    for (size_t i = 0; i < THREAD_COUNTS; i++) {
        struct ordered ordered = {.failing_produce = SIZE_MAX, .failing_consume = SIZE_MAX};
        assert_no_error(workers_run_ordered(thread_counts[i], TASKS, produce_task, NULL,
                                            consume_task, &ordered));
        assert_int_equal(ordered.consumed, TASKS);
        assert_false(ordered.wrong);
    }
}

/* After an error no thread waits for a turn that never comes. */
TEST(errors_end_an_ordered_run)
{
    for (size_t i = 0; i < THREAD_COUNTS; i++)
        for (size_t failing = 0; failing < 60; failing += 7) {
            struct ordered ordered = {.failing_produce = failing, .failing_consume = SIZE_MAX};
            struct g2h_error *error = workers_run_ordered(thread_counts[i], TASKS, produce_task,
                                                          NULL, consume_task, &ordered);
            char expected[32];
            snprintf(expected, sizeof(expected), "produce %zu", failing);
            assert_non_null(error);
            assert_string_equal(error->message, expected);
            assert_true(ordered.consumed <= failing);
            g2h_error_destroy(error);

            ordered = (struct ordered){.failing_produce = SIZE_MAX, .failing_consume = failing};
            error = workers_run_ordered(thread_counts[i], TASKS, produce_task, NULL, consume_task,
                                        &ordered);
            snprintf(expected, sizeof(expected), "consume %zu", failing);
            assert_non_null(error);
            assert_string_equal(error->message, expected);
            assert_int_equal(ordered.consumed, failing + 1);
            assert_false(ordered.wrong);
            g2h_error_destroy(error);
        }
}

/* ---- worker_buffer_flush() ---- */

enum { PIECES = 7 };

struct pieces {
    struct ordered ordered;
    size_t pieces; /* how many pieces were consumed */
    size_t failing_piece;
};

/* Each task flushes a few times, with its number and the piece's number in the bytes; pack_piece()
 * adds one to the piece's number. */
static struct g2h_error *produce_pieces(void *context, size_t task, unsigned worker,
                                        struct worker_buffer *buffer)
{
    (void)context;
    (void)worker;
    for (size_t piece = 0; piece < PIECES; piece++) {
        const size_t numbers[2] = {task, piece};
        char *at = worker_buffer_reserve(buffer, sizeof(numbers));
        if (!at)
            return &error_no_memory;
        memcpy(at, numbers, sizeof(numbers));
        buffer->size += sizeof(numbers);
        if (piece == PIECES - 1)
            break; /* the caller flushes the last piece */
        struct g2h_error *error = worker_buffer_flush(buffer);
        if (error)
            return error;
        if (buffer->size != 0)
            return error_create(G2H_ERROR_LIMIT, "not empty");
    }
    return NULL;
}

static struct g2h_error *pack_piece(struct worker_buffer *buffer)
{
    size_t numbers[2];
    struct worker_buffer packed = {.turn = buffer->turn};
    memcpy(numbers, buffer->data, sizeof(numbers));
    numbers[1]++;
    if (!worker_buffer_reserve(&packed, sizeof(numbers)))
        return &error_no_memory;
    memcpy(packed.data, numbers, sizeof(numbers));
    packed.size = sizeof(numbers);
    worker_buffer_deinit(buffer);
    *buffer = packed;
    return NULL;
}

static struct g2h_error *consume_piece(void *context, const struct worker_buffer *buffer)
{
    struct pieces *pieces = context;
    const size_t place = pieces->pieces++, expected[2] = {place / PIECES, place % PIECES + 1};
    if (buffer->size != sizeof(expected) || memcmp(buffer->data, expected, sizeof(expected)) != 0)
        pieces->ordered.wrong = true;
    return place == pieces->failing_piece ? error_create(G2H_ERROR_SYSTEM, "piece %zu", place)
                                          : NULL;
}

TEST(flushed_pieces_in_order)
{
    for (size_t i = 0; i < THREAD_COUNTS; i++) {
        struct pieces pieces = {.failing_piece = SIZE_MAX};
        assert_no_error(workers_run_ordered(thread_counts[i], TASKS, produce_pieces, pack_piece,
                                            consume_piece, &pieces));
        assert_int_equal(pieces.pieces, TASKS * PIECES);
        assert_false(pieces.ordered.wrong);
        for (size_t failing = 0; failing < 40; failing += 3) {
            pieces = (struct pieces){.failing_piece = failing};
            struct g2h_error *error = workers_run_ordered(thread_counts[i], TASKS, produce_pieces,
                                                          pack_piece, consume_piece, &pieces);
            assert_non_null(error);
            char expected[32];
            snprintf(expected, sizeof(expected), "piece %zu", failing);
            assert_string_equal(error->message, expected);
            assert_int_equal(pieces.pieces, failing + 1);
            g2h_error_destroy(error);
        }
    }
}

/* NULL means that memory has run out, so room for nothing must not be NULL. */
TEST(buffer_for_nothing)
{
    struct worker_buffer buffer = {0};
    assert_non_null(worker_buffer_reserve(&buffer, 0));
    worker_buffer_deinit(&buffer);
}

TEST(buffer_keeps_its_bytes)
{
    struct worker_buffer buffer = {0};
    for (unsigned i = 0; i < 10000; i++) {
        char *at = worker_buffer_reserve(&buffer, 3);
        assert_non_null(at);
        assert_ptr_equal(at, buffer.data + buffer.size);
        memset(at, (int)(i % 251), 3);
        buffer.size += 3;
    }
    for (unsigned i = 0; i < 30000; i++)
        assert_int_equal((unsigned char)buffer.data[i], i / 3 % 251);
    worker_buffer_deinit(&buffer);
    assert_null(buffer.data);
}

/* ---- workers_beside() ---- */

struct two {
    pthread_t caller;
    bool here_fails, beside_fails, here_is_caller, did_here, did_beside;
};

static struct g2h_error *do_here(void *context)
{
    struct two *two = context;
    two->did_here = true;
    two->here_is_caller = pthread_equal(pthread_self(), two->caller) != 0;
    return two->here_fails ? error_create(G2H_ERROR_LIMIT, "here") : NULL;
}

static struct g2h_error *do_beside(void *context)
{
    struct two *two = context;
    two->did_beside = true;
    return two->beside_fails ? error_create(G2H_ERROR_LIMIT, "beside") : NULL;
}

TEST(two_at_once)
{
    for (unsigned threads = 1; threads <= 2; threads++)
        for (unsigned fails = 0; fails < 4; fails++) {
            struct two two = {.caller = pthread_self(),
                              .here_fails = (fails & 1) != 0,
                              .beside_fails = (fails & 2) != 0};
            struct g2h_error *error = workers_beside(threads, do_here, do_beside, &two);
            assert_true(two.did_here && two.here_is_caller);
            assert_true(two.did_beside || (threads == 1 && two.here_fails));
            assert_int_equal(error != NULL, fails != 0);
            if (error)
                assert_string_equal(error->message, two.here_fails ? "here" : "beside");
            g2h_error_destroy(error);
        }
}

UNIT_MAIN(NULL, NULL)
