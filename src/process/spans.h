/*
 * spans: which slots of the heap are objects, and which of their words are pointers, as the runtime
 * itself would find it (runtime/mheap.go, mbitmap.go of each release).
 *
 * WriteHeapDump sweeps all spans before it asks. From outside nothing is swept: a span that has not
 * been since the last collection has its objects in the mark bits.
 */
#ifndef PROCESS_SPANS_H
#define PROCESS_SPANS_H

#include "process/runtime.h"

enum { SPAN_MOST_SLOTS = 1024 };

struct span {
    uint64_t address; /* of the mspan */
    uint64_t start, size, elemsize, nelems, freeindex;
    const uint8_t *data; /* its bytes; NULL: not all of them are there. Of span_read() only */
    uint64_t alloc_bits, mark_bits, alloc_count, specials, large_type;
    int32_t swept;                           /* sweepgen against that of the heap */
    bool noscan, is_large, is_user_arena;    /* is_large: one object, of no size class */
    uint64_t live[SPAN_MOST_SLOTS / 64 + 1]; /* a bit per slot that is an object */
    uint64_t
        revived[SPAN_MOST_SLOTS / 64 + 1]; /* of them: that sweeping will queue for finalizers */
};

/* How span_read() ended. */
enum span_state {
    SPAN_UNUSED,  /* it has no objects: free, or a stack */
    SPAN_IN_USE,  /* *ret is there */
    SPAN_MISSING, /* not all of what describes it is there */
};

/* Reads the mspan at an address. Several threads may do so. */
enum span_state span_read(struct runtime *runtime, uint64_t address, struct span *ret);

/* The same without what is live. */
enum span_state span_read_fields(const struct runtime *runtime, uint64_t address, struct span *ret);

/* The same of number index < allspans.count of allspans, which may be any. */
enum span_state span_read_fields_of(const struct runtime *runtime, uint64_t index,
                                    struct span *ret);

/* The bytes of a span that is in use, but not for objects: for stacks, or by the runtime. */
uint64_t span_manual_bytes(const struct runtime *runtime, uint64_t address);

/* Whether a span has been swept since the last collection, so that allocCount is the number of its
 * objects; but a thread may be about to change it. */
static inline bool span_is_swept(const struct span *span)
{
    return span->swept == 0 || span->swept == 3;
}

/* What the runtime keeps beside an object (runtime.special): a finalizer, a sample of the profile …
 */
struct special {
    uint64_t address, offset, kind; /* offset: in the span */
};

/* Gives the special at an address, and where the next one is. False where there is none; also once
 * there have been more than there can be. */
bool special_read(struct runtime *runtime, uint64_t address, struct special *ret,
                  uint64_t *ret_next);

/* The kinds of special that are written, by the release (mheap.go: _KindSpecial…). */
uint64_t special_finalizer(const struct runtime *runtime);
uint64_t special_profile(const struct runtime *runtime);
uint64_t special_weak_handle(const struct runtime *runtime);
uint64_t special_cleanup(const struct runtime *runtime);

/* Whether the object of a special is dead, and kept for its finalizer only, by who sweeps the span:
 * of one that span_read() has read. */
static inline bool span_revives(const struct span *span, const struct special *special)
{
    const uint64_t slot = special->offset / span->elemsize;
    return slot < span->nelems && (span->revived[slot / 64] >> (slot % 64) & 1) != 0;
}

/* So many bytes of a span from an offset on; NULL where not all of them are there. */
static inline const uint8_t *span_bytes(const struct span *span, const struct memory *memory,
                                        uint64_t offset, uint64_t size)
{
    return span->data && offset <= span->size && size <= span->size - offset
               ? span->data + offset
               : memory_at(memory, span->start + offset, size);
}

static inline bool span_is_live(const struct span *span, uint64_t slot)
{
    return (span->live[slot / 64] >> (slot % 64) & 1) != 0;
}

#endif
