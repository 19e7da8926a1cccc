/*
 * targets: which object each pointer of each object hits, looked up once and kept.
 *
 * A word outside of the heap's range of addresses has no entry. Whoever walks over an object's
 * pointers again sees the same words in the same order, so that the next word in that range has the
 * next target. Of words outside of the range a bit tells whether an object has any.
 */
#ifndef HEAP_TARGETS_H
#define HEAP_TARGETS_H

#include "base/memory.h"
#include "heap/heap.h"

enum { BLOCK_SHIFT = 16, BLOCK_OBJECTS = 1 << BLOCK_SHIFT };
#define NO_TARGET UINT32_MAX

/* The pointers of a block of objects: of each word in the heap's range the object that it hits, or
 * NO_TARGET. */
struct target_block {
    uint32_t *targets, *starts; /* those of the block's object i begin at starts[i]; one entry more
                                   than it has objects */
    uint64_t *outside; /* a bit per object: words of it that are not nil lie outside of the range */
    uint32_t objects;
};

/* Memory that the targets of several blocks are in. */
struct target_chunk {
    uint32_t *data;
    size_t used, capacity;
};

/* The frames that have contents, by their addresses. */
struct frame_index {
    const struct g2h_heap *heap;
    uint32_t *by_sp; /* frames, ascending by sp */
    size_t count;
    uint64_t low, high; /* all of them lie in [low, high) */
};

struct targets {
    struct target_block *blocks;
    size_t block_count, start_count;
    uint32_t *starts; /* those of all blocks */
    VECTOR(struct target_chunk) chunks;
    uint64_t *outside;       /* that of all blocks */
    uint64_t *leading;       /* a bit per object: it has an entry, so that it may lead somewhere */
    uint64_t pointers, hits; /* words of objects that may be pointers and are not nil; of them those
                                that hit an object */
    struct frame_index frames;
    uint8_t *frame_pointed; /* by frame: some object points into its contents */
};

/*
 * Who is to be told of the pointers that may hit an object, while these are at hand: of an object
 * and the offsets of such words of it, in their order, 64 at most; of an object with more in
 * several calls. On all threads; worker is below their number. False where there is no memory.
 */
struct pointer_listener {
    bool (*tell)(void *context, unsigned worker, uint32_t object, const struct g2h_bytes *contents,
                 const uint64_t *offsets, size_t count);
    void *context;
};

/* Looks up all pointers of all objects. listener may be NULL. Error: G2H_ERROR_MEMORY. */
struct g2h_error *targets_init(struct targets *targets, const struct g2h_heap *heap,
                               unsigned threads, const struct pointer_listener *listener);
void targets_deinit(struct targets *targets);

/* The frame whose contents hold address, UINT32_MAX. */
uint32_t frame_index_find(const struct frame_index *frames, uint64_t address);

/* Whether value may point to an object: only such words have an entry. */
static inline bool in_heap_range(const struct g2h_heap *heap, uint64_t value)
{
    return value - heap->index.low < heap->index.high - heap->index.low;
}

/* Whether an object has pointers that lead out of the heap's range of addresses. */
static inline bool targets_leave_heap(const struct targets *targets, uint32_t object)
{
    const uint64_t *outside = targets->blocks[object >> BLOCK_SHIFT].outside;
    const uint32_t index = object & (BLOCK_OBJECTS - 1);
    return (outside[index / 64] >> (index % 64) & 1) != 0;
}

/* Whether an object has targets: fewer bytes to look at than where they begin. */
static inline bool targets_lead(const struct targets *targets, uint32_t object)
{
    return (targets->leading[object / 64] >> (object % 64) & 1) != 0;
}

/* The targets of an object: *ret_end - the result of them. */
static inline const uint32_t *targets_of(const struct targets *targets, uint32_t object,
                                         const uint32_t **ret_end)
{
    const struct target_block *block = &targets->blocks[object >> BLOCK_SHIFT];
    const uint32_t index = object & (BLOCK_OBJECTS - 1);
    *ret_end = block->targets + block->starts[index + 1];
    return block->targets + block->starts[index];
}

#endif
