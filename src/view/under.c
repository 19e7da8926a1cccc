/*
 * under: which nodes a view under some nodes is about, and which ones hold these; see fold.h.
 *
 * Such a view is about the nodes that are asked for, and all that they dominate. It also has their
 * dominators, and the paths to them that the caller knows, each node of these with its own
 * dominators: so the nodes that stay are an upper part of the tree of dominators, or a subtree of
 * that, as fold.c needs it. Nodes below the one of garbage are beside them, below that node.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "dominators/dominators.h"
#include "view/fold.h"

/* Adds a node and its dominators to those that hold the others. */
static void under_hold(struct under *under, const struct dominators *tree, uint32_t preorder)
{
    while (!bits_have(under->holds, preorder)) {
        bits_add(under->holds, preorder);
        preorder = tree->idom[preorder];
    }
}

/* Finds which nodes the view is about. ret->below gets the nodes that the given ones dominate,
 * themselves included; ret->holds those, and the holders, with all their dominators up to the root,
 * and garbage unless the view is of reachable objects. Sets are by number in preorder, in which a
 * dominator comes before what it dominates. */
struct g2h_error *under_find(const struct g2h_graph *graph, const struct dominators *tree,
                             const struct g2h_view_options *options, struct under *ret)
{
    const size_t words = tree->nodes / 64 + 1;
    ret->below = zeroed_alloc(words, sizeof(*ret->below));
    ret->holds = zeroed_alloc(words, sizeof(*ret->holds));
    TRY_MEMORY(ret->below && ret->holds);
    bits_add(ret->holds, 0); /* the root */
    for (size_t i = 0; i < options->under_count; i++) {
        const uint32_t preorder = tree->preorder_of[options->under[i]];
        bits_add(ret->below, preorder);
        under_hold(ret, tree, preorder);
    }
    for (size_t i = 0; i < options->holder_count; i++)
        under_hold(ret, tree, tree->preorder_of[options->holders[i]]);
    for (uint32_t i = 0; i < graph_synthetics(graph); i++)
        if (graph->roots.nodes.data[i].kind == G2H_NODE_UNREACHABLE && !options->reachable)
            under_hold(ret, tree, tree->preorder_of[i]);
    for (uint32_t i = 1; i < tree->nodes; i++) /* a dominator has a lower number */
        if (bits_have(ret->below, tree->idom[i]))
            bits_add(ret->below, i);
    return NULL;
}

void under_deinit(struct under *under)
{
    free(under->below);
    free(under->holds);
}

/* Marks a node to which one that the view is about points, if it is beside these. */
static void note_shared(const struct dominators *tree, const struct under *under, uint32_t node,
                        uint64_t *shared)
{
    const uint32_t preorder = tree->preorder_of[node];
    if (under_is_else(under, preorder))
        bits_add(shared, preorder);
}

/* Marks, in shared, what a node that the view is about points to beside these. Weak pointers, and
 * those that hold nothing, do not count. */
static void note_targets(const struct g2h_graph *graph, const struct dominators *tree,
                         const struct under *under, uint32_t node, uint64_t *shared)
{
    const uint32_t synthetics = graph_synthetics(graph);
    if (node < synthetics) {
        for (uint64_t i = graph->first_child[node]; i < graph->first_child[node + 1]; i++)
            if (graph_hold_as(graph, &graph->children[i]) < HOLD_PASSED)
                note_shared(tree, under, graph_node_number(graph, graph->children[i].target),
                            shared);
        return;
    }
    const struct tier_source holder = tiers_source(&graph->tiers, node - synthetics);
    const uint32_t *end;
    const uint32_t *target = object_targets(graph, node - synthetics, &end);
    for (; target < end; target++)
        if (*target != NO_TARGET && tiers_hold_as(&graph->tiers, holder, *target) < HOLD_PASSED)
            note_shared(tree, under, synthetics + *target, shared);
}

/* Counts an object that is not garbage. It is below what the view is about, or holds that, or is
 * neither. */
static void count_object(const struct under *under, uint32_t preorder, uint64_t size,
                         struct under_account *ret)
{
    const bool is_below = bits_have(under->below, preorder);
    const bool is_else = under_is_else(under, preorder);
    const bool holds = !is_below && !is_else;
    ret->objects += is_below;
    ret->bytes += is_below ? size : 0;
    ret->else_objects += is_else;
    ret->else_bytes += is_else ? size : 0;
    ret->holder_objects += holds;
    ret->holder_bytes += holds ? size : 0;
}

/* Sums up what is below, above and beside the nodes. Counts objects by where they are in the tree.
 * Those that are also reached from elsewhere are shared; what such a one retains counts once, for
 * the uppermost of them (covered: those below one). */
struct g2h_error *under_count(const struct g2h_graph *graph, const struct dominators *tree,
                              const struct under *under, const uint64_t *retained,
                              struct under_account *ret)
{
    const uint32_t synthetics = graph_synthetics(graph);
    const uint32_t nodes = graph_node_count(graph);
    const size_t words = tree->nodes / 64 + 1;
    _cleanup_free_ uint64_t *shared = zeroed_alloc(words, sizeof(*shared)),
                            *covered = zeroed_alloc(words, sizeof(*covered));
    TRY_MEMORY(shared && covered);
    for (uint32_t node = 0; node < nodes; node++) {
        const uint32_t preorder = tree->preorder_of[node];
        if (bits_have(under->below, preorder))
            note_targets(graph, tree, under, node, shared);
        if (node >= synthetics && !graph_is_garbage(graph, node - synthetics))
            count_object(under, preorder, graph_node_size(graph, node), ret);
    }
    for (uint32_t i = 1; i < tree->nodes; i++) {
        const bool is_covered = bits_have(covered, tree->idom[i]);
        if (bits_have(shared, i) && tree->node_at[i] >= synthetics &&
            !graph_is_garbage(graph, tree->node_at[i] - synthetics)) {
            ret->shared_objects++;
            ret->shared_bytes += is_covered ? 0 : retained[i];
        }
        if (is_covered || bits_have(shared, i))
            bits_add(covered, i);
    }
    return NULL;
}
