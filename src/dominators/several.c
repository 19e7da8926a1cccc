/*
 * several: the group (held by several): the nodes that several of the roots' groups hold together.
 *
 * Memory that one group alone holds is in the group's retained size. Memory that several groups
 * hold is in none of their retained sizes, and may be most of a heap. (held by several) lists the
 * nodes that several groups dominate together directly, largest first. Its edges are weak: they
 * hold nothing, so that they change no retained sizes. The retained sizes of these nodes and of the
 * groups add up to the size of everything that the roots reach.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/scope.h"
#include "dominators/sharers.h"

enum { MOST_SHOWN = 1000 };

struct shown {
    uint64_t size; /* retained size */
    uint32_t node, entry;
};

typedef VECTOR(struct shown) shown_vector;

struct gathering {
    struct g2h_graph *graph;
    struct shared_entries entries;
    uint64_t *sizes;            /* retained sizes, by shared entry */
    VECTOR(uint32_t) ascending; /* shared entries, in the order of their nodes */
    struct sharers sharers;
    shown_vector shown; /* the largest shared entries */
};

static int compare_shown(const void *a, const void *b)
{
    const struct shown *one = a, *other = b;
    if (one->size != other->size)
        return one->size > other->size ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Sorts the list, and cuts it off after MOST_SHOWN. */
static void keep_largest(shown_vector *shown)
{
    vector_sort(shown, compare_shown);
    if (shown->count > MOST_SHOWN)
        shown->count = MOST_SHOWN;
}

/* Sums up the sizes of the nodes that each owner, a group or a shared entry, has. */
static struct g2h_error *several_sum_up(struct gathering *gathering, const struct owners *owners)
{
    struct g2h_graph *graph = gathering->graph;
    const uint32_t nodes = graph_node_count(graph), synthetics = graph_synthetics(graph);
    const owner_number first = gathering->entries.first;
    gathering->sizes = zeroed_alloc(gathering->entries.nodes.count + 1, sizeof(*gathering->sizes));
    TRY_MEMORY(gathering->sizes);
    for (uint32_t node = 0; node < nodes; node++) {
        const owner_number owner = owner_of(owners, synthetics, node);
        const uint64_t size = owner == OWNER_NONE ? 0 : graph_node_size(graph, node);
        const bool is_shared = owner >= first || owner == OWNER_SEVERAL;
        graph->account.shared += is_shared;
        graph->account.shared_bytes += is_shared ? size : 0;
        if (owner >= first && gathering->entries.nodes.data[owner - first] == node)
            TRY_MEMORY(vector_push(&gathering->ascending, owner - first));
        if (owner >= first)
            gathering->sizes[owner - first] += size;
        else if (owner >= OWNER_FIRST)
            graph->owners.data[owner - OWNER_FIRST].bytes += size;
    }
    return NULL;
}

/* Finds the largest shared entries without sorting all of them. */
static struct g2h_error *find_largest(struct gathering *gathering)
{
    const struct shared_entries *entries = &gathering->entries;
    uint64_t least = 1; /* the least size of a shared entry that may be among the largest */
    for (uint32_t i = 0; i < entries->nodes.count; i++) {
        const struct shown shown = {gathering->sizes[i], entries->nodes.data[i], i};
        if (shown.size < least)
            continue;
        TRY_MEMORY(vector_push(&gathering->shown, shown));
        if (gathering->shown.count < (size_t)2 * MOST_SHOWN)
            continue;
        keep_largest(&gathering->shown);
        least = gathering->shown.data[MOST_SHOWN - 1].size;
    }
    keep_largest(&gathering->shown);
    assert(gathering->shown.count <= MOST_SHOWN);
    return NULL;
}

/* Counts what is shared for messages. */
static void several_account(const struct gathering *gathering)
{
    struct g2h_graph_account *account = &gathering->graph->account;
    account->several = gathering->entries.nodes.count;
    account->several_shown = gathering->shown.count;
    for (size_t i = 0; i < gathering->shown.count; i++)
        account->several_shown_bytes += gathering->shown.data[i].size;
}

/* ---- nodes and edges ---- */

/* Sets the targets of the edges from (held by several), and names them by the entries' holders. */
static struct g2h_error *name_edges(const struct gathering *gathering, struct edge *edges)
{
    const uint32_t synthetics = graph_synthetics(gathering->graph);
    struct text text = {0};
    bool good = true;
    for (size_t i = 0; i < gathering->shown.count && good; i++) {
        const struct shown *shown = &gathering->shown.data[i];
        text.size = 0;
        sharers_append(&gathering->sharers, shown->entry, false, &text);
        edges[i].type = EDGE_WEAK;
        edges[i].target = shown->node < synthetics ? node_synthetic(shown->node)
                                                   : node_object(shown->node - synthetics);
        good = !text.failed &&
               names_add_label(&gathering->graph->names, text.data, text.size, &edges[i].name);
    }
    text_deinit(&text);
    TRY_MEMORY(good);
    return NULL;
}

/* Adds the node "(held by several)" below (GC roots). */
static struct g2h_error *several_add_group(struct g2h_graph *graph, uint32_t *ret)
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

/* Adds the group, and its edges to the largest shared entries. */
static struct g2h_error *several_show(const struct gathering *gathering)
{
    const size_t count = gathering->shown.count;
    _cleanup_free_ struct edge *edges = zeroed_alloc(count + 1, sizeof(*edges));
    uint32_t group;
    TRY_MEMORY(edges);
    TRY(name_edges(gathering, edges));
    TRY(several_add_group(gathering->graph, &group));
    for (size_t i = 0; i < count; i++)
        edges[i].source = node_synthetic(group);
    return graph_insert_children(gathering->graph, group, edges, count);
}

/* ---- the whole step ---- */

static void gathering_deinit(struct gathering *gathering)
{
    shared_entries_deinit(&gathering->entries);
    sharers_deinit(&gathering->sharers);
    free(gathering->sizes);
    free(gathering->ascending.data);
    free(gathering->shown.data);
}

/* Finds the shared entries and names the largest; the order matters, since adding the group changes
 * the numbers of objects' nodes. */
struct g2h_error *graph_add_several(struct g2h_graph *graph, struct owners *owners)
{
    _cleanup_(gathering_deinit) struct gathering gathering = {.graph = graph};
    TRY(owners_grow(owners, graph));
    TRY(shared_entries_init(&gathering.entries, graph, owners));
    TRY(several_sum_up(&gathering, owners));
    TRY(find_largest(&gathering));
    assert(gathering.ascending.count == gathering.entries.nodes.count);
    several_account(&gathering);
    if (gathering.shown.count == 0)
        return NULL;
    TRY(sharers_init(&gathering.sharers, graph, &gathering.entries));
    const uint32_t before = graph_synthetics(graph);
    TRY(several_show(&gathering));
    return sharing_fill(graph, &gathering.sharers, gathering.ascending.data,
                        (uint32_t)gathering.ascending.count, before);
}
