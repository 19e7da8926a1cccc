/*
 * owners: which of the roots' groups reaches what alone: the globals of a package, the goroutines
 * in a place, the finalizers …
 *
 * DevTools computes the same of "native contexts" (HeapSnapshot.ts:
 * propagateNativeContextAttribution), so that what it says of one is what is counted here.
 */
#ifndef GRAPH_OWNERS_H
#define GRAPH_OWNERS_H

#include "graph/graph.h"
#include "graph/mark.h"

/*
 * Lists the groups that there are, in graph->owners, and finds the owners of synthetic nodes; those
 * of objects are left to a marker. A group's node has itself as its owner whoever else holds it.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^31 groups.
 */
struct g2h_error *owners_init(struct owners *owners, struct g2h_graph *graph);
void owners_deinit(struct owners *owners);

/* Makes place for the nodes that were added since, which have no owner. Error: G2H_ERROR_MEMORY. */
struct g2h_error *owners_grow(struct owners *owners, const struct g2h_graph *graph);

/* Groups whose numbers are known: (cleanups), before it has a node; (GC roots), which has whatever
 * is in no other group. */
enum { OWNER_CLEANUPS = OWNER_FIRST, OWNER_GC_ROOTS };

/* Makes nodes that were added since those of (cleanups). */
struct g2h_error *owners_own_cleanups(struct owners *owners, struct g2h_graph *graph);

/* Makes nodes that were added behind those (GC roots)', but for "(unreachable)", which is the
 * garbage's. Error: G2H_ERROR_MEMORY. */
struct g2h_error *owners_finish(struct owners *owners, const struct g2h_graph *graph);

/* What a node has of synthetic nodes' owners goes on to the synthetic nodes that it leads to, but
 * for owners below first, along so many edges and as far as they lead. */
void owners_spread(struct owners *owners, const struct edge *edges, uint64_t count,
                   owner_number first);

/* What is known of a node's owner, and whether it is fixed. */
static inline owner_number owner_known(const struct owners *owners, uint32_t synthetics,
                                       uint32_t node)
{
    return node >= synthetics ? owners->of_object[node - synthetics] : owners->of_synthetic[node];
}

/* A node's owner. Garbage has none: it is what hangs below "(unreachable)". */
static inline owner_number owner_of(const struct owners *owners, uint32_t synthetics, uint32_t node)
{
    return owner_known(owners, synthetics, node) & ~OWNER_FIXED;
}

#endif
