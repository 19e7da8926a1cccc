/*
 * graph: nodes and edges, as the snapshot will have them.
 *
 * Three kinds of nodes, in this order: synthetic ones (the root, the roots' groups, goroutines,
 * frames …), the heap's objects in the order of their addresses, and parts of objects larger than a
 * snapshot's cell can say. Edges of synthetic nodes are kept; of the edges between objects only the
 * target is, 32 bits each, in the order of the source's field list, and what else there is to say
 * of them is read again from the dump when they are written.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <go2heapsnapshot/graph.h>

#include "base/memory.h"
#include "base/strings.h"
#include "graph/ids.h"
#include "graph/names.h"
#include "graph/texts.h"
#include "heap/heap.h"
#include "heap/targets.h"

/* Of a snapshot's "edge_types" and "node_types" those that we use, by their index there. */
enum edge_type {
    EDGE_ELEMENT = 1,
    EDGE_PROPERTY = 2,
    EDGE_INTERNAL = 3,
    EDGE_WEAK = 6,
    EDGE_TENTATIVE = 7, /* not V8's: graph_reach() makes it internal where it alone holds its
                           target, else weak */
};
enum node_type { NODE_STRING = 2, NODE_OBJECT = 3, NODE_SYNTHETIC = 9 };

/* A node while the number of synthetic nodes is not known yet: a synthetic node or part, or an
 * object. */
struct node {
    uint32_t index;
    enum { OF_SYNTHETIC, OF_OBJECT, OF_PART } of;
};

struct synthetic {
    uint32_t name; /* string */
    uint32_t id;
};

struct edge {
    struct node source, target;
    uint32_t name; /* string; for EDGE_ELEMENT the index itself */
    enum edge_type type;
};

/* The continuation of an object whose size does not fit 32 bits; its own node has the first
 * PART_SIZE bytes. */
#define PART_SIZE 0xfffffff8u

struct part {
    uint32_t name, id, size;
};

/* In an entry's name. */
#define ENTRY_ELEMENT ((uint32_t)1 << 31)

/* The end of a block's names of entries: no string has that number. */
#define ENTRY_NAMES_END (ENTRY_ELEMENT - 1)

struct g2h_graph {
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;         /* may be NULL */
    const struct redaction *redaction; /* NULL, or own_redaction */
    struct redaction own_redaction;
    unsigned threads;
    struct g2h_graph_account account;
    struct g2h_type_account type_account; /* only with typing */
    struct string_pool strings;
    struct names names;
    struct typing *typing; /* NULL: without an executable */
    struct texts texts;    /* numbered behind strings; only with typing */
    struct ids ids;

    VECTOR(struct synthetic) synthetics;
    VECTOR(struct part) parts;
    VECTOR(struct edge) edges; /* of synthetic nodes, and those of objects that are no pointers */

    /* The same edges by source, once children_fill() has run: those of synthetic nodes, then those
     * of objects. */
    struct edge *children;
    uint64_t child_count;
    uint64_t *first_child;       /* by synthetic node, one entry more */
    uint64_t first_object_child; /* from here on: edges of objects, by object */

    struct targets targets; /* of the pointers between objects */
    /* By block, with typing: of each pointer of a map's entry (struct edge_name, is_entry), in the
     * order of the edges, its string; ENTRY_ELEMENT and the element's index; NAME_NONE where the
     * key has no text. */
    uint32_t **entry_names; /* of each block ended by ENTRY_NAMES_END; NULL: of a block without */
    uint32_t gc_roots;      /* synthetic node */
    uint64_t *live;         /* a bit per object that the roots reach; NULL where they reach all */
    uint32_t weak_element;  /* string: what a weak edge is called that would be an element */
    uint8_t *frame_pointed; /* by frame: something points into its contents */
    uint32_t *frames_by_sp; /* frames with contents, ascending by sp */
    size_t frames_by_sp_count;
    uint64_t frames_low, frames_high; /* all of them lie in [low, high) */
    struct fold *fold;                /* what is written of all this; NULL: all of it. See fold.h */
};

static inline struct node node_synthetic(uint32_t index)
{
    return (struct node){index, OF_SYNTHETIC};
}

static inline struct node node_object(uint32_t index)
{
    return (struct node){index, OF_OBJECT};
}

/* The number of a node, once the synthetic ones are all there. */
static inline uint32_t graph_node_number(const struct g2h_graph *graph, struct node node)
{
    const uint32_t synthetics = (uint32_t)graph->synthetics.count;
    return node.of == OF_SYNTHETIC ? node.index
           : node.of == OF_OBJECT  ? synthetics + node.index
                                   : synthetics + graph->heap->object_count + node.index;
}

/* The targets of an object: *ret_end - the result of them. */
static inline const uint32_t *object_targets(const struct g2h_graph *graph, uint32_t object,
                                             const uint32_t **ret_end)
{
    return targets_of(&graph->targets, object, ret_end);
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
    struct edge edge = {source, target, name, type};
    return vector_push(&graph->edges, edge);
}

/* Adds a synthetic node whose name is a dump's or ours; false where there is no memory. */
bool graph_add_synthetic(struct g2h_graph *graph, const char *name, size_t size, uint32_t id,
                         uint32_t *ret);

/* The same, with a name that is interned. */
static inline bool graph_add_named(struct g2h_graph *graph, uint32_t name, uint32_t id,
                                   uint32_t *ret)
{
    *ret = (uint32_t)graph->synthetics.count;
    return vector_push(&graph->synthetics, ((struct synthetic){.name = name, .id = id}));
}

/* The string of a name that needs no care; false where there is no memory. */
bool graph_intern(struct g2h_graph *graph, const char *name, uint32_t *ret);

/* ---- pointers between objects (resolve.c) ---- */

/* Finds the target of each pointer; and, unless objects are to be typed first, interns the names of
 * pointers. */
struct g2h_error *graph_resolve(struct g2h_graph *graph, bool is_to_type);

/* Interns the names of the pointers of typed objects. */
struct g2h_error *graph_name_pointers(struct g2h_graph *graph);

/* The frame whose contents hold address, UINT32_MAX. */
uint32_t graph_frame_at(const struct g2h_graph *graph, uint64_t address);

/* ---- the tree of roots (roots.c) ---- */
struct g2h_error *graph_add_roots(struct g2h_graph *graph);

/* ---- what nothing reaches (reach.c) ---- */

/*
 * Marks what the strong edges reach; decides the tentative ones; hangs what is left under the
 * synthetic node
 * "(unreachable)", which it adds below the root.
 */
struct g2h_error *graph_reach(struct g2h_graph *graph);

/* ---- what the runtime keeps by records that are in no dump (cleanups.c) ---- */

struct marker;

/* Hangs what is not marked, and is a cleanup's or a weak pointer's, under "(cleanups)", and marks
 * it. */
struct g2h_error *graph_add_cleanups(struct g2h_graph *graph, struct marker *marker);

/* ---- weak edges of maps and weak pointers (shortcuts.c) ---- */
struct g2h_error *graph_add_shortcuts(struct g2h_graph *graph);

/* ---- edges by source (children.c) ---- */
struct g2h_error *graph_fill_children(struct g2h_graph *graph);

/* The first of the objects' own edges that belongs to object or a later one. */
uint64_t graph_object_child(const struct g2h_graph *graph, uint32_t object);

/* Whether child is one of the object's own edges. */
static inline bool graph_is_child_of(const struct g2h_graph *graph, uint64_t child, uint32_t object)
{
    return child < graph->child_count && graph->children[child].source.index == object;
}

#endif
