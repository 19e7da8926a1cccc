/*
 * targets: the object that each pointer of each object hits, looked up once and kept.
 *
 * A word outside the heap's range of addresses has no entry. A later walk over an object's pointers
 * sees the same words in the same order, so the next word in that range belongs to the next target.
 * A bit per object records whether it has words outside the range.
 *
 * The list of a goroutine's deferred calls begins in its runtime.g. Through these pointers each
 * call would hold all calls that were deferred before it, and all goroutines' lists would belong to
 * the runtime. But each call has a record, which holds it alone. So these words have NO_TARGET, and
 * are kept in a list of their own: they become weak edges.
 */
#ifndef HEAP_TARGETS_H
#define HEAP_TARGETS_H

#include "base/memory.h"
#include "heap/heap.h"

enum { BLOCK_SHIFT = 16, BLOCK_OBJECTS = 1 << BLOCK_SHIFT };
#define NO_TARGET UINT32_MAX

/* The pointers of a block of objects: for each word in the heap's range, the object that it hits,
 * or NO_TARGET. */
struct target_block {
    uint32_t *targets, *starts; /* the targets of the block's object i begin at starts[i]; starts
                                   has one entry more than there are objects */
    uint64_t *outside; /* a bit per object: it has words that are not nil, outside the range */
    uint32_t objects;
};

/* Memory for the targets of several blocks. */
struct target_chunk {
    uint32_t *data;
    size_t used, capacity;
};

/* A pointer to a deferred call: the object that contains it, and the call's object. */
struct deferred_pointer {
    uint32_t source, target;
    uint64_t offset; /* of the word in the source */
    bool is_first;   /* the source is a runtime.g; otherwise a deferred call */
};

/* The frames that have contents, by address. */
struct frame_index {
    const struct g2h_heap *heap;
    uint32_t *by_sp; /* frames, ascending by sp */
    size_t count;
    uint64_t low, high; /* all these frames are in [low, high) */
};

struct targets {
    struct target_block *blocks;
    size_t block_count, start_count;
    uint32_t *starts; /* the starts of all blocks */
    VECTOR(struct target_chunk) chunks;
    uint64_t *outside;       /* the outside bits of all blocks */
    uint64_t *leading;       /* a bit per object: it has an entry, so it may point to an object */
    uint64_t pointers, hits; /* number of words of objects that may be pointers and are not nil;
                                number of those that hit an object */
    VECTOR(struct deferred_pointer) deferred; /* in the order of their goroutines and records */
    struct frame_index frames;
    uint8_t *frame_pointed; /* by frame: an object points into its contents */
};

/*
 * A callback for the pointers that may hit an object, called while they are in the cache. It gets
 * an object and the offsets of its words that may be pointers, ascending, at most 64 per call; an
 * object with more of them needs several calls. It runs on all threads, and worker is less than
 * their number. It returns false if memory runs out.
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

/* Returns the frame whose contents include address, or UINT32_MAX if there is none. */
uint32_t frame_index_find(const struct frame_index *frames, uint64_t address);

/* Returns whether value may point to an object. Only words for which this is true have an entry. */
static inline bool in_heap_range(const struct g2h_heap *heap, uint64_t value)
{
    return value - heap->index.low < heap->index.high - heap->index.low;
}

/* Returns whether an object has pointers out of the heap's range of addresses. */
static inline bool targets_leave_heap(const struct targets *targets, uint32_t object)
{
    const uint64_t *outside = targets->blocks[object >> BLOCK_SHIFT].outside;
    const uint32_t index = object & (BLOCK_OBJECTS - 1);
    return bits_have(outside, index);
}

/* Returns whether an object has targets. This reads less memory than targets_of(). */
static inline bool targets_lead(const struct targets *targets, uint32_t object)
{
    return bits_have(targets->leading, object);
}

/* Returns the start of an object's targets, and gets their end. */
static inline const uint32_t *targets_of(const struct targets *targets, uint32_t object,
                                         const uint32_t **ret_end)
{
    const struct target_block *block = &targets->blocks[object >> BLOCK_SHIFT];
    const uint32_t index = object & (BLOCK_OBJECTS - 1);
    *ret_end = block->targets + block->starts[index + 1];
    return block->targets + block->starts[index];
}

#endif
