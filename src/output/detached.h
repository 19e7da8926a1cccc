/*
 * detached: the nodes that DevTools is told are detached: each goroutine that can never run again,
 * and its stack. DevTools has this state for DOM nodes that no document shows any more. It puts
 * "Detached" before the class of such a stack, and its filter "Objects retained by detached DOM
 * nodes" lists what only these goroutines keep (front_end/entrypoints/heap_snapshot_worker/
 * HeapSnapshot.ts: propagateDOMState, objectsRetainedByDetachedDomNodes).
 */
#ifndef OUTPUT_DETACHED_H
#define OUTPUT_DETACHED_H

#include <go2heapsnapshot/view.h>

#include "base/bits.h"

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
