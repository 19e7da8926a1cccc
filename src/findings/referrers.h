/* referrers: who points to a node, by class and field. */
#ifndef FINDINGS_REFERRERS_H
#define FINDINGS_REFERRERS_H

#include "base/strings.h"
#include "findings/findings.h"

struct referrer {
    uint64_t count;
    uint32_t name; /* string of referrers.names: "main.Preview.Auction", "[]*main.Bid[]" */
    uint32_t node; /* of the view: the first such referrer */
};

struct referrers {
    struct string_pool names;
    VECTOR(struct referrer) list; /* the most frequent first */
};

/* Finds all nodes with strong edges to a node of the view, garbage too. Goes over all edges.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *referrers_find(const struct findings *findings, struct g2h_edges *edges,
                                 uint32_t node, struct referrers *ret);
void referrers_deinit(struct referrers *referrers);

#endif
