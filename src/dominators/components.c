/*
 * components; see components.h.
 *
 * This is the algorithm of Tarjan, "Depth-first search and linear graph algorithms", 1972: a
 * component is complete when the search leaves its first node, which is a node from which the
 * search has met no earlier node that is still open. Components are completed, and numbered, from
 * the sinks up.
 */
#include "dominators/components.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/scope.h"

#define UNSEEN UINT32_MAX

/* ---- edges ---- */

/* Sorts the crossings by source, by counting. Counts go two entries up, so that after summing up,
 * first[i + 1] is where node i's next edge goes, and in the end where it ends. */
static void list_crossings(struct edge_lists *edges, owner_number first,
                           const struct crossings *lists, unsigned list_count)
{
    for (unsigned i = 0; i < list_count; i++)
        for (size_t j = 0; j < lists[i].all.count; j++)
            if (lists[i].all.data[j].by >= first)
                edges->first[lists[i].all.data[j].by - first + 2]++;
    for (uint32_t i = 0; i < edges->nodes; i++)
        edges->first[i + 1] += edges->first[i];
    for (unsigned i = 0; i < list_count; i++)
        for (size_t j = 0; j < lists[i].all.count; j++) {
            const struct crossing *crossing = &lists[i].all.data[j];
            assert(crossing->by < first ||
                   (crossing->by - first < edges->nodes && crossing->to - first < edges->nodes));
            if (crossing->by >= first)
                edges->targets[edges->first[crossing->by - first + 1]++] = crossing->to - first;
        }
}

/* Two entries more than nodes let list_crossings() count and place edges in one array. */
struct g2h_error *edge_lists_init(struct edge_lists *edges, uint32_t nodes, owner_number first,
                                  const struct crossings *lists, unsigned list_count,
                                  const char *name)
{
    size_t count = 0;
    for (unsigned i = 0; i < list_count; i++)
        count += lists[i].all.count;
    if (count > UINT32_MAX)
        return error_create(G2H_ERROR_LIMIT, "%s: %zu edges: too many to find who holds what", name,
                            count);
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

/* Fills components->order: the nodes by component, from the highest one down. */
static bool put_in_order(struct components *components, uint32_t nodes)
{
    uint32_t *next = zeroed_alloc((size_t)components->count + 1, sizeof(*next));
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
    const size_t nodes = edges->nodes, size = (nodes + 1) * sizeof(uint32_t);
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
