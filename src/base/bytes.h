/* bytes: compares strings that are not NUL-terminated. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <string.h>

#include <go2heapsnapshot/bytes.h>

#include "base/contract.h"

/* An empty string whose data is not NULL. */
static const struct g2h_bytes bytes_none = {(const uint8_t *)"", 0};

static inline struct g2h_bytes bytes_of(const char *text)
{
    return (struct g2h_bytes){(const uint8_t *)text, strlen(text)};
}

static inline bool bytes_same(struct g2h_bytes one, struct g2h_bytes other)
{
    return one.size == other.size &&
           (one.size == 0 || memcmp(one.data, other.data, (size_t)one.size) == 0);
}

/* Returns less than 0, 0, or more than 0, as memcmp() does. */
static inline int bytes_compare(struct g2h_bytes one, struct g2h_bytes other)
{
    const uint64_t size = one.size < other.size ? one.size : other.size;
    const int order = size > 0 ? memcmp(one.data, other.data, (size_t)size) : 0;
    return order != 0 ? order : (one.size > other.size) - (one.size < other.size);
}

static inline bool bytes_are(struct g2h_bytes bytes, const char *text)
{
    return bytes_same(bytes, bytes_of(text));
}

static inline bool bytes_begin(struct g2h_bytes bytes, const char *text)
{
    const size_t size = strlen(text);
    return bytes.size >= size && memcmp(bytes.data, text, size) == 0;
}

static inline bool bytes_end(struct g2h_bytes bytes, const char *text)
{
    const size_t size = strlen(text);
    return bytes.size >= size && memcmp(bytes.data + bytes.size - size, text, size) == 0;
}

static inline bool bytes_begin_with(struct g2h_bytes bytes, struct g2h_bytes start)
{
    return bytes.size >= start.size &&
           bytes_same((struct g2h_bytes){bytes.data, start.size}, start);
}

static inline bool bytes_end_with(struct g2h_bytes bytes, struct g2h_bytes end)
{
    return bytes.size >= end.size &&
           bytes_same((struct g2h_bytes){bytes.data + bytes.size - end.size, end.size}, end);
}

/* Returns the part of a path after its last slash, or all of it if it has none. */
static inline struct g2h_bytes bytes_base_name(struct g2h_bytes path)
{
    uint64_t at = path.size;
    while (at > 0 && path.data[at - 1] != '/')
        at--;
    return (struct g2h_bytes){path.data + at, path.size - at};
}

/* Finds the first occurrence of a string, which is not empty, or returns NULL. For names and short
 * strings this takes a fifth of the instructions of memmem(), which prepares a table for each
 * search; the string may not be longer than a few dozen bytes, because the search may compare it at
 * each position. */
static inline const uint8_t *bytes_find(struct g2h_bytes bytes, const char *text)
{
    const size_t size = strlen(text);
    const uint8_t *at = bytes.data, *end = bytes.data + bytes.size;
    assert(size > 0);
    while ((size_t)(end - at) >= size &&
           (at = memchr(at, text[0], (size_t)(end - at) - size + 1))) {
        if (memcmp(at, text, size) == 0)
            return at;
        at++;
    }
    return NULL;
}

static inline bool bytes_contain(struct g2h_bytes bytes, const char *text)
{
    return bytes_find(bytes, text) != NULL;
}

#endif
