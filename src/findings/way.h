/*
 * way: how a program gets to an object, as a Go expression: main.previews.byName["chair, 338
 * wide"].
 */
#ifndef FINDINGS_WAY_H
#define FINDINGS_WAY_H

#include "base/text.h"
#include "findings/findings.h"

/*
 * Appends a way from the roots to a node of the view, or to another one that is merged with it, has
 * the same dominator and retains as much. If the variable that the way begins with is not a
 * package's, its owner follows in brackets. The way goes from one dominator of the node to the
 * next, and between these it is the shortest one, as far as the limits at the top of way.c allow; a
 * part that is not found becomes an ellipsis. Appends nothing for a node that no variable leads to.
 * *ret_end becomes the node that the way leads to. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *way_append(const struct findings *findings, uint32_t node, struct text *text,
                             uint32_t *ret_end);

#endif
