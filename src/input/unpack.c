/* unpack; see unpack.h. */
#include "input/unpack.h"

static const struct unpack_method *const methods[] = {&unpack_gzip, &unpack_zstd, &unpack_xz,
                                                      &unpack_lz4};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

const struct unpack_method *unpack_method_of(const uint8_t *data, uint64_t size)
{
    for (unsigned i = 0; i < METHODS; i++)
        if (methods[i]->is_it(data, size))
            return methods[i];
    return NULL;
}

const struct unpack_method *unpack_method_at(unsigned index)
{
    return index < METHODS ? methods[index] : NULL;
}
