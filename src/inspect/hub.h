/*
 * hub: the clients, the questions to the session and the snapshot requests: the whole server except
 * for sockets and time, so that a test can replace the network.
 */
#ifndef INSPECT_HUB_H
#define INSPECT_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/text.h"
#include "inspect/channel.h"
#include "inspect/client.h"
#include "inspect/server.h"

struct hub;

/*
 * ---- questions to the session, which answers when it can ----
 *
 * Neither asking nor reading an answer waits: the session may be busy for long, and clients want
 * answers that need no session meanwhile.
 */

/* Processes the answer: CHANNEL_ANSWER or CHANNEL_ERROR. If the client has gone, it is not
 * called. */
typedef void questions_done(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                            const char *body, size_t size);

struct question {
    uint32_t number;
    struct reply_to to;
    questions_done *done;
};

struct questions {
    uint32_t last;   /* the number of the last question */
    struct text out; /* messages to the session */
    size_t sent;     /* bytes of out that are */
    struct text in;  /* of the session */
    VECTOR(struct question) list;
};

/* Removes a question from the list. Returns false if none has this number. */
bool questions_take(struct questions *questions, uint32_t number, struct question *ret);

/* Returns whether in has a message as a whole; body is part of in. *ret_size is its size with its
 * head. *ret_broken: it cannot be one. */
bool questions_message(const struct questions *questions, size_t from, struct channel_head *ret,
                       const char **body, bool *ret_broken);

void questions_deinit(struct questions *questions);

/*
 * ---- clients that have requested a snapshot, and the one that is being made ----
 *
 * At most one is made at a time. Requests that come before it is ready share it; all later ones
 * share the next one. The bytes of a snapshot are fetched when all waiting clients have taken the
 * previous ones, so that the slowest client, and not our memory, sets the pace.
 */

enum { REQUESTS_PAUSE = 2000 }; /* milliseconds between two snapshots */

struct waiting_client {
    struct reply_to to;
    bool has_progress; /* it wants to see progress */
};

struct snapshot_request {
    uint32_t number; /* of the question; 0: the session has not been asked */
    bool is_ready;   /* there are bytes to fetch, */
    bool is_asked;   /* and they have been requested */
    unsigned percent;
    char rest[4]; /* the beginning of a character, whose end comes with the next bytes */
    size_t rest_size;
    VECTOR(struct waiting_client) clients;
};

struct snapshot_requests {
    struct snapshot_request current, next;
    int64_t not_before; /* milliseconds: when the next one may begin */
};

/* Begins a snapshot if one is wanted, and asks for the next bytes if all clients have taken those
 * before. */
void requests_tick(struct hub *hub);

/* Returns how many milliseconds it is until requests_tick() has something to do; -1: it waits for
 * others. */
int requests_patience(const struct hub *hub);

/* Processes a message of the session about a snapshot. Returns false if it is about something
 * else. */
bool requests_answered(struct hub *hub, const struct channel_head *head, const char *body);

void requests_deinit(struct snapshot_requests *requests);

/* ---- the whole ---- */

enum { HUB_CONNECTIONS = 32 };

struct hub {
    const struct server_options *options;
    const struct server_address *address;
    int64_t now;                                 /* milliseconds, of a clock that is never set */
    struct client *connections[HUB_CONNECTIONS]; /* NULL: a free place */
    uint64_t last_connection;                    /* the number of the last one */
    struct questions questions;
    struct snapshot_requests requests;
    int64_t accepts_from; /* milliseconds: when the next client may be accepted, */
    int64_t owed;         /* and microseconds that are to be added to that */
    struct text target;   /* the session's last description of its target */
    bool asks_target;     /* it has been asked again */
    bool failed;          /* memory ran out, and not for a client */
};

/* Returns a client, or NULL if it has gone. */
static inline struct client *hub_find(const struct hub *hub, uint64_t number)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] && hub->connections[i]->number == number &&
            hub->connections[i]->state != CONNECTION_GONE)
            return hub->connections[i];
    return NULL;
}

/*
 * Returns whether a client may be accepted now. It takes some milliseconds to find out whose it is
 * (server.h), and while a WebSocket is open, accepting takes a tenth of the time at most, so that a
 * flood of connections does not leave an open panel only what is left. hub_accepted() says how long
 * it took.
 */
bool hub_may_accept(const struct hub *hub);
void hub_accepted(struct hub *hub, int64_t microseconds);

/* Adds a client with this socket. Returns NULL if no place is free, or memory runs out. */
struct client *hub_add(struct hub *hub, int fd);

/* Processes what has been appended to a client's in, as far as it can be answered now. */
void hub_feed(struct hub *hub, struct client *client);

/* Processes what has been appended to questions.in. Returns false if it is not a message of a
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
void hub_remove(struct hub *hub, struct client *client);

void hub_deinit(struct hub *hub);

#endif
