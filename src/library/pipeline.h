/*
 * pipeline: the steps from a source of bytes to a view, in the order in which the program,
 * g2h_open(), --inspect and --watch take them.
 *
 *   open    origin_open() or command_open(): a dump, or one that is made from a process
 *   load    its records, as objects by address
 *   match   the executable that wrote it, for types and names
 *   graph   the types of objects, the nodes and the edges
 *   view    what outputs read
 *
 * Between the steps a caller may look at the results so far, and warn of what is missing.
 *
 * The files of library/, which combines the modules:
 *
 *   origin              where a heap comes from: a dump, a core file, a process
 *   pipeline            the steps from there to a view, and all of them by one call
 *   death_box           copies a process at its end; the files of such copies; where the temporary
 *                       ones go
 */
#ifndef LIBRARY_PIPELINE_H
#define LIBRARY_PIPELINE_H

#include <go2heapsnapshot/graph.h>
#include <go2heapsnapshot/view.h>

#include "library/origin.h"

struct pipeline {
    struct origin origin; /* it has the input, and the executable: NULL if none fits */
    struct g2h_heap *heap;
    struct g2h_typing *typing; /* NULL: no executable */
    struct g2h_graph *graph;
    struct g2h_view *view;
};

struct pipeline_options {
    const char *exe;  /* the executable given by the user; NULL: that of the process, if any */
    unsigned threads; /* 0: one per processor */
    bool untyped_ok;  /* continue without types if the executable is not that of the dump */
    bool no_stacks, full_names, no_dominators; /* as in struct g2h_graph_options */
    const struct g2h_redaction *redaction;     /* NULL: none */

    /* Called with context, unless they are NULL. opened may refuse the executable; untyped gets the
     * reason why it does not fit; phase gets what pipeline_graph() begins: "types" or "graph". */
    struct g2h_error *(*opened)(const void *context, const struct g2h_exe *exe);
    void (*untyped)(const void *context, const struct g2h_error *error);
    void (*phase)(const void *context, const char *phase);
    const void *context;
};

/* Loads the heap of the input. Errors: those of g2h_heap_load(), or why the input ends early. */
struct g2h_error *pipeline_load(struct pipeline *pipeline, unsigned threads,
                                const struct g2h_progress *progress);

/* Opens the executable, unless reading the process has opened it, and matches it with the heap,
 * which is loaded again if only the executable knows the release of Go. Does nothing without an
 * executable. Errors: those of g2h_exe_open(), g2h_heap_load(), g2h_exe_match() and opened. */
struct g2h_error *pipeline_match(struct pipeline *pipeline, const struct pipeline_options *options);

/* Finds the types of objects and builds the graph. Errors: those of g2h_typing_create() and
 * g2h_graph_build(). */
struct g2h_error *pipeline_graph(struct pipeline *pipeline, const struct pipeline_options *options);

/* Creates the view; under is what it is about, as lookup_under() reads it; NULL: the whole graph.
 * Errors: those of g2h_view_create() and lookup_under(). */
struct g2h_error *pipeline_view(struct pipeline *pipeline, const struct g2h_view_options *options,
                                const char *under);

/* The collections of garbage in a process until its dump. */
struct collections {
    uint64_t count;
    uint64_t last; /* when the last one ended, in nanoseconds since 1970; 0: unknown */
};

/* Returns these, by the heap's own statistics; zeros if a dump has none. */
struct collections pipeline_collections(const struct pipeline *pipeline);

/* Returns a hash of the executable, which tells builds apart; 0: there is none. */
uint64_t pipeline_executable_hash(const struct pipeline *pipeline);

/* Returns when a file was written, in milliseconds since 1970; 0: not known, as of a pipe. */
int64_t pipeline_written_at(const struct g2h_input *input);

/* Frees all existing parts, also after an error. */
void pipeline_deinit(struct pipeline *pipeline);

#endif
