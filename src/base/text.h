/*
 * text: strings that grow by appending, their characters, and what people and shells can be shown.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

#include "base/contract.h"

/* ==== reads one character of UTF-8 (RFC 3629: the shortest form only, and no surrogates) ==== */

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

/* Reads the character that begins at bytes, where left bytes can be read. Returns its size in
 * bytes, or 0 if they are not a character. */
static inline size_t utf8_read(const void *bytes, size_t left, uint32_t *ret)
{
    const uint8_t *at = bytes;
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    assert(left > 0);
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

/* ==== a string that grows by appending; most of them are names ==== */

/* A text begins as {0}. If memory runs out, an append sets failed and leaves the text unchanged
 * otherwise, so callers need to check failed only once, at the end. */
struct text {
    char *data;
    size_t size, capacity;
    bool failed; /* memory ran out */
};

/* Makes space for size more bytes. Returns false if memory runs out. */
bool text_grow(struct text *text, size_t size);

/* Appends size bytes. It is in the header because most pieces have a small constant size. */
static inline void text_append(struct text *text, const void *data, size_t size)
{
    if (text->capacity - text->size < size && !text_grow(text, size))
        return;
    if (size > 0)
        __builtin_memcpy(text->data + text->size, data, size);
    text->size += size;
}

static inline void text_append_string(struct text *text, const char *string)
{
    text_append(text, string, __builtin_strlen(string));
}

/* Appends printf()'s output. */
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the digits of a number; this is faster than text_printf(). */
void text_append_number(struct text *text, uint64_t number);

/* Appends the digits of a number in groups of three: 1,234. */
void text_append_grouped(struct text *text, uint64_t number);

/* Appends a number of bytes in units of a thousand: 17 B, 1.25 kB, 610 MB. */
void text_append_bytes(struct text *text, uint64_t bytes);

/* Appends a number as Go's %v formats it, strconv's 'g' with the fewest digits: 0.1, 1e+06, NaN,
 * +Inf. is_narrow: the number is a float32. The result is the same in every locale. */
void text_append_float(struct text *text, double value, bool is_narrow);

/* Appends bytes of a dump as UTF-8: invalid bytes become U+FFFD, and the text is cut after limit
 * characters. Returns the number of characters. */
size_t text_append_utf8(struct text *text, const void *bytes, size_t size, size_t limit);

/* Appends at most limit characters in the same way. Returns whether there are more. */
bool text_append_clipped(struct text *text, const void *data, size_t size, size_t limit);

/* Returns the number of ASCII bytes at the beginning; most bytes are ASCII. */
size_t text_ascii_run(const void *bytes, size_t size);

/* Returns whether all bytes are ASCII. The last two words that it reads may overlap. */
static inline bool text_is_ascii(const void *bytes, size_t size)
{
    const uint8_t *data = bytes;
    uint64_t all = 0, eight;
    uint32_t four, last;
    if (size >= 8) {
        for (size_t at = 0; at + 8 < size && (all & 0x8080808080808080u) == 0; at += 8) {
            __builtin_memcpy(&eight, data + at, 8);
            all |= eight;
        }
        __builtin_memcpy(&eight, data + size - 8, 8);
        return ((all | eight) & 0x8080808080808080u) == 0;
    }
    if (size >= 4) {
        __builtin_memcpy(&four, data, 4);
        __builtin_memcpy(&last, data + size - 4, 4);
        return ((four | last) & 0x80808080u) == 0;
    }
    return size == 0 || ((data[0] | data[size / 2] | data[size - 1]) & 0x80) == 0;
}

void text_deinit(struct text *text);

/* ==== quotes the words of commands that messages suggest ==== */

/* Appends a word quoted for a POSIX shell: in single quotes if it has characters that are special
 * to the shell. */
void shell_append(struct text *command, const char *word);

/* ==== which outside text is safe to show to people; g2h_printable() makes it so ==== */

/* Returns whether a character is shown as it is: neither a control that a terminal would interpret,
 * nor a character that changes the direction of text and so moves other characters. */
bool printable_is_shown(uint32_t character);

/* Returns whether a string is valid UTF-8 and all of its characters are shown. */
bool printable_is(const char *text, size_t size);

#endif
