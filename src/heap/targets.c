/*
 * targets; see targets.h.
 *
 * Blocks of objects are shared out among the threads. A word outside of the heap's range of
 * addresses (most that hit nothing) is only counted; a word inside gets an entry.
 */
#include "heap/targets.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/workers.h"
#include "heap/pointers.h"

/* What one thread has counted. */
struct finder {
    uint64_t pointers, hits;
};

struct finding {
    const struct g2h_heap *heap;
    struct targets *targets;
    const struct pointer_listener *listener; /* may be NULL */
    struct finder *finders;                  /* by thread */
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

static bool sort_frames(struct frame_index *frames, const struct g2h_heap *heap)
{
    const struct heap_frame *all = heap->frames.data;
    frames->heap = heap;
    frames->by_sp = malloc((heap->frames.count + 1) * sizeof(*frames->by_sp));
    if (!frames->by_sp)
        return false;
    for (size_t i = 0; i < heap->frames.count; i++)
        if (all[i].contents_size > 0) /* frames without contents may share their sp with others */
            frames->by_sp[frames->count++] = (uint32_t)i;
    qsort_r(frames->by_sp, frames->count, sizeof(*frames->by_sp), compare_frames,
            heap->frames.data);
    if (frames->count > 0) {
        const struct heap_frame *last = &all[frames->by_sp[frames->count - 1]];
        frames->low = all[frames->by_sp[0]].sp;
        frames->high = last->sp + last->contents_size;
    }
    return true;
}

uint32_t frame_index_find(const struct frame_index *frames, uint64_t address)
{
    const struct heap_frame *all = frames->heap->frames.data;
    size_t behind;
    BISECT(behind, frames->count, all[frames->by_sp[behind]].sp <= address);
    if (behind == 0)
        return UINT32_MAX;
    const uint32_t frame = frames->by_sp[behind - 1];
    return address - all[frame].sp < all[frame].contents_size ? frame : UINT32_MAX;
}

/* A word that hits no object may point into a frame. */
static inline void point_at_frame(struct targets *targets, uint64_t value)
{
    const struct frame_index *frames = &targets->frames;
    if (value - frames->low >= frames->high - frames->low)
        return;
    const uint32_t frame = frame_index_find(frames, value);
    if (frame != UINT32_MAX)
        __atomic_store_n(&targets->frame_pointed[frame], 1, __ATOMIC_RELAXED);
}

/* ---- a block ---- */

static void find_batch(const struct finding *finding, struct finder *finder, struct batch *batch)
{
    index_find_many(&finding->heap->index, batch->values, batch->count, batch->targets);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->targets[i] != NO_TARGET)
            finder->hits++;
        else
            point_at_frame(finding->targets, batch->values[i]);
    batch->count = 0;
}

/* What a thread has of the block that it is at. */
struct block_work {
    struct target_block *block;
    struct batch batch;
    size_t count, capacity;  /* targets */
    uint64_t offsets[BATCH]; /* that the listener is to be told of the object */
    size_t offset_count;
};

static bool tell(const struct finding *finding, struct block_work *work, unsigned worker,
                 uint32_t object, const struct g2h_bytes *contents)
{
    const size_t count = work->offset_count;
    work->offset_count = 0;
    return count == 0 || !finding->listener ||
           finding->listener->tell(finding->listener->context, worker, object, contents,
                                   work->offsets, count);
}

static bool add_pointer(const struct finding *finding, struct finder *finder,
                        struct block_work *work, uint64_t value)
{
    if (work->count == work->capacity || work->batch.count == BATCH) {
        find_batch(finding, finder, &work->batch);
        if (work->count == work->capacity) {
            work->capacity =
                work->capacity ? work->capacity + work->capacity / 2 : 2 * BLOCK_OBJECTS;
            uint32_t *grown = work->capacity > UINT32_MAX
                                  ? NULL
                                  : realloc(work->block->targets, work->capacity * sizeof(*grown));
            if (!grown)
                return false;
            work->block->targets = grown;
        }
        work->batch.targets = work->block->targets + work->count;
    }
    work->batch.values[work->batch.count++] = value;
    work->count++;
    return true;
}

/* Object number i of the block that begins with object first. */
static bool find_of_object(const struct finding *finding, struct block_work *work, uint32_t first,
                           uint32_t i, unsigned worker)
{
    const struct g2h_heap *heap = finding->heap;
    struct finder *finder = &finding->finders[worker];
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of(heap, first + i, heap_slot_class(heap, first + i), &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        finder->pointers++;
        if (!in_heap_range(heap, value)) {
            point_at_frame(finding->targets, value);
            work->block->outside[i / 64] |= (uint64_t)1 << (i % 64);
            continue;
        }
        if (!add_pointer(finding, finder, work, value))
            return false;
        work->offsets[work->offset_count++] = offset;
        if (work->offset_count == BATCH &&
            !tell(finding, work, worker, first + i, &pointers.contents))
            return false;
    }
    return tell(finding, work, worker, first + i, &pointers.contents);
}

static struct g2h_error *find_of_block(void *context, size_t task, unsigned worker)
{
    struct finding *finding = context;
    const struct g2h_heap *heap = finding->heap;
    struct target_block *block = &finding->targets->blocks[task];
    const uint32_t first = (uint32_t)task << BLOCK_SHIFT;
    struct block_work work = {.block = block};

    block->starts = malloc((block->objects + 1) * sizeof(*block->starts));
    block->outside = calloc(block->objects / 64 + 1, sizeof(*block->outside));
    if (!block->starts || !block->outside)
        return &error_no_memory;
    for (uint32_t i = 0; i < block->objects; i++) {
        block->starts[i] = (uint32_t)work.count;
        heap_prefetch(heap, (uint64_t)first + i + OBJECTS_AHEAD);
        if (heap_slot_class(heap, first + i)->has_pointers &&
            !find_of_object(finding, &work, first, i, worker))
            return &error_no_memory;
    }
    find_batch(finding, &finding->finders[worker], &work.batch);
    block->starts[block->objects] = (uint32_t)work.count;
    uint32_t *exact = realloc(block->targets, (work.count > 0 ? work.count : 1) * sizeof(*exact));
    if (exact)
        block->targets = exact;
    return block->targets ? NULL : &error_no_memory;
}

/* ---- all of them ---- */

static bool add_blocks(struct targets *targets, const struct g2h_heap *heap)
{
    const uint32_t objects = heap->object_count;
    const size_t count = ((size_t)objects + BLOCK_OBJECTS - 1) >> BLOCK_SHIFT;
    targets->blocks = calloc(count + 1, sizeof(*targets->blocks));
    if (!targets->blocks)
        return false;
    targets->block_count = count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t left = objects - ((uint32_t)i << BLOCK_SHIFT);
        targets->blocks[i].objects = left < BLOCK_OBJECTS ? left : BLOCK_OBJECTS;
    }
    return true;
}

struct g2h_error *targets_init(struct targets *targets, const struct g2h_heap *heap,
                               unsigned threads, const struct pointer_listener *listener)
{
    struct finding finding = {heap, targets, listener, calloc(threads, sizeof(struct finder))};
    struct g2h_error *error = NULL;
    *targets = (struct targets){.frame_pointed = calloc(heap->frames.count + 1, 1)};
    if (!finding.finders || !targets->frame_pointed || !add_blocks(targets, heap) ||
        !sort_frames(&targets->frames, heap))
        error = &error_no_memory;
    if (!error)
        error = workers_run(threads, targets->block_count, find_of_block, &finding);
    for (unsigned i = 0; i < threads && !error; i++) {
        targets->pointers += finding.finders[i].pointers;
        targets->hits += finding.finders[i].hits;
    }
    free(finding.finders);
    return error;
}

void targets_deinit(struct targets *targets)
{
    for (size_t i = 0; i < targets->block_count; i++) {
        free(targets->blocks[i].targets);
        free(targets->blocks[i].starts);
        free(targets->blocks[i].outside);
    }
    free(targets->blocks);
    free(targets->frames.by_sp);
    free(targets->frame_pointed);
    *targets = (struct targets){0};
}
