/*
 * connection: one client, as the bytes received and the bytes to be sent; server.h has the sockets.
 *
 * It begins with the head of a request. That is answered, and the connection ends; or it becomes a
 * WebSocket.
 */
#ifndef INSPECT_CONNECTION_H
#define INSPECT_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "inspect/channel.h"
#include "inspect/websocket.h"

enum connection_state {
    CONNECTION_HEAD,   /* the request is not there yet */
    CONNECTION_WAITS,  /* for the session, which knows the answer */
    CONNECTION_OPEN,   /* a WebSocket */
    CONNECTION_LEAVES, /* what is left is sent; what comes is discarded */
    CONNECTION_GONE
};

struct connection {
    int fd;          /* -1: it has no socket */
    uint64_t number; /* unique */
    enum connection_state state;
    int64_t since; /* milliseconds: when the state began */
    struct text in;
    size_t used; /* bytes of in that are done with */
    struct text out;
    size_t sent;        /* bytes of out that are */
    int64_t taken_at;   /* milliseconds: when the client took the last CONNECTION_STEP bytes */
    size_t taken;       /* bytes since then */
    bool is_shut;       /* the client knows that no more comes, */
    bool has_ended;     /* and no more comes from it */
    struct text joined; /* a message in fragments */
    bool is_joining;
    bool is_held;   /* a message may be waiting for its turn */
    unsigned asked; /* requests that the session has not answered */
    char host[64];  /* the client's name for this machine */
    /* The protocol's state per client: */
    bool has_debugger; /* it has received the scripts and lines */
    uint32_t inspected[CHANNEL_INSPECTED];
};

enum {
    CONNECTION_STEP = 64 << 10, /* bytes that a client must take from time to time */
    CONNECTION_FULL = 256 << 10 /* bytes to send that keep a client's next request waiting */
};

/* Returns how many bytes have yet to be sent. */
size_t connection_left(const struct connection *connection);

/* Sends a message to a WebSocket; nothing to others. */
void connection_send(struct connection *connection, const char *data, size_t size);

/* Sends the reason why a WebSocket ends, if it is one, and ends the connection once everything has
 * been sent. */
void connection_leave(struct connection *connection, enum websocket_status why, int64_t now);

/* Ends the connection at once. */
void connection_end(struct connection *connection);

/* Begins another state. */
void connection_move(struct connection *connection, enum connection_state state, int64_t now);

/* Frees what a connection has, but for the socket. */
void connection_deinit(struct connection *connection);

#endif
