/*
 * several: the nodes that several of the roots' groups hold together: which they are, who holds
 * them, and the group (held by several), which lists them.
 */
#ifndef DOMINATORS_SEVERAL_H
#define DOMINATORS_SEVERAL_H

#include "graph/owners.h"

/* ==== which groups hold each of them ====
 *
 * All nodes that a shared entry alone holds have the same holders as it.
 */

/* ---- names ---- */

void sharing_deinit(struct sharing *sharing);

/* Finds the name of the holders of a node of the graph. Returns false if the node is not a shared
 * entry. */
bool sharing_find(const struct sharing *sharing, uint32_t node, const char **ret, size_t *ret_size);

#endif
