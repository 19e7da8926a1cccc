/*
 * sort: puts the objects of all runs into one array, ascending by address; see sort.h. The steps:
 * drop phantoms, sort runs by their first object, number them, write their objects in parallel, and
 * leave out objects that overlap. A phantom is a record that looks like an object but is not
 * (phantoms.h).
 */
#include "heap/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/workers.h"

/* Identifies a run. */
struct run_reference {
    uint64_t first;
    uint32_t chunk, run;
};

struct sorter {
    struct g2h_heap *heap;
    chunk_vector *chunks;
    VECTOR(struct run_reference) order;
    uint64_t overlaps, bytes;
};

enum { RUNS_PER_TASK = 256 };

/* Returns the run that a reference means. */
static struct slot_run *run_of(const struct sorter *sorter, const struct run_reference *reference)
{
    return &sorter->chunks->data[reference->chunk].runs.data[reference->run];
}

/* ---- phantoms ---- */

/* Returns how many objects there are without phantoms, if spans end in this way. */
static uint64_t sort_count_objects(const struct sorter *sorter, enum span_tail tail)
{
    uint64_t count = 0;
    VECTOR_EACH(const struct chunk, chunk, *sorter->chunks)
        VECTOR_EACH(const struct slot_run, run, chunk->runs)
            count += run->count - run->phantoms[tail];
    return count;
}

/* Corrects the version's information on the ends of spans by the number of objects in memstats.
 * That number is exact from 1.4 on, and right for experiments that the version does not name. */
static void choose_tail(const struct sorter *sorter)
{
    struct g2h_heap *heap = sorter->heap;
    if (heap->account.records[G2H_RECORD_MEMSTATS] == 0 || heap->damage ||
        heap->pointer_form == POINTERS_TYPED)
        return;
    const uint64_t expected = heap->memstats.numbers[G2H_MEMSTATS_HEAP_OBJECTS];
    if (sort_count_objects(sorter, heap->span_tail) == expected)
        return;
    for (int tail = TAIL_NONE; tail < TAIL_KINDS; tail++)
        if (sort_count_objects(sorter, (enum span_tail)tail) == expected)
            heap->span_tail = (enum span_tail)tail;
}

/* Removes the phantoms from the end of a run, if there are any, and counts them and their bytes.
 * All objects of a run with phantoms have one size. */
static void drop_phantoms(const struct sorter *sorter, const struct chunk *chunk,
                          struct slot_run *run)
{
    struct g2h_account *account = &sorter->heap->account;
    const uint32_t phantoms = run->phantoms[sorter->heap->span_tail];
    struct run_walk walk;
    if (phantoms == 0)
        return;
    run_walk_begin(&walk, chunk, run);
    account->phantoms += phantoms;
    account->phantom_bytes += phantoms * walk.slot_class->size;
    run->count = (uint16_t)(run->count - phantoms);
}

/* ---- the order of addresses ---- */

/* Orders runs by the address of their first object, and then by their position in the file. */
static int sort_compare_runs(const void *a, const void *b)
{
    const struct run_reference *one = a;
    const struct run_reference *other = b;
    if (one->first != other->first)
        return COMPARE(one->first, other->first);
    if (one->chunk != other->chunk)
        return COMPARE(one->chunk, other->chunk);
    return COMPARE(one->run, other->run);
}

/* Lists the runs of all chunks that are not empty, sorted by address. Returns false if memory runs
 * out. */
static bool list_runs(struct sorter *sorter)
{
    sorter->order.count = 0;
    for (size_t i = 0; i < sorter->chunks->count; i++) {
        const struct chunk *chunk = &sorter->chunks->data[i];
        for (size_t j = 0; j < chunk->runs.count; j++) {
            const struct run_reference reference = {chunk->runs.data[j].first, as_u32(i),
                                                    as_u32(j)};
            if (chunk->runs.data[j].count > 0 && !vector_push(&sorter->order, reference))
                return false;
        }
    }
    if (sorter->order.count > 0)
        qsort(sorter->order.data, sorter->order.count, sizeof(*sorter->order.data),
              sort_compare_runs);
    return true;
}

/* Returns whether a run begins before the one below it ends. */
static bool are_interleaved(const struct sorter *sorter)
{
    for (size_t i = 1; i < sorter->order.count; i++) {
        const struct slot_run *run = run_of(sorter, &sorter->order.data[i - 1]);
        if (sorter->order.data[i].first < run->first / SPAN_PAGE * SPAN_PAGE + run->last * 8u)
            return true;
    }
    return false;
}

/* Makes a run of each object. Returns false if memory runs out. */
static bool split_runs(struct chunk *chunk)
{
    VECTOR(struct slot_run) split = {0};
    VECTOR_EACH(const struct slot_run, run, chunk->runs) {
        struct run_walk walk;
        for (uint32_t j = 0; j < run->count; j++) {
            if (j == 0)
                run_walk_begin(&walk, chunk, run);
            else
                run_walk_next(&walk);
            const struct slot_run single = {.first = walk.address,
                                            .contents = walk.contents,
                                            .begin = (uint32_t)(walk.entry - chunk->entries.data),
                                            .count = 1,
                                            .last = (uint16_t)(walk.address % SPAN_PAGE / 8)};
            if (!vector_push(&split, single)) {
                free(split.data);
                return false;
            }
        }
    }
    free(chunk->runs.data);
    chunk->runs.data = split.data;
    chunk->runs.count = split.count;
    chunk->runs.capacity = split.capacity;
    return true;
}

/* Sorts runs, not objects: the objects of a run ascend already. Only if runs are interleaved, as in
 * damaged dumps, is each object sorted by itself. Returns false if memory runs out. */
static bool sort_runs(struct sorter *sorter)
{
    if (!list_runs(sorter))
        return false;
    if (!are_interleaved(sorter))
        return true;
    VECTOR_EACH(struct chunk, chunk, *sorter->chunks)
        if (!split_runs(chunk))
            return false;
    return list_runs(sorter);
}

/* Returns an error with the number of objects. */
static struct g2h_error *sort_refuse_objects(const struct sorter *sorter)
{
    unsigned long long count = 0;
    VECTOR_EACH(const struct run_reference, reference, sorter->order)
        count += run_of(sorter, reference)->count;
    return error_create(G2H_ERROR_LIMIT,
                        "%s: %llu objects: more than the %llu that can be read; --format dump "
                        "writes them all the same",
                        sorter->heap->input->name, count, (unsigned long long)limits.objects);
}

/* Assigns each run the number of its first object. Returns an error if there are too many
 * objects. */
static struct g2h_error *number_runs(struct sorter *sorter)
{
    struct g2h_heap *heap = sorter->heap;
    heap->object_count = 0;
    VECTOR_EACH(const struct run_reference, reference, sorter->order) {
        struct slot_run *run = run_of(sorter, reference);
        run->start = heap->object_count;
        if (run->count > limits.objects - heap->object_count)
            return sort_refuse_objects(sorter);
        heap->object_count += run->count;
    }
    if (heap->slot_classes.list.count > SLOT_CLASS_LIMIT || heap->input->size > OFFSET_LIMIT)
        return error_create(G2H_ERROR_LIMIT,
                            "%s: more than the %llu bytes and %llu kinds of objects that are read",
                            heap->input->name, (unsigned long long)OFFSET_LIMIT,
                            (unsigned long long)SLOT_CLASS_LIMIT);
    return NULL;
}

/* ---- the objects ---- */

/* Writes the objects of a task's runs to their final positions, and counts overlaps, within a run
 * and with the next one. */
static struct g2h_error *write_runs(void *context, size_t task, unsigned worker)
{
    struct sorter *sorter = context;
    uint64_t overlaps = 0, bytes = 0;
    size_t end = (task + 1) * RUNS_PER_TASK;
    (void)worker;
    if (end > sorter->order.count)
        end = sorter->order.count;
    for (size_t i = task * RUNS_PER_TASK; i < end; i++) {
        const struct chunk *chunk = &sorter->chunks->data[sorter->order.data[i].chunk];
        const struct slot_run *run = run_of(sorter, &sorter->order.data[i]);
        struct heap_object *object = &sorter->heap->objects[run->start],
                           *last = object + run->count;
        const uint64_t limit =
            i + 1 < sorter->order.count ? sorter->order.data[i + 1].first : UINT64_MAX;
        uint64_t previous_end = 0;
        struct run_walk walk;
        run_walk_begin(&walk, chunk, run);
        for (;;) {
            const uint32_t slot_class = chunk->slot_class_numbers[walk.slot_class_number];
            *object =
                (struct heap_object){walk.address, walk.contents << SLOT_CLASS_BITS | slot_class};
            overlaps += walk.address < previous_end;
            previous_end = walk.address + walk.slot_class->size;
            bytes += walk.slot_class->size;
            if (++object == last)
                break;
            run_walk_next(&walk);
        }
        overlaps += previous_end > limit;
    }
    __atomic_fetch_add(&sorter->overlaps, overlaps, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sorter->bytes, bytes, __ATOMIC_RELAXED);
    return NULL;
}

/* Leaves out the lower one of any two objects that overlap, which happens only in damaged dumps. */
static void drop_overlapping(struct sorter *sorter)
{
    struct g2h_heap *heap = sorter->heap;
    uint64_t next = UINT64_MAX;
    uint32_t kept = heap->object_count;
    for (uint32_t i = heap->object_count; i-- > 0;) {
        if (heap_address(heap, i) + heap_object_size(heap, i) > next) {
            heap->account.overlapping++;
            sorter->bytes -= heap_object_size(heap, i);
            continue;
        }
        next = heap_address(heap, i);
        heap->objects[--kept] = heap->objects[i];
    }
    heap->object_count -= kept;
    memmove(heap->objects, heap->objects + kept, heap->object_count * sizeof(*heap->objects));
}

/* Returns whether objects ascend and do not overlap, as index.h and all others expect. */
static _asserted_ bool objects_ascend(const struct g2h_heap *heap)
{
    for (uint32_t i = 1; i < heap->object_count; i++)
        if (heap_address(heap, i) - heap_address(heap, i - 1) < heap_object_size(heap, i - 1) ||
            heap_address(heap, i) <= heap_address(heap, i - 1))
            return false;
    return true;
}

/* Sorts the runs, numbers them, and writes all objects to their places on several threads. */
static struct g2h_error *sort_into_objects(struct sorter *sorter, unsigned threads)
{
    struct g2h_heap *heap = sorter->heap;
    TRY_MEMORY(sort_runs(sorter));
    TRY(number_runs(sorter));
    heap->object_capacity = heap->object_count;
    heap->objects = large_alloc(heap->object_capacity, sizeof(*heap->objects));
    if (!heap->objects)
        return &error_no_memory;
    const size_t tasks = (sorter->order.count + RUNS_PER_TASK - 1) / RUNS_PER_TASK;
    TRY(workers_run(threads, tasks, write_runs, sorter));
    if (sorter->overlaps > 0)
        drop_overlapping(sorter);
    assert(objects_ascend(heap));
    heap->account.objects = heap->object_count;
    heap->account.object_bytes = sorter->bytes;
    return NULL;
}

/* Sorts the objects of all chunks by address. Phantoms are dropped first, since they are at the
 * addresses of real memory. */
struct g2h_error *sort_objects(struct g2h_heap *heap, chunk_vector *chunks, unsigned threads)
{
    struct sorter sorter = {.heap = heap, .chunks = chunks};
    choose_tail(&sorter);
    VECTOR_EACH(const struct chunk, chunk, *chunks)
        VECTOR_EACH(struct slot_run, run, chunk->runs)
            drop_phantoms(&sorter, chunk, run);
    struct g2h_error *error = sort_into_objects(&sorter, threads);
    free(sorter.order.data);
    VECTOR_EACH(struct chunk, chunk, *chunks)
        chunk_deinit(chunk);
    chunks->count = 0;
    return error;
}
