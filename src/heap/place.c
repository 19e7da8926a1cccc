/* place; see place.h. */
#include "heap/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/workers.h"

/* A run by its address. */
struct run_reference {
    uint64_t first;
    uint32_t stretch, run;
};

struct placer {
    struct g2h_heap *heap;
    stretch_vector *stretches;
    VECTOR(struct run_reference) order;
    uint64_t overlaps, bytes;
};

enum { RUNS_PER_TASK = 256 };

static struct run *run_of(const struct placer *placer, const struct run_reference *reference)
{
    return &placer->stretches->data[reference->stretch].runs.data[reference->run];
}

/* ---- phantoms ---- */

static uint64_t count_objects(const struct placer *placer, enum span_tail tail)
{
    uint64_t count = 0;
    for (size_t i = 0; i < placer->stretches->count; i++) {
        const struct stretch *stretch = &placer->stretches->data[i];
        for (size_t j = 0; j < stretch->runs.count; j++)
            count += stretch->runs.data[j].count - stretch->runs.data[j].phantoms[tail];
    }
    return count;
}

/*
 * The version says what the end of a span holds; memstats, whose count is exact from 1.4 on, has
 * the last word: it knows of experiments that the version does not name.
 */
static void choose_tail(const struct placer *placer)
{
    struct g2h_heap *heap = placer->heap;
    if (heap->account.records[G2H_RECORD_MEMSTATS] == 0 || heap->damage ||
        heap->pointer_form == POINTERS_TYPED)
        return;
    const uint64_t expected = heap->memstats.numbers[G2H_MEMSTATS_HEAP_OBJECTS];
    if (count_objects(placer, heap->span_tail) == expected)
        return;
    for (int tail = TAIL_NONE; tail < TAIL_KINDS; tail++)
        if (count_objects(placer, (enum span_tail)tail) == expected)
            heap->span_tail = (enum span_tail)tail;
}

/* Objects of one run that has phantoms have one size. */
static void drop_phantoms(const struct placer *placer, const struct stretch *stretch,
                          struct run *run)
{
    struct g2h_account *account = &placer->heap->account;
    const uint32_t phantoms = run->phantoms[placer->heap->span_tail];
    struct run_walk walk;
    if (phantoms == 0)
        return;
    run_walk_begin(&walk, stretch, run);
    account->phantoms += phantoms;
    account->phantom_bytes += phantoms * walk.slot_class->size;
    run->count = (uint16_t)(run->count - phantoms);
}

/* ---- the order of addresses ---- */

static int compare_runs(const void *a, const void *b)
{
    const struct run_reference *one = a, *other = b;
    if (one->first != other->first)
        return one->first < other->first ? -1 : 1;
    if (one->stretch != other->stretch)
        return one->stretch < other->stretch ? -1 : 1;
    return one->run < other->run ? -1 : one->run > other->run;
}

static bool list_runs(struct placer *placer)
{
    placer->order.count = 0;
    for (size_t i = 0; i < placer->stretches->count; i++) {
        const struct stretch *stretch = &placer->stretches->data[i];
        for (size_t j = 0; j < stretch->runs.count; j++) {
            const struct run_reference reference = {stretch->runs.data[j].first, (uint32_t)i,
                                                    (uint32_t)j};
            if (stretch->runs.data[j].count > 0 && !vector_push(&placer->order, reference))
                return false;
        }
    }
    if (placer->order.count > 0)
        qsort(placer->order.data, placer->order.count, sizeof(*placer->order.data), compare_runs);
    return true;
}

static bool are_interleaved(const struct placer *placer)
{
    for (size_t i = 1; i < placer->order.count; i++) {
        const struct run *run = run_of(placer, &placer->order.data[i - 1]);
        if (placer->order.data[i].first < run->first / SPAN_PAGE * SPAN_PAGE + run->last * 8u)
            return true;
    }
    return false;
}

/* Each object becomes a run of its own. */
static bool split_runs(struct stretch *stretch)
{
    VECTOR(struct run) split = {0};
    for (size_t i = 0; i < stretch->runs.count; i++) {
        const struct run *run = &stretch->runs.data[i];
        struct run_walk walk;
        for (uint32_t j = 0; j < run->count; j++) {
            if (j == 0)
                run_walk_begin(&walk, stretch, run);
            else
                run_walk_next(&walk);
            const struct run single = {.first = walk.address,
                                       .contents = walk.contents,
                                       .begin = (uint32_t)(walk.entry - stretch->entries.data),
                                       .count = 1,
                                       .last = (uint16_t)(walk.address % SPAN_PAGE / 8)};
            if (!vector_push(&split, single)) {
                free(split.data);
                return false;
            }
        }
    }
    free(stretch->runs.data);
    stretch->runs.data = split.data;
    stretch->runs.count = split.count;
    stretch->runs.capacity = split.capacity;
    return true;
}

static bool sort_runs(struct placer *placer)
{
    if (!list_runs(placer))
        return false;
    if (!are_interleaved(placer))
        return true;
    for (size_t i = 0; i < placer->stretches->count; i++)
        if (!split_runs(&placer->stretches->data[i]))
            return false;
    return list_runs(placer);
}

static struct g2h_error *number_runs(struct placer *placer)
{
    struct g2h_heap *heap = placer->heap;
    heap->object_count = 0;
    for (size_t i = 0; i < placer->order.count; i++) {
        struct run *run = run_of(placer, &placer->order.data[i]);
        run->start = heap->object_count;
        if (run->count > UINT32_MAX / 2 - heap->object_count)
            return error_create(G2H_ERROR_LIMIT, "%s: more than %u objects", heap->input->name,
                                UINT32_MAX / 2);
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

static struct g2h_error *place_runs(void *context, size_t task, unsigned worker)
{
    struct placer *placer = context;
    uint64_t overlaps = 0, bytes = 0;
    size_t end = (task + 1) * RUNS_PER_TASK;
    (void)worker;
    if (end > placer->order.count)
        end = placer->order.count;
    for (size_t i = task * RUNS_PER_TASK; i < end; i++) {
        const struct stretch *stretch = &placer->stretches->data[placer->order.data[i].stretch];
        const struct run *run = run_of(placer, &placer->order.data[i]);
        struct heap_object *object = &placer->heap->objects[run->start],
                           *last = object + run->count;
        const uint64_t limit =
            i + 1 < placer->order.count ? placer->order.data[i + 1].first : UINT64_MAX;
        uint64_t previous_end = 0;
        struct run_walk walk;
        run_walk_begin(&walk, stretch, run);
        for (;;) {
            const uint32_t slot_class = stretch->slot_class_numbers[walk.slot_class_number];
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
    __atomic_fetch_add(&placer->overlaps, overlaps, __ATOMIC_RELAXED);
    __atomic_fetch_add(&placer->bytes, bytes, __ATOMIC_RELAXED);
    return NULL;
}

/* Damaged sizes and addresses only: of two objects that overlap the lower one is left out. */
static void drop_overlapping(struct placer *placer)
{
    struct g2h_heap *heap = placer->heap;
    uint64_t next = UINT64_MAX;
    uint32_t kept = heap->object_count;
    for (uint32_t i = heap->object_count; i-- > 0;) {
        if (heap_address(heap, i) + heap_object_size(heap, i) > next) {
            heap->account.overlapping++;
            placer->bytes -= heap_object_size(heap, i);
            continue;
        }
        next = heap_address(heap, i);
        heap->objects[--kept] = heap->objects[i];
    }
    heap->object_count -= kept;
    memmove(heap->objects, heap->objects + kept, heap->object_count * sizeof(*heap->objects));
}

static struct g2h_error *place(struct placer *placer, unsigned threads)
{
    struct g2h_heap *heap = placer->heap;
    struct g2h_error *error = sort_runs(placer) ? number_runs(placer) : &error_no_memory;
    if (error)
        return error;
    heap->object_capacity = heap->object_count;
    heap->objects = large_alloc(heap->object_capacity, sizeof(*heap->objects));
    if (!heap->objects)
        return &error_no_memory;
    const size_t tasks = (placer->order.count + RUNS_PER_TASK - 1) / RUNS_PER_TASK;
    error = workers_run(threads, tasks, place_runs, placer);
    if (!error && placer->overlaps > 0)
        drop_overlapping(placer);
    heap->account.objects = heap->object_count;
    heap->account.object_bytes = placer->bytes;
    return error;
}

struct g2h_error *place_objects(struct g2h_heap *heap, stretch_vector *stretches, unsigned threads)
{
    struct placer placer = {.heap = heap, .stretches = stretches};
    choose_tail(&placer);
    for (size_t i = 0; i < stretches->count; i++)
        for (size_t j = 0; j < stretches->data[i].runs.count; j++)
            drop_phantoms(&placer, &stretches->data[i], &stretches->data[i].runs.data[j]);
    struct g2h_error *error = place(&placer, threads);
    free(placer.order.data);
    for (size_t i = 0; i < stretches->count; i++)
        stretch_deinit(&stretches->data[i]);
    stretches->count = 0;
    return error;
}
