/* unpack_gzip: gzip, by zlib; see unpack.h. */
#define ZLIB_CONST
#include <stdlib.h>
#include <zlib.h>

#include "base/scope.h"
#include "input/magic.h"
#include "input/unpack.h"

static bool gzip_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\x1f\x8b", 2);
}

static void *gzip_begin(void)
{
    _cleanup_free_ z_stream *stream = calloc(1, sizeof(*stream));
    const int largest_window = 15, gzip = 16;
    if (!stream || inflateInit2(stream, largest_window + gzip) != Z_OK)
        return NULL;
    return take_pointer(stream);
}

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

const struct unpack_method unpack_gzip = {"gzip",    "gzip -d",  gzip_is_it, gzip_begin,
                                          gzip_step, gzip_again, gzip_end,   zlibVersion};
