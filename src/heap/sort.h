/*
 * sort: sorts the objects of a dump's runs by address.
 *
 * The objects need not be sorted one by one: whole runs are sorted, and then written out on all
 * threads. If runs overlap, which happens only in a damaged dump, their objects are sorted one by
 * one.
 */
#ifndef HEAP_SORT_H
#define HEAP_SORT_H

#include "heap/runs.h"

/*
 * Fills heap->objects from the chunks, which must be in file order, and empties the chunks. Leaves
 * out phantoms and objects that overlap others, and counts them. Errors: G2H_ERROR_MEMORY,
 * G2H_ERROR_LIMIT.
 */
struct g2h_error *sort_objects(struct g2h_heap *heap, chunk_vector *chunks, unsigned threads);

#endif
