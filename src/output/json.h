/* json: numbers and strings as JSON has them, written to memory that is large enough. */
#ifndef OUTPUT_JSON_H
#define OUTPUT_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { JSON_U32_MAX = 10, JSON_U64_MAX = 20 }; /* characters of the largest numbers */

/* "00", "01", … "99". */
extern const char json_digit_pairs[200];

static inline char *json_pair(char *at, uint32_t value)
{
    memcpy(at, &json_digit_pairs[value * 2], 2);
    return at + 2;
}

/* A number below 10000 without leading zeros. */
static inline char *json_head(char *at, uint32_t value)
{
    if (value >= 100) {
        uint32_t high = value / 100;
        if (high >= 10)
            at = json_pair(at, high);
        else
            *at++ = (char)('0' + high);
        return json_pair(at, value % 100);
    }
    if (value >= 10)
        return json_pair(at, value);
    *at = (char)('0' + value);
    return at + 1;
}

/* Four digits. */
static inline char *json_four(char *at, uint32_t value)
{
    return json_pair(json_pair(at, value / 100), value % 100);
}

/* Writes a number in decimal digits; gives the place behind them. */
static inline char *json_u32(char *at, uint32_t value)
{
    if (value < 10000)
        return json_head(at, value);
    uint32_t high = value / 10000;
    if (high < 10000)
        at = json_head(at, high);
    else
        at = json_four(json_head(at, high / 10000), high % 10000);
    return json_four(at, value % 10000);
}

/* The same of one that may be larger. */
static inline char *json_u64(char *at, uint64_t value)
{
    const uint64_t eight = 100000000;
    if (value <= UINT32_MAX)
        return json_u32(at, (uint32_t)value);
    const uint64_t high = value / eight;
    const uint32_t low = (uint32_t)(value % eight);
    if (high > UINT32_MAX) {
        at = json_u32(at, (uint32_t)(high / eight));
        at = json_four(json_four(at, (uint32_t)(high % eight) / 10000),
                       (uint32_t)(high % eight) % 10000);
    } else {
        at = json_u32(at, (uint32_t)high);
    }
    return json_four(json_four(at, low / 10000), low % 10000);
}

/* The digits of a number below JSON_SHORT that is written often, the first one in the lowest byte,
 * and how many they are in the highest. */
enum { JSON_SHORT = 10000000 };
uint64_t json_short(uint32_t value);

/* Writes such a number; the eight bytes from at on are written to. */
static inline char *json_u32_short(char *at, uint64_t digits)
{
    const unsigned size = (unsigned)(digits >> 56);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    digits = __builtin_bswap64(digits);
#endif
    memcpy(at, &digits, sizeof(digits));
    return at + size;
}

/* The most characters that a JSON string of size bytes can take. */
static inline size_t json_string_limit(size_t size)
{
    return 6 * size + 2;
}

/* Writes UTF-8 as a JSON string with its quotes; gives the place behind it. */
char *json_string(char *at, const char *text, size_t size);

#endif
