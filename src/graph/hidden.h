/*
 * hidden: the objects that look like garbage but may belong to cleanups.
 *
 * Go 1.24 and later keep what runtime.AddCleanup was given by records that a dump of WriteHeapDump
 * does not have. Types find most of these objects (cleanups.c), but not all. Until 1.25 such a
 * record has one closure, of a function in runtime.AddCleanup, which leads to all else. Since 1.26
 * it also has the function that the cleanup calls, and the box of its argument, which nothing
 * leads to. But without any such closure there are no cleanups at all; and the function takes an
 * argument, so that it is not one that a go statement starts.
 */
#ifndef GRAPH_HIDDEN_H
#define GRAPH_HIDDEN_H

#include "graph/graph.h"

struct hidden {
    const struct g2h_graph *graph;
    enum hidden_kind {
        HIDDEN_NONE,
        HIDDEN_CLOSURES, /* the closures of cleanups */
        HIDDEN_OTHERS,   /* all but functions of go statements */
        HIDDEN_ALL,      /* without an executable functions are not known */
    } kind;
    struct map started; /* address of the code of a goroutine's outermost function → 1 */
};

/* Finds out what may be hidden in the heap of a graph. The caller calls hidden_deinit() in any
 * case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *hidden_init(const struct g2h_graph *graph, struct hidden *ret);
void hidden_deinit(struct hidden *hidden);

/* Returns whether an object that no root reaches may belong to a cleanup. */
bool hidden_has(const struct hidden *hidden, uint32_t object);

#endif
