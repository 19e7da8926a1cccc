/*
 * way: how a program gets to an object, as a Go expression: main.previews.byName["chair, 338
 * wide"].
 */
#ifndef OUTPUT_REPORT_WAY_H
#define OUTPUT_REPORT_WAY_H

#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/text.h"

/*
 * Appends a way from the roots to a node, or to one of its class that the same holds, and in
 * brackets whose variable it begins with where that is not a package's. Between what dominates it
 * the shortest one is looked for, for so many nodes as the source says; what is not found is an
 * ellipsis. Nothing is appended to a node that no variable leads to. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *way_append(const struct g2h_view *view, const struct g2h_dominators *dominators,
                             uint32_t node, struct text *text);

#endif
