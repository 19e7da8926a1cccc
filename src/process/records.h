/*
 * records: the heap dump that runtime/debug.WriteHeapDump would have written, from outside.
 */
#ifndef PROCESS_RECORDS_H
#define PROCESS_RECORDS_H

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/process.h>
#include <go2heapsnapshot/progress.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/workers.h"
#include "process/give_back.h"
#include "process/process_memory.h"

/* A dump that is being written. */
struct records {
    struct runtime *runtime;
    int fd; /* unless there is a stream */
    struct g2h_error *(*stream)(void *context, const void *data, size_t size, uint64_t zeros);
    void *stream_context;
    uint64_t largest_array;       /* bytes that are written of an object without pointers; 0: all */
    uint64_t sample, sample_seed; /* as in struct g2h_process_options */
    struct sampled_spans *sampled; /* NULL: all objects are written */
    unsigned threads;
    const struct g2h_progress *progress; /* may be NULL */
    struct worker_buffer buffer;         /* bytes that have not been written yet */
    uint64_t names_left; /* bytes of names that may still be written: many may share a long one */
    uint64_t pcs_left;   /* pcs of the profile that may still be written */
    struct g2h_process_account *account;
    const struct counters *counters;
    const struct resident_spans *spans;
    struct g2h_memory *memory;       /* receives RSS and its parts; NULL: they are not wanted */
    struct type_masks masks;         /* valid while records_write() runs */
    const struct g2h_ending *ending; /* NULL: not known */
    struct g2h_ages *ages;           /* of the process so far; NULL: it was not watched */
};

/* Writes a whole dump to records->stream or, if that is NULL, to records->fd. Errors: those of the
 * stream; G2H_ERROR_SYSTEM: the file cannot be written; G2H_ERROR_DAMAGED: spans overlap, or allgs
 * has goroutines many times; G2H_ERROR_MEMORY. */
struct g2h_error *records_write(struct records *records);

/* ---- for the files of this module ---- */

/* Writes the contents of a buffer, and the zeros after them. */
struct g2h_error *records_put(const struct records *records, const struct worker_buffer *buffer);

/* Appends memory of the process at an address, whose bytes are contents. Large memory is written in
 * parts, so that no buffer has all of it, and without the pages that the process has never
 * touched. */
struct g2h_error *records_put_contents(struct worker_buffer *buffer, const struct memory *memory,
                                       uint64_t address, const uint8_t *contents, uint64_t size);

/* Memory of this size may have parts whose pointers are not listed, since the process has never
 * touched them. */
enum { RECORDS_LARGE = 1 << 20 };

/* Returns how many bytes of an object at an address have their pointers listed: the untouched end
 * of a large object does not, if it is more than half of it, except in the first page, which shows
 * what kind of memory it is. */
uint64_t records_listed(const struct memory *memory, uint64_t address, uint64_t size);

/* A larger buffer is written. */
enum { RECORDS_FLUSHED_AT = 4 << 20 };

/* Writes the contents of records->buffer, and empties it. */
struct g2h_error *records_flush(struct records *records);

/*
 * Write the goroutines, their frames, deferred functions and panics, and append the Ms to
 * records->buffer (goroutine_records.c). They follow the objects: begin prepares for it while all
 * of the heap is present, and keeps the parts of it that put will read. *ret of begin goes to
 * records_end_goroutines(), also after an error.
 */
struct goroutines;

struct g2h_error *records_begin_goroutines(struct records *records, struct release *release,
                                           struct goroutines **ret);

struct g2h_error *records_put_goroutines(struct goroutines *goroutines);

void records_end_goroutines(struct goroutines *goroutines);

/* Appends the profile to records->buffer: buckets, then samples. */
struct g2h_error *records_put_profile(struct records *records);

/* Append to records->buffer (spans.c): finalizers, including the queued ones; samples of the
 * profile; and, as other roots, objects that cleanups and weak pointers keep. */
struct g2h_error *records_put_finalizers(struct records *records);

struct g2h_error *records_put_samples(struct records *records);

struct g2h_error *records_put_kept(struct records *records);

/* Writes the facts about objects that were allocated in secret.Do. */
struct g2h_error *records_put_secrets(struct records *records);

/* ---- which objects a sample has (sampled_spans.c) ---- */

/* A span in use. The bits of its slots in struct sampled_spans begin with first_slot. */
struct sampled_span {
    uint64_t start, size, elemsize, first_slot;
    uint32_t index;         /* in allspans */
    uint16_t slots, living; /* living: slots that are objects */
    uint8_t spanclass;
    bool is_chosen; /* it is part of the sample: all its objects are read */
};

struct sampled_spans {
    VECTOR(struct sampled_span) spans; /* ascending by address */
    uint64_t *read;                    /* a bit per slot: its object is written */
};

/* Chooses the spans of a sample, and the objects that are read besides to find what holds theirs.
 * *ret goes to sampled_spans_deinit(), after an error, too. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *sampled_spans_choose(struct records *records, struct sampled_spans *ret);

/* Returns the span with this start, or NULL if it is not known. */
const struct sampled_span *sampled_spans_find(const struct sampled_spans *sampled, uint64_t start);

/* Writes FACT_SAMPLE. Errors: those of records_flush(). */
struct g2h_error *sampled_spans_put(struct records *records);

void sampled_spans_deinit(struct sampled_spans *sampled);

/* All of the following that return a bool return false if memory runs out. */

/* Subtracts bytes from names_left. Returns false if there are too few; then none are left. */
bool records_take_names(struct records *records, uint64_t size);

/* Appends a name of the program, or an empty name once too many have been written. */
bool records_put_name(struct records *records, struct g2h_bytes name);

/* Writes a number where there is space for the longest one. Returns the position after it. */
static inline uint8_t *put_at(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static inline bool put_numbers(struct worker_buffer *buffer, const uint64_t *values, size_t count)
{
    uint8_t *const start = (uint8_t *)worker_buffer_reserve(buffer, count * LONGEST_UVARINT);
    uint8_t *at = start;
    for (size_t i = 0; start && i < count; i++)
        at = put_at(at, values[i]);
    assert(as_size(at - start) <= count * LONGEST_UVARINT);
    buffer->size += as_size(at - start);
    return start != NULL;
}

static inline bool put_number(struct worker_buffer *buffer, uint64_t value)
{
    return put_numbers(buffer, &value, 1);
}

/* Appends numbers of a record: PUT_NUMBERS(buffer, tag, address, …). */
#define PUT_NUMBERS(buffer, ...) \
    put_numbers(buffer, (const uint64_t[]){__VA_ARGS__}, \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Appends a length and the bytes. */
static inline bool put_bytes(struct worker_buffer *buffer, struct g2h_bytes bytes)
{
    return put_number(buffer, bytes.size) &&
           worker_buffer_put(buffer, bytes.data, (size_t)bytes.size);
}

/* Appends a field that is a pointer. */
static inline bool put_field(struct worker_buffer *buffer, uint64_t offset)
{
    return PUT_NUMBERS(buffer, 1, offset);
}

#endif
