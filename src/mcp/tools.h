/*
 * tools: the questions of an agent: names, descriptions and arguments, and how an answer is kept
 * small.
 *
 * An answer is JSON. It has as many elements of its lists as fit into its size, and then a cursor:
 * the number of the first one that is left out, and a hash of the tool and its arguments, so that a
 * cursor is valid for no other question.
 */
#ifndef MCP_TOOLS_H
#define MCP_TOOLS_H

#include <stdbool.h>

#include "base/text.h"
#include "inspect/json_read.h"
#include "mcp/answers.h"

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
