/* questions: what clients ask of the session, and the snapshots that they request; see hub.h. */
#include <string.h>

#include "base/contract.h"
#include "base/scope.h"
#include "inspect/hub.h"
#include "inspect/json_write.h"

/* ---- questions to the session ---- */

uint32_t questions_number(struct questions *questions)
{
    return ++questions->last;
}

bool questions_put(struct questions *questions, enum channel_kind kind, uint32_t number,
                   const void *body, size_t size)
{
    const struct channel_head head = {(uint32_t)size, number, kind};
    const size_t wanted = sizeof(head) + size;
    if (questions->out.capacity - questions->out.size < wanted &&
        !text_grow(&questions->out, wanted))
        return false;
    text_append(&questions->out, (const char *)&head, sizeof(head));
    text_append(&questions->out, body, size);
    return true;
}

bool questions_ask(struct questions *questions, enum channel_kind kind, const void *body,
                   size_t size, const struct reply_to *to, questions_done *done)
{
    assert(done && size <= CHANNEL_MOST);
    const struct question ask = {.number = questions_number(questions), .to = *to, .done = done};
    return vector_grow(&questions->list, 1) &&
           questions_put(questions, kind, ask.number, body, size) &&
           vector_push(&questions->list, ask);
}

bool questions_take(struct questions *questions, uint32_t number, struct question *ret)
{
    for (size_t i = 0; i < questions->list.count; i++) {
        if (questions->list.data[i].number != number)
            continue;
        *ret = questions->list.data[i];
        questions->list.data[i] = questions->list.data[--questions->list.count];
        return true;
    }
    return false;
}

bool questions_message(const struct questions *questions, size_t from, struct channel_head *ret,
                       const char **body, bool *ret_broken)
{
    assert(from <= questions->in.size);
    const size_t left = questions->in.size - from;
    if (left < sizeof(*ret))
        return false;
    memcpy(ret, questions->in.data + from, sizeof(*ret));
    *ret_broken = ret->size > CHANNEL_MOST;
    *body = questions->in.data + from + sizeof(*ret);
    return !*ret_broken && left - sizeof(*ret) >= ret->size;
}

void questions_deinit(struct questions *questions)
{
    text_deinit(&questions->out);
    text_deinit(&questions->in);
    free(questions->list.data);
}

/* ---- snapshot requests ---- */

enum {
    LITTLE_LEFT = 64 << 10
}; /* bytes that a client need not have taken when more is asked for */

static void show_progress(struct hub *hub, const struct waiting_client *client, unsigned percent,
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
static bool has_requested(const struct snapshot_request *request, uint64_t connection)
{
    for (size_t i = 0; i < request->clients.count; i++)
        if (request->clients.data[i].to.connection == connection)
            return true;
    return false;
}

void requests_add(struct hub *hub, const struct reply_to *to, bool has_progress)
{
    struct snapshot_requests *requests = &hub->requests;
    struct snapshot_request *request =
        requests->current.is_ready || has_requested(&requests->current, to->connection)
            ? &requests->next
            : &requests->current;
    const struct waiting_client client = {*to, has_progress};
    if (has_requested(request, to->connection)) {
        reply_refuse(hub, to, "this client waits for a snapshot already");
        return;
    }
    if (!vector_push(&request->clients, client)) {
        reply_refuse(hub, to, "out of memory");
        return;
    }
    show_progress(hub, &client, request->percent, false);
}

/* Ends the current request, whose clients have their answers; the next one becomes current. */
static void requests_end(struct hub *hub)
{
    struct snapshot_requests *requests = &hub->requests;
    free(requests->current.clients.data);
    requests->current = requests->next;
    requests->next = (struct snapshot_request){0};
}

static void delay_next_press(struct hub *hub)
{
    hub->requests.not_before = hub->now + REQUESTS_PAUSE;
}

/* Sends an event with bytes of a snapshot to all clients of the request. */
static void send_chunk(struct hub *hub, const char *data, size_t size, bool with_progress_only)
{
    static const char before[] =
        "{\"method\":\"HeapProfiler.addHeapSnapshotChunk\",\"params\":{\"chunk\":";
    _cleanup_(text_deinit) struct text event = {0};
    const struct snapshot_request *request = &hub->requests.current;
    text_append(&event, before, sizeof(before) - 1);
    json_write(&event, data, size);
    text_append_string(&event, "}}");
    for (size_t i = 0; i < request->clients.count; i++)
        if (request->clients.data[i].has_progress || !with_progress_only)
            reply_events(hub, request->clients.data[i].to.connection, event.data,
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
    text_append_string(text, "]}");
    text->failed |= name.failed;
}

/* Ends the current request, which has failed. */
static void requests_fail(struct hub *hub, const char *why, size_t size)
{
    _cleanup_(text_deinit) struct text snapshot = {0};
    const struct snapshot_request *request = &hub->requests.current;
    append_failure(&snapshot, why, size);
    const bool is_shown = !request->is_ready && !snapshot.failed;
    for (size_t i = 0; i < request->clients.count && is_shown; i++)
        show_progress(hub, &request->clients.data[i], 100, true);
    if (is_shown)
        send_chunk(hub, snapshot.data, snapshot.size, true);
    for (size_t i = 0; i < request->clients.count; i++) {
        const struct waiting_client *client = &request->clients.data[i];
        if (is_shown && client->has_progress)
            reply_string(hub, &client->to, "{}");
        else
            reply_error(hub, &client->to, REPLY_REFUSED, why, size);
    }
    if (!request->is_ready)
        delay_next_press(hub);
    requests_end(hub);
}

/* Returns how many of the bytes at the end are the beginning of a character. */
static size_t cut_character(const char *data, size_t size)
{
    for (size_t back = 1; back <= 3 && back <= size; back++) {
        const unsigned char byte = (unsigned char)data[size - back];
        if ((byte & 0xc0) == 0x80)
            continue;
        const size_t whole = 1u + (byte >= 0xc0) + (byte >= 0xe0) + (byte >= 0xf0);
        return whole > back ? back : 0;
    }
    return 0;
}

/* Sends bytes of the snapshot, as far as they are whole characters. */
static void send_bytes(struct hub *hub, const char *data, size_t size)
{
    struct snapshot_request *request = &hub->requests.current;
    _cleanup_(text_deinit) struct text joined = {0};
    if (request->rest_size > 0) {
        text_append(&joined, request->rest, request->rest_size);
        text_append(&joined, data, size);
        data = joined.data;
        size = joined.size;
    }
    hub->failed |= joined.failed;
    if (joined.failed)
        return;
    request->rest_size = cut_character(data, size);
    if (size > request->rest_size)
        send_chunk(hub, data, size - request->rest_size, false);
    memcpy(request->rest, data + size - request->rest_size, request->rest_size);
}

/* Marks the snapshot as ready: from now on the client treats what follows as snapshot data. */
static void mark_ready(struct hub *hub)
{
    struct snapshot_request *request = &hub->requests.current;
    request->is_ready = true;
    for (size_t i = 0; i < request->clients.count; i++)
        show_progress(hub, &request->clients.data[i], 100, true);
    delay_next_press(hub);
}

static void requests_finish(struct hub *hub)
{
    struct snapshot_request *request = &hub->requests.current;
    if (request->rest_size > 0) /* a snapshot never ends like this, and what is sent must be valid
                                 * UTF-8 */
        send_chunk(hub, request->rest, request->rest_size, false);
    for (size_t i = 0; i < request->clients.count; i++)
        reply_string(hub, &request->clients.data[i].to, "{}");
    requests_end(hub);
}

static void advance(struct hub *hub, unsigned percent)
{
    struct snapshot_request *request = &hub->requests.current;
    if (percent <= request->percent || percent > 100)
        return;
    request->percent = percent;
    for (size_t i = 0; i < request->clients.count; i++)
        show_progress(hub, &request->clients.data[i], percent, false);
}

bool requests_answered(struct hub *hub, const struct channel_head *head, const char *body)
{
    struct snapshot_request *request = &hub->requests.current;
    if (request->number == 0 || head->number != request->number)
        return false;
    if (head->kind == CHANNEL_ERROR)
        requests_fail(hub, body, head->size);
    else if (head->kind == CHANNEL_PROGRESS && head->size == 1 && !request->is_ready)
        advance(hub, (unsigned char)*body);
    else if (head->kind == CHANNEL_READY && !request->is_ready)
        mark_ready(hub);
    else if (head->kind == CHANNEL_ANSWER && request->is_asked) {
        request->is_asked = false;
        send_bytes(hub, body, head->size);
    } else if (head->kind == CHANNEL_END && request->is_asked)
        requests_finish(hub);
    else
        return false;
    return true;
}

/* Returns whether all clients have taken nearly all bytes. */
static bool is_taken(const struct hub *hub, const struct snapshot_request *request)
{
    for (size_t i = 0; i < request->clients.count; i++) {
        const struct client *client = hub_find(hub, request->clients.data[i].to.connection);
        if (client && client_left(client) > LITTLE_LEFT)
            return false;
    }
    return true;
}

/* Removes the clients that have gone from a request. */
static void requests_remove_gone(const struct hub *hub, struct snapshot_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < request->clients.count; i++) {
        const struct client *client = hub_find(hub, request->clients.data[i].to.connection);
        if (client && client->state == CONNECTION_OPEN)
            request->clients.data[count++] = request->clients.data[i];
    }
    request->clients.count = count;
}

/* Returns whether the next bytes can be asked for. */
static bool wants_more(const struct hub *hub)
{
    const struct snapshot_request *request = &hub->requests.current;
    return request->is_ready && !request->is_asked && is_taken(hub, request);
}

void requests_tick(struct hub *hub)
{
    struct snapshot_requests *requests = &hub->requests;
    struct snapshot_request *request = &requests->current;
    requests_remove_gone(hub, request);
    requests_remove_gone(hub, &requests->next);
    if (request->number == 0 && request->clients.count > 0 && hub->now >= requests->not_before) {
        request->number = questions_number(&hub->questions);
        hub->failed |= !questions_put(&hub->questions, CHANNEL_TAKE, request->number, NULL, 0);
    }
    if (wants_more(hub)) {
        request->is_asked = true;
        hub->failed |= !questions_put(&hub->questions, CHANNEL_MORE, request->number, NULL, 0);
    }
}

int requests_patience(const struct hub *hub)
{
    const struct snapshot_requests *requests = &hub->requests;
    if (wants_more(hub))
        return 0;
    if (requests->current.number != 0 || requests->current.clients.count == 0)
        return -1;
    return hub->now >= requests->not_before ? 0 : (int)(requests->not_before - hub->now);
}

void requests_deinit(struct snapshot_requests *requests)
{
    free(requests->current.clients.data);
    free(requests->next.clients.data);
}
