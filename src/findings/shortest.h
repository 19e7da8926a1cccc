/*
 * shortest: the shortest ways from the roots to all nodes, by strong edges.
 *
 * Names that are certain come first: a word of a stack that may be a leftover is only followed to
 * nodes that nothing else leads to.
 */
#ifndef FINDINGS_SHORTEST_H
#define FINDINGS_SHORTEST_H

#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/memory.h"

struct shortest {
    uint32_t *from; /* by node: the node before it; UINT32_MAX: it is not reached, or garbage */
};

typedef VECTOR(uint32_t) node_vector;

/* Finds all ways, breadth first. It takes 8 bytes per node of the view, and keeps 4 of these.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *shortest_find(const struct g2h_view *view, struct shortest *ret);
void shortest_deinit(struct shortest *shortest);

/* Gives the nodes of the way to a node, from the root on; no nodes if no way leads to it. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *shortest_way(const struct shortest *shortest, uint32_t node, node_vector *ret);

#endif
