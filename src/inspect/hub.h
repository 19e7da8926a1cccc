/*
 * hub: the clients, the questions to the session and the snapshot requests: the whole server except
 * for sockets and time, so that a test can replace the network.
 */
#ifndef INSPECT_HUB_H
#define INSPECT_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/asks.h"
#include "inspect/connection.h"
#include "inspect/presses.h"
#include "inspect/server.h"

enum { HUB_CONNECTIONS = 32 };

struct hub {
    const struct server_options *options;
    const struct server_address *address;
    int64_t now; /* milliseconds, of a clock that is never set */
    struct connection *connections[HUB_CONNECTIONS]; /* NULL: a free place */
    uint64_t last_connection;                        /* the number of the last one */
    struct asks asks;
    struct presses presses;
    struct text target; /* the session's last description of its target */
    bool asks_target;   /* it has been asked again */
    bool failed;        /* memory ran out, and not for a client */
};

/* Returns a client, or NULL if it has gone. */
static inline struct connection *hub_find(const struct hub *hub, uint64_t number)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] && hub->connections[i]->number == number &&
            hub->connections[i]->state != CONNECTION_GONE)
            return hub->connections[i];
    return NULL;
}

/* Adds a client with this socket. Returns NULL if no place is free, or memory runs out. */
struct connection *hub_add(struct hub *hub, int fd);

/* Processes what has been appended to a client's in, as far as it can be answered now. */
void hub_feed(struct hub *hub, struct connection *connection);

/* Processes what has been appended to asks.in. Returns false if it is not a message of a
 * session. */
bool hub_answered(struct hub *hub);

/* Sets the time, before anything that has arrived since the last time is processed. The time that a
 * client has for taking bytes begins when there are some. */
void hub_wake(struct hub *hub, int64_t now);

/* Does the work that is due, also for clients that had to wait. */
void hub_tick(struct hub *hub);

/* Returns how many milliseconds it may be until something becomes due; -1: for ever. */
int hub_patience(const struct hub *hub);

/* Removes the clients that have gone; their sockets are the caller's. */
void hub_remove(struct hub *hub, struct connection *connection);

void hub_deinit(struct hub *hub);

#endif
