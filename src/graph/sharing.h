/* sharing: what each top of what several hold is called by its holders, kept for who asks. */
#ifndef GRAPH_SHARING_H
#define GRAPH_SHARING_H

#include "graph/sharers.h"

/*
 * Keeps the names of all tops in graph->sharing. ascending: count tops, in the order of their
 * nodes; before: how many synthetic nodes there were when these were found. Heaps have few
 * different names; behind the 65,536th different set of holders tops have none. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *sharing_fill(struct g2h_graph *graph, const struct sharers *sharers,
                               const uint32_t *ascending, uint32_t count, uint32_t before);
void sharing_deinit(struct sharing *sharing);

/* The name of who holds a node of the graph together; false where it is no top, or has none. */
bool sharing_find(const struct sharing *sharing, uint32_t node, const char **ret, size_t *ret_size);

#endif
