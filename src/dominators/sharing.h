/* sharing: the names of the shared entries (shared_entries.h), which are made of their holders,
 * stored for the view. */
#ifndef DOMINATORS_SHARING_H
#define DOMINATORS_SHARING_H

#include "dominators/sharers.h"

/*
 * Stores the names of all shared entries in graph->sharing. ascending has count shared entries, in
 * the order of their nodes; before is the number of synthetic nodes when the shared entries were
 * found. Heaps have few different names: of a shared entry whose set of holders is not among the
 * first 65,536 different ones, the name only says how many of each kind there are. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *sharing_fill(struct g2h_graph *graph, const struct sharers *sharers,
                               const uint32_t *ascending, uint32_t count, uint32_t before);
void sharing_deinit(struct sharing *sharing);

/* Finds the name of the holders of a node of the graph. Returns false if the node is not a shared
 * entry. */
bool sharing_find(const struct sharing *sharing, uint32_t node, const char **ret, size_t *ret_size);

#endif
