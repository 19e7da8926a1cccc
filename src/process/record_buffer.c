/*
 * record_buffer: collects the bytes of records on their way to the file; see records.h. The total
 * of names is limited, since damaged memory may lead to the same name again and again; memory of
 * the process is written in parts, without pages that were never touched.
 */
#include "base/error.h"
#include "base/ranges.h"
#include "process/records.h"

/* Writes to the stream of the records if they have one, else to the temporary file; the zeros
 * after the data are skipped in the file, not written. Errors: those of the stream;
 * G2H_ERROR_SYSTEM: the file cannot be written. */
struct g2h_error *records_put(const struct records *records, const struct worker_buffer *buffer)
{
    if (records->stream)
        return records->stream(records->stream_context, buffer->data, buffer->size, buffer->zeros);
    int error = sparse_write(records->fd, buffer->data, buffer->size);
    if (error == 0 && buffer->zeros > 0)
        error = sparse_skip(records->fd, buffer->zeros);
    return error != 0
               ? error_system(error,
                              "cannot write a temporary file (set TMPDIR to where there is room)")
               : NULL;
}

/* Writes the contents of records->buffer, and empties it. */
struct g2h_error *records_flush(struct records *records)
{
    TRY(records_put(records, &records->buffer));
    records->buffer.size = 0;
    return NULL;
}

/* Subtracts bytes from names_left. Returns false if there are too few; then none are left. */
bool records_take_names(struct records *records, uint64_t size)
{
    const bool can = size <= records->names_left;
    records->names_left = can ? records->names_left - size : 0;
    return can;
}

/* Appends a name of the program, or an empty name once too many have been written. Returns false if
 * memory runs out. */
bool records_put_name(struct records *records, struct g2h_bytes name)
{
    return records_take_names(records, name.size) ? put_bytes(&records->buffer, name)
                                                  : put_number(&records->buffer, 0);
}

/* ---- memory ---- */

/* Writes bytes in parts, none of which is too large for a buffer. */
static struct g2h_error *put_parts(struct worker_buffer *buffer, const uint8_t *data, uint64_t size)
{
    while (size > 0) {
        const uint64_t part = MIN(size, RECORDS_FLUSHED_AT);
        TRY_MEMORY(worker_buffer_put(buffer, data, (size_t)part));
        data += part;
        size -= part;
        if (buffer->size >= RECORDS_FLUSHED_AT)
            TRY(worker_buffer_flush(buffer));
    }
    return NULL;
}

/* Writes bytes of the process. Through a window, large memory is read in pieces, which are dropped
 * at once. */
static struct g2h_error *put_bytes_of(struct worker_buffer *buffer, const struct memory *memory,
                                      uint64_t address, const uint8_t *data, uint64_t size)
{
    if (!memory->window || size <= SPAN_WHOLE)
        return memory_fill(memory, address, size, data)
                   ? put_parts(buffer, data, size)
                   : error_create(G2H_ERROR_SYSTEM, "memory at 0x%llx cannot be read",
                                  (unsigned long long)address);
    for (uint64_t at = 0, part; at < size; at += part) {
        part = MIN(size - at, SPAN_WHOLE);
        TRY(put_bytes_of(buffer, memory, address + at, data + at, part));
        memory_drop(memory, part, data + at);
    }
    return NULL;
}

/* Appends memory of the process to the dump. Memory that was never written to is zeros: long holes
 * are skipped, short ones written. */
struct g2h_error *records_put_contents(struct worker_buffer *buffer, const struct memory *memory,
                                       uint64_t address, const uint8_t *contents, uint64_t size)
{
    const uint64_t end = address + size;
    struct range hole;
    if (size < LEAST_HOLE)
        return put_parts(buffer, contents, size);
    for (uint64_t at = address; at < end; at = hole.end) {
        (void)ranges_next(&memory->untouched, at, end, &hole);
        TRY(put_bytes_of(buffer, memory, at, contents + (at - address), hole.begin - at));
        if (hole.end - hole.begin >= LEAST_HOLE)
            TRY(worker_buffer_flush_zeros(buffer, hole.end - hole.begin));
        else
            TRY(put_parts(buffer, contents + (hole.begin - address), hole.end - hole.begin));
    }
    return NULL;
}

/* Returns how many bytes of an object have their pointers listed: not the untouched end of a large
 * object if that is more than half of it, but a page at least. */
uint64_t records_listed(const struct memory *memory, uint64_t address, uint64_t size)
{
    if (size < RECORDS_LARGE)
        return size;
    const uint64_t touched = ranges_trim(&memory->untouched, address, address + size) - address;
    if (touched > size / 2)
        return size;
    return MAX(touched, RUNTIME_PAGE_SIZE);
}
