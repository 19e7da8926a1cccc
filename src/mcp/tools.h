/*
 * tools: the questions of an agent about a heap that is kept: names, descriptions and arguments,
 * how an answer is kept small, and the answers, which are parts of the report.
 *
 * An answer is JSON. It has as many elements of its lists as fit into its size, and then a cursor:
 * the number of the first one that is left out, and a hash of the tool and its arguments, so that a
 * cursor is valid for no other question.
 */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include <stdbool.h>

#include <go2heapsnapshot/input.h>
#include <go2heapsnapshot/output.h>

#include "base/text.h"
#include "inspect/inspect_json.h"
#include "output/report/page.h"

/* ==== answers ====
 *
 * Each answer is written to a page of JSON, by the code that writes the same part of a report.
 */

struct answers_options {
    const struct g2h_view *view;
    const struct g2h_input *input;   /* the source of the heap */
    const struct g2h_exe *exe;       /* NULL: none; strings of the heap may be in it */
    const struct g2h_base *base;     /* the base to compare with, or NULL */
    bool is_base_other;              /* another build of the program wrote the base */
    const struct g2h_memory *memory; /* NULL: not known */
    const char *source;              /* name of the input */
    unsigned threads;                /* 0: one per processor */
    bool has_values;                 /* shows the contents of objects */
};

struct answers;

/* Computes what a report has. The first question about single objects builds indexes, which take 26
 * bytes per object more, and 4 per pointer. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *answers_create(const struct answers_options *options, struct answers **ret);

/* Frees answers, which may be NULL. */
void answers_destroy(struct answers **answers);

/* ==== questions ==== */

/* The settings of the command line that determine which tools exist. */
struct mcp_settings {
    bool has_base;   /* growth */
    bool has_values; /* show */
};

struct tool;

/* Appends the list of tools: a list in JSON. */
void tools_list(const struct mcp_settings *settings, struct text *text);

/* Returns the tool with a name; NULL: it does not exist, for the reason in *ret_missing. */
const struct tool *tools_find(const struct mcp_settings *settings, const char *name, size_t size,
                              const char **ret_missing);

/* Appends the answer to a call: JSON, or, if *ret_is_error, an error message. arguments is an
 * object, or nothing. */
void tools_call(struct answers *answers, const struct tool *tool, struct json_value arguments,
                struct text *text, bool *ret_is_error);

#endif
