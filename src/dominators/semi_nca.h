/*
 * semi_nca: finds the dominators of any graph whose nodes a depth-first search has numbered.
 *
 * Semi-NCA (Georgiadis, Tarjan and Werneck, "Finding dominators in practice", 2006): semidominators
 * are found from the last node to the first as by Lengauer and Tarjan, with compressed paths. A
 * node's dominator is then the nearest ancestor of its parent, in the tree of dominators made so
 * far, whose number is not above the node's semidominator. That last search is quadratic in bad
 * cases, such as a long list whose end holds what its head holds, too. With a second pointer per
 * node that skips ancestors (climb.h) it takes O(log n) steps per node for any graph.
 *
 * An edge from a lower number to a higher one needs no memory: the path of its source is the source
 * alone, so the code that makes the numbers handles such edges as it meets them.
 */
#ifndef DOMINATORS_SEMI_NCA_H
#define DOMINATORS_SEMI_NCA_H

#include "dominators/climb.h"

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

#endif
