/*
 * semi_nca: dominators of any graph whose nodes a depth-first search has numbered.
 *
 * Semi-NCA (Georgiadis, Tarjan and Werneck, "Finding dominators in practice", 2006): semidominators
 * are found from the last node to the first as by Lengauer and Tarjan, with compressed paths; a
 * node's dominator is then the nearest ancestor of its parent, in the tree of dominators made so
 * far, that is not behind its semidominator. That last search is quadratic in bad cases, such as a
 * long list whose end holds what its head holds too. With a second pointer per node that skips
 * ancestors (climb.h) it takes O(log n) for any graph.
 *
 * Edges that lead forwards in the numbers need no memory: the source's path is the source alone, so
 * who makes the numbers deals with them as they are met.
 */
#ifndef GRAPH_SEMI_NCA_H
#define GRAPH_SEMI_NCA_H

#include "base/error.h"
#include "graph/climb.h"

/* By number in preorder; the root has number 0. */
struct semi_nca {
    uint32_t nodes;
    uint32_t *idom; /* the parent in the search; then the dominator; of the root itself */
    uint32_t *semi; /* the lowest number from which an edge leads here, of those below this one */
    const uint32_t *first_back; /* where the sources of edges to here with higher numbers begin; one
                                   entry more */
    const uint32_t *back;       /* these sources */
};

/* Turns parents into dominators, and gives the ways up their tree: a large_alloc() of an entry per
 * node, which is all that it takes. Error: G2H_ERROR_MEMORY. */
struct g2h_error *semi_nca_run(const struct semi_nca *graph, struct climb **ret);

#endif
