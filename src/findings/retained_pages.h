/*
 * retained_pages: what emptying a holder would give back.
 *
 * The runtime takes memory from the system in spans: the slots of one size, or one large object. It
 * can return a span only when no object is left in it. So an object keeps its whole span, and a
 * holder of a few small objects, the rest of a burst, may keep a hundred times their bytes.
 *
 * The span goes when the last of its objects is gone: with the lowest node of the merged tree that
 * all its objects are below. Summed up, that gives for each node its retained pages: the memory of
 * the spans that would be free without the node and all below it, and how much of that is free
 * slots now. A span that several holders have objects in counts for the node above these: they
 * share it. Stacks of goroutines count for these, untouched parts of large objects not at all,
 * since they take no memory. Garbage keeps nothing: the next collection frees it.
 *
 * The walk over spans is also that of fragmentation (waste.h). A dump does not say where spans
 * begin, but an object's address and size do: a span begins at a multiple of SPAN_UNIT, a whole
 * number of slots before the object. There is only one such span, because Go takes the least number
 * of pages that a whole number of slots fills; for it the remainders of all pages of a span by the
 * size of its slots differ. So the span table, which only a live process and a core have, would not
 * say more.
 */
#ifndef FINDINGS_RETAINED_PAGES_H
#define FINDINGS_RETAINED_PAGES_H

#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/memory.h"

struct findings;

/* ---- spans ---- */

/* A span, and the reachable objects in it. */
struct span {
    uint64_t slot, begin, end;
    uint32_t first, after;  /* its objects, garbage too, as numbers of the heap: [first, after) */
    uint64_t objects, live; /* those that are not garbage: how many, and their bytes */
    uint64_t used;          /* bytes of all */
    bool is_large;          /* it is one object, which is in no slot of a size class */
};

/* A walk over the spans that begin in a part of the objects. */
struct span_walk {
    const struct g2h_view *view;
    const struct g2h_heap *heap;
    uint32_t at, end, count;
    uint64_t behind;     /* the end of the last span that was found */
    uint64_t slot, size; /* the slots of the last one, and the size of such spans */
};

/* Begins a walk over the spans whose first objects are among [first, end). The heap must be of a
 * release since SIZE_CLASSES_SINCE. */
void span_walk_begin(const struct g2h_view *view, uint32_t first, uint32_t end,
                     struct span_walk *ret);

/* Finds the next span that has objects, ascending by address; false: there are no more. */
bool span_walk_next(struct span_walk *walk, struct span *ret);

/* ---- retained pages ---- */

struct pages_sum {
    uint64_t bytes;  /* of spans, and of stacks, as far as they take memory */
    uint64_t empty;  /* of it in free slots */
    uint64_t absent; /* what of these spans and stacks takes no memory */
};

enum { PAGES_SHARERS = 3 };

/* What keeps free slots: a node of merged that could be emptied, or several that share spans. */
struct pages_holder {
    uint32_t node; /* what could be emptied, or what is above those who share */
    uint32_t item; /* what keeps most of the spans, and may be many: node, or below it */
    bool is_shared;
    struct pages_sum sum; /* what is free without node; if it is shared, only without all of them */
    uint32_t sharers[PAGES_SHARERS]; /* the nodes that have objects in most of the shared bytes, */
    uint32_t sharer_count, all_sharers; /* their number, and that of all */
    bool is_sampled; /* all_sharers are those of a sample of the spans: there may be more */
};

struct pages {
    struct pages_sum *retained; /* by node of merged; NULL: spans are not known */
    struct pages_sum *own;      /* by node of merged: what goes with it, but with no node below it:
                                   what its children share, or its own */
    VECTOR(struct pages_holder) holders; /* of free slots */
};

/*
 * Finds the retained pages, and what keeps a twentieth of all free slots or more, and at least a
 * megabyte: what keeps most comes first; of the first three that are shared it is known who shares.
 * A path goes down as long as one node keeps nearly all, to the last object above what is many: the
 * map, not the struct that it is in.
 *
 * Only for heaps that were made of a process or core file, of a release of Go whose size classes
 * are known; of others nothing is known. findings has its merged tree. Takes 73 bytes per node of
 * merged while it runs, 48 of which stay. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *pages_find(struct findings *findings);

void pages_deinit(struct pages *pages);

/* Finds the same for each single node of a view, by its number in the order of dominators: what is
 * free if it and all that it dominates are gone. *ret, which the caller frees, is NULL if spans are
 * not known. memory may be NULL. Takes 49 bytes per node while it runs, 24 of which stay. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *pages_find_nodes(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_memory *memory, unsigned threads,
                                   struct pages_sum **ret);

/* Returns what is free if a node and all below it are gone; zeros if spans are not known. */
struct pages_sum pages_of(const struct pages *pages, uint32_t node);

/* Returns what goes with a node, but with no node below it. */
struct pages_sum pages_own(const struct pages *pages, uint32_t node);

/* Returns what is free without all reachable objects and stacks. */
struct pages_sum pages_all(const struct pages *pages);

#endif
