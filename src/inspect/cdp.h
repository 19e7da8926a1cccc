/* cdp: the Chrome DevTools Protocol: one table from method to function. docs/inspect-protocol.md
 * documents which requests DevTools send when, and the reasons for the answers. */
#ifndef INSPECT_CDP_H
#define INSPECT_CDP_H

#include <stddef.h>

#include "base/text.h"
#include "inspect/client.h"

struct hub;

/* Answers a message of a client, now or when the session has. */
void cdp_message(struct hub *hub, struct client *client, const char *text, size_t size);

/* Appends the description of the protocol, from which clients generate their methods. */
void cdp_describe(struct text *text);

#endif
