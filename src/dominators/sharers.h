/*
 * sharers: finds which of the roots' groups hold each shared entry (shared_entries.h), and stores
 * their names for the view. All nodes that a shared entry alone holds have the same holders as it.
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

/* ---- names ---- */

/*
 * Stores the names of all shared entries in graph->sharing. ascending has count shared entries, in
 * the order of their nodes; before is the number of synthetic nodes when the shared entries were
 * found. Heaps have few different names: of a shared entry whose set of holders is not among the
 * first 65,536 different ones, the name only says how many of each kind there are. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *sharing_fill(struct g2h_graph *graph, const struct sharers *sharers,
                               const uint32_t *ascending, uint32_t count, uint32_t before);

void sharing_deinit(struct sharing *sharing);

/* Finds the name of the holders of a node of the graph. Returns false if the node is not a shared
 * entry. */
bool sharing_find(const struct sharing *sharing, uint32_t node, const char **ret, size_t *ret_size);

#endif
