/*
 * several: the group (held by several), of what the roots' groups hold together.
 *
 * What one group holds alone is in its retained size; what several hold is in none, and that may be
 * most of a heap. Here is what they dominate together directly, largest first. The edges are weak:
 * they hold nothing, so that all retained sizes are what they would be without them; and these and
 * those of the groups add up to what the roots reach.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "graph/sharers.h"

enum { MOST_SHOWN = 1000 };

/* What no other node with several owners dominates. */
struct top {
    uint64_t size; /* retained */
    uint32_t node, number;
};

typedef VECTOR(struct top) top_vector;

struct gathering {
    struct g2h_graph *graph;
    const struct owners *owners;
    struct dominators dominators;
    struct sharers sharers;
    uint64_t *sizes;  /* by number in preorder: retained */
    uint32_t *top_of; /* the same: the top that dominates it */
    uint32_t tops;
    top_vector shown; /* the largest */
};

static int compare_tops(const void *a, const void *b)
{
    const struct top *one = a, *other = b;
    if (one->size != other->size)
        return one->size > other->size ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

static void keep_largest(top_vector *tops)
{
    vector_sort(tops, compare_tops);
    if (tops->count > MOST_SHOWN)
        tops->count = MOST_SHOWN;
}

static uint64_t size_of(const struct g2h_graph *graph, uint32_t node)
{
    const uint32_t synthetics = graph_synthetics(graph);
    return node < synthetics ? graph->roots.nodes.data[node].size
                             : heap_object_size(graph->heap, node - synthetics);
}

/* Sums sizes up to the tops, which are numbered in preorder. */
static struct g2h_error *find_sizes(struct gathering *gathering)
{
    const struct dominators *dominators = &gathering->dominators;
    const uint32_t nodes = dominators->nodes;
    gathering->sizes = large_alloc(nodes, sizeof(*gathering->sizes));
    gathering->top_of = large_alloc(nodes, sizeof(*gathering->top_of));
    TRY_MEMORY(gathering->sizes && gathering->top_of);
    for (uint32_t i = 1; i < nodes; i++) {
        const uint32_t idom = dominators->idom[i];
        gathering->sizes[i] = size_of(gathering->graph, dominators->node_at[i]);
        gathering->top_of[i] = idom == 0 ? gathering->tops++ : gathering->top_of[idom];
    }
    for (uint32_t i = nodes - 1; i > 0; i--)
        gathering->sizes[dominators->idom[i]] += gathering->sizes[i];
    return NULL;
}

static struct g2h_error *find_largest(struct gathering *gathering)
{
    const struct dominators *dominators = &gathering->dominators;
    for (uint32_t i = 1; i < dominators->nodes; i++) {
        if (dominators->idom[i] != 0 || gathering->sizes[i] == 0)
            continue;
        TRY_MEMORY(vector_push(
            &gathering->shown,
            ((struct top){gathering->sizes[i], dominators->node_at[i], gathering->top_of[i]})));
        if (gathering->shown.count == (size_t)2 * MOST_SHOWN)
            keep_largest(&gathering->shown);
    }
    keep_largest(&gathering->shown);
    return NULL;
}

static void account(const struct gathering *gathering)
{
    struct g2h_graph_account *account = &gathering->graph->account;
    account->several = gathering->tops;
    account->several_bytes = gathering->sizes[0];
    account->several_shown = gathering->shown.count;
    for (size_t i = 0; i < gathering->shown.count; i++)
        account->several_shown_bytes += gathering->shown.data[i].size;
}

/* ---- nodes and edges ---- */

static struct g2h_error *name_edges(const struct gathering *gathering, struct edge *edges)
{
    const uint32_t synthetics = graph_synthetics(gathering->graph);
    struct text text = {0};
    bool good = true;
    for (size_t i = 0; i < gathering->shown.count && good; i++) {
        const struct top *top = &gathering->shown.data[i];
        text.size = 0;
        sharers_append(&gathering->sharers, top->number, &text);
        edges[i].type = EDGE_WEAK;
        edges[i].target = top->node < synthetics ? node_synthetic(top->node)
                                                 : node_object(top->node - synthetics);
        good = !text.failed &&
               names_add_label(&gathering->graph->names, text.data, text.size, &edges[i].name);
    }
    text_deinit(&text);
    TRY_MEMORY(good);
    return NULL;
}

static struct g2h_error *add_group(struct g2h_graph *graph, uint32_t *ret)
{
    static const char text[] = "(held by several)";
    struct edge edge = {.source = node_synthetic(graph->roots.gc_roots),
                        .type = EDGE_ELEMENT,
                        .name = root_group_index(G2H_NODE_SEVERAL)};
    uint32_t name;
    TRY_MEMORY(names_add_node(&graph->names, (const uint8_t *)text, sizeof(text) - 1, &name));
    TRY(graph_append_node(graph, G2H_NODE_SEVERAL, name, ret));
    edge.target = node_synthetic(*ret);
    return graph_insert_children(graph, graph->roots.gc_roots, &edge, 1);
}

static struct g2h_error *show(const struct gathering *gathering)
{
    const size_t count = gathering->shown.count;
    _cleanup_free_ struct edge *edges = calloc(count + 1, sizeof(*edges));
    uint32_t group;
    TRY_MEMORY(edges);
    TRY(name_edges(gathering, edges));
    TRY(add_group(gathering->graph, &group));
    for (size_t i = 0; i < count; i++)
        edges[i].source = node_synthetic(group);
    return graph_insert_children(gathering->graph, group, edges, count);
}

/* ---- all of it ---- */

static void gathering_deinit(struct gathering *gathering)
{
    const uint32_t nodes = gathering->dominators.nodes;
    large_free(gathering->sizes, nodes, sizeof(*gathering->sizes));
    large_free(gathering->top_of, nodes, sizeof(*gathering->top_of));
    free(gathering->shown.data);
    dominators_deinit(&gathering->dominators);
    sharers_deinit(&gathering->sharers);
}

struct g2h_error *graph_add_several(struct g2h_graph *graph, struct owners *owners)
{
    _cleanup_(gathering_deinit) struct gathering gathering = {.graph = graph, .owners = owners};
    const struct several_listener listener = {sharers_hear, &gathering.sharers};
    owners_sum_up(owners, graph);
    if (owners->several == 0)
        return NULL;
    TRY(sharers_init(&gathering.sharers, graph, owners));
    TRY(dominators_init_several(&gathering.dominators, graph, owners, &listener));
    TRY(find_sizes(&gathering));
    TRY(find_largest(&gathering));
    TRY(sharers_find(&gathering.sharers, &gathering.dominators, gathering.top_of, gathering.tops));
    account(&gathering);
    return show(&gathering);
}
