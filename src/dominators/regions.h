/*
 * regions: the graph, cut into parts by owners, for dominators; and the strongly connected
 * components of the graph of what these hold of each other.
 */
#ifndef DOMINATORS_REGIONS_H
#define DOMINATORS_REGIONS_H

#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "graph/owner_numbers.h"

/* ==== the strongly connected components of a directed graph ==== */

/* Edges by source: node i has edges to the targets [first[i], first[i + 1]). */
struct edge_lists {
    uint32_t nodes;
    uint32_t *first, *targets;
};

/*
 * Sorts the crossings of several lists by their source. The owner first + i becomes node i;
 * crossings whose source is below first are left out. name is the input's name, for an error.
 * Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 crossings.
 */
struct g2h_error *edge_lists_init(struct edge_lists *edges, uint32_t nodes, owner_number first,
                                  const struct crossings *lists, unsigned list_count,
                                  const char *name);

void edge_lists_deinit(struct edge_lists *edges);

struct components {
    uint32_t count;
    uint32_t *of;    /* by node: its component; edges between components lead to lower numbers */
    uint32_t *order; /* all nodes, those of the highest component first */
};

/* Finds the components, in time and memory proportional to nodes and edges. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *components_init(struct components *components, const struct edge_lists *edges);

void components_deinit(struct components *components);

/* Returns the end, in components->order, of the component that begins there at begin; nodes is the
 * number of all nodes. */
static inline uint32_t components_end(const struct components *components, uint32_t begin,
                                      uint32_t nodes)
{
    const uint32_t component = components->of[components->order[begin]];
    uint32_t end = begin + 1;
    while (end < nodes && components->of[components->order[end]] == component)
        end++;
    return end;
}

/* ==== the graph, cut into parts by owners, for dominators ====
 *
 * A region is the nodes that one owner (owners.h) alone reaches. The owner is a group of the roots,
 * or a shared entry (several.h), which is a node that several groups hold. Edges from outside a
 * region lead only to its entry, the group's or shared entry's own node, so that dominators within
 * the region depend on its own edges only: each region can be processed by another thread. The
 * root's region has the nodes that no other group owns; garbage is one region.
 *
 * The dominator of an entry is a synthetic node of the root's region: the last one above all groups
 * that hold the entry.
 *
 * Regions have numbers, 0 for the root's. The nodes of regions that may hold others have numbers,
 * too: each region's follow the previous region's, and start with its entry.
 */

struct regions {
    const struct g2h_graph *graph;
    uint32_t count;
    uint32_t *first;   /* by region: the number of its entry; one more entry */
    uint32_t *entries; /* by region: the entry's node, or UINT32_MAX if it has none and is empty */
    uint32_t *above; /* by region: the node that dominates the entry, or UINT32_MAX while it is not
                        known */
    uint32_t *up;    /* by synthetic node that is in the root's region or an entry: its dominator */
    uint32_t highest;   /* no shared entry's dominator is above this node */
    uint64_t *is_entry; /* a bit per number: it is an entry other than the root */
};

/* Cuts a graph into regions. It makes only one region if some nodes have no known owner, or if
 * regions would be too small to be worth it. Error: G2H_ERROR_MEMORY. */
struct g2h_error *regions_init(struct regions *regions, const struct g2h_graph *graph);

void regions_deinit(struct regions *regions);

/* Joins all regions into one. */
void regions_join(struct regions *regions);

/* Returns how many nodes may hold others. */
static inline uint32_t regions_nodes(const struct regions *regions)
{
    return regions->first[regions->count];
}

static inline bool regions_is_entry(const struct regions *regions, uint32_t number)
{
    return bits_have(regions->is_entry, number);
}

/*
 * The dominators of the entries are found from the strong edges that lead to entries, in any order
 * and on any threads: first regions_hold() for edges that come from regions other than shared
 * entries'; then regions_end_direct(); then regions_hold_through() for all other edges, with the
 * thread's own crossings; then regions_finish() with the crossings of all threads. target is the
 * region whose entry is held.
 */
void regions_hold(struct regions *regions, uint32_t source, uint32_t target);

void regions_end_direct(struct regions *regions);

/* by is the source's region. Returns false if memory runs out. */
bool regions_hold_through(struct regions *regions, uint32_t by, uint32_t target,
                          struct crossings *crossings);

/* Returns whether a source is in another region than target, and its region is a shared entry's.
 * *ret_by is the source's region. */
bool regions_is_shared(const struct regions *regions, uint32_t source, uint32_t target,
                       uint32_t *ret_by);

/* Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges. */
struct g2h_error *regions_finish(struct regions *regions, const struct crossings *crossings);

#endif
