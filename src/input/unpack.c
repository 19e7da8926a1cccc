/*
 * unpack: unpacks files that are compressed by gzip, zstd, xz or lz4, by each method's library; see
 * unpack.h. A method is a row of the table at the end: a test of the first bytes, and functions
 * that begin, go on with the next bytes, begin a further stream, and end. One whose library is
 * missing has only its name: it recognizes a file, but cannot unpack it.
 */
#define ZLIB_CONST
#include "input/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#ifdef WITH_LZMA
#include <lzma.h>
#endif
#ifdef WITH_LZ4
#include <lz4.h>
#include <lz4frame.h>
#endif

#include "base/contract.h"
#include "base/error.h"
#include "input/magic.h"

/* ---- gzip, by zlib ---- */

static bool gzip_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\x1f\x8b", 2);
}

/* Returns a stream of zlib that expects a header of gzip, or NULL if memory runs out. */
static void *gzip_begin(void)
{
    _cleanup_free_ z_stream *stream = calloc(1, sizeof(*stream));
    const int largest_window = 15, gzip = 16;
    if (!stream || inflateInit2(stream, largest_window + gzip) != Z_OK)
        return NULL;
    return take_pointer(stream);
}

/* Unpacks as far as input and space last; *buffers becomes what is left of both. */
static enum unpack_status gzip_step(void *state, struct unpack_buffers *buffers,
                                    const char **ret_why)
{
    z_stream *stream = state;
    stream->next_in = buffers->in;
    stream->avail_in = (uInt)buffers->in_size;
    stream->next_out = buffers->out;
    stream->avail_out = (uInt)buffers->out_size;
    const int status = inflate(stream, Z_NO_FLUSH);
    *buffers = (struct unpack_buffers){stream->next_in, stream->avail_in, stream->next_out,
                                       stream->avail_out};
    *ret_why = stream->msg;
    switch (status) {
    case Z_STREAM_END:
        return UNPACK_ENDED;
    case Z_OK:
    case Z_BUF_ERROR:
        return UNPACK_GOES_ON;
    default:
        return status == Z_MEM_ERROR ? UNPACK_NO_MEMORY : UNPACK_DAMAGED;
    }
}

static bool gzip_again(void *state)
{
    return inflateReset(state) == Z_OK;
}

static void gzip_end(void *state)
{
    inflateEnd(state);
    free(state);
}

/* ---- zstd, by libzstd ---- */

/* Returns whether bytes begin like zstd's: with a frame, or with a skippable frame, as pzstd writes
 * it. */
static bool zstd_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\x28\xb5\x2f\xfd", 4) ||
           (magic_begins(data, size, 1, "\x2a\x4d\x18", 3) && (data[0] & 0xf0) == 0x50);
}

#ifdef WITH_ZSTD

static void *zstd_begin(void)
{
    return ZSTD_createDCtx();
}

/* Unpacks the next bytes. The library refuses windows above 128 MiB, so that is the most memory
 * that a stream takes. */
static enum unpack_status zstd_step(void *state, struct unpack_buffers *buffers,
                                    const char **ret_why)
{
    ZSTD_inBuffer in = {buffers->in, buffers->in_size, 0};
    ZSTD_outBuffer out = {buffers->out, buffers->out_size, 0};
    const size_t left = ZSTD_decompressStream(state, &out, &in);
    *buffers = (struct unpack_buffers){buffers->in + in.pos, in.size - in.pos,
                                       buffers->out + out.pos, out.size - out.pos};
    if (!ZSTD_isError(left))
        return left == 0 ? UNPACK_ENDED : UNPACK_GOES_ON;
    *ret_why = ZSTD_getErrorName(left);
    return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? UNPACK_NO_MEMORY
                                                                   : UNPACK_DAMAGED;
}

static bool zstd_again(void *state)
{
    return !ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only));
}

static void zstd_end(void *state)
{
    ZSTD_freeDCtx(state);
}

#endif

/* ---- xz, by liblzma ---- */

static bool xz_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\xfd\67zXZ\0", 6);
}

#ifdef WITH_LZMA

/* A stream takes at most this much memory: xz -9 needs 65 MiB. */
static const uint64_t MEMORY = 128 << 20;

static bool xz_again(void *state)
{
    return lzma_stream_decoder(state, MEMORY, 0) == LZMA_OK;
}

static void *xz_begin(void)
{
    _cleanup_free_ lzma_stream *stream = calloc(1, sizeof(*stream));
    return stream && xz_again(stream) ? take_pointer(stream) : NULL;
}

/* Unpacks the next bytes of an xz stream. */
static enum unpack_status xz_step(void *state, struct unpack_buffers *buffers, const char **ret_why)
{
    lzma_stream *stream = state;
    stream->next_in = buffers->in;
    stream->avail_in = buffers->in_size;
    stream->next_out = buffers->out;
    stream->avail_out = buffers->out_size;
    const lzma_ret status = lzma_code(stream, LZMA_RUN);
    *buffers = (struct unpack_buffers){stream->next_in, stream->avail_in, stream->next_out,
                                       stream->avail_out};
    switch (status) {
    case LZMA_STREAM_END:
        return UNPACK_ENDED;
    case LZMA_OK:
    case LZMA_BUF_ERROR: /* there is nothing more to read, or no space */
        return UNPACK_GOES_ON;
    case LZMA_MEM_ERROR:
        return UNPACK_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        *ret_why = "it needs more memory than 128 MiB";
        return UNPACK_DAMAGED;
    default:
        return UNPACK_DAMAGED;
    }
}

static void xz_end(void *state)
{
    lzma_end(state);
    free(state);
}

#endif

/* ---- the frames of lz4, by liblz4 ---- */

static bool lz4_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\x04\x22\x4d\x18", 4);
}

#ifdef WITH_LZ4

static void *lz4_begin(void)
{
    LZ4F_dctx *state;
    return LZ4F_isError(LZ4F_createDecompressionContext(&state, LZ4F_VERSION)) ? NULL : state;
}

/* Unpacks the next bytes of an LZ4 stream. */
static enum unpack_status lz4_step(void *state, struct unpack_buffers *buffers,
                                   const char **ret_why)
{
    size_t in = buffers->in_size;
    size_t out = buffers->out_size;
    const size_t left = LZ4F_decompress(state, buffers->out, &out, buffers->in, &in, NULL);
    if (LZ4F_isError(left)) { /* then it is not known how much was read and written */
        *ret_why = LZ4F_getErrorName(left);
        return strcmp(*ret_why, "ERROR_allocation_failed") == 0 ? UNPACK_NO_MEMORY : UNPACK_DAMAGED;
    }
    *buffers = (struct unpack_buffers){buffers->in + in, buffers->in_size - in, buffers->out + out,
                                       buffers->out_size - out};
    return left == 0 ? UNPACK_ENDED : UNPACK_GOES_ON;
}

static bool lz4_again(void *state)
{
    LZ4F_resetDecompressionContext(state);
    return true;
}

static void lz4_end(void *state)
{
    LZ4F_freeDecompressionContext(state);
}

#endif

/* ---- the table ---- */

/* clang-format off */
static const struct unpack_method methods[] = {
    {"gzip", "gzip -d", gzip_is_it, gzip_begin, gzip_step, gzip_again, gzip_end, zlibVersion},
#ifdef WITH_ZSTD
    {"zstd", "zstd -d", zstd_is_it, zstd_begin, zstd_step, zstd_again, zstd_end, ZSTD_versionString},
#else
    {.name = "zstd", .command = "zstd -d", .is_it = zstd_is_it},
#endif
#ifdef WITH_LZMA
    {"xz", "xz -d", xz_is_it, xz_begin, xz_step, xz_again, xz_end, lzma_version_string},
#else
    {.name = "xz", .command = "xz -d", .is_it = xz_is_it},
#endif
#ifdef WITH_LZ4
    {"lz4", "lz4 -d", lz4_is_it, lz4_begin, lz4_step, lz4_again, lz4_end, LZ4_versionString},
#else
    {.name = "lz4", .command = "lz4 -d", .is_it = lz4_is_it},
#endif
};
/* clang-format on */
enum { METHODS = COUNT_OF(methods) };

/* Returns the method by which data is packed, or NULL if it is none of these. */
const struct unpack_method *unpack_method_of(const uint8_t *data, uint64_t size)
{
    for (unsigned i = 0; i < METHODS; i++)
        if (methods[i].is_it(data, size))
            return &methods[i];
    return NULL;
}

/* Returns the method with an index, NULL after the last one. */
const struct unpack_method *unpack_method_at(unsigned index)
{
    return index < METHODS ? &methods[index] : NULL;
}
