/*
 * contexts: nodes that DevTools interprets as native contexts. Its filter menu has one entry for
 * each: for memory that only the globals of a package reach, that only the goroutines in a place
 * reach, for garbage, and for memory of all other roots.
 *
 * DevTools attributes a node to a context by three edges (HeapSnapshot.ts,
 * inferFixedNativeContextForOrdinal): the node's "map", that node's "map", and that node's
 * "native_context". From there on it follows all strong edges; nodes that several contexts reach
 * are shared between them (propagateNativeContextAttribution). So one edge from a group's node to
 * its context is enough, and the context is its own map. Contexts have no other edges: they hold
 * nothing.
 *
 * And nodes that DevTools interprets as event handlers, for its filter "Objects retained by event
 * handlers" (HeapSnapshot.ts, objectsRetainedByEventHandlers): an event of a Go program is a timer,
 * a finalizer or a cleanup. The filter lists what cannot be reached without that to which a
 * "V8EventListener" has an edge "1": the groups of finalizers and cleanups, and the processors'
 * lists of timers. The edge is weak. These nodes are below "(event handlers)", below the root.
 *
 * And a node for the finalizers of each class and function, "810 finalizers of main.Queue
 * (main.flush)": there may be thousands of rows otherwise.
 */
#ifndef OUTPUT_HEAPSNAPSHOT_CONTEXTS_H
#define OUTPUT_HEAPSNAPSHOT_CONTEXTS_H

#include "base/map.h"
#include "output/ids.h"
#include "output/output_strings.h"

struct context {
    uint32_t name, id; /* name: a string's number */
};

/* A node that has an edge to a context. */
struct context_edge {
    uint32_t node, context;
};

/* A listener: what it has an edge to. */
struct context_listener {
    uint32_t id, target;
};

/* Finalizers of one class of objects and one function, if there are two or more: the node below
 * which they are, and its parent, "(finalizers)". */
struct context_finalizers {
    uint64_t key;
    uint32_t name, id, parent;
    size_t first, count; /* in contexts->finalizers */
};

struct context_finalizer {
    uint32_t node, group, index; /* index: the number of the edge to it */
};

struct contexts {
    VECTOR(struct context) list;
    VECTOR(struct context_edge) edges; /* ascending by node; each node has one at most */
    uint32_t map, native_context;      /* strings: names of edges */
    VECTOR(struct context_listener) listeners;
    uint32_t handlers_id;               /* of "(event handlers)", if there are listeners */
    uint32_t handlers, listener, first; /* strings: names of nodes, and of edges to targets */
    VECTOR(struct context_finalizers) groups;
    VECTOR(struct context_finalizer) finalizers; /* by group, in the order of their edges */
    struct map group_of;                         /* node of a finalizer → its group */
    uint32_t parents[2];                         /* of groups: "(finalizers)" and queued ones; */
    uint32_t fewer_edges[2]; /* UINT32_MAX: none; how many fewer edges each has */
};

/* The number of edges that begin at a context. */
enum { CONTEXT_EDGES = 2 };

/* Returns whether finalizers of a node are below the nodes of groups, and by how many its edges are
 * fewer. */
static inline bool contexts_is_grouped(const struct contexts *contexts, uint32_t node)
{
    return contexts->groups.count > 0 &&
           (contexts->parents[0] == node || contexts->parents[1] == node);
}

static inline uint32_t contexts_fewer_edges(const struct contexts *contexts, uint32_t node)
{
    return contexts->fewer_edges[contexts->parents[1] == node];
}

/* Returns whether a finalizer is below the node of a group. */
static inline bool contexts_is_in_group(const struct contexts *contexts, uint32_t finalizer)
{
    return map_get(&contexts->group_of, finalizer) != MAP_NONE;
}

/* Creates contexts for the groups that alone reach most, for garbage and for all other roots.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *contexts_init(struct contexts *contexts, const struct g2h_view *view,
                                struct ids *ids, struct strings *strings);
void contexts_deinit(struct contexts *contexts);

/* Returns the number of nodes for event handlers and groups of finalizers, which come after those
 * of contexts. */
static inline size_t contexts_handlers(const struct contexts *contexts)
{
    return contexts->groups.count +
           (contexts->listeners.count > 0 ? contexts->listeners.count + 1 : 0);
}

/* Returns the number of edges that these add: from the root, from "(event handlers)", from each
 * listener, and to each group; those to finalizers are only moved. */
static inline size_t contexts_handler_edges(const struct contexts *contexts)
{
    return contexts->groups.count +
           (contexts->listeners.count > 0 ? 2 * contexts->listeners.count + 1 : 0);
}

/* Returns the number of the first edge that begins at or after node, or the number of edges if none
 * does. */
size_t contexts_from(const struct contexts *contexts, uint32_t node);

/* Returns the context to which a node has an edge, or UINT32_MAX. */
uint32_t contexts_of(const struct contexts *contexts, uint32_t node);

#endif
