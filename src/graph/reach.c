/*
 * reach: which objects the roots hold, and what holds the others.
 *
 * WriteHeapDump runs no collection, so a dump has garbage. Objects that no strong edge reaches are
 * found by marking, as the collector does it. Then tentative edges are decided: words of a frame
 * that may hold a stack object, objects with a finalizer. Then what cleanups keep. Whatever is left
 * is garbage; as few of it as possible, its heads, become children of "(unreachable)".
 */
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "graph/mark.h"

static struct g2h_error *mark_from_roots(struct marker *marker, const struct g2h_graph *graph)
{
    for (size_t i = 0; i < graph->roots.edges.count; i++) {
        const struct edge *edge = &graph->roots.edges.data[i];
        if (edge->source.of == OF_SYNTHETIC && edge->target.of == OF_OBJECT &&
            edge->type != EDGE_WEAK && edge->type != EDGE_TENTATIVE &&
            !marker_push(marker, edge->target.index))
            return &error_no_memory;
    }
    return marker_drain(marker);
}

/* All are decided by the same marks, so the result does not depend on their order. */
static struct g2h_error *decide_tentative(struct marker *marker, struct g2h_graph *graph)
{
    for (size_t i = 0; i < graph->roots.edges.count; i++)
        if (graph->roots.edges.data[i].type == EDGE_TENTATIVE)
            graph->roots.edges.data[i].type =
                is_marked(marker->marks, graph->roots.edges.data[i].target.index) ? EDGE_WEAK
                                                                                  : EDGE_INTERNAL;
    return mark_from_roots(marker, graph);
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

/* A bit for each object that unmarked objects other than itself point to. */
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

static uint64_t *copy_marks(const struct g2h_graph *graph, const uint64_t *marks)
{
    const size_t size = ((size_t)graph->heap->object_count / 64 + 1) * sizeof(*marks);
    uint64_t *copy = malloc(size);
    return copy ? memcpy(copy, marks, size) : NULL;
}

/*
 * What is left are cycles and what they reach. Marking from each object in turn, in any order,
 * gives objects that were not reached from an earlier one; of them, taken backwards, those that no
 * later one reaches are heads, one for each cycle that nothing else points into: whatever reaches
 * the last of them is reached by it.
 */
static struct g2h_error *hang_cycles(struct garbage *garbage)
{
    struct marker *marker = garbage->marker;
    const uint32_t objects = garbage->graph->heap->object_count;
    uint64_t *marks = marker->marks;
    VECTOR(uint32_t) firsts = {0};
    struct g2h_error *error = NULL;

    marker->marks = copy_marks(garbage->graph, marks);
    if (!marker->marks) {
        marker->marks = marks;
        return &error_no_memory;
    }
    for (uint32_t object = 0;
         !error && (object = next_unmarked(marker->marks, object, objects)) < objects; object++)
        error = vector_push(&firsts, object) && marker_push(marker, object) ? marker_drain(marker)
                                                                            : &error_no_memory;
    free(marker->marks);
    marker->marks = marks;
    while (firsts.count > 0 && !error) {
        uint32_t object = firsts.data[--firsts.count];
        if (is_marked(marks, object))
            continue;
        error = add_head(garbage, object);
        if (!error)
            error = marker_drain(marker);
    }
    free(firsts.data);
    return error;
}

/* First the objects that no garbage points to. */
static struct g2h_error *hang_garbage(struct garbage *garbage)
{
    struct g2h_graph *graph = garbage->graph;
    const uint64_t *marks = garbage->marker->marks;
    const uint32_t objects = graph->heap->object_count;
    uint64_t *held = calloc((size_t)objects / 64 + 1, sizeof(*held));
    struct g2h_error *error = held ? NULL : &error_no_memory;
    if (!error)
        find_held(graph, marks, held);
    for (uint32_t object = 0; !error && (object = next_unmarked(marks, object, objects)) < objects;
         object++)
        if (!is_marked(held, object))
            error = add_head(garbage, object);
    if (!error)
        error = marker_drain(garbage->marker);
    if (!error)
        error = hang_cycles(garbage);
    free(held);
    return error;
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

struct g2h_error *graph_reach(struct g2h_graph *graph)
{
    struct marker marker = {.targets = graph->targets, .threads = graph->threads};
    struct garbage garbage = {.graph = graph, .marker = &marker};
    marker.marks = calloc((size_t)graph->heap->object_count / 64 + 1, sizeof(*marker.marks));
    struct g2h_error *error = marker.marks ? mark_from_roots(&marker, graph) : &error_no_memory;
    if (!error)
        error = decide_tentative(&marker, graph);
    if (!error)
        error = graph_add_cleanups(graph, &marker);
    if (!error) {
        count_garbage(graph, marker.marks);
        if (graph->account.unreachable_objects > 0) {
            graph->live = copy_marks(graph, marker.marks);
            if (!graph->live ||
                !names_add_label(&graph->names, "element", strlen("element"),
                                 &graph->weak_element) ||
                !add_unreachable(graph, &garbage.node))
                error = &error_no_memory;
            else
                error = hang_garbage(&garbage);
        }
    }
    free(marker.marks);
    marker_deinit(&marker);
    return error;
}
