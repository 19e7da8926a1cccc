/*
 * components: the strongly connected components of a directed graph, such as crossings make, in
 * topological order.
 */
#ifndef GRAPH_COMPONENTS_H
#define GRAPH_COMPONENTS_H

#include <stdint.h>

#include "base/error.h"
#include "graph/owner_numbers.h"

/* Edges by their source: those of node i lead to targets[first[i]] up to, but without,
 * targets[first[i + 1]]. */
struct edge_lists {
    uint32_t nodes;
    uint32_t *first, *targets;
};

/*
 * Lists the crossings of several lists whose source is first or above, by that: node i is first +
 * i. name: the input's. Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 crossings.
 */
struct g2h_error *edge_lists_init(struct edge_lists *edges, uint32_t nodes, owner_number first,
                                  const struct crossings *lists, unsigned list_count,
                                  const char *name);
void edge_lists_deinit(struct edge_lists *edges);

struct components {
    uint32_t count;
    uint32_t *of;    /* by node: its component; an edge to another component leads to a lower one */
    uint32_t *order; /* all nodes, those of the highest component first */
};

/* Takes time and memory in proportion to nodes and edges. Error: G2H_ERROR_MEMORY. */
struct g2h_error *components_init(struct components *components, const struct edge_lists *edges);
void components_deinit(struct components *components);

/* Where the component ends in the order that begins at a place of it; nodes: how many there are. */
static inline uint32_t components_end(const struct components *components, uint32_t begin,
                                      uint32_t nodes)
{
    const uint32_t component = components->of[components->order[begin]];
    uint32_t end = begin + 1;
    while (end < nodes && components->of[components->order[end]] == component)
        end++;
    return end;
}

#endif
