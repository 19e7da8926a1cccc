/*
 * owners: finds which nodes each of the roots' groups alone reaches: the globals of a package, the
 * goroutines in a place, the finalizers …
 *
 * DevTools computes the same for "native contexts" (HeapSnapshot.ts:
 * propagateNativeContextAttribution), so that its sizes of a context are those that are counted
 * here.
 */
#ifndef GRAPH_OWNERS_H
#define GRAPH_OWNERS_H

#include "graph/graph.h"
#include "graph/mark.h"

/*
 * Lists the groups in graph->owners, and finds the owners of synthetic nodes; a marker finds those
 * of objects later. The owner of a group's node is the group, whoever else holds the node. Errors:
 * G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^31 groups.
 */
struct g2h_error *owners_init(struct owners *owners, struct g2h_graph *graph);
void owners_deinit(struct owners *owners);

/* Makes space for the synthetic nodes that were added since; they have no owner. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *owners_grow(struct owners *owners, const struct g2h_graph *graph);

/* Groups with fixed numbers: (cleanups), even before it has a node; (GC roots), which owns
 * everything that is in no other group. */
enum { OWNER_CLEANUPS = OWNER_FIRST, OWNER_GC_ROOTS };

/* Makes (cleanups) the owner of the synthetic nodes that were added since. */
struct g2h_error *owners_own_cleanups(struct owners *owners, struct g2h_graph *graph);

/* Adds a group for a synthetic node that was added since. */
struct g2h_error *owners_own_group(struct owners *owners, struct g2h_graph *graph, uint32_t node);

/* Makes (GC roots) the owner of the synthetic nodes that have no owner yet, except "(unreachable)",
 * which belongs to the garbage. Error: G2H_ERROR_MEMORY. */
struct g2h_error *owners_finish(struct owners *owners, const struct g2h_graph *graph);

/* Spreads the owners of synthetic nodes along count edges to other synthetic nodes, as far as the
 * edges lead. Owners below first are not spread, except OWNER_SEVERAL. */
void owners_spread(struct owners *owners, const struct edge *edges, uint64_t count,
                   owner_number first);

/* Returns the known owner of a node, with OWNER_FIXED if it is fixed. */
static inline owner_number owner_known(const struct owners *owners, uint32_t synthetics,
                                       uint32_t node)
{
    return node >= synthetics ? owners->of_object[node - synthetics] : owners->of_synthetic[node];
}

/* Returns a node's owner. Garbage, which is below "(unreachable)", has none. */
static inline owner_number owner_of(const struct owners *owners, uint32_t synthetics, uint32_t node)
{
    return owner_known(owners, synthetics, node) & ~OWNER_FIXED;
}

#endif
