/*
 * sort: from the runs of a dump to its objects in the order of their addresses.
 *
 * The objects of a dump need not be sorted one by one: runs are sorted, each as a whole, and then
 * written out on all threads. Where runs overlap, which only those of a damaged dump do, each of
 * their objects is sorted.
 */
#ifndef HEAP_SORT_H
#define HEAP_SORT_H

#include "heap/runs.h"

/*
 * Fills heap->objects from the chunks, which must be in the order of the file, and empties these.
 * Leaves out phantoms and objects that overlap others, and counts them. Errors:
 * G2H_ERROR_MEMORY, G2H_ERROR_LIMIT.
 */
struct g2h_error *sort_objects(struct g2h_heap *heap, chunk_vector *chunks, unsigned threads);

#endif
