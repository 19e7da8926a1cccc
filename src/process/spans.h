/*
 * spans: which slots of the heap are objects, as the runtime itself would determine it
 * (runtime/mheap.go, mbitmap.go of each release), and what the runtime keeps beside them.
 */
#ifndef PROCESS_SPANS_H
#define PROCESS_SPANS_H

#include "base/memory.h"
#include "process/runtime.h"

enum { SPAN_MOST_SLOTS = 1024 };

/* A larger span is read in pieces through a window. */
enum { SPAN_WHOLE = 1 << 20 };

struct span {
    uint64_t address; /* of the mspan */
    uint64_t start, size, elemsize, nelems, freeindex;
    const uint8_t *data; /* the span's bytes; NULL: some are missing, or it is larger than
                            SPAN_WHOLE and the memory has a window. Set by span_read() only */
    uint64_t alloc_bits, mark_bits, alloc_count, specials, large_type;
    int32_t swept;                           /* the mspan's sweepgen minus the heap's */
    uint8_t spanclass;                       /* as the mspan has it */
    bool noscan, is_large, is_user_arena;    /* is_large: one object, of no size class */
    uint64_t live[SPAN_MOST_SLOTS / 64 + 1]; /* a bit per slot that is an object */
    uint64_t
        revived[SPAN_MOST_SLOTS / 64 + 1]; /* live slots that sweeping will queue for finalizers */
};

/* The results of span_read(). */
enum span_state {
    SPAN_UNUSED,  /* it has no objects: free, or a stack */
    SPAN_IN_USE,  /* *ret describes it */
    SPAN_MISSING, /* part of its description is missing */
};

/* Reads the mspan at an address. Several threads may call it at the same time. */
enum span_state span_read(struct runtime *runtime, uint64_t address, struct span *ret);

/* Does the same without finding which slots are live. */
enum span_state span_read_fields(const struct runtime *runtime, uint64_t address, struct span *ret);

/* Does the same for the mspan with this index in allspans, which is less than allspans.count. The
 * mspan may be in any state. */
enum span_state span_read_fields_of(const struct runtime *runtime, uint64_t index,
                                    struct span *ret);

/* Reads which slots of a span, from span_read_fields(), the last collection has marked: a bit per
 * slot. *ret_address is where they are. Returns false if they are missing, or if a thread is moving
 * them at this moment. */
bool span_read_marks(const struct runtime *runtime, const struct span *span,
                     uint64_t ret[SPAN_MOST_SLOTS / 64 + 1], uint64_t *ret_address);

/* Returns whether slots of this size, in a span of this size, have marks in the span itself until
 * it is swept, and where. */
bool span_has_inline_marks(const struct runtime *runtime, uint64_t elemsize, uint64_t size,
                           uint64_t *ret_offset);

/* Returns the bytes of a span that is in use, but not for objects: for stacks, or by the runtime.
 * Returns 0 for other spans. */
uint64_t span_manual_bytes(const struct runtime *runtime, uint64_t address);

/* Returns whether a span has been swept since the last collection. Then allocCount is the number of
 * its objects, unless a thread is about to change it. */
static inline bool span_is_swept(const struct span *span)
{
    return span->swept == 0 || span->swept == 3;
}

/* A record that the runtime keeps beside an object (runtime.special): a finalizer, a sample of the
 * profile … */
struct special {
    uint64_t address, offset, kind; /* offset: in the span */
};

/* Reads the special at an address, and finds the address of the next one. Returns false if there is
 * none, or once more have been read than there can be. */
bool special_read(struct runtime *runtime, uint64_t address, struct special *ret,
                  uint64_t *ret_next);

/* Finds the slots of a span that were allocated in secret.Do: sets ret, a bit per slot. Returns
 * false if there are none. Several threads may call it at the same time. */
bool span_secrets(struct runtime *runtime, const struct span *span,
                  uint64_t ret[SPAN_MOST_SLOTS / 64 + 1]);

/* Returns size bytes of a span from an offset on, or NULL if some are missing. */
static inline const uint8_t *span_bytes(const struct span *span, const struct memory *memory,
                                        uint64_t offset, uint64_t size)
{
    return span->data && offset <= span->size && size <= span->size - offset
               ? span->data + offset
               : memory_at(memory, span->start + offset, size);
}

static inline bool span_is_live(const struct span *span, uint64_t slot)
{
    return bits_have(span->live, slot);
}

#endif
