/*
 * sharers: finds which of the roots' groups hold each shared entry (shared_entries.h). All nodes
 * that a shared entry alone holds have the same holders as it.
 */
#ifndef DOMINATORS_SHARERS_H
#define DOMINATORS_SHARERS_H

#include "dominators/shared_entries.h"

struct sharers {
    const struct g2h_graph *graph;
    const struct shared_entries *entries;
    unsigned words;     /* per set */
    uint32_t *bit_of;   /* by group of graph->owners: its bit */
    uint32_t *owner_at; /* by bit: the group; UINT32_MAX: all groups without a bit of their own */
    uint64_t *kinds;    /* by kind of group, see sharers.c: the set of the groups of that kind */
    uint64_t *sets;     /* by shared entry: the set of the groups that hold it */
};

/*
 * Finds all groups that hold each shared entry. If there are very many shared entries, the groups
 * that own least have no bits of their own. Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges.
 */
struct g2h_error *sharers_init(struct sharers *sharers, const struct g2h_graph *graph,
                               const struct shared_entries *entries);
void sharers_deinit(struct sharers *sharers);

/* Appends the holders of a shared entry: "main and 22 goroutines". without_names: "1 package and 22
 * goroutines". */
void sharers_append(const struct sharers *sharers, uint32_t entry, bool without_names,
                    struct text *text);

#endif
