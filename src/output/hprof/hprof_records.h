/*
 * hprof_records: the bytes of HPROF 1.0.2, as OpenJDK's heapDumper.cpp describes them: big-endian,
 * with identifiers of 4 bytes.
 *
 * A file is a header followed by records. The contents of the heap are sub-records within records
 * of one kind, heap dump segments. Each segment has its length in 32 bits.
 */
#ifndef OUTPUT_HPROF_HPROF_RECORDS_H
#define OUTPUT_HPROF_HPROF_RECORDS_H

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/workers.h"

enum record_tag {
    RECORD_STRING = 0x01,
    RECORD_LOAD_CLASS = 0x02,
    RECORD_STACK_FRAME = 0x04,
    RECORD_STACK_TRACE = 0x05,
    RECORD_HEAP_SEGMENT = 0x1c,
    RECORD_HEAP_END = 0x2c,
};

enum heap_tag {
    HEAP_ROOT_FRAME = 0x03,
    HEAP_ROOT_CLASS = 0x05,
    HEAP_ROOT_THREAD = 0x08,
    HEAP_CLASS = 0x20,
    HEAP_INSTANCE = 0x21,
    HEAP_OBJECTS = 0x22, /* an array of objects */
    HEAP_NUMBERS = 0x23, /* an array of numbers of one type */
};

enum field_type {
    TYPE_OF_OBJECT = 2,
    TYPE_OF_BOOL = 4,
    TYPE_OF_CHAR = 5,
    TYPE_OF_FLOAT = 6,
    TYPE_OF_DOUBLE = 7,
    TYPE_OF_BYTE = 8,
    TYPE_OF_SHORT = 9,
    TYPE_OF_INT = 10,
    TYPE_OF_LONG = 11,
};

/* The bytes that readers count for an object besides its fields, and for an array besides its
 * elements. Readers round sizes up to multiples of OBJECT_ALIGNMENT. */
enum { OBJECT_HEADER = 8, ARRAY_HEADER = 12, OBJECT_ALIGNMENT = 8 };

enum {
    ID_SIZE = 4,
    RECORD_HEADER = 9,
    INSTANCE_HEADER = 17,
    OBJECTS_HEADER = 17,
    NUMBERS_HEADER = 14,
    SEGMENT_MOST = 32 << 20 /* bytes in a segment, unless it is a single larger record */
};

static inline char *put_u1(char *at, uint32_t value)
{
    *at = (char)value;
    return at + 1;
}

static inline char *put_u2(char *at, uint32_t value)
{
    at[0] = (char)(value >> 8);
    at[1] = (char)value;
    return at + 2;
}

static inline char *put_u4(char *at, uint32_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

static inline char *put_u8(char *at, uint64_t value)
{
    return put_u4(put_u4(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static inline char *put_record(char *at, enum record_tag tag, uint32_t size)
{
    return put_u4(put_u4(put_u1(at, tag), 0), size);
}

static inline char *put_instance(char *at, uint32_t id, uint32_t class_id, uint32_t size)
{
    at = put_u4(put_u4(put_u1(at, HEAP_INSTANCE), id), 0);
    return put_u4(put_u4(at, class_id), size);
}

static inline char *put_objects(char *at, uint32_t id, uint32_t class_id, uint32_t count)
{
    at = put_u4(put_u4(put_u1(at, HEAP_OBJECTS), id), 0);
    return put_u4(put_u4(at, count), class_id);
}

/* Puts the head of an array of bytes, which follow it. */
static inline char *hprof_put_byte_array(char *at, uint32_t id, uint32_t count)
{
    at = put_u4(put_u4(put_u1(at, HEAP_NUMBERS), id), 0);
    return put_u1(put_u4(at, count), TYPE_OF_BYTE);
}

/* A heap dump segment that is being written to a buffer, from begin on. */
struct hprof_segment {
    struct worker_buffer *buffer;
    size_t begin;
    bool is_open;
};

static inline struct g2h_error *segment_open(struct hprof_segment *segment,
                                             struct worker_buffer *buffer)
{
    *segment = (struct hprof_segment){buffer, buffer->size, true};
    TRY_MEMORY(worker_buffer_reserve(buffer, RECORD_HEADER));
    buffer->size += RECORD_HEADER;
    return NULL;
}

/* Closes a segment; an empty one is removed. A closed segment may be closed again. */
static inline void segment_close(struct hprof_segment *segment)
{
    struct worker_buffer *buffer = segment->buffer;
    if (!segment->is_open)
        return;
    segment->is_open = false;
    const size_t size = buffer->size - segment->begin - RECORD_HEADER;
    if (size == 0)
        buffer->size = segment->begin;
    else
        put_record(buffer->data + segment->begin, RECORD_HEAP_SEGMENT, (uint32_t)size);
}

/* Makes space for a record of size bytes, in another segment if this one would become too large.
 * *ret is where the record begins; the buffer ends after it. Between two segments the buffer is
 * flushed if it is that of a task. */
static inline struct g2h_error *segment_reserve(struct hprof_segment *segment, size_t size,
                                                char **ret)
{
    struct worker_buffer *buffer = segment->buffer;
    if (buffer->size - segment->begin + size > SEGMENT_MOST + RECORD_HEADER) {
        segment_close(segment);
        if (buffer->turn)
            TRY(worker_buffer_flush(buffer));
        TRY(segment_open(segment, buffer));
    }
    *ret = buffer->capacity - buffer->size >= size ? buffer->data + buffer->size
                                                   : worker_buffer_reserve(buffer, size);
    TRY_MEMORY(*ret);
    buffer->size += size;
    return NULL;
}

#endif
