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
 * And nodes of groups (groups.h): for the finalizers of each class and function, "810 finalizers of
 * main.Queue (main.flush)", and for the timers of a processor by what they call, "1,200 timers
 * calling main.expire", as there may be thousands of rows otherwise; the groups of timers have a
 * row below the package of the runtime, too. And for the variables of a package that hold memory
 * together, which would be in no row: "main: byID and byName". Edges to members begin at these
 * nodes, and no longer at the groups' parents, so that no retained size changes.
 */
#ifndef OUTPUT_HEAPSNAPSHOT_CONTEXTS_H
#define OUTPUT_HEAPSNAPSHOT_CONTEXTS_H

#include "base/contract.h"
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

enum context_group_kind {
    GROUP_OF_FINALIZERS,
    GROUP_OF_CLEANUPS,
    GROUP_OF_TIMERS,
    GROUP_OF_VARIABLES
};

/* A group of two members or more: the node below which they are. */
struct context_group {
    enum context_group_kind kind;
    uint64_t key;
    uint32_t name, id, parent;  /* parent: the node that has edges to the members in the view */
    size_t first, count, moved; /* members: in contexts->members; moved: those that are not weak */
    bool never_runs;            /* of finalizers and cleanups: it is proved that they do not */
};

/* An edge to a member; a weak one to what several members hold. */
struct context_member {
    uint32_t node, group;
    uint32_t type, name_or_index; /* of the edge: enum edge_type; a string's number, or an index */
};

/* A node that has groups, and how many edges more than in the view. */
struct context_parent {
    uint32_t node;
    int64_t more_edges;
};

struct contexts {
    VECTOR(struct context) list;
    VECTOR(struct context_edge) edges; /* ascending by node; each node has one at most */
    uint32_t map, native_context;      /* strings: names of edges */
    VECTOR(struct context_listener) listeners;
    uint32_t handlers_id;               /* of "(event handlers)", if there are listeners */
    uint32_t handlers, listener, first; /* strings: names of nodes, and of edges to targets */
    uint32_t together, timers;          /* strings: names of edges to groups */
    VECTOR(struct context_group) groups;
    VECTOR(struct context_member) members; /* by group, in the order of their edges */
    struct map group_of;                   /* member, and its parent above → its group */
    VECTOR(struct context_parent) parents; /* ascending by node */
    uint32_t timers_above; /* the node that has weak edges to all groups of timers; UINT32_MAX:
                            * none */
    uint64_t more_edges;   /* that groups add; those to members are only moved */
};

/* The number of edges that begin at a context. */
enum { CONTEXT_EDGES = 2 };

/* Returns the first node from first on that has groups; NULL: none. */
const struct context_parent *contexts_next_parent(const struct contexts *contexts, uint32_t first);

/* Returns whether members below a node are below the nodes of groups. */
static inline bool contexts_is_grouped(const struct contexts *contexts, uint32_t node)
{
    const struct context_parent *parent = contexts_next_parent(contexts, node);
    return parent && parent->node == node;
}

/* Returns whether an edge of a parent leads to a member of a group. */
static inline bool contexts_is_in_group(const struct contexts *contexts, uint32_t parent,
                                        uint32_t node)
{
    return map_get(&contexts->group_of, pair_key(parent, node)) != MAP_NONE;
}

/* Creates contexts for the groups that alone reach most, for garbage and for all other roots.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *contexts_init(struct contexts *contexts, const struct g2h_view *view,
                                struct ids *ids, struct strings *strings);
void contexts_deinit(struct contexts *contexts);

/* Returns the number of nodes for event handlers and groups, which come after those of contexts. */
static inline size_t contexts_handlers(const struct contexts *contexts)
{
    return contexts->groups.count +
           (contexts->listeners.count > 0 ? contexts->listeners.count + 1 : 0);
}

/* Returns the number of edges that these add: from the root, from "(event handlers)", from each
 * listener, and those of groups. */
static inline size_t contexts_handler_edges(const struct contexts *contexts)
{
    return (size_t)contexts->more_edges +
           (contexts->listeners.count > 0 ? 2 * contexts->listeners.count + 1 : 0);
}

/* Returns the number of the first edge that begins at or after node, or the number of edges if none
 * does. */
size_t contexts_from(const struct contexts *contexts, uint32_t node);

/* Returns the context to which a node has an edge, or UINT32_MAX. */
uint32_t contexts_of(const struct contexts *contexts, uint32_t node);

#endif
