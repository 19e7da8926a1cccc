/*
 * json: writes numbers and strings as JSON into memory that is large enough; see json.h. Most
 * numbers and strings are short and plain, and have fast ways: digits of small numbers are packed
 * into a word that is copied at once, and strings are copied eight bytes at a time until one needs
 * an escape.
 */
#include "output/json.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Returns the digits of a number in a word that is copied as a whole: the first digit in the lowest
 * byte, and their number in the highest one, so at most 7. */
uint64_t json_short(uint32_t value)
{
    char digits[JSON_U32_MAX];
    const unsigned size = (unsigned)(json_u32(digits, value) - digits);
    uint64_t text = (uint64_t)size << 56;
    for (unsigned i = 0; i < size; i++)
        text |= (uint64_t)(unsigned char)digits[i] << 8 * i;
    return text;
}

/* Writes a unit of UTF-16 as \uXXXX. */
static char *put_unit(char *at, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    *at++ = '\\';
    *at++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *at++ = hex[unit >> shift & 15];
    return at;
}

/* Writes a character as one unit of UTF-16, or as a pair. */
static char *put_escaped(char *at, uint32_t character)
{
    if (character < 0x10000)
        return put_unit(at, character);
    at = put_unit(at, 0xd800 + ((character - 0x10000) >> 10));
    return put_unit(at, 0xdc00 + (character & 0x3ff));
}

/* Writes the first character of a string of size bytes, and returns the position after it.
 * *ret_read is how many bytes it had. Invalid UTF-8 is written as it is. */
static char *put_character(char *at, const char *text, size_t size, size_t *ret_read)
{
    uint32_t character = (unsigned char)*text;
    const size_t count = utf8_read(text, size, &character);
    *ret_read = count > 0 ? count : 1;
    if (count > 0 && !printable_is_shown(character))
        return put_escaped(at, character);
    if (character == '"' || character == '\\')
        *at++ = '\\';
    memcpy(at, text, *ret_read);
    return at + *ret_read;
}

/* Returns whether any of eight bytes may need an escape, or is not ASCII. (x - 0x01…) & ~x has the
 * top bit of each zero byte set, so XOR with a character finds that character. */
static inline bool may_need_escape(uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101;
    const uint64_t tops = ones << 7;
    const uint64_t quotes = bytes ^ ones * '"';
    const uint64_t backslashes = bytes ^ ones * '\\';
    const uint64_t deletes = bytes ^ ones * 0x7f;
    return ((((bytes - ones * ' ') & ~bytes) | ((quotes - ones) & ~quotes) |
             ((backslashes - ones) & ~backslashes) | ((deletes - ones) & ~deletes) | bytes) &
            tops) != 0;
}

/* Writes a text as a JSON string. Copies eight bytes at a time while none needs an escape. */
char *json_string(char *at, const char *text, size_t size)
{
    *at++ = '"';
    for (size_t i = 0, read; i < size; i += read) {
        uint64_t eight;
        for (; size - i >= 8; i += 8, at += 8) { /* most strings need no escape */
            memcpy(&eight, text + i, 8);
            if (may_need_escape(eight))
                break;
            memcpy(at, &eight, 8);
        }
        if (i == size)
            break;
        at = put_character(at, text + i, size - i, &read);
    }
    *at++ = '"';
    return at;
}

/* Returns how many bytes more it takes if <, > and & are written as \u003c and so on. */
size_t json_markup(const char *text, size_t size)
{
    enum { MORE = sizeof("\\u003c") - sizeof("<") };
    size_t more = 0;
    for (size_t i = 0; i < size; i++)
        more += text[i] == '<' || text[i] == '>' || text[i] == '&' ? MORE : 0;
    return more;
}
