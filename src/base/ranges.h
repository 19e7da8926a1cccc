/*
 * ranges: sorted, disjoint ranges of a file or of an address space, and files with holes.
 */
#ifndef BASE_RANGES_H
#define BASE_RANGES_H

#include "base/contract.h"
#include "base/memory.h"

/* ==== ranges ====
 *
 * Sorted, disjoint ranges of a file or of an address space, such as those known to be zeros: holes.
 */

struct range {
    uint64_t begin, end;
};

struct ranges {
    VECTOR(struct range) list;
};

/* Returns what two ranges have in common. If there is nothing, its end is not after its begin. */
static inline struct range range_intersect(struct range one, struct range other)
{
    const uint64_t begin = MAX(one.begin, other.begin);
    const uint64_t end = MIN(one.end, other.end);
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

/* ==== files with holes, ranges that read as zeros and take no disk space ====
 *
 * A process may have reserved far more memory than it ever wrote to. Temporary copies of dumps have
 * holes in place of such memory, and readers can skip holes.
 */

/* Returns whether zeros that sparse_skip() adds to a file become a hole: whether it is a regular
 * file, and written at its end. */
bool sparse_is_possible(int file);

/* Returns whether bytes, at least one, are all zeros. */
bool sparse_is_zero(const uint8_t *data, size_t size);

/* Writes bytes to a file of any kind as they are. Returns 0 or an errno value. */
int sparse_put(int file, const void *data, size_t size);

/* Appends bytes to a new regular file: whole blocks of zeros become holes. Returns 0 or an errno
 * value. */
int sparse_write(int file, const void *data, size_t size);

/* Appends zeros to such a file, whose size grows only with the next other bytes, or with
 * sparse_end(). Returns 0 or an errno value. */
int sparse_skip(int file, uint64_t zeros);

int sparse_end(int file);

/* Finds the holes in the first size bytes of a file; there are none if the system does not report
 * them. Holes shorter than LEAST_HOLE are left out. The file's offset is 0 afterwards. Returns
 * false if memory runs out. */
bool sparse_find_holes(int file, uint64_t size, struct ranges *ret);

#endif
