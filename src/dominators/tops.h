/*
 * tops: the nodes that several of the roots' groups hold together directly: those nodes with
 * several owners that no other node with several owners dominates. Every other node with several
 * owners belongs to the top that alone holds it.
 */
#ifndef DOMINATORS_TOPS_H
#define DOMINATORS_TOPS_H

#include "graph/owners.h"

/* If there are more tops than this, they are found level by level, and tops_init() does not record
 * which tops hold other tops. */
enum { TOPS_LINKED = 1 << 16 };

struct tops {
    owner_number first;         /* the owner number of the first top */
    VECTOR(uint32_t) nodes;     /* in the order of their numbers */
    struct crossings crossings; /* from groups to tops, and from tops to other tops */
};

/*
 * Finds the tops, and makes them the owners of the nodes that have several owners. In a graph of
 * 2^31 nodes or more it finds none. Errors: G2H_ERROR_MEMORY; those of dominators_init_several().
 */
struct g2h_error *tops_init(struct tops *tops, const struct g2h_graph *graph,
                            struct owners *owners);
void tops_deinit(struct tops *tops);

#endif
