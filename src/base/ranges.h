/*
 * ranges: sorted, disjoint ranges of a file or of an address space, such as those known to be
 * zeros: holes.
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

/* Returns what two ranges have in common. If there is nothing, its end is not after its begin. */
static inline struct range range_intersect(struct range one, struct range other)
{
    const uint64_t begin = one.begin > other.begin ? one.begin : other.begin;
    const uint64_t end = one.end < other.end ? one.end : other.end;
    return (struct range){begin, end};
}

/* Shorter holes are not worth the special handling: their zeros are read and written like other
 * bytes. */
enum { LEAST_HOLE = 4 * 4096 };

/* Adds a range that begins at or after the end of the last one. Returns false if memory runs
 * out. */
bool ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end);

/* Sorts ranges that were pushed to the list in any order, and joins those that overlap or touch. */
void ranges_sort(struct ranges *ranges);

/* Removes the ranges that are shorter than LEAST_HOLE. */
void ranges_drop_short(struct ranges *ranges);

/* Finds the first bytes in [from, end) that belong to a range. Returns false, with an empty range
 * at end, if there are none. */
bool ranges_next(const struct ranges *ranges, uint64_t from, uint64_t end, struct range *ret);

/* Returns [from, end)'s end without its trailing range: end itself if no range contains the last
 * byte, from if one range contains them all. */
uint64_t ranges_trim(const struct ranges *ranges, uint64_t from, uint64_t end);

/* Returns how many of the bytes in [from, end) belong to ranges. */
uint64_t ranges_bytes(const struct ranges *ranges, uint64_t from, uint64_t end);

void ranges_deinit(struct ranges *ranges);

#endif
