/*
 * sparse: files with holes, ranges that read as zeros and take no disk space.
 *
 * A process may have reserved far more memory than it ever wrote to. Temporary copies of dumps have
 * holes in place of such memory, and readers can skip holes.
 */
#ifndef BASE_SPARSE_H
#define BASE_SPARSE_H

#include "base/ranges.h"

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
