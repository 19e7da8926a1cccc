/*
 * tops: what the roots' groups hold together directly: of the nodes that have several owners those
 * that no other such node dominates. All else that has several owners is some top's, which holds it
 * alone.
 */
#ifndef GRAPH_TOPS_H
#define GRAPH_TOPS_H

#include "graph/owners.h"

/* Of more tops than so many, found level by level, it is not kept which of them hold others. */
enum { TOPS_LINKED = 1 << 16 };

struct tops {
    owner_number first;         /* the number of the first one as an owner */
    VECTOR(uint32_t) nodes;     /* in the order of their numbers */
    struct crossings crossings; /* from groups to tops, and from tops to others */
};

/*
 * Finds them, and makes them the owners of what has several. Of a graph of 2^31 nodes and more it
 * finds none. Errors: G2H_ERROR_MEMORY; those of dominators_init_several().
 */
struct g2h_error *tops_init(struct tops *tops, const struct g2h_graph *graph,
                            struct owners *owners);
void tops_deinit(struct tops *tops);

#endif
