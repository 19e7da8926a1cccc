/*
 * children: the roots' edges in the order of the snapshot.
 *
 * A snapshot's edges are ordered by source, in the order of the nodes; the edges of one source are
 * in the order in which they were added. V8's HeapSnapshot::FillChildren sorts by counting: each
 * node's first slot is the number of children of all nodes before it, and then every edge goes to
 * the next free slot of its source. The edges of synthetic nodes are sorted in this way. The edges
 * of objects that are not pointers are few and belong to many objects, so they are sorted by
 * comparison; comparing the edge's number as well keeps the order in which they were added.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/port.h"
#include "graph/graph.h"

/* Space for edges that graph_insert_children() adds: the array may take gigabytes. */
enum { MORE_CHILDREN = 4096 };

struct arrival {
    uint32_t object;
    size_t number; /* in graph->roots.edges */
};

/* Orders by object, and then by the order in which the edges were added. */
static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *one = a;
    const struct arrival *other = b;
    if (one->object != other->object)
        return COMPARE(one->object, other->object);
    return COMPARE(one->number, other->number);
}

/* Returns whether the edges are in the order of their sources, each in its node's range. */
static _asserted_ bool children_are_in_order(const struct g2h_graph *graph)
{
    const size_t nodes = graph->roots.nodes.count;
    if (graph->first_child[0] != 0 || graph->first_child[nodes] != graph->first_object_child)
        return false;
    for (uint32_t node = 0; node < nodes; node++)
        for (uint64_t i = graph->first_child[node]; i < graph->first_child[node + 1]; i++)
            if (graph->children[i].source.of != OF_SYNTHETIC ||
                graph->children[i].source.index != node)
                return false;
    for (uint64_t i = graph->first_object_child; i < graph->child_count; i++)
        if (graph->children[i].source.of != OF_OBJECT ||
            (i > graph->first_object_child &&
             graph->children[i - 1].source.index > graph->children[i].source.index))
            return false;
    return true;
}

/* Moves the edges of roots to an array by source. Sorts by counting, as described above: next[i] is
 * the index of node i's next edge. It begins one entry further on, so that it is first_child once
 * all edges are placed. The edges of objects come last, by the number of the object, which
 * graph_object_child() searches for; they are few, so they are sorted by comparing. */
struct g2h_error *graph_fill_children(struct g2h_graph *graph)
{
    const size_t nodes = graph->roots.nodes.count;
    const size_t edges = graph->roots.edges.count;
    assert(!graph->children && !graph->first_child);
    struct arrival *arrivals = NULL;
    size_t arrived = 0;

    graph->child_capacity = edges + MORE_CHILDREN;
    graph->children = block_alloc((size_t)graph->child_capacity, sizeof(*graph->children));
    graph->first_child = zeroed_alloc(nodes + 2, sizeof(*graph->first_child));
    if (!graph->children || !graph->first_child)
        return &error_no_memory;
    uint64_t *next =
        graph->first_child + 1; /* while edges are placed: where each node's next goes */
    VECTOR_EACH(const struct edge, edge, graph->roots.edges)
        if (edge->source.of == OF_SYNTHETIC)
            next[edge->source.index + 1]++;
        else
            arrived++;
    for (size_t i = 1; i <= nodes; i++) /* counts become sums: where each node's edges begin */
        next[i] += next[i - 1];
    graph->first_object_child = next[nodes];

    arrivals = block_alloc(arrived + 1, sizeof(*arrivals));
    if (!arrivals)
        return &error_no_memory;
    arrived = 0;
    for (size_t i = 0; i < edges; i++) {
        const struct edge *edge = &graph->roots.edges.data[i];
        if (edge->source.of == OF_SYNTHETIC)
            graph->children[next[edge->source.index]++] = *edge;
        else
            arrivals[arrived++] = (struct arrival){edge->source.index, i};
    }
    if (arrived > 0)
        qsort(arrivals, arrived, sizeof(*arrivals), compare_arrivals);
    for (size_t i = 0; i < arrived; i++)
        graph->children[graph->first_object_child + i] =
            graph->roots.edges.data[arrivals[i].number];
    free(arrivals);
    graph->child_count = edges;
    free(graph->roots.edges.data);
    graph->roots.edges.data = NULL;
    graph->roots.edges.capacity = graph->roots.edges.count = 0;
    assert(children_are_in_order(graph));
    return NULL;
}

/* Returns the index in graph->children of the first edge whose source is object or a later
 * object. */
uint64_t graph_object_child(const struct g2h_graph *graph, uint32_t object)
{
    uint64_t at;
    assert(object <= graph->heap->object_count);
    BISECT_FROM(at, graph->first_object_child, graph->child_count,
                graph->children[at].source.index < object);
    return at;
}

/* Adds a node without edges after all others: its range of children is empty. */
struct g2h_error *graph_append_node(struct g2h_graph *graph, enum g2h_node_kind kind, uint32_t name,
                                    uint32_t *ret)
{
    const size_t nodes = graph->roots.nodes.count;
    assert(graph->first_child); /* graph_fill_children() has run */
    uint64_t *first = reallocarray(graph->first_child, nodes + 2, sizeof(*graph->first_child));
    TRY_MEMORY(first);
    graph->first_child = first;
    first[nodes + 1] = graph->first_object_child;
    TRY_MEMORY(roots_add_node(&graph->roots, kind, 0, name, ret));
    return NULL;
}

/* Adds edges to a node whose edges are in the array already. Moves all later edges up to make
 * space; the array has some in reserve, because it may take gigabytes. */
struct g2h_error *graph_insert_children(struct g2h_graph *graph, uint32_t source,
                                        const struct edge *edges, size_t count)
{
    assert(graph->first_child && source < graph->roots.nodes.count);
    const uint64_t at = graph->first_child[source + 1];
    struct edge *children = graph->children;
    if (graph->child_capacity - graph->child_count < count) {
        const uint64_t capacity = graph->child_count + count + MORE_CHILDREN;
        children = reallocarray(children, (size_t)capacity, sizeof(*children));
        TRY_MEMORY(children);
        graph->children = children;
        graph->child_capacity = capacity;
    }
    memmove(&children[at + count], &children[at],
            (size_t)(graph->child_count - at) * sizeof(*children));
    memcpy(&children[at], edges, count * sizeof(*edges));
    for (size_t i = source + 1; i <= graph->roots.nodes.count; i++)
        graph->first_child[i] += count;
    graph->first_object_child += count;
    graph->child_count += count;
    assert(children_are_in_order(graph));
    return NULL;
}
