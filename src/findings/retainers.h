/* retainers: the nodes that point to a node, by class and field. */
#ifndef FINDINGS_RETAINERS_H
#define FINDINGS_RETAINERS_H

#include "base/map.h"
#include "base/strings.h"
#include "findings/findings.h"

struct retainer {
    uint64_t count;
    uint32_t name; /* string of retainers.names: "main.Preview.Auction", "[]*main.Bid[]" */
    uint32_t node; /* of the view: the first such retainer */
};

struct retainers {
    struct string_pool names;
    VECTOR(struct retainer) list; /* the most frequent first */
    struct map by_edge; /* names of a retainer and an edge → index in list, until all are found */
};

/* Finds all nodes with strong edges to a node of the view, garbage too. Goes over all edges.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *retainers_find(const struct findings *findings, struct g2h_edges *edges,
                                 uint32_t node, struct retainers *ret);

/* Finds the nodes with strong edges to each of count nodes, in one walk over all edges: nodes[i]
 * gets ret[i]. Takes a bit per node of the view. */
struct g2h_error *retainers_find_all(const struct findings *findings, struct g2h_edges *edges,
                                     const uint32_t *nodes, size_t count, struct retainers *ret);
void retainers_deinit(struct retainers *retainers);

#endif
