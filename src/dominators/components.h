/*
 * components: the strongly connected components of a directed graph, such as the graph of
 * crossings, in topological order.
 */
#ifndef DOMINATORS_COMPONENTS_H
#define DOMINATORS_COMPONENTS_H

#include <stdint.h>

#include "base/error.h"
#include "graph/owner_numbers.h"

/* Edges by source: node i has edges to the targets [first[i], first[i + 1]). */
struct edge_lists {
    uint32_t nodes;
    uint32_t *first, *targets;
};

/*
 * Sorts the crossings of several lists by their source. The owner first + i becomes node i;
 * crossings whose source is below first are left out. name is the input's name, for an error.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 crossings.
 */
struct g2h_error *edge_lists_init(struct edge_lists *edges, uint32_t nodes, owner_number first,
                                  const struct crossings *lists, unsigned list_count,
                                  const char *name);
void edge_lists_deinit(struct edge_lists *edges);

struct components {
    uint32_t count;
    uint32_t *of;    /* by node: its component; edges between components lead to lower numbers */
    uint32_t *order; /* all nodes, those of the highest component first */
};

/* Finds the components, in time and memory proportional to nodes and edges. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *components_init(struct components *components, const struct edge_lists *edges);
void components_deinit(struct components *components);

/* Returns the end, in components->order, of the component that begins there at begin; nodes is the
 * number of all nodes. */
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
