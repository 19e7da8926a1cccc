/*
 * fold_edges: counts the edges of each node of a folded graph, in which edges to members of one
 * folded node are one edge, and adds edges from dominators where folding has removed the last one:
 * see fold.c. Threads count blocks of nodes, each with a table of what it has seen.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/workers.h"
#include "view/fold.h"

enum { AHEAD = 16 };

/* How many folded nodes' edges one task counts. */
enum { FOLDED_PER_TASK = 1 << 12 };
/* How a node of the view is entered from its dominator: not yet, by one folded node that belongs to
 * it, or by those that this one dominates (entered then has that node), or well: by the dominator
 * itself or by several such nodes. */
#define ENTERED_NOT  UINT32_MAX
#define ENTERED_WELL (UINT32_MAX - 1)

struct counting {
    struct fold *fold;
    const uint32_t *dominators; /* by node of the view; NULL: nothing is folded */
    uint32_t *entered;          /* by node of the view: a folded node, or one of the above */
    uint32_t **seen;            /* by thread */
    unsigned threads;
};

/* Records whether an edge enters its target from the target's dominator, or from one of the
 * dominator's folded nodes; see ENTERED_NOT. Other edges, and all if dominators are not asked for,
 * change nothing; a target that is entered in two ways counts as entered well (ENTERED_WELL).
 * Several threads may do so at once. */
static inline void note_edge(const struct counting *counting, uint32_t source, uint32_t target)
{
    const struct fold *fold = counting->fold;
    uint32_t known, wanted = ENTERED_WELL;
    if (!counting->dominators)
        return;
    const uint32_t dominator = counting->dominators[target];
    if (source != dominator) {
        if (source < fold->kept || target >= fold->kept)
            return;
        wanted = fold->folded[source - fold->kept].top;
        if (counting->dominators[wanted] != dominator)
            return;
    }
    known = __atomic_load_n(&counting->entered[target], __ATOMIC_RELAXED);
    while (known != wanted && known != ENTERED_WELL &&
           !__atomic_compare_exchange_n(&counting->entered[target], &known,
                                        known == ENTERED_NOT ? wanted : ENTERED_WELL, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Counts an edge from source, a node of the view, to target, a node of the graph. Returns 1 if the
 * view has the edge, else 0: the members of a folded node may have many edges to one target, and
 * seen, by target, remembers the source for which it was counted last. A weak edge (is_weak) is
 * counted, but not noted as one that holds its target. */
static inline uint32_t count_edge(const struct counting *counting, uint32_t *seen, uint32_t source,
                                  uint32_t target, bool is_weak)
{
    const uint32_t number = fold_target(counting->fold, seen, source, source, target, is_weak);
    if (number == FOLD_LEFT_OUT)
        return 0;
    if (!is_weak)
        note_edge(counting, source, number);
    return 1;
}

/* Counts the edges [from, to) of graph->children that the view has for a node of the view,
 * source. */
static uint32_t count_children(const struct counting *counting, uint32_t *seen, uint32_t source,
                               uint64_t from, uint64_t to)
{
    const struct g2h_graph *graph = counting->fold->graph;
    uint32_t count = 0;
    for (uint64_t i = from; i < to; i++)
        count +=
            count_edge(counting, seen, source, graph_node_number(graph, graph->children[i].target),
                       graph_hold_as(graph, &graph->children[i]) >= HOLD_PASSED);
    return count;
}

/* Counts the pointers of an object that the view has for the node source: of the object itself, or
 * of the folded node that it is part of. */
static inline uint32_t count_pointers(const struct counting *counting, uint32_t *seen,
                                      uint32_t source, uint32_t object)
{
    const struct g2h_graph *graph = counting->fold->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    const struct tier_source holder = tiers_source(&graph->tiers, object);
    const uint32_t *end;
    const uint32_t *target = object_targets(graph, object, &end);
    uint32_t count = 0;
    for (; target < end; target++) {
        if (end - target > AHEAD && target[AHEAD] != NO_TARGET)
            __builtin_prefetch(&counting->fold->number_of[synthetics + target[AHEAD]]);
        if (*target != NO_TARGET)
            count += count_edge(counting, seen, source, synthetics + *target,
                                tiers_hold_as(&graph->tiers, holder, *target) >= HOLD_PASSED);
    }
    return count;
}

/* Counts the edges of a task's folded nodes: of all their members, each target once. */
static void count_of_folded(const struct counting *counting, uint32_t *seen, uint32_t first)
{
    const struct fold *fold = counting->fold;
    const struct g2h_graph *graph = fold->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    for (uint32_t i = first; i < fold->folded_count && i - first < FOLDED_PER_TASK; i++) {
        uint32_t count = 1; /* to (folded) */
        for (uint32_t j = fold->first_member[i]; j < fold->first_member[i + 1]; j++) {
            const uint32_t node = fold->members[j];
            if (node < synthetics)
                count += count_children(counting, seen, fold->kept + i, graph->first_child[node],
                                        graph->first_child[node + 1]);
            else
                count += count_pointers(counting, seen, fold->kept + i, node - synthetics);
        }
        fold->edge_counts[fold->kept + i] = count;
    }
}

/* Counts a task's edges: task 0 those of synthetic nodes, the next ones those of blocks of objects,
 * the last ones those of folded nodes. */
static struct g2h_error *fold_edges_count(void *context, size_t task, unsigned worker)
{
    const struct counting *counting = context;
    const struct fold *fold = counting->fold;
    const struct g2h_graph *graph = fold->graph;
    const uint32_t synthetics = graph_synthetics(graph);
    uint32_t *seen = counting->seen[worker];
    if (task == 0) {
        for (uint32_t i = 0; i < synthetics; i++)
            if (fold->number_of[i] < fold->kept)
                fold->edge_counts[fold->number_of[i]] =
                    count_children(counting, seen, fold->number_of[i], graph->first_child[i],
                                   graph->first_child[i + 1]);
        return NULL;
    }
    if (task > graph->targets->block_count) {
        count_of_folded(counting, seen,
                        (uint32_t)(task - 1 - graph->targets->block_count) * FOLDED_PER_TASK);
        return NULL;
    }
    const uint32_t first = as_u32(task - 1) << BLOCK_SHIFT;
    uint64_t child = graph_object_child(graph, first);
    for (uint32_t object = first; object < first + graph->targets->blocks[task - 1].objects;
         object++) {
        const uint32_t source = fold->number_of[synthetics + object];
        const uint64_t own = child;
        while (graph_is_child_of(graph, child, object))
            child++;
        if (source < fold->kept)
            fold->edge_counts[source] = count_pointers(counting, seen, source, object) +
                                        count_children(counting, seen, source, own, child);
    }
    return NULL;
}

/* Returns whether a node needs an added edge: a kept node if only one folded node of its dominator
 * enters it, and a folded node if its dominator does not. */
static bool needs_extra(const struct counting *counting, uint32_t node)
{
    const uint32_t entered = counting->entered[node];
    return node != 0 && entered != ENTERED_WELL &&
           (entered != ENTERED_NOT || node >= counting->fold->kept);
}

/* Returns the source of the added edge to a node: its dominator, or "(folded)" instead of the root,
 * which must have no edges to objects. */
static uint32_t extra_source(const struct counting *counting, uint32_t node)
{
    const struct fold *fold = counting->fold;
    return counting->dominators[node] == 0 ? fold->group : counting->dominators[node];
}

/* Adds the edges without which nodes would not be entered from their dominators; see fold.c.
 * Returns false if memory runs out. */
static bool add_extras(const struct counting *counting)
{
    struct fold *fold = counting->fold;
    uint32_t *first = fold->first_extra = zeroed_alloc((size_t)fold->nodes + 2, sizeof(*first));
    if (!first)
        return false;
    for (uint32_t i = 0; counting->dominators && i < fold->nodes; i++)
        if (needs_extra(counting, i))
            first[extra_source(counting, i) + 2]++;
    for (uint32_t i = 0; i < fold->nodes; i++) {
        fold->edge_counts[i] += first[i + 2];
        first[i + 2] += first[i + 1];
    }
    fold->extra = malloc(count_and_end(first[fold->nodes + 1]) * sizeof(*fold->extra));
    if (!fold->extra)
        return false;
    for (uint32_t i = 0; counting->dominators && i < fold->nodes; i++)
        if (needs_extra(counting, i))
            fold->extra[first[extra_source(counting, i) + 1]++] = i;
    return true;
}

/* Allocates what the threads count in; entered is ENTERED_NOT for all nodes at first. Returns false
 * if memory runs out. */
static bool counting_init(struct counting *counting, unsigned threads)
{
    struct fold *fold = counting->fold;
    counting->threads = threads;
    counting->seen = calloc(threads, sizeof(*counting->seen));
    counting->entered = block_alloc(count_and_end(fold->nodes), sizeof(*counting->entered));
    fold->edge_counts = zeroed_alloc(count_and_end(fold->nodes), sizeof(*fold->edge_counts));
    if (!counting->seen || !counting->entered || !fold->edge_counts)
        return false;
    for (unsigned i = 0; i < threads; i++) {
        counting->seen[i] = fold_seen(fold);
        if (!counting->seen[i])
            return false;
    }
    memset(counting->entered, 0xff, (size_t)fold->nodes * sizeof(*counting->entered));
    return true;
}

static void counting_deinit(struct counting *counting)
{
    for (unsigned i = 0; i < counting->threads && counting->seen; i++)
        fold_seen_free(counting->fold, counting->seen[i]);
    free(counting->seen);
    free(counting->entered);
}

/* Counts all edges on several threads, and then adds those to and from "(folded)". */
struct g2h_error *fold_count_edges(struct fold *fold, const uint32_t *dominators)
{
    const struct g2h_graph *graph = fold->graph;
    const unsigned threads = MIN(graph->threads, 8); /* each needs a table seen */
    _cleanup_(counting_deinit) struct counting counting = {.fold = fold, .dominators = dominators};
    TRY_MEMORY(counting_init(&counting, threads));
    const size_t of_folded = ((size_t)fold->folded_count + FOLDED_PER_TASK - 1) / FOLDED_PER_TASK;
    const size_t tasks = 1 + graph->targets->block_count + of_folded;
    TRY(workers_run(threads, tasks, fold_edges_count, &counting));
    TRY_MEMORY(add_extras(&counting));
    if (fold->folds) {
        fold->edge_counts[0]++; /* to "(folded)" */
        fold->edge_counts[fold->group] += fold->folded_count;
    }
    for (uint32_t i = 0; i < fold->nodes; i++)
        fold->edges += fold->edge_counts[i];
    return NULL;
}
