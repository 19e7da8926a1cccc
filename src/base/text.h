/* text: bytes that are appended to each other, mostly names that are made. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text begins as {0}. An append for which there is no memory leaves it as it is, but for failed:
 * so it is enough to ask once, at the end. */
struct text {
    char *data;
    size_t size, capacity;
    bool failed; /* no memory */
};

/* Makes room for size bytes more; false where there is no memory. */
bool text_grow(struct text *text, size_t size);

/* In the header because most pieces are of a few bytes, which the compiler knows. */
static inline void text_append(struct text *text, const char *data, size_t size)
{
    if (text->capacity - text->size < size && !text_grow(text, size))
        return;
    if (size > 0)
        __builtin_memcpy(text->data + text->size, data, size);
    text->size += size;
}

/* Of what printf() makes, at most 255 bytes are appended. */
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the digits of a number; this is faster than text_printf(). */
void text_append_number(struct text *text, uint64_t number);

/* Appends them in groups of three: 1,234. */
void text_append_grouped(struct text *text, uint64_t number);

/*
 * Appends a number as Go's %v has it, strconv's 'g' with the fewest digits: 0.1, 1e+06, NaN, +Inf.
 * is_narrow: it is a float32. In the locale "C" and others alike.
 */
void text_append_float(struct text *text, double value, bool is_narrow);

/*
 * Appends bytes of a dump as UTF-8: what is not valid becomes U+FFFD, and what is beyond limit
 * characters is cut. Gives the number of characters.
 */
size_t text_append_utf8(struct text *text, const uint8_t *data, uint64_t size, size_t limit);

/* How many of the next bytes are ASCII: most are. */
uint64_t text_ascii_run(const uint8_t *data, uint64_t size);

/* Whether all of them are. The last words that are looked at may overlap. */
static inline bool text_is_ascii(const uint8_t *data, uint64_t size)
{
    uint64_t all = 0, eight;
    uint32_t four, last;
    if (size >= 8) {
        for (uint64_t at = 0; at + 8 < size && (all & 0x8080808080808080u) == 0; at += 8) {
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

#endif
