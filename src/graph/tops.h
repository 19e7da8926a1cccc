/*
 * tops: what the roots' groups hold together directly: of the nodes that have several owners those
 * that no other such node dominates. All else that has several owners is some top's, which holds it
 * alone.
 */
#ifndef GRAPH_TOPS_H
#define GRAPH_TOPS_H

#include "graph/owners.h"

struct tops {
    uint32_t count;
    uint32_t graph_nodes;
    uint32_t *of_node;      /* by node: 0, or the number of its top + 1, and what follows */
    VECTOR(uint32_t) nodes; /* by number */
    uint64_t *sizes;        /* retained, by number */
};

/* A node is a top itself; it leads nowhere. */
#define TOP_ITSELF ((uint32_t)1 << 31)
#define TOP_LEAF   ((uint32_t)1 << 30)

/* The number of a node's top, by what tops.of_node says of a node that has one. */
static inline uint32_t top_number(uint32_t of_node)
{
    return (of_node & ~(TOP_ITSELF | TOP_LEAF)) - 1;
}

/* Finds them. Of a graph of 2^30 nodes and more it finds none. Errors: those of
 * dominators_init_several(). */
struct g2h_error *tops_init(struct tops *tops, const struct g2h_graph *graph,
                            const struct owners *owners);
void tops_deinit(struct tops *tops);

#endif
