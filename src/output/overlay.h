/*
 * overlay: where the edges and states of a heap snapshot, and of the formats that have its rows,
 * differ from those of the view.
 */
#ifndef OUTPUT_OVERLAY_H
#define OUTPUT_OVERLAY_H

#include <go2heapsnapshot/view.h>

#include "base/memory.h"

/* ==== edges ====
 *
 * Where the edges of a heap snapshot, and of the formats that have its rows, differ from those of
 * the view.
 *
 * All that a goroutine keeps alive, its frames and the objects that it leads to itself, is below
 * its stack. DevTools' Summary lists only nodes that have a size, and so neither goroutines nor
 * frames: the class of a stack then retains what its goroutines retain. All these edges of a
 * goroutine are moved, and nothing else leads to its stack, so that no dominator or retained size
 * changes but for these: the stack dominates what its goroutine did, and retains as much.
 *
 * Each element of a long list, chain or ring has an edge of type shortcut from the first element
 * (g2h_view_chains()). Readers do not count those for dominators, but show them: else a path from
 * the 300,000th element to a variable would have 300,000 steps.
 */

struct g2h_dominators;

/* A goroutine and its stack, neither of which is folded, and the number of edges that are moved. */
struct overlay_move {
    uint32_t goroutine, stack, edges;
};

/* Edges to elements that begin at the same node: those of links from first on, up to end. */
struct overlay_fan {
    uint32_t node;
    size_t first, end;
};

struct overlay {
    const struct g2h_view *view;
    struct g2h_chain_link *links; /* link_count */
    size_t link_count;
    VECTOR(struct overlay_fan) fans; /* ascending by node */
    uint32_t first_object;
    VECTOR(struct overlay_move) moves; /* ascending by goroutine, and by stack */
};

/* A flag of edges beside enum g2h_edge_flag: an edge to an element of a list. The view has no name
 * for it: OVERLAY_LINK_NAME. */
#define OVERLAY_LINK (1u << 31)

#define OVERLAY_LINK_NAME "element of the list"

/* Finds what differs. ret must be passed to overlay_deinit() also after an error. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *overlay_init(struct overlay *ret, const struct g2h_view *view);

void overlay_deinit(struct overlay *overlay);

/* Returns the first node from first on whose edges differ; UINT32_MAX if there is none. */
uint32_t overlay_next(const struct overlay *overlay, uint32_t first);

/* Returns how many edges begin at a node of which the view says that edges do. */
uint32_t overlay_edge_count(const struct overlay *overlay, uint32_t node, uint32_t edges);

/* Replaces the dominator and the retained size that the view has for a node. */
void overlay_dominator(const struct overlay *overlay, const struct g2h_dominators *dominators,
                       uint32_t node, uint32_t *dominator, uint64_t *retained);

/* Returns the node whose retained size a node has instead of its own: of a stack its goroutine. */
uint32_t overlay_retainer(const struct overlay *overlay, uint32_t node);

/* An iterator, as struct g2h_edges is. Each thread needs its own. */
struct overlay_edges {
    const struct overlay *overlay;
    struct g2h_edges *edges;
    const struct overlay_move *from, *to; /* the edges that are read now are of this goroutine, or
                                             go to this stack; NULL: neither */
    size_t link, link_end; /* the links whose edges come once those of the view have been read */
    uint32_t next, end;    /* the nodes whose edges have not been begun */
};

struct g2h_error *overlay_edges_init(struct overlay_edges *ret, const struct overlay *overlay);

void overlay_edges_deinit(struct overlay_edges *reader);

/* Do what g2h_edges_begin() and g2h_edges_read() do. */
void overlay_edges_begin(struct overlay_edges *reader, uint32_t first, uint32_t end);

size_t overlay_edges_read(struct overlay_edges *reader, struct g2h_edge *ret, size_t most);

/* ==== nodes that DevTools is told are detached ====
 *
 * DevTools has this state for DOM nodes that no document shows any more. It puts "Detached" before
 * the class of such a stack, and its filter "Objects retained by detached DOM nodes" lists what
 * only these goroutines keep (front_end/entrypoints/heap_snapshot_worker/ HeapSnapshot.ts:
 * propagateDOMState, objectsRetainedByDetachedDomNodes).
 */

/* v8::EmbedderGraph::Node::Detachedness; the other states are kUnknown, 0, and kAttached, 1. */
enum { DETACHED = 2 };

struct detached {
    uint64_t *nodes; /* a bit for each of the first count nodes; NULL: none is detached */
    uint32_t count;
};

/* Finds the detached nodes of a view. A folded node is not one, since others may be folded into it.
 * ret must be passed to detached_deinit() also after an error. Error: G2H_ERROR_MEMORY. */
struct g2h_error *detached_init(const struct g2h_view *view, struct detached *ret);

void detached_deinit(struct detached *detached);

/* Returns a node's field detachedness. */
static inline uint32_t detached_of(const struct detached *detached, uint32_t node)
{
    return node < detached->count && bits_have(detached->nodes, node) ? DETACHED : 0;
}

#endif
