/*
 * same_holder: holds objects of a sample of a heap that nothing else that was read leads to.
 *
 * What holds an object in the middle of a long list is too many pointers away to be read. But if
 * all objects of its class that the roots do reach are reached from one variable, and what points
 * to it is, as far as it was read, of its class too, then it is another element of what that
 * variable holds, and gets an edge from there. Others stay without a holder: which one is not
 * known.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "graph/graph.h"

struct same_holder {
    struct g2h_graph *graph;
    uint32_t *from; /* by object: the edge of roots.edges that reaches it first; MAP_NONE: none */
    uint64_t
        *others; /* a bit per object that one of another class points to, and nothing reaches */
    struct map holders; /* class → edge that reaches its objects, or AMBIGUOUS */
    VECTOR(uint32_t) queue;
};

enum { AMBIGUOUS = INT32_MAX };

static void same_holder_deinit(struct same_holder *finder)
{
    free(finder->from);
    free(finder->others);
    map_deinit(&finder->holders);
    free(finder->queue.data);
}

/* Marks an object as reached from an edge, and queues it, unless another edge has reached it
 * before. Returns false if memory runs out. */
static bool same_holder_reach(struct same_holder *finder, uint32_t object, uint32_t edge)
{
    if (finder->from[object] != MAP_NONE)
        return true;
    finder->from[object] = edge;
    return vector_push(&finder->queue, object);
}

/* Finds from which edge of a root each object is reached first, breadth-first. Only edges that hold
 * their target count, and of the roots' edges those before AMBIGUOUS. Returns false if memory runs
 * out. */
static bool same_holder_reach_all(struct same_holder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    const struct roots *roots = &graph->roots;
    for (uint32_t i = 0; i < roots->edges.count && i < AMBIGUOUS; i++) {
        const struct edge *edge = &roots->edges.data[i];
        if (edge->source.of == OF_SYNTHETIC && edge->target.of == OF_OBJECT &&
            roots_edge_holds(edge) && !same_holder_reach(finder, edge->target.index, i))
            return false;
    }
    for (size_t at = 0; at < finder->queue.count; at++) {
        const uint32_t object = finder->queue.data[at], *end,
                       *target = object_targets(graph, object, &end);
        for (; target < end; target++)
            if (*target != NO_TARGET && !same_holder_reach(finder, *target, finder->from[object]))
                return false;
    }
    return true;
}

/* Returns whether two edges are of one variable. */
static bool is_same_variable(const struct g2h_graph *graph, uint32_t one, uint32_t other)
{
    const struct edge *a = &graph->roots.edges.data[one];
    const struct edge *b = &graph->roots.edges.data[other];
    return a->source.index == b->source.index &&
           (a->name == b->name ||
            graph->roots.nodes.data[a->source.index].kind == G2H_NODE_VARIABLE);
}

/* Finds the classes whose objects one variable reaches; classes that several reach become
 * AMBIGUOUS. Objects that no variable reaches (MAP_NONE) do not count. Returns false if memory runs
 * out. */
static bool same_holder_find(struct same_holder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        const uint32_t class = names_of_object(&graph->names, i);
        const uint32_t from = finder->from[i];
        uint32_t known = from;
        if (from == MAP_NONE)
            continue;
        if (!map_put(&finder->holders, class, from, &known))
            return false;
        if (known != AMBIGUOUS && !is_same_variable(graph, known, from))
            map_set(&finder->holders, class, AMBIGUOUS);
    }
    return true;
}

/* Marks the objects that unreached ones of another class point to. */
static void same_holder_find_others(struct same_holder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        const uint32_t *end;
        const uint32_t *target = object_targets(graph, i, &end);
        for (; target < end && finder->from[i] == MAP_NONE; target++)
            if (*target != NO_TARGET &&
                names_of_object(&graph->names, *target) != names_of_object(&graph->names, i))
                bits_add(finder->others, *target);
    }
}

/* Adds an edge to each object that none of the edges reaches, unless one of another class points to
 * it: from the one holder that reaches the objects of its class, if that is known, with the same
 * name. Returns false if memory runs out. */
static bool same_holder_add(struct same_holder *finder)
{
    struct g2h_graph *graph = finder->graph;
    for (uint32_t i = 0; i < graph->heap->object_count; i++) {
        if (finder->from[i] != MAP_NONE || bits_have(finder->others, i))
            continue;
        const uint32_t holder = map_get(&finder->holders, names_of_object(&graph->names, i));
        if (holder == MAP_NONE || holder == AMBIGUOUS)
            continue;
        const struct edge edge = graph->roots.edges.data[holder];
        if (!graph_add_edge(graph, edge.source, edge.type, edge.name, node_object(i)))
            return false;
    }
    return true;
}

/* Adds edges to sampled objects whose holder was not read but is known from objects like them. Only
 * for a sample of a heap with types. */
struct g2h_error *graph_add_same_holders(struct g2h_graph *graph)
{
    const uint32_t objects = graph->heap->object_count;
    _cleanup_(same_holder_deinit) struct same_holder finder = {.graph = graph};
    if (!g2h_heap_sample(graph->heap) || !graph->typing)
        return NULL;
    finder.from = malloc(count_and_end(objects) * sizeof(*finder.from));
    finder.others = calloc(objects / 64 + 1, sizeof(*finder.others));
    TRY_MEMORY(finder.from && finder.others);
    for (uint32_t i = 0; i < objects; i++)
        finder.from[i] = MAP_NONE;
    TRY_MEMORY(same_holder_reach_all(&finder) && same_holder_find(&finder));
    same_holder_find_others(&finder);
    TRY_MEMORY(same_holder_add(&finder));
    return NULL;
}
