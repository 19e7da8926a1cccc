/*
 * whole: finds the arrays of which a pointer may use more than slices and strings say.
 *
 * Slices and strings say which part of an array they use, and a pointer to a single element uses
 * that element. Any other pointer may use all: a *[4096]byte, one to the struct that an array is a
 * field of, an unsafe.Pointer, or a word whose type is not known.
 */
#ifndef GRAPH_WHOLE_H
#define GRAPH_WHOLE_H

#include "graph/graph.h"

/* Sets in ret, which has a bit per object, the bits of those objects of asked that such a pointer
 * leads to, from an object that is not garbage or from a variable of a package. Other roots are not
 * examined. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *whole_find(const struct g2h_graph *graph, const uint64_t *asked, unsigned threads,
                             uint64_t *ret);

#endif
