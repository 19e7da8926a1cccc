/* unpack_zstd: zstd, by libzstd; see unpack.h. */
#include "input/magic.h"
#include "input/unpack.h"

/* A stream may begin with a skippable frame, as pzstd writes it. */
static bool zstd_input_is_it(const uint8_t *data, uint64_t size)
{
    return magic_begins(data, size, 0, "\x28\xb5\x2f\xfd", 4) ||
           (magic_begins(data, size, 1, "\x2a\x4d\x18", 3) && (data[0] & 0xf0) == 0x50);
}

#ifdef WITH_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

static void *zstd_input_begin(void)
{
    return ZSTD_createDCtx();
}

/* The library refuses windows above 128 MiB, so that is the most memory that a stream takes. */
static enum unpack_status zstd_input_step(void *state, struct unpack_buffers *buffers,
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

static bool zstd_input_again(void *state)
{
    return !ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only));
}

static void zstd_input_end(void *state)
{
    ZSTD_freeDCtx(state);
}

const struct unpack_method unpack_zstd = {"zstd",           "zstd -d",         zstd_input_is_it,
                                          zstd_input_begin, zstd_input_step,   zstd_input_again,
                                          zstd_input_end,   ZSTD_versionString};

#else

const struct unpack_method unpack_zstd = {
    .name = "zstd", .command = "zstd -d", .is_it = zstd_input_is_it};

#endif
