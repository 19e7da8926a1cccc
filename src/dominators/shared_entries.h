/*
 * shared_entries: the nodes that several of the roots' groups hold together directly: those nodes
 * with several owners that no other node with several owners dominates. Every other node with
 * several owners belongs to the shared entry that alone holds it.
 */
#ifndef DOMINATORS_SHARED_ENTRIES_H
#define DOMINATORS_SHARED_ENTRIES_H

#include "graph/owners.h"

/* If there are more shared entries than this, they are found level by level, and
 * shared_entries_init() does not record which of them hold others. */
enum { SHARED_ENTRIES_LINKED = 1 << 16 };

struct shared_entries {
    owner_number first;         /* the owner number of the first shared entry */
    VECTOR(uint32_t) nodes;     /* in the order of their numbers */
    struct crossings crossings; /* from groups to entries, and from entries to others */
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
