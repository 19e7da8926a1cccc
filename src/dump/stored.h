/*
 * stored: how much of the memory of an object, a segment or a frame a dump holds:
 * docs/dump-formats.md, "Short writes".
 *
 * Go's dumper writes too little of very large memory. A dump that is made from outside holds all of
 * it, and is marked accordingly. In any dump, arrays without pointers may have been shortened: the
 * size of such an object is padded to LONGEST_UVARINT bytes, which no dumper does, and is followed
 * by the number of bytes that are left.
 */
#ifndef DUMP_STORED_H
#define DUMP_STORED_H

#include <string.h>

#include <go2heapsnapshot/dump.h>

/* Go's dumper ignores short writes, and Linux writes at most this many bytes at once. */
static const uint64_t LONGEST_WRITE = 0x7ffff000;

/* The description of an other root that is nil and is the second record of a dump that is made from
 * outside, if the dump holds more than Go's dumper would write. Elsewhere such a root has no
 * meaning, so that all contents of a dump are read in the same way. */
#define WHOLE_CONTENTS "whole contents"

/* Returns whether the other root that is record number (1 is the first) is this mark. */
static inline bool says_whole_contents(uint64_t number, const struct g2h_otherroot *root)
{
    const size_t size = sizeof(WHOLE_CONTENTS) - 1;
    return number == 2 && root->pointer == 0 && root->description.size == size &&
           memcmp(root->description.data, WHOLE_CONTENTS, size) == 0;
}

/* Returns how many bytes of contents with a declared size a dump without the mark holds. The dumper
 * passes their length as a number of 32 bits. */
static inline uint64_t stored_size(uint64_t size)
{
    const uint64_t length = size & 0xffffffff;
    return length < LONGEST_WRITE ? length : LONGEST_WRITE;
}

#endif
