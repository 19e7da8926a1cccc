/*
 * mcp: answers of a bounded size about one heap, for agents: the Model Context Protocol on standard
 * input and output (docs/mcp.md).
 *
 *   mcp, line_io        the thread that has the client; the lines that it reads and writes
 *   protocol            messages: JSON-RPC 2.0, and the few methods that a server with tools needs
 *   tools               what can be asked: names, arguments, the size of answers, cursors
 *   answers             the answers, which are parts of the report
 *
 * A client asks who this is and which tools there are as soon as it has started the program, and
 * gives up if nobody answers for long; a large heap takes longer. So a thread has the client from
 * the beginning, and only questions to the heap wait until it is there.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "mcp/answers.h"
#include "mcp/tools.h"

struct mcp;

/* Begins to answer a client at two descriptors. Errors: G2H_ERROR_MEMORY, G2H_ERROR_SYSTEM. */
struct g2h_error *mcp_begin(const struct mcp_settings *settings, int in, int out, struct mcp **ret);

/*
 * Gives the client the heap, and returns when the client has gone, and mcp with it. Until then, and
 * after an error, the thread runs on, until the process ends. Errors: G2H_ERROR_MEMORY;
 * G2H_ERROR_SYSTEM if the client cannot be read or written to.
 */
struct g2h_error *mcp_serve(struct mcp *mcp, const struct answers_options *options);

#endif
