/*
 * records: the heap dump that runtime/debug.WriteHeapDump would have written, from outside.
 *
 * The same records in the same order (runtime/heapdump.go), without what the dumper takes for
 * objects at the ends of spans. docs/dump-formats.md has the format.
 */
#ifndef PROCESS_RECORDS_H
#define PROCESS_RECORDS_H

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/process.h>
#include <go2heapsnapshot/progress.h>

#include "base/workers.h"
#include "process/runtime.h"

/* A dump that is being written. */
struct records {
    struct runtime *runtime;
    int fd;
    unsigned threads;
    const struct g2h_progress *progress; /* may be NULL */
    struct worker_buffer buffer;         /* what has not been written yet */
    uint64_t names_left; /* bytes of names that may be written yet: many may have one long one */
    uint64_t pcs_left;   /* of the profile, the same */
    struct g2h_process_account *account;
};

/* Writes a whole dump to records->fd. Errors: G2H_ERROR_SYSTEM: the file; G2H_ERROR_MEMORY. */
struct g2h_error *records_write(struct records *records);

/* ---- for the files of this room ---- */

/* Writes what is in a buffer. */
struct g2h_error *records_put(int fd, const struct worker_buffer *buffer);

/* The same of records->buffer, which is empty then. */
struct g2h_error *records_flush(struct records *records);

/* The objects of all spans (objects.c), which a copy of a live process has no more then. */
struct g2h_error *records_put_objects(struct records *records);

/* The goroutines, their frames, deferred functions and panics, and the Ms (goroutines.c). They stay
 * in records->buffer. */
struct g2h_error *records_put_goroutines(struct records *records);

/* Finalizers, queued ones too; samples of the profile; as other roots, what cleanups and weak
 * pointers keep (specials.c). They stay in records->buffer. */
struct g2h_error *records_put_finalizers(struct records *records);
struct g2h_error *records_put_samples(struct records *records);
struct g2h_error *records_put_kept(struct records *records);

/* Each gives false where there is no memory. */

/* A name of the program, or an empty one once there have been too many. */
bool records_put_name(struct records *records, struct g2h_bytes name);

enum { LONGEST_NUMBER = 10 };

/* Puts a number where there is room for the longest one. Gives the place behind it. */
static inline uint8_t *put_at(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static inline bool put_numbers(struct worker_buffer *buffer, const uint64_t *values, size_t count)
{
    uint8_t *const start = (uint8_t *)worker_buffer_reserve(buffer, count * LONGEST_NUMBER);
    uint8_t *at = start;
    for (size_t i = 0; start && i < count; i++)
        at = put_at(at, values[i]);
    buffer->size += (size_t)(at - start);
    return start != NULL;
}

static inline bool put_number(struct worker_buffer *buffer, uint64_t value)
{
    return put_numbers(buffer, &value, 1);
}

/* A record's numbers: PUT(buffer, tag, address, …). */
#define PUT(buffer, ...) \
    put_numbers(buffer, (const uint64_t[]){__VA_ARGS__}, \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline bool put_raw(struct worker_buffer *buffer, const void *data, uint64_t size)
{
    char *at = worker_buffer_reserve(buffer, (size_t)size);
    if (!at)
        return false;
    if (size > 0) /* else there may be no data */
        memcpy(at, data, (size_t)size);
    buffer->size += (size_t)size;
    return true;
}

/* A length, and so many bytes. */
static inline bool put_bytes(struct worker_buffer *buffer, struct g2h_bytes bytes)
{
    return put_number(buffer, bytes.size) && put_raw(buffer, bytes.data, bytes.size);
}

/* A field that is a pointer. */
static inline bool put_field(struct worker_buffer *buffer, uint64_t offset)
{
    return PUT(buffer, 1, offset);
}

#endif
