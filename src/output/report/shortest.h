/*
 * shortest: the shortest ways from the roots to all nodes, by strong edges.
 *
 * Names that are certain come first: a word of a stack that may be a leftover leads only to what
 * nothing else does.
 */
#ifndef OUTPUT_REPORT_SHORTEST_H
#define OUTPUT_REPORT_SHORTEST_H

#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/memory.h"

struct shortest {
    uint32_t *from; /* by node: the one before it; UINT32_MAX: none leads there, or it is garbage */
};

typedef VECTOR(uint32_t) node_vector;

/* Finds them, breadth first. It takes 8 bytes per node of the view, of which 4 stay. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *shortest_find(const struct g2h_view *view, struct shortest *ret);
void shortest_deinit(struct shortest *shortest);

/* The nodes of the way to one, from the root on; none where it is not reached. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *shortest_way(const struct shortest *shortest, uint32_t node, node_vector *ret);

#endif
