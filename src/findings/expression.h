/*
 * expression: a path from the roots, node by node, as a Go expression.
 */
#ifndef FINDINGS_EXPRESSION_H
#define FINDINGS_EXPRESSION_H

#include <go2heapsnapshot/view.h>

#include "base/error.h"
#include "base/text.h"

/*
 * Appends a path of count nodes, the first of which are nodes of roots. If the variable that the
 * path begins with is not a package's, its owner follows in brackets. Appends nothing if the path
 * has no nodes of roots, or only those. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *expression_append(const struct g2h_view *view, struct g2h_edges *edges,
                                    const uint32_t *nodes, size_t count, struct text *text);

/* Appends the name of the edge from one node to another, as paths show it. Returns false, and
 * appends nothing, if no edge leads there. */
bool expression_append_step(const struct g2h_view *view, struct g2h_edges *edges, uint32_t from,
                            uint32_t to, struct text *text);

/* Returns whether a node is memory in which the runtime keeps a map's entries: paths hide it. */
bool expression_hides(const struct g2h_view *view, uint32_t node);

/* Returns the size of a frame's name without its line, "main.walk" of "main.walk walk.go:17". Names
 * of functions may have spaces, too. */
size_t expression_without_line(const char *name, size_t size);

/* Appends what a pointer of a variable is called: main.cache.items, or items  (local of main.serve
 * main.go:12), to an empty text. Appends nothing if no variable has it. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *expression_append_pointer(const struct g2h_view *view, struct g2h_edges *edges,
                                            const struct g2h_edge *edge, struct text *text);

/*
 * Finds the node that an expression leads to: one that expression_append() has written, with its
 * owner in brackets if it has one, but without an ellipsis. If several variables or paths have the
 * same expression, as locals of goroutines in one place do, finds one of them. *ret becomes
 * UINT32_MAX if none matches, or if the search exceeds its limits. If the expression then is a part
 * of a variable or an object that is no object of its own, appends to longer, unless it is NULL,
 * the expression of something that the part leads to. without_owner: also reads expressions that
 * have an owner without it. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *expression_read(const struct g2h_view *view, struct g2h_edges *edges,
                                  const char *expression, bool without_owner, uint32_t *ret,
                                  struct text *longer);

#endif
