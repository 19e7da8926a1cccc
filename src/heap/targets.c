/*
 * targets: finds, for each pointer in each object, the object that it points to, and keeps these as
 * lists by object; see targets.h.
 *
 * The threads share blocks of objects. A word outside the heap's range of addresses, as are most
 * words that hit nothing, gets no entry: it is counted, and sets its object's bit in outside. A
 * word inside the range gets an entry.
 */
#include "heap/targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/port.h"
#include "base/workers.h"
#include "heap/pointers.h"

/* The counts of one thread, and the memory that it writes to. */
struct targets_finder {
    uint64_t pointers, hits;
    VECTOR(struct target_chunk) chunks; /* the last one is written to */
};

struct targets_finding {
    const struct g2h_heap *heap;
    struct targets *targets;
    const struct pointer_listener *listener; /* may be NULL */
    struct targets_finder *finders;          /* by thread */
    size_t chunk_capacity; /* the capacity of a chunk, unless a block needs more */
    bool is_usual;         /* words have this machine's size and byte order */
};

/* A thread goes through up to WORDS words of an object at a time. When BATCH words are waiting, it
 * looks up the targets of all of them, so that the memory for the lookups is prefetched before it
 * is read. */
enum { WORDS = 64, BATCH = 64 };

/* The state of a thread for its current block. */
struct block_work {
    struct target_block *block;
    struct targets_finder *finder;
    size_t found, capacity;         /* number of targets */
    uint64_t values[BATCH + WORDS]; /* words whose targets are to be looked up */
    size_t waiting;                 /* number of these words */
    uint64_t offsets[WORDS];        /* offsets in the object for the listener */
    size_t offset_count;
};

/* ---- frames by address ---- */

/* Orders frames by their lowest address. */
static int compare_frames(const void *a, const void *b, void *context)
{
    const struct heap_frame *frames = context;
    uint64_t one = frames[*(const uint32_t *)a].sp;
    uint64_t other = frames[*(const uint32_t *)b].sp;
    return COMPARE(one, other);
}

/* Sorts the frames that have contents by address. Returns false if memory runs out. */
static bool sort_frames(struct frame_index *frames, const struct g2h_heap *heap)
{
    const struct heap_frame *all = heap->frames.data;
    frames->heap = heap;
    frames->by_sp = malloc((heap->frames.count + 1) * sizeof(*frames->by_sp));
    if (!frames->by_sp)
        return false;
    for (size_t i = 0; i < heap->frames.count; i++)
        if (all[i].contents_size > 0) /* frames without contents may share their sp with others */
            frames->by_sp[frames->count++] = as_u32(i);
    qsort_r(frames->by_sp, frames->count, sizeof(*frames->by_sp), compare_frames,
            heap->frames.data);
    if (frames->count > 0) {
        const struct heap_frame *last = &all[frames->by_sp[frames->count - 1]];
        frames->low = all[frames->by_sp[0]].sp;
        frames->high = last->sp + last->contents_size;
    }
    return true;
}

/* Returns the frame whose contents include address, or UINT32_MAX if there is none. */
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

/* Marks the frame that a word points into, if any. The word hits no object. */
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

/* Moves the block's targets to a new chunk, with a capacity of at least twice the wanted one.
 * Returns false if memory runs out. */
static bool add_chunk(const struct targets_finding *finding, struct block_work *work, size_t wanted)
{
    struct targets_finder *finder = work->finder;
    struct target_chunk chunk = {.capacity = finding->chunk_capacity};
    if (chunk.capacity < 2 * wanted)
        chunk.capacity = 2 * wanted;
    chunk.data = large_alloc(chunk.capacity, sizeof(*chunk.data));
    if (!chunk.data)
        return false;
    if (work->found > 0)
        memcpy(chunk.data, work->block->targets, work->found * sizeof(*chunk.data));
    struct target_chunk *last =
        finder->chunks.count > 0 ? &finder->chunks.data[finder->chunks.count - 1] : NULL;
    if (last && last->used == 0) { /* the chunk held only this block */
        large_free(last->data, last->capacity, sizeof(*last->data));
        *last = chunk;
    } else if (!vector_push(&finder->chunks, chunk)) {
        large_free(chunk.data, chunk.capacity, sizeof(*chunk.data));
        return false;
    }
    work->block->targets = chunk.data;
    work->capacity = chunk.capacity;
    return true;
}

/* Makes space for the targets of all waiting words. Returns false if memory runs out, or if a block
 * has 2^32 pointers. */
static inline bool targets_reserve(const struct targets_finding *finding, struct block_work *work)
{
    const size_t wanted = work->found + work->waiting;
    return wanted <= work->capacity || (wanted <= UINT32_MAX && add_chunk(finding, work, wanted));
}

/* Looks up the targets of all waiting words. Returns false if memory runs out. */
static bool find_waiting(const struct targets_finding *finding, struct block_work *work)
{
    if (work->waiting == 0)
        return true;
    if (!targets_reserve(finding, work))
        return false;
    uint32_t *targets = work->block->targets + work->found;
    for (size_t i = 0; i < work->waiting; i += INDEX_MANY)
        index_find_many(&finding->heap->index, &work->values[i], MIN(work->waiting - i, INDEX_MANY),
                        &targets[i]);
    for (size_t i = 0; i < work->waiting; i++)
        if (targets[i] != NO_TARGET)
            work->finder->hits++;
        else
            point_at_frame(finding->targets, work->values[i]);
    work->found += work->waiting;
    work->waiting = 0;
    return true;
}

/* An object of a block, whose words are being read. */
struct targets_source {
    uint32_t object, index; /* its number in the heap, and in the block */
    unsigned worker;
    struct g2h_bytes contents;
};

/* Finishes at most WORDS words of an object: calls the listener, and looks up targets if enough
 * words are waiting. Returns false if memory runs out. */
static bool end_words(const struct targets_finding *finding, struct block_work *work,
                      const struct targets_source *source)
{
    const struct pointer_listener *listener = finding->listener;
    const size_t count = work->offset_count;
    work->offset_count = 0;
    if (count > 0 && listener &&
        !listener->tell(listener->context, source->worker, source->object, &source->contents,
                        work->offsets, count))
        return false;
    return work->waiting < BATCH || find_waiting(finding, work);
}

/* Notes a word that leaves the heap: it may point into a frame, and its object may point into a
 * mapping. */
static inline void note_outside_word(const struct targets_finding *finding, struct block_work *work,
                                     const struct targets_source *source, uint64_t value)
{
    point_at_frame(finding->targets, value);
    bits_add(work->block->outside, source->index);
}

/* Adds the values of some of the 64 words from base on, those that have a bit in words, to the ones
 * whose targets are looked up; those outside of the heap's range are counted and noted. For dumps
 * with this machine's byte order. Returns false if memory runs out. */
static inline bool find_of_words(const struct targets_finding *finding, struct block_work *work,
                                 const struct targets_source *source, uint64_t base, uint64_t words)
{
    const struct object_index *index = &finding->heap->index;
    const uint64_t low = index->low;
    const uint64_t size = index->high - low;
    const uint8_t *contents = source->contents.data;
    uint64_t *values = &work->values[work->waiting];
    size_t count = 0, others = 0;
    for (; words != 0; words &= words - 1) {
        const uint64_t offset = base + lowest_bit(words) * sizeof(uint64_t);
        uint64_t value;
        __builtin_memcpy(&value, contents + offset, sizeof(value));
        if (value - low < size) { /* in_heap_range() */
            values[count] = value;
            work->offsets[count++] = offset;
        } else if (value != 0) {
            note_outside_word(finding, work, source, value);
            others++;
        }
    }
    work->finder->pointers += count + others;
    work->waiting += count;
    work->offset_count = count;
    return end_words(finding, work, source);
}

/* Processes the words of an object of any kind. Returns false if memory runs out. Words outside of
 * the heap are noted; the others wait until there are enough to look them up together. */
static bool find_of_object(const struct targets_finding *finding, struct block_work *work,
                           const struct targets_source *source, struct pointers *pointers)
{
    uint64_t offset, value;
    while (pointers_next(pointers, &offset, &value)) {
        work->finder->pointers++;
        if (!in_heap_range(finding->heap, value)) {
            note_outside_word(finding, work, source, value);
            continue;
        }
        work->values[work->waiting++] = value;
        work->offsets[work->offset_count++] = offset;
        if (work->offset_count == WORDS && !end_words(finding, work, source))
            return false;
    }
    return end_words(finding, work, source);
}

/* Processes the words of an object whose field list names words one by one. Returns false if memory
 * runs out. */
static bool find_of_listed(const struct targets_finding *finding, struct block_work *work,
                           const struct targets_source *source, struct pointers *pointers)
{
    while (pointers_decode(pointers))
        if (!find_of_words(finding, work, source, pointers->base, pointers->words))
            return false;
    return true;
}

/* Processes the words of object i of the block that begins with object first. Returns false if
 * memory runs out. */
static inline bool targets_find_of(const struct targets_finding *finding, struct block_work *work,
                                   uint32_t first, uint32_t i, unsigned worker)
{
    const struct g2h_heap *heap = finding->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, first + i);
    const struct targets_source source = {first + i, i, worker, heap_contents(heap, first + i)};
    struct pointers pointers;
    if (slot_class->words != 0 && finding->is_usual)
        return find_of_words(finding, work, &source, 0, slot_class->words);
    pointers_of(heap, first + i, slot_class, &pointers);
    return pointers.walk == WALK_POINTERS && finding->is_usual
               ? find_of_listed(finding, work, &source, &pointers)
               : find_of_object(finding, work, &source, &pointers);
}

/* Begins a block's targets after those that the thread has found before. Returns false if memory
 * runs out. */
static bool targets_begin_block(const struct targets_finding *finding, struct block_work *work)
{
    const struct targets_finder *finder = work->finder;
    if (finder->chunks.count == 0)
        return add_chunk(finding, work, 0);
    const struct target_chunk *chunk = &finder->chunks.data[finder->chunks.count - 1];
    work->block->targets = chunk->data + chunk->used;
    work->capacity = chunk->capacity - chunk->used;
    return true;
}

/* Ends a block: its targets stay where they are in the chunk. */
static void targets_end_block(struct block_work *work)
{
    struct targets_finder *finder = work->finder;
    work->block->starts[work->block->objects] = (uint32_t)work->found;
    finder->chunks.data[finder->chunks.count - 1].used += work->found;
}

/* Looks up the targets of all objects of a block; a task for several threads. block->starts gets
 * where each object's targets begin, and leading a bit for each object that has any. */
static struct g2h_error *find_of_block(void *context, size_t task, unsigned worker)
{
    struct targets_finding *finding = context;
    const struct g2h_heap *heap = finding->heap;
    struct target_block *block = &finding->targets->blocks[task];
    const uint32_t first = as_u32(task) << BLOCK_SHIFT;
    struct block_work work = {.block = block, .finder = &finding->finders[worker]};

    if (!targets_begin_block(finding, &work))
        return &error_no_memory;
    for (uint32_t i = 0; i < block->objects; i++) {
        block->starts[i] = (uint32_t)(work.found + work.waiting);
        heap_prefetch(heap, (uint64_t)first + i + OBJECTS_AHEAD);
        if (heap_slot_class(heap, first + i)->has_pointers &&
            !targets_find_of(finding, &work, first, i, worker))
            return &error_no_memory;
    }
    if (!find_waiting(finding, &work))
        return &error_no_memory;
    targets_end_block(&work);
    for (uint32_t i = 0; i < block->objects; i++)
        finding->targets->leading[(first + i) / 64] |=
            (uint64_t)(block->starts[i] < block->starts[i + 1]) << (i % 64);
    return NULL;
}

/* ---- deferred calls ---- */

/* The most words of a runtime._defer and of a runtime.g that are examined. */
enum { DEFER_WORDS = 16, G_WORDS = 96 };

/* Removes the target of the first word with a value from the object at an address, and lists it.
 * Returns false if memory runs out. Only the first words of the object are looked at; nothing if it
 * is not found. */
static bool defer_pointer(struct targets *targets, const struct g2h_heap *heap, uint64_t address,
                          uint64_t wanted, uint64_t words)
{
    const uint32_t object = heap_find(heap, address);
    uint64_t offset, value;
    struct pointers pointers;
    if (object == UINT32_MAX || !heap_slot_class(heap, object)->has_pointers)
        return true;
    const struct target_block *block = &targets->blocks[object >> BLOCK_SHIFT];
    uint32_t at = block->starts[object & (BLOCK_OBJECTS - 1)];
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (pointers_next(&pointers, &offset, &value) &&
           offset < words * heap->params.pointer_size) {
        if (!in_heap_range(heap, value))
            continue;
        const uint32_t target = block->targets[at];
        if (value == wanted && target != NO_TARGET) {
            block->targets[at] = NO_TARGET;
            return vector_push(&targets->deferred, ((struct deferred_pointer){
                                                       object, target, offset, words == G_WORDS}));
        }
        at++;
    }
    return true;
}

/* Finds the calls that have records. Returns false if memory runs out. */
static bool find_deferred(const struct g2h_heap *heap, struct map *ret)
{
    const size_t count = heap->records[G2H_RECORD_DEFER].count;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct g2h_record record;
        uint32_t known;
        g2h_heap_record(heap, G2H_RECORD_DEFER, i, &record);
        const uint64_t address = record.defer.address;
        const uint32_t object = heap_find(heap, address);
        if (object != UINT32_MAX && heap_address(heap, object) == address)
            good = map_put(ret, address, object, &known);
    }
    return good;
}

/* Removes the targets of pointers to deferred calls from goroutines and from calls. Returns false
 * if memory runs out. */
static bool take_deferred(struct targets *targets, const struct g2h_heap *heap,
                          const struct map *deferred)
{
    bool good = true;
    for (size_t i = 0; i < heap->goroutines.count && good; i++) {
        const struct g2h_goroutine *goroutine = &heap->goroutines.data[i].record;
        if (map_get(deferred, goroutine->defer) != MAP_NONE)
            good = defer_pointer(targets, heap, goroutine->address, goroutine->defer, G_WORDS);
    }
    for (size_t i = 0; i < heap->records[G2H_RECORD_DEFER].count && good; i++) {
        struct g2h_record record;
        g2h_heap_record(heap, G2H_RECORD_DEFER, i, &record);
        if (map_get(deferred, record.defer.next) != MAP_NONE)
            good =
                defer_pointer(targets, heap, record.defer.address, record.defer.next, DEFER_WORDS);
    }
    return good;
}

/* Moves the pointers to deferred calls to a list of their own: a goroutine's record must not hold
 * what its calls hold. */
static struct g2h_error *separate_deferred(struct targets *targets, const struct g2h_heap *heap)
{
    struct map deferred = {0};
    const bool good = find_deferred(heap, &deferred) && take_deferred(targets, heap, &deferred);
    map_deinit(&deferred);
    return good ? NULL : &error_no_memory;
}

/* ---- all of them ---- */

/* Divides the objects into blocks, which threads process, and allocates their tables. Returns false
 * if memory runs out. */
static bool add_blocks(struct targets *targets, const struct g2h_heap *heap)
{
    const uint32_t objects = heap->object_count;
    const size_t count = ((size_t)objects + BLOCK_OBJECTS - 1) >> BLOCK_SHIFT;
    targets->start_count = objects + count;
    targets->blocks = calloc(count + 1, sizeof(*targets->blocks));
    targets->starts = large_alloc(targets->start_count, sizeof(*targets->starts));
    targets->outside = zeroed_alloc((size_t)objects / 64 + 1, sizeof(*targets->outside));
    if (!targets->blocks || !targets->starts || !targets->outside)
        return false;
    targets->block_count = count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t first = as_u32(i) << BLOCK_SHIFT;
        const uint32_t left = objects - first;
        targets->blocks[i] = (struct target_block){
            .starts = targets->starts + first + i,
            .outside = targets->outside + first / 64,
            .objects = MIN(left, BLOCK_OBJECTS),
        };
    }
    return true;
}

/* Returns how many targets a chunk has space for: a heap has one or two pointers per object. */
static size_t chunk_capacity(const struct g2h_heap *heap)
{
    enum { LEAST = 1 << 10, MOST = 1 << 23 };
    const size_t usual = heap->object_count;
    if (usual < LEAST)
        return LEAST;
    return MIN(usual, MOST);
}

/* Collects the counts and chunks of the threads in targets, which owns the chunks from then on. If
 * memory runs out, the chunks that it cannot take are freed. */
static struct g2h_error *targets_gather(struct targets_finding *finding, unsigned threads)
{
    struct targets *targets = finding->targets;
    struct g2h_error *error = NULL;
    for (unsigned i = 0; i < threads; i++) {
        struct targets_finder *finder = &finding->finders[i];
        targets->pointers += finder->pointers;
        targets->hits += finder->hits;
        VECTOR_EACH(const struct target_chunk, chunk, finder->chunks) {
            if (vector_push(&targets->chunks, *chunk))
                continue;
            large_free(chunk->data, chunk->capacity, sizeof(*chunk->data));
            error = &error_no_memory;
        }
        free(finder->chunks.data);
    }
    return error;
}

/* Returns whether each block's targets are in order and are objects, or none. */
static _asserted_ bool targets_are_objects(const struct targets *targets,
                                           const struct g2h_heap *heap)
{
    for (size_t i = 0; i < targets->block_count; i++) {
        const struct target_block *block = &targets->blocks[i];
        for (uint32_t j = 0; j < block->objects; j++)
            if (block->starts[j] > block->starts[j + 1])
                return false;
        for (uint32_t j = block->starts[0]; j < block->starts[block->objects]; j++)
            if (block->targets[j] != NO_TARGET && block->targets[j] >= heap->object_count)
                return false;
    }
    return true;
}

/* Finds the targets of all objects on several threads. */
static struct g2h_error *targets_find(struct targets_finding *finding, unsigned threads)
{
    struct targets *targets = finding->targets;
    TRY_MEMORY(targets->leading && targets->frame_pointed && add_blocks(targets, finding->heap) &&
               sort_frames(&targets->frames, finding->heap));
    return workers_run(threads, targets->block_count, find_of_block, finding);
}

/* Finds the target of each pointer. Pointers to deferred calls are separated in the end, since
 * their targets must be known. */
struct g2h_error *targets_init(struct targets *targets, const struct g2h_heap *heap,
                               unsigned threads, const struct pointer_listener *listener)
{
    struct targets_finding finding = {heap,
                                      targets,
                                      listener,
                                      calloc(threads, sizeof(struct targets_finder)),
                                      chunk_capacity(heap),
                                      heap_words_are_usual(heap)};
    *targets = (struct targets){
        .leading = zeroed_alloc((size_t)heap->object_count / 64 + 1, sizeof(*targets->leading)),
        .frame_pointed = calloc(heap->frames.count + 1, 1)};
    TRY_MEMORY(finding.finders);
    struct g2h_error *error = targets_find(&finding, threads);
    struct g2h_error *no_memory = targets_gather(&finding, threads);
    free(finding.finders);
    TRY(error ? error : no_memory);
    assert(targets_are_objects(targets, heap));
    return separate_deferred(targets, heap);
}

void targets_deinit(struct targets *targets)
{
    VECTOR_EACH(const struct target_chunk, chunk, targets->chunks)
        large_free(chunk->data, chunk->capacity, sizeof(uint32_t));
    free(targets->chunks.data);
    large_free(targets->starts, targets->start_count, sizeof(*targets->starts));
    free(targets->outside);
    free(targets->blocks);
    free(targets->leading);
    free(targets->deferred.data);
    free(targets->frames.by_sp);
    free(targets->frame_pointed);
    *targets = (struct targets){0};
}
