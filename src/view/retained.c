/*
 * retained: dominators and retained sizes of a view's nodes; see include/go2heapsnapshot/view.h.
 * They are computed for the graph (dominators.h); here its nodes are translated to the view's: a
 * folded view keeps only some nodes, so a node's dominator is the next one above that is kept, and
 * folded nodes have theirs from fold.c. The order of dominators numbers nodes so that each comes
 * after its dominator.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "dominators/dominators.h"
#include "view/view.h"

struct g2h_dominators {
    const struct g2h_view *view;
    struct dominators tree; /* of the graph; in a folded view its idom are kept nodes */

    /* Retained sizes, by number in preorder; one of both is NULL. Sizes of 32 bits are in units of
     * 2^shift bytes. */
    uint64_t *sizes;
    uint32_t *sizes32;
    unsigned shift;
};

/* Returns the retained size of a number in bytes, however it is stored. */
static uint64_t size_at(const struct g2h_dominators *dominators, uint32_t number)
{
    return dominators->sizes32 ? (uint64_t)dominators->sizes32[number] << dominators->shift
                               : dominators->sizes[number];
}

/* Keeps the sizes in 32 bits if none is larger, in the largest unit of which all are multiples:
 * objects of Go are multiples of 8 bytes. */
static void make_narrow(struct g2h_dominators *dominators)
{
    const uint32_t nodes = dominators->tree.nodes;
    uint64_t *wide = dominators->sizes;
    uint64_t all = 0;
    for (uint32_t i = 0; i < nodes; i++)
        all |= wide[i];
    dominators->shift = all > 0 ? (unsigned)__builtin_ctzll(all) : 0;
    if (all >> dominators->shift > UINT32_MAX) /* has the highest bit of the largest one */
        return;
    uint32_t *narrow = large_alloc(nodes, sizeof(*narrow));
    if (!narrow)
        return;
    for (uint32_t i = 0; i < nodes; i++)
        narrow[i] = (uint32_t)(wide[i] >> dominators->shift);
    dominators->sizes32 = narrow;
    dominators->sizes = NULL;
    large_free(wide, nodes, sizeof(*wide));
}

CLEANUP_POINTER(retained_destroy, struct g2h_dominators, g2h_dominators_destroy);

/* Points the idom of each node to the last node above it that a folded view keeps, so that readers
 * need not climb over folded ones. In preorder a dominator's own idom has always been set before it
 * is used. */
static void skip_folded(struct dominators *tree, const struct fold *fold)
{
    for (uint32_t i = 1; i < tree->nodes; i++) {
        const uint32_t above = tree->idom[i];
        if (fold->number_of[tree->node_at[above]] >= fold->kept) /* the root is kept */
            tree->idom[i] = tree->idom[above];
        assert(fold->number_of[tree->node_at[tree->idom[i]]] < fold->kept);
    }
}

/* Computes the dominators of a view. The tree is that of the whole graph: folding does not change
 * who dominates a kept node. */
struct g2h_error *g2h_view_dominators(const struct g2h_view *view, struct g2h_dominators **ret)
{
    _cleanup_(retained_destroy) struct g2h_dominators *dominators = calloc(1, sizeof(*dominators));
    TRY_MEMORY(dominators);
    dominators->view = view;
    TRY(dominators_init(&dominators->tree, view->graph));
    TRY(dominators_sizes(&dominators->tree, view->graph, 0, &dominators->sizes));
    assert(dominators->sizes[0] >= view->account.left_out_bytes);
    dominators->sizes[0] -= view->account.left_out_bytes; /* this garbage hung below the root */
    make_narrow(dominators);
    if (view->is_folded)
        skip_folded(&dominators->tree, &view->fold);
    *ret = take_pointer(dominators);
    return NULL;
}

void g2h_dominators_destroy(struct g2h_dominators *dominators)
{
    if (!dominators)
        return;
    large_free(dominators->sizes, dominators->tree.nodes, sizeof(*dominators->sizes));
    large_free(dominators->sizes32, dominators->tree.nodes, sizeof(*dominators->sizes32));
    dominators_deinit(&dominators->tree);
    free(dominators);
}

/* Returns the node of the graph that a view's node is, which is not a folded one, or the root for
 * "(folded)". */
static uint32_t graph_node_of(const struct g2h_view *view, uint32_t node)
{
    const struct fold *fold = &view->fold;
    if (!view->is_folded)
        return node;
    if (node < fold->synthetic_count)
        return fold->synthetics[node];
    if (node < fold->first_object)
        return 0;
    return graph_synthetics(view->graph) + fold_object_of(fold, node);
}

/* Returns the node that dominates a node directly. A folded node's is known; another's may itself
 * be folded, so its number in the view is looked up. */
uint32_t g2h_dominators_of(const struct g2h_dominators *dominators, uint32_t node)
{
    const struct g2h_view *view = dominators->view;
    const struct dominators *tree = &dominators->tree;
    assert(node < g2h_view_node_count(view));
    if (node >= view_kept(view))
        return view->fold.folded[node - view->fold.kept].above;
    const uint32_t above = tree->node_at[tree->idom[tree->preorder_of[graph_node_of(view, node)]]];
    return view->is_folded ? view->fold.number_of[above] : above;
}

/* ---- the order ---- */

/* Returns how many nodes "(folded)" a folded view has: 1 or 0. The kept nodes have the numbers that
 * they have in the graph's tree. After them come the nodes that the graph does not have:
 * "(folded)", and the folded nodes, each after the one that dominates it. */
static uint32_t group_count(const struct fold *fold)
{
    return fold->first_object - fold->synthetic_count;
}

/* Returns how many numbers the order of dominators has. */
uint32_t g2h_dominators_numbers(const struct g2h_dominators *dominators)
{
    const struct fold *fold = &dominators->view->fold;
    return dominators->view->is_folded
               ? dominators->tree.nodes + group_count(fold) + fold->folded_count
               : dominators->tree.nodes;
}

/* Returns the number of a node in the order of dominators. See group_count() for the order of the
 * numbers. */
uint32_t g2h_dominators_number(const struct g2h_dominators *dominators, uint32_t node)
{
    const struct g2h_view *view = dominators->view;
    const struct fold *fold = &view->fold;
    if (view->is_folded && node >= fold->kept)
        return dominators->tree.nodes + group_count(fold) + (node - fold->kept);
    if (view->is_folded && node >= fold->synthetic_count && node < fold->first_object)
        return dominators->tree.nodes + (node - fold->synthetic_count);
    return dominators->tree.preorder_of[graph_node_of(view, node)];
}

/* Returns the node with a number in the order of dominators. Returns UINT32_MAX for the number of a
 * node that is folded: the folded node has one of its own. */
uint32_t g2h_dominators_node(const struct g2h_dominators *dominators, uint32_t number)
{
    const struct dominators *tree = &dominators->tree;
    const struct fold *fold = &dominators->view->fold;
    if (!dominators->view->is_folded)
        return tree->node_at[number];
    if (number < tree->nodes) {
        const uint32_t node = fold->number_of[tree->node_at[number]];
        return node < fold->kept ? node : UINT32_MAX;
    }
    const uint32_t behind = number - tree->nodes;
    return behind < group_count(fold) ? fold->synthetic_count + behind
                                      : fold->kept + (behind - group_count(fold));
}

/* Returns the number of the dominator of a number. The nodes that the tree does not have are
 * "(folded)", below the root, and folded ones. */
uint32_t g2h_dominators_above(const struct g2h_dominators *dominators, uint32_t number)
{
    const struct dominators *tree = &dominators->tree;
    if (number < tree->nodes)
        return tree->idom[number];
    const uint32_t node = g2h_dominators_node(dominators, number);
    return g2h_dominators_number(dominators, g2h_dominators_of(dominators, node));
}

/* Returns what a node retains, in bytes. The node "(folded)" counts as 0. */
uint64_t g2h_dominators_retained_size(const struct g2h_dominators *dominators, uint32_t node)
{
    const struct g2h_view *view = dominators->view;
    if (node >= view_kept(view))
        return view->fold.folded[node - view->fold.kept].retained;
    if (view->is_folded && node == view->fold.group)
        return 0;
    return size_at(dominators, dominators->tree.preorder_of[graph_node_of(view, node)]);
}

/* Reads the dominators and retained sizes of count nodes, few enough that all memory can be
 * prefetched before it is used, and stays in the cache. */
static void retained_read_some(const struct g2h_dominators *dominators, uint32_t first,
                               size_t count, uint32_t *ret_nodes, uint64_t *ret_sizes)
{
    const struct dominators *tree = &dominators->tree;
    const uint32_t *numbers = &tree->preorder_of[first];
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&tree->idom[numbers[i]]);
        if (dominators->sizes32)
            __builtin_prefetch(&dominators->sizes32[numbers[i]]);
        else
            __builtin_prefetch(&dominators->sizes[numbers[i]]);
    }
    for (size_t i = 0; i < count; i++) {
        ret_nodes[i] = tree->idom[numbers[i]];
        __builtin_prefetch(&tree->node_at[ret_nodes[i]]);
        ret_sizes[i] = size_at(dominators, numbers[i]);
    }
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = tree->node_at[ret_nodes[i]];
}

/* Reads in blocks that stay in the cache; a folded view is small enough to be read node by node. */
void g2h_dominators_read(const struct g2h_dominators *dominators, uint32_t first, size_t count,
                         uint32_t *ret_nodes, uint64_t *ret_sizes)
{
    enum { SOME = 64 };
    if (!dominators->view->is_folded) {
        for (size_t i = 0; i < count; i += SOME)
            retained_read_some(dominators, first + as_u32(i), MIN(count - i, SOME), ret_nodes + i,
                               ret_sizes + i);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ret_nodes[i] = g2h_dominators_of(dominators, first + as_u32(i));
        ret_sizes[i] = g2h_dominators_retained_size(dominators, first + as_u32(i));
    }
}
