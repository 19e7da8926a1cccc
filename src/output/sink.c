/*
 * sink: writes what several threads produce to one file descriptor, in order, compressed by gzip or
 * not; see sink.h. sink_run() calls a function for each task on all threads; sink_produce()
 * compresses its bytes there, and sink_consume() writes them one buffer after the other. A struct
 * sink_stream does the same for bytes that come one after the other, by cutting these into pieces.
 */
#include "output/sink.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/ranges.h"

enum {
    LEVEL = 1
}; /* zlib's: snapshots shrink to a seventh already, and higher levels take many times longer */

struct sink {
    int fd;
    const char *name;
    bool gzip;
    workers_produce *produce; /* makes the bytes of a task */
    void *context;            /* the context of produce */
    uint32_t crc, size;       /* of the bytes before compression */
    bool is_sparse;           /* zeros become holes of the file */
};

/* The trailer of a buffer's deflated bytes. sink_consume() combines the checksums from it. */
struct trailer {
    uint32_t crc;
    uint32_t size;
};

/* Returns the error for an errno value, or NULL for 0. */
static struct g2h_error *sink_error(const struct sink *sink, int error)
{
    return error != 0 ? error_system(error, "%s: cannot write", sink->name) : NULL;
}

static struct g2h_error *sink_write_all(const struct sink *sink, const void *data, size_t size)
{
    return sink_error(sink, sparse_put(sink->fd, data, size));
}

/* Replaces the buffer's bytes by deflate blocks that end on a byte boundary, and the trailer.
 * deflateBound() does not count the FLUSH bytes that Z_FULL_FLUSH may add. */
static struct g2h_error *deflate_buffer(struct worker_buffer *buffer)
{
    enum { RAW = -15, MEMORY = 8, FLUSH = 64 }; /* zlib's: no header, window of 2^15; its default */
    struct trailer trailer = {(uint32_t)crc32(0, (const Bytef *)buffer->data, (uInt)buffer->size),
                              (uint32_t)buffer->size};
    struct worker_buffer packed = {.turn = buffer->turn};
    z_stream stream = {0};
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, RAW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return &error_no_memory;
    size_t bound = deflateBound(&stream, (uLong)buffer->size) + FLUSH;
    if (!worker_buffer_reserve(&packed, bound + sizeof(trailer))) {
        deflateEnd(&stream);
        return &error_no_memory;
    }
    stream.next_in = (Bytef *)buffer->data;
    stream.avail_in = (uInt)buffer->size;
    stream.next_out = (Bytef *)packed.data;
    stream.avail_out = (uInt)bound;
    deflate(&stream, Z_FULL_FLUSH);
    packed.size = bound - stream.avail_out;
    deflateEnd(&stream);
    memcpy(packed.data + packed.size, &trailer, sizeof(trailer));
    packed.size += sizeof(trailer);
    worker_buffer_deinit(buffer);
    *buffer = packed;
    return NULL;
}

static struct g2h_error *sink_produce(void *context, size_t task, unsigned worker,
                                      struct worker_buffer *buffer)
{
    struct sink *sink = context;
    return sink->produce(sink->context, task, worker, buffer);
}

/* Writes zeros, or leaves a hole if the file may have holes. */
static struct g2h_error *write_zeros(const struct sink *sink, uint64_t zeros)
{
    static const char block[1 << 16];
    if (sink->is_sparse)
        return sink_error(sink, sparse_skip(sink->fd, zeros));
    while (zeros > 0) {
        const size_t size = zeros < sizeof(block) ? (size_t)zeros : sizeof(block);
        TRY(sink_write_all(sink, block, size));
        zeros -= size;
    }
    return NULL;
}

/* Ends a file after the zeros that were left out at its end. */
static struct g2h_error *end_file(const struct sink *sink)
{
    return sink->is_sparse ? sink_error(sink, sparse_end(sink->fd)) : NULL;
}

/* Writes a finished buffer; buffers come in their order. Checksums of compressed ones are
 * combined. */
static struct g2h_error *sink_consume(void *context, const struct worker_buffer *buffer)
{
    struct sink *sink = context;
    struct trailer trailer;
    if (!sink->gzip) {
        TRY(sink_write_all(sink, buffer->data, buffer->size));
        return buffer->zeros > 0 ? write_zeros(sink, buffer->zeros) : NULL;
    }
    memcpy(&trailer, buffer->data + buffer->size - sizeof(trailer), sizeof(trailer));
    sink->crc = (uint32_t)crc32_combine(sink->crc, trailer.crc, (z_off_t)trailer.size);
    sink->size += trailer.size;
    return sink_write_all(sink, buffer->data, buffer->size - sizeof(trailer));
}

/* Returns how many threads walk the view's edges. Each thread needs a table by node in a folded
 * view (fold_seen()), so their number is limited there. */
unsigned sink_threads(const struct g2h_view *view, const struct g2h_output_options *options)
{
    enum { FOLDED_MOST = 8 };
    const unsigned threads = options->threads ? options->threads : workers_available();
    const bool is_folded = g2h_view_account(view)->folded_nodes > 0;
    return is_folded && threads > FOLDED_MOST ? FOLDED_MOST : threads;
}

/* Writes the head of a gzip member (RFC 1952), which the deflated pieces follow: magic, method, and
 * then neither flags, time nor system are known. Nothing if the file is not compressed. */
static struct g2h_error *begin_member(const struct sink *sink)
{
    enum { UNKNOWN_SYSTEM = 255 };
    static const unsigned char head[10] = {0x1f, 0x8b, Z_DEFLATED, [9] = UNKNOWN_SYSTEM};
    return sink->gzip ? sink_write_all(sink, head, sizeof(head)) : NULL;
}

/* Writes the tail of a member, or ends a file that is not compressed: an empty last block of fixed
 * codes (RFC 1951: bits 1, 01, and the end-of-block code 0000000), then checksum and size, 4 bytes
 * each, little-endian. */
static struct g2h_error *end_member(const struct sink *sink)
{
    unsigned char tail[10] = {3, 0};
    if (!sink->gzip)
        return end_file(sink);
    for (int i = 0; i < 4; i++) {
        tail[2 + i] = (unsigned char)(sink->crc >> 8 * i);
        tail[6 + i] = (unsigned char)(sink->size >> 8 * i);
    }
    return sink_write_all(sink, tail, sizeof(tail));
}

/* Returns a sink that writes where the options say. */
static struct sink sink_of(const struct g2h_output_options *options)
{
    return (struct sink){.fd = options->fd,
                         .name = options->name,
                         .gzip = options->gzip,
                         .is_sparse = sparse_is_possible(options->fd)};
}

/* Writes what produce makes, task by task. With gzip, the threads compress each buffer on their
 * own; the pieces together are one member. */
struct g2h_error *sink_run(const struct g2h_output_options *options, unsigned threads, size_t tasks,
                           workers_produce *produce_bytes, void *context)
{
    struct sink sink = sink_of(options);
    sink.produce = produce_bytes;
    sink.context = context;
    TRY(begin_member(&sink));
    TRY(workers_run_ordered(threads, tasks, sink_produce, sink.gzip ? deflate_buffer : NULL,
                            sink_consume, &sink));
    return end_member(&sink);
}

/* ---- streams ---- */

/* Each thread compresses so many pieces before the bytes after them are taken. */
enum { PIECES_PER_THREAD = 8 };

struct sink_stream {
    struct sink sink;
    unsigned threads;
    bool has_begun;
    uint8_t *bytes; /* that are not compressed yet; only if the stream is compressed */
    size_t size, capacity;
};

/* Opens a stream to the outputs, which collects bytes for all threads. */
struct g2h_error *sink_open(const struct g2h_output_options *options, struct sink_stream **ret)
{
    struct sink_stream *stream = *ret = calloc(1, sizeof(*stream));
    TRY_MEMORY(stream);
    stream->sink = sink_of(options);
    stream->threads = options->threads > 0 ? options->threads : workers_available();
    stream->capacity = (size_t)stream->threads * PIECES_PER_THREAD * SINK_PIECE;
    return NULL;
}

void sink_close(struct sink_stream *stream)
{
    if (!stream)
        return;
    free(stream->bytes);
    free(stream);
}

/* A task: copies a piece of the bytes, which is then compressed. */
static struct g2h_error *produce_piece(void *context, size_t task, unsigned worker,
                                       struct worker_buffer *buffer)
{
    const struct sink_stream *stream = context;
    const size_t at = task * SINK_PIECE;
    const size_t left = stream->size - at;
    (void)worker;
    assert(at < stream->size);
    TRY_MEMORY(worker_buffer_put(buffer, stream->bytes + at, MIN(left, SINK_PIECE)));
    return NULL;
}

/* Compresses and writes the bytes that have been collected: whole pieces, except at the end. */
static struct g2h_error *write_pieces(struct sink_stream *stream)
{
    const size_t pieces = (stream->size + SINK_PIECE - 1) / SINK_PIECE;
    stream->sink.produce = produce_piece;
    stream->sink.context = stream;
    TRY(workers_run_ordered(stream->threads, pieces, sink_produce, deflate_buffer, sink_consume,
                            &stream->sink));
    stream->size = 0;
    return NULL;
}

/* Collects bytes, or zeros if data is NULL, and compresses them once there are many. */
static struct g2h_error *collect_bytes(struct sink_stream *stream, const uint8_t *data,
                                       uint64_t size)
{
    for (uint64_t at = 0, part; at < size; at += part) {
        const size_t space = stream->capacity - stream->size;
        part = MIN(size - at, space);
        if (data)
            memcpy(stream->bytes + stream->size, data + at, (size_t)part);
        else
            memset(stream->bytes + stream->size, 0, (size_t)part);
        stream->size += (size_t)part;
        if (stream->size == stream->capacity)
            TRY(write_pieces(stream));
    }
    return NULL;
}

/* Writes the head before the first bytes, and with gzip gets the memory to collect them; nothing
 * later. */
static struct g2h_error *begin_stream(struct sink_stream *stream)
{
    if (stream->has_begun)
        return NULL;
    stream->has_begun = true;
    if (stream->sink.gzip) {
        stream->bytes = malloc(stream->capacity);
        TRY_MEMORY(stream->bytes);
    }
    return begin_member(&stream->sink);
}

/* Writes bytes, and zeros after them. Zeros are compressed, or skipped in a file that can have
 * holes. */
struct g2h_error *sink_put(void *context, const void *data, size_t size, uint64_t zeros)
{
    struct sink_stream *stream = context;
    const struct sink *sink = &stream->sink;
    TRY(begin_stream(stream));
    if (sink->gzip) {
        TRY(collect_bytes(stream, data, size));
        return collect_bytes(stream, NULL, zeros);
    }
    TRY(sink->is_sparse ? sink_error(sink, sparse_write(sink->fd, data, size))
                        : sink_write_all(sink, data, size));
    return write_zeros(sink, zeros);
}

/* Writes what is still missing at the end. */
struct g2h_error *sink_finish(struct sink_stream *stream)
{
    TRY(begin_stream(stream));
    if (stream->size > 0)
        TRY(write_pieces(stream));
    return end_member(&stream->sink);
}

/* Puts the whole text into the buffer, as the only task. */
static struct g2h_error *produce_text(void *context, size_t task, unsigned worker,
                                      struct worker_buffer *buffer)
{
    const struct text *text = context;
    (void)task, (void)worker;
    TRY_MEMORY(worker_buffer_put(buffer, text->data, text->size));
    return NULL;
}

struct g2h_error *sink_text(const struct g2h_output_options *options, struct text *text)
{
    return sink_run(options, 1, 1, produce_text, text);
}
