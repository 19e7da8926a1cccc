/*
 * object_records: the slots of all spans that are objects, with their contents and pointers.
 *
 * Each thread takes dozens of spans at a time; the records are written in the order of allspans.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/scope.h"
#include "process/heap_bits.h"
#include "process/records.h"

/* The number of spans in a task; how many words of an element are listed although they are
 * untouched. */
enum { SPANS_PER_TASK = 64, MOST_OF_ELEMENT = 1 << 16 };

/* An mspan has at least this many bytes in all releases. */
enum { LEAST_MSPAN = 144 };

struct object_records_work {
    struct records *records;
    struct heap_bits *bits;              /* by worker */
    struct g2h_process_account *account; /* by worker */
    struct release *release;             /* of spans that have been written */
    uint64_t taken;                      /* bytes of objects and mspans so far, of all threads */
};

struct span_work {
    const struct span *span;
    struct runtime *runtime;
    struct heap_bits *bits;
    struct g2h_process_account *account;
    struct worker_buffer *buffer;
};

/* Returns count bits of a mask, at most 64, from a word on. They may begin within a byte, and so be
 * spread over nine. */
static uint64_t bits_from(const struct heap_mask *mask, uint64_t word, uint64_t count)
{
    const uint64_t first = mask->first + word, bytes = (first % 8 + count + 7) / 8;
    const uint8_t *at = mask->bits + first / 8;
    uint64_t bits = memory_number(at, bytes < 8 ? (unsigned)bytes : 8) >> (first % 8);
    if (bytes > 8)
        bits |= (uint64_t)at[8] << (64 - first % 8);
    return bits & (count < 64 ? ((uint64_t)1 << count) - 1 : UINT64_MAX);
}

/* Writes the fields of one repetition of a mask, which begins at word first. Returns false if
 * memory runs out. */
static bool put_repetition(struct worker_buffer *buffer, const struct heap_mask *mask,
                           uint64_t first, uint64_t words)
{
    enum { AT_A_TIME = 64 };
    const uint64_t end = mask->words < words - first ? mask->words : words - first;
    for (uint64_t i = 0; i < end; i += AT_A_TIME) {
        uint8_t *at =
            (uint8_t *)worker_buffer_reserve(buffer, (size_t)AT_A_TIME * (1 + LONGEST_UVARINT));
        if (!at)
            return false;
        const uint8_t *start = at;
        for (uint64_t bits = bits_from(mask, i, end - i < AT_A_TIME ? end - i : AT_A_TIME);
             bits != 0; bits &= bits - 1) {
            *at++ = 1; /* a pointer */
            at = put_at(at, (first + i + (uint64_t)__builtin_ctzll(bits)) * 8);
        }
        buffer->size += (size_t)(at - start);
    }
    return true;
}

/* Writes the fields of an object: a type's mask is repeated for each element of an array. Returns
 * false if memory runs out. */
static bool put_fields(struct worker_buffer *buffer, const struct heap_mask *mask, uint64_t words)
{
    for (uint64_t first = mask->offset; mask->words > 0 && first < words; first += mask->period) {
        if (!put_repetition(buffer, mask, first, words))
            return false;
        if (mask->period == 0)
            break;
    }
    return put_number(buffer, 0);
}

/* ---- objects that were allocated in secret.Do ---- */

/* Returns whether the collector takes a word of an object for a pointer. */
static bool is_pointer(const struct heap_mask *mask, uint64_t word)
{
    if (word < mask->offset)
        return false;
    const uint64_t in =
        mask->period > 0 ? (word - mask->offset) % mask->period : word - mask->offset;
    return in < mask->words && bits_from(mask, in, 1) != 0;
}

/* Returns a word of an object as it may be shown: pointers, and addresses of types and code, say
 * what the object refers to, which the process's memory outside of it says, too. */
static uint64_t shown_word(const struct runtime *runtime, const struct heap_mask *mask,
                           uint64_t word, uint64_t value)
{
    const bool is_static = (value >= runtime->types && value < runtime->etypes) ||
                           (value >= runtime->text && value < runtime->etext);
    return is_static || (is_pointer(mask, word) && memory_range_at(runtime->memory, value)) ? value
                                                                                            : 0;
}

/* Writes the contents of an object that was allocated in secret.Do, of which only pointers may be
 * shown: instead of other contents "[secret][secret]…" or, in an object with pointers, whose
 * numbers may be lengths, zeros. */
static struct g2h_error *put_secret(const struct span_work *work, uint64_t address,
                                    const struct heap_mask *mask)
{
    static const char text[8] = "[secret]";
    const struct runtime *runtime = work->bits->runtime;
    uint64_t value;
    for (uint64_t word = 0; word < work->span->elemsize / 8; word++) {
        if (work->buffer->size >= RECORDS_FLUSHED_AT)
            TRY(worker_buffer_flush(work->buffer));
        if (mask->words > 0) {
            if (!memory_read(runtime->memory, address + word * 8, 8, &value))
                value = 0;
            value = shown_word(runtime, mask, word, value);
        } else {
            memcpy(&value, text, sizeof(value));
        }
        TRY_MEMORY(worker_buffer_put(work->buffer, &value, sizeof(value)));
    }
    return NULL;
}

/* Writes the record of an object, with its contents and the words that the collector takes for
 * pointers. */
static struct g2h_error *put_object(const struct span_work *work, uint64_t address, bool is_secret)
{
    const struct memory *memory = work->bits->runtime->memory;
    const uint64_t size = work->span->elemsize;
    const uint8_t *contents =
        memory->window && size > SPAN_WHOLE
            ? memory_place(memory, address, size)
            : span_bytes(work->span, memory, address - work->span->start, size);
    struct heap_mask mask;
    if (!contents) {
        work->account->objects_missing++;
        work->account->missing_bytes += size;
        return NULL;
    }
    work->account->objects++;
    work->account->object_bytes += size;
    const uint64_t listed = records_listed(memory, address, size);
    TRY_MEMORY(heap_bits_of(work->bits, work->span, address, listed, &mask));
    const uint64_t element = mask.offset + mask.period, /* the first one identifies the type */
        most = listed / 8 > element || element > MOST_OF_ELEMENT ? listed / 8 : element;
    TRY_MEMORY(PUT(work->buffer, G2H_RECORD_OBJECT, address, size));
    TRY(is_secret ? put_secret(work, address, &mask)
                  : records_put_contents(work->buffer, memory, address, contents, size));
    TRY_MEMORY(put_fields(work->buffer, &mask, most < size / 8 ? most : size / 8));
    return NULL;
}

/* Writes the live objects of a span, and counts how they compare with its own count. */
static struct g2h_error *put_span(const struct span_work *work)
{
    const struct span *span = work->span;
    uint64_t count = 0, secrets[SPAN_MOST_SLOTS / 64 + 1];
    const bool has_secrets = span_secrets(work->runtime, span, secrets);
    for (uint64_t i = 0; i < span->nelems; i++) {
        if (!span_is_live(span, i))
            continue;
        count++;
        TRY(put_object(work, span->start + i * span->elemsize,
                       has_secrets && bits_have(secrets, i)));
        if (work->buffer->size >= RECORDS_FLUSHED_AT)
            TRY(worker_buffer_flush(work->buffer));
    }
    work->account->spans++;
    work->account->span_bytes += span->size;
    work->account->spans_unswept += !span_is_swept(span);
    work->account->spans_miscounted += span_is_swept(span) && count != span->alloc_count;
    return NULL;
}

/* Counts bytes of objects and mspans. Spans do not overlap, so more bytes than the process's memory
 * has are an error. */
static struct g2h_error *take_bytes(struct object_records_work *work, uint64_t size)
{
    const struct process *process = work->records->runtime->process;
    const uint64_t most = process->memory.bytes;
    return __atomic_add_fetch(&work->taken, size, __ATOMIC_RELAXED) <= most
               ? NULL
               : error_create(G2H_ERROR_DAMAGED,
                              "%s: runtime.mheap_.allspans has spans that overlap", process->name);
}

/* Reports the bytes that all threads have written so far. */
static void update_progress(struct object_records_work *work)
{
    const struct g2h_progress *progress = work->records->progress;
    if (progress)
        progress->update(progress->context, "dumping",
                         __atomic_load_n(&work->taken, __ATOMIC_RELAXED),
                         work->records->runtime->memory->bytes, 0);
}

/* Writes the objects of a task's spans to the worker's buffer, and returns their memory. */
static struct g2h_error *put_spans(void *context, size_t task, unsigned worker,
                                   struct worker_buffer *buffer)
{
    struct object_records_work *work = context;
    struct runtime *runtime = work->records->runtime;
    const uint64_t first = (uint64_t)task * SPANS_PER_TASK, count = runtime->allspans.count;
    struct span span;
    const struct span_work span_work = {&span, runtime, &work->bits[worker], &work->account[worker],
                                        buffer};
    if (worker == 0) /* the caller's thread */
        update_progress(work);
    for (uint64_t i = first; i < first + SPANS_PER_TASK && i < count; i++) {
        uint64_t address;
        const enum span_state state =
            memory_read(runtime->memory, runtime->allspans.data + 8 * i, 8, &address)
                ? span_read(runtime, address, &span)
                : SPAN_MISSING;
        work->account[worker].spans_missing += state == SPAN_MISSING;
        if (state == SPAN_UNUSED)
            work->account[worker].manual_bytes += span_manual_bytes(runtime, address);
        if (state != SPAN_IN_USE)
            continue;
        const uint64_t before = work->account[worker].object_bytes;
        TRY(put_span(&span_work));
        TRY(take_bytes(work, work->account[worker].object_bytes - before + LEAST_MSPAN));
        release_span(work->release, &span);
    }
    return NULL;
}

static struct g2h_error *write_spans(void *context, const struct worker_buffer *buffer)
{
    const struct object_records_work *work = context;
    return records_put(work->records->fd, buffer);
}

/* Adds up what all threads have counted. */
static void object_records_sum_up(const struct object_records_work *work)
{
    struct g2h_process_account *sum = work->records->account;
    for (unsigned i = 0; i < work->records->threads; i++) {
        const struct g2h_process_account *part = &work->account[i];
        sum->spans += part->spans;
        sum->span_bytes += part->span_bytes;
        sum->manual_bytes += part->manual_bytes;
        sum->spans_unswept += part->spans_unswept;
        sum->spans_missing += part->spans_missing;
        sum->spans_miscounted += part->spans_miscounted;
        sum->objects += part->objects;
        sum->object_bytes += part->object_bytes;
        sum->objects_missing += part->objects_missing;
        sum->missing_bytes += part->missing_bytes;
        sum->masks_missing += work->bits[i].missing;
        heap_bits_deinit(&work->bits[i]);
    }
}

struct g2h_error *records_put_objects(struct records *records, struct release *release)
{
    const struct runtime *runtime = records->runtime;
    const size_t tasks = (size_t)(runtime->allspans.count / SPANS_PER_TASK + 1);
    _cleanup_free_ struct heap_bits *bits = calloc(records->threads, sizeof(*bits));
    _cleanup_free_ struct g2h_process_account *account = calloc(records->threads, sizeof(*account));
    TRY_MEMORY(bits && account);
    struct object_records_work work = {
        .records = records, .bits = bits, .account = account, .release = release};
    for (unsigned i = 0; i < records->threads; i++) {
        bits[i].runtime = runtime;
        bits[i].masks = &records->masks;
    }
    struct g2h_error *error =
        workers_run_ordered(records->threads, tasks, put_spans, NULL, write_spans, &work);
    object_records_sum_up(&work);
    return error;
}
