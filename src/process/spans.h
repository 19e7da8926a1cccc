/*
 * spans: which slots of the heap are objects, as the runtime itself would determine it
 * (runtime/mheap.go, mbitmap.go of each release).
 *
 * WriteHeapDump sweeps all spans before it reads them. From outside nothing is swept: if a span has
 * not been swept since the last collection, its mark bits determine which slots are objects.
 */
#ifndef PROCESS_SPANS_H
#define PROCESS_SPANS_H

#include "base/bits.h"
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

/* Return the release's numbers of the kinds of specials that are written (mheap.go:
 * _KindSpecial…). */
uint64_t special_finalizer(const struct runtime *runtime);
uint64_t special_profile(const struct runtime *runtime);
uint64_t special_weak_handle(const struct runtime *runtime);
uint64_t special_cleanup(const struct runtime *runtime);

/* _KindSpecialSecret (runtime/secret.go), and the release that has it. */
enum { SPECIAL_SECRET = 10, SECRETS_SINCE = 26 };

/* Finds the slots of a span that were allocated in secret.Do: sets ret, a bit per slot. Returns
 * false if there are none. Several threads may call it at the same time. */
bool span_secrets(struct runtime *runtime, const struct span *span,
                  uint64_t ret[SPAN_MOST_SLOTS / 64 + 1]);

/* Returns whether the object of a special is dead, and the sweep of its span will keep it just for
 * its finalizer. The span must be from span_read(). */
static inline bool span_revives(const struct span *span, const struct special *special)
{
    const uint64_t slot = special->offset / span->elemsize;
    return slot < span->nelems && bits_have(span->revived, slot);
}

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
