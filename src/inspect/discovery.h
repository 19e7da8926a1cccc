/* discovery: answers HTTP requests: the list of targets that chrome://inspect asks for, and the
 * handshake of a WebSocket. */
#ifndef INSPECT_DISCOVERY_H
#define INSPECT_DISCOVERY_H

#include "inspect/client.h"
#include "inspect/http.h"

struct hub;

enum { DISCOVERY_PATIENCE = 1000 }; /* milliseconds that a list waits for the session */

/* Answers a request, or makes the client wait for the session. */
void discovery_request(struct hub *hub, struct client *client, const struct http_request *request);

/* Answers a waiting client with what is known. */
void discovery_list(struct hub *hub, struct client *client);

#endif
