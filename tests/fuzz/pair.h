/* pair: an executable, and behind it the dump that it wrote, or the core that it left, in one
 * input.
 */
#ifndef PAIR_H
#define PAIR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where the dump begins, by the last header of one; size where there is none. */
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
 * Where the core begins: in the last bytes of e_ident, which nobody reads, the executable says how
 * long it is. So what is behind it may be damaged at will.
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
