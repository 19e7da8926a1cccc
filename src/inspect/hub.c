/*
 * hub: all clients, and what is done when bytes come from a client or an answer from the session,
 * and when time passes; see hub.h. server.c calls hub_feed(), hub_answered() and hub_tick(), and
 * sends what these have appended to the clients' buffers. hub_patience() says how long nothing will
 * be due.
 */
#include "inspect/hub.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "inspect/cdp.h"
#include "inspect/http.h"

enum {
    HEAD_TIME = 5000,  /* milliseconds for a request's head, */
    LEAVE_TIME = 1000, /* for taking the rest, and closing, */
    TAKE_TIME = 30000, /* and for taking some of the requested data */
    ASKED_MOST = 16,   /* questions to the session for one client at a time */
    KEPT = 64 << 10,   /* bytes of a buffer that stay when it is empty */
    REST = 9,          /* times as long as accepting a client took no other is accepted, */
    REST_MOST = 1000   /* milliseconds */
};

/* ---- new clients ---- */

/* Returns whether any client is a WebSocket, as DevTools' panels are. */
static bool has_panel(const struct hub *hub)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] && hub->connections[i]->state == CONNECTION_OPEN)
            return true;
    return false;
}

/* Returns whether new clients are accepted now: later only if there is a client with a panel, which
 * others could disturb. */
bool hub_may_accept(const struct hub *hub)
{
    return hub->now >= hub->accepts_from || !has_panel(hub);
}

/* Notes that accepting a client took so long: no other one is accepted for REST times as long after
 * it, but at most REST_MOST, so that clients that come and go all the time take little of the
 * processor. What is less than a millisecond is kept for the next time (owed). */
void hub_accepted(struct hub *hub, int64_t microseconds)
{
    assert(microseconds >= 0);
    hub->owed += (1 + REST) * microseconds; /* from hub->now on */
    const int64_t rest = hub->owed / 1000;
    hub->owed %= 1000;
    hub->accepts_from = hub->now + MIN(rest, REST_MOST);
}

/* Adds a client. Returns NULL if there are HUB_CONNECTIONS already, or memory runs out. */
struct client *hub_add(struct hub *hub, int fd)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        if (hub->connections[i])
            continue;
        struct client *client = calloc(1, sizeof(*client));
        if (!client)
            return NULL;
        client->fd = fd;
        client->number = ++hub->last_connection;
        client->since = client->taken_at = hub->now;
        hub->connections[i] = client;
        return client;
    }
    return NULL;
}

/* Removes and frees a client; its socket is the caller's. */
void hub_remove(struct hub *hub, struct client *client)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] == client)
            hub->connections[i] = NULL;
    client_deinit(client);
    free(client);
}

/* ---- input from clients ---- */

/* Processes a whole message. */
static void take_message(struct hub *hub, struct client *client, const char *data, size_t size)
{
    if (websocket_is_utf8(data, size))
        cdp_message(hub, client, data, size);
    else
        client_leave(client, WEBSOCKET_NOT_UTF8, hub->now);
}

/* Processes a frame of a message. Frames but the last are kept until that comes. A client that
 * sends a message of more than WEBSOCKET_MOST bytes, or begins another one before its end, has to
 * leave. */
static void take_part(struct hub *hub, struct client *client, const struct websocket_frame *frame)
{
    if ((frame->opcode == WEBSOCKET_CONTINUATION) != client->is_joining) {
        client_leave(client, WEBSOCKET_PROTOCOL_ERROR, hub->now);
        return;
    }
    if (!client->is_joining && frame->is_last) {
        take_message(hub, client, frame->data, frame->size);
        return;
    }
    if (client->joined.size + frame->size > WEBSOCKET_MOST) {
        client_leave(client, WEBSOCKET_TOO_LARGE, hub->now);
        return;
    }
    text_append(&client->joined, frame->data, frame->size);
    client->is_joining = !frame->is_last;
    if (client->joined.failed)
        client_end(client);
    if (client->is_joining || client->state != CONNECTION_OPEN)
        return;
    take_message(hub, client, client->joined.data, client->joined.size);
    text_deinit(&client->joined);
    client->joined = (struct text){0};
}

/* Processes a frame: closes, answers a ping, or adds a part of a message. */
static void take_frame(struct hub *hub, struct client *client, const struct websocket_frame *frame)
{
    if (frame->opcode == WEBSOCKET_CLOSE)
        client_leave(client, WEBSOCKET_NORMAL, hub->now);
    else if (frame->opcode == WEBSOCKET_PING)
        websocket_write(&client->out, WEBSOCKET_PONG, frame->data, frame->size);
    else if (frame->opcode != WEBSOCKET_PONG)
        take_part(hub, client, frame);
}

/* Reads the head of a request, once all of it has come, and answers it: by its path, or with a
 * refusal, after which the client leaves, if it is not HTTP/1.1 or too long. */
static void read_head(struct hub *hub, struct client *client)
{
    struct http_request request;
    size_t size;
    const enum http_state state = http_read(client->in.data, client->in.size, &request, &size);
    if (state == HTTP_PARTIAL)
        return;
    if (state == HTTP_COMPLETE) {
        client->used = size;
        discovery_request(hub, client, &request);
        return;
    }
    if (state == HTTP_BAD)
        http_refuse(&client->out, 400, "this is not an HTTP/1.1 request");
    else
        http_refuse(&client->out, 431, "this is too long");
    client_move(client, CONNECTION_LEAVES, hub->now);
}

/* Removes the bytes that have been processed, and frees the buffer if it is empty and larger than
 * KEPT. */
static void hub_forget(struct client *client)
{
    struct text *in = &client->in;
    in->size -= client->used;
    if (in->size > 0 && client->used > 0)
        memmove(in->data, in->data + client->used, in->size);
    client->used = 0;
    if (in->size == 0 && in->capacity > KEPT) {
        text_deinit(in);
        *in = (struct text){0};
    }
}

/* Returns whether a client may be answered: it takes its answers, and not too many are under way.
 */
static bool is_its_turn(const struct client *client)
{
    return client->asked < ASKED_MOST && client_left(client) < CONNECTION_FULL;
}

/* Processes the complete frames that a client has sent, as long as it is its turn; else they stay
 * in its buffer (is_held). A client whose frame is refused leaves. */
static void read_frames(struct hub *hub, struct client *client)
{
    struct websocket_frame frame;
    size_t size;
    client->is_held = false;
    while (client->state == CONNECTION_OPEN && client->in.size > client->used) {
        client->is_held = !is_its_turn(client);
        if (client->is_held)
            return;
        const unsigned why = websocket_read(client->in.data + client->used,
                                            client->in.size - client->used, &frame, &size);
        if (why != 0)
            client_leave(client, why, hub->now);
        else if (size > 0)
            take_frame(hub, client, &frame);
        else
            return;
        client->used += size;
    }
}

/* Handles what a client has sent: first its request, then frames. From one that leaves nothing is
 * read any more. */
void hub_feed(struct hub *hub, struct client *client)
{
    if (client->state == CONNECTION_HEAD && client->in.size > 0)
        read_head(hub, client);
    read_frames(hub, client);
    if (client->state == CONNECTION_LEAVES || client->state == CONNECTION_WAITS)
        client->used = client->in.size;
    if (client->in.failed || client->out.failed)
        client_end(client);
    hub_forget(client);
}

/* ---- input from the session ---- */

/* Processes a message of the session: about the snapshot, or the answer to a question. Drops one
 * that no question waits for, or whose client has left (connection 0: it is for no single one). */
static void take_answer(struct hub *hub, const struct channel_head *head, const char *body)
{
    struct question ask;
    if (requests_answered(hub, head, body) ||
        (head->kind != CHANNEL_ANSWER && head->kind != CHANNEL_ERROR) ||
        !questions_take(&hub->questions, head->number, &ask))
        return;
    struct client *client = hub_find(hub, ask.to.connection);
    if (client)
        client->asked--;
    if (client || ask.to.connection == 0)
        ask.done(hub, &ask.to, head->kind, body, head->size);
}

/* Handles the complete messages of the session, and keeps the rest. Returns false if one is
 * broken. */
bool hub_answered(struct hub *hub)
{
    struct text *in = &hub->questions.in;
    struct channel_head head;
    const char *body;
    size_t used = 0;
    bool is_broken = false;
    while (questions_message(&hub->questions, used, &head, &body, &is_broken)) {
        take_answer(hub, &head, body);
        used += sizeof(head) + head.size;
    }
    in->size -= used;
    if (in->size > 0 && used > 0)
        memmove(in->data, in->data + used, in->size);
    return !is_broken;
}

/* ---- time ---- */

/* Returns when a client's time is over, in milliseconds as hub->now: for its request, for the list
 * of targets, for taking bytes that wait for it, or for closing; INT64_MAX: never. */
static int64_t deadline(const struct client *client)
{
    const int64_t taken = client->taken_at + TAKE_TIME;
    switch (client->state) {
    case CONNECTION_HEAD:
        return client->since + HEAD_TIME;
    case CONNECTION_WAITS:
        return client->since + DISCOVERY_PATIENCE;
    case CONNECTION_LEAVES:
        return client_left(client) > 0 ? taken : client->since + LEAVE_TIME;
    default:
        return client_left(client) > 0 ? taken : INT64_MAX;
    }
}

/* Notes the time. Clients for which nothing waits are as patient as if they had taken something
 * now. */
void hub_wake(struct hub *hub, int64_t now)
{
    assert(now >= hub->now);
    hub->now = now;
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] && client_left(hub->connections[i]) == 0)
            hub->connections[i]->taken_at = now;
}

/* Handles what is due by time: clients whose turn has come, deadlines (a client that waits for the
 * list gets it, others are ended), and requests. */
void hub_tick(struct hub *hub)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        struct client *client = hub->connections[i];
        if (!client || client->state == CONNECTION_GONE)
            continue;
        if (client->is_held)
            hub_feed(hub, client);
        if (deadline(client) > hub->now)
            continue;
        if (client->state == CONNECTION_WAITS)
            discovery_list(hub, client);
        else
            client_end(client);
    }
    requests_tick(hub);
}

/* Returns in how many milliseconds something is due by time, or -1 if nothing is: a request, the
 * end of a pause in which no client is accepted, a client whose turn it is (at once), or a deadline
 * of a client. */
int hub_patience(const struct hub *hub)
{
    const int request = requests_patience(hub);
    int64_t first = request < 0 ? INT64_MAX : hub->now + request;
    if (!hub_may_accept(hub) && hub->accepts_from < first)
        first = hub->accepts_from;
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        const struct client *client = hub->connections[i];
        if (!client || client->state == CONNECTION_GONE)
            continue;
        if (client->is_held && is_its_turn(client))
            return 0;
        if (deadline(client) < first)
            first = deadline(client);
    }
    if (first == INT64_MAX)
        return -1;
    return first <= hub->now ? 0 : (int)(first - hub->now);
}

void hub_deinit(struct hub *hub)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i])
            hub_remove(hub, hub->connections[i]);
    questions_deinit(&hub->questions);
    requests_deinit(&hub->requests);
    text_deinit(&hub->target);
}
