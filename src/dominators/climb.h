/*
 * climb: finds ancestors in a tree whose nodes' parents have lower numbers, in O(log n) steps: each
 * node knows, beside its parent, one ancestor further up, which skips others (Myers, "An
 * applicative random-access stack", 1983).
 */
#ifndef DOMINATORS_CLIMB_H
#define DOMINATORS_CLIMB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/contract.h"

struct climb {
    uint32_t skip, depth;
};

/* Adds a node below a parent that has been added; the root, 0, is its own parent. If the parent's
 * skip and that one's skip span equally many levels, the node skips both; otherwise it skips to its
 * parent. So skips double like digits of a skew binary number. */
static inline void climb_add(struct climb *climbs, uint32_t node, uint32_t parent)
{
    assert(parent <= node);
    const struct climb *up = &climbs[parent], *skip = &climbs[up->skip];
    if (node == parent) {
        climbs[node] = (struct climb){.skip = node, .depth = 0};
        return;
    }
    const bool is_equal = up->depth - skip->depth == skip->depth - climbs[skip->skip].depth;
    climbs[node] = (struct climb){.skip = is_equal ? skip->skip : parent, .depth = up->depth + 1};
}

/* Returns the nearest ancestor of a node, or the node itself, whose number is not above limit. */
static inline uint32_t climb_to(const struct climb *climbs, const uint32_t *parents, uint32_t node,
                                uint32_t limit)
{
    while (node > limit)
        node = climbs[node].skip > limit ? climbs[node].skip : parents[node];
    return node;
}

/* Returns the ancestor of a node, or the node itself, at a depth that is not below the node's. */
static inline uint32_t climb_to_depth(const struct climb *climbs, const uint32_t *parents,
                                      uint32_t node, uint32_t depth)
{
    while (climbs[node].depth > depth)
        node = climbs[climbs[node].skip].depth >= depth ? climbs[node].skip : parents[node];
    return node;
}

/* Returns the nearest common ancestor of two nodes, which may be one of the two. */
static inline uint32_t climb_common(const struct climb *climbs, const uint32_t *parents,
                                    uint32_t one, uint32_t other)
{
    one = climb_to_depth(climbs, parents, one, climbs[other].depth);
    other = climb_to_depth(climbs, parents, other, climbs[one].depth);
    while (one != other) { /* nodes of equal depth skip equally many levels */
        const bool skips = climbs[one].skip != climbs[other].skip;
        one = skips ? climbs[one].skip : parents[one];
        other = skips ? climbs[other].skip : parents[other];
    }
    return one;
}

#endif
