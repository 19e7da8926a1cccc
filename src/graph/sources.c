/*
 * sources; see sources.h.
 *
 * Edges that lead forwards in the tree need no memory: the source's path is the source alone, so
 * they are dealt with as they are met. The others are counted, and kept for when it is known where
 * each node's begin. Where there are too many to keep, a block of objects is walked over again.
 */
#include "graph/sources.h"

#include <stdlib.h>

#include "base/scope.h"
#include "base/workers.h"

#define NOWHERE UINT32_MAX

enum { AHEAD = 16, MOST_KEPT = BLOCK_OBJECTS };

/* An edge to a number; from: a number; if it leads to an entry, the region of the source. */
struct kept {
    uint32_t from, to;
};

/* Those of a block of objects, or of synthetic nodes. */
struct kept_list {
    VECTOR(struct kept) edges;
    bool is_cut; /* there are more: none is kept */
};

struct sorting {
    struct sources *sources;
    struct kept_list *lists;     /* by task */
    struct crossings *crossings; /* by worker: see regions.h */
    bool is_second;
};

/* ---- an edge ---- */

/* Whether a number is the entry of a region. */
static inline bool is_entry(const struct sources *sources, uint32_t number)
{
    return sources->regions && number < sources->inner &&
           regions_is_entry(sources->regions, number);
}

/* Whether an edge has to wait until it is known where the target's begin. */
static inline bool is_kept(const struct sources *sources, uint32_t source, uint32_t from,
                           uint32_t to, struct kept *ret)
{
    *ret = (struct kept){from, to};
    if (to >= sources->inner)
        return __atomic_load_n(&sources->by_number[to].semi, __ATOMIC_RELAXED) != from;
    if (is_entry(sources, to))
        return regions_is_top(sources->regions, source, sources->by_number[to].semi, &ret->from);
    return from > to;
}

/* The first source of a leaf is kept as if it were the only one. */
static inline void take_for_leaf(struct semi_nca_node *leaf, uint32_t from)
{
    uint32_t first = __atomic_load_n(&leaf->semi, __ATOMIC_RELAXED);
    if (first == NOWHERE)
        (void)__atomic_compare_exchange_n(&leaf->semi, &first, from, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
}

static inline void take_forwards(struct semi_nca_node *node, uint32_t from)
{
    uint32_t known = __atomic_load_n(&node->semi, __ATOMIC_RELAXED);
    while (from < known && !__atomic_compare_exchange_n(&node->semi, &known, from, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static bool keep(struct kept_list *list, struct kept kept)
{
    if (list->is_cut)
        return true;
    if (list->edges.count < MOST_KEPT)
        return vector_push(&list->edges, kept);
    free(list->edges.data);
    *list = (struct kept_list){.is_cut = true};
    return true;
}

/* False where there is no memory. */
static inline bool take_first(struct sources *sources, struct kept_list *list, uint32_t source,
                              uint32_t from, uint32_t to)
{
    struct semi_nca_node *node = &sources->by_number[to];
    const bool is_leaf = to >= sources->inner, leads_to_entry = is_entry(sources, to);
    struct kept kept;
    if (is_leaf)
        take_for_leaf(node, from);
    if (is_kept(sources, source, from, to, &kept)) {
        if (!leads_to_entry)
            __atomic_fetch_add(&node->back, 1, __ATOMIC_RELAXED);
        return keep(list, kept);
    }
    if (leads_to_entry)
        regions_hold(sources->regions, source, node->semi);
    else if (!is_leaf && from < to)
        take_forwards(node, from);
    return true;
}

static inline bool take_kept(const struct sorting *sorting, unsigned worker, struct kept kept)
{
    const struct sources *sources = sorting->sources;
    struct semi_nca_node *node = &sources->by_number[kept.to];
    if (is_entry(sources, kept.to))
        return regions_hold_through(sources->regions, kept.from, node->semi,
                                    &sorting->crossings[worker]);
    sources->back[__atomic_sub_fetch(&node->back, 1, __ATOMIC_RELAXED)] = kept.from;
    return true;
}

static inline bool take(const struct sorting *sorting, unsigned worker, struct kept_list *list,
                        uint32_t source, uint32_t from, uint32_t to)
{
    struct kept kept;
    if (!sorting->is_second)
        return take_first(sorting->sources, list, source, from, to);
    return !is_kept(sorting->sources, source, from, to, &kept) || take_kept(sorting, worker, kept);
}

/* ---- all of them ---- */

static bool take_of_synthetics(const struct sorting *sorting, unsigned worker,
                               struct kept_list *list)
{
    const struct g2h_graph *graph = sorting->sources->graph;
    const uint32_t *preorder_of = sorting->sources->preorder_of;
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        const uint32_t source = edge->source.index;
        if (edge->type != EDGE_WEAK && !take(sorting, worker, list, source, preorder_of[source],
                                             preorder_of[graph_node_number(graph, edge->target)]))
            return false;
    }
    return true;
}

/* From garbage to what the roots reach nothing leads that holds. */
static bool take_of_block(const struct sorting *sorting, unsigned worker, size_t number,
                          struct kept_list *list)
{
    const struct sources *sources = sorting->sources;
    const struct g2h_graph *graph = sources->graph;
    const struct target_block *block = &graph->targets->blocks[number];
    const uint32_t synthetics = graph_synthetics(graph), first = (uint32_t)number << BLOCK_SHIFT,
                   *preorder_of = sources->preorder_of + synthetics,
                   last = block->starts[block->objects];
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t from = preorder_of[first + i], end = block->starts[i + 1];
        if (from == 0) /* one with the root */
            continue;
        const bool garbage = graph_is_garbage(graph, first + i);
        for (uint32_t j = block->starts[i]; j < end; j++) {
            const uint32_t target = block->targets[j];
            if (last - j > 2 * AHEAD && block->targets[j + 2 * AHEAD] != NO_TARGET)
                __builtin_prefetch(&preorder_of[block->targets[j + 2 * AHEAD]]);
            if (last - j > AHEAD && block->targets[j + AHEAD] != NO_TARGET)
                __builtin_prefetch(&sources->by_number[preorder_of[block->targets[j + AHEAD]]], 1);
            if (target != NO_TARGET && !(garbage && !graph_is_garbage(graph, target)) &&
                !take(sorting, worker, list, synthetics + first + i, from, preorder_of[target]))
                return false;
        }
    }
    return true;
}

static bool take_of_list(const struct sorting *sorting, unsigned worker, struct kept_list *list)
{
    const struct kept *edges = list->edges.data;
    const size_t count = list->edges.count;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (count - i > AHEAD)
            __builtin_prefetch(&sorting->sources->by_number[edges[i + AHEAD].to], 1);
        good = take_kept(sorting, worker, edges[i]);
    }
    free(list->edges.data);
    *list = (struct kept_list){.is_cut = false};
    return good;
}

static struct g2h_error *take_task(void *context, size_t task, unsigned worker)
{
    const struct sorting *sorting = context;
    struct kept_list *list = &sorting->lists[task];
    TRY_MEMORY(sorting->is_second && !list->is_cut ? take_of_list(sorting, worker, list)
               : task == 0                         ? take_of_synthetics(sorting, worker, list)
                           : take_of_block(sorting, worker, task - 1, list));
    return NULL;
}

static struct g2h_error *take_all(struct sorting *sorting, bool is_second)
{
    const struct g2h_graph *graph = sorting->sources->graph;
    sorting->is_second = is_second;
    return workers_run(graph->threads, graph->targets->block_count + 1, take_task, sorting);
}

/* Where each node's end: they are put from there down. */
static struct g2h_error *make_room(struct sources *sources)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= sources->nodes; i++) {
        sum += sources->by_number[i].back;
        sources->by_number[i].back = (uint32_t)sum;
    }
    if (sum > UINT32_MAX)
        return error_create(G2H_ERROR_LIMIT, "%s: %llu edges: too many to find dominators",
                            sources->graph->heap->input->name, (unsigned long long)sum);
    sources->back_count = (size_t)sum;
    sources->back = large_alloc(sources->back_count, sizeof(*sources->back));
    TRY_MEMORY(sources->back);
    return NULL;
}

static void sorting_deinit(struct sorting *sorting)
{
    const struct g2h_graph *graph = sorting->sources->graph;
    for (size_t i = 0; sorting->lists && i <= graph->targets->block_count; i++)
        free(sorting->lists[i].edges.data);
    for (unsigned i = 0; sorting->crossings && i < graph->threads; i++)
        crossings_deinit(&sorting->crossings[i]);
    free(sorting->lists);
    free(sorting->crossings);
}

struct g2h_error *sources_sort(struct sources *sources)
{
    const struct g2h_graph *graph = sources->graph;
    _cleanup_(sorting_deinit) struct sorting sorting = {
        .sources = sources,
        .lists = calloc(graph->targets->block_count + 1, sizeof(*sorting.lists)),
        .crossings = calloc(graph->threads, sizeof(*sorting.crossings))};
    TRY_MEMORY(sorting.lists && sorting.crossings);
    TRY(take_all(&sorting, false));
    TRY(make_room(sources));
    if (sources->regions)
        regions_turn(sources->regions);
    TRY(take_all(&sorting, true));
    return sources->regions ? regions_finish(sources->regions, sorting.crossings) : NULL;
}

void sources_deinit(struct sources *sources)
{
    large_free(sources->back, sources->back_count, sizeof(*sources->back));
    sources->back = NULL;
}
