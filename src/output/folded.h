/* folded: the nodes and edges of a graph of which not all is written (graph/fold.h). */
#ifndef OUTPUT_FOLDED_H
#define OUTPUT_FOLDED_H

#include "base/workers.h"
#include "graph/fold.h"

/* Nodes, in this order; number is a block's. */
struct g2h_error *folded_write_synthetic_nodes(const struct g2h_graph *graph,
                                               struct worker_buffer *buffer);
struct g2h_error *folded_write_object_nodes(const struct g2h_graph *graph, size_t number,
                                            struct worker_buffer *buffer);
struct g2h_error *folded_write_other_nodes(const struct g2h_graph *graph,
                                           struct worker_buffer *buffer);

/* Edges, in this order. seen is the thread's: fold_seen(). */
struct g2h_error *folded_write_synthetic_edges(const struct g2h_graph *graph, uint32_t *seen,
                                               struct worker_buffer *buffer);
struct g2h_error *folded_write_object_edges(const struct g2h_graph *graph, uint32_t *seen,
                                            size_t number, struct worker_buffer *buffer);

/* Those of parts, none, and of the folded nodes, in fold_tasks(). */
struct g2h_error *folded_write_folded_edges(const struct g2h_graph *graph, uint32_t *seen,
                                            size_t task, struct worker_buffer *buffer);

#endif
