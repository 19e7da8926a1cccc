/* stored: how much of an object's contents a dump holds: docs/dump-formats.md, "Short writes". */
#ifndef DUMP_STORED_H
#define DUMP_STORED_H

#include <stdint.h>

/* Go's dumper ignores short writes, and Linux writes at most this many bytes at once. */
static const uint64_t LONGEST_WRITE = 0x7ffff000;

/* Returns the number of bytes that a dump holds of contents with a declared size. The dumper passes
 * their length as a number of 32 bits. */
static inline uint64_t stored_size(uint64_t size)
{
    const uint64_t length = size & 0xffffffff;
    return length < LONGEST_WRITE ? length : LONGEST_WRITE;
}

#endif
