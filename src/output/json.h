/* json: writes numbers and strings as JSON. The caller provides enough memory. */
#ifndef OUTPUT_JSON_H
#define OUTPUT_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/contract.h"

enum { JSON_U32_MAX = 10, JSON_U64_MAX = 20 }; /* characters of the largest numbers */

enum { JSON_EIGHT = 100000000 };

/*
 * Returns the values of the eight digits of a number, the first digit in the lowest byte. The
 * number is divided by 10,000, then both halves at once by 100, then all quarters by 10. For x
 * below 10,000 (x * 10486) >> 20 is x / 100, and for x below 100 (x * 103) >> 10 is x / 10.
 */
static inline uint64_t json_digits(uint32_t value)
{
    const uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32,
                   hundreds = (halves * 10486 >> 20) & 0x0000007f0000007f,
                   quarters = hundreds | (halves - 100 * hundreds) << 16,
                   tens = (quarters * 103 >> 10) & 0x000f000f000f000f;
    return tens | (quarters - 10 * tens) << 8;
}

/* Writes eight characters, the first one in the lowest byte. Returns the position after them. */
static inline char *json_characters(char *at, uint64_t characters)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    characters = __builtin_bswap64(characters);
#endif
    memcpy(at, &characters, sizeof(characters));
    return at + sizeof(characters);
}

/* Writes eight digits, given by their values: adds '0' to each. */
static inline char *json_put_digits(char *at, uint64_t digits)
{
    return json_characters(at, digits | 0x3030303030303030);
}

/* Writes eight digits of a number below JSON_EIGHT. */
static inline char *json_eight(char *at, uint32_t value)
{
    assert(value < JSON_EIGHT);
    return json_put_digits(at, json_digits(value));
}

/* Writes a number in decimal digits, eight at once; leading zeros are shifted out. Returns the
 * position after them. There must be space for JSON_U32_MAX characters, all of which may be written
 * to. */
static inline char *json_u32(char *at, uint32_t value)
{
    if (value < 10) {
        *at = (char)('0' + value);
        return at + 1;
    }
    if (value < JSON_EIGHT) {
        const uint64_t digits = json_digits(value);
        const unsigned zeros = lowest_bit(digits) / 8;
        return json_put_digits(at, digits >> 8 * zeros) - zeros;
    }
    const uint32_t head = value / JSON_EIGHT;
    if (head >= 10)
        *at++ = (char)('0' + head / 10);
    *at++ = (char)('0' + head % 10);
    return json_eight(at, value % JSON_EIGHT);
}

/* Writes a number as json_u32() does, which may be larger: there must be space for JSON_U64_MAX
 * characters. */
static inline char *json_u64(char *at, uint64_t value)
{
    if (value <= UINT32_MAX)
        return json_u32(at, (uint32_t)value);
    const uint64_t high = value / JSON_EIGHT;
    if (high <= UINT32_MAX)
        at = json_u32(at, (uint32_t)high);
    else
        at = json_eight(json_u32(at, (uint32_t)(high / JSON_EIGHT)), (uint32_t)(high % JSON_EIGHT));
    return json_eight(at, (uint32_t)(value % JSON_EIGHT));
}

/* Returns the digits of a number below JSON_SHORT, the first digit in the lowest byte, and their
 * count in the highest byte; for numbers that are written often. */
enum { JSON_SHORT = 10000000 };
uint64_t json_short(uint32_t value);

/* Writes the digits that json_short() returned. All eight bytes from at on are written to. */
static inline char *json_u32_short(char *at, uint64_t digits)
{
    json_characters(at, digits);
    return at + (digits >> 56);
}

/* Returns the most characters that a JSON string of size bytes can take. */
static inline size_t json_string_limit(size_t size)
{
    return 6 * size + 2;
}

/* Writes UTF-8 as a JSON string with its quotes. Characters that are not printable_is_shown() are
 * escaped, so that the string may be shown as it is. Returns the position after it. */
char *json_string(char *at, const char *text, size_t size);

/* Returns how many bytes more a string takes if each < > & in it is written as \u003c and so on, as
 * it is in HTML. */
size_t json_markup(const char *text, size_t size);

#endif
