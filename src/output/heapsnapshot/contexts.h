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
 */
#ifndef OUTPUT_HEAPSNAPSHOT_CONTEXTS_H
#define OUTPUT_HEAPSNAPSHOT_CONTEXTS_H

#include "output/ids.h"
#include "output/output_strings.h"

struct context {
    uint32_t name, id; /* name: a string's number */
};

/* A node that has an edge to a context. */
struct context_edge {
    uint32_t node, context;
};

struct contexts {
    VECTOR(struct context) list;
    VECTOR(struct context_edge) edges; /* ascending by node; each node has one at most */
    uint32_t map, native_context;      /* strings: names of edges */
};

/* The number of edges that begin at a context. */
enum { CONTEXT_EDGES = 2 };

/* Creates contexts for the groups that alone reach most, for garbage and for all other roots.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *contexts_init(struct contexts *contexts, const struct g2h_view *view,
                                struct ids *ids, struct strings *strings);
void contexts_deinit(struct contexts *contexts);

/* Returns the number of the first edge that begins at or after node, or the number of edges if none
 * does. */
size_t contexts_from(const struct contexts *contexts, uint32_t node);

/* Returns the context to which a node has an edge, or UINT32_MAX. */
uint32_t contexts_of(const struct contexts *contexts, uint32_t node);

#endif
