/* hub; see hub.h. */
#include "inspect/hub.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/cdp.h"
#include "inspect/discovery.h"
#include "inspect/http.h"

enum {
    HEAD_TIME = 5000,  /* milliseconds for a request's head, */
    LEAVE_TIME = 1000, /* for taking the rest, and closing, */
    TAKE_TIME = 30000, /* and for taking some of the requested data */
    ASKED_MOST = 16,   /* questions to the session for one client at a time */
    KEPT = 64 << 10    /* bytes of a buffer that stay when it is empty */
};

struct connection *hub_add(struct hub *hub, int fd)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        if (hub->connections[i])
            continue;
        struct connection *connection = calloc(1, sizeof(*connection));
        if (!connection)
            return NULL;
        connection->fd = fd;
        connection->number = ++hub->last_connection;
        connection->since = connection->taken_at = hub->now;
        hub->connections[i] = connection;
        return connection;
    }
    return NULL;
}

void hub_remove(struct hub *hub, struct connection *connection)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] == connection)
            hub->connections[i] = NULL;
    connection_deinit(connection);
    free(connection);
}

/* ---- input from clients ---- */

/* Processes a whole message. */
static void take_message(struct hub *hub, struct connection *connection, const char *data,
                         size_t size)
{
    if (websocket_is_utf8(data, size))
        cdp_message(hub, connection, data, size);
    else
        connection_leave(connection, WEBSOCKET_NOT_UTF8, hub->now);
}

/* Processes a frame of a message. */
static void take_part(struct hub *hub, struct connection *connection,
                      const struct websocket_frame *frame)
{
    if ((frame->opcode == WEBSOCKET_CONTINUATION) != connection->is_joining) {
        connection_leave(connection, WEBSOCKET_PROTOCOL_ERROR, hub->now);
        return;
    }
    if (!connection->is_joining && frame->is_last) {
        take_message(hub, connection, frame->data, frame->size);
        return;
    }
    if (connection->joined.size + frame->size > WEBSOCKET_MOST) {
        connection_leave(connection, WEBSOCKET_TOO_LARGE, hub->now);
        return;
    }
    text_append(&connection->joined, frame->data, frame->size);
    connection->is_joining = !frame->is_last;
    if (connection->joined.failed)
        connection_end(connection);
    if (connection->is_joining || connection->state != CONNECTION_OPEN)
        return;
    take_message(hub, connection, connection->joined.data, connection->joined.size);
    text_deinit(&connection->joined);
    connection->joined = (struct text){0};
}

static void take_frame(struct hub *hub, struct connection *connection,
                       const struct websocket_frame *frame)
{
    if (frame->opcode == WEBSOCKET_CLOSE)
        connection_leave(connection, WEBSOCKET_NORMAL, hub->now);
    else if (frame->opcode == WEBSOCKET_PING)
        websocket_write(&connection->out, WEBSOCKET_PONG, frame->data, frame->size);
    else if (frame->opcode != WEBSOCKET_PONG)
        take_part(hub, connection, frame);
}

static void read_head(struct hub *hub, struct connection *connection)
{
    struct http_request request;
    size_t size;
    const enum http_state state =
        http_read(connection->in.data, connection->in.size, &request, &size);
    if (state == HTTP_COMPLETE) {
        connection->used = size;
        discovery_request(hub, connection, &request);
    } else if (state != HTTP_PARTIAL) {
        http_refuse(&connection->out, state == HTTP_BAD ? 400 : 431,
                    state == HTTP_BAD ? "this is not an HTTP/1.1 request" : "this is too long");
        connection_move(connection, CONNECTION_LEAVES, hub->now);
    }
}

/* Removes the bytes that have been processed. */
static void hub_forget(struct connection *connection)
{
    struct text *in = &connection->in;
    in->size -= connection->used;
    if (in->size > 0 && connection->used > 0)
        memmove(in->data, in->data + connection->used, in->size);
    connection->used = 0;
    if (in->size == 0 && in->capacity > KEPT) {
        text_deinit(in);
        *in = (struct text){0};
    }
}

/* Returns whether a client may be answered: it takes its answers, and not too many are under way.
 */
static bool is_its_turn(const struct connection *connection)
{
    return connection->asked < ASKED_MOST && connection_left(connection) < CONNECTION_FULL;
}

/* Processes the complete messages. */
static void read_frames(struct hub *hub, struct connection *connection)
{
    struct websocket_frame frame;
    size_t size;
    connection->is_held = false;
    while (connection->state == CONNECTION_OPEN && connection->in.size > connection->used) {
        connection->is_held = !is_its_turn(connection);
        if (connection->is_held)
            return;
        const unsigned why = websocket_read(connection->in.data + connection->used,
                                            connection->in.size - connection->used, &frame, &size);
        if (why != 0)
            connection_leave(connection, why, hub->now);
        else if (size > 0)
            take_frame(hub, connection, &frame);
        else
            return;
        connection->used += size;
    }
}

void hub_feed(struct hub *hub, struct connection *connection)
{
    if (connection->state == CONNECTION_HEAD && connection->in.size > 0)
        read_head(hub, connection);
    read_frames(hub, connection);
    if (connection->state == CONNECTION_LEAVES || connection->state == CONNECTION_WAITS)
        connection->used = connection->in.size;
    if (connection->in.failed || connection->out.failed)
        connection_end(connection);
    hub_forget(connection);
}

/* ---- input from the session ---- */

/* Processes an answer. An unexpected one belongs to a question that has been answered. */
static void take_answer(struct hub *hub, const struct channel_head *head, const char *body)
{
    struct ask ask;
    if (presses_answered(hub, head, body) ||
        (head->kind != CHANNEL_ANSWER && head->kind != CHANNEL_ERROR) ||
        !asks_take(&hub->asks, head->number, &ask))
        return;
    struct connection *connection = hub_find(hub, ask.to.connection);
    if (connection)
        connection->asked--;
    if (connection || ask.to.connection == 0)
        ask.done(hub, &ask.to, head->kind, body, head->size);
}

bool hub_answered(struct hub *hub)
{
    struct text *in = &hub->asks.in;
    struct channel_head head;
    const char *body;
    size_t used = 0;
    bool is_broken = false;
    while (asks_message(&hub->asks, used, &head, &body, &is_broken)) {
        take_answer(hub, &head, body);
        used += sizeof(head) + head.size;
    }
    in->size -= used;
    if (in->size > 0 && used > 0)
        memmove(in->data, in->data + used, in->size);
    return !is_broken;
}

/* ---- time ---- */

/* Returns when a client's time is over. */
static int64_t deadline(const struct connection *connection)
{
    const int64_t taken = connection->taken_at + TAKE_TIME;
    switch (connection->state) {
    case CONNECTION_HEAD:
        return connection->since + HEAD_TIME;
    case CONNECTION_WAITS:
        return connection->since + DISCOVERY_PATIENCE;
    case CONNECTION_LEAVES:
        return connection_left(connection) > 0 ? taken : connection->since + LEAVE_TIME;
    default:
        return connection_left(connection) > 0 ? taken : INT64_MAX;
    }
}

void hub_wake(struct hub *hub, int64_t now)
{
    hub->now = now;
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] && connection_left(hub->connections[i]) == 0)
            hub->connections[i]->taken_at = now;
}

void hub_tick(struct hub *hub)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        struct connection *connection = hub->connections[i];
        if (!connection || connection->state == CONNECTION_GONE)
            continue;
        if (connection->is_held)
            hub_feed(hub, connection);
        if (deadline(connection) > hub->now)
            continue;
        if (connection->state == CONNECTION_WAITS)
            discovery_list(hub, connection);
        else
            connection_end(connection);
    }
    presses_tick(hub);
}

int hub_patience(const struct hub *hub)
{
    const int press = presses_patience(hub);
    int64_t first = press < 0 ? INT64_MAX : hub->now + press;
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++) {
        const struct connection *connection = hub->connections[i];
        if (!connection || connection->state == CONNECTION_GONE)
            continue;
        if (connection->is_held && is_its_turn(connection))
            return 0;
        if (deadline(connection) < first)
            first = deadline(connection);
    }
    return first == INT64_MAX ? -1 : first <= hub->now ? 0 : (int)(first - hub->now);
}

void hub_deinit(struct hub *hub)
{
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i])
            hub_remove(hub, hub->connections[i]);
    asks_deinit(&hub->asks);
    presses_deinit(&hub->presses);
    text_deinit(&hub->target);
}
