/*
 * dominators: what holds a node alone, and how much memory would be free without it.
 *
 * The dominator of a node is the last one that all strong ways from the root to it have in common;
 * a node's retained size is its own and that of all that it dominates. Both are what DevTools
 * computes of the snapshot, node by node.
 *
 * Nodes have the graph's numbers: synthetic ones, objects. Here they are also known by their place,
 * their number in the depth-first order by which all this is computed: the dominator of a node
 * always has a lower place, so that one walk over the places, downwards or upwards, goes from the
 * leaves to the root or back.
 */
#ifndef GRAPH_DOMINATORS_H
#define GRAPH_DOMINATORS_H

#include "graph/graph.h"

struct dominators {
    uint32_t nodes;     /* of the graph, and places: the root, node 0, has place 0 */
    uint32_t *place_of; /* by node */
    uint32_t *node_at;  /* by place */
    uint32_t *above;    /* by place: the dominator's place; the root's own */
};

/*
 * Computes the dominators; edges must be in their order (graph_fill_children()).
 * What no strong edge reaches hangs below the root, as in DevTools. There is no such node in our
 * graphs.
 */
struct g2h_error *dominators_init(struct dominators *dominators, const struct g2h_graph *graph);
void dominators_deinit(struct dominators *dominators);

/*
 * The retained sizes by place, a large_alloc() of dominators->nodes. Synthetic nodes have no size:
 * each counts as synthetic_size instead.
 */
struct g2h_error *dominators_sizes(const struct dominators *dominators,
                                   const struct g2h_graph *graph, uint64_t synthetic_size,
                                   uint64_t **ret);

#endif
