/*
 * steps: a way from the roots, node by node, as a Go expression.
 */
#ifndef OUTPUT_REPORT_STEPS_H
#define OUTPUT_REPORT_STEPS_H

#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/text.h"

/*
 * Appends a way of count nodes, the first of which are the roots', and in brackets whose variable
 * it begins with where that is not a package's. Nothing is appended where no variable begins it.
 * Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *steps_append(const struct g2h_view *view, struct g2h_edges *edges,
                               const uint32_t *nodes, size_t count, struct text *text);

/* Appends what the edge from one node to another is called; false where there is none. */
bool steps_append_one(const struct g2h_view *view, struct g2h_edges *edges, uint32_t from,
                      uint32_t to, struct text *text);

/* Whether a node is what the runtime keeps of a map: it is left out. */
bool steps_is_entries(const struct g2h_view *view, uint32_t node);

#endif
