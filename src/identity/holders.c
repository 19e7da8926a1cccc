/*
 * holders: of each object the only one that points to it.
 *
 * What a global variable or a frame points to has several holders: who they are does not matter.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/workers.h"
#include "heap/pointers.h"
#include "identity/identity.h"

enum { OBJECTS_PER_TASK = 1 << 14 };

struct finding {
    const struct g2h_graph *graph;
    uint32_t *holders;
};

static void add_holder(uint32_t *holder, uint32_t object)
{
    uint32_t old = HOLDER_NONE;
    if (!__atomic_compare_exchange_n(holder, &old, object, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        old != object && old != HOLDER_MANY)
        __atomic_store_n(holder, HOLDER_MANY, __ATOMIC_RELAXED);
}

static struct g2h_error *find_task(void *context, size_t task, unsigned worker)
{
    const struct finding *finding = context;
    const uint32_t count = finding->graph->heap->object_count;
    const uint64_t first = (uint64_t)task * OBJECTS_PER_TASK, end = first + OBJECTS_PER_TASK;
    (void)worker;
    for (uint64_t i = first; i < count && i < end; i++) {
        const uint32_t object = (uint32_t)i, *last,
                       *target = object_targets(finding->graph, object, &last);
        for (; target < last; target++)
            if (*target != NO_TARGET && *target != object)
                add_holder(&finding->holders[*target], object);
    }
    return NULL;
}

static void add_root(const struct g2h_heap *heap, struct g2h_bytes contents,
                     struct g2h_fields fields, uint32_t *holders)
{
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_fields(heap, contents, fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t hit = in_heap_range(heap, value) ? heap_find(heap, value) : NO_TARGET;
        if (hit != NO_TARGET)
            holders[hit] = HOLDER_MANY;
    }
}

static void add_roots(const struct g2h_heap *heap, uint32_t *holders)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    struct g2h_record record;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < g2h_heap_record_count(heap, kinds[i]); j++) {
            g2h_heap_record(heap, kinds[i], j, &record);
            add_root(heap, record.segment.contents, record.segment.fields, holders);
        }
    for (size_t i = 0; i < heap->frames.count; i++) {
        const struct frame frame = heap_frame(heap, i);
        add_root(heap, frame.contents, frame.fields, holders);
    }
}

struct g2h_error *holders_find(const struct g2h_graph *graph, unsigned threads, uint32_t **ret)
{
    const size_t count = graph->heap->object_count, size = (count + 1) * sizeof(**ret);
    _cleanup_free_ uint32_t *holders = malloc(size);
    struct finding finding = {graph, holders};
    TRY_MEMORY(holders);
    memset(holders, 0xff, size);
    TRY(workers_run(threads, (count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK, find_task,
                    &finding));
    add_roots(graph->heap, holders);
    *ret = take_pointer(holders);
    return NULL;
}
