/* text: numbers and strings as JSON has them, written to memory that is large enough. */
#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_U32_MAX = 10 }; /* characters of the largest number */

/* "00", "01", … "99". */
extern const char text_digit_pairs[200];

/* Writes a number in decimal digits; gives the place behind them. */
static inline char *text_u32(char *at, uint32_t value)
{
    char digits[TEXT_U32_MAX];
    char *begin = digits + TEXT_U32_MAX;
    if (value < 10) {
        *at = (char)('0' + value);
        return at + 1;
    }
    while (value >= 100) {
        begin -= 2;
        memcpy(begin, &text_digit_pairs[value % 100 * 2], 2);
        value /= 100;
    }
    if (value >= 10) {
        begin -= 2;
        memcpy(begin, &text_digit_pairs[value * 2], 2);
    } else {
        *--begin = (char)('0' + value);
    }
    size_t size = (size_t)(digits + TEXT_U32_MAX - begin);
    memcpy(at, begin, size);
    return at + size;
}

/* The most characters that a JSON string of size bytes can take. */
static inline size_t text_json_limit(size_t size)
{
    return 6 * size + 2;
}

/* Writes UTF-8 as a JSON string with its quotes; gives the place behind it. */
char *text_json_string(char *at, const char *text, size_t size);

#endif
