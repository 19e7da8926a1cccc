/*
 * semi_nca: finds the dominators of any graph whose nodes a depth-first search has numbered, from
 * their strong edges, sorted by target.
 */
#ifndef DOMINATORS_SEMI_NCA_H
#define DOMINATORS_SEMI_NCA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/contract.h"
#include "dominators/regions.h"

/* ==== ancestors in a tree, in O(log n) steps ====
 *
 * Finds ancestors in a tree whose nodes' parents have lower numbers, in O(log n) steps: each node
 * knows, beside its parent, one ancestor further up, which skips others (Myers, "An applicative
 * random-access stack", 1983).
 */

struct climb {
    uint32_t skip, depth;
};

/* ==== finds the dominators of any graph whose nodes a depth-first search has numbered ====
 *
 * Semi-NCA (Georgiadis, Tarjan and Werneck, "Finding dominators in practice", 2006): semidominators
 * are found from the last node to the first as by Lengauer and Tarjan, with compressed paths. A
 * node's dominator is then the nearest ancestor of its parent, in the tree of dominators made so
 * far, whose number is not above the node's semidominator. That last search is quadratic in bad
 * cases, such as a long list whose end holds what its head holds, too. With a second pointer per
 * node that skips ancestors it takes O(log n) steps per node for any graph.
 *
 * An edge from a lower number to a higher one needs no memory: the path of its source is the source
 * alone, so the code that makes the numbers handles such edges as it meets them.
 */

/* The edges to a number in preorder. */
struct semi_nca_node {
    uint32_t semi; /* the lowest number, less than this one, with an edge to it */
    uint32_t back; /* where the sources with higher numbers begin in the array back */
};

/* A graph. Its nodes have numbers in preorder; the root has number 0. */
struct semi_nca {
    uint32_t *idom; /* the parent in the search; then the dominator; of the root: itself */
    struct semi_nca_node *nodes; /* one more entry */
    const uint32_t *back;        /* the sources with higher numbers, by target */
    struct climb *climbs; /* not initialized at first; then for climbing the tree of dominators */
};

/*
 * Turns the parents of the nodes [begin, end) into dominators. begin is the root, 0, or the only
 * node at which edges from outside enter the range: then the dominator of begin is known, and the
 * nodes above begin have been done before. Several ranges may be done at the same time.
 */
void semi_nca_run(const struct semi_nca *graph, uint32_t begin, uint32_t end);

/* ==== the strong edges of a graph whose nodes have numbers in preorder, sorted by target ====
 *
 * They are the input of semi_nca_run(), and of the dominators of leaves and of regions' entries.
 *
 * Leaves, which are objects that hold no others, have no numbers yet. Instead of a number,
 * preorder_of has for each leaf the number of the first node that was found to hold it, and in the
 * end the number of its dominator.
 */

/* A bit that is set in a leaf's entry of preorder_of. */
#define SOURCES_LEAF (1u << 31)

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
 * nearest common ancestor, in the tree of dominators, of all nodes that hold it. Error:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *sources_hold_leaves(struct sources *sources, const struct climb *climbs,
                                      const uint32_t *idom);

/* Frees what sources_sort() has allocated. */
void sources_deinit(struct sources *sources);

#endif
