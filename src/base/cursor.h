/*
 * cursor: reads bytes. A cursor carries its position and its end, so no read can leave its bytes.
 * The numbers of a heap dump are uvarints, as Go's encoding/binary writes them: little-endian
 * groups of seven bits, the top bit set on all bytes but the last, ten bytes at most.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LONGEST_UVARINT = 10 };

struct cursor {
    const uint8_t *at, *end;
};

static inline size_t cursor_left(const struct cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* The general case of cursor_uvarint(): checks each byte. */
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

/* Reads a uvarint. Returns false, and does not move the cursor, if the uvarint is cut or does not
 * fit 64 bits. */
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
    uint64_t ends = ~bytes & 0x8080808080808080;
    if (ends != 0) { /* addresses take six or seven bytes */
        *ret = uvarint_join(bytes & (ends ^ (ends - 1)));
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

/* Skips size bytes. Returns false, and does not move the cursor, if fewer are left. */
static inline bool cursor_skip(struct cursor *cursor, uint64_t size)
{
    if (size > cursor_left(cursor))
        return false;
    cursor->at += size;
    return true;
}

#endif
