/* expression_parts: shared by writing and reading an expression; see expression.h. */
#ifndef FINDINGS_EXPRESSION_PARTS_H
#define FINDINGS_EXPRESSION_PARTS_H

#include "findings/expression.h"

/* The prefix of the name of a global that is known only by the code that uses it. */
#define EXPRESSION_UNNAMED "the global "

/* Appends the name of a pointer, and a dot before it if a field follows something. */
void expression_append_edge(const struct g2h_view *view, struct g2h_edges *edges,
                            const struct g2h_edge *edge, struct text *text);

/* Appends the beginning of an expression, up to the first object: the names of a root and of an
 * edge that begins there; and to whose the owner, if the root is not a package. */
void expression_append_first(const struct g2h_view *view, struct g2h_edges *edges,
                             const struct g2h_edge *edge, struct text *text, struct text *whose);

#endif
