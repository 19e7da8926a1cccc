/*
 * chunks: a log of the Chrome DevTools Protocol, in which a heap snapshot is the texts of messages
 * HeapProfiler.addHeapSnapshotChunk: https://chromedevtools.github.io/devtools-protocol/.
 */
#ifndef HEAPQUERY_CHUNKS_H
#define HEAPQUERY_CHUNKS_H

#include "json.h"

/* Returns whether a file begins as a log does: with a message, or with a list of messages. */
bool chunks_are_in(const struct json *json);

/* Joins the chunks of a log, in which messages are in a list, or one behind the other. The caller
 * frees ret by text_deinit() after an error, too. Errors: G2H_ERROR_DAMAGED if the log is damaged,
 * or has no chunks, G2H_ERROR_MEMORY. */
struct g2h_error *chunks_join(const struct json *json, struct text *ret);

#endif
