/*
 * regions: the graph cut by who alone holds what, for dominators.
 *
 * A region is what one owner (owners.h) alone reaches: a group of the roots, or a top (tops.h), a
 * node that several hold. From outside, edges lead only to its entry, the group's or top's own
 * node, so that dominators within it depend on its own edges only: each region can be worked on by
 * another thread. What no group has is the root's region; garbage is one.
 *
 * What dominates an entry is a synthetic node of the root's region: the last one above all groups
 * that hold it.
 *
 * Regions have numbers, 0 for the root's; so do those of their nodes that may hold others, each
 * region's behind the last one's, its entry first.
 */
#ifndef GRAPH_REGIONS_H
#define GRAPH_REGIONS_H

#include "graph/graph.h"

struct regions {
    const struct g2h_graph *graph;
    uint32_t count;
    uint32_t *first;   /* by region: the number of its entry; one more */
    uint32_t *entries; /* by region: the node; UINT32_MAX where it has none, and is empty */
    uint32_t *above;   /* by region: the node that dominates the entry; UINT32_MAX: not known yet */
    uint32_t *up;      /* by synthetic node of the root's region, or entry: what dominates it */
    uint32_t highest;  /* what no top's dominator is above */
    uint64_t *is_entry; /* a bit per number: of an entry, but the root */
};

/* Cuts a graph; into one region where there are nodes of which no owner was found, or regions would
 * be too small to be worth it. Error: G2H_ERROR_MEMORY. */
struct g2h_error *regions_init(struct regions *regions, const struct g2h_graph *graph);
void regions_deinit(struct regions *regions);

/* Makes one region of all. */
void regions_join(struct regions *regions);

/* How many nodes may hold others. */
static inline uint32_t regions_nodes(const struct regions *regions)
{
    return regions->first[regions->count];
}

static inline bool regions_is_entry(const struct regions *regions, uint32_t number)
{
    return (regions->is_entry[number / 64] >> (number % 64) & 1) != 0;
}

/*
 * What dominates the entries is found from the strong edges to them, in any order and on any
 * threads: first regions_hold() of those from elsewhere than tops' regions; regions_turn(); then
 * regions_hold_through() of the others, with crossings of the thread's own; regions_finish() with
 * these of all threads. target is the region whose entry is held.
 */
void regions_hold(struct regions *regions, uint32_t source, uint32_t target);
void regions_turn(struct regions *regions);

/* by: the region of the source. False where there is no memory. */
bool regions_hold_through(struct regions *regions, uint32_t by, uint32_t target,
                          struct crossings *crossings);

/* Whether a source is in another region than target, and that is a top's. *ret_by: its region. */
bool regions_is_top(const struct regions *regions, uint32_t source, uint32_t target,
                    uint32_t *ret_by);

/* Errors: G2H_ERROR_MEMORY; G2H_ERROR_LIMIT: 2^32 edges. */
struct g2h_error *regions_finish(struct regions *regions, const struct crossings *crossings);

#endif
