/*
 * shared_entries: the nodes that several of the roots' groups hold together directly: those nodes
 * with several owners that no other node with several owners dominates. Every other node with
 * several owners belongs to the shared entry that alone holds it.
 */
#ifndef DOMINATORS_SHARED_ENTRIES_H
#define DOMINATORS_SHARED_ENTRIES_H

#include "graph/owners.h"

struct shared_entries {
    owner_number first;     /* the owner number of the first shared entry */
    VECTOR(uint32_t) nodes; /* in the order of their numbers */
    /* From groups to entries, and from entries to others, at most two per edge. Which crossings
     * there are depends on the order of threads: a marker that meets a node before it has several
     * owners records a crossing from a group, where one that comes later records it from the entry
     * of that node. By all of them together, an entry is held by the same groups for every order.
     */
    struct crossings crossings;
};

/*
 * Finds the shared entries, and makes them the owners of the nodes that have several owners. In a
 * graph of 2^31 nodes or more it finds none. Errors: G2H_ERROR_MEMORY; those of
 * dominators_init_several().
 */
struct g2h_error *shared_entries_init(struct shared_entries *entries, const struct g2h_graph *graph,
                                      struct owners *owners);
void shared_entries_deinit(struct shared_entries *entries);

#endif
