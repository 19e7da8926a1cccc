/*
 * specials: records of the data that the runtime keeps beside objects (runtime.special): finalizers
 * and samples of the profile; and of the objects that specials keep alive, which WriteHeapDump
 * leaves out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "dump/dump_facts.h"
#include "dump/queued_cleanup.h"
#include "process/records.h"
#include "process/spans.h"

enum { WORD = 8 };

/* A walk over the specials of all spans. */
struct special_walk {
    struct records *records;
    bool (*put)(struct special_walk *walk, const struct span *span, const struct special *special);
    bool is_queued; /* visit the finalizers that sweeping will queue; false: the others */
};

/* Calls walk->put for each special of all spans. */
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

/* Returns whether the object of a special is dead. */
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
    return PUT(&walk->records->buffer,
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
           PUT(&walk->records->buffer, G2H_RECORD_ALLOCSAMPLE, span->start + special->offset,
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
        if (!PUT(&records->buffer, G2H_RECORD_QUEUEDFINALIZER,
                 runtime_field(runtime, entry, LAYOUT_FINALIZER_ARG), function, code,
                 runtime_field(runtime, entry, LAYOUT_FINALIZER_FINT),
                 runtime_field(runtime, entry, LAYOUT_FINALIZER_OT)))
            return false;
    }
    return true;
}

/* Writes the finalizers that wait to be run, from the runtime's list of blocks. */
static struct g2h_error *put_queued(struct records *records)
{
    enum { MOST_IN_BLOCK = 101, BLOCK = 4096 };
    struct runtime *runtime = records->runtime;
    uint64_t block = 0, left = runtime->memory->bytes / BLOCK + 1;
    if (runtime->allfin != 0)
        runtime_word(runtime, runtime->allfin, &block);
    for (; block != 0 && left > 0; left--) {
        const uint64_t count = runtime_field(runtime, block, LAYOUT_FIN_BLOCK_CNT);
        TRY_MEMORY(put_fin_block(records, block, count < MOST_IN_BLOCK ? count : MOST_IN_BLOCK));
        block = runtime_field(runtime, block, LAYOUT_FIN_BLOCK_ALLLINK);
    }
    runtime->missing += block != 0; /* the chain does not end */
    return NULL;
}

/* Writes a root that keeps an object, unless pointer is nil. Returns false if memory runs out. */
static bool put_root(struct worker_buffer *buffer, const char *description, uint64_t pointer)
{
    const struct g2h_bytes text = {(const uint8_t *)description, strlen(description)};
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

/* Writes what the cleanups that wait to be run keep alive, from the runtime's list of blocks. */
static struct g2h_error *put_queued_cleanups(struct records *records)
{
    struct runtime *runtime = records->runtime;
    const uint64_t most =
        (CLEANUP_BLOCK_SIZE - CLEANUP_BLOCK_CLEANUPS) / WORD / runtime_cleanup_words(runtime);
    uint64_t block = 0, left = runtime->memory->bytes / CLEANUP_BLOCK_SIZE + 1;
    if (runtime->cleanup_blocks != 0)
        runtime_word(runtime, runtime->cleanup_blocks, &block);
    for (; block != 0 && left > 0; left--) {
        uint64_t count = 0, next = 0;
        runtime_word(runtime, block + CLEANUP_BLOCK_N, &count);
        count &= UINT32_MAX;
        TRY_MEMORY(put_cleanup_block(records, block, count < most ? count : most));
        runtime_word(runtime, block + CLEANUP_BLOCK_ALLLINK, &next);
        block = next;
    }
    runtime->missing += block != 0; /* the chain does not end */
    return NULL;
}

/* In the order of the runtime's dumper: those that are set, those that are queued, and then those
 * that sweeping would queue. */
struct g2h_error *records_put_finalizers(struct records *records)
{
    struct special_walk walk = {records, put_finalizer, false};
    TRY(walk_specials(&walk));
    TRY(put_queued(records));
    walk.is_queued = true;
    return walk_specials(&walk);
}

/* ---- samples ---- */

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
    enum { SINCE_BOXES = 26 };
    const uint64_t fn = special + runtime_offset(runtime, LAYOUT_SPECIAL_CLEANUP_FN);
    uint64_t call = 0, function = 0, argument = 0;
    runtime_word(runtime, fn, &function);
    if (runtime->minor >= SINCE_BOXES) {
        runtime_word(runtime, fn - WORD, &call);
        runtime_word(runtime, fn + WORD, &argument);
    }
    return put_part(buffer, "cleanup", object, function) &&
           put_part(buffer, "cleanup's caller", object, call) &&
           put_part(buffer, "argument of a cleanup", object, argument);
}

/* Writes what a cleanup or a weak pointer keeps alive. Returns false if memory runs out. */
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

/* Writes the fact that secret.Do has allocated an object. */
static bool put_secret_fact(struct special_walk *walk, const struct span *span,
                            const struct special *special)
{
    return special->kind != SPECIAL_SECRET || is_dead(span, special) ||
           PUT(&walk->records->buffer, FACT_SECRET, span->start + special->offset);
}

struct g2h_error *records_put_secrets(struct records *records)
{
    struct special_walk walk = {records, put_secret_fact, false};
    return records->runtime->minor >= SECRETS_SINCE ? walk_specials(&walk) : NULL;
}

struct g2h_error *records_put_kept(struct records *records)
{
    struct special_walk walk = {records, put_kept, false};
    TRY(walk_specials(&walk));
    return put_queued_cleanups(records);
}
