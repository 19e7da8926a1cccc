/*
 * taken: a snapshot: the heap at one moment, everything derived from it, and the source files that
 * it links.
 */
#ifndef INSPECT_TAKEN_H
#define INSPECT_TAKEN_H

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/memory.h"
#include "base/strings.h"
#include "base/text.h"
#include "library/origin.h"
#include "library/pipeline.h"

/* ==== a command whose standard output is a dump, for --inspect and --watch ==== */

/*
 * Opens the heap that a command prints. The options' path and pid are not used. If the command
 * fails, its own message is more useful than an error about the dump. After an error, too, the
 * caller closes what ret has, as after origin_open(). Errors: those of origin_open();
 * G2H_ERROR_SYSTEM if the command failed; the message is the last line of its standard error.
 */
struct g2h_error *command_open(const char *words, const struct origin_options *options,
                               struct origin *ret);

/* ==== a snapshot: the heap at one moment, and everything derived from it ==== */

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

/* ==== the source files that snapshots link ==== */

/* The files that have been linked so far. A script's number is 1 plus that of its file. */
struct scripts {
    struct string_pool files; /* as the executable's line table has them */
    const char *directory;    /* where files are that have no directory of their own, as after
                                 -trimpath; NULL: nowhere */
};

typedef VECTOR(struct g2h_code_location) code_locations;

/* Finds where the code of goroutines, frames, go statements and closures is. Other objects have no
 * location: theirs would be a part of the class. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *scripts_locate(struct scripts *scripts, const struct taken *taken,
                                 code_locations *ret);

/* Appends an event Debugger.scriptParsed for each file, a line each. */
void scripts_append_events(const struct scripts *scripts, struct text *text);

/* Appends the path of the file of a script, whose number a client has sent. Returns false if no
 * script has it. */
bool scripts_append_path(const struct scripts *scripts, const char *number, struct text *text);

#endif
