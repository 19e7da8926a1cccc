/*
 * bytes: bytes that are not NUL-terminated: comparing them, and reading them within their bounds.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <go2heapsnapshot/bytes.h>

#include "base/contract.h"

/* ==== parts of bytes ==== */

/* Returns what stands from begin to end, which is not before it. */
static inline struct g2h_bytes bytes_between(const void *begin, const void *end)
{
    const uint8_t *data = begin;
    return (struct g2h_bytes){data, as_size((const uint8_t *)end - data)};
}

/* Returns a part that is inside. */
static inline struct g2h_bytes bytes_part(struct g2h_bytes bytes, uint64_t at, uint64_t size)
{
    assert(at <= bytes.size && size <= bytes.size - at);
    return (struct g2h_bytes){bytes.data + at, (size_t)size};
}

/* Returns what stands from an offset, which is at most the size, to the end. */
static inline struct g2h_bytes bytes_from(struct g2h_bytes bytes, uint64_t at)
{
    assert(at <= bytes.size);
    if (at == 0)
        return bytes; /* its data may be NULL */
    return (struct g2h_bytes){bytes.data + at, bytes.size - (size_t)at};
}

/* Returns what stands before an offset, which is at most the size. */
static inline struct g2h_bytes bytes_before(struct g2h_bytes bytes, uint64_t at)
{
    assert(at <= bytes.size);
    return (struct g2h_bytes){bytes.data, (size_t)at};
}

/* Returns the first bytes, or all if there are fewer. */
static inline struct g2h_bytes bytes_at_most(struct g2h_bytes bytes, uint64_t most)
{
    return most < bytes.size ? bytes_before(bytes, most) : bytes;
}

/* Returns memory of this process of a size that has been checked. */
static inline struct g2h_bytes bytes_at(const void *data, uint64_t size)
{
    assert(size <= SIZE_MAX);
    return (struct g2h_bytes){data, (size_t)size};
}

/* Returns the characters, which need not end with a NUL. */
static inline const char *bytes_text(struct g2h_bytes bytes)
{
    return (const char *)bytes.data;
}

/* Returns a copy that ends with a NUL, and ends before a NUL inside; NULL: memory ran out. */
static inline char *bytes_copied(struct g2h_bytes bytes)
{
    return bytes.size > 0 ? strndup(bytes_text(bytes), bytes.size) : strdup("");
}

/* ==== numbers of a fixed size ==== */

static inline unsigned u16_little(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static inline unsigned u16_big(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static inline uint32_t u32_little(const uint8_t *at)
{
    return u16_little(at) | u16_little(at + 2) << 16;
}

static inline uint32_t u32_big(const uint8_t *at)
{
    return u16_big(at) << 16 | u16_big(at + 2);
}

/* ==== compares strings that are not NUL-terminated ==== */

/* An empty string whose data is not NULL. */
static const struct g2h_bytes bytes_none = {(const uint8_t *)"", 0};

static inline struct g2h_bytes bytes_of(const char *text)
{
    return (struct g2h_bytes){(const uint8_t *)text, strlen(text)};
}

static inline bool bytes_same(struct g2h_bytes one, struct g2h_bytes other)
{
    return one.size == other.size && (one.size == 0 || memcmp(one.data, other.data, one.size) == 0);
}

/* Returns less than 0, 0, or more than 0, as memcmp() does. */
static inline int bytes_compare(struct g2h_bytes one, struct g2h_bytes other)
{
    const size_t size = MIN(one.size, other.size);
    const int order = size > 0 ? memcmp(one.data, other.data, size) : 0;
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
    size_t at = path.size;
    while (at > 0 && path.data[at - 1] != '/')
        at--;
    return bytes_from(path, at);
}

/* Finds the first occurrence of a string, which is not empty, or returns NULL. For names and short
 * strings this takes a fifth of the instructions of memmem(), which prepares a table for each
 * search; the string may not be longer than a few dozen bytes, because the search may compare it at
 * each position. It looks for the first byte, or the second if that is a dot, which names have many
 * of. */
static inline const uint8_t *bytes_find(struct g2h_bytes bytes, const char *text)
{
    const size_t size = strlen(text);
    assert(size > 0);
    if (bytes.size < size)
        return NULL;
    const size_t rare = text[0] == '.' && size > 1;
    const uint8_t *at = bytes.data;
    const uint8_t *last = bytes.data + bytes.size - size;
    while (at <= last && (at = memchr(at + rare, text[rare], as_size(last - at) + 1))) {
        at -= rare;
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

/* ==== reads bytes ====
 *
 * A cursor carries its position and its end, so no read can leave its bytes. The numbers of a heap
 * dump are uvarints, as Go's encoding/binary writes them: little-endian groups of seven bits, the
 * top bit set on all bytes but the last, ten bytes at most.
 */

enum { LONGEST_UVARINT = 10 };

struct cursor {
    const uint8_t *at, *end;
};

static inline size_t cursor_left(const struct cursor *cursor)
{
    return as_size(cursor->end - cursor->at);
}

/* The general case of cursor_uvarint(): checks each byte. Of the tenth only the lowest bit fits. */
static inline bool cursor_uvarint_checked(struct cursor *cursor, uint64_t *ret)
{
    uint64_t value = 0;
    const uint8_t *at = cursor->at;
    for (unsigned shift = 0; shift < 70 && at < cursor->end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            cursor->at = at;
            *ret = value;
            return true;
        }
    }
    return false;
}

/* Joins the seven-bit groups of eight bytes into one number: pairs of groups, then fours, then
 * eights. */
static inline uint64_t uvarint_join(uint64_t groups)
{
    groups = (groups & 0x007f007f007f007f) | (groups & 0x7f007f007f007f00) >> 1;
    groups = (groups & 0x00003fff00003fff) | (groups & 0x3fff00003fff0000) >> 2;
    return (groups & 0x000000000fffffff) | (groups & 0x0fffffff00000000) >> 4;
}

/* Reads a uvarint. Returns false, and changes neither the cursor nor *ret, if the uvarint is cut or
 * does not fit 64 bits. */
static inline bool cursor_uvarint(struct cursor *cursor, uint64_t *ret)
{
    const uint8_t *at = cursor->at;
    if (cursor_left(cursor) < 8)
        return cursor_uvarint_checked(cursor, ret);
    if (at[0] < 0x80) {
        *ret = at[0];
        cursor->at = at + 1;
        return true;
    }
    if (at[1] < 0x80) {
        *ret = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        cursor->at = at + 2;
        return true;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t bytes;
    __builtin_memcpy(&bytes, at, 8);
    uint64_t ends = ~bytes & 0x8080808080808080; /* the top bits of bytes that end a uvarint */
    if (ends != 0) {                             /* addresses take six or seven bytes */
        const uint64_t until_first_end = ends ^ (ends - 1);
        *ret = uvarint_join(bytes & until_first_end);
        cursor->at = at + __builtin_ctzll(ends) / 8 + 1;
        return true;
    }
#endif
    return cursor_uvarint_checked(cursor, ret);
}

/* Returns the number of bytes in which Go encodes a value, its bits divided by 7 and rounded up.
 * Other writers may use longer uvarints. */
static inline unsigned uvarint_size(uint64_t value)
{
    return (unsigned)(70 - __builtin_clzll(value | 1)) / 7;
}

/* Writes a value in LONGEST_UVARINT bytes, more than it needs, which no other writer does: a
 * mark. */
static inline void cursor_put_longest(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < LONGEST_UVARINT - 1; i++, value >>= 7)
        at[i] = (uint8_t)(value | 0x80);
    at[LONGEST_UVARINT - 1] = (uint8_t)value;
}

/* Skips size bytes. Returns false, and does not move the cursor, if fewer are left. */
static inline bool cursor_skip(struct cursor *cursor, uint64_t size)
{
    if (size > cursor_left(cursor))
        return false;
    cursor->at += size;
    return true;
}

#endif
