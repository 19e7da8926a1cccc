/*
 * spans: which slots of a span are live objects, and the specials of its objects; see spans.h. The
 * runtime sweeps spans some time after a collection: until then the marks (gcmarkBits) say what
 * lives, afterwards allocBits do, and new objects are those after freeindex. span_read() decides by
 * the span's sweepgen. The second part writes what the runtime keeps beside objects in lists of
 * specials: finalizers, cleanups, weak pointers, samples of the profile.
 */
#include "process/spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "dump/dump_facts.h"
#include "process/records.h"

/* ==== which slots are objects ==== */

/* _KindSpecialSecret (runtime/secret.go), and the release that has it. */
enum { SPECIAL_SECRET = 10, SECRETS_SINCE = 26 };

/* Returns whether the object of a special is dead, and the sweep of its span will keep it just for
 * its finalizer. The span must be from span_read(). False for a special beyond the slots. */
static inline bool span_revives(const struct span *span, const struct special *special)
{
    assert(span->elemsize > 0);
    const uint64_t slot = special->offset / span->elemsize;
    return slot < span->nelems && bits_have(span->revived, slot);
}

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
    for (size_t i = 0; i < COUNT_OF(fields); i++)
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
    span->spanclass = (uint8_t) class; /* twice the size class, and 1 if without pointers */
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

/* Returns whether slots of this size, in a span of this size, have marks in the span itself until
 * it is swept, and where. */
bool span_has_inline_marks(const struct runtime *runtime, uint64_t elemsize, uint64_t size,
                           uint64_t *ret_offset)
{
    *ret_offset = INLINE_MARKS_AT;
    return runtime->has_inline_marks && elemsize >= LEAST_INLINE && elemsize <= MOST_INLINE &&
           size == RUNTIME_PAGE_SIZE;
}

/* Adds the marked slots to the live ones: those that the collector has found, in gcmarkBits and,
 * with Green Tea, in the span itself. Returns false if they are missing. */
static bool add_marks(const struct runtime *runtime, struct span *span)
{
    uint64_t offset;
    const uint64_t bytes = (span->nelems + 7) / 8;
    return add_bits(runtime, span, span->mark_bits, bytes) &&
           (!span_has_inline_marks(runtime, span->elemsize, span->size, &offset) ||
            add_bits(runtime, span, span->start + offset, MIN(bytes, INLINE_MARKS)));
}

/* Adds the allocated slots to the live ones: those before freeindex, and those with a bit after it.
 * Returns false if the bits are missing. */
static bool add_allocated(const struct runtime *runtime, struct span *span)
{
    if (!add_bits(runtime, span, span->alloc_bits, (span->nelems + 7) / 8))
        return false;
    const uint64_t before = MIN(span->freeindex, span->nelems);
    for (uint64_t i = 0; i < before / 64; i++)
        span->live[i] = UINT64_MAX;
    span->live[before / 64] |= (UINT64_C(1) << (before % 64)) - 1;
    return true;
}

/* Returns whether any slot of a span is live. */
static bool has_live_slot(const struct span *span)
{
    for (uint64_t i = 0; i < span->nelems; i++)
        if (span_is_live(span, i))
            return true;
    return false;
}

/* Reads a special, and finds the next one. Returns false at the end of the chain (address is 0), or
 * if the special is missing or one too many. Counts all specials that are read, since a damaged
 * chain may be circular; and those that are missing, or too many, because a root may be among those
 * after them. Several threads count. */
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

/* These functions return the release's numbers of the kinds of specials that are written (mheap.go:
 * _KindSpecial…). */
static uint64_t special_finalizer(const struct runtime *runtime)
{
    return runtime->minor >= 25 ? 2 : 1;
}

static uint64_t special_profile(const struct runtime *runtime)
{
    if (runtime->minor >= 25)
        return 4;
    return runtime->minor >= 23 ? 3 : 2;
}

static uint64_t special_weak_handle(const struct runtime *runtime)
{
    return runtime->minor >= 25 ? 3 : 2;
}

static uint64_t special_cleanup(const struct runtime *runtime)
{
    return runtime->minor >= 25 ? 7 : 6;
}

/* Finds the slots that secret.Do has allocated: the bits of *ret. Returns whether there are any; if
 * not, *ret may not be set. Such an object has a slot of its own, also if it is tiny. */
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

/* Makes dead objects with finalizers live again, and notes them in revived: they stay until the
 * finalizer has run. A special whose offset is beyond the span's slots is left out. */
static void revive_for_finalizers(struct runtime *runtime, struct span *span)
{
    struct special special;
    uint64_t next;
    for (uint64_t at = span->specials; special_read(runtime, at, &special, &next); at = next) {
        const uint64_t slot = special.offset / span->elemsize;
        const uint64_t bit = UINT64_C(1) << (slot % 64);
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
    enum { WORDS = COUNT_OF(span->live) };
    span->live[span->nelems / 64] &= (UINT64_C(1) << (span->nelems % 64)) - 1;
    for (uint64_t i = span->nelems / 64 + 1; i < WORDS; i++)
        span->live[i] = 0;
}

/* Reads a span without its live slots. SPAN_MISSING if something cannot be read, SPAN_UNUSED if the
 * span is not in use for objects. */
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

/* Reads the fields of a span by its index in allspans; the results are those of
 * span_read_fields(). */
enum span_state span_read_fields_of(const struct runtime *runtime, uint64_t index, struct span *ret)
{
    uint64_t address;
    return memory_read(runtime->memory, runtime->allspans.data + 8 * index, 8, &address)
               ? span_read_fields(runtime, address, ret)
               : SPAN_MISSING;
}

/* Reads a span; the results are those of span_read_fields(), and SPAN_MISSING if its bits are not
 * there. A span that has been swept has its live objects in allocBits; before that, only the marks
 * say which ones live. */
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

/* Reads which slots the last collection has marked. Of a span that has been swept, allocBits are
 * the marks. While a thread sweeps a span it is not known where they are: then, and if the bits are
 * missing, returns false. *ret_address is where the bits are in the process. */
bool span_read_marks(const struct runtime *runtime, const struct span *span,
                     uint64_t ret[SPAN_MOST_SLOTS / 64 + 1], uint64_t *ret_address)
{
    struct span marked = *span;
    memset(marked.live, 0, sizeof(marked.live));
    *ret_address = span_is_swept(span) ? span->alloc_bits : span->mark_bits;
    if (span->swept == BEING_SWEPT ||
        !(span_is_swept(span) ? add_bits(runtime, &marked, span->alloc_bits, (span->nelems + 7) / 8)
                              : add_marks(runtime, &marked)))
        return false;
    spans_cut(&marked);
    memcpy(ret, marked.live, sizeof(marked.live));
    return true;
}

/* Returns the bytes of a span that is in use, but not for objects: for stacks, or by the runtime. 0
 * for other spans, and if the mspan is missing. */
uint64_t span_manual_bytes(const struct runtime *runtime, uint64_t address)
{
    uint64_t state, pages;
    return runtime_peek(runtime, address, LAYOUT_MSPAN_STATE, &state) && state == MANUAL &&
                   runtime_peek(runtime, address, LAYOUT_MSPAN_NPAGES, &pages)
               ? pages * RUNTIME_PAGE_SIZE
               : 0;
}

/* ==== what the runtime keeps beside objects: finalizers, samples of the profile ==== */

enum { WORD = 8 };

/* A walk over the specials of all spans. */
struct special_walk {
    struct records *records;
    bool (*put)(struct special_walk *walk, const struct span *span, const struct special *special);
    bool is_queued; /* visit the finalizers that sweeping will queue; false: the others */
};

/* Calls walk->put for each special of all spans in use. */
static struct g2h_error *walk_specials(struct special_walk *walk)
{
    struct runtime *runtime = walk->records->runtime;
    struct special special;
    struct span span;
    for (uint64_t i = 0; i < runtime->allspans.count; i++) {
        uint64_t next;
        if (span_read_fields_of(runtime, i, &span) != SPAN_IN_USE || span.specials == 0 ||
            span_read(runtime, span.address, &span) != SPAN_IN_USE)
            continue;
        for (uint64_t at = span.specials; special_read(runtime, at, &special, &next); at = next)
            TRY_MEMORY(walk->put(walk, &span, &special));
    }
    return NULL;
}

/* Returns whether the object of a special is dead, or beyond the span's slots. */
static bool is_dead(const struct span *span, const struct special *special)
{
    const uint64_t slot = special->offset / span->elemsize;
    return slot >= span->nelems || !span_is_live(span, slot);
}

/* Writes a finalizer, if it is of the kind that this walk visits. Returns false if memory runs
 * out. */
static bool put_finalizer(struct special_walk *walk, const struct span *span,
                          const struct special *special)
{
    struct runtime *runtime = walk->records->runtime;
    uint64_t code = 0;
    if (special->kind != special_finalizer(runtime) ||
        span_revives(span, special) != walk->is_queued)
        return true;
    const uint64_t function = runtime_field(runtime, special->address, LAYOUT_SPECIALFINALIZER_FN);
    runtime_word(runtime, function, &code);
    return PUT_NUMBERS(&walk->records->buffer,
                       walk->is_queued ? G2H_RECORD_QUEUEDFINALIZER : G2H_RECORD_FINALIZER,
                       span->start + special->offset, function, code,
                       runtime_field(runtime, special->address, LAYOUT_SPECIALFINALIZER_FINT),
                       runtime_field(runtime, special->address, LAYOUT_SPECIALFINALIZER_OT));
}

/* Writes a sample of the profile, unless its object is dead: sweeping discards the samples of dead
 * objects. Returns false if memory runs out. */
static bool put_sample(struct special_walk *walk, const struct span *span,
                       const struct special *special)
{
    struct runtime *runtime = walk->records->runtime;
    return special->kind != special_profile(runtime) || is_dead(span, special) ||
           PUT_NUMBERS(&walk->records->buffer, G2H_RECORD_ALLOCSAMPLE,
                       span->start + special->offset,
                       runtime_field(runtime, special->address, LAYOUT_SPECIALPROFILE_B));
}

/* Writes the finalizers of a block of queued ones (runtime.finBlock). Returns false if memory runs
 * out. */
static bool put_fin_block(struct records *records, uint64_t block, uint64_t count)
{
    struct runtime *runtime = records->runtime;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t entry = block + runtime_offset(runtime, LAYOUT_FIN_BLOCK_FIN) +
                               i * runtime_size(runtime, LAYOUT_FINALIZER),
                       function = runtime_field(runtime, entry, LAYOUT_FINALIZER_FN);
        uint64_t code = 0;
        runtime_word(runtime, function, &code);
        if (!PUT_NUMBERS(&records->buffer, G2H_RECORD_QUEUEDFINALIZER,
                         runtime_field(runtime, entry, LAYOUT_FINALIZER_ARG), function, code,
                         runtime_field(runtime, entry, LAYOUT_FINALIZER_FINT),
                         runtime_field(runtime, entry, LAYOUT_FINALIZER_OT)))
            return false;
    }
    return true;
}

/* Writes the finalizers that wait to be run, from the runtime's list of blocks. left ends a list
 * that damage has made a circle. */
static struct g2h_error *put_queued(struct records *records)
{
    struct runtime *runtime = records->runtime;
    uint64_t block = 0;
    uint64_t left = runtime->memory->bytes / RUNTIME_FIN_BLOCK_SIZE + 1;
    if (runtime->allfin != 0)
        runtime_word(runtime, runtime->allfin, &block);
    for (; block != 0 && left > 0; left--) {
        const uint64_t count = runtime_field(runtime, block, LAYOUT_FIN_BLOCK_CNT);
        TRY_MEMORY(put_fin_block(records, block, MIN(count, RUNTIME_FIN_BLOCK_ENTRIES)));
        block = runtime_field(runtime, block, LAYOUT_FIN_BLOCK_ALLLINK);
    }
    runtime->missing += block != 0; /* the chain does not end */
    return NULL;
}

/* Writes a root (a record of "other roots") that keeps the object at pointer, unless that is nil.
 * Returns false if memory runs out. */
static bool put_root(struct worker_buffer *buffer, const char *description, uint64_t pointer)
{
    const struct g2h_bytes text = bytes_at(description, strlen(description));
    return pointer == 0 || (put_number(buffer, G2H_RECORD_OTHERROOT) && put_bytes(buffer, text) &&
                            put_number(buffer, pointer));
}

/* Writes the objects that the queued cleanups in a block keep alive. Returns false if memory runs
 * out. */
static bool put_cleanup_block(struct records *records, uint64_t block, uint64_t count)
{
    struct runtime *runtime = records->runtime;
    const uint64_t words = runtime_cleanup_words(runtime);
    for (uint64_t i = 0; i < count * words; i++) {
        uint64_t pointer = 0;
        runtime_word(runtime, block + CLEANUP_BLOCK_CLEANUPS + i * WORD, &pointer);
        const enum queued_part part =
            words == 1 ? QUEUED_FUNCTION : (enum queued_part)(i % words % QUEUED_PARTS);
        if (!put_root(&records->buffer, queued_description(part), pointer))
            return false;
    }
    return true;
}

/* Writes what the cleanups that wait to be run keep alive, from the runtime's list of blocks. left
 * as in put_queued(). */
static struct g2h_error *put_queued_cleanups(struct records *records)
{
    struct runtime *runtime = records->runtime;
    const uint64_t most =
        (CLEANUP_BLOCK_SIZE - CLEANUP_BLOCK_CLEANUPS) / WORD / runtime_cleanup_words(runtime);
    uint64_t block = 0;
    uint64_t left = runtime->memory->bytes / CLEANUP_BLOCK_SIZE + 1;
    if (runtime->cleanup_blocks != 0)
        runtime_word(runtime, runtime->cleanup_blocks, &block);
    for (; block != 0 && left > 0; left--) {
        uint64_t count = 0, next = 0;
        runtime_word(runtime, block + CLEANUP_BLOCK_N, &count);
        count &= UINT32_MAX;
        TRY_MEMORY(put_cleanup_block(records, block, MIN(count, most)));
        runtime_word(runtime, block + CLEANUP_BLOCK_ALLLINK, &next);
        block = next;
    }
    runtime->missing += block != 0; /* the chain does not end */
    return NULL;
}

/* Writes the finalizers. In the order of the runtime's dumper: those that are set, those that are
 * queued, and then those that sweeping would queue. */
struct g2h_error *records_put_finalizers(struct records *records)
{
    struct special_walk walk = {records, put_finalizer, false};
    TRY(walk_specials(&walk));
    TRY(put_queued(records));
    walk.is_queued = true;
    return walk_specials(&walk);
}

/* Writes the samples of the memory profile. */
struct g2h_error *records_put_samples(struct records *records)
{
    struct special_walk walk = {records, put_sample, false};
    return walk_specials(&walk);
}

/* ---- objects that cleanups and weak pointers keep ---- */

/* Writes a root that keeps pointer for a cleanup of the object at an address. Returns false if
 * memory runs out. */
static bool put_part(struct worker_buffer *buffer, const char *part, uint64_t object,
                     uint64_t pointer)
{
    char description[64];
    snprintf(description, sizeof(description), "%s of 0x%" PRIx64, part, object);
    return put_root(buffer, description, pointer);
}

/* Writes the objects that a cleanup of an object keeps alive: its function, a closure; since Go
 * 1.26 also the adapter that calls the function, and the box of its argument. Returns false if
 * memory runs out. */
static bool put_cleanup(struct worker_buffer *buffer, struct runtime *runtime, uint64_t special,
                        uint64_t object)
{
    const uint64_t fn = special + runtime_offset(runtime, LAYOUT_SPECIAL_CLEANUP_FN);
    uint64_t call = 0, function = 0, argument = 0;
    runtime_word(runtime, fn, &function);
    if (runtime->minor >= CLEANUP_BOXES_SINCE) {
        runtime_word(runtime, fn - WORD, &call);
        runtime_word(runtime, fn + WORD, &argument);
    }
    return put_part(buffer, "cleanup", object, function) &&
           put_part(buffer, "cleanup's caller", object, call) &&
           put_part(buffer, "argument of a cleanup", object, argument);
}

/* Writes what a cleanup or a weak pointer keeps alive; nothing for specials of other kinds, and for
 * handles of objects that are dead. Returns false if memory runs out. */
static bool put_kept(struct special_walk *walk, const struct span *span,
                     const struct special *special)
{
    struct runtime *runtime = walk->records->runtime;
    struct worker_buffer *buffer = &walk->records->buffer;
    if (runtime_has(runtime, LAYOUT_SPECIAL_CLEANUP_FN) &&
        special->kind == special_cleanup(runtime))
        return put_cleanup(buffer, runtime, special->address, span->start + special->offset);
    if (!runtime_has(runtime, LAYOUT_SPECIAL_WEAK_HANDLE_HANDLE) ||
        special->kind != special_weak_handle(runtime) || is_dead(span, special))
        return true;
    return put_root(buffer, "weak handle",
                    runtime_field(runtime, special->address, LAYOUT_SPECIAL_WEAK_HANDLE_HANDLE));
}

/* Writes the fact that secret.Do has allocated an object. Returns false if memory runs out. */
static bool put_secret_fact(struct special_walk *walk, const struct span *span,
                            const struct special *special)
{
    return special->kind != SPECIAL_SECRET || is_dead(span, special) ||
           PUT_NUMBERS(&walk->records->buffer, FACT_SECRET, span->start + special->offset);
}

/* Writes the facts about objects that were allocated in secret.Do. */
struct g2h_error *records_put_secrets(struct records *records)
{
    struct special_walk walk = {records, put_secret_fact, false};
    return records->runtime->minor >= SECRETS_SINCE ? walk_specials(&walk) : NULL;
}

/* Writes the objects that cleanups and weak pointers keep. */
struct g2h_error *records_put_kept(struct records *records)
{
    struct special_walk walk = {records, put_kept, false};
    TRY(walk_specials(&walk));
    return put_queued_cleanups(records);
}
