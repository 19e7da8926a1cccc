/*
 * sink: buffers made by several threads go to a file descriptor in their order, compressed or not.
 *
 * Compression is part of making a buffer, so it runs on all threads too: each buffer is deflated by
 * itself and flushed, and the pieces stand in one gzip member (RFC 1952), whose checksum is
 * combined from theirs.
 */
#ifndef OUTPUT_SINK_H
#define OUTPUT_SINK_H

#include <go2heapsnapshot/output.h>

#include "base/workers.h"

/* How many threads are to go along the edges of a view: where some nodes are folded each needs
 * memory per node for it, so there are eight at most. */
unsigned sink_threads(const struct g2h_view *view, const struct g2h_output_options *options);

/* Writes the bytes that produce makes of task 0 … tasks-1. */
struct g2h_error *sink_run(const struct g2h_output_options *options, unsigned threads, size_t tasks,
                           workers_produce *produce, void *context);

#endif
