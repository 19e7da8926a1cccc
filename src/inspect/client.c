/*
 * client: the buffers and the state of one client, and the messages that it gets; see client.h. A
 * reply answers a request by its number; an event has none. Bytes are only appended to client->out
 * here: server.c sends them. If memory runs out for a message, the client is ended.
 */
#include "inspect/client.h"

#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "inspect/hub.h"
#include "inspect/inspect_json.h"

size_t client_left(const struct client *client)
{
    return client->out.size - client->sent;
}

/* Begins another state of a client. */
void client_move(struct client *client, enum client_state state, int64_t now)
{
    client->state = state;
    client->since = now;
}

/* Sends a message to a WebSocket; nothing to others. */
void client_send(struct client *client, const char *data, size_t size)
{
    if (client->state == CONNECTION_OPEN)
        websocket_write(&client->out, WEBSOCKET_TEXT, data, size);
}

/* Ends a client: tells it why, by the status of a frame that closes a WebSocket (RFC 6455, 5.5.1),
 * if it has one, and lets it close the connection. */
void client_leave(struct client *client, enum websocket_status why, int64_t now)
{
    const char reason[] = {(char)(why >> 8), (char)(unsigned char)(why & 0xff)};
    if (client->state == CONNECTION_OPEN)
        websocket_write(&client->out, WEBSOCKET_CLOSE, reason, sizeof(reason));
    client_move(client, CONNECTION_LEAVES, now);
}

void client_end(struct client *client)
{
    client->state = CONNECTION_GONE;
}

void client_deinit(struct client *client)
{
    text_deinit(&client->in);
    text_deinit(&client->out);
    text_deinit(&client->joined);
}

/* ---- answers and events ---- */

/* Sends a message, unless memory ran out when it was made: then the connection ends. */
static void send_text(struct hub *hub, uint64_t number, const struct text *text)
{
    struct client *client = hub_find(hub, number);
    if (!client)
        return;
    client_send(client, text->data, text->size);
    if (text->failed || client->out.failed)
        client_end(client);
}

/* Begins an answer: the parts of the request that it repeats. */
static void reply_begin(struct text *text, const struct reply_to *to)
{
    text_append_string(text, "{");
    if (*to->id)
        text_printf(text, "\"id\":%s,", to->id);
    if (*to->session)
        text_printf(text, "\"sessionId\":%s,", to->session);
}

/* Sends a result: before, result and after, one after the other, are its JSON. */
void reply_within(struct hub *hub, const struct reply_to *to, const char *before,
                  const char *result, size_t size, const char *after)
{
    _cleanup_(text_deinit) struct text text = {0};
    reply_begin(&text, to);
    text_printf(&text, "\"result\":%s", before);
    text_append(&text, result, size);
    text_printf(&text, "%s}", after);
    send_text(hub, to->connection, &text);
}

void reply_result(struct hub *hub, const struct reply_to *to, const char *result, size_t size)
{
    reply_within(hub, to, "", result, size, "");
}

void reply_string(struct hub *hub, const struct reply_to *to, const char *result)
{
    reply_result(hub, to, result, strlen(result));
}

/* Answers a request with an error. */
void reply_error(struct hub *hub, const struct reply_to *to, enum reply_code code,
                 const char *message, size_t size)
{
    _cleanup_(text_deinit) struct text text = {0};
    reply_begin(&text, to);
    text_printf(&text, "\"error\":{\"code\":%d,\"message\":", (int)code);
    json_write(&text, message, size);
    text_append_string(&text, "}}");
    send_text(hub, to->connection, &text);
}

void reply_refuse(struct hub *hub, const struct reply_to *to, const char *message)
{
    reply_error(hub, to, REPLY_REFUSED, message, strlen(message));
}

/* Sends an event; params is JSON. */
void reply_event(struct hub *hub, uint64_t connection, const char *method, const char *params)
{
    _cleanup_(text_deinit) struct text text = {0};
    text_printf(&text, "{\"method\":\"%s\",\"params\":", method);
    text_append_string(&text, params);
    text_append_string(&text, "}");
    send_text(hub, connection, &text);
}

/* Sends Runtime.consoleAPICalled: a line in the client's console. */
void reply_line(struct hub *hub, uint64_t connection, const char *line)
{
    _cleanup_(text_deinit) struct text text = {0};
    json_write_console(&text, "log", line);
    send_text(hub, connection, &text);
}

/* Sends each line as one message. */
void reply_events(struct hub *hub, uint64_t connection, const char *lines, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *end = memchr(lines + at, '\n', size - at);
        const size_t line = end ? as_size(end - lines) - at : size - at;
        const struct text text = {.data = (char *)(uintptr_t)(lines + at), .size = line};
        if (line > 0)
            send_text(hub, connection, &text);
        at += line + 1;
    }
}
