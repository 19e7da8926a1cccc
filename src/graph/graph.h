/*
 * graph: nodes and edges: what the roots hold, what holds what, and what is garbage.
 *
 * Two kinds of nodes, in this order: synthetic ones (the root, the roots' groups, goroutines,
 * frames …), and the heap's objects in the order of their addresses. Edges of synthetic nodes are
 * kept. Of the edges between objects only the targets are, 32 bits each, in the order of the
 * source's field list; what else there is to say of such an edge is read again from the dump
 * whenever it is gone along.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <go2heapsnapshot/graph.h>

#include "graph/owner_numbers.h"
#include "naming/names.h"
#include "roots/roots.h"

/* A group of the roots, and what it alone reaches; see owners.h. */
struct graph_owner {
    uint32_t node; /* UINT32_MAX: there is no such group */
    uint64_t bytes;
};

/* What several groups hold together directly, ascending, and what it is called by them. */
struct sharing {
    uint32_t count;
    uint32_t *nodes, *names; /* of the graph; of texts, MAP_NONE: none */
    struct string_pool texts;
};

struct g2h_graph {
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;     /* may be NULL */
    const struct typing *typing;   /* NULL: without an executable */
    const struct targets *targets; /* of the pointers between objects: typing's, or own_targets */
    struct targets own_targets;
    unsigned threads;
    struct g2h_graph_account account;
    struct g2h_type_account type_account; /* only with typing */
    struct names names;
    struct roots roots; /* its edges move to children */

    /* The roots' edges by source, once graph_fill_children() has run: those of synthetic nodes,
     * then those of objects, which are no pointers. */
    struct edge *children;
    uint64_t child_count;
    uint64_t *first_child;       /* by synthetic node, one entry more */
    uint64_t first_object_child; /* from here on: edges of objects, by object */

    uint64_t *live;        /* a bit per object that the roots reach; NULL where they reach all */
    uint32_t weak_element; /* string: what a weak edge is called that would be an element */

    VECTOR(struct graph_owner) owners;
    struct owners node_owners; /* for regions.h */
    struct sharing sharing;
};

static inline uint32_t graph_synthetics(const struct g2h_graph *graph)
{
    return (uint32_t)graph->roots.nodes.count;
}

static inline uint32_t graph_node_count(const struct g2h_graph *graph)
{
    return graph_synthetics(graph) + graph->heap->object_count;
}

/* The number of a node, once all synthetic ones are there. */
static inline uint32_t graph_node_number(const struct g2h_graph *graph, struct node node)
{
    return node.of == OF_SYNTHETIC ? node.index : graph_synthetics(graph) + node.index;
}

/* The bytes that a node has itself. */
static inline uint64_t graph_node_size(const struct g2h_graph *graph, uint32_t node)
{
    const uint32_t synthetics = graph_synthetics(graph);
    return node < synthetics ? graph->roots.nodes.data[node].size
                             : heap_object_size(graph->heap, node - synthetics);
}

/* The targets of an object: *ret_end - the result of them. */
static inline const uint32_t *object_targets(const struct g2h_graph *graph, uint32_t object,
                                             const uint32_t **ret_end)
{
    return targets_of(graph->targets, object, ret_end);
}

/* Whether the roots do not reach an object. */
static inline bool graph_is_garbage(const struct g2h_graph *graph, uint32_t object)
{
    return graph->live && (graph->live[object / 64] >> (object % 64) & 1) == 0;
}

/*
 * Whether a pointer between two objects holds nothing: garbage does not hold what the roots reach,
 * and must not take away from the retained size of what does.
 */
static inline bool is_weak_pointer(const struct g2h_graph *graph, uint32_t source, uint32_t target)
{
    return graph_is_garbage(graph, source) && !graph_is_garbage(graph, target);
}

/* Adds an edge; false where there is no memory. */
static inline bool graph_add_edge(struct g2h_graph *graph, struct node source, enum edge_type type,
                                  uint32_t name, struct node target)
{
    return roots_add_edge(&graph->roots, source, type, name, target);
}

/* ---- what nothing reaches (reach.c) ---- */

/*
 * Marks what the strong edges reach, and finds its owners; decides the tentative ones; hangs what
 * is left under the synthetic node "(unreachable)", which it adds below the root.
 */
struct g2h_error *graph_reach(struct g2h_graph *graph, struct owners *owners);

/* ---- what the runtime keeps by records that are in no dump (cleanups.c) ---- */

struct marker;

/* Hangs objects of cleanups and weak pointers that are not marked under "(cleanups)", and marks
 * them. */
struct g2h_error *graph_add_cleanups(struct g2h_graph *graph, struct marker *marker);

/* ---- weak edges of maps and weak pointers (shortcuts.c) ---- */
struct g2h_error *graph_add_shortcuts(struct g2h_graph *graph);

/* ---- edges by source (children.c) ---- */
struct g2h_error *graph_fill_children(struct g2h_graph *graph);

/* Adds edges to a synthetic node once edges are in their order, behind those that it has. */
struct g2h_error *graph_insert_children(struct g2h_graph *graph, uint32_t source,
                                        const struct edge *edges, size_t count);

/* Adds a synthetic node then, which has no edges yet. */
struct g2h_error *graph_append_node(struct g2h_graph *graph, enum g2h_node_kind kind, uint32_t name,
                                    uint32_t *ret);

/* ---- what the roots' groups hold together (several.c) ---- */

/* Sums up what each group owns, and hangs what several hold under "(held by several)", weakly. */
struct g2h_error *graph_add_several(struct g2h_graph *graph, struct owners *owners);

/* The first of the objects' own edges that belongs to object or a later one. */
uint64_t graph_object_child(const struct g2h_graph *graph, uint32_t object);

/* Whether child is one of the object's own edges. */
static inline bool graph_is_child_of(const struct g2h_graph *graph, uint64_t child, uint32_t object)
{
    return child < graph->child_count && graph->children[child].source.index == object;
}

#endif
