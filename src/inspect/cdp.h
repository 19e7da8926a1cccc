/*
 * cdp: answers the requests of a client: those of the Chrome DevTools Protocol, and those of HTTP
 * for /json; and asks the session what it takes for that.
 */
#ifndef INSPECT_CDP_H
#define INSPECT_CDP_H

#include <stddef.h>

#include "base/text.h"
#include "inspect/client.h"
#include "inspect/http.h"

/* ==== the Chrome DevTools Protocol: one table from method to function ==== */

struct hub;

/* Answers a message of a client, now or when the session has. */
void cdp_message(struct hub *hub, struct client *client, const char *text, size_t size);

/* ==== HTTP: the list of targets, and the handshake of a WebSocket ==== */

enum { DISCOVERY_PATIENCE = 1000 }; /* milliseconds that a list waits for the session */

/* Answers a request, or makes the client wait for the session. */
void discovery_request(struct hub *hub, struct client *client, const struct http_request *request);

/* Answers a waiting client with what is known. */
void discovery_list(struct hub *hub, struct client *client);

#endif
