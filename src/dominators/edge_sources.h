/*
 * edge_sources: the strong edges of a graph whose nodes have numbers in preorder, sorted by target.
 * They are the input of semi_nca.h, and of the dominators of leaves and of regions' entries.
 *
 * Leaves, which are objects that hold no others, have no numbers yet. Instead of a number,
 * preorder_of has for each leaf the number of the first node that was found to hold it, and in the
 * end the number of its dominator.
 */
#ifndef DOMINATORS_EDGE_SOURCES_H
#define DOMINATORS_EDGE_SOURCES_H

#include "dominators/regions.h"
#include "dominators/semi_nca.h"

/* A bit that is set in a leaf's entry of preorder_of. */
#define SOURCES_LEAF ((uint32_t)1 << 31)
#define SOURCES_NONE UINT32_MAX /* no node holds the leaf */

struct sources {
    const struct g2h_graph *graph;
    uint32_t *preorder_of;           /* by node; 0 of the nodes that are merged with the root */
    uint32_t inner;                  /* how many numbers there are, less than 2^31 */
    struct regions *regions;         /* NULL: there is only one */
    struct semi_nca_node *by_number; /* inner + 1, zeroed except semi, which is a node's parent, or
                                        an entry's region */
    uint32_t *back; /* a large_alloc(): the sources of edges to lower numbers; those of number i are
                       [by_number[i].back, by_number[i + 1].back) */
    size_t back_count;
    struct kept_list *lists; /* by task */
};

/*
 * Sorts all strong edges, and finds the dominators of the regions' entries. Errors:
 * G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges. The caller calls sources_deinit() after an error,
 * too.
 */
struct g2h_error *sources_sort(struct sources *sources);

/*
 * Finds the dominators of leaves once those of all other nodes are known: a leaf's dominator is the
 * nearest common ancestor, in the tree of dominators (climb.h), of all nodes that hold it. Error:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *sources_hold_leaves(struct sources *sources, const struct climb *climbs,
                                      const uint32_t *idom);

/* Frees what sources_sort() has allocated. */
void sources_deinit(struct sources *sources);

#endif
