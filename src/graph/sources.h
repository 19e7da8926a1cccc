/*
 * sources: the edges of a graph whose nodes have numbers in preorder, by where they lead: what
 * semi_nca.h and the dominators of leaves and of regions' entries are made of.
 *
 * Leaves, which are objects that hold none, have no numbers yet: in their places stands the number
 * of the one that holds them, which is the first that was met, and in the end their dominator.
 */
#ifndef GRAPH_SOURCES_H
#define GRAPH_SOURCES_H

#include "graph/regions.h"
#include "graph/semi_nca.h"

/* What stands in a leaf's place has this bit. */
#define SOURCES_LEAF ((uint32_t)1 << 31)
#define SOURCES_NONE UINT32_MAX /* nothing holds it */

struct sources {
    const struct g2h_graph *graph;
    uint32_t *preorder_of;           /* by node; of those that are one with the root 0 */
    uint32_t inner;                  /* so many numbers, less than 2^31 */
    struct regions *regions;         /* NULL: all is one */
    struct semi_nca_node *by_number; /* inner + 1, zeroed, but that semi is a node's parent, an
                                        entry's its region */
    uint32_t *back; /* a large_alloc(): sources of edges to lower numbers; from by_number[i].back up
                       to, but without, by_number[i + 1].back */
    size_t back_count;
    struct kept_list *lists; /* by task */
};

/*
 * Sorts all strong edges, and finds what dominates the regions' entries. Errors: G2H_ERROR_MEMORY;
 * G2H_ERROR_LIMIT: 2^32 edges. What there is goes to sources_deinit() also after one.
 */
struct g2h_error *sources_sort(struct sources *sources);

/*
 * Finds the dominators of leaves, when those of all else are known: what they are below in the tree
 * of these (climb.h) whoever holds them. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *sources_hold_leaves(struct sources *sources, const struct climb *climbs,
                                      const uint32_t *idom);

/* Frees what sources_sort() has made. */
void sources_deinit(struct sources *sources);

#endif
