/*
 * graph: the graph of a heap: its nodes and edges, what the roots' groups own, and what is garbage.
 *
 * There are two kinds of nodes, in this order: synthetic ones (the root, the roots' groups,
 * goroutines, frames …), and the heap's objects in the order of their addresses. The graph stores
 * the edges of synthetic nodes. Of the edges between objects it stores only the targets, 32 bits
 * each, in the order of the source's field list; the name and offset of such an edge are read again
 * from the dump each time that the edge is visited.
 *
 *   graph, children     nodes and edges, in their order
 *   mark, tiers, owners, owner_numbers, reach, cleanups, pools
 *                       what is garbage, whether the program's variables, goroutines or other roots
 *                       hold the rest, and which of these
 *   leaked, leak_proof, lock_reach, hidden
 *                       the goroutines that can never run again; whether the heap proves it; to
 *                       which locks a pointer leads; which garbage may belong to cleanups
 *   same_holder         what holds objects of a sample that nothing leads to which was read
 *   shortcuts           weak edges that are not pointers
 *   chains              the elements of long lists, and where these begin
 *   held_together       the variables of a package that hold memory together
 *   never_run           the objects that their own finalizers and cleanups lead to
 *   capacities, capacities_visit, windows, whole
 *                       slices, strings and maps, and the parts of arrays that slices use
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <go2heapsnapshot/graph.h>

#include "base/contract.h"
#include "base/memory.h"
#include "graph/leaked.h"
#include "graph/owner_numbers.h"
#include "graph/tiers.h"
#include "naming/names.h"
#include "roots/roots.h"

/* A group of the roots, and the bytes that only this group reaches; see owners.h. */
struct graph_owner {
    uint32_t node; /* UINT32_MAX: the group has no node */
    uint64_t bytes;
};

/* The shared entries (several.h): the nodes that several groups hold together and that no
 * other such node dominates, ascending; and the name of each, made of its holders. */
struct sharing {
    uint32_t count;
    uint32_t *nodes, *names; /* graph nodes; string numbers in texts, or MAP_NONE */
    struct string_pool texts;
};

struct g2h_graph {
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;       /* may be NULL */
    const struct typing *typing;     /* NULL without an executable */
    const struct g2h_memory *memory; /* may be NULL */
    const struct targets *targets;   /* of pointers between objects: typing's, or own_targets */
    struct targets own_targets;
    unsigned threads;
    struct g2h_graph_account account;
    struct g2h_type_account type_account; /* only with typing */
    struct names names;
    struct roots roots; /* its edges move to children */

    /* The edges of roots.edges, sorted by source, once graph_fill_children() has run: first the
     * edges of synthetic nodes, then those edges of objects that are not pointers. */
    struct edge *children;
    uint64_t child_count, child_capacity; /* edges in children, and those that it has space for */
    uint64_t *first_child;                /* by synthetic node; one more entry than nodes */
    uint64_t first_object_child;          /* index of the first edge of an object */

    struct leaked leaked;

    uint64_t *live;        /* a bit per object that the roots reach; NULL if they reach all */
    struct tiers tiers;    /* the tier of each object */
    uint32_t weak_element; /* string: the name of a weak edge that would be an element */

    VECTOR(struct graph_owner) owners;
    struct owners node_owners; /* for regions.h */
    struct sharing sharing;
};

static inline uint32_t graph_synthetics(const struct g2h_graph *graph)
{
    return as_u32(graph->roots.nodes.count);
}

static inline uint32_t graph_node_count(const struct g2h_graph *graph)
{
    return graph_synthetics(graph) + graph->heap->object_count;
}

/* Returns a node's number. All synthetic nodes must have been added. */
static inline uint32_t graph_node_number(const struct g2h_graph *graph, struct node node)
{
    assert(node.index <
           (node.of == OF_SYNTHETIC ? graph_synthetics(graph) : graph->heap->object_count));
    return node.of == OF_SYNTHETIC ? node.index : graph_synthetics(graph) + node.index;
}

/* Returns a node's own size in bytes. */
static inline uint64_t graph_node_size(const struct g2h_graph *graph, uint32_t node)
{
    const uint32_t synthetics = graph_synthetics(graph);
    return node < synthetics ? graph->roots.nodes.data[node].size
                             : heap_object_size(graph->heap, node - synthetics);
}

/* Returns the first target of an object, and in *ret_end the end of its targets. */
static inline const uint32_t *object_targets(const struct g2h_graph *graph, uint32_t object,
                                             const uint32_t **ret_end)
{
    return targets_of(graph->targets, object, ret_end);
}

/* Returns whether an object is garbage: the roots do not reach it. */
static inline bool graph_is_garbage(const struct g2h_graph *graph, uint32_t object)
{
    return graph->live && !bits_have(graph->live, object);
}

/* Returns what an edge of graph->children or graph->roots does for its target. */
static inline enum hold graph_hold_as(const struct g2h_graph *graph, const struct edge *edge)
{
    if (edge->type == EDGE_WEAK || edge->type == EDGE_GROUPS)
        return HOLD_WEAK;
    if (edge->target.of == OF_SYNTHETIC)
        return HOLD_STRONG;
    const struct tier_source source =
        edge->source.of == OF_OBJECT
            ? tiers_source(&graph->tiers, edge->source.index)
            : (struct tier_source){(enum tier)graph->roots.nodes.data[edge->source.index].tier,
                                   false};
    return tiers_hold_as(&graph->tiers, source, edge->target.index);
}

/* Returns whether an edge holds its target, for dominators and retained sizes. */
static inline bool graph_holds(const struct g2h_graph *graph, const struct edge *edge)
{
    return graph_hold_as(graph, edge) == HOLD_STRONG;
}

/* Adds an edge. Returns false if memory runs out. */
static inline bool graph_add_edge(struct g2h_graph *graph, struct node source,
                                  enum roots_edge_type type, uint32_t name, struct node target)
{
    return roots_add_edge(&graph->roots, source, type, name, target);
}

/* ---- reachability and garbage (reach.c) ---- */

/*
 * Marks the objects that strong edges reach, and finds their owners; decides the tentative edges;
 * hangs the remaining objects below the synthetic node "(unreachable)", which it adds below the
 * root.
 */
struct g2h_error *graph_reach(struct g2h_graph *graph, struct owners *owners);

/* ---- what holds objects of a sample (same_holder.c) ---- */

/* In a sample, adds edges to objects that nothing which was read leads to, if it is known all the
 * same which variable holds them. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *graph_add_same_holders(struct g2h_graph *graph);

struct marker;

/* ---- objects that the runtime keeps by records that are in no dump (cleanups.c) ---- */

/* Hangs the unmarked objects of cleanups and weak pointers below "(cleanups)", and marks them. */
struct g2h_error *graph_add_cleanups(struct g2h_graph *graph, struct marker *marker);

/* ---- what pools cache (pools.c) ---- */

/* Makes "(sync.Pool)" hold the unmarked memory of pools that marked objects, or variables, point
 * to, and marks what that reaches. */
struct g2h_error *graph_add_pools(struct g2h_graph *graph, struct marker *marker,
                                  struct owners *owners, const struct boundaries *boundaries);

/* ---- weak edges of maps and weak pointers (shortcuts.c) ---- */
struct g2h_error *graph_add_shortcuts(struct g2h_graph *graph);

/* ---- edges by source (children.c) ---- */

/* Moves roots.edges to children, once all of them have been added. Error: G2H_ERROR_MEMORY. */
struct g2h_error *graph_fill_children(struct g2h_graph *graph);

/* Adds edges to a synthetic node, after its existing edges, once graph_fill_children() has run. */
struct g2h_error *graph_insert_children(struct g2h_graph *graph, uint32_t source,
                                        const struct edge *edges, size_t count);

/* Adds a synthetic node without edges, once graph_fill_children() has run. */
struct g2h_error *graph_append_node(struct g2h_graph *graph, enum g2h_node_kind kind, uint32_t name,
                                    uint32_t *ret);

/* ---- nodes that several of the roots' groups hold (several.c) ---- */

/* Sums up the bytes that each group owns, and hangs the nodes that several groups hold below "(held
 * by several)", by weak edges. */
struct g2h_error *graph_add_several(struct g2h_graph *graph, struct owners *owners);

/* Returns the index in graph->children of the first edge whose source is object or a later
 * object. */
uint64_t graph_object_child(const struct g2h_graph *graph, uint32_t object);

/* Returns whether the edge at index child of graph->children has object as its source. */
static inline bool graph_is_child_of(const struct g2h_graph *graph, uint64_t child, uint32_t object)
{
    return child < graph->child_count && graph->children[child].source.index == object;
}

#endif
