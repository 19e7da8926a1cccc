/*
 * windows: finds the arrays of which slices use only a part; see naming/slice_windows.h, and
 * g2h_windows_find() in include/go2heapsnapshot/view.h.
 */
#ifndef VIEW_WINDOWS_H
#define VIEW_WINDOWS_H

#include "view/capacities.h"
#include "naming/slice_windows.h"

/* Finds the windows of the arrays that slices lead to, once it is known what is garbage. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *windows_find(const struct g2h_graph *graph, enum capacities_of of,
                               unsigned threads, struct windows *ret);

#endif
