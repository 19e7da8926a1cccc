/*
 * client: one client, as the bytes received and the bytes to be sent, and the answers and events
 * that it gets; server.h has the sockets.
 *
 * A client begins with the head of a request. That is answered, and the connection ends; or it
 * becomes a WebSocket.
 */
#ifndef INSPECT_CLIENT_H
#define INSPECT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "inspect/channel.h"
#include "inspect/http.h"

enum client_state {
    CONNECTION_HEAD,   /* the request is not there yet */
    CONNECTION_WAITS,  /* for the session, which knows the answer */
    CONNECTION_OPEN,   /* a WebSocket */
    CONNECTION_LEAVES, /* what is left is sent; what comes is discarded */
    CONNECTION_GONE
};

struct client {
    int fd;          /* -1: it has no socket */
    uint64_t number; /* unique */
    enum client_state state;
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
size_t client_left(const struct client *client);

/* Sends a message to a WebSocket; nothing to others. */
void client_send(struct client *client, const char *data, size_t size);

/* Sends the reason why a WebSocket ends, if it is one, and ends the connection once everything has
 * been sent. */
void client_leave(struct client *client, enum websocket_status why, int64_t now);

/* Marks the connection as gone: nothing more is sent, and the server's loop closes its socket. */
void client_end(struct client *client);

/* Begins another state. */
void client_move(struct client *client, enum client_state state, int64_t now);

/* Frees what a connection has, but for the socket. */
void client_deinit(struct client *client);

/* ---- answers and events ---- */

struct hub;

/* The client for whom a question is asked, and the parts of its request that the answer repeats. */
struct reply_to {
    uint64_t connection; /* 0: for no one */
    char id[24];         /* JSON; empty: none */
    char session[136];   /* likewise */
};

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
                  const char *result, size_t size, const char *after);

/* Answers it with an error. */
void reply_error(struct hub *hub, const struct reply_to *to, enum reply_code code,
                 const char *message, size_t size);
void reply_refuse(struct hub *hub, const struct reply_to *to, const char *message);

/* Sends an event; params is JSON. */
void reply_event(struct hub *hub, uint64_t connection, const char *method, const char *params);

/* Sends Runtime.consoleAPICalled: a line in the client's console. */
void reply_line(struct hub *hub, uint64_t connection, const char *line);

/* Sends each line as it is: an event. */
void reply_events(struct hub *hub, uint64_t connection, const char *lines, size_t size);

#endif
