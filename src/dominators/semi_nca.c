/*
 * semi_nca: the Semi-NCA algorithm (Georgiadis, Tarjan and Werneck, 2006) on nodes that a
 * depth-first search has numbered; see semi_nca.h. Three parts:
 *
 * climb     ancestors in a tree in O(log n) steps, by skips
 * semi_nca  semidominators from the last number to the first, in a forest with path compression;
 *          then dominators from the first number to the last
 * sources   the edges, sorted by target: who points to each node
 *
 * The semidominator of a node is the lowest number from which a path leads to it whose inner nodes
 * all have higher numbers than the node. An inner node holds others, a leaf does not.
 */
#include "dominators/semi_nca.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/workers.h"

/* ==== ancestors in a tree, in O(log n) steps ==== */

/* Adds a node below a parent that has been added; the root, 0, is its own parent. If the parent's
 * skip and that one's skip span equally many levels, the node skips both; otherwise it skips to its
 * parent. So skips double like digits of a skew binary number. */
static inline void climb_add(struct climb *climbs, uint32_t node, uint32_t parent)
{
    assert(parent <= node);
    const struct climb *up = &climbs[parent];
    const struct climb *skip = &climbs[up->skip];
    if (node == parent) {
        climbs[node] = (struct climb){.skip = node, .depth = 0};
        return;
    }
    const bool is_equal = up->depth - skip->depth == skip->depth - climbs[skip->skip].depth;
    climbs[node] = (struct climb){.skip = is_equal ? skip->skip : parent, .depth = up->depth + 1};
}

/* Returns the nearest ancestor of a node, or the node itself, whose number is not above limit. */
static inline uint32_t climb_to(const struct climb *climbs, const uint32_t *parents, uint32_t node,
                                uint32_t limit)
{
    while (node > limit)
        node = climbs[node].skip > limit ? climbs[node].skip : parents[node];
    return node;
}

/* Returns the ancestor of a node, or the node itself, at a depth that is not below the node's. */
static inline uint32_t climb_to_depth(const struct climb *climbs, const uint32_t *parents,
                                      uint32_t node, uint32_t depth)
{
    while (climbs[node].depth > depth)
        node = climbs[climbs[node].skip].depth >= depth ? climbs[node].skip : parents[node];
    return node;
}

/* Returns the nearest common ancestor of two nodes, which may be one of the two. */
static inline uint32_t climb_common(const struct climb *climbs, const uint32_t *parents,
                                    uint32_t one, uint32_t other)
{
    one = climb_to_depth(climbs, parents, one, climbs[other].depth);
    other = climb_to_depth(climbs, parents, other, climbs[one].depth);
    while (one != other) { /* nodes of equal depth skip equally many levels */
        const bool skips = climbs[one].skip != climbs[other].skip;
        one = skips ? climbs[one].skip : parents[one];
        other = skips ? climbs[other].skip : parents[other];
    }
    return one;
}

/* ==== finds the dominators of any graph whose nodes a depth-first search has numbered ====
 *
 * Almost all of the time goes into waiting for memory.
 */

#define NOWHERE UINT32_MAX

enum { AHEAD = 16 };

/* A node of the forest, which is linked from the last number to the first. */
struct semi_nca_link {
    uint32_t ancestor; /* path compression moves it further up */
    uint32_t best;     /* the lowest semidominator from here up to, but without, the ancestor */
};

/* Climbs take the place of links in memory. */
_Static_assert(sizeof(struct semi_nca_link) == sizeof(struct climb), "they share their memory");

/* ---- semidominators ---- */

/*
 * Returns the lowest semidominator on the path from a number up to, but without, the root of its
 * tree, which is the first ancestor that is not above limit. All nodes on the path get the root as
 * their ancestor. On the way up, the ancestors themselves store the way down again.
 */
static inline uint32_t semi_nca_evaluate(struct semi_nca_link *links, uint32_t preorder,
                                         uint32_t limit)
{
    uint32_t up;
    uint32_t below = NOWHERE;
    uint32_t at = preorder;
    while ((up = links[at].ancestor) > limit) {
        links[at].ancestor = below;
        below = at;
        at = up;
    }
    const uint32_t root = up;
    uint32_t best = links[at].best;
    while (below != NOWHERE) {
        const uint32_t next = links[below].ancestor;
        if (links[below].best < best)
            best = links[below].best;
        links[below] = (struct semi_nca_link){root, best};
        below = next;
    }
    return best;
}

/* Finds the semidominators, from the last number to the first. Sources with lower numbers are in
 * semi already; for the others the lowest semidominator on their path in the forest counts. Then
 * the node is linked to its parent. */
static void find_semidominators(const struct semi_nca *graph, uint32_t begin, uint32_t end)
{
    const uint32_t *idom = graph->idom;
    const uint32_t *back = graph->back;
    struct semi_nca_link *links = (void *)graph->climbs;
    for (uint32_t preorder = end - 1; preorder > begin; preorder--) {
        const uint32_t first = graph->nodes[preorder].back;
        uint32_t best = graph->nodes[preorder].semi;
        for (uint32_t i = graph->nodes[preorder + 1].back; i > first; i--) {
            if (i > 2 * AHEAD)
                __builtin_prefetch(&links[back[i - 1 - 2 * AHEAD]]);
            const uint32_t found = semi_nca_evaluate(links, back[i - 1], preorder);
            if (found < best)
                best = found;
        }
        graph->nodes[preorder].semi = best;
        links[preorder] = (struct semi_nca_link){idom[preorder], best};
    }
}

/* ---- dominators ---- */

/* Finds the dominators, from the first number to the last: each is the nearest ancestor of the
 * parent, in the tree made so far, that is not after the semidominator. */
static void semi_nca_find_dominators(const struct semi_nca *graph, uint32_t begin, uint32_t end)
{
    uint32_t *idom = graph->idom;
    climb_add(graph->climbs, begin, idom[begin]);
    for (uint32_t preorder = begin + 1; preorder < end; preorder++) {
        idom[preorder] = climb_to(graph->climbs, idom, idom[preorder], graph->nodes[preorder].semi);
        climb_add(graph->climbs, preorder, idom[preorder]);
    }
}

/* Returns whether each node of a range but the first has a dominator in it, with a lower number. */
static _asserted_ bool dominators_are_above(const struct semi_nca *graph, uint32_t begin,
                                            uint32_t end)
{
    for (uint32_t i = begin + 1; i < end; i++)
        if (graph->idom[i] < begin || graph->idom[i] >= i)
            return false;
    return true;
}

/* Computes the dominators of a range of nodes by the algorithm SEMI-NCA. First the semidominators
 * of [begin, end), from the last node to the first, and then the dominators, in order. */
void semi_nca_run(const struct semi_nca *graph, uint32_t begin, uint32_t end)
{
    assert(begin < end && (begin == 0 || graph->idom[begin] < begin));
    find_semidominators(graph, begin, end);
    semi_nca_find_dominators(graph, begin, end);
    assert(dominators_are_above(graph, begin, end));
}

/* ==== the strong edges of a graph whose nodes have numbers in preorder, sorted by target ====
 *
 * An edge from a lower number to a higher one needs no memory: its source's path in Semi-NCA is the
 * source alone, so the edge is processed when it is met. The other edges are counted, and kept in a
 * list until it is known where each node's sources begin in sources->back. A block of objects that
 * has too many of them to keep is walked again.
 *
 * Most edges lead to leaves. All of these, except the first one of each leaf, wait until the
 * dominators of their sources are known.
 */

enum { MOST_KEPT = BLOCK_OBJECTS };

/* An edge to a number, or to a leaf's node. from is the source's number; if the edge leads to a
 * region's entry, it is the source's region. */
struct kept {
    uint32_t from, to;
};

typedef VECTOR(struct kept) kept_edges;

/* The kept edges of a block of objects, or of the synthetic nodes. */
struct kept_list {
    kept_edges edges, to_leaves;
    bool is_cut; /* there are too many, so none are kept */
};

/* PASS_FIRST handles edges to higher numbers, counts the others, and keeps them in lists; PASS_BACK
 * writes those into sources->back; PASS_LEAVES handles the edges to leaves. */
enum pass { PASS_FIRST, PASS_BACK, PASS_LEAVES };

struct sources_sorting {
    struct sources *sources;
    struct crossings *crossings; /* by worker: see regions.h */
    const struct climb *climbs;
    const uint32_t *idom;
    enum pass pass;
};

/* ---- an edge ---- */

/* Returns whether a number is a region's entry. */
static inline bool is_entry(const struct sources *sources, uint32_t number)
{
    return sources->regions && regions_is_entry(sources->regions, number);
}

/* Returns whether an edge must be kept: until it is known where the target's sources begin, or, if
 * the target is an entry, for regions_hold_through(). */
static inline bool sources_is_kept(const struct sources *sources, uint32_t source, uint32_t from,
                                   uint32_t to, struct kept *ret)
{
    *ret = (struct kept){from, to};
    if (is_entry(sources, to))
        return regions_is_shared(sources->regions, source, sources->by_number[to].semi, &ret->from);
    return from > to;
}

/* Returns whether from is a leaf's first source; if the leaf has none yet, from becomes it. */
static inline bool is_first(uint32_t *leaf, uint32_t from)
{
    uint32_t known = __atomic_load_n(leaf, __ATOMIC_RELAXED);
    return (known == SOURCES_NONE &&
            __atomic_compare_exchange_n(leaf, &known, SOURCES_LEAF | from, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) ||
           known == (SOURCES_LEAF | from);
}

/* Moves a leaf's dominator up to the nearest common ancestor with from, another source. One that is
 * the root already (0, with SOURCES_LEAF) stays. Several threads may do so at once. */
static inline void hold_leaf(const struct sources_sorting *sorting, uint32_t *leaf, uint32_t from)
{
    uint32_t common;
    uint32_t known = __atomic_load_n(leaf, __ATOMIC_RELAXED);
    do {
        if (known == SOURCES_LEAF || known == (SOURCES_LEAF | from))
            return;
        common = SOURCES_LEAF |
                 climb_common(sorting->climbs, sorting->idom, known & ~SOURCES_LEAF, from);
    } while (common != known && !__atomic_compare_exchange_n(leaf, &known, common, true,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* Lowers the target's first semidominator to an edge's source with a lower number; several threads
 * do so. */
static inline void take_forwards(struct semi_nca_node *node, uint32_t from)
{
    uint32_t known = __atomic_load_n(&node->semi, __ATOMIC_RELAXED);
    while (from < known && !__atomic_compare_exchange_n(&node->semi, &known, from, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Forgets the edges of a list. is_cut: it had too many, so that its block is walked again. */
static void list_clear(struct kept_list *list, bool is_cut)
{
    free(list->edges.data);
    free(list->to_leaves.data);
    *list = (struct kept_list){.is_cut = is_cut};
}

/* Keeps an edge for a later pass, unless the list has become too long: then the block is walked
 * again instead. Returns false if memory runs out. */
static bool sources_keep(struct kept_list *list, kept_edges *edges, struct kept kept)
{
    if (list->is_cut)
        return true;
    if (edges->count < MOST_KEPT)
        return vector_push(edges, kept);
    list_clear(list, true);
    return true;
}

/* Takes an edge in the first pass: keeps it for the second one, or uses it at once, if it leads to
 * the entry of a region, or forwards to a node that comes after from. Returns false if memory runs
 * out. */
static inline bool take_first(struct sources *sources, struct kept_list *list, uint32_t source,
                              uint32_t from, uint32_t to)
{
    struct semi_nca_node *node = &sources->by_number[to];
    const bool leads_to_entry = is_entry(sources, to);
    struct kept kept;
    if (sources_is_kept(sources, source, from, to, &kept)) {
        if (!leads_to_entry)
            __atomic_fetch_add(&node->back, 1, __ATOMIC_RELAXED);
        return sources_keep(list, &list->edges, kept);
    }
    if (leads_to_entry)
        regions_hold(sources->regions, source, node->semi);
    else if (from < to)
        take_forwards(node, from);
    return true;
}

/* Second pass: stores the source of a kept edge among those of its target. Returns false if memory
 * runs out. */
static inline bool take_kept(const struct sources_sorting *sorting, unsigned worker,
                             struct kept kept)
{
    const struct sources *sources = sorting->sources;
    struct semi_nca_node *node = &sources->by_number[kept.to];
    if (is_entry(sources, kept.to))
        return regions_hold_through(sources->regions, kept.from, node->semi,
                                    &sorting->crossings[worker]);
    const uint32_t at = __atomic_sub_fetch(&node->back, 1, __ATOMIC_RELAXED);
    assert(at < sources->back_count && kept.from > kept.to);
    sources->back[at] = kept.from;
    return true;
}

/* Handles an edge to a leaf: the first one sets its dominator, others wait for the last pass, which
 * moves the dominator up. Returns false if memory runs out. */
static inline bool take_to_leaf(const struct sources_sorting *sorting, struct kept_list *list,
                                uint32_t from, uint32_t target)
{
    uint32_t *leaf = &sorting->sources->preorder_of[target];
    if (sorting->pass == PASS_FIRST)
        return is_first(leaf, from) ||
               sources_keep(list, &list->to_leaves, (struct kept){from, target});
    if (sorting->pass == PASS_LEAVES)
        hold_leaf(sorting, leaf, from);
    return true;
}

/* Handles an edge as the pass wants it; from is the source's number in preorder, and source and
 * target are nodes. PASS_FIRST takes or keeps it; PASS_BACK stores it if it is one that is kept;
 * edges to leaves are for PASS_FIRST and PASS_LEAVES. Returns false if memory runs out. */
static inline bool sources_take(const struct sources_sorting *sorting, unsigned worker,
                                struct kept_list *list, uint32_t source, uint32_t from,
                                uint32_t target)
{
    const uint32_t to = __atomic_load_n(&sorting->sources->preorder_of[target], __ATOMIC_RELAXED);
    struct kept kept;
    if ((to & SOURCES_LEAF) != 0)
        return take_to_leaf(sorting, list, from, target);
    if (sorting->pass == PASS_FIRST)
        return take_first(sorting->sources, list, source, from, to);
    return sorting->pass == PASS_LEAVES ||
           !sources_is_kept(sorting->sources, source, from, to, &kept) ||
           take_kept(sorting, worker, kept);
}

/* ---- all edges ---- */

/* Handles the strong edges of synthetic nodes. Returns false if memory runs out. */
static bool take_of_synthetics(const struct sources_sorting *sorting, unsigned worker,
                               struct kept_list *list)
{
    const struct g2h_graph *graph = sorting->sources->graph;
    const uint32_t *preorder_of = sorting->sources->preorder_of;
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        const struct edge *edge = &graph->children[i];
        const uint32_t source = edge->source.index;
        if (graph_holds(graph, edge) &&
            !sources_take(sorting, worker, list, source, preorder_of[source],
                          graph_node_number(graph, edge->target)))
            return false;
    }
    return true;
}

/* Prefetches a target that will be needed soon: first its number, and later, when has_number is
 * set, its entry of by_number. */
static inline void prefetch(const struct sources *sources, uint32_t node, bool has_number)
{
    const uint32_t *preorder = &sources->preorder_of[node];
    if (!has_number) {
        __builtin_prefetch(preorder, 1);
        return;
    }
    const uint32_t number = __atomic_load_n(preorder, __ATOMIC_RELAXED);
    if ((number & SOURCES_LEAF) == 0)
        __builtin_prefetch(&sources->by_number[number], 1);
}

/* Passes the pointers of a block of objects that hold their targets to sources_take(). Passes over
 * objects that are merged with the root or are leaves, and pointers across tiers that do not hold
 * their target. Returns false if memory runs out. */
static bool take_of_block(const struct sources_sorting *sorting, unsigned worker, size_t number,
                          struct kept_list *list)
{
    const struct sources *sources = sorting->sources;
    const struct g2h_graph *graph = sources->graph;
    const struct target_block *block = &graph->targets->blocks[number];
    const uint32_t synthetics = graph_synthetics(graph);
    const uint32_t first = as_u32(number) << BLOCK_SHIFT;
    const uint32_t last = block->starts[block->objects];
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t source = synthetics + first + i;
        const uint32_t end = block->starts[i + 1];
        if (block->starts[i] == end)
            continue;
        const uint32_t from = __atomic_load_n(&sources->preorder_of[source], __ATOMIC_RELAXED);
        if (from == 0 || (from & SOURCES_LEAF) != 0) /* merged with the root; a leaf */
            continue;
        const struct tier_source holder = tiers_source(&graph->tiers, first + i);
        for (uint32_t j = block->starts[i]; j < end; j++) {
            const uint32_t target = block->targets[j];
            if (last - j > 2 * AHEAD && block->targets[j + 2 * AHEAD] != NO_TARGET)
                prefetch(sources, synthetics + block->targets[j + 2 * AHEAD], false);
            if (last - j > AHEAD && block->targets[j + AHEAD] != NO_TARGET)
                prefetch(sources, synthetics + block->targets[j + AHEAD], true);
            if (target != NO_TARGET && tiers_hold(&graph->tiers, holder, target) &&
                !sources_take(sorting, worker, list, source, from, synthetics + target))
                return false;
        }
    }
    return true;
}

/* Handles the edges that the first pass has kept of a block, and frees them. Returns false if
 * memory runs out. */
static bool take_of_list(const struct sources_sorting *sorting, unsigned worker,
                         struct kept_list *list)
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
    list->edges = (kept_edges){0};
    return good;
}

/* Handles the edges to leaves that the first pass has kept of a block. Always returns true. */
static bool take_leaves_of_list(const struct sources_sorting *sorting, struct kept_list *list)
{
    const kept_edges *edges = &list->to_leaves;
    uint32_t *preorder_of = sorting->sources->preorder_of;
    for (size_t i = 0; i < edges->count; i++) {
        if (edges->count - i > AHEAD)
            __builtin_prefetch(&preorder_of[edges->data[i + AHEAD].to], 1);
        hold_leaf(sorting, &preorder_of[edges->data[i].to], edges->data[i].from);
    }
    return true;
}

/* Runs the current pass over a block of objects, or over the synthetic nodes (task 0): over kept
 * edges if they were kept, else over all edges again. */
static struct g2h_error *take_task(void *context, size_t task, unsigned worker)
{
    const struct sources_sorting *sorting = context;
    struct kept_list *list = &sorting->sources->lists[task];
    const bool is_walk = sorting->pass == PASS_FIRST || list->is_cut;
    bool good;
    if (is_walk && task == 0)
        good = take_of_synthetics(sorting, worker, list);
    else if (is_walk)
        good = take_of_block(sorting, worker, task - 1, list);
    else if (sorting->pass == PASS_BACK)
        good = take_of_list(sorting, worker, list);
    else
        good = take_leaves_of_list(sorting, list);
    TRY_MEMORY(good);
    return NULL;
}

/* Runs a pass over all tasks: the synthetic nodes and each block of objects. */
static struct g2h_error *take_all(struct sources_sorting *sorting, enum pass pass)
{
    const struct g2h_graph *graph = sorting->sources->graph;
    sorting->pass = pass;
    return workers_run(graph->threads, graph->targets->block_count + 1, take_task, sorting);
}

/* Turns the number of each node's sources into their end in sources->back: take_kept() stores them
 * from the end down. */
static struct g2h_error *sources_reserve(struct sources *sources)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= sources->inner; i++) {
        sum += sources->by_number[i].back;
        sources->by_number[i].back = (uint32_t)sum;
    }
    if (sum > limits.dominator_edges)
        return error_create(G2H_ERROR_LIMIT,
                            "%s: %llu edges: more than the %llu among which dominators are found; "
                            "--format hprof needs none",
                            sources->graph->heap->input->name, (unsigned long long)sum,
                            (unsigned long long)limits.dominator_edges);
    sources->back_count = (size_t)sum;
    sources->back = large_alloc(sources->back_count, sizeof(*sources->back));
    TRY_MEMORY(sources->back);
    return NULL;
}

static void sources_sorting_deinit(struct sources_sorting *sorting)
{
    const struct g2h_graph *graph = sorting->sources->graph;
    for (unsigned i = 0; sorting->crossings && i < graph->threads; i++)
        crossings_deinit(&sorting->crossings[i]);
    free(sorting->crossings);
}

/* Sorts the strong edges by their target, and finds the dominators of the regions' entries. Two
 * passes over the edges: the first counts the sources of each node, the second stores them. */
struct g2h_error *sources_sort(struct sources *sources)
{
    const struct g2h_graph *graph = sources->graph;
    assert(sources->inner < SOURCES_LEAF);
    _cleanup_(sources_sorting_deinit) struct sources_sorting sorting = {
        .sources = sources, .crossings = calloc(graph->threads, sizeof(*sorting.crossings))};
    sources->lists = calloc(graph->targets->block_count + 1, sizeof(*sources->lists));
    TRY_MEMORY(sources->lists && sorting.crossings);
    TRY(take_all(&sorting, PASS_FIRST));
    TRY(sources_reserve(sources));
    if (sources->regions)
        regions_end_direct(sources->regions);
    TRY(take_all(&sorting, PASS_BACK));
    return sources->regions ? regions_finish(sources->regions, sorting.crossings) : NULL;
}

/* Finds the dominators of leaves once those of all other nodes are known: a leaf's dominator is the
 * nearest common ancestor, in the tree of dominators, of all nodes that hold it. */
struct g2h_error *sources_hold_leaves(struct sources *sources, const struct climb *climbs,
                                      const uint32_t *idom)
{
    struct sources_sorting sorting = {.sources = sources, .climbs = climbs, .idom = idom};
    return take_all(&sorting, PASS_LEAVES);
}

void sources_deinit(struct sources *sources)
{
    for (size_t i = 0; sources->lists && i <= sources->graph->targets->block_count; i++)
        list_clear(&sources->lists[i], false);
    free(sources->lists);
    sources->lists = NULL;
    large_free(sources->back, sources->back_count, sizeof(*sources->back));
    sources->back = NULL;
}
