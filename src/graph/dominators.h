/*
 * dominators: what holds a node alone, and how much memory would be free without it.
 *
 * The dominator of a node is the last one that all strong ways from the root to it have in common;
 * a node's retained size is its own and that of all that it dominates. Both are what DevTools
 * computes of the snapshot, node by node.
 *
 * Nodes have the graph's numbers: synthetic ones, then objects. In here each also has a number in
 * preorder: that in which a depth-first search meets those that may hold others, and then come all
 * that hold none. The dominator of a node always has a lower one, so that a walk over these
 * numbers, downwards or upwards, goes from the leaves to the root or back.
 */
#ifndef GRAPH_DOMINATORS_H
#define GRAPH_DOMINATORS_H

#include "graph/owners.h"

struct dominators {
    uint32_t graph_nodes;  /* how many nodes the graph has */
    uint32_t nodes;        /* how many numbers there are; the root, node 0, has number 0 */
    uint32_t *preorder_of; /* by node: its number in preorder */
    uint32_t *node_at;     /* by that number: the node */
    uint32_t
        *idom; /* by that number: the number of the immediate dominator; of the root, its own */
};

/*
 * Computes the dominators; edges must be in their order (graph_fill_children()).
 * A node that no strong edge reaches would hang below the root, as in DevTools; our graphs have
 * none.
 */
struct g2h_error *dominators_init(struct dominators *dominators, const struct g2h_graph *graph);

/*
 * Computes the dominators of nodes that have several owners, as if all others were one with the
 * root: they have its number, 0. What such a node dominates has several owners, too.
 */
struct g2h_error *dominators_init_several(struct dominators *dominators,
                                          const struct g2h_graph *graph,
                                          const struct owners *owners);
void dominators_deinit(struct dominators *dominators);

/*
 * The retained sizes by number in preorder, a large_alloc() of dominators->nodes. Synthetic nodes
 * have no size: each counts as synthetic_size instead.
 */
struct g2h_error *dominators_sizes(struct dominators *dominators, const struct g2h_graph *graph,
                                   uint64_t synthetic_size, uint64_t **ret);

#endif
