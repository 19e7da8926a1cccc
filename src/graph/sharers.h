/*
 * sharers: which of the roots' groups hold what several hold together.
 *
 * Of the nodes with several owners, tops are those that no other such node dominates: what the
 * groups hold together directly. All else is a top's, and has the same holders.
 */
#ifndef GRAPH_SHARERS_H
#define GRAPH_SHARERS_H

#include "graph/dominators.h"

struct sharers {
    const struct g2h_graph *graph;
    const struct owners *owners;
    unsigned words;     /* of a set */
    uint32_t *bit_of;   /* by group of graph->owners */
    uint32_t *owner_at; /* by bit: the group; UINT32_MAX: all that have no bit of their own */
    uint64_t *entries;  /* sets, by number in preorder: groups whose own nodes hold it directly */
    size_t entry_words; /* how many in all */
    uint64_t *sets;     /* of groups, by top */
};

/*
 * Prepares to hear of who holds what, in proportion to the nodes that have several owners: of very
 * many the groups that have least have no bit of their own. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *sharers_init(struct sharers *sharers, const struct g2h_graph *graph,
                               const struct owners *owners);
void sharers_deinit(struct sharers *sharers);

/* A struct several_listener's. */
void sharers_hear(void *sharers, uint32_t preorder, owner_number owner);

/* Finds all that hold each top. top_of: by number in preorder, the top that it belongs to; tops of
 * them. Error: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges. */
struct g2h_error *sharers_find(struct sharers *sharers, const struct dominators *dominators,
                               const uint32_t *top_of, uint32_t tops);

/* Appends who holds a top: "main and 22 goroutines". */
void sharers_append(const struct sharers *sharers, uint32_t top, struct text *text);

#endif
