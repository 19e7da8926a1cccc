/* presses; see presses.h. */
#include "inspect/presses.h"

#include <string.h>

#include "base/scope.h"
#include "inspect/hub.h"
#include "inspect/json_write.h"
#include "inspect/reply.h"

enum {
    LITTLE_LEFT = 64 << 10
}; /* bytes that a client need not have taken when more is asked for */

static void show_progress(struct hub *hub, const struct press_client *client, unsigned percent,
                          bool is_finished)
{
    _cleanup_(text_deinit) struct text params = {0};
    if (!client->has_progress)
        return;
    text_printf(&params, "{\"done\":%u,\"total\":100%s}", percent,
                is_finished ? ",\"finished\":true" : "");
    text_append(&params, "", 1);
    if (!params.failed)
        reply_event(hub, client->to.connection, "HeapProfiler.reportHeapSnapshotProgress",
                    params.data);
}

/* Returns whether a connection has requested this snapshot already: one client cannot distinguish
 * the bytes of two snapshots. */
static bool has_pressed(const struct press *press, uint64_t connection)
{
    for (size_t i = 0; i < press->clients.count; i++)
        if (press->clients.data[i].to.connection == connection)
            return true;
    return false;
}

void presses_add(struct hub *hub, const struct reply_to *to, bool has_progress)
{
    struct presses *presses = &hub->presses;
    struct press *press =
        presses->current.is_ready || has_pressed(&presses->current, to->connection)
            ? &presses->next
            : &presses->current;
    const struct press_client client = {*to, has_progress};
    if (has_pressed(press, to->connection)) {
        reply_refuse(hub, to, "this client waits for a snapshot already");
        return;
    }
    if (!vector_push(&press->clients, client)) {
        reply_refuse(hub, to, "out of memory");
        return;
    }
    show_progress(hub, &client, press->percent, false);
}

/* Ends the current request, whose clients have their answers; the next one becomes current. */
static void presses_end(struct hub *hub)
{
    struct presses *presses = &hub->presses;
    free(presses->current.clients.data);
    presses->current = presses->next;
    presses->next = (struct press){0};
}

static void delay_next_press(struct hub *hub)
{
    hub->presses.not_before = hub->now + PRESSES_PAUSE;
}

/* Sends an event with bytes of a snapshot to all clients of the request. */
static void send_chunk(struct hub *hub, const char *data, size_t size, bool with_progress_only)
{
    static const char before[] =
        "{\"method\":\"HeapProfiler.addHeapSnapshotChunk\",\"params\":{\"chunk\":";
    _cleanup_(text_deinit) struct text event = {0};
    const struct press *press = &hub->presses.current;
    text_append(&event, before, sizeof(before) - 1);
    json_write(&event, data, size);
    text_append(&event, "}}", 2);
    for (size_t i = 0; i < press->clients.count; i++)
        if (press->clients.data[i].has_progress || !with_progress_only)
            reply_events(hub, press->clients.data[i].to.connection, event.data,
                         event.failed ? 0 : event.size);
    hub->failed |= event.failed;
}

/* Appends a snapshot whose only object has the error as its name. A client that shows progress
 * would show it for ever if it got an error. */
static void append_failure(struct text *text, const char *why, size_t size)
{
    static const char before[] =
        "{\"snapshot\":{\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\","
        "\"edge_count\",\"trace_node_id\",\"detachedness\"],\"node_types\":[[\"hidden\",\"array\","
        "\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\",\"native\",\"synthetic\","
        "\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\",\"object shape\"],"
        "\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
        "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[[\"context\","
        "\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],"
        "\"string_or_number\",\"node\"],\"trace_function_info_fields\":[],"
        "\"trace_node_fields\":[],\"sample_fields\":[],\"location_fields\":[\"object_index\","
        "\"script_id\",\"line\",\"column\"]},\"node_count\":2,\"edge_count\":1,"
        "\"trace_function_count\":0},\"nodes\":[9,0,1,0,1,0,0\n,3,1,3,1,0,0,0],"
        "\"edges\":[1,1,7],\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],"
        "\"locations\":[],\"strings\":[\"\",";
    _cleanup_(text_deinit) struct text name = {0};
    text_printf(&name, "no snapshot: ");
    text_append(&name, why, size);
    text_append(text, before, sizeof(before) - 1);
    json_write(text, name.data, name.size);
    text_append(text, "]}", 2);
    text->failed |= name.failed;
}

/* Ends the current request, which has failed. */
static void presses_fail(struct hub *hub, const char *why, size_t size)
{
    _cleanup_(text_deinit) struct text snapshot = {0};
    const struct press *press = &hub->presses.current;
    append_failure(&snapshot, why, size);
    const bool is_shown = !press->is_ready && !snapshot.failed;
    for (size_t i = 0; i < press->clients.count && is_shown; i++)
        show_progress(hub, &press->clients.data[i], 100, true);
    if (is_shown)
        send_chunk(hub, snapshot.data, snapshot.size, true);
    for (size_t i = 0; i < press->clients.count; i++) {
        const struct press_client *client = &press->clients.data[i];
        if (is_shown && client->has_progress)
            reply_string(hub, &client->to, "{}");
        else
            reply_error(hub, &client->to, REPLY_REFUSED, why, size);
    }
    if (!press->is_ready)
        delay_next_press(hub);
    presses_end(hub);
}

/* Returns how many of the bytes at the end are the beginning of a character. */
static size_t cut_character(const char *data, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        const unsigned char byte = (unsigned char)data[size - back];
        if ((byte & 0xc0) == 0x80)
            continue;
        const size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return whole > back ? back : 0;
    }
    return 0;
}

/* Sends bytes of the snapshot, as far as they are whole characters. */
static void send_bytes(struct hub *hub, const char *data, size_t size)
{
    struct press *press = &hub->presses.current;
    _cleanup_(text_deinit) struct text joined = {0};
    if (press->rest_size > 0) {
        text_append(&joined, press->rest, press->rest_size);
        text_append(&joined, data, size);
        data = joined.data;
        size = joined.size;
    }
    hub->failed |= joined.failed;
    if (joined.failed)
        return;
    press->rest_size = cut_character(data, size);
    if (size > press->rest_size)
        send_chunk(hub, data, size - press->rest_size, false);
    memcpy(press->rest, data + size - press->rest_size, press->rest_size);
}

/* Marks the snapshot as ready: from now on the client treats what follows as snapshot data. */
static void mark_ready(struct hub *hub)
{
    struct press *press = &hub->presses.current;
    press->is_ready = true;
    for (size_t i = 0; i < press->clients.count; i++)
        show_progress(hub, &press->clients.data[i], 100, true);
    delay_next_press(hub);
}

static void presses_finish(struct hub *hub)
{
    struct press *press = &hub->presses.current;
    if (press->rest_size > 0) /* a snapshot never ends like this, and what is sent must be valid
                               * UTF-8 */
        send_chunk(hub, press->rest, press->rest_size, false);
    for (size_t i = 0; i < press->clients.count; i++)
        reply_string(hub, &press->clients.data[i].to, "{}");
    presses_end(hub);
}

static void advance(struct hub *hub, unsigned percent)
{
    struct press *press = &hub->presses.current;
    if (percent <= press->percent || percent > 100)
        return;
    press->percent = percent;
    for (size_t i = 0; i < press->clients.count; i++)
        show_progress(hub, &press->clients.data[i], percent, false);
}

bool presses_answered(struct hub *hub, const struct channel_head *head, const char *body)
{
    struct press *press = &hub->presses.current;
    if (press->number == 0 || head->number != press->number)
        return false;
    if (head->kind == CHANNEL_ERROR)
        presses_fail(hub, body, head->size);
    else if (head->kind == CHANNEL_PROGRESS && head->size == 1 && !press->is_ready)
        advance(hub, (unsigned char)*body);
    else if (head->kind == CHANNEL_READY && !press->is_ready)
        mark_ready(hub);
    else if (head->kind == CHANNEL_ANSWER && press->is_asked) {
        press->is_asked = false;
        send_bytes(hub, body, head->size);
    } else if (head->kind == CHANNEL_END && press->is_asked)
        presses_finish(hub);
    else
        return false;
    return true;
}

/* Returns whether all clients have taken nearly all bytes. */
static bool is_taken(const struct hub *hub, const struct press *press)
{
    for (size_t i = 0; i < press->clients.count; i++) {
        const struct connection *connection = hub_find(hub, press->clients.data[i].to.connection);
        if (connection && connection_left(connection) > LITTLE_LEFT)
            return false;
    }
    return true;
}

/* Removes the clients that have gone from a request. */
static void presses_remove_gone(const struct hub *hub, struct press *press)
{
    size_t count = 0;
    for (size_t i = 0; i < press->clients.count; i++) {
        const struct connection *connection = hub_find(hub, press->clients.data[i].to.connection);
        if (connection && connection->state == CONNECTION_OPEN)
            press->clients.data[count++] = press->clients.data[i];
    }
    press->clients.count = count;
}

/* Returns whether the next bytes can be asked for. */
static bool wants_more(const struct hub *hub)
{
    const struct press *press = &hub->presses.current;
    return press->is_ready && !press->is_asked && is_taken(hub, press);
}

void presses_tick(struct hub *hub)
{
    struct presses *presses = &hub->presses;
    struct press *press = &presses->current;
    presses_remove_gone(hub, press);
    presses_remove_gone(hub, &presses->next);
    if (press->number == 0 && press->clients.count > 0 && hub->now >= presses->not_before) {
        press->number = asks_number(&hub->asks);
        hub->failed |= !asks_put(&hub->asks, CHANNEL_TAKE, press->number, NULL, 0);
    }
    if (wants_more(hub)) {
        press->is_asked = true;
        hub->failed |= !asks_put(&hub->asks, CHANNEL_MORE, press->number, NULL, 0);
    }
}

int presses_patience(const struct hub *hub)
{
    const struct presses *presses = &hub->presses;
    if (wants_more(hub))
        return 0;
    if (presses->current.number != 0 || presses->current.clients.count == 0)
        return -1;
    return hub->now >= presses->not_before ? 0 : (int)(presses->not_before - hub->now);
}

void presses_deinit(struct presses *presses)
{
    free(presses->current.clients.data);
    free(presses->next.clients.data);
}
