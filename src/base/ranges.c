/*
 * ranges: sorted lists of ranges, and sparse files; see ranges.h. A sparse file has holes: ranges
 * that read as zeros and take no disk space. The second part writes zeros as holes where the file
 * system has these, and finds the holes of a file.
 */
#include "base/ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"

/* ==== ranges ==== */

/* Adds a range at the end. Ranges come in order; one that begins where the last one ends becomes a
 * part of it. An empty range is not added. Returns false if memory runs out. */
bool ranges_add(struct ranges *ranges, uint64_t begin, uint64_t end)
{
    struct range *last = ranges->list.count > 0 ? &ranges->list.data[ranges->list.count - 1] : NULL;
    if (begin >= end)
        return true;
    assert(!last || last->end <= begin);
    if (last && last->end == begin) {
        last->end = end;
        return true;
    }
    return vector_push(&ranges->list, ((struct range){begin, end}));
}

/* Orders ranges by their beginnings. */
static int ranges_compare(const void *a, const void *b)
{
    const struct range *one = a;
    const struct range *other = b;
    return COMPARE(one->begin, other->begin);
}

/* Sorts the ranges, and joins those that overlap or touch, in place. */
void ranges_sort(struct ranges *ranges)
{
    struct range *list = ranges->list.data;
    struct range *last = NULL;
    const size_t count = ranges->list.count;
    vector_sort(&ranges->list, ranges_compare);
    ranges->list.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (last && list[i].begin <= last->end) {
            last->end = MAX(list[i].end, last->end);
        } else if (list[i].begin < list[i].end) {
            last = &list[ranges->list.count++];
            *last = list[i];
        }
    }
}

/* Removes short ranges. Holes shorter than LEAST_HOLE are not worth the look-up. */
void ranges_drop_short(struct ranges *ranges)
{
    struct range *list = ranges->list.data;
    size_t kept = 0;
    for (size_t i = 0; i < ranges->list.count; i++)
        if (list[i].end - list[i].begin >= LEAST_HOLE)
            list[kept++] = list[i];
    ranges->list.count = kept;
}

/* Finds the first range that ends after from, by bisection, and cuts it to [from, end). Returns
 * false, with *ret empty at end, if there is none before end. */
bool ranges_next(const struct ranges *ranges, uint64_t from, uint64_t end, struct range *ret)
{
    const struct range *list = ranges->list.data;
    size_t at;
    BISECT(at, ranges->list.count, list[at].end <= from);
    assert(at == 0 || at == ranges->list.count || list[at - 1].end <= list[at].begin);
    if (at == ranges->list.count || list[at].begin >= end || from >= end) {
        *ret = (struct range){end, end};
        return false;
    }
    *ret = range_intersect(list[at], (struct range){from, end});
    return true;
}

/* Returns where [from, end) ends if a range that reaches to its end, or beyond, is left out. */
uint64_t ranges_trim(const struct ranges *ranges, uint64_t from, uint64_t end)
{
    const struct range *list = ranges->list.data;
    size_t at;
    BISECT(at, ranges->list.count, list[at].end < end);
    if (at == ranges->list.count || list[at].begin >= end)
        return end;
    return MAX(list[at].begin, from);
}

/* Returns how many of the bytes in [from, end) belong to ranges. */
uint64_t ranges_bytes(const struct ranges *ranges, uint64_t from, uint64_t end)
{
    struct range range;
    uint64_t bytes = 0;
    for (; ranges_next(ranges, from, end, &range); from = range.end)
        bytes += range.end - range.begin;
    return bytes;
}

void ranges_deinit(struct ranges *ranges)
{
    free(ranges->list.data);
    *ranges = (struct ranges){0};
}

/* ==== files with holes, ranges that read as zeros and take no disk space ==== */

enum {
    BLOCK = 4096,    /* bytes of a block of usual file systems: holes are whole blocks */
    STAT_BLOCK = 512 /* the unit of st_blocks (stat(2)) */
};

/* Returns whether all of size bytes, at least one, are 0: the first byte is, and each equals the
 * next one. */
bool sparse_is_zero(const uint8_t *data, size_t size)
{
    assert(size > 0);
    return data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
}

/* Writes all bytes at the file's position. Returns 0 or an errno value. A write may be cut short,
 * or be interrupted by a signal. */
int sparse_put(int file, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const ssize_t count = write(file, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno;
        at += count;
        size -= as_size(count);
    }
    return 0;
}

/* Returns whether zeros that are skipped become a hole in the file. The file must be a regular one,
 * not in append mode, and written at its end. */
bool sparse_is_possible(int file)
{
    struct stat status;
    const int flags = fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_APPEND) == 0 && fstat(file, &status) == 0 &&
           S_ISREG(status.st_mode) && lseek(file, 0, SEEK_CUR) == status.st_size;
}

/* Appends zeros to a file that can have holes: only moves its position. The file grows when the
 * next bytes are written, or with sparse_end(). Returns 0 or an errno value. */
int sparse_skip(int file, uint64_t zeros)
{
    return lseek(file, (off_t)zeros, SEEK_CUR) < 0 ? errno : 0;
}

/* Sets the file's size, which may end in a hole. Returns 0 or an errno value. */
int sparse_end(int file)
{
    const off_t end = lseek(file, 0, SEEK_CUR);
    return end < 0 || ftruncate(file, end) < 0 ? errno : 0;
}

/* Returns how many bytes from data on are whole blocks of zeros. */
static size_t zeros_at(const uint8_t *data, size_t size)
{
    size_t zeros = 0;
    while (size - zeros >= BLOCK && sparse_is_zero(data + zeros, BLOCK))
        zeros += BLOCK;
    return zeros;
}

/* Appends bytes to a file that can have holes. Goes block by block, from the first whole block of
 * the file on: seeks over runs of zero blocks of LEAST_HOLE bytes or more, which become holes, and
 * writes everything else. Returns 0 or an errno value. */
int sparse_write(int file, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    const off_t offset = lseek(file, 0, SEEK_CUR);
    size_t written = 0; /* bytes[0 … written) are in the file */
    size_t at = offset >= 0 ? (size_t)(-offset & (BLOCK - 1)) : 0;
    if (offset < 0)
        return errno;
    while (at < size) {
        const size_t zeros = zeros_at(bytes + at, size - at);
        int error = 0;
        if (zeros >= LEAST_HOLE) {
            error = sparse_put(file, bytes + written, at - written);
            if (error == 0)
                error = sparse_skip(file, zeros);
            written = at + zeros;
        }
        if (error != 0)
            return error;
        at += zeros > 0 ? zeros : BLOCK;
    }
    return written < size ? sparse_put(file, bytes + written, size - written) : sparse_end(file);
}

#ifdef SEEK_HOLE

/* Lists the holes of a file that have LEAST_HOLE bytes or more, by asking the system for its data
 * and holes in turn. ENXIO: only a hole follows. Returns false if memory runs out; other errors, as
 * of a file system that knows no holes, end the list. */
static bool sparse_seek_holes(int file, uint64_t size, struct ranges *ret)
{
    for (uint64_t at = 0; at < size;) {
        const off_t data = lseek(file, (off_t)at, SEEK_DATA),
                    end = data >= 0 ? lseek(file, data, SEEK_HOLE) : -1;
        if (data < 0 && errno != ENXIO)
            return true;
        const uint64_t hole_end = data >= 0 && (uint64_t)data < size ? (uint64_t)data : size;
        if (hole_end - at >= LEAST_HOLE && !ranges_add(ret, at, hole_end))
            return false;
        at = end > (off_t)hole_end ? (uint64_t)end : size;
    }
    return true;
}

#endif

/* Finds the holes in a file of size bytes, and sets its position to 0. Finds none in what is not a
 * regular file, or has as many bytes on the disk as its size. Returns false if memory runs out. */
bool sparse_find_holes(int file, uint64_t size, struct ranges *ret)
{
#ifdef SEEK_HOLE
    struct stat status;
    if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) ||
        (uint64_t)status.st_blocks * STAT_BLOCK >= size)
        return true;
    const bool good = sparse_seek_holes(file, size, ret);
    (void)lseek(file, 0, SEEK_SET);
    return good;
#else
    (void)file, (void)size, (void)ret;
    return true;
#endif
}
