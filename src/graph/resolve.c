/*
 * resolve: each pointer of each object is looked up once.
 *
 * Blocks of objects are shared out among the threads. A word outside of the heap's range of
 * addresses (most that hit nothing) is only counted; a word inside gets an entry (heap/targets.h).
 *
 * The names of edges are collected in the same walk, or, where types are to be found first, which
 * takes the targets, in one of their own over those objects that have names to collect.
 */
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "graph/walk.h"

/* What one thread has collected. */
struct collector {
    uint64_t pointers, hits;
    struct map keys; /* what names of edges are made of, other than plain offsets */
    uint64_t
        offsets[ELEMENT_OFFSET / 4 / 64]; /* a bit for each plain offset / 4 that names an edge */
};

struct resolver {
    struct g2h_graph *graph;
    struct collector *collectors; /* by thread */
    bool collects_names;
};

/* Looks up so many pointers at a time that the memory they need is on its way before it is read. */
enum { BATCH = 64 };

struct batch {
    uint64_t values[BATCH];
    uint32_t *targets; /* where the first one's target goes */
    size_t count;
};

/* ---- frames by address ---- */

static int compare_frames(const void *a, const void *b, void *context)
{
    const struct heap_frame *frames = context;
    uint64_t one = frames[*(const uint32_t *)a].sp, other = frames[*(const uint32_t *)b].sp;
    return one < other ? -1 : one > other;
}

static struct g2h_error *sort_frames(struct g2h_graph *graph)
{
    const struct g2h_heap *heap = graph->heap;
    graph->frame_pointed = calloc(heap->frames.count + 1, 1);
    graph->frames_by_sp = malloc((heap->frames.count + 1) * sizeof(*graph->frames_by_sp));
    if (!graph->frame_pointed || !graph->frames_by_sp)
        return &error_no_memory;
    for (size_t i = 0; i < heap->frames.count;
         i++) /* frames without contents may share their sp with others */
        if (heap->frames.data[i].size > 0)
            graph->frames_by_sp[graph->frames_by_sp_count++] = (uint32_t)i;
    qsort_r(graph->frames_by_sp, graph->frames_by_sp_count, sizeof(*graph->frames_by_sp),
            compare_frames, heap->frames.data);
    if (graph->frames_by_sp_count > 0) {
        const struct heap_frame *last =
            &heap->frames.data[graph->frames_by_sp[graph->frames_by_sp_count - 1]];
        graph->frames_low = heap->frames.data[graph->frames_by_sp[0]].sp;
        graph->frames_high = last->sp + last->size;
    }
    return NULL;
}

uint32_t graph_frame_at(const struct g2h_graph *graph, uint64_t address)
{
    const struct heap_frame *frames = graph->heap->frames.data;
    size_t from = 0, to = graph->frames_by_sp_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (frames[graph->frames_by_sp[middle]].sp <= address)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return UINT32_MAX;
    const uint32_t frame = graph->frames_by_sp[from - 1];
    return address - frames[frame].sp < frames[frame].size ? frame : UINT32_MAX;
}

/* A word that hits no object may point into a frame. */
static inline void point_at_frame(struct g2h_graph *graph, uint64_t value)
{
    if (value - graph->frames_low >= graph->frames_high - graph->frames_low)
        return;
    uint32_t frame = graph_frame_at(graph, value);
    if (frame != UINT32_MAX)
        __atomic_store_n(&graph->frame_pointed[frame], 1, __ATOMIC_RELAXED);
}

/* ---- a block ---- */

static void resolve_batch(struct resolver *resolver, struct collector *collector,
                          struct batch *batch)
{
    struct g2h_graph *graph = resolver->graph;
    const struct g2h_heap *heap = graph->heap;
    for (size_t i = 0; i < batch->count; i++)
        index_prefetch(&heap->index, batch->values[i]);
    for (size_t i = 0; i < batch->count; i++)
        index_prefetch_slots(&heap->index, batch->values[i]);
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t target = heap_find(heap, batch->values[i]);
        batch->targets[i] = target;
        if (target != NO_TARGET)
            collector->hits++;
        else
            point_at_frame(graph, batch->values[i]);
    }
    batch->count = 0;
}

static inline bool collect_name(struct collector *collector, struct namer *namer, uint64_t offset)
{
    struct edge_name name;
    uint32_t value;
    namer_name(namer, offset, &name);
    if (name.form != EDGE_NAME_KEY)
        return true;
    if (name.value >= ELEMENT_OFFSET)
        return map_put(&collector->keys, name.value, 0, &value);
    collector->offsets[name.value / 256] |= (uint64_t)1 << (name.value / 4 % 64);
    return true;
}

static struct g2h_error *resolve_block(void *context, size_t task, unsigned worker)
{
    struct resolver *resolver = context;
    struct g2h_graph *graph = resolver->graph;
    const struct g2h_heap *heap = graph->heap;
    struct collector *collector = &resolver->collectors[worker];
    struct target_block *block = &graph->targets.blocks[task];
    const uint32_t first = (uint32_t)task << BLOCK_SHIFT;
    struct batch batch = {.count = 0};
    size_t count = 0, capacity = 0;

    block->starts = malloc((block->objects + 1) * sizeof(*block->starts));
    block->outside = calloc(block->objects / 64 + 1, sizeof(*block->outside));
    if (!block->starts || !block->outside)
        return &error_no_memory;
    for (uint32_t i = 0; i < block->objects; i++) {
        const struct slot_class *slot_class = heap_slot_class(heap, first + i);
        struct g2h_object object;
        struct pointers pointers;
        struct namer namer;
        uint64_t offset, value;
        block->starts[i] = (uint32_t)count;
        heap_prefetch(heap, (uint64_t)first + i + OBJECTS_AHEAD);
        if (!slot_class->has_pointers)
            continue;
        heap_object(heap, first + i, &object);
        pointers_of_object(heap, &object, slot_class, &pointers);
        if (resolver->collects_names)
            namer_init(&namer, &graph->names, first + i, slot_class, &object.contents);
        while (pointers_next(&pointers, &offset, &value)) {
            collector->pointers++;
            if (!in_heap_range(heap, value)) {
                point_at_frame(graph, value);
                block->outside[i / 64] |= (uint64_t)1 << (i % 64);
                continue;
            }
            if (count == capacity || batch.count == BATCH) {
                resolve_batch(resolver, collector, &batch);
                if (count == capacity) {
                    capacity = capacity ? capacity + capacity / 2 : 2 * BLOCK_OBJECTS;
                    uint32_t *grown = capacity > UINT32_MAX
                                          ? NULL
                                          : realloc(block->targets, capacity * sizeof(*grown));
                    if (!grown)
                        return &error_no_memory;
                    block->targets = grown;
                }
                batch.targets = block->targets + count;
            }
            batch.values[batch.count++] = value;
            count++;
            if (resolver->collects_names && !collect_name(collector, &namer, offset))
                return &error_no_memory;
        }
    }
    resolve_batch(resolver, collector, &batch);
    block->starts[block->objects] = (uint32_t)count;
    uint32_t *exact = realloc(block->targets, (count > 0 ? count : 1) * sizeof(*exact));
    if (exact)
        block->targets = exact;
    else if (!block->targets)
        return &error_no_memory;
    return NULL;
}

static bool collect_object(struct collector *collector, const struct g2h_graph *graph,
                           uint32_t object)
{
    struct object_walk walk;
    uint64_t offset;
    uint32_t target;
    object_walk_begin(&walk, graph, object);
    while (object_walk_next(&walk, &offset, &target))
        if (!collect_name(collector, &walk.namer, offset))
            return false;
    return true;
}

/* Most typed objects, and all their words, have names by their types already. */
static struct g2h_error *collect_block(void *context, size_t task, unsigned worker)
{
    struct resolver *resolver = context;
    const struct g2h_graph *graph = resolver->graph;
    const struct target_block *block = &graph->targets.blocks[task];
    struct collector *collector = &resolver->collectors[worker];
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t object = ((uint32_t)task << BLOCK_SHIFT) + i;
        if (block->starts[i] < block->starts[i + 1] && names_need_keys(&graph->names, object) &&
            !collect_object(collector, graph, object))
            return &error_no_memory;
    }
    return NULL;
}

/* ---- all blocks ---- */

static int compare_keys(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

typedef VECTOR(uint64_t) key_vector;

/* The keys of a map of each thread, ascending and unique, behind those that are there. */
static bool gather(const struct g2h_graph *graph, const struct collector *collectors,
                   key_vector *keys)
{
    for (unsigned i = 0; i < graph->threads; i++) {
        const struct map *map = &collectors[i].keys;
        for (size_t j = 0; map->entries && j <= map->mask; j++)
            if (map->entries[j].value != MAP_NONE && !vector_push(keys, map->entries[j].key))
                return false;
    }
    if (keys->count > 0)
        qsort(keys->data, keys->count, sizeof(*keys->data), compare_keys);
    size_t unique = 0;
    for (size_t i = 0; i < keys->count; i++)
        if (i == 0 || keys->data[i] != keys->data[i - 1])
            keys->data[unique++] = keys->data[i];
    keys->count = unique;
    return true;
}

/* Interns the names that the threads have collected, in an order that does not depend on them. */
static struct g2h_error *intern_names(struct g2h_graph *graph, const struct collector *collectors)
{
    key_vector keys = {0};
    bool good = true;
    for (uint64_t offset = 0; offset < ELEMENT_OFFSET && good; offset += 4) {
        bool used = false;
        for (unsigned i = 0; i < graph->threads; i++)
            used = used || (collectors[i].offsets[offset / 256] >> (offset / 4 % 64) & 1) != 0;
        good = !used || vector_push(&keys, offset);
    }
    good = good && gather(graph, collectors, &keys);
    struct g2h_error *error =
        good ? names_intern_keys(&graph->names, &graph->strings, keys.data, keys.count)
             : &error_no_memory;
    free(keys.data);
    return error;
}

/* Runs a task for each block; then interns the names that were collected. */
static struct g2h_error *each_block(struct resolver *resolver, workers_task *task)
{
    struct g2h_graph *graph = resolver->graph;
    resolver->collectors = calloc(graph->threads, sizeof(*resolver->collectors));
    if (!resolver->collectors)
        return &error_no_memory;
    struct g2h_error *error =
        workers_run(graph->threads, graph->targets.block_count, task, resolver);
    if (!error)
        error = intern_names(graph, resolver->collectors);
    for (unsigned i = 0; i < graph->threads; i++) {
        graph->account.pointers += resolver->collectors[i].pointers;
        graph->account.pointers_hit += resolver->collectors[i].hits;
        map_deinit(&resolver->collectors[i].keys);
    }
    free(resolver->collectors);
    return error;
}

struct g2h_error *graph_resolve(struct g2h_graph *graph, bool is_to_type)
{
    struct resolver resolver = {.graph = graph, .collects_names = !is_to_type};
    struct g2h_error *error = targets_init(&graph->targets, graph->heap);
    if (!error)
        error = sort_frames(graph);
    if (!error)
        error = each_block(&resolver, resolve_block);
    graph->account.pointers_missed = graph->account.pointers - graph->account.pointers_hit;
    return error;
}

struct g2h_error *graph_name_pointers(struct g2h_graph *graph)
{
    struct resolver resolver = {.graph = graph};
    return each_block(&resolver, collect_block);
}
