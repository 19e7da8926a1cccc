/* spans; see spans.h. */
#include "process/spans.h"

#include "base/contract.h"

/* mspan.state: mSpanInUse, mSpanManual. */
enum { IN_USE = 1, MANUAL = 2 };

/* The mspan's sweepgen minus the heap's while a thread is sweeping the span. */
enum { BEING_SWEPT = -1 };

/* Green Tea's marks of a span of one page: a bit per slot, in its last 64 bytes (struct
 * spanInlineMarkBits, mgcmark_greenteagc.go). */
enum {
    LEAST_INLINE = 16,
    MOST_INLINE = 512,
    INLINE_MARKS_AT = RUNTIME_PAGE_SIZE - 64,
    INLINE_MARKS = 63
};

/* An mspan has at most this many bytes in any release. Mspans are adjacent, so usually this many
 * bytes are available. */
enum { MOST_MSPAN = 256 };

/* Reads a field of the mspan at an address. mspan is its MOST_MSPAN bytes, or NULL if some are
 * missing. Returns false if the field is missing. */
static bool spans_read_field(const struct runtime *runtime, uint64_t address, const uint8_t *mspan,
                             enum layout_field field, uint64_t *ret)
{
    const struct layout_member member = runtime->layout.members[field];
    if (!mspan || member.size == 0 || member.size > 8 || member.offset + member.size > MOST_MSPAN)
        return runtime_peek(runtime, address, field, ret);
    *ret = memory_number(mspan + member.offset, member.size);
    return true;
}

/* Reads the fields of an mspan, and checks that they are plausible. Returns false if some are
 * missing or invalid. */
static bool spans_read_fields(const struct runtime *runtime, uint64_t address, struct span *span)
{
    uint64_t pages, swept, class, arena;
    const struct {
        enum layout_field field;
        uint64_t *value;
    } fields[] = {
        {LAYOUT_MSPAN_START_ADDR, &span->start},
        {LAYOUT_MSPAN_NPAGES, &pages},
        {LAYOUT_MSPAN_ELEMSIZE, &span->elemsize},
        {LAYOUT_MSPAN_NELEMS, &span->nelems},
        {LAYOUT_MSPAN_FREEINDEX, &span->freeindex},
        {LAYOUT_MSPAN_ALLOC_BITS, &span->alloc_bits},
        {LAYOUT_MSPAN_GCMARK_BITS, &span->mark_bits},
        {LAYOUT_MSPAN_ALLOC_COUNT, &span->alloc_count},
        {LAYOUT_MSPAN_SPECIALS, &span->specials},
        {LAYOUT_MSPAN_LARGE_TYPE, &span->large_type},
        {LAYOUT_MSPAN_SWEEPGEN, &swept},
        {LAYOUT_MSPAN_SPANCLASS, &class},
        {LAYOUT_MSPAN_IS_USER_ARENA_CHUNK, &arena},
    };
    const uint8_t *mspan = memory_at(runtime->memory, address, MOST_MSPAN);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (!spans_read_field(runtime, address, mspan, fields[i].field, fields[i].value))
            return false;
    if (pages == 0 || pages > UINT64_MAX / RUNTIME_PAGE_SIZE / 2 || span->elemsize < 8 ||
        span->nelems > SPAN_MOST_SLOTS ||
        span->nelems > pages * RUNTIME_PAGE_SIZE / span->elemsize ||
        span->start > UINT64_MAX - pages * RUNTIME_PAGE_SIZE)
        return false;
    span->address = address;
    span->size = pages * RUNTIME_PAGE_SIZE;
    span->swept = (int32_t)((uint32_t)swept - runtime->sweepgen);
    span->noscan = (class & 1) != 0;
    span->is_large = class >> 1 == 0;
    span->is_user_arena = arena != 0;
    return true;
}

/* ---- live slots ---- */

/* Adds bits to the live slots, a bit per slot, from the bytes at an address. Returns false if they
 * are missing. */
static bool add_bits(const struct runtime *runtime, struct span *span, uint64_t address,
                     uint64_t bytes)
{
    const uint8_t *bits = memory_at(runtime->memory, address, bytes);
    assert(bytes <= sizeof(span->live));
    for (uint64_t i = 0; bits && i < bytes; i++)
        span->live[i / 8] |= (uint64_t)bits[i] << (8 * (i % 8));
    return bits != NULL;
}

/* Adds the marked slots to the live ones: those that the collector has found, in gcmarkBits and,
 * with Green Tea, in the span itself. Returns false if they are missing. */
static bool add_marks(const struct runtime *runtime, struct span *span)
{
    const bool has_inline = runtime->has_inline_marks && span->elemsize >= LEAST_INLINE &&
                            span->elemsize <= MOST_INLINE && span->size == RUNTIME_PAGE_SIZE;
    const uint64_t bytes = (span->nelems + 7) / 8;
    return add_bits(runtime, span, span->mark_bits, bytes) &&
           (!has_inline || add_bits(runtime, span, span->start + INLINE_MARKS_AT,
                                    bytes < INLINE_MARKS ? bytes : INLINE_MARKS));
}

/* Adds the allocated slots to the live ones: those before freeindex, and those with a bit after it.
 * Returns false if the bits are missing. */
static bool add_allocated(const struct runtime *runtime, struct span *span)
{
    if (!add_bits(runtime, span, span->alloc_bits, (span->nelems + 7) / 8))
        return false;
    const uint64_t before = span->freeindex < span->nelems ? span->freeindex : span->nelems;
    for (uint64_t i = 0; i < before / 64; i++)
        span->live[i] = UINT64_MAX;
    span->live[before / 64] |= ((uint64_t)1 << (before % 64)) - 1;
    return true;
}

static bool has_live_slot(const struct span *span)
{
    for (uint64_t i = 0; i < span->nelems; i++)
        if (span_is_live(span, i))
            return true;
    return false;
}

/* Counts all specials that are read, since a damaged chain may be circular; and those that are
 * missing, or too many, because a root may be among those after them. Several threads count. */
bool special_read(struct runtime *runtime, uint64_t address, struct special *ret,
                  uint64_t *ret_next)
{
    ret->address = address;
    if (address == 0)
        return false;
    if (!runtime_peek(runtime, address, LAYOUT_SPECIAL_OFFSET, &ret->offset) ||
        !runtime_peek(runtime, address, LAYOUT_SPECIAL_KIND, &ret->kind) ||
        !runtime_peek(runtime, address, LAYOUT_SPECIAL_NEXT, ret_next)) {
        __atomic_fetch_add(&runtime->missing, 1, __ATOMIC_RELAXED);
        return false;
    }
    if (__atomic_fetch_add(&runtime->specials, 1, __ATOMIC_RELAXED) < runtime->specials_most)
        return true;
    __atomic_fetch_add(&runtime->missing, 1, __ATOMIC_RELAXED);
    return false;
}

uint64_t special_finalizer(const struct runtime *runtime)
{
    return runtime->minor >= 25 ? 2 : 1;
}

uint64_t special_profile(const struct runtime *runtime)
{
    if (runtime->minor >= 25)
        return 4;
    return runtime->minor >= 23 ? 3 : 2;
}

uint64_t special_weak_handle(const struct runtime *runtime)
{
    return runtime->minor >= 25 ? 3 : 2;
}

uint64_t special_cleanup(const struct runtime *runtime)
{
    return runtime->minor >= 25 ? 7 : 6;
}

/* Such an object has a slot of its own, also if it is tiny. */
bool span_secrets(struct runtime *runtime, const struct span *span,
                  uint64_t ret[SPAN_MOST_SLOTS / 64 + 1])
{
    enum { SIZE = (SPAN_MOST_SLOTS / 64 + 1) * 8 };
    struct special special;
    uint64_t next;
    bool any = false;
    if (runtime->minor < SECRETS_SINCE || span->specials == 0)
        return false;
    memset(ret, 0, SIZE);
    for (uint64_t at = span->specials; special_read(runtime, at, &special, &next); at = next) {
        const uint64_t slot = special.offset / span->elemsize;
        if (special.kind != SPECIAL_SECRET || slot >= span->nelems)
            continue;
        bits_add(ret, slot);
        any = true;
    }
    return any;
}

/* Makes dead objects with finalizers live again: they stay until the finalizer has run. */
static void revive_for_finalizers(struct runtime *runtime, struct span *span)
{
    struct special special;
    uint64_t next;
    for (uint64_t at = span->specials; special_read(runtime, at, &special, &next); at = next) {
        const uint64_t slot = special.offset / span->elemsize, bit = (uint64_t)1 << (slot % 64);
        if (special.kind != special_finalizer(runtime) || slot >= span->nelems ||
            span_is_live(span, slot))
            continue;
        span->revived[slot / 64] |= bit;
        span->live[slot / 64] |= bit;
    }
}

/*
 * Finds the live slots of a span that has not been swept. Returns false if its bits are missing.
 *
 * A thread that sweeps a span moves the inline marks to gcmarkBits, sets allocCount to the number
 * of marks and freeindex to 0, makes the marks the allocBits, takes fresh mark bits, and stores
 * sweepgen last. So if there are marks, or freeindex is not 0 yet, the thread has hardly begun. If
 * there are no marks and allocCount is 0, nothing lives, though allocBits may still be the old
 * ones. If there are no marks and allocCount is not 0, either the marks are in allocBits already,
 * or freeindex was 0 before and nothing lives. These two cases cannot be distinguished, and
 * allocBits count in both: in the second one the old objects show up as garbage, and nothing is
 * lost.
 */
static bool find_live_of_unswept(struct runtime *runtime, struct span *span)
{
    if (!add_marks(runtime, span))
        return false;
    if (span->swept == BEING_SWEPT && span->freeindex == 0 && !has_live_slot(span))
        return span->alloc_count == 0 || add_allocated(runtime, span);
    revive_for_finalizers(runtime, span);
    return true;
}

/* Clears the bits after the last slot. */
static void spans_cut(struct span *span)
{
    enum { WORDS = sizeof(span->live) / sizeof(span->live[0]) };
    span->live[span->nelems / 64] &= ((uint64_t)1 << (span->nelems % 64)) - 1;
    for (uint64_t i = span->nelems / 64 + 1; i < WORDS; i++)
        span->live[i] = 0;
}

enum span_state span_read_fields(const struct runtime *runtime, uint64_t address, struct span *ret)
{
    uint64_t state;
    if (!runtime_peek(runtime, address, LAYOUT_MSPAN_STATE, &state))
        return SPAN_MISSING;
    if (state != IN_USE)
        return SPAN_UNUSED;
    *ret = (struct span){0};
    return spans_read_fields(runtime, address, ret) ? SPAN_IN_USE : SPAN_MISSING;
}

enum span_state span_read_fields_of(const struct runtime *runtime, uint64_t index, struct span *ret)
{
    uint64_t address;
    return memory_read(runtime->memory, runtime->allspans.data + 8 * index, 8, &address)
               ? span_read_fields(runtime, address, ret)
               : SPAN_MISSING;
}

/* A span that has been swept has its live objects in allocBits; before that, only the marks say
 * which ones live. */
enum span_state span_read(struct runtime *runtime, uint64_t address, struct span *ret)
{
    const enum span_state state = span_read_fields(runtime, address, ret);
    if (state != SPAN_IN_USE)
        return state;
    ret->data = !runtime->memory->window || ret->size <= SPAN_WHOLE
                    ? memory_at(runtime->memory, ret->start, ret->size)
                    : NULL;
    const bool is_there =
        span_is_swept(ret) ? add_allocated(runtime, ret) : find_live_of_unswept(runtime, ret);
    spans_cut(ret);
    return is_there ? SPAN_IN_USE : SPAN_MISSING;
}

uint64_t span_manual_bytes(const struct runtime *runtime, uint64_t address)
{
    uint64_t state, pages;
    return runtime_peek(runtime, address, LAYOUT_MSPAN_STATE, &state) && state == MANUAL &&
                   runtime_peek(runtime, address, LAYOUT_MSPAN_NPAGES, &pages)
               ? pages * RUNTIME_PAGE_SIZE
               : 0;
}
