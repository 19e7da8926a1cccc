/*
 * contexts: nodes that DevTools takes for native contexts, of which its filter menu has one entry
 * each: what the globals of a package alone reach, what the goroutines in a place do, garbage, and
 * what all other roots reach.
 *
 * DevTools attributes a node to a context by three edges (HeapSnapshot.ts,
 * inferFixedNativeContextForOrdinal): its "map", that one's "map", and that one's "native_context".
 * From there on it follows all strong edges, and what several contexts reach is shared between them
 * (propagateNativeContextAttribution). So one edge from a group's node to its context is enough,
 * and the context is its own map. Contexts lead nowhere else: they hold nothing.
 */
#ifndef OUTPUT_HEAPSNAPSHOT_CONTEXTS_H
#define OUTPUT_HEAPSNAPSHOT_CONTEXTS_H

#include "output/ids.h"
#include "output/strings.h"

struct context {
    uint32_t name, id; /* name: string */
};

/* A node that has an edge to a context. */
struct context_edge {
    uint32_t node, context;
};

struct contexts {
    VECTOR(struct context) list;
    VECTOR(struct context_edge) edges; /* ascending by node; each has one at most */
    uint32_t map, native_context;      /* strings: names of edges */
};

/* How many edges begin at a context. */
enum { CONTEXT_EDGES = 2 };

/* Makes contexts of the groups that alone reach most. Error: G2H_ERROR_MEMORY. */
struct g2h_error *contexts_init(struct contexts *contexts, const struct g2h_view *view,
                                struct ids *ids, struct strings *strings);
void contexts_deinit(struct contexts *contexts);

/* The number of the first edge that begins at node or behind it; as many as there are: none does.
 */
size_t contexts_from(const struct contexts *contexts, uint32_t node);

/* The context that a node has an edge to; UINT32_MAX: none. */
uint32_t contexts_of(const struct contexts *contexts, uint32_t node);

#endif
