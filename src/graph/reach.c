/*
 * reach: finds the objects that the roots hold, and what holds the others.
 *
 * WriteHeapDump runs no collection, so a dump contains garbage. Marking, as in the collector, finds
 * the objects that strong edges reach: first what belongs to the program, together with its owners,
 * then the others (tiers.h). Then the tentative edges are decided: words of a frame that may hold a
 * stack object, objects with a finalizer. Then come the objects that only goroutines that wait
 * lead to, those that cleanups keep, and what waits to be cleaned up. What is not marked now is
 * garbage: all other objects get tiers and owners. Last, as few garbage objects as possible, the
 * heads, become children of "(unreachable)".
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "graph/mark.h"
#include "graph/owners.h"

/* Marks what strong edges from the synthetic nodes of a tier reach, or from those of all tiers. */
static struct g2h_error *mark_from(struct marker *marker, const struct g2h_graph *graph,
                                   enum tier tier, bool all)
{
    const struct roots *roots = &graph->roots;
    VECTOR_EACH(const struct edge, edge, roots->edges)
        if (edge->source.of == OF_SYNTHETIC && edge->target.of == OF_OBJECT &&
            roots_edge_holds(edge) && (all || roots->nodes.data[edge->source.index].tier == tier))
            TRY_MEMORY(marker_push(marker, edge->target.index));
    return marker_drain(marker);
}

/* Marks everything that roots reach, regardless of existing marks. */
static struct g2h_error *mark_again(struct marker *marker, const struct g2h_graph *graph)
{
    const size_t words = graph->heap->object_count / 64 + 1;
    memset(marker->marks, 0, words * sizeof(*marker->marks));
    return mark_from(marker, graph, TIER_REST, true);
}

/* Decides all edges of a type, EDGE_TENTATIVE or EDGE_LAST, by the same marks, so that their order
 * does not matter. Returns whether there are edges of EDGE_LAST. */
static bool reach_decide(const struct marker *marker, struct g2h_graph *graph,
                         enum roots_edge_type type)
{
    bool has_last = false;
    VECTOR_EACH(struct edge, edge, graph->roots.edges) {
        has_last |= edge->type == EDGE_LAST;
        if (edge->type == type)
            edge->type = marker_has(marker, edge->target.index) ? EDGE_WEAK : EDGE_INTERNAL;
    }
    return has_last;
}

/* ---- what goroutines wait on ---- */

/* An object that a goroutine waits on and that nothing else holds. */
struct waited {
    uint32_t goroutine; /* its node; MAP_NONE: not known */
    uint32_t waiter, target;
};

struct reach_waiting {
    struct g2h_graph *graph;
    struct marker *marker;
    struct map goroutines; /* object of a runtime.g → node of the goroutine */
    uint64_t *settled;     /* a bit per waiter whose targets have been examined */
    VECTOR(struct waited) waited;
    bool is_changed; /* a waiter holds what it leads to, because its goroutine is not known */
};

static void waiting_deinit(struct reach_waiting *waiting)
{
    map_deinit(&waiting->goroutines);
    free(waiting->settled);
    free(waiting->waited.data);
}

/* Maps the records of goroutines (runtime.g) to the goroutines' nodes. */
static struct g2h_error *reach_list_goroutines(struct reach_waiting *waiting)
{
    const struct g2h_graph *graph = waiting->graph;
    const struct g2h_heap *heap = graph->heap;
    uint32_t known;
    VECTOR_EACH(const struct root_goroutine, root, graph->roots.goroutines) {
        const uint32_t object =
            heap_find(heap, heap->goroutines.data[root->goroutine].record.address);
        if (object != UINT32_MAX)
            TRY_MEMORY(map_put(&waiting->goroutines, object, root->node, &known));
    }
    return NULL;
}

/* Returns the node of the goroutine that a waiter is the record of, or MAP_NONE. */
static uint32_t reach_goroutine_of(const struct reach_waiting *waiting, uint32_t waiter)
{
    const uint32_t *end;
    const uint32_t *target = object_targets(waiting->graph, waiter, &end);
    uint32_t node = MAP_NONE;
    for (; target < end && node == MAP_NONE; target++)
        if (*target != NO_TARGET)
            node = map_get(&waiting->goroutines, *target);
    return node;
}

/* Lists the unmarked targets of marked waiters: nothing but a waiter leads there. A target that is
 * a waiter itself comes later, through its goroutine. Goes through 64 objects at a time; fresh has
 * a bit for each waiter that is new, and fresh & -fresh is its lowest one. */
static struct g2h_error *find_waited(struct reach_waiting *waiting)
{
    const struct g2h_graph *graph = waiting->graph;
    const uint64_t *waiters = graph->tiers.waiters;
    const uint64_t *marks = waiting->marker->marks;
    for (uint32_t i = 0; i <= graph->heap->object_count / 64; i++)
        for (uint64_t fresh = waiters[i] & marks[i] & ~waiting->settled[i]; fresh != 0;
             fresh &= fresh - 1) {
            const uint32_t waiter = i * 64 + lowest_bit(fresh);
            const uint32_t *end;
            const uint32_t *target = object_targets(graph, waiter, &end);
            waiting->settled[i] |= fresh & -fresh;
            for (; target < end; target++)
                if (*target != NO_TARGET && !is_marked(marks, *target) &&
                    !tiers_waits(waiters, *target))
                    TRY_MEMORY(vector_push(
                        &waiting->waited,
                        ((struct waited){reach_goroutine_of(waiting, waiter), waiter, *target})));
        }
    return NULL;
}

/* Makes the goroutine hold what it waits on; if the goroutine is not known, its record does. */
static struct g2h_error *hold_waited(struct reach_waiting *waiting)
{
    struct g2h_graph *graph = waiting->graph;
    uint32_t name;
    VECTOR_EACH(const struct waited, waited, waiting->waited) {
        if (waited->goroutine == MAP_NONE) {
            bits_remove(graph->tiers.waiters, waited->waiter);
            waiting->is_changed = true;
        } else {
            TRY_MEMORY(names_add_label(&graph->names, "waiting on", strlen("waiting on"), &name) &&
                       graph_add_edge(graph, node_synthetic(waited->goroutine), EDGE_INTERNAL, name,
                                      node_object(waited->target)));
        }
        TRY_MEMORY(marker_push(waiting->marker, waited->target));
    }
    waiting->waited.count = 0;
    return marker_drain(waiting->marker);
}

/* Holds what only records of waiting goroutines lead to, step by step: what is held may lead to
 * further such records. If MOST steps are not enough, no record counts as one of these any more,
 * and all is marked again. *ret_changed becomes true in that case, and if the goroutine of one of
 * them is not known: then these hold what they lead to. */
static struct g2h_error *add_waited(struct g2h_graph *graph, struct marker *marker,
                                    bool *ret_changed)
{
    enum { MOST = 16 /* steps along records that only lead to others */ };
    _cleanup_(waiting_deinit) struct reach_waiting waiting = {.graph = graph, .marker = marker};
    bool more = true;
    if (!graph->tiers.waiters)
        return NULL;
    waiting.settled = zeroed_alloc(graph->heap->object_count / 64 + 1, sizeof(*waiting.settled));
    TRY_MEMORY(waiting.settled);
    TRY(reach_list_goroutines(&waiting));
    for (int i = 0; i < MOST && more; i++) {
        TRY(find_waited(&waiting));
        more = waiting.waited.count > 0;
        TRY(hold_waited(&waiting));
    }
    *ret_changed |= waiting.is_changed || more;
    if (!more)
        return NULL;
    free(graph->tiers.waiters); /* more than any program has */
    graph->tiers.waiters = NULL;
    marker->waiters = NULL;
    return mark_again(marker, graph);
}

/* ---- objects that are not garbage ---- */

/* Sets the marks of the boundaries that are not of goroutines and have none; ret gets their
 * numbers. */
static struct g2h_error *reach_close_boundaries(const struct boundaries *boundaries,
                                                uint64_t *marks, struct mark_stack *ret)
{
    VECTOR_EACH(const struct boundary, boundary, boundaries->list) {
        if (boundary->of == BOUNDARY_GOROUTINE || is_marked(marks, boundary->object))
            continue;
        bits_add(marks, boundary->object);
        TRY_MEMORY(vector_push(&ret->objects, boundary->object));
    }
    return NULL;
}

/* Removes the marks that reach_close_boundaries() has set. */
static void reach_open_boundaries(const struct mark_stack *boundaries, uint64_t *marks)
{
    VECTOR_EACH(const uint32_t, object, boundaries->objects)
        bits_remove(marks, *object);
}

/* Frees the objects of a stack of marking. */
static void reach_free_objects(struct mark_stack *stack)
{
    free(stack->objects.data);
}

/* Marks what belongs to goroutines, and then what belongs to the rest of the roots. */
static struct g2h_error *mark_others(struct marker *marker, const struct g2h_graph *graph,
                                     const struct boundaries *boundaries)
{
    _cleanup_(reach_free_objects) struct mark_stack closed = {0};
    TRY(reach_close_boundaries(boundaries, marker->marks, &closed));
    TRY(mark_from(marker, graph, TIER_GOROUTINES, false));
    reach_open_boundaries(&closed, marker->marks);
    TRY(mark_from(marker, graph, TIER_REST, false));
    return mark_from(marker, graph, TIER_OTHERS, false);
}

/* Marks again, through boundaries as well, if a boundary has no mark: it may be garbage, or
 * something leads there that the walks pass by. Pools are garbage, as graph_add_pools() has found
 * the others. */
static struct g2h_error *mark_through_boundaries(struct marker *marker,
                                                 const struct g2h_graph *graph,
                                                 const struct boundaries *boundaries)
{
    bool is_missing = false;
    VECTOR_EACH(const struct boundary, boundary, boundaries->list)
        is_missing |= boundary->of != BOUNDARY_POOL && !is_marked(marker->marks, boundary->object);
    return is_missing ? mark_again(marker, graph) : NULL;
}

/* Marks everything that is not garbage; what belongs to the program has marks already.
 * *ret_changed: see add_waited(). */
static struct g2h_error *reach_mark_living(struct g2h_graph *graph, struct marker *marker,
                                           struct owners *owners,
                                           const struct boundaries *boundaries, bool *ret_changed)
{
    TRY(mark_others(marker, graph, boundaries));
    TRY(graph_add_pools(graph, marker, owners, boundaries));
    const bool has_last = reach_decide(marker, graph, EDGE_TENTATIVE);
    TRY(mark_from(marker, graph, TIER_REST, true)); /* by the edges that have become strong */
    TRY(mark_through_boundaries(marker, graph, boundaries));
    TRY(add_waited(graph, marker, ret_changed));
    TRY(graph_add_cleanups(graph, marker));
    if (has_last) {
        (void)reach_decide(marker, graph, EDGE_LAST);
        TRY(mark_from(marker, graph, TIER_REST, true));
    }
    return owners_own_cleanups(owners, graph);
}

/* ---- garbage ---- */

struct garbage {
    struct g2h_graph *graph;
    struct marker *marker;
    uint32_t node, heads;
};

/* Hangs an object that no other garbage holds below "(unreachable)", and marks it and, with the
 * next marker_drain(), all that it reaches. */
static struct g2h_error *add_head(struct garbage *garbage, uint32_t object)
{
    struct g2h_graph *graph = garbage->graph;
    if (!graph_add_edge(graph, node_synthetic(garbage->node), EDGE_ELEMENT, ++garbage->heads,
                        node_object(object)) ||
        !marker_push(garbage->marker, object))
        return &error_no_memory;
    return NULL;
}

/* Sets a bit for each object that an unmarked object other than itself points to. */
static void reach_find_held(const struct g2h_graph *graph, const uint64_t *marks, uint64_t *held)
{
    const uint32_t objects = graph->heap->object_count;
    for (uint32_t object = 0; (object = next_unmarked(marks, object, objects)) < objects;
         object++) {
        const uint32_t *end;
        const uint32_t *target = object_targets(graph, object, &end);
        for (; target < end; target++)
            if (*target != NO_TARGET && *target != object)
                bits_add(held, *target);
    }
}

typedef VECTOR(uint32_t) object_vector;

/* Returns a copy of the marks, a bit per object; NULL: memory has run out. */
static uint64_t *copy_marks(const struct g2h_graph *graph, const uint64_t *marks)
{
    const size_t size = (graph->heap->object_count / 64 + 1) * sizeof(*marks);
    uint64_t *copy = block_alloc(1, size);
    return copy ? memcpy(copy, marks, size) : NULL;
}

/* Visits the unmarked objects in turn, appends each to ret, and marks everything that it reaches,
 * so that ret gets the objects that no earlier one of them reaches. The marks are a copy of the
 * real ones. */
static struct g2h_error *find_firsts(const struct garbage *garbage, object_vector *ret)
{
    struct marker *marker = garbage->marker;
    const uint32_t objects = garbage->graph->heap->object_count;
    for (uint32_t object = 0; (object = next_unmarked(marker->marks, object, objects)) < objects;
         object++) {
        TRY_MEMORY(vector_push(ret, object) && marker_push(marker, object));
        TRY(marker_drain(marker));
    }
    return NULL;
}

/*
 * Hangs the garbage that is left: cycles, and the objects that they reach. find_firsts() returns
 * objects in any order. Going through them backwards, those that no later one reaches are heads,
 * one for each cycle that nothing else points into: an object that reaches the last of them is also
 * reached by it.
 */
static struct g2h_error *hang_cycles(struct garbage *garbage)
{
    struct marker *marker = garbage->marker;
    uint64_t *marks = marker->marks;
    _cleanup_free_ uint64_t *copy = copy_marks(garbage->graph, marks);
    _cleanup_vector_ object_vector firsts = {0};
    TRY_MEMORY(copy);
    marker->marks = copy;
    struct g2h_error *error = find_firsts(garbage, &firsts);
    marker->marks = marks; /* also after an error: the caller frees these, and copy is freed here */
    TRY(error);
    while (firsts.count > 0) {
        const uint32_t object = firsts.data[--firsts.count];
        if (is_marked(marks, object))
            continue;
        TRY(add_head(garbage, object));
        TRY(marker_drain(marker));
    }
    return NULL;
}

/* Hangs all garbage: first the objects that no other garbage points to, then cycles. */
static struct g2h_error *hang_garbage(struct garbage *garbage)
{
    struct g2h_graph *graph = garbage->graph;
    const uint64_t *marks = garbage->marker->marks;
    const uint32_t objects = graph->heap->object_count;
    _cleanup_free_ uint64_t *held = zeroed_alloc(objects / 64 + 1, sizeof(*held));
    TRY_MEMORY(held);
    reach_find_held(graph, marks, held);
    /* Marks only the heads until all are found: none of them is held by another one. */
    for (uint32_t object = 0; (object = next_unmarked(marks, object, objects)) < objects; object++)
        if (!is_marked(held, object))
            TRY(add_head(garbage, object));
    TRY(marker_drain(garbage->marker));
    return hang_cycles(garbage); /* whose objects all have a holder */
}

/* Adds the objects that have no mark, and their bytes, to the account. */
static void count_garbage(struct g2h_graph *graph, const uint64_t *marks)
{
    const uint32_t objects = graph->heap->object_count;
    for (uint32_t object = 0; (object = next_unmarked(marks, object, objects)) < objects;
         object++) {
        graph->account.unreachable_objects++;
        graph->account.unreachable_bytes += heap_object_size(graph->heap, object);
    }
}

/* Adds the node "(unreachable)" below the root. Returns false if memory runs out. */
static bool add_unreachable(struct g2h_graph *graph, uint32_t *ret)
{
    const char *text =
        g2h_heap_sample(graph->heap) ? "(held by what was not read)" : "(unreachable)";
    uint32_t name;
    return names_add_node(&graph->names, text, strlen(text), &name) &&
           roots_add_node(&graph->roots, G2H_NODE_UNREACHABLE, 0, name, ret) &&
           graph_add_edge(graph, node_synthetic(0), EDGE_ELEMENT,
                          root_group_index(G2H_NODE_UNREACHABLE), node_synthetic(*ret));
}

/* Returns a bit per object, set if it has an owner; or NULL if memory runs out. Only what the
 * program's variables reach has an owner yet (tiers_find_program()), so these are the marks to
 * begin with. */
static uint64_t *marks_from_owners(const struct g2h_graph *graph, const struct owners *owners)
{
    const uint32_t objects = graph->heap->object_count;
    uint64_t *marks = zeroed_alloc(objects / 64 + 1, sizeof(*marks));
    for (uint32_t i = 0; marks && i < objects; i++)
        marks[i / 64] |= (uint64_t)(owners->of_object[i] != OWNER_NONE) << (i % 64);
    return marks;
}

static void free_marker(struct marker *marker)
{
    free(marker->marks);
    marker_deinit(marker);
}

/* Removes the objects that are not marked, which are garbage, from the waiters: among garbage,
 * records of waiting goroutines are objects like others. */
static void forget_waiters(struct g2h_graph *graph, const uint64_t *marks)
{
    uint64_t *waiters = graph->tiers.waiters;
    for (size_t i = 0; waiters && i <= graph->heap->object_count / 64; i++)
        waiters[i] &= marks[i];
}

/* Records the name of the global variable that has the lock on which a goroutine waits, or that
 * leads there; if there is none, the address. */
static struct g2h_error *add_outside_lock(struct g2h_graph *graph, const struct leaked_wait *wait)
{
    _cleanup_(text_deinit) struct text text = {0};
    const struct root_sources sources = {
        .heap = graph->heap, .exe = graph->exe, .typing = graph->typing, .names = &graph->names};
    struct g2h_bytes variable;
    uint64_t offset;
    uint32_t name;
    if (graph->exe && g2h_exe_variable(graph->exe, wait->address, &variable, &offset))
        text_append_name(&text, &graph->names, variable.data, variable.size, NAME_LIMIT);
    else if (!roots_append_lock(&sources, wait->address, &text))
        text_printf(&text, "0x%llx", (unsigned long long)wait->address);
    TRY_MEMORY(!text.failed &&
               string_pool_intern(&graph->leaked.names, text.data, text.size, &name) &&
               map_put(&graph->leaked.variables, wait->goroutine, name, &name));
    return NULL;
}

/* Adds edges from goroutines to the locks on which they wait. They are weak: a goroutine does not
 * own its lock. */
static struct g2h_error *add_locks(struct g2h_graph *graph)
{
    uint32_t name;
    VECTOR_EACH(const struct leaked_wait, wait, graph->leaked.waits) {
        if (wait->object == NO_TARGET) {
            TRY(add_outside_lock(graph, wait));
            continue;
        }
        TRY_MEMORY(names_add_label(&graph->names, "waiting on", strlen("waiting on"), &name) &&
                   graph_add_edge(graph, node_synthetic(wait->goroutine), EDGE_WEAK, name,
                                  node_object(wait->object)));
    }
    return NULL;
}

/* Finds the leaked goroutines, and hangs everything that is not marked below "(unreachable)". */
static struct g2h_error *add_garbage(struct g2h_graph *graph, struct marker *marker)
{
    struct garbage garbage = {.graph = graph, .marker = marker};
    TRY(leaked_find(graph, marker->marks, &graph->leaked));
    TRY(add_locks(graph));
    count_garbage(graph, marker->marks);
    if (graph->account.unreachable_objects == 0)
        return NULL;
    /* hang_garbage() marks the garbage, too. */
    graph->live = copy_marks(graph, marker->marks);
    TRY_MEMORY(graph->live && add_unreachable(graph, &garbage.node) &&
               vector_push(&graph->owners,
                           ((struct graph_owner){garbage.node, graph->account.unreachable_bytes})));
    return hang_garbage(&garbage);
}

/* Finds tiers, owners and garbage, in the order that the top of this file explains. */
static struct g2h_error *reach_in_order(struct g2h_graph *graph, struct owners *owners,
                                        struct boundaries *boundaries)
{
    bool is_changed = false;
    TRY(graph_add_same_holders(graph));
    TRY(owners_init(owners, graph));
    TRY(tiers_init(&graph->tiers, graph, boundaries));
    TRY(tiers_find_program(graph, owners, boundaries));
    _cleanup_(free_marker) struct marker marker = {.targets = graph->targets,
                                                   .waiters = graph->tiers.waiters,
                                                   .marks = marks_from_owners(graph, owners),
                                                   .threads = graph->threads};
    TRY_MEMORY(marker.marks);
    TRY(reach_mark_living(graph, &marker, owners, boundaries, &is_changed));
    forget_waiters(graph, marker.marks);
    TRY(tiers_find_others(graph, owners, boundaries, marker.marks, is_changed));
    return add_garbage(graph, &marker);
}

/* Marks what the roots reach, finds owners, decides the tentative edges, and hangs the garbage
 * below its node. Before that adds the name "element", which weak edges get in place of an index
 * (weak_element). The boundaries, where walks end, are needed only here. */
struct g2h_error *graph_reach(struct g2h_graph *graph, struct owners *owners)
{
    struct boundaries boundaries = {0};
    struct g2h_error *error =
        names_add_label(&graph->names, "element", strlen("element"), &graph->weak_element)
            ? reach_in_order(graph, owners, &boundaries)
            : &error_no_memory;
    boundaries_deinit(&boundaries);
    return error;
}
