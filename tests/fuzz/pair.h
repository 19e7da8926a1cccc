/* pair: one input that holds an executable, followed by the dump that it wrote or the core that it
 * left. */
#ifndef PAIR_H
#define PAIR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns the offset of the dump, which is that of the last header, or size if there is none. */
static inline size_t pair_split(const uint8_t *data, size_t size)
{
    static const char start[] = "go1.", end[] = " heap dump\n";
    const size_t start_size = sizeof(start) - 1, end_size = sizeof(end) - 1, version = 2;
    for (size_t at = size; at-- > 0;)
        for (size_t digits = 1; digits <= version; digits++)
            if (size - at >= start_size + digits + end_size &&
                memcmp(data + at, start, start_size) == 0 &&
                memcmp(data + at + start_size + digits, end, end_size) == 0)
                return at;
    return size;
}

/*
 * Where the core begins: the executable has its own size in the last bytes of its e_ident, which
 * nobody reads. So the core behind it may be damaged at will.
 */
enum { PAIR_SIZE_AT = 12 };

static inline void pair_set_size(uint8_t *exe, size_t size)
{
    for (unsigned i = 0; i < 4; i++)
        exe[PAIR_SIZE_AT + i] = (uint8_t)(size >> 8 * i);
}

static inline size_t pair_split_core(const uint8_t *data, size_t size)
{
    size_t exe = 0;
    for (unsigned i = 0; i < 4 && size >= PAIR_SIZE_AT + 4; i++)
        exe |= (size_t)data[PAIR_SIZE_AT + i] << 8 * i;
    return exe < size ? exe : size;
}

#endif
