/*
 * dominators: which node alone holds a node, and how much memory would be free without it.
 *
 * The dominator of a node is the last node that all strong paths from the root to it have in
 * common. A node's retained size is its own size and that of all nodes that it dominates. DevTools
 * computes both from the snapshot in the same way.
 *
 * Nodes have the graph's numbers: synthetic nodes first, then objects. In this file each node also
 * has a number in preorder: first come the nodes that may hold others, in the order in which a
 * depth-first search meets them, then the nodes that hold none. A node's dominator always has a
 * lower number than the node, so that a walk over these numbers, downwards or upwards, goes from
 * the leaves to the root or back.
 *
 *   dominators          the dominators of a graph, by its strong edges
 *   regions, semi_nca   the same for parts of the graph, on several threads
 *   several             objects that several groups of roots hold together, and these groups' names
 */
#ifndef DOMINATORS_DOMINATORS_H
#define DOMINATORS_DOMINATORS_H

#include "graph/owners.h"

struct dominators {
    uint32_t graph_nodes;  /* how many nodes the graph has */
    uint32_t nodes;        /* how many numbers there are; the root, node 0, has number 0 */
    uint32_t *preorder_of; /* by node: its number in preorder */
    uint32_t *node_at;     /* by number in preorder: the node */
    uint32_t *idom;        /* by number: the immediate dominator's number; the root's is 0 */
};

/*
 * Computes the dominators. graph_fill_children() must have run. A node that no strong edge reaches
 * hangs below the root, as in DevTools; the program's graphs have none.
 */
struct g2h_error *dominators_init(struct dominators *dominators, const struct g2h_graph *graph);

/*
 * Computes the dominators of the nodes that have several owners, as if all other nodes were merged
 * with the root: these have its number, 0. Whatever such a node dominates has several owners, too.
 */
struct g2h_error *dominators_init_several(struct dominators *dominators,
                                          const struct g2h_graph *graph,
                                          const struct owners *owners);

void dominators_deinit(struct dominators *dominators);

/*
 * Computes the retained sizes by number in preorder, a large_alloc() of dominators->nodes.
 * synthetic_size is added to the size of each synthetic node.
 */
struct g2h_error *dominators_sizes(struct dominators *dominators, const struct g2h_graph *graph,
                                   uint64_t synthetic_size, uint64_t **ret);

#endif
