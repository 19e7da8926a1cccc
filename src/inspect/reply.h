/* reply: sends answers and events of the protocol to a client. */
#ifndef INSPECT_REPLY_H
#define INSPECT_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "inspect/asks.h"

struct hub;

/* Codes of errors: JSON-RPC 2.0, and V8's for what the target itself refuses. */
enum reply_code {
    REPLY_NO_JSON = -32700,
    REPLY_NO_REQUEST = -32600,
    REPLY_NO_METHOD = -32601,
    REPLY_NO_PARAMS = -32602,
    REPLY_REFUSED = -32000,
};

/* Answers a request with its result, JSON; or with what surrounds it. */
void reply_result(struct hub *hub, const struct reply_to *to, const char *result, size_t size);
void reply_string(struct hub *hub, const struct reply_to *to, const char *result);
void reply_within(struct hub *hub, const struct reply_to *to, const char *before,
                  const char *result, size_t size, const char *behind);

/* Answers it with an error. */
void reply_error(struct hub *hub, const struct reply_to *to, enum reply_code code,
                 const char *message, size_t size);
void reply_refuse(struct hub *hub, const struct reply_to *to, const char *message);

/* Sends an event; params is JSON. */
void reply_event(struct hub *hub, uint64_t connection, const char *method, const char *params);

/* Sends Runtime.consoleAPICalled: a line in the client's console. */
void reply_line(struct hub *hub, uint64_t connection, const char *type, const char *line,
                size_t size);

/* Sends each line as it is: an event. */
void reply_events(struct hub *hub, uint64_t connection, const char *lines, size_t size);

#endif
