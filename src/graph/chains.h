/*
 * chains: the objects of long lists, chains and rings, and where these begin.
 *
 * From the 300,000th element of a list the path to a variable has 300,000 steps, which nobody
 * reads. Outputs add edges that hold nothing from where a list begins to each of its elements.
 *
 * A chain consists of objects of one class that point to others of that class; contexts of all
 * kinds are one class here. It begins at the objects to which something else points. All objects
 * are reached from there in steps within the class; only if that takes more than 64, the chain is
 * long, and its elements are listed: so a tree, which is not deep, has none.
 */
#ifndef GRAPH_CHAINS_H
#define GRAPH_CHAINS_H

#include "graph/graph.h"

/* An element, by the number of its object, and the first element of its chain. */
struct chain_link {
    uint32_t first, element;
};

typedef VECTOR(struct chain_link) chain_vector;

/* Finds the elements of long chains that can be reached from the roots, but for the first ones and
 * those to which these point, ascending by first and then by element. There are none if nothing is
 * typed. Takes some bits per object, and 12 bytes per element. Error: G2H_ERROR_MEMORY. */
struct g2h_error *chains_find(const struct g2h_graph *graph, chain_vector *ret);

#endif
