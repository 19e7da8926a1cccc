/*
 * protocol: messages of the Model Context Protocol, and the answers to them.
 *
 * Revisions up to 2025-11-25 begin with initialize. From 2026-07-28 on, each request names in
 * params._meta the revision by which it is to be answered; server/discover lists the supported
 * ones. Clients of both kinds are answered, even in one stream.
 */
#ifndef MCP_PROTOCOL_H
#define MCP_PROTOCOL_H

#include "base/text.h"
#include "mcp/tools.h"

struct protocol {
    const struct mcp_settings *settings;
    struct answers *(*await)(void *context); /* waits for the heap */
    void *context;
    bool has_begun; /* initialize has been answered */
};

/* Answers a message: appends a line, or nothing to a notification. If memory runs out, answer is
 * failed. */
void protocol_answer(struct protocol *protocol, const char *message, size_t size,
                     struct text *answer);

/* Answers a request whose answer has failed by an error, in place of what answer has; without more
 * memory if it has a capacity of 4 KiB. */
void protocol_refuse_memory(const char *message, size_t size, struct text *answer);

/* Answers a message that is too long. */
void protocol_refuse_long(struct text *answer);

#endif
