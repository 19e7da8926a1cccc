/* discovery; see discovery.h. */
#include "inspect/discovery.h"

#include <string.h>

#include "base/scope.h"
#include "inspect/cdp.h"
#include "inspect/hub.h"
#include "inspect/json_write.h"

static void discovery_refuse(struct hub *hub, struct client *client, unsigned status,
                             const char *why)
{
    http_refuse(&client->out, status, why);
    client_move(client, CONNECTION_LEAVES, hub->now);
}

static void discovery_answer(struct hub *hub, struct client *client, const struct text *body)
{
    http_answer(&client->out, 200, "application/json", body->data, body->size);
    client->out.failed |= body->failed;
    client_move(client, CONNECTION_LEAVES, hub->now);
}

static void answer_version(struct hub *hub, struct client *client)
{
    _cleanup_(text_deinit) struct text body = {0};
    text_append_string(&body, "{\"Browser\":");
    json_write_string(&body, hub->options->program);
    text_printf(&body, ",\"Protocol-Version\":\"1.3\"}");
    discovery_answer(hub, client, &body);
}

static void answer_protocol(struct hub *hub, struct client *client)
{
    _cleanup_(text_deinit) struct text body = {0};
    cdp_describe(&body);
    discovery_answer(hub, client, &body);
}

/* Appends a member with an address by which the client finds this server. */
static void append_address(struct text *text, const char *member, const char *before,
                           const char *host, const char *path)
{
    _cleanup_(text_deinit) struct text address = {0};
    text_printf(&address, "%s%s%s", before, host, path);
    text_printf(text, ",\"%s\":", member);
    json_write(text, address.data, address.size);
    text->failed |= address.failed;
}

void discovery_list(struct hub *hub, struct client *client)
{
    static const char
        page[] = "devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=",
        compatible[] =
            "devtools://devtools/bundled/inspector.html?experiments=true&v8only=true&ws=";
    _cleanup_(text_deinit) struct text body = {0};
    const char *host = client->host, *path = hub->address->path;
    text_append_string(&body, "[");
    if (hub->target.size > 0) {
        text_printf(&body,
                    "{\"id\":\"%s\",\"type\":\"node\",\"description\":\"\",\"faviconUrl\":\"\",",
                    path + 1);
        text_append(&body, hub->target.data, hub->target.size);
        append_address(&body, "devtoolsFrontendUrl", page, host, path);
        append_address(&body, "devtoolsFrontendUrlCompat", compatible, host, path);
        append_address(&body, "webSocketDebuggerUrl", "ws://", host, path);
        text_append_string(&body, "}");
    }
    text_append_string(&body, "]");
    discovery_answer(hub, client, &body);
}

/* The session has described its target: all clients that wait for that are answered. */
static void target_came(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                        const char *body, size_t size)
{
    (void)to;
    hub->asks_target = false;
    if (kind == CHANNEL_ANSWER) {
        hub->target.size = 0;
        text_append(&hub->target, body, size);
    }
    for (unsigned i = 0; i < HUB_CONNECTIONS; i++)
        if (hub->connections[i] && hub->connections[i]->state == CONNECTION_WAITS)
            discovery_list(hub, hub->connections[i]);
}

/* Asks the session for its target, and makes the client wait. A private server's list is empty. */
static void begin_list(struct hub *hub, struct client *client, const struct http_request *request)
{
    _cleanup_(text_deinit) struct text none = {0};
    if (hub->options->is_private) {
        text_append_string(&none, "[]");
        discovery_answer(hub, client, &none);
        return;
    }
    memcpy(client->host, request->host.data, request->host.size);
    client->host[request->host.size] = '\0';
    if (!hub->asks_target)
        hub->asks_target = questions_ask(&hub->questions, CHANNEL_TARGET, NULL, 0,
                                         &(struct reply_to){0}, target_came);
    client_move(client, CONNECTION_WAITS, hub->now);
}

/* Answers the handshake of a WebSocket (RFC 6455, 4.2.2). None of the offered extensions is
 * accepted. */
static void upgrade(struct hub *hub, struct client *client, const struct http_request *request)
{
    char accept[WEBSOCKET_ACCEPT];
    if (!request->is_upgrade) {
        discovery_refuse(hub, client, 426, "this is the address of a WebSocket");
        return;
    }
    if (!http_is(request->version, "13")) {
        discovery_refuse(hub, client, 426, "only version 13 of WebSocket is understood");
        return;
    }
    if (!request->key.data || !websocket_accept(request->key.data, request->key.size, accept)) {
        discovery_refuse(hub, client, 400, "Sec-WebSocket-Key must be 16 bytes in base64");
        return;
    }
    text_printf(&client->out,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: %s\r\n\r\n",
                accept);
    client_move(client, CONNECTION_OPEN, hub->now);
}

/* Returns the path without a slash at its end. */
static struct http_part without_slash(struct http_part path)
{
    path.size -= path.size > 1 && path.data[path.size - 1] == '/' ? 1 : 0;
    return path;
}

/* Returns whether a page of a browser has sent a request, and not DevTools. A page may send one
 * without Origin, as for an image, and then Sec-Fetch-Site says that it comes from elsewhere (W3C
 * Fetch Metadata); "none" is what a user has typed. Programs send neither. */
static bool is_of_page(const struct http_request *request)
{
    if (request->origin.data)
        return !http_is(request->origin, "devtools://devtools");
    return request->site.data && !http_is(request->site, "none") &&
           !http_is(request->site, "same-origin");
}

void discovery_request(struct hub *hub, struct client *client, const struct http_request *request)
{
    const struct http_part path = without_slash(request->path);
    if (request->is_twice || request->host.size >= sizeof(client->host) ||
        !http_host_is_here(request->host, hub->address->host))
        discovery_refuse(hub, client, 400, "Host must be localhost or the address of this server");
    else if (is_of_page(request))
        discovery_refuse(hub, client, 403, "only DevTools may connect from within a browser");
    else if (!http_is(request->method, "GET"))
        discovery_refuse(hub, client, 405, "only GET is understood");
    else if (http_is(path, "/json/version"))
        answer_version(hub, client);
    else if (http_is(path, "/json/protocol"))
        answer_protocol(hub, client);
    else if (http_is(path, "/json") || http_is(path, "/json/list"))
        begin_list(hub, client, request);
    else if (http_is(path, hub->address->path))
        upgrade(hub, client, request);
    else
        discovery_refuse(hub, client, 404, "there is nothing of this name: see /json/list");
}
