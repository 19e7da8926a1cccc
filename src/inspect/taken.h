/* taken: a snapshot: the heap at one moment, and everything derived from it. */
#ifndef INSPECT_TAKEN_H
#define INSPECT_TAKEN_H

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "library/pipeline.h"

struct taken {
    struct pipeline made;                /* its view is NULL: no snapshot has been taken */
    const struct g2h_identity *identity; /* the series, to which the heap was added last */
    uint32_t number;                     /* 1 is the session's first */
    int64_t time;                        /* milliseconds since 1970 */

    /* Created on demand: */
    struct g2h_edges *edges;
    struct g2h_values *values, *inner; /* inner: while values is in the middle of something */
    struct g2h_dominators *dominators;
    uint64_t *ids; /* id_count: an id << 32, and the node; ascending */
    size_t id_count;
};

struct taken_options {
    const char *exe;     /* NULL: none is given */
    const char *command; /* its output is read; NULL: none */
    const char *input;   /* a dump or core; NULL: that of a process, or of the command */
    uint64_t pid;
    unsigned threads;
    bool forks, collapses; /* as in struct g2h_process_options */
    bool untyped_ok, no_stacks, full_names, garbage;
    uint64_t max_nodes;
    const struct g2h_redaction *redaction; /* NULL: none */
};

/*
 * Reads a heap and makes its graph. Errors: those of g2h_open(); an executable that did not write
 * the dump is one unless untyped_ok is set. After an error, too, ret goes to taken_deinit().
 */
struct g2h_error *taken_read(const struct taken_options *options,
                             const struct g2h_progress *progress, struct taken *ret);

/* Creates the view, after the heap has been added to the series. Garbage is left out, unless it is
 * not known, or wanted. Errors: those of g2h_view_create(). */
struct g2h_error *taken_view(const struct taken_options *options, struct taken *taken);

void taken_deinit(struct taken *taken);

/* Frees everything but the heap and its input, to which the next heap of the series is compared. */
void taken_forget(struct taken *taken);

/* Finds the node with an id. *ret becomes UINT32_MAX if no node has it. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *taken_find(struct taken *taken, uint32_t id, uint32_t *ret);

/* Returns the id of a node; 0: it has none. */
uint32_t taken_id(const struct taken *taken, uint32_t node);

/* Create what is needed, unless it exists. Errors: G2H_ERROR_MEMORY, those of
 * g2h_view_dominators(). */
struct g2h_error *taken_need_iterators(struct taken *taken);
struct g2h_error *taken_need_dominators(struct taken *taken);

#endif
