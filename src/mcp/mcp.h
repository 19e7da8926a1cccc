/*
 * mcp: answers of a bounded size about one heap, for agents: the Model Context Protocol on standard
 * input and output (docs/mcp.md).
 *
 *   mcp, line_io        the thread that talks to the client; the lines that it reads and writes
 *   protocol            messages: JSON-RPC 2.0, and the few methods that a server with tools needs
 *   tools               the questions: names, arguments, the size of answers, cursors
 *   answers             the answers, which are parts of the report
 *
 * A client asks for the server's name and tools as soon as it has started the program, and gives up
 * after a timeout; a large heap takes longer. So a thread talks to the client from the beginning,
 * and only questions about the heap wait until it is loaded.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "mcp/answers.h"
#include "mcp/tools.h"

struct mcp;

/* Begins to answer a client at two descriptors. Errors: G2H_ERROR_MEMORY, G2H_ERROR_SYSTEM. */
struct g2h_error *mcp_begin(const struct mcp_settings *settings, int in, int out, struct mcp **ret);

/*
 * Makes the heap available to the client, and returns when the client has gone, and mcp with it.
 * Until then, and after an error, the thread runs on, until the process ends. Errors:
 * G2H_ERROR_MEMORY; G2H_ERROR_SYSTEM if the client cannot be read or written to.
 */
struct g2h_error *mcp_serve(struct mcp *mcp, const struct answers_options *options);

#endif
