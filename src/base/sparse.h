/*
 * sparse: files with holes, ranges that read as zeros and take no disk.
 *
 * A process may have reserved far more memory than it ever wrote to. Temporary copies of dumps have
 * holes in place of such memory, and whoever reads a file with holes need not read them.
 */
#ifndef BASE_SPARSE_H
#define BASE_SPARSE_H

#include "base/ranges.h"

/* Returns whether zeros that sparse_skip() adds to a file become a hole: whether it is a regular
 * file, and nothing is behind the place where it is written. */
bool sparse_is_possible(int file);

/* Returns whether bytes, at least one, are all zeros. */
bool sparse_is_zero(const uint8_t *data, size_t size);

/* Writes bytes to a file of any kind as they are. Returns 0 or an errno value. */
int sparse_put(int file, const void *data, size_t size);

/* Writes bytes to a new regular file, at the end of what has been written to it: whole blocks of
 * zeros become holes. Returns 0 or an errno value. */
int sparse_write(int file, const void *data, size_t size);

/* Adds zeros to such a file, but only other bytes behind them, or sparse_end(), make it so much
 * longer. Returns 0 or an errno value. */
int sparse_skip(int file, uint64_t zeros);
int sparse_end(int file);

/* Finds the holes in the first size bytes of a file; there are none if the system does not tell.
 * Holes shorter than LEAST_HOLE are left out. The file's offset is 0 afterwards. Returns false if
 * memory runs out. */
bool sparse_find_holes(int file, uint64_t size, struct ranges *ret);

#endif
