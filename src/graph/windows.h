/*
 * windows: finds the arrays that slices use only in part; see naming/names.h.
 */
#ifndef GRAPH_WINDOWS_H
#define GRAPH_WINDOWS_H

#include "graph/capacities.h"
#include "naming/names.h"

/* Finds the windows of the arrays that slices lead to, once it is known what is garbage. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *windows_find(const struct g2h_graph *graph, enum capacities_of of,
                               unsigned threads, struct windows *ret);

/* Sets the bits of the windows' objects from their list. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *windows_set_bits(struct windows *windows, uint32_t objects);

#endif
