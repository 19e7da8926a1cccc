/*
 * mcp: answers of a bounded size about one heap, for agents: the Model Context Protocol on standard
 * input and output (docs/mcp.md).
 *
 *   mcp                 the thread that talks to the client; its lines, and the messages in them:
 *                       JSON-RPC 2.0, and the few methods that a server with tools needs
 *   tools               the questions: names, arguments, the size of answers, cursors; the answers
 *
 * A client asks for the server's name and tools as soon as it has started the program, and gives up
 * after a timeout; a large heap takes longer. So a thread talks to the client from the beginning,
 * and only questions about the heap wait until it is loaded.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "mcp/tools.h"

/* ==== messages as lines, which are read and written as a whole ==== */

struct lines {
    int fd;
    const char *line; /* the one that was read, size bytes without the line feed; until the next */
    size_t size;
    struct text in;
    size_t used;      /* bytes of in that are done with */
    bool is_skipping; /* the rest of a line that is too long */
};

enum lines_state { LINES_READ, LINES_TOO_LONG, LINES_END };

/* Waits for the next line. The last one need not end in a line feed. A line longer than LINES_MOST
 * is reported as soon as it is, and the rest is discarded as it comes. Errors: G2H_ERROR_MEMORY,
 * G2H_ERROR_SYSTEM. */
struct g2h_error *lines_read(struct lines *lines, enum lines_state *ret);

void lines_deinit(struct lines *lines);

/* ==== messages of the Model Context Protocol, and the answers to them ====
 *
 * Revisions up to 2025-11-25 begin with initialize. From 2026-07-28 on, each request names in
 * params._meta the revision by which it is to be answered; server/discover lists the supported
 * ones. Clients of both kinds are answered, even in one stream.
 */

struct protocol {
    const struct mcp_settings *settings;
    struct answers *(*await)(void *context); /* waits for the heap */
    void *context;
    bool has_begun; /* initialize has been answered */
};

/* Answers a message: appends a line, or nothing to a notification, an answer or an empty line. If
 * memory runs out, answer is failed. */
void protocol_answer(struct protocol *protocol, const char *message, size_t size,
                     struct text *answer);

/* Answers a message that is too long. */
void protocol_refuse_long(struct text *answer);

/* ==== the thread that talks to the client ==== */

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
