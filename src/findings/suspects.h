/*
 * suspects: the parts of a heap to look at first.
 *
 * From the root down the tree of merged dominators, each branch that retains much is followed to
 * the place where its objects become many: if a map holds 300 previews, the previews are the
 * suspect, and the map is their holder. Many goroutines in one place are one suspect, with all that
 * they hold.
 */
#ifndef FINDINGS_SUSPECTS_H
#define FINDINGS_SUSPECTS_H

#include "findings/findings.h"
#include "findings/pinned.h"

struct suspect {
    uint32_t item;    /* a node of merged: objects of a class, goroutines in one place, or the calls
                         that a function has deferred */
    uint32_t holder;  /* the node above item, whose objects are few; MERGED_NONE: it is not an
                       * object */
    uint32_t held_at; /* the tree of a sync.Map, or the list, above item; or MERGED_NONE */
    uint32_t inside;  /* of goroutines: the many objects that most of item is, or 0 */
    uint64_t inside_count;
    bool is_goroutines, is_deferred;
    struct pinned pinned; /* if item is arrays that pointers to elements keep */
    uint64_t count; /* objects of item, and those of its class that are below it: item contains
                       itself in a tree or the like */
    uint64_t own;   /* the size of these objects themselves */
    uint64_t bytes; /* retained by item; with a base: the growth of item */
    uint64_t grown; /* with a base: by how many objects item has grown */
};

typedef VECTOR(struct suspect) suspect_vector;

/*
 * Finds the suspects; those that retain most come first. A suspect must have its share of the
 * reachable bytes that take memory. With a base, suspects are by growth instead of size. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *suspects_find(const struct findings *findings, suspect_vector *ret);

/* Returns whether a node is one of the heaps in which the runtime keeps the timers: one per
 * processor, so which of them has a timer means nothing. node may be MERGED_NONE. */
bool suspects_are_timers(const struct merged *merged, uint32_t node);

#endif
