/* unpack_lz4: the frames of lz4, by liblz4; see unpack.h. */
#include "input/magic.h"
#include "input/unpack.h"

static bool lz4_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\x04\x22\x4d\x18", 4);
}

#ifdef WITH_LZ4

#include <lz4.h>
#include <lz4frame.h>
#include <string.h>

static void *lz4_begin(void)
{
    LZ4F_dctx *state;
    return LZ4F_isError(LZ4F_createDecompressionContext(&state, LZ4F_VERSION)) ? NULL : state;
}

static enum unpack_status lz4_step(void *state, struct unpack_buffers *buffers,
                                   const char **ret_why)
{
    size_t in = buffers->in_size, out = buffers->out_size;
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

const struct unpack_method unpack_lz4 = {"lz4",    "lz4 -d",  lz4_is_it, lz4_begin,
                                         lz4_step, lz4_again, lz4_end,   LZ4_versionString};

#else

const struct unpack_method unpack_lz4 = {.name = "lz4", .command = "lz4 -d", .is_it = lz4_is_it};

#endif
