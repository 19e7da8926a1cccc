/*
 * reach: finds the objects that the roots hold, and what holds the others.
 *
 * WriteHeapDump runs no collection, so a dump contains garbage. Marking, as in the collector, finds
 * the objects that strong edges reach, and by which of the roots' groups. Then the tentative edges
 * are decided: words of a frame that may hold a stack object, objects with a finalizer. Then come
 * the objects that cleanups keep. Whatever is left is garbage; as few objects of it as possible,
 * its heads, become children of "(unreachable)".
 */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "graph/graph.h"
#include "graph/mark.h"
#include "graph/owners.h"

static struct g2h_error *mark_from_roots(struct marker *marker, const struct g2h_graph *graph,
                                         const struct owners *owners)
{
    for (size_t i = 0; i < graph->roots.edges.count; i++) {
        const struct edge *edge = &graph->roots.edges.data[i];
        if (edge->source.of != OF_SYNTHETIC || edge->target.of != OF_OBJECT ||
            edge->type == EDGE_WEAK || edge->type == EDGE_TENTATIVE)
            continue;
        marker->owner = owners->of_synthetic[edge->source.index] & ~OWNER_FIXED;
        TRY_MEMORY(marker_push(marker, edge->target.index));
    }
    return marker_drain(marker);
}

/* Decides all tentative edges by the same marks, so that their order does not matter. */
static struct g2h_error *decide_tentative(struct marker *marker, struct g2h_graph *graph,
                                          const struct owners *owners)
{
    for (size_t i = 0; i < graph->roots.edges.count; i++)
        if (graph->roots.edges.data[i].type == EDGE_TENTATIVE)
            graph->roots.edges.data[i].type =
                marker_has(marker, graph->roots.edges.data[i].target.index) ? EDGE_WEAK
                                                                            : EDGE_INTERNAL;
    return mark_from_roots(marker, graph, owners);
}

/* ---- garbage ---- */

struct garbage {
    struct g2h_graph *graph;
    struct marker *marker;
    uint32_t node, heads;
};

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
static void find_held(const struct g2h_graph *graph, const uint64_t *marks, uint64_t *held)
{
    const uint32_t objects = graph->heap->object_count;
    for (uint32_t object = 0; (object = next_unmarked(marks, object, objects)) < objects;
         object++) {
        const uint32_t *end, *target = object_targets(graph, object, &end);
        for (; target < end; target++)
            if (*target != NO_TARGET && *target != object)
                held[*target / 64] |= (uint64_t)1 << (*target % 64);
    }
}

typedef VECTOR(uint32_t) object_vector;

static uint64_t *copy_marks(const struct g2h_graph *graph, const uint64_t *marks)
{
    const size_t size = ((size_t)graph->heap->object_count / 64 + 1) * sizeof(*marks);
    uint64_t *copy = block_alloc(1, size);
    return copy ? memcpy(copy, marks, size) : NULL;
}

/* Takes each unmarked object in turn, appends it to ret, and marks what it reaches, so that ret
 * gets the objects that no earlier one of them reaches. The marks are a copy of the real ones. */
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

static void objects_deinit(object_vector *objects)
{
    free(objects->data);
}

/*
 * Hangs the garbage that is left: cycles, and the objects that they reach. find_firsts() gives
 * objects in any order. Of these, taken backwards, the ones that no later one reaches are heads,
 * one for each cycle that nothing else points into: an object that reaches the last of them is also
 * reached by it.
 */
static struct g2h_error *hang_cycles(struct garbage *garbage)
{
    struct marker *marker = garbage->marker;
    uint64_t *marks = marker->marks;
    _cleanup_free_ uint64_t *copy = copy_marks(garbage->graph, marks);
    _cleanup_(objects_deinit) object_vector firsts = {0};
    TRY_MEMORY(copy);
    marker->marks = copy;
    struct g2h_error *error = find_firsts(garbage, &firsts);
    marker->marks = marks;
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

/* Hangs all garbage: first the objects to which no other garbage points, then cycles. */
static struct g2h_error *hang_garbage(struct garbage *garbage)
{
    struct g2h_graph *graph = garbage->graph;
    const uint64_t *marks = garbage->marker->marks;
    const uint32_t objects = graph->heap->object_count;
    _cleanup_free_ uint64_t *held = zeroed_alloc((size_t)objects / 64 + 1, sizeof(*held));
    TRY_MEMORY(held);
    find_held(graph, marks, held);
    for (uint32_t object = 0; (object = next_unmarked(marks, object, objects)) < objects; object++)
        if (!is_marked(held, object))
            TRY(add_head(garbage, object));
    TRY(marker_drain(garbage->marker));
    return hang_cycles(garbage);
}

static void count_garbage(struct g2h_graph *graph, const uint64_t *marks)
{
    const uint32_t objects = graph->heap->object_count;
    for (uint32_t object = 0; (object = next_unmarked(marks, object, objects)) < objects;
         object++) {
        graph->account.unreachable_objects++;
        graph->account.unreachable_bytes += heap_object_size(graph->heap, object);
    }
}

static bool add_unreachable(struct g2h_graph *graph, uint32_t *ret)
{
    static const char text[] = "(unreachable)";
    uint32_t name;
    return names_add_node(&graph->names, (const uint8_t *)text, sizeof(text) - 1, &name) &&
           roots_add_node(&graph->roots, G2H_NODE_UNREACHABLE, 0, name, ret) &&
           graph_add_edge(graph, node_synthetic(0), EDGE_ELEMENT,
                          root_group_index(G2H_NODE_UNREACHABLE), node_synthetic(*ret));
}

/* Returns a bit per object, set if it has an owner; or NULL if memory runs out. */
static uint64_t *marks_of(const struct g2h_graph *graph, const struct owners *owners)
{
    const uint32_t objects = graph->heap->object_count;
    uint64_t *marks = zeroed_alloc((size_t)objects / 64 + 1, sizeof(*marks));
    for (uint32_t i = 0; marks && i < objects; i++)
        marks[i / 64] |= (uint64_t)(owners->of_object[i] != OWNER_NONE) << (i % 64);
    return marks;
}

static struct g2h_error *mark_living(struct g2h_graph *graph, struct owners *owners)
{
    _cleanup_(marker_deinit) struct marker marker = {
        .targets = graph->targets, .owners = owners->of_object, .threads = graph->threads};
    TRY(mark_from_roots(&marker, graph, owners));
    TRY(decide_tentative(&marker, graph, owners));
    marker.owner = OWNER_CLEANUPS;
    TRY(graph_add_cleanups(graph, &marker));
    return owners_own_cleanups(owners, graph);
}

static void free_marker(struct marker *marker)
{
    free(marker->marks);
    marker_deinit(marker);
}

struct g2h_error *graph_reach(struct g2h_graph *graph, struct owners *owners)
{
    _cleanup_(free_marker) struct marker marker = {.targets = graph->targets,
                                                   .threads = graph->threads};
    struct garbage garbage = {.graph = graph, .marker = &marker};
    TRY(owners_init(owners, graph));
    TRY(mark_living(graph, owners));
    marker.marks = marks_of(graph, owners);
    TRY_MEMORY(marker.marks);
    count_garbage(graph, marker.marks);
    if (graph->account.unreachable_objects == 0)
        return NULL;
    graph->live = copy_marks(graph, marker.marks);
    TRY_MEMORY(graph->live &&
               names_add_label(&graph->names, "element", strlen("element"), &graph->weak_element) &&
               add_unreachable(graph, &garbage.node) &&
               vector_push(&graph->owners,
                           ((struct graph_owner){garbage.node, graph->account.unreachable_bytes})));
    return hang_garbage(&garbage);
}
