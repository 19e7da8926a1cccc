/* utf8: reads one character of UTF-8 (RFC 3629: the shortest form only, and no surrogates). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the size of the character that begins with a byte, or 0 if none begins with it. */
static inline size_t utf8_size(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if ((first & 0xe0) == 0xc0)
        return 2;
    if ((first & 0xf0) == 0xe0)
        return 3;
    return (first & 0xf8) == 0xf0 ? 4 : 0;
}

/* Reads the character that begins at `at`, where left bytes can be read. Returns its size in bytes,
 * or 0 if the bytes are not a character. */
static inline size_t utf8_read(const uint8_t *at, size_t left, uint32_t *ret)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t first = at[0];
    const size_t size = utf8_size(first);
    if (size == 0 || size > left)
        return 0;
    *ret = size == 1 ? first : first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *ret = *ret << 6 | (at[i] & 0x3f);
    }
    const bool is_surrogate = *ret >= 0xd800 && *ret < 0xe000;
    return *ret < lowest[size] || *ret > 0x10ffff || is_surrogate ? 0 : size;
}

#endif
