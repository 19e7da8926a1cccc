/*
 * ranges: parts of a file or of an address space, ascending and apart from one another, such as
 * those that are known to be zeros: holes.
 */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include "base/memory.h"

struct range {
    uint64_t begin, end;
};

struct ranges {
    VECTOR(struct range) list;
};

/* Shorter holes are not worth the steps around them: their zeros are read and written like other
 * bytes. */
enum { LEAST_HOLE = 4 * 4096 };

/* Adds a range that begins at the end of the last one or behind it. Returns false if memory runs
 * out. */
bool ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end);

/* Puts ranges that were pushed to the list in any order in order, and joins those that overlap or
 * touch. */
void ranges_sort(struct ranges *ranges);

/* Removes the ranges that are shorter than LEAST_HOLE. */
void ranges_drop_short(struct ranges *ranges);

/* Finds the first bytes in [from, end) that belong to a range. Returns false, with an empty range
 * at end, if there are none. */
bool ranges_next(const struct ranges *ranges, uint64_t from, uint64_t end, struct range *ret);

/* Returns where the bytes in [from, end) end that belong to no range, if a range has the last of
 * them: from, if one range has them all. */
uint64_t ranges_trim(const struct ranges *ranges, uint64_t from, uint64_t end);

/* Returns how many of the bytes in [from, end) belong to ranges. */
uint64_t ranges_bytes(const struct ranges *ranges, uint64_t from, uint64_t end);

void ranges_deinit(struct ranges *ranges);

#endif
