/*
 * sharers: which of the roots' groups hold what several hold together; by the tops of that, for all
 * that a top holds alone has the same holders.
 */
#ifndef GRAPH_SHARERS_H
#define GRAPH_SHARERS_H

#include "graph/tops.h"

struct sharers {
    const struct g2h_graph *graph;
    const struct tops *tops;
    unsigned words;     /* of a set */
    uint32_t *bit_of;   /* by group of graph->owners */
    uint32_t *owner_at; /* by bit: the group; UINT32_MAX: all that have no bit of their own */
    uint64_t *sets;     /* of groups, by top */
};

/*
 * Finds all that hold each top. Of very many tops the groups that have least have no bit of their
 * own. Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges.
 */
struct g2h_error *sharers_init(struct sharers *sharers, const struct g2h_graph *graph,
                               const struct tops *tops);
void sharers_deinit(struct sharers *sharers);

/* Appends who holds a top: "main and 22 goroutines". */
void sharers_append(const struct sharers *sharers, uint32_t top, struct text *text);

#endif
