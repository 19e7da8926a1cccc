/*
 * sink: writes buffers that several threads make to a file descriptor, in the buffers' order,
 * compressed or not.
 *
 * Compression is part of making a buffer, so that it runs on all threads too: each buffer is
 * deflated by itself and flushed. The pieces are in one gzip member (RFC 1952), whose checksum is
 * combined from theirs.
 */
#ifndef OUTPUT_SINK_H
#define OUTPUT_SINK_H

#include <go2heapsnapshot/output.h>

#include "base/text.h"
#include "base/workers.h"

/* Returns how many threads go along the edges of a view. If some nodes are folded, each thread
 * needs memory per node for that, so there are eight threads at most. */
unsigned sink_threads(const struct g2h_view *view, const struct g2h_output_options *options);

/* Writes the bytes that produce makes of the tasks 0 … tasks-1. */
struct g2h_error *sink_run(const struct g2h_output_options *options, unsigned threads, size_t tasks,
                           workers_produce *produce, void *context);

/*
 * A stream of bytes that come in order from elsewhere, such as a dump while it is made. Compressed,
 * it has the bytes that sink_run() would write for one task per SINK_PIECE bytes. sink_put() is for
 * one thread at a time. Nothing is written before the first bytes.
 */
enum { SINK_PIECE = 1 << 20 };
struct sink_stream;

/* options must live as long; goes to sink_close(), also after an error. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *sink_open(const struct g2h_output_options *options, struct sink_stream **ret);

/* Writes bytes, and as many zeros after them, which may become a hole of the file. stream is a
 * struct sink_stream. */
struct g2h_error *sink_put(void *stream, const void *data, size_t size, uint64_t zeros);

/* Writes what is still missing at the end. */
struct g2h_error *sink_finish(struct sink_stream *stream);
void sink_close(struct sink_stream *stream);

/* Writes a complete string. */
struct g2h_error *sink_text(const struct g2h_output_options *options, struct text *text);

#endif
