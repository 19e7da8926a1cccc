/* sink; see sink.h. */
#include "output/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/scope.h"

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
    bool has_holes;           /* the destination is a file in which zeros may be a hole; */
    bool ends_in_hole;
};

/* What follows the deflated bytes of a buffer. consume() combines the checksums from it. */
struct trailer {
    uint32_t crc;
    uint32_t size;
};

static struct g2h_error *write_all(const struct sink *sink, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t count = write(sink->fd, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_system(errno, "%s: cannot write", sink->name);
        at += count;
        size -= (size_t)count;
    }
    return NULL;
}

/* Puts the buffer's zeros behind its bytes. */
static struct g2h_error *put_zeros(struct worker_buffer *buffer)
{
    const size_t zeros = (size_t)buffer->zeros;
    char *at = worker_buffer_reserve(buffer, zeros);
    TRY_MEMORY(at);
    memset(at, 0, zeros);
    buffer->size += zeros;
    buffer->zeros = 0;
    return NULL;
}

/* Replaces the buffer's bytes by deflate blocks that end on a byte boundary, and the trailer. */
static struct g2h_error *deflate_buffer(struct worker_buffer *buffer)
{
    TRY(put_zeros(buffer));
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

static struct g2h_error *produce(void *context, size_t task, unsigned worker,
                                 struct worker_buffer *buffer)
{
    struct sink *sink = context;
    return sink->produce(sink->context, task, worker, buffer);
}

/* Returns whether the destination is a file in which a seek leaves a hole. */
static bool takes_holes(int fd)
{
    struct stat status;
    const int flags = fcntl(fd, F_GETFL);
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && flags >= 0 &&
           (flags & O_APPEND) == 0;
}

static struct g2h_error *write_zeros(struct sink *sink, uint64_t size)
{
    static const char zeros[1 << 16];
    sink->ends_in_hole = sink->has_holes && size > 0;
    if (sink->ends_in_hole)
        return lseek(sink->fd, (off_t)size, SEEK_CUR) >= 0
                   ? NULL
                   : error_system(errno, "%s: cannot write", sink->name);
    for (; size > 0; size -= size < sizeof(zeros) ? size : sizeof(zeros))
        TRY(write_all(sink, zeros, size < sizeof(zeros) ? (size_t)size : sizeof(zeros)));
    return NULL;
}

/* Makes a file that ends in a hole as long as it has to be. */
static struct g2h_error *end_hole(const struct sink *sink)
{
    const off_t end = sink->ends_in_hole ? lseek(sink->fd, 0, SEEK_CUR) : 0;
    return end >= 0 && (end == 0 || ftruncate(sink->fd, end) == 0)
               ? NULL
               : error_system(errno, "%s: cannot write", sink->name);
}

static struct g2h_error *consume(void *context, const struct worker_buffer *buffer)
{
    struct sink *sink = context;
    struct trailer trailer;
    if (!sink->gzip) {
        TRY(write_all(sink, buffer->data, buffer->size));
        return write_zeros(sink, buffer->zeros);
    }
    memcpy(&trailer, buffer->data + buffer->size - sizeof(trailer), sizeof(trailer));
    sink->crc = (uint32_t)crc32_combine(sink->crc, trailer.crc, (z_off_t)trailer.size);
    sink->size += trailer.size;
    return write_all(sink, buffer->data, buffer->size - sizeof(trailer));
}

unsigned sink_threads(const struct g2h_view *view, const struct g2h_output_options *options)
{
    enum { FOLDED_MOST = 8 };
    const unsigned threads = options->threads ? options->threads : workers_available();
    const bool is_folded = g2h_view_account(view)->folded_nodes > 0;
    return is_folded && threads > FOLDED_MOST ? FOLDED_MOST : threads;
}

struct g2h_error *sink_run(const struct g2h_output_options *options, unsigned threads, size_t tasks,
                           workers_produce *produce_bytes, void *context)
{
    static const unsigned char head[10] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 255};
    struct sink sink = {.fd = options->fd,
                        .name = options->name,
                        .gzip = options->gzip,
                        .produce = produce_bytes,
                        .context = context,
                        .has_holes = takes_holes(options->fd)};
    struct g2h_error *error = sink.gzip ? write_all(&sink, head, sizeof(head)) : NULL;
    if (!error)
        error = workers_run_ordered(threads, tasks, produce, sink.gzip ? deflate_buffer : NULL,
                                    consume, &sink);
    if (error || !sink.gzip)
        return error ? error : end_hole(&sink);
    unsigned char tail[10] = {3, 0}; /* an empty last block, then the checksum and the size */
    for (int i = 0; i < 4; i++) {
        tail[2 + i] = (unsigned char)(sink.crc >> 8 * i);
        tail[6 + i] = (unsigned char)(sink.size >> 8 * i);
    }
    return write_all(&sink, tail, sizeof(tail));
}
