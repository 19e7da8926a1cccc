/*
 * sources: the edges of a graph whose nodes have numbers in preorder, by where they lead: what
 * semi_nca.h and the dominators of leaves and of regions' entries are made of.
 */
#ifndef GRAPH_SOURCES_H
#define GRAPH_SOURCES_H

#include "graph/regions.h"
#include "graph/semi_nca.h"

struct sources {
    const struct g2h_graph *graph;
    const uint32_t *preorder_of; /* by node; of those that are one with the root 0 */
    uint32_t nodes, inner;       /* numbers; those below inner are of nodes that may hold others */
    struct regions *regions;     /* NULL: all is one */
    struct semi_nca_node *by_number; /* nodes + 1, zeroed, but that semi is a node's parent, a
                                        leaf's UINT32_MAX, an entry's its region. Then a leaf has
                                        its first source there. */
    uint32_t *back; /* a large_alloc(): sources of edges to lower numbers, and of a leaf's but the
                       first; from by_number[i].back up to, but without, by_number[i + 1].back */
    size_t back_count;
};

/*
 * Sorts all strong edges, and finds what dominates the regions' entries. Errors: G2H_ERROR_MEMORY;
 * G2H_ERROR_LIMIT: 2^32 edges. What there is goes to sources_deinit() also after one.
 */
struct g2h_error *sources_sort(struct sources *sources);

/* Frees what sources_sort() has made. */
void sources_deinit(struct sources *sources);

#endif
