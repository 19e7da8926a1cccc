/*
 * components: the strongly connected components of a directed graph, in topological order.
 */
#ifndef GRAPH_COMPONENTS_H
#define GRAPH_COMPONENTS_H

#include <stdint.h>

#include "base/error.h"

/* Edges by their source: those of node i lead to targets[first[i]] up to, but without,
 * targets[first[i + 1]]. */
struct edge_lists {
    uint32_t nodes;
    uint32_t *first, *targets;
};

struct components {
    uint32_t count;
    uint32_t *of;    /* by node: its component; an edge to another component leads to a lower one */
    uint32_t *order; /* all nodes, those of the highest component first */
};

/* Takes time and memory in proportion to nodes and edges. Error: G2H_ERROR_MEMORY. */
struct g2h_error *components_init(struct components *components, const struct edge_lists *edges);
void components_deinit(struct components *components);

#endif
