/* json; see json.h. */
#include "output/json.h"

#include <stdbool.h>
#include <string.h>

uint64_t json_short(uint32_t value)
{
    char digits[JSON_U32_MAX];
    const unsigned size = (unsigned)(json_u32(digits, value) - digits);
    uint64_t text = (uint64_t)size << 56;
    for (unsigned i = 0; i < size; i++)
        text |= (uint64_t)(unsigned char)digits[i] << 8 * i;
    return text;
}

/* Writes a control character or DEL as \u00XX. */
static char *escape(char *at, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    memcpy(at, "\\u00", 4);
    at[4] = hex[byte >> 4];
    at[5] = hex[byte & 15];
    return at + 6;
}

/* Returns whether any of eight bytes may need an escape. */
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
        for (; size - i >= 8; i += 8, at += 8) { /* most texts need no escape */
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
