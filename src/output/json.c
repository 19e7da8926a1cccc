/* json; see json.h. */
#include "output/json.h"

#include <stdbool.h>
#include <string.h>

const char json_digit_pairs[200] = {
    '0', '0', '0', '1', '0', '2', '0', '3', '0', '4', '0', '5', '0', '6', '0', '7', '0', '8', '0',
    '9', '1', '0', '1', '1', '1', '2', '1', '3', '1', '4', '1', '5', '1', '6', '1', '7', '1', '8',
    '1', '9', '2', '0', '2', '1', '2', '2', '2', '3', '2', '4', '2', '5', '2', '6', '2', '7', '2',
    '8', '2', '9', '3', '0', '3', '1', '3', '2', '3', '3', '3', '4', '3', '5', '3', '6', '3', '7',
    '3', '8', '3', '9', '4', '0', '4', '1', '4', '2', '4', '3', '4', '4', '4', '5', '4', '6', '4',
    '7', '4', '8', '4', '9', '5', '0', '5', '1', '5', '2', '5', '3', '5', '4', '5', '5', '5', '6',
    '5', '7', '5', '8', '5', '9', '6', '0', '6', '1', '6', '2', '6', '3', '6', '4', '6', '5', '6',
    '6', '6', '7', '6', '8', '6', '9', '7', '0', '7', '1', '7', '2', '7', '3', '7', '4', '7', '5',
    '7', '6', '7', '7', '7', '8', '7', '9', '8', '0', '8', '1', '8', '2', '8', '3', '8', '4', '8',
    '5', '8', '6', '8', '7', '8', '8', '8', '9', '9', '0', '9', '1', '9', '2', '9', '3', '9', '4',
    '9', '5', '9', '6', '9', '7', '9', '8', '9', '9'};

uint64_t json_short(uint32_t value)
{
    char digits[JSON_U32_MAX];
    const unsigned size = (unsigned)(json_u32(digits, value) - digits);
    uint64_t text = (uint64_t)size << 56;
    for (unsigned i = 0; i < size; i++)
        text |= (uint64_t)(unsigned char)digits[i] << 8 * i;
    return text;
}

/* A control character or DEL as \u00XX. */
static char *escape(char *at, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    memcpy(at, "\\u00", 4);
    at[4] = hex[byte >> 4];
    at[5] = hex[byte & 15];
    return at + 6;
}

/* Whether some of eight bytes may need an escape. */
static inline bool may_need_escape(uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101, tops = ones << 7, quotes = bytes ^ ones * '"',
                   backslashes = bytes ^ ones * '\\', deletes = bytes ^ ones * 0x7f;
    return ((((bytes - ones * ' ') & ~bytes) | ((quotes - ones) & ~quotes) |
             ((backslashes - ones) & ~backslashes) | ((deletes - ones) & ~deletes)) &
            tops) != 0;
}

char *json_string(char *at, const char *text, size_t size)
{
    *at++ = '"';
    for (size_t i = 0; i < size; i++) {
        uint64_t eight;
        for (; size - i >= 8; i += 8, at += 8) { /* most need none */
            memcpy(&eight, text + i, 8);
            if (may_need_escape(eight))
                break;
            memcpy(at, &eight, 8);
        }
        if (i == size)
            break;
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\') {
            *at++ = '\\';
            *at++ = (char)byte;
        } else if (byte < 0x20 || byte == 0x7f) {
            at = escape(at, byte);
        } else {
            *at++ = (char)byte;
        }
    }
    *at++ = '"';
    return at;
}
