/*
 * regions: the graph, cut into parts that are searched one by one on several threads; see
 * regions.h. A region is the nodes of one owner: a group of roots, or a shared entry, which is a
 * node that several groups reach and no other such node holds alone. All edges from outside lead to
 * its entry.
 *
 * components  strongly connected components of any small graph (Tarjan): here of the entries
 *            that hold each other
 * regions     numbers the nodes by region, and finds the dominators of the entries: on a tree of
 *            few levels, from the edges between regions (crossings) alone
 */
#include "dominators/regions.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/limits.h"
#include "graph/owners.h"

/* ==== the strongly connected components of a directed graph ====
 *
 * This is the algorithm of Tarjan, "Depth-first search and linear graph algorithms", 1972: a
 * component is complete when the search leaves its first node, which is a node from which the
 * search has met no earlier node that is still open. Components are completed, and numbered, from
 * the sinks up.
 */

#define UNSEEN UINT32_MAX

/* ---- edges ---- */

/* Sorts the crossings by source, by counting. Counts go two entries up, so that after summing up,
 * first[i + 1] is where node i's next edge goes, and in the end where it ends. */
static void list_crossings(struct edge_lists *edges, owner_number first,
                           const struct crossings *lists, unsigned list_count)
{
    for (unsigned i = 0; i < list_count; i++)
        VECTOR_EACH(const struct crossing, crossing, lists[i].all)
            if (crossing->by >= first)
                edges->first[crossing->by - first + 2]++;
    for (uint32_t i = 0; i < edges->nodes; i++)
        edges->first[i + 1] += edges->first[i];
    for (unsigned i = 0; i < list_count; i++)
        VECTOR_EACH(const struct crossing, crossing, lists[i].all) {
            assert(crossing->by < first ||
                   (crossing->by - first < edges->nodes && crossing->to - first < edges->nodes));
            if (crossing->by >= first)
                edges->targets[edges->first[crossing->by - first + 1]++] = crossing->to - first;
        }
}

/* Sorts crossings by their source. Two entries more than nodes let list_crossings() count and place
 * edges in one array. */
struct g2h_error *edge_lists_init(struct edge_lists *edges, uint32_t nodes, owner_number first,
                                  const struct crossings *lists, unsigned list_count,
                                  const char *name)
{
    size_t count = 0;
    for (unsigned i = 0; i < list_count; i++)
        count += lists[i].all.count;
    if (count > limits.dominator_edges)
        return error_create(G2H_ERROR_LIMIT,
                            "%s: %zu edges: more than the %llu among which is found who holds what",
                            name, count, (unsigned long long)limits.dominator_edges);
    *edges = (struct edge_lists){
        .nodes = nodes,
        .first = zeroed_alloc((size_t)nodes + 2, sizeof(*edges->first)),
        .targets = block_alloc(count + 1, sizeof(*edges->targets)),
    };
    if (!edges->first || !edges->targets) {
        edge_lists_deinit(edges);
        return &error_no_memory;
    }
    list_crossings(edges, first, lists, list_count);
    return NULL;
}

void edge_lists_deinit(struct edge_lists *edges)
{
    free(edges->first);
    free(edges->targets);
    *edges = (struct edge_lists){0};
}

/* ---- components ---- */

struct components_search {
    const struct edge_lists *edges;
    struct components *result;
    uint32_t *number; /* by node: its position in the order in which nodes are met, or UNSEEN */
    uint32_t *low;    /* by node: the lowest number it is known to reach within its component */
    uint32_t *next;   /* by node: the next edge to look at */
    uint32_t *path;   /* the nodes on the path from the search's start to the current node */
    uint32_t *open;   /* nodes without a component yet, in the order of their numbers */
    uint32_t path_size, opens, numbers;
};

/* Begins a node: gives it the next number, and puts it on the path and among the open nodes. */
static void components_enter(struct components_search *search, uint32_t node)
{
    search->number[node] = search->low[node] = search->numbers++;
    search->next[node] = search->edges->first[node];
    search->path[search->path_size++] = node;
    search->open[search->opens++] = node;
}

/* Completes the component whose first node in the search is node. */
static void components_complete(struct components_search *search, uint32_t node)
{
    struct components *result = search->result;
    uint32_t member;
    do {
        member = search->open[--search->opens];
        result->of[member] = result->count;
    } while (member != node);
    result->count++;
}

/* One step of the search: moves from the last node of the path to the next unseen target or, if
 * there is none, back by one node. A node whose low is its own number then is the first of a
 * component. */
static void components_advance(struct components_search *search)
{
    const struct edge_lists *edges = search->edges;
    const uint32_t node = search->path[search->path_size - 1];
    uint32_t *low = search->low;
    while (search->next[node] < edges->first[node + 1]) {
        const uint32_t target = edges->targets[search->next[node]];
        if (search->number[target] == UNSEEN) {
            components_enter(search, target);
            return;
        }
        if (search->result->of[target] == UNSEEN && low[target] < low[node])
            low[node] = low[target];
        search->next[node]++;
    }
    search->path_size--;
    if (low[node] == search->number[node])
        components_complete(search, node);
}

/* Returns whether edges between components lead to lower numbers, as those pass on what they have
 * who go through components in their order. */
static _asserted_ bool components_descend(const struct components *components,
                                          const struct edge_lists *edges)
{
    for (uint32_t i = 0; i < edges->nodes; i++)
        for (uint32_t j = edges->first[i]; j < edges->first[i + 1]; j++)
            if (components->of[edges->targets[j]] > components->of[i])
                return false;
    return true;
}

/* Fills components->order: the nodes by component, from the highest one down. Returns false if
 * memory runs out. */
static bool put_in_order(struct components *components, uint32_t nodes)
{
    uint32_t *next = zeroed_alloc(count_and_end(components->count), sizeof(*next));
    if (!next)
        return false;
    for (uint32_t i = 0; i < nodes; i++)
        next[components->count - 1 - components->of[i] + 1]++;
    for (uint32_t i = 0; i < components->count; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < nodes; i++)
        components->order[next[components->count - 1 - components->of[i]]++] = i;
    free(next);
    return true;
}

static void components_search_deinit(struct components_search *search)
{
    free(search->number);
    free(search->low);
    free(search->next);
    free(search->path);
    free(search->open);
}

/* Runs the depth-first search from each unseen node. It has its own path instead of recursion,
 * because a list may be millions of nodes long. */
static struct g2h_error *components_search_all(struct components *components,
                                               const struct edge_lists *edges)
{
    const size_t nodes = edges->nodes;
    const size_t size = (nodes + 1) * sizeof(uint32_t);
    _cleanup_(components_search_deinit) struct components_search search = {
        .edges = edges,
        .result = components,
        .number = block_alloc(1, size),
        .low = block_alloc(1, size),
        .next = block_alloc(1, size),
        .path = block_alloc(1, size),
        .open = block_alloc(1, size)};
    TRY_MEMORY(search.number && search.low && search.next && search.path && search.open &&
               components->of && components->order);
    memset(search.number, 0xff, size);
    memset(components->of, 0xff, size);
    for (uint32_t node = 0; node < edges->nodes; node++)
        if (search.number[node] == UNSEEN)
            for (components_enter(&search, node); search.path_size > 0;)
                components_advance(&search);
    assert(components_descend(components, edges));
    TRY_MEMORY(put_in_order(components, edges->nodes));
    return NULL;
}

/* Finds the components, in time and memory proportional to nodes and edges. */
struct g2h_error *components_init(struct components *components, const struct edge_lists *edges)
{
    const size_t size = ((size_t)edges->nodes + 1) * sizeof(uint32_t);
    *components = (struct components){.of = block_alloc(1, size), .order = block_alloc(1, size)};
    struct g2h_error *error = components_search_all(components, edges);
    if (error)
        components_deinit(components);
    return error;
}

void components_deinit(struct components *components)
{
    free(components->of);
    free(components->order);
    *components = (struct components){0};
}

/* ==== the graph, cut into parts by owners, for dominators ====
 *
 * The dominators of entries are found on a small tree: that of the synthetic nodes of the root's
 * region and of the groups. A shared entry's dominator is the last node of the tree above all
 * groups that hold it. Which groups hold a shared entry through others follows from the edges
 * between shared entries, component by component.
 */

#define NOWHERE UINT32_MAX

/* If there are many regions, the graph is cut only if they have more than LEAST_NODES nodes on
 * average: with fewer, one thread searches the graph in less time than it takes to find the
 * dominators of all entries. */
enum { MANY_REGIONS = 1 << 16, LEAST_NODES = 4 };

enum { REGION_ROOT };

/* Returns the region of an owner. Regions have the numbers of their owners, except that
 * OWNER_GC_ROOTS and OWNER_NONE have exchanged theirs. */
static inline uint32_t region_by(owner_number owner)
{
    if (owner == OWNER_GC_ROOTS)
        return REGION_ROOT;
    return owner == OWNER_NONE ? OWNER_GC_ROOTS : owner;
}

/* Returns the region of a node of the graph. */
static inline uint32_t region_of(const struct regions *regions, uint32_t node)
{
    const struct g2h_graph *graph = regions->graph;
    return region_by(owner_of(&graph->node_owners, graph_synthetics(graph), node));
}

/* ---- the tree above the groups ---- */

/* Returns how many levels a node of the tree is below the root. */
static uint32_t regions_depth_of(const uint32_t *up, uint32_t node)
{
    uint32_t depth = 0;
    for (; up[node] != node; node = up[node])
        depth++;
    return depth;
}

/* Returns the last node above both nodes, which may be one of the two; if one is NOWHERE, returns
 * the other. The tree has few levels. */
static uint32_t last_above(const struct regions *regions, uint32_t one, uint32_t other)
{
    const uint32_t *up = regions->up;
    if (one == NOWHERE || other == NOWHERE)
        return one == NOWHERE ? other : one;
    assert(one < graph_synthetics(regions->graph) && other < graph_synthetics(regions->graph));
    uint32_t depth = regions_depth_of(up, one);
    uint32_t other_depth = regions_depth_of(up, other);
    for (; depth > other_depth; depth--)
        one = up[one];
    for (; other_depth > depth; other_depth--)
        other = up[other];
    for (; one != other; one = up[one])
        other = up[other];
    return one;
}

/* Returns the node of the tree that stands for a synthetic node: the node itself, or the entry of
 * its region. */
static uint32_t tree_node_of(const struct regions *regions, uint32_t synthetic)
{
    const uint32_t region = region_of(regions, synthetic);
    return region == REGION_ROOT ? synthetic : regions->entries[region];
}

/* Takes an edge to a node of the tree into account: that node's dominator moves up to the last node
 * above its present one and the edge's source. Weak edges, those to objects or the root, and those
 * from nodes that are not reached yet (NOWHERE) change nothing. Returns whether it has changed. */
static bool raise_by_edge(const struct regions *regions, const struct edge *edge)
{
    uint32_t *up = regions->up;
    if (edge->type == EDGE_WEAK || edge->target.of != OF_SYNTHETIC || edge->target.index == 0)
        return false;
    const uint32_t target = edge->target.index;
    const uint32_t source = tree_node_of(regions, edge->source.index);
    if (source == target || tree_node_of(regions, target) != target || up[source] == NOWHERE)
        return false;
    const uint32_t before = up[target];
    up[target] = last_above(regions, before, source);
    return up[target] != before;
}

/* Finds the dominators of the tree's nodes. The edges are sorted by their sources, which is
 * downwards, so hardly more than one walk is needed. */
static void find_tree_dominators(struct regions *regions)
{
    const struct g2h_graph *graph = regions->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    for (uint32_t i = 0; i < synthetics; i++)
        regions->up[i] = NOWHERE;
    regions->up[0] = 0;
    for (bool more = true; more;) {
        more = false;
        for (uint64_t i = 0; i < graph->first_object_child; i++)
            more |= raise_by_edge(regions, &graph->children[i]);
    }
    /* nodes that no strong edge reaches hang below the root, as in number_unreached() */
    for (uint32_t i = 0; i < synthetics; i++)
        regions->up[i] = regions->up[i] == NOWHERE ? 0 : regions->up[i];
    for (uint32_t i = 1; i < regions->count; i++)
        regions->above[i] =
            regions->entries[i] < synthetics ? regions->up[regions->entries[i]] : NOWHERE;
}

/* ---- regions ---- */

/* Counts the nodes of each region, in regions->first at the number after the region's, and finds
 * each region's entry: the node whose owner is fixed. Returns whether the graph should be cut into
 * regions: the owners are known, each region with nodes has an entry, no object is in the region of
 * the roots, and there are not so many regions that they are tiny. */
static bool regions_count_nodes(struct regions *regions)
{
    const struct g2h_graph *graph = regions->graph;
    const struct owners *owners = &graph->node_owners;
    const uint32_t synthetics = graph_synthetics(graph);
    const uint32_t nodes = graph_node_count(graph);
    uint32_t inner = 0, used = 0;
    const bool has_owners = owners->end > 0;
    bool good = has_owners;
    memset(regions->entries, 0xff, regions->count * sizeof(*regions->entries));
    for (uint32_t node = 0; node < nodes; node++) {
        if (node >= synthetics && !targets_lead(graph->targets, node - synthetics))
            continue;
        const owner_number known =
            has_owners ? owner_known(owners, synthetics, node) : OWNER_GC_ROOTS;
        const uint32_t region = region_by(known & ~OWNER_FIXED);
        regions->first[region + 1]++;
        if ((known & OWNER_FIXED) != 0)
            regions->entries[region] = node;
        good = good && (node < synthetics || region != REGION_ROOT);
    }
    regions->entries[REGION_ROOT] = 0;
    for (uint32_t i = 0; i < regions->count; i++) {
        good = good && (regions->first[i + 1] == 0 || regions->entries[i] != NOWHERE);
        inner += regions->first[i + 1];
        used += regions->first[i + 1] > 0;
    }
    return good && (used < MANY_REGIONS || used < inner / LEAST_NODES);
}

/* Makes one region of all nodes, that of the root. */
void regions_join(struct regions *regions)
{
    const uint32_t nodes = regions_nodes(regions);
    memset(regions->is_entry, 0, (nodes / 64 + 1) * sizeof(*regions->is_entry));
    regions->count = 1;
    regions->first[1] = nodes;
    regions->entries[REGION_ROOT] = 0;
}

/* Numbers the nodes by region, or joins all regions if cutting is not worth it. Sums of the counts
 * are the regions' first numbers. */
static struct g2h_error *regions_cut(struct regions *regions)
{
    const uint32_t count = regions->count;
    const bool good = regions_count_nodes(regions);
    for (uint32_t i = 0; i < count; i++)
        regions->first[i + 1] += regions->first[i];
    regions->is_entry = zeroed_alloc(regions_nodes(regions) / 64 + 1, sizeof(*regions->is_entry));
    TRY_MEMORY(regions->is_entry);
    regions->above[REGION_ROOT] = 0;
    if (!good) {
        regions_join(regions);
        return NULL;
    }
    for (uint32_t i = 1; i < count; i++)
        if (regions->entries[i] != NOWHERE)
            bits_add(regions->is_entry, regions->first[i]);
    find_tree_dominators(regions);
    return NULL;
}

/* Cuts the graph into regions by the owners of objects. Without known owners there is one region,
 * the root's. */
struct g2h_error *regions_init(struct regions *regions, const struct g2h_graph *graph)
{
    const size_t count = graph->node_owners.end > 0 ? graph->node_owners.end : 1;
    *regions = (struct regions){
        .graph = graph,
        .count = as_u32(count),
        .first = zeroed_alloc(count + 1, sizeof(*regions->first)),
        .entries = block_alloc(count, sizeof(*regions->entries)),
        .above = block_alloc(count, sizeof(*regions->above)),
        .up = block_alloc(graph_synthetics(graph), sizeof(*regions->up)),
    };
    struct g2h_error *error = regions->first && regions->entries && regions->above && regions->up
                                  ? regions_cut(regions)
                                  : &error_no_memory;
    if (error)
        regions_deinit(regions);
    return error;
}

void regions_deinit(struct regions *regions)
{
    free(regions->first);
    free(regions->entries);
    free(regions->above);
    free(regions->up);
    free(regions->is_entry);
    *regions = (struct regions){0};
}

/* ---- the dominators of shared entries ---- */

/* Records that the entry of a region is held from a node of the tree, or from below it. */
static void hold_from(struct regions *regions, uint32_t target, uint32_t node)
{
    uint32_t *above = &regions->above[target];
    uint32_t known = __atomic_load_n(above, __ATOMIC_RELAXED);
    for (;;) {
        const uint32_t common = last_above(regions, known, node);
        if (common == known || __atomic_compare_exchange_n(above, &known, common, true,
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
}

/* Returns whether an edge comes from another region, and that is a shared entry's. A region whose
 * entry is an object is a shared entry's: groups have synthetic nodes. */
bool regions_is_shared(const struct regions *regions, uint32_t source, uint32_t target,
                       uint32_t *ret_by)
{
    const uint32_t by = *ret_by = region_of(regions, source);
    return by != target && regions->entries[by] >= graph_synthetics(regions->graph);
}

/* Notes that an edge leads from a region to target. Nothing for an edge within a region. From the
 * root's region the source itself holds; from another one its entry does, which dominates all in
 * it. */
void regions_hold(struct regions *regions, uint32_t source, uint32_t target)
{
    assert(target < regions->count && regions->entries[target] != NOWHERE);
    const uint32_t by = region_of(regions, source);
    if (by != target)
        hold_from(regions, target, by == REGION_ROOT ? source : regions->entries[by]);
}

/* Notes that an edge leads from a shared entry's region, by, to target. target is lifted to the
 * height of the region by. If it is not the highest yet, the pair is kept as a crossing, to be
 * looked at again when by has moved up. Returns false if memory runs out. */
bool regions_hold_through(struct regions *regions, uint32_t by, uint32_t target,
                          struct crossings *crossings)
{
    assert(by != target && regions->entries[by] >= graph_synthetics(regions->graph));
    uint32_t *above = regions->above;
    if (__atomic_load_n(&above[target], __ATOMIC_RELAXED) == regions->highest)
        return true;
    /* the dominator of by may still move further up */
    hold_from(regions, target, __atomic_load_n(&above[by], __ATOMIC_RELAXED));
    return __atomic_load_n(&above[target], __ATOMIC_RELAXED) == regions->highest ||
           crossings_add(crossings, by, target);
}

/* Ends the phase of regions_hold(). regions->highest becomes the last node that is above all that
 * hold entries which are objects. */
void regions_end_direct(struct regions *regions)
{
    const uint32_t synthetics = graph_synthetics(regions->graph);
    regions->highest = NOWHERE;
    for (uint32_t i = 1; i < regions->count; i++)
        if (regions->entries[i] != NOWHERE && regions->entries[i] >= synthetics)
            regions->highest = last_above(regions, regions->highest, regions->above[i]);
}

/* Spreads dominators from shared entries to those that they hold. Entries that hold each other have
 * the same dominator; a component comes after all components that hold it. */
static struct g2h_error *regions_spread(struct regions *regions, const struct edge_lists *edges)
{
    uint32_t *above = regions->above;
    _cleanup_(components_deinit) struct components components = {0};
    TRY(components_init(&components, edges));
    for (uint32_t i = 0, end; i < edges->nodes; i = end) {
        const uint32_t *order = components.order;
        uint32_t common = NOWHERE;
        end = components_end(&components, i, edges->nodes);
        for (uint32_t j = i; j < end; j++)
            common = last_above(regions, common, above[order[j]]);
        for (uint32_t j = i; j < end; j++) {
            above[order[j]] = common;
            for (uint32_t k = edges->first[order[j]]; k < edges->first[order[j] + 1]; k++)
                above[edges->targets[k]] = last_above(regions, above[edges->targets[k]], common);
        }
    }
    return NULL;
}

/* Spreads the dominators along the crossings; an entry that nothing holds hangs below the root. */
struct g2h_error *regions_finish(struct regions *regions, const struct crossings *crossings)
{
    const struct g2h_graph *graph = regions->graph;
    _cleanup_(edge_lists_deinit) struct edge_lists edges = {0};
    TRY(edge_lists_init(&edges, regions->count, 0, crossings, graph->threads,
                        graph->heap->input->name));
    TRY(regions_spread(regions, &edges));
    for (uint32_t i = 0; i < regions->count; i++) {
        if (regions->above[i] == NOWHERE)
            regions->above[i] = 0;
        assert(regions->above[i] < graph_synthetics(graph)); /* a node of the tree above groups */
    }
    return NULL;
}
