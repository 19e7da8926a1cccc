/* strong: a walk along the edges that hold their targets. */
#ifndef DOMINATORS_STRONG_H
#define DOMINATORS_STRONG_H

#include "graph/graph.h"

/*
 * Calls each() for the strong edges of all nodes that the roots reach, source by source, until
 * each() returns false. Returns whether it never did. each() reads the target's entry of the array
 * by_node, so that entry is prefetched.
 */
static inline __attribute__((always_inline)) bool
along_strong_edges(const struct g2h_graph *graph, const uint32_t *by_node,
                   bool (*each)(void *context, uint32_t source, uint32_t target), void *context)
{
    enum { AHEAD = 16 };
    const uint32_t synthetics = graph_synthetics(graph);
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        if (graph_holds(graph, edge) &&
            !(edge->target.of == OF_OBJECT && graph_is_garbage(graph, edge->target.index)) &&
            !each(context, edge->source.index, graph_node_number(graph, edge->target)))
            return false;
    }
    for (size_t number = 0; number < graph->targets->block_count; number++) {
        const struct target_block *block = &graph->targets->blocks[number];
        const uint32_t first = (uint32_t)number << BLOCK_SHIFT,
                       last = block->starts[block->objects];
        for (uint32_t i = 0; i < block->objects; i++) {
            const struct tier_source source = tiers_source(&graph->tiers, first + i);
            for (uint32_t j = block->starts[i];
                 j < block->starts[i + 1] && source.tier != TIER_GARBAGE; j++) {
                if (last - j > AHEAD && block->targets[j + AHEAD] != NO_TARGET)
                    __builtin_prefetch(&by_node[synthetics + block->targets[j + AHEAD]]);
                if (block->targets[j] != NO_TARGET &&
                    tiers_hold(&graph->tiers, source, block->targets[j]) &&
                    !each(context, synthetics + first + i, synthetics + block->targets[j]))
                    return false;
            }
        }
    }
    return true;
}

#endif
