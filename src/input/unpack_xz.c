/* unpack_xz: xz, by liblzma; see unpack.h. */
#include "input/magic.h"
#include "input/unpack.h"

static bool xz_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\xfd\67zXZ\0", 6);
}

#ifdef WITH_LZMA

#include <lzma.h>
#include <stdlib.h>

#include "base/scope.h"

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

const struct unpack_method unpack_xz = {"xz",    "xz -d",  xz_is_it, xz_begin,
                                        xz_step, xz_again, xz_end,   lzma_version_string};

#else

const struct unpack_method unpack_xz = {.name = "xz", .command = "xz -d", .is_it = xz_is_it};

#endif
