/* sink; see sink.h. */
#include "output/sink.h"

#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/sparse.h"

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

/* Replaces the buffer's bytes by deflate blocks that end on a byte boundary, and the trailer. */
static struct g2h_error *deflate_buffer(struct worker_buffer *buffer)
{
    struct trailer trailer = {(uint32_t)crc32(0, (const Bytef *)buffer->data, (uInt)buffer->size),
                              (uint32_t)buffer->size};
    struct worker_buffer packed = {.turn = buffer->turn};
    z_stream stream = {0};
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return &error_no_memory;
    size_t bound = deflateBound(&stream, (uLong)buffer->size) + 64;
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

/* Each thread needs a table by node in a folded view (fold_seen()), so their number is limited
 * there. */
unsigned sink_threads(const struct g2h_view *view, const struct g2h_output_options *options)
{
    enum { FOLDED_MOST = 8 };
    const unsigned threads = options->threads ? options->threads : workers_available();
    const bool is_folded = g2h_view_account(view)->folded_nodes > 0;
    return is_folded && threads > FOLDED_MOST ? FOLDED_MOST : threads;
}

/* A gzip member (RFC 1952) is a head, the deflated pieces, and a tail with checksum and size. */
struct g2h_error *sink_run(const struct g2h_output_options *options, unsigned threads, size_t tasks,
                           workers_produce *produce_bytes, void *context)
{
    static const unsigned char head[10] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 255};
    struct sink sink = {.fd = options->fd,
                        .name = options->name,
                        .gzip = options->gzip,
                        .produce = produce_bytes,
                        .context = context,
                        .is_sparse = sparse_is_possible(options->fd)};
    struct g2h_error *error = sink.gzip ? sink_write_all(&sink, head, sizeof(head)) : NULL;
    if (!error)
        error = workers_run_ordered(threads, tasks, sink_produce, sink.gzip ? deflate_buffer : NULL,
                                    sink_consume, &sink);
    if (error || !sink.gzip)
        return error ? error : end_file(&sink);
    unsigned char tail[10] = {3, 0}; /* an empty last block, then the checksum and the size */
    for (int i = 0; i < 4; i++) {
        tail[2 + i] = (unsigned char)(sink.crc >> 8 * i);
        tail[6 + i] = (unsigned char)(sink.size >> 8 * i);
    }
    return sink_write_all(&sink, tail, sizeof(tail));
}

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
