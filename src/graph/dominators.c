/*
 * dominators; see dominators.h.
 *
 * A depth-first search numbers the nodes, and edges are sorted by their targets; then semi_nca.h
 * does the rest.
 *
 * Objects that point to none, which most are, need none of that: such a leaf's dominator is the
 * nearest one that all who point to it have in common, which is found on all threads at the end.
 * Their numbers come behind those of all others.
 *
 * Of some of the nodes the same is found in a part of the time: all others are one with the root.
 *
 * Strong are all edges but weak ones, and those from garbage to what the roots reach, which are
 * written as weak. DevTools leaves out edges from a node to itself as well, which change nothing,
 * and some that we never write.
 *
 * The memory of 28 bytes per node, 16 of a leaf, has its number in preorder, the node of that
 * number, the number of its parent or dominator and of its semidominator, two words of the forest,
 * and where its predecessors begin; 8 more per level of the depth-first search; and 4 bytes for
 * each edge that leads back or across, and for each to a leaf but the first. Edges that lead
 * forwards in the tree need no memory: the source's path is the source alone, so they are dealt
 * with as they are met.
 *
 * Almost all of the time goes into waiting for memory. So what is known to be needed is asked for
 * ahead, and only what cannot be otherwise is done in the order of the search: the two walks over
 * all edges take them in the order of the objects, on all threads.
 */
#include "graph/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/workers.h"
#include "graph/semi_nca.h"
#include "graph/strong.h"

#define NOWHERE UINT32_MAX

enum { AHEAD = 16, TASK_LEAVES = 1 << 16 };

/* Where the search is: the next edge to look at of a node. */
struct level {
    uint32_t node, next;
};

struct search {
    const struct g2h_graph *graph;
    const struct owners *owners; /* NULL: all nodes; else those that have several */
    struct dominators *result;
    uint32_t synthetics, count; /* count: nodes that have a number in preorder so far */
    VECTOR(struct level) levels;
    uint64_t *seen;       /* a bit per node: the search does not go there, or has been there */
    uint32_t *semi;       /* by number: that of the semidominator; the lowest known so far */
    uint32_t *first_back; /* by number: where its back sources begin; one entry more */
    uint32_t *back;       /* sources of edges to lower numbers, by target */
    size_t back_count;
    uint32_t inner;       /* numbers below are of nodes that may hold others, all else of leaves */
    struct climb *climbs; /* of numbers below inner, once they have dominators */
};

/* ---- the depth-first search ---- */

/* A bit per node stays in a cache where a number would not. */
static inline bool is_seen(const struct search *search, uint32_t node)
{
    return (search->seen[node / 64] >> (node % 64) & 1) != 0;
}

static inline void see(struct search *search, uint32_t node)
{
    search->seen[node / 64] |= (uint64_t)1 << (node % 64);
}

static inline void give_number(struct search *search, uint32_t node, uint32_t parent)
{
    const uint32_t preorder = search->count++;
    see(search, node);
    search->result->preorder_of[node] = preorder;
    search->result->node_at[preorder] = node;
    search->result->idom[preorder] = parent;
}

/* A target may be visited soon: where its own ones begin is needed first. */
static inline void prefetch_target(const struct search *search, uint32_t target)
{
    if (target == NO_TARGET || is_seen(search, search->synthetics + target))
        return;
    const struct target_block *block = &search->graph->targets->blocks[target >> BLOCK_SHIFT];
    __builtin_prefetch(&block->starts[target & (BLOCK_OBJECTS - 1)]);
}

/* Numbers a node that has no number yet; its edges are looked at when its level is on top. */
static inline bool visit(struct search *search, uint32_t node, uint32_t parent)
{
    const struct g2h_graph *graph = search->graph;
    struct level level = {node, 0};
    give_number(search, node, parent);
    if (node >= search->synthetics) {
        const uint32_t object = node - search->synthetics;
        const struct target_block *block = &graph->targets->blocks[object >> BLOCK_SHIFT];
        const uint32_t *start = &block->starts[object & (BLOCK_OBJECTS - 1)];
        if (start[0] == start[1])
            return true;
        const uint32_t last = start[1] - start[0] < AHEAD ? start[1] : start[0] + AHEAD;
        level.next = start[0];
        for (uint32_t i = start[0]; i < last; i++)
            prefetch_target(search, block->targets[i]);
    }
    return vector_push(&search->levels, level);
}

/* The first target from *next on that has no number yet; NOWHERE. */
static uint32_t next_of_synthetic(const struct search *search, uint32_t node, uint32_t *next)
{
    const struct g2h_graph *graph = search->graph;
    const uint64_t first = graph->first_child[node], end = graph->first_child[node + 1];
    while (first + *next < end) {
        const struct edge *edge = &graph->children[first + (*next)++];
        const uint32_t target = graph_node_number(graph, edge->target);
        if (edge->type != EDGE_WEAK && !is_seen(search, target))
            return target;
    }
    return NOWHERE;
}

static inline uint32_t next_of_object(const struct search *search, uint32_t node, uint32_t *next)
{
    const struct g2h_graph *graph = search->graph;
    const uint32_t object = node - search->synthetics;
    const struct target_block *block = &graph->targets->blocks[object >> BLOCK_SHIFT];
    const uint32_t end = block->starts[(object & (BLOCK_OBJECTS - 1)) + 1];
    const bool garbage = graph_is_garbage(graph, object);
    for (uint32_t i = *next; i < end; i++) {
        const uint32_t target = block->targets[i];
        if (end - i > AHEAD)
            prefetch_target(search, block->targets[i + AHEAD]);
        if (target == NO_TARGET || is_seen(search, search->synthetics + target) ||
            (garbage && !graph_is_garbage(graph, target)))
            continue;
        *next = i + 1;
        return search->synthetics + target;
    }
    return NOWHERE;
}

/* Numbers all that a node reaches and that has no number yet, below parent, which is a number. */
static bool search_from(struct search *search, uint32_t node, uint32_t parent)
{
    if (!visit(search, node, parent))
        return false;
    while (search->levels.count > 0) {
        struct level *top = &search->levels.data[search->levels.count - 1];
        const uint32_t source = top->node;
        const uint32_t target = source < search->synthetics
                                    ? next_of_synthetic(search, source, &top->next)
                                    : next_of_object(search, source, &top->next);
        if (target == NOWHERE)
            search->levels.count--;
        else if (!visit(search, target, search->result->preorder_of[source]))
            return false;
    }
    return true;
}

/* Gives the objects that hold no others their numbers, so that the search does not see them. */
static void number_leaves(struct search *search)
{
    const struct targets *targets = search->graph->targets;
    struct dominators *result = search->result;
    uint32_t node = search->synthetics, leaves = 0;
    for (size_t i = 0; i < targets->block_count; i++)
        for (uint32_t j = 0; j < targets->blocks[i].objects; j++)
            leaves += targets->blocks[i].starts[j] == targets->blocks[i].starts[j + 1];
    uint32_t number = search->inner = result->nodes - leaves;
    for (size_t i = 0; i < targets->block_count; i++)
        for (uint32_t j = 0; j < targets->blocks[i].objects; j++, node++)
            if (targets->blocks[i].starts[j] == targets->blocks[i].starts[j + 1]) {
                result->idom[number] = NOWHERE;
                result->node_at[number] = node;
                see(search, node);
                result->preorder_of[node] = number++;
            }
}

static struct g2h_error *number_all(struct search *search)
{
    struct dominators *result = search->result;
    memset(result->preorder_of, 0xff, (size_t)result->graph_nodes * sizeof(*result->preorder_of));
    number_leaves(search);
    TRY_MEMORY(search_from(search, 0, 0));
    for (uint32_t node = 0; search->count < search->inner; node++)
        if (result->preorder_of[node] == NOWHERE)
            TRY_MEMORY(search_from(search, node, 0));
    return NULL;
}

/* ---- the same of nodes that have several owners ---- */

/* One with an owner of its own holds a node: if that has several, the search begins there. */
static bool enter(void *context, uint32_t source, uint32_t target)
{
    struct search *search = context;
    const uint32_t *preorder_of = search->result->preorder_of;
    if (preorder_of[target] == 0 ||
        owner_of(search->owners, search->synthetics, source) < OWNER_FIRST)
        return true;
    if (preorder_of[target] == NOWHERE && !search_from(search, target, 0))
        return false;
    search->semi[preorder_of[target]] = 0;
    return true;
}

static struct g2h_error *number_several(struct search *search)
{
    struct dominators *result = search->result;
    give_number(search, 0, 0);
    memset(search->semi, 0xff, (size_t)result->nodes * sizeof(*search->semi));
    TRY_MEMORY(along_strong_edges(search->graph, result->preorder_of, enter, search));
    return NULL;
}

/* ---- edges by target ---- */

/* Walks the edges twice: to count those that lead back, and to sort these by their targets. */
struct edge_walk {
    struct search *search;
    bool is_second;
};

/* The first one that leads to a leaf is kept as if it were the only one. */
static inline void take_edge_to_leaf(struct search *search, bool is_second, uint32_t from,
                                     uint32_t to)
{
    uint32_t first = NOWHERE, *idom = &search->result->idom[to];
    if (__atomic_compare_exchange_n(idom, &first, from, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) ||
        first == from)
        return;
    const uint32_t at = __atomic_fetch_add(&search->first_back[to], 1, __ATOMIC_RELAXED);
    if (is_second)
        search->back[at] = from;
}

static inline void take_edge(struct search *search, bool is_second, uint32_t from, uint32_t to)
{
    if (to >= search->inner) {
        take_edge_to_leaf(search, is_second, from, to);
        return;
    }
    if (is_second) {
        if (from > to)
            search->back[__atomic_fetch_add(&search->first_back[to], 1, __ATOMIC_RELAXED)] = from;
    } else if (from > to) {
        __atomic_fetch_add(&search->first_back[to], 1, __ATOMIC_RELAXED);
    } else if (from < to) {
        uint32_t known = __atomic_load_n(&search->semi[to], __ATOMIC_RELAXED);
        while (from < known && !__atomic_compare_exchange_n(&search->semi[to], &known, from, true,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
    }
}

static void take_edges_of_synthetics(struct search *search, bool is_second)
{
    const struct g2h_graph *graph = search->graph;
    const uint32_t *preorder_of = search->result->preorder_of;
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        if (edge->type != EDGE_WEAK)
            take_edge(search, is_second, preorder_of[edge->source.index],
                      preorder_of[graph_node_number(graph, edge->target)]);
    }
}

static inline void take_edges_of_block(struct search *search, size_t number, bool is_second)
{
    const struct g2h_graph *graph = search->graph;
    const struct target_block *block = &graph->targets->blocks[number];
    const uint32_t *preorder_of = search->result->preorder_of + search->synthetics;
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT, last = block->starts[block->objects];
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
                __builtin_prefetch(&search->first_back[preorder_of[block->targets[j + AHEAD]]], 1);
            if (target != NO_TARGET && !(garbage && !graph_is_garbage(graph, target)))
                take_edge(search, is_second, from, preorder_of[target]);
        }
    }
}

static struct g2h_error *take_edges(void *context, size_t task, unsigned worker)
{
    const struct edge_walk *walk = context;
    (void)worker;
    if (task == 0)
        take_edges_of_synthetics(walk->search, walk->is_second);
    else if (walk->is_second)
        take_edges_of_block(walk->search, task - 1, true);
    else
        take_edges_of_block(walk->search, task - 1, false);
    return NULL;
}

static struct g2h_error *sort_edges(struct search *search)
{
    const struct g2h_graph *graph = search->graph;
    const uint32_t nodes = search->result->nodes;
    struct edge_walk walk = {search, false};
    uint64_t sum = 0;
    search->first_back = large_alloc((size_t)nodes + 1, sizeof(*search->first_back));
    TRY_MEMORY(search->first_back);
    for (uint32_t i = 0; i < search->inner; i++)
        if (!search->owners || search->semi[i] == NOWHERE)
            search->semi[i] = search->result->idom[i];
    TRY(workers_run(graph->threads, graph->targets->block_count + 1, take_edges, &walk));
    for (uint32_t i = 0; i < nodes; i++) {
        const uint32_t count = search->first_back[i];
        search->first_back[i] = (uint32_t)sum;
        sum += count;
    }
    if (sum > UINT32_MAX)
        return error_create(G2H_ERROR_LIMIT, "%s: %llu edges: too many to find dominators",
                            graph->heap->input->name, (unsigned long long)sum);
    search->back_count = (size_t)sum;
    search->back = large_alloc(search->back_count, sizeof(*search->back));
    if (!search->back)
        return &error_no_memory;
    walk.is_second = true;
    TRY(workers_run(graph->threads, graph->targets->block_count + 1, take_edges, &walk));
    /* each has moved to where the next one begins */
    memmove(search->first_back + 1, search->first_back,
            (size_t)nodes * sizeof(*search->first_back));
    search->first_back[0] = 0;
    return NULL;
}

/* ---- leaves ---- */

/* The dominators of the leaves of a task. One that nobody points to hangs below the root. */
static struct g2h_error *find_of_leaves(void *context, size_t task, unsigned worker)
{
    const struct search *search = context;
    const uint32_t nodes = search->result->nodes, *first_back = search->first_back;
    uint32_t *idom = search->result->idom;
    const uint32_t begin = search->inner + (uint32_t)task * TASK_LEAVES,
                   end = nodes - begin < TASK_LEAVES ? nodes : begin + TASK_LEAVES;
    (void)worker;
    for (uint32_t leaf = begin; leaf < end; leaf++) {
        uint32_t at = idom[leaf] == NOWHERE ? 0 : idom[leaf];
        for (uint32_t i = first_back[leaf]; i < first_back[leaf + 1] && at != 0; i++)
            at = climb_common(search->climbs, idom, at, search->back[i]);
        idom[leaf] = at;
    }
    return NULL;
}

static struct g2h_error *find_of_all_leaves(struct search *search)
{
    const uint32_t leaves = search->result->nodes - search->inner;
    return workers_run(search->graph->threads, (leaves + TASK_LEAVES - 1) / TASK_LEAVES,
                       find_of_leaves, search);
}

static struct g2h_error *find_of_inner(struct search *search)
{
    const struct semi_nca inner = {
        .nodes = search->inner,
        .idom = search->result->idom,
        .semi = search->semi,
        .first_back = search->first_back,
        .back = search->back,
    };
    return semi_nca_run(&inner, &search->climbs);
}

static void search_deinit(struct search *search)
{
    const uint32_t nodes = search->result->nodes;
    free(search->levels.data);
    free(search->seen);
    large_free(search->semi, nodes, sizeof(*search->semi));
    large_free(search->first_back, (size_t)nodes + 1, sizeof(*search->first_back));
    large_free(search->back, search->back_count, sizeof(*search->back));
    large_free(search->climbs, search->inner, sizeof(*search->climbs));
}

static struct g2h_error *search_all(struct search *search)
{
    struct dominators *result = search->result;
    result->node_at = large_alloc(result->nodes, sizeof(*result->node_at));
    result->idom = large_alloc(result->nodes, sizeof(*result->idom));
    search->semi = large_alloc(result->nodes, sizeof(*search->semi));
    TRY_MEMORY(search->semi && result->node_at && result->idom);
    TRY(search->owners ? number_several(search) : number_all(search));
    free(search->levels.data);
    search->levels.data = NULL;
    TRY(sort_edges(search));
    TRY(find_of_inner(search));
    return find_of_all_leaves(search);
}

/* Marks the nodes that are to be numbered; the others are one with the root. Gives how many numbers
 * there will be. */
static uint32_t choose_several(struct search *search)
{
    const uint32_t nodes = search->result->graph_nodes, synthetics = search->synthetics;
    uint32_t count = 1;
    for (uint32_t node = 0; node < nodes; node++)
        if (owner_of(search->owners, synthetics, node) == OWNER_SEVERAL) {
            search->result->preorder_of[node] = NOWHERE;
            count++;
        } else {
            see(search, node);
        }
    return count;
}

static struct g2h_error *compute(struct search *search, struct dominators *ret)
{
    const uint32_t nodes = graph_node_count(search->graph);
    *ret = (struct dominators){.graph_nodes = nodes,
                               .preorder_of = large_alloc(nodes, sizeof(*ret->preorder_of))};
    search->seen = calloc((size_t)nodes / 64 + 1, sizeof(*search->seen));
    search->result = ret;
    search->synthetics = graph_synthetics(search->graph);
    const bool good = ret->preorder_of && search->seen;
    ret->nodes = search->inner = good && search->owners ? choose_several(search) : nodes;
    struct g2h_error *error = good ? search_all(search) : &error_no_memory;
    search_deinit(search);
    if (error)
        dominators_deinit(ret);
    return error;
}

struct g2h_error *dominators_init(struct dominators *dominators, const struct g2h_graph *graph)
{
    struct search search = {.graph = graph};
    return compute(&search, dominators);
}

struct g2h_error *dominators_init_several(struct dominators *dominators,
                                          const struct g2h_graph *graph,
                                          const struct owners *owners)
{
    struct search search = {.graph = graph, .owners = owners};
    return compute(&search, dominators);
}

void dominators_deinit(struct dominators *dominators)
{
    large_free(dominators->preorder_of, dominators->graph_nodes, sizeof(*dominators->preorder_of));
    large_free(dominators->node_at, dominators->nodes, sizeof(*dominators->node_at));
    large_free(dominators->idom, dominators->nodes, sizeof(*dominators->idom));
    *dominators = (struct dominators){0};
}

/* ---- retained sizes ---- */

struct g2h_error *dominators_sizes(const struct dominators *dominators,
                                   const struct g2h_graph *graph, uint64_t synthetic_size,
                                   uint64_t **ret)
{
    const uint32_t synthetics = graph_synthetics(graph), objects = graph->heap->object_count;
    const uint32_t *preorder_of = dominators->preorder_of;
    uint64_t *sizes = large_alloc(dominators->nodes, sizeof(*sizes));
    if (!sizes)
        return &error_no_memory;
    for (uint32_t i = 0; i < synthetics; i++)
        sizes[preorder_of[i]] = synthetic_size + graph->roots.nodes.data[i].size;
    for (uint32_t i = 0; i < objects; i++) {
        if (objects - i > 2 * AHEAD)
            __builtin_prefetch(&sizes[preorder_of[synthetics + i + 2 * AHEAD]], 1);
        sizes[preorder_of[synthetics + i]] = heap_object_size(graph->heap, i);
    }
    for (uint32_t preorder = dominators->nodes - 1; preorder > 0; preorder--)
        sizes[dominators->idom[preorder]] += sizes[preorder];
    *ret = sizes;
    return NULL;
}
