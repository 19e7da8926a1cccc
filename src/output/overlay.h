/*
 * overlay: where the edges of a heap snapshot, and of the formats that have its rows, differ from
 * those of the view.
 *
 * All that a goroutine keeps alive, its frames and the objects that it leads to itself, is below
 * its stack. DevTools' Summary lists only nodes that have a size, and so neither goroutines nor
 * frames: the class of a stack then retains what its goroutines retain. All these edges of a
 * goroutine are moved, and nothing else leads to its stack, so that no dominator or retained size
 * changes but for these: the stack dominates what its goroutine did, and retains as much.
 */
#ifndef OUTPUT_OVERLAY_H
#define OUTPUT_OVERLAY_H

#include <go2heapsnapshot/view.h>

#include "base/memory.h"

struct g2h_dominators;

/* A goroutine and its stack, neither of which is folded, and the number of edges that are moved. */
struct overlay_move {
    uint32_t goroutine, stack, edges;
};

struct overlay {
    const struct g2h_view *view;
    uint32_t first_object;
    VECTOR(struct overlay_move) moves; /* ascending by goroutine, and by stack */
};

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

/* An iterator, as struct g2h_edges is. Each thread needs its own. */
struct overlay_edges {
    const struct overlay *overlay;
    struct g2h_edges *edges;
    const struct overlay_move *from, *to; /* the edges that are read now are of this goroutine, or
                                             go to this stack; NULL: neither */
    uint32_t next, end;                   /* the nodes whose edges have not been begun */
};

struct g2h_error *overlay_edges_init(struct overlay_edges *ret, const struct overlay *overlay);
void overlay_edges_deinit(struct overlay_edges *reader);

/* Do what g2h_edges_begin() and g2h_edges_read() do. */
void overlay_edges_begin(struct overlay_edges *reader, uint32_t first, uint32_t end);
size_t overlay_edges_read(struct overlay_edges *reader, struct g2h_edge *ret, size_t most);

#endif
