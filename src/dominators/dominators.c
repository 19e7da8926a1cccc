/*
 * dominators: the dominator of each node, the last node that all strong paths from the root to it
 * have in common, and retained sizes; see dominators.h.
 *
 * compute() runs the steps, which the comment below the includes explains: number the nodes, sort
 * the edges by target, find the dominators of inner nodes, which hold others, and then those of
 * leaves, which hold none. A synthetic node is one that is not an object; a region is the part of
 * the graph that one owner alone reaches (regions.h).
 */
#include "dominators/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "dominators/regions.h"
#include "dominators/semi_nca.h"
#include "graph/graph.h"

/*
 * A depth-first search numbers the nodes, and the edges are sorted by their targets; then
 * semi_nca.h finds the dominators. Each region (regions.h) is searched by itself, on all threads.
 *
 * Most objects point to no others and need none of this. Such a leaf's dominator is the nearest
 * common ancestor of all nodes that point to it, which is found on all threads at the end. Only
 * then do leaves get their numbers, after those of all other nodes.
 *
 * If only the dominators of the nodes with several owners are needed, finding them takes a fraction
 * of the time: all other nodes are merged with the root.
 *
 * Only edges between nodes of the same tier count (graph/tiers.h). DevTools also leaves out edges
 * from a node to itself, which change nothing, and some edges that this program never writes.
 *
 * Memory: 28 bytes per node, or 12 per leaf: its number in preorder, the node of that number, and
 * the number of its parent or dominator; and, except for leaves, the number of its semidominator,
 * the start of its predecessors, and two words of the forest. Then 8 bytes per level of the
 * depth-first searches, and what semi_nca.h needs for edges.
 *
 * Almost all of the time is spent waiting for memory. So the program prefetches everything it knows
 * it will need, and does only the work that has to be in the order of the searches; edges are
 * sorted in the order of the objects.
 */

/* ---- strong edges ---- */

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
        const uint32_t first = as_u32(number) << BLOCK_SHIFT;
        const uint32_t last = block->starts[block->objects];
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

#define NOWHERE UINT32_MAX

/* The number of words that have a bit per node, and one more word. */
#define SEEN_WORDS(nodes) ((size_t)(nodes) / 64 + 2)

enum { AHEAD = 16, TASK_NODES = 1 << 13 };

/* A node on the search's path, and the index of its next edge to look at. */
struct dominators_level {
    uint32_t node, next;
};

struct dominators_search {
    const struct g2h_graph *graph;
    const struct owners *owners; /* NULL: all nodes have dominators; else only those with several
                                  * owners */
    struct dominators *result;
    uint32_t synthetics;
    struct regions regions; /* if owners is NULL */
    struct sources sources;
    bool is_misfit;       /* a region has nodes that its entry does not reach */
    uint64_t *seen;       /* a bit per node: a search has visited it, or no search may */
    struct climb *climbs; /* by number of an inner node, once that has a dominator */
};

/* A depth-first search, which assigns the numbers [next, end) to its nodes. */
struct walker {
    struct dominators_search *search;
    VECTOR(struct dominators_level) levels;
    uint32_t next, end;
};

/* ---- the depth-first search ---- */

/* Returns whether a search has visited a node. The bits fit into a cache where numbers would not.
 * Other threads may set neighbouring bits. */
static inline bool is_seen(const struct dominators_search *search, uint32_t node)
{
    return (__atomic_load_n(&search->seen[node / 64], __ATOMIC_RELAXED) >> (node % 64) & 1) != 0;
}

/* Notes that a node has been visited, or must not be. Atomic: other threads set bits of the same
 * word. */
static inline void mark_seen(struct dominators_search *search, uint32_t node)
{
    __atomic_fetch_or(&search->seen[node / 64], UINT64_C(1) << (node % 64), __ATOMIC_RELAXED);
}

/* Gives a node its number in preorder, and its parent as first dominator and semidominator, which
 * later steps only move up. */
static inline void give_number(struct dominators_search *search, uint32_t node, uint32_t preorder,
                               uint32_t parent)
{
    mark_seen(search, node);
    assert(parent <= preorder);
    search->result->preorder_of[node] = preorder;
    search->result->node_at[preorder] = node;
    search->result->idom[preorder] = parent;
    search->sources.by_number[preorder].semi = parent;
}

/* Prefetches the start of the targets of a node that may be visited soon: one that has not been
 * seen. */
static inline void dominators_prefetch_target(const struct dominators_search *search,
                                              uint32_t target)
{
    if (target == NO_TARGET || is_seen(search, search->synthetics + target))
        return;
    const struct target_block *block = &search->graph->targets->blocks[target >> BLOCK_SHIFT];
    __builtin_prefetch(&block->starts[target & (BLOCK_OBJECTS - 1)]);
}

/* Appends a node that has a number to the path, unless it is an object without targets. Prefetches
 * its first targets. Returns false if memory runs out. */
static inline bool dominators_visit(struct walker *walker, uint32_t node)
{
    const struct dominators_search *search = walker->search;
    struct dominators_level level = {node, 0};
    if (node >= search->synthetics) {
        const uint32_t object = node - search->synthetics;
        const struct target_block *block = &search->graph->targets->blocks[object >> BLOCK_SHIFT];
        const uint32_t *start = &block->starts[object & (BLOCK_OBJECTS - 1)];
        if (start[0] == start[1])
            return true;
        const uint32_t last = start[1] - start[0] < AHEAD ? start[1] : start[0] + AHEAD;
        level.next = start[0];
        for (uint32_t i = start[0]; i < last; i++)
            dominators_prefetch_target(search, block->targets[i]);
    }
    return vector_push(&walker->levels, level);
}

/* Returns the node's first target from edge *next on that has not been seen, or NOWHERE. */
static uint32_t next_of_synthetic(const struct dominators_search *search, uint32_t node,
                                  uint32_t *next)
{
    const struct g2h_graph *graph = search->graph;
    const uint64_t first = graph->first_child[node];
    const uint64_t end = graph->first_child[node + 1];
    while (first + *next < end) {
        const struct edge *edge = &graph->children[first + (*next)++];
        const uint32_t target = graph_node_number(graph, edge->target);
        if (!is_seen(search, target) && graph_holds(graph, edge))
            return target;
    }
    return NOWHERE;
}

/* Returns the object's first target that no search has seen and that the object holds, which only
 * targets of its own tier can be (tiers_hold(); the tier says to whom memory belongs:
 * graph/tiers.h). *next is an index into the targets of the object's block, from which the search
 * begins, and becomes that behind the target; if there is none, returns NOWHERE and leaves *next
 * alone. */
static inline uint32_t next_of_object(const struct dominators_search *search, uint32_t node,
                                      uint32_t *next)
{
    const struct g2h_graph *graph = search->graph;
    const uint32_t object = node - search->synthetics;
    const struct target_block *block = &graph->targets->blocks[object >> BLOCK_SHIFT];
    const uint32_t end = block->starts[(object & (BLOCK_OBJECTS - 1)) + 1];
    const struct tier_source source = tiers_source(&graph->tiers, object);
    for (uint32_t i = *next; i < end; i++) {
        const uint32_t target = block->targets[i];
        if (end - i > AHEAD)
            dominators_prefetch_target(search, block->targets[i + AHEAD]);
        if (target == NO_TARGET || is_seen(search, search->synthetics + target) ||
            !tiers_hold(&graph->tiers, source, target))
            continue;
        *next = i + 1;
        return search->synthetics + target;
    }
    return NOWHERE;
}

/* Numbers the unseen nodes that a numbered node reaches, depth-first, until the walker has no
 * numbers left. walker->levels is the path, each level with its next edge. Returns false if memory
 * runs out. */
static bool search_from(struct walker *walker, uint32_t node)
{
    struct dominators_search *search = walker->search;
    if (!dominators_visit(walker, node))
        return false;
    while (walker->levels.count > 0 && walker->next < walker->end) {
        struct dominators_level *top = &walker->levels.data[walker->levels.count - 1];
        const uint32_t source = top->node;
        const uint32_t target = source < search->synthetics
                                    ? next_of_synthetic(search, source, &top->next)
                                    : next_of_object(search, source, &top->next);
        if (target == NOWHERE) {
            walker->levels.count--;
            continue;
        }
        give_number(search, target, walker->next++, search->result->preorder_of[source]);
        if (!dominators_visit(walker, target))
            return false;
    }
    walker->levels.count = 0;
    return true;
}

static void walker_deinit(struct walker *walker)
{
    free(walker->levels.data);
}

/* ---- leaves ---- */

/* Sets the bit of each object that holds no others: searches do not visit these. Objects follow the
 * synthetic nodes, so their words of 64 bits are shifted. */
static void see_leaves(struct dominators_search *search)
{
    const struct targets *targets = search->graph->targets;
    const uint32_t objects = search->graph->heap->object_count;
    const uint32_t shift = search->synthetics % 64;
    memset(search->seen, 0, SEEN_WORDS(search->result->graph_nodes) * sizeof(*search->seen));
    for (uint32_t i = 0; i < objects; i += 64) {
        const uint64_t some = objects - i < 64 ? (UINT64_C(1) << (objects - i)) - 1 : UINT64_MAX,
                       leaves = ~targets->leading[i / 64] & some;
        uint64_t *words = &search->seen[(search->synthetics + (uint64_t)i) / 64];
        words[0] |= leaves << shift;
        if (shift > 0)
            words[1] |= leaves >> (64 - shift);
    }
}

/* Marks a block's leaves as not held by any node yet. */
static struct g2h_error *empty_leaves(void *context, size_t task, unsigned worker)
{
    const struct dominators_search *search = context;
    const struct targets *targets = search->graph->targets;
    const uint32_t first = as_u32(task) << BLOCK_SHIFT;
    const uint32_t end = first + targets->blocks[task].objects;
    (void)worker;
    for (uint32_t object = first; object < end; object++)
        if (!targets_lead(targets, object))
            search->result->preorder_of[search->synthetics + object] = SOURCES_NONE;
    return NULL;
}

struct leaf_numbering {
    const struct dominators_search *search;
    uint32_t *first; /* by block: the number of its first leaf */
};

/* Replaces the number of each leaf's dominator in preorder_of by the leaf's own. The dominator of a
 * leaf that no node holds is the root. */
static struct g2h_error *number_leaves_of_block(void *context, size_t task, unsigned worker)
{
    const struct leaf_numbering *numbering = context;
    const struct dominators_search *search = numbering->search;
    const struct dominators *result = search->result;
    const struct targets *targets = search->graph->targets;
    const uint32_t first = as_u32(task) << BLOCK_SHIFT;
    const uint32_t end = first + targets->blocks[task].objects;
    uint32_t number = numbering->first[task];
    (void)worker;
    for (uint32_t object = first; object < end; object++) {
        uint32_t *preorder = &result->preorder_of[search->synthetics + object];
        if (targets_lead(targets, object))
            continue;
        result->node_at[number] = search->synthetics + object;
        result->idom[number] = *preorder == SOURCES_NONE ? 0 : *preorder & ~SOURCES_LEAF;
        *preorder = number++;
    }
    return NULL;
}

/* Gives leaves the numbers after all inner nodes, block by block. The number of leaves in each
 * block is known from bits, so that blocks are independent. */
static struct g2h_error *number_leaves(struct dominators_search *search)
{
    const struct targets *targets = search->graph->targets;
    _cleanup_free_ uint32_t *first = zeroed_alloc(targets->block_count + 1, sizeof(*first));
    struct leaf_numbering numbering = {search, first};
    uint32_t number = search->sources.inner;
    TRY_MEMORY(first);
    for (size_t i = 0; i < targets->block_count; i++) {
        const uint64_t *leading = &targets->leading[(i << BLOCK_SHIFT) / 64];
        first[i] = number;
        number += targets->blocks[i].objects;
        for (uint32_t j = 0; j < targets->blocks[i].objects; j += 64)
            number -= bits_of_word(leading[j / 64]);
    }
    return workers_run(search->graph->threads, targets->block_count, number_leaves_of_block,
                       &numbering);
}

/* ---- regions ---- */

/* A step that is done for each region. One task does it for the regions whose first numbers are in
 * its range of TASK_NODES. */
typedef struct g2h_error *region_work(struct dominators_search *search, struct walker *walker,
                                      uint32_t region);

struct region_walk {
    struct dominators_search *search;
    region_work *work;
};

/* Runs a step for the regions whose first numbers are in a task's range, so that tasks have about
 * equally many nodes. */
static struct g2h_error *run_task_of_regions(void *context, size_t task, unsigned worker)
{
    const struct region_walk *walk = context;
    const struct regions *regions = &walk->search->regions;
    _cleanup_(walker_deinit) struct walker walker = {.search = walk->search};
    const uint64_t begin = (uint64_t)task * TASK_NODES;
    const uint64_t end = begin + TASK_NODES;
    uint32_t region;
    (void)worker;
    BISECT(region, regions->count, regions->first[region] < begin);
    for (; region < regions->count && regions->first[region] < end; region++)
        if (regions->first[region] < regions->first[region + 1])
            TRY(walk->work(walk->search, &walker, region));
    return NULL;
}

/* Runs a step for all regions, on all threads. */
static struct g2h_error *run_for_regions(struct dominators_search *search, region_work *work)
{
    struct region_walk walk = {search, work};
    return workers_run(search->graph->threads, search->sources.inner / TASK_NODES + 1,
                       run_task_of_regions, &walk);
}

/* Numbers the nodes that no strong edge reaches, as children of the root. */
static struct g2h_error *number_unreached(struct dominators_search *search, struct walker *walker)
{
    for (uint32_t node = 0; walker->next < walker->end; node++)
        if (!is_seen(search, node)) {
            give_number(search, node, walker->next++, 0);
            TRY_MEMORY(search_from(walker, node));
        }
    return NULL;
}

/* Numbers the nodes of a region by a depth-first search from its entry, which has the region's
 * first number already, by number_regions(). If numbers are left, the entry does not reach all
 * nodes: is_misfit then makes number_all() join the regions. */
static struct g2h_error *number_region(struct dominators_search *search, struct walker *walker,
                                       uint32_t region)
{
    const struct regions *regions = &search->regions;
    walker->next = regions->first[region] + 1;
    walker->end = regions->first[region + 1];
    if (walker->next < walker->end)
        TRY_MEMORY(search_from(walker, regions->entries[region]));
    if (walker->next == walker->end)
        return NULL;
    if (regions->count == 1)
        return number_unreached(search, walker);
    __atomic_store_n(&search->is_misfit, true, __ATOMIC_RELAXED);
    return NULL;
}

/* Numbers the nodes of all regions. The entries get their numbers first, so that no search goes
 * from one region to another. */
static struct g2h_error *number_regions(struct dominators_search *search)
{
    const struct regions *regions = &search->regions;
    see_leaves(search);
    for (uint32_t i = 0; i < regions->count; i++)
        if (regions->first[i] < regions->first[i + 1]) {
            give_number(search, regions->entries[i], regions->first[i], regions->first[i]);
            search->sources.by_number[regions->first[i]].semi = i;
        }
    return run_for_regions(search, number_region);
}

/* Numbers all inner nodes. If a region has nodes that its entry does not reach, begins again with
 * the whole graph as one region. */
static struct g2h_error *number_all(struct dominators_search *search)
{
    TRY(workers_run(search->graph->threads, search->graph->targets->block_count, empty_leaves,
                    search));
    TRY(number_regions(search));
    if (!search->is_misfit)
        return NULL;
    regions_join(&search->regions);
    return number_regions(search);
}

/* ---- numbers of the nodes that have several owners ---- */

/* Handles an edge. If a node with one owner leads to a node with several owners, the search begins
 * at the latter, whose parent is the root. Returns false if memory runs out. */
static bool dominators_enter(void *context, uint32_t source, uint32_t target)
{
    struct walker *walker = context;
    struct dominators_search *search = walker->search;
    const uint32_t *preorder_of = search->result->preorder_of;
    if (preorder_of[target] == 0 ||
        owner_of(search->owners, search->synthetics, source) < OWNER_FIRST)
        return true;
    if (preorder_of[target] == NOWHERE) {
        give_number(search, target, walker->next++, 0);
        if (!search_from(walker, target))
            return false;
    }
    search->sources.by_number[preorder_of[target]].semi = 0;
    return true;
}

/* Numbers the root, 0, and from 1 on, depth first, the nodes with several owners; a search begins
 * wherever a node with one owner leads to one of them. */
static struct g2h_error *number_several(struct dominators_search *search)
{
    _cleanup_(walker_deinit) struct walker walker = {
        .search = search, .next = 1, .end = search->sources.inner};
    give_number(search, 0, 0, 0);
    TRY_MEMORY(
        along_strong_edges(search->graph, search->result->preorder_of, dominators_enter, &walker));
    return NULL;
}

/* ---- dominators ---- */

/* Returns the graph that has been numbered, as semi_nca_run() takes it. */
static struct semi_nca semi_nca_of(const struct dominators_search *search)
{
    return (struct semi_nca){search->result->idom, search->sources.by_number, search->sources.back,
                             search->climbs};
}

/* Finds the dominators of a region; the root's is done before. */
static struct g2h_error *dominators_of_region(struct dominators_search *search,
                                              struct walker *walker, uint32_t region)
{
    const struct regions *regions = &search->regions;
    const struct semi_nca graph = semi_nca_of(search);
    (void)walker;
    if (region > 0)
        semi_nca_run(&graph, regions->first[region], regions->first[region + 1]);
    return NULL;
}

/* Finds the dominators of the inner nodes of all regions. The dominators of the regions' entries
 * are in the root's region, so that comes first. */
static struct g2h_error *dominators_of_regions(struct dominators_search *search)
{
    struct regions *regions = &search->regions;
    struct dominators *result = search->result;
    const struct semi_nca graph = semi_nca_of(search);
    semi_nca_run(&graph, 0, regions->first[1]);
    for (uint32_t i = 1; i < regions->count; i++)
        if (regions->first[i] < regions->first[i + 1])
            result->idom[regions->first[i]] = result->preorder_of[regions->above[i]];
    return run_for_regions(search, dominators_of_region);
}

/* Finds the dominators of the nodes that have several owners: they are one region. */
static void dominators_of_several(struct dominators_search *search)
{
    const struct semi_nca graph = semi_nca_of(search);
    semi_nca_run(&graph, 0, search->sources.inner);
}

static void dominators_search_deinit(struct dominators_search *search)
{
    regions_deinit(&search->regions);
    sources_deinit(&search->sources);
    free(search->seen);
    large_free(search->climbs, search->sources.inner, sizeof(*search->climbs));
    large_free(search->sources.by_number, count_and_end(search->sources.inner),
               sizeof(*search->sources.by_number));
}

/* Runs the steps that both variants have: numbers the nodes, sorts the edges by target, finds the
 * inner nodes' dominators, and then those of leaves. */
static struct g2h_error *dominators_search_all(struct dominators_search *search)
{
    struct dominators *result = search->result;
    struct sources *sources = &search->sources;
    if (sources->inner > SOURCES_LEAF - 1)
        return error_create(G2H_ERROR_LIMIT,
                            "%s: %u nodes hold others: too many to find dominators",
                            search->graph->heap->input->name, sources->inner);
    assert(search->graph->children); /* graph_fill_children() has run */
    result->node_at = large_alloc(result->nodes, sizeof(*result->node_at));
    result->idom = large_alloc(result->nodes, sizeof(*result->idom));
    sources->by_number = large_alloc(count_and_end(sources->inner), sizeof(*sources->by_number));
    TRY_MEMORY(sources->by_number && result->node_at && result->idom);
    TRY(search->owners ? number_several(search) : number_all(search));
    TRY(sources_sort(sources));
    search->climbs = large_alloc(sources->inner, sizeof(*search->climbs));
    TRY_MEMORY(search->climbs);
    if (search->owners) {
        dominators_of_several(search);
        return NULL;
    }
    TRY(dominators_of_regions(search));
    TRY(sources_hold_leaves(&search->sources, search->climbs, result->idom));
    return number_leaves(search);
}

/* Marks the nodes that need a number; all others are merged with the root. Returns how many numbers
 * there will be. */
static uint32_t choose_several(struct dominators_search *search)
{
    const uint32_t nodes = search->result->graph_nodes;
    const uint32_t synthetics = search->synthetics;
    uint32_t count = 1;
    for (uint32_t node = 0; node < nodes; node++)
        if (owner_of(search->owners, synthetics, node) == OWNER_SEVERAL) {
            search->result->preorder_of[node] = NOWHERE;
            count++;
        } else {
            mark_seen(search, node);
        }
    return count;
}

/* Allocates what is needed by node, for all nodes or only for those with several owners. */
static struct g2h_error *dominators_allocate(struct dominators_search *search)
{
    struct dominators *result = search->result;
    const uint32_t nodes = result->graph_nodes;
    search->sources.preorder_of = result->preorder_of =
        large_alloc(nodes, sizeof(*result->preorder_of));
    search->seen = zeroed_alloc(SEEN_WORDS(nodes), sizeof(*search->seen));
    TRY_MEMORY(result->preorder_of && search->seen);
    return NULL;
}

/* Computes the dominators of all nodes, region by region. */
static struct g2h_error *compute_all(struct dominators_search *search)
{
    TRY(dominators_allocate(search));
    TRY(regions_init(&search->regions, search->graph));
    search->sources.regions = &search->regions;
    search->result->nodes = search->result->graph_nodes;
    search->sources.inner = regions_nodes(&search->regions);
    return dominators_search_all(search);
}

/* See dominators_init_several(): only nodes with several owners get numbers. */
static struct g2h_error *compute_several(struct dominators_search *search)
{
    TRY(dominators_allocate(search));
    search->result->nodes = search->sources.inner = choose_several(search);
    return dominators_search_all(search);
}

/* Returns whether all nodes have numbers, and those numbers the nodes, and whether each dominator
 * has a lower number than the node: see dominators.h. */
static _asserted_ bool are_in_preorder(const struct dominators *dominators)
{
    for (uint32_t i = 0; i < dominators->nodes; i++)
        if (dominators->preorder_of[dominators->node_at[i]] != i ||
            (i > 0 ? dominators->idom[i] >= i : dominators->idom[0] != 0))
            return false;
    return true;
}

/* Computes the dominators of all nodes or, with owners, of those with several owners. */
static struct g2h_error *compute(struct dominators *ret, const struct g2h_graph *graph,
                                 const struct owners *owners)
{
    struct dominators_search search = {.graph = graph,
                                       .owners = owners,
                                       .result = ret,
                                       .synthetics = graph_synthetics(graph),
                                       .sources = {.graph = graph}};
    *ret = (struct dominators){.graph_nodes = graph_node_count(graph)};
    struct g2h_error *error = owners ? compute_several(&search) : compute_all(&search);
    dominators_search_deinit(&search);
    memory_give_back();
    if (error)
        dominators_deinit(ret);
    assert(error || are_in_preorder(ret));
    return error;
}

struct g2h_error *dominators_init(struct dominators *dominators, const struct g2h_graph *graph)
{
    return compute(dominators, graph, NULL);
}

struct g2h_error *dominators_init_several(struct dominators *dominators,
                                          const struct g2h_graph *graph,
                                          const struct owners *owners)
{
    return compute(dominators, graph, owners);
}

void dominators_deinit(struct dominators *dominators)
{
    large_free(dominators->preorder_of, dominators->graph_nodes, sizeof(*dominators->preorder_of));
    large_free(dominators->node_at, dominators->nodes, sizeof(*dominators->node_at));
    large_free(dominators->idom, dominators->nodes, sizeof(*dominators->idom));
    *dominators = (struct dominators){0};
}

/* ---- retained sizes ---- */

/* The own sizes of nodes, by number in preorder. */
struct own_sizes {
    const struct dominators *dominators;
    const struct g2h_graph *graph;
    uint64_t *sizes;
};

/* Sets the own sizes of a block of objects by number in preorder. Prefetches, since the numbers are
 * anywhere. */
static struct g2h_error *read_own_sizes(void *context, size_t task, unsigned worker)
{
    const struct own_sizes *own = context;
    const struct g2h_graph *graph = own->graph;
    const uint32_t *preorder_of = own->dominators->preorder_of + graph_synthetics(graph),
                   first = as_u32(task) << BLOCK_SHIFT,
                   end = first + graph->targets->blocks[task].objects;
    const bool is_sample = g2h_heap_sample(graph->heap) != NULL;
    (void)worker;
    for (uint32_t i = first; i < end; i++) {
        if (end - i > 2 * AHEAD)
            __builtin_prefetch(&own->sizes[preorder_of[i + 2 * AHEAD]], 1);
        own->sizes[preorder_of[i]] =
            is_sample ? g2h_heap_estimated_size(graph->heap, i) : heap_object_size(graph->heap, i);
    }
    return NULL;
}

/* Adds each size to the dominator's, from the last number to the first: a dominator has a lower
 * number than what it dominates, so its size is complete when its turn comes. */
struct g2h_error *dominators_sizes(struct dominators *dominators, const struct g2h_graph *graph,
                                   uint64_t synthetic_size, uint64_t **ret)
{
    assert(dominators->nodes == graph_node_count(graph));
    uint64_t *sizes = *ret = large_alloc(dominators->nodes, sizeof(*sizes));
    TRY_MEMORY(sizes);
    struct own_sizes own = {dominators, graph, sizes};
    TRY(workers_run(graph->threads, graph->targets->block_count, read_own_sizes, &own));
    for (uint32_t i = 0; i < graph_synthetics(graph); i++)
        sizes[dominators->preorder_of[i]] = synthetic_size + graph->roots.nodes.data[i].size;
    for (uint32_t preorder = dominators->nodes - 1; preorder > 0; preorder--) {
        if (preorder > AHEAD)
            __builtin_prefetch(&sizes[dominators->idom[preorder - AHEAD]], 1);
        sizes[dominators->idom[preorder]] += sizes[preorder];
    }
    return NULL;
}
