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

#include "graph/climb.h"

/* Of a number in preorder: the edges to it. */
struct semi_nca_node {
    uint32_t semi; /* the lowest number from which an edge leads here, of those below this one */
    uint32_t back; /* where the sources of edges to here with higher numbers begin */
};

/* By number in preorder; the root has number 0. */
struct semi_nca {
    uint32_t *idom; /* the parent in the search; then the dominator; of the root itself */
    struct semi_nca_node *nodes; /* one entry more */
    const uint32_t *back;        /* sources of edges with higher numbers */
    struct climb *climbs;        /* in no state before; then the ways up the tree of dominators */
};

/*
 * Turns the parents of the nodes from begin up to, but without, end into dominators. To begin with,
 * that is all of them, from 0 on. Or it is a part of the numbers that only begin's own edges lead
 * into: begin's dominator is known then, and what is above that was done before. Parts may be done
 * at the same time.
 */
void semi_nca_run(const struct semi_nca *graph, uint32_t begin, uint32_t end);

#endif
