/*
 * source; see source.h.
 *
 * An executable that is compressed, or comes through a pipe, has to be copied. A file that does not
 * begin like an executable is not copied. Code and debug information are 2 to 5 times as large as
 * their compressed form; if a file unpacks to a much larger multiple of its size, only the bytes up
 * to a limit are copied.
 */
#include "exe/image/source.h"

#include <stddef.h>

#include "base/scope.h"
#include "input/input.h"
#include "input/magic.h"
#include "input/unpack.h"

enum { UNSUSPICIOUS = 1 << 24, UNPACKED_RATIO = 64 };
static const uint64_t LARGEST = (uint64_t)1 << 33;

/* Returns up to how many bytes are to be copied, given the bytes so far and how many of the file
 * they took: 0 for what is not an executable, and less than a bomb unpacks to. */
static uint64_t image_source_look(void *context, const struct g2h_input *so_far, uint64_t taken)
{
    bool *is_too_large = context;
    uint64_t limit = UNSUSPICIOUS + (taken < LARGEST ? taken : LARGEST) * UNPACKED_RATIO;
    if (!magic_is_executable(so_far->data, so_far->size))
        return 0;
    limit = limit < LARGEST ? limit : LARGEST;
    *is_too_large = limit <= so_far->size;
    return limit;
}

CLEANUP_POINTER(close_source, struct g2h_input, g2h_input_close);

/* Packed files are unpacked while they are read. Those whose method was not built in stay packed,
 * and are refused with the command that unpacks them. */
struct g2h_error *source_open(const char *path, struct g2h_input **ret)
{
    bool is_too_large = false;
    const struct input_watcher watcher = {image_source_look, &is_too_large};
    _cleanup_(close_source) struct g2h_input *input = NULL;
    *ret = NULL;
    TRY(input_open(path, NULL, &watcher, &input));
    const struct unpack_method *packed = unpack_method_of(input->data, input->size);
    if (packed)
        return error_create(G2H_ERROR_NOT_EXE, "%s: is packed by %s; unpack it first: %s",
                            input->name, packed->name, packed->command);
    if (is_too_large)
        return error_create(G2H_ERROR_NOT_EXE, "%s: unpacks to more than an executable does",
                            input->name);
    *ret = take_pointer(input);
    return NULL;
}
