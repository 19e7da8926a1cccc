/*
 * tops; see tops.h.
 *
 * Nodes that lead nowhere, which are half of a heap, need no dominators: such a node has the top of
 * all that hold it, if they have the same one, and else is one itself. The others' are found by
 * dominators.h.
 */
#include "graph/tops.h"

#include <stdlib.h>

#include "base/scope.h"
#include "graph/dominators.h"
#include "graph/strong.h"

/* What a node that leads nowhere has before anything was found to hold it. */
#define UNSEEN (TOP_LEAF | (TOP_LEAF - 1))

enum { MOST_NODES = TOP_LEAF - 2 };

struct finding {
    struct tops *tops;
    const struct owners *owners;
    uint32_t synthetics;
};

/* Makes a node a top, and gives what tops->of_node says of it, but for TOP_LEAF. */
static bool add_top(struct tops *tops, uint32_t node, uint32_t *ret)
{
    *ret = ++tops->count | TOP_ITSELF;
    return vector_push(&tops->nodes, node);
}

/* ---- nodes that lead somewhere ---- */

/* A node's dominator comes before it: the tops of these take the place of dominators. */
static struct g2h_error *take_inner(struct tops *tops, struct dominators *dominators)
{
    uint32_t *top_of = dominators->idom;
    tops->of_node = dominators->preorder_of;
    dominators->preorder_of = NULL;
    for (uint32_t i = 1; i < dominators->nodes; i++) {
        const uint32_t node = dominators->node_at[i], idom = dominators->idom[i];
        if (idom == 0)
            TRY_MEMORY(add_top(tops, node, &tops->of_node[node]));
        else
            tops->of_node[node] = top_of[idom];
        top_of[i] = tops->of_node[node] & ~TOP_ITSELF;
    }
    return NULL;
}

/* ---- nodes that lead nowhere ---- */

static void list_leaves(const struct finding *finding, uint32_t nodes)
{
    uint32_t *of_node = finding->tops->of_node;
    for (uint32_t node = 0; node < nodes; node++)
        if (of_node[node] == 0 &&
            owner_of(finding->owners, finding->synthetics, node) == OWNER_SEVERAL)
            of_node[node] = UNSEEN;
}

/* Says of a node that leads nowhere who holds it. */
static bool hold_leaf(void *context, uint32_t source, uint32_t target)
{
    const struct finding *finding = context;
    uint32_t *of_target = &finding->tops->of_node[target];
    const uint32_t known = *of_target, of_source = finding->tops->of_node[source] & ~TOP_ITSELF;
    if ((known & (TOP_LEAF | TOP_ITSELF)) != TOP_LEAF)
        return true;
    if (of_source != 0 && (known == UNSEEN || known == (of_source | TOP_LEAF))) {
        *of_target = of_source | TOP_LEAF;
        return true;
    }
    const bool good = add_top(finding->tops, target, of_target);
    *of_target |= TOP_LEAF;
    return good;
}

/* ---- sizes ---- */

static bool has_top(const struct tops *tops, uint32_t node)
{
    return tops->of_node[node] != 0 && tops->of_node[node] != UNSEEN;
}

static struct g2h_error *find_sizes(struct tops *tops, const struct g2h_graph *graph)
{
    tops->sizes = calloc((size_t)tops->count + 1, sizeof(*tops->sizes));
    TRY_MEMORY(tops->sizes);
    for (uint32_t node = 0; node < tops->graph_nodes; node++)
        if (has_top(tops, node))
            tops->sizes[top_number(tops->of_node[node])] += graph_node_size(graph, node);
    return NULL;
}

static struct g2h_error *find_all(struct tops *tops, const struct g2h_graph *graph,
                                  const struct owners *owners)
{
    _cleanup_(dominators_deinit) struct dominators dominators = {0};
    struct finding finding = {tops, owners, graph_synthetics(graph)};
    TRY(dominators_init_several(&dominators, graph, owners));
    TRY(take_inner(tops, &dominators));
    list_leaves(&finding, tops->graph_nodes);
    TRY_MEMORY(along_strong_edges(graph, tops->of_node, hold_leaf, &finding));
    return find_sizes(tops, graph);
}

struct g2h_error *tops_init(struct tops *tops, const struct g2h_graph *graph,
                            const struct owners *owners)
{
    *tops = (struct tops){.graph_nodes = graph_node_count(graph)};
    if (tops->graph_nodes > MOST_NODES)
        return NULL;
    struct g2h_error *error = find_all(tops, graph, owners);
    if (error)
        tops_deinit(tops);
    return error;
}

void tops_deinit(struct tops *tops)
{
    large_free(tops->of_node, tops->graph_nodes, sizeof(*tops->of_node));
    free(tops->nodes.data);
    free(tops->sizes);
    *tops = (struct tops){0};
}
