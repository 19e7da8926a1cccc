/*
 * cdp: answers the requests of DevTools: those of the Chrome DevTools Protocol, and those of HTTP
 * for /json; see cdp.h. Three parts:
 *
 * questions  what only the session, the process with the heaps, can answer: a question is sent
 *           there, and a function is called with its answer
 * requests   snapshots that clients have requested: several may wait for one; its bytes come from
 *           the session in pieces, and are sent to all of them
 * cdp        a table from each method of the protocol to a function, which answers at once or asks
 *           the session; and the same for paths of HTTP
 *
 * The hub is the state of all clients (hub.h). An event is a message to a client that no request
 * asked for.
 */
#include "inspect/cdp.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "inspect/hub.h"
#include "inspect/inspect_json.h"

/* ==== what clients ask of the session, and the snapshots that they request ==== */

/* ---- questions to the session ---- */

/* Returns a number for a question. */
static uint32_t questions_number(struct questions *questions)
{
    return ++questions->last;
}

/* Appends a message to the session's queue. Returns false if memory runs out. */
static bool questions_put(struct questions *questions, enum channel_kind kind, uint32_t number,
                          const void *body, size_t size)
{
    const struct channel_head head = {(uint32_t)size, number, kind};
    const size_t wanted = sizeof(head) + size;
    if (questions->out.capacity - questions->out.size < wanted &&
        !text_grow(&questions->out, wanted))
        return false;
    text_append(&questions->out, &head, sizeof(head));
    text_append(&questions->out, body, size);
    return true;
}

/* Asks the session on behalf of the request that an answer goes to. done is called with the answer.
 * Returns false if memory runs out. */
static bool questions_ask(struct questions *questions, enum channel_kind kind, const void *body,
                          size_t size, const struct reply_to *to, questions_done *done)
{
    assert(done && size <= CHANNEL_MOST);
    const struct question ask = {.number = questions_number(questions), .to = *to, .done = done};
    return vector_grow(&questions->list, 1) &&
           questions_put(questions, kind, ask.number, body, size) &&
           vector_push(&questions->list, ask);
}

/* Removes the question that an answer is to. Returns false if there is none. */
bool questions_take(struct questions *questions, uint32_t number, struct question *ret)
{
    VECTOR_EACH(struct question, question, questions->list) {
        if (question->number != number)
            continue;
        *ret = *question;
        *question = questions->list.data[--questions->list.count];
        return true;
    }
    return false;
}

/* Gets the message of the session at `from` in what has come, if it is complete: its head, and
 * where its body begins. Returns false if it is not complete yet, or, with *ret_broken, if it is
 * too long. */
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

enum { LITTLE_LEFT = 64 << 10 /* bytes that clients need not have taken when more is asked for */ };

/* Tells a client how much of its snapshot is done, if it has asked for that. is_finished: this is
 * the last such message. */
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
    VECTOR_EACH(struct waiting_client, client, request->clients)
        if (client->to.connection == connection)
            return true;
    return false;
}

/* Adds a snapshot request of the client that an answer goes to. A client waits for the snapshot
 * that is being made, unless that is ready or the client waits for it already; then for the next
 * one. A client that waits for both is refused. has_progress: it wants to be told how much is
 * done. */
static void requests_add(struct hub *hub, const struct reply_to *to, bool has_progress)
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

/* Has the next snapshot begin REQUESTS_PAUSE milliseconds from now at the earliest. */
static void delay_next_snapshot(struct hub *hub)
{
    hub->requests.not_before = hub->now + REQUESTS_PAUSE;
}

/* Sends an event with bytes of a snapshot to all clients of the request. With with_progress_only,
 * only to those that want to be told how much is done. */
static void send_chunk(struct hub *hub, const char *data, size_t size, bool with_progress_only)
{
    static const char before[] =
        "{\"method\":\"HeapProfiler.addHeapSnapshotChunk\",\"params\":{\"chunk\":";
    _cleanup_(text_deinit) struct text event = {0};
    const struct snapshot_request *request = &hub->requests.current;
    text_append(&event, before, sizeof(before) - 1);
    json_write(&event, data, size);
    text_append_string(&event, "}}");
    VECTOR_EACH(struct waiting_client, client, request->clients)
        if (client->has_progress || !with_progress_only)
            reply_events(hub, client->to.connection, event.data, event.failed ? 0 : event.size);
    hub->failed |= event.failed;
}

/* Appends a snapshot of V8's format (docs/snapshot-format.md) whose only object has the error as
 * its name. A client that shows progress would show it for ever if it got an error. */
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

/* Ends the current request, which has failed. A client that waits with a progress bar would show
 * nothing of an error: unless bytes of a snapshot were sent already, it gets a small snapshot that
 * says why, and the others an error. */
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
    VECTOR_EACH(const struct waiting_client, client, request->clients) {
        if (is_shown && client->has_progress)
            reply_string(hub, &client->to, "{}");
        else
            reply_error(hub, &client->to, REPLY_REFUSED, why, size);
    }
    if (!request->is_ready)
        delay_next_snapshot(hub);
    requests_end(hub);
}

/* Returns how many bytes at the end are the beginning of a character of UTF-8 whose rest has not
 * come yet: 0 to 3. */
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

/* Sends bytes of the snapshot, after those kept from the last time (request->rest), as far as they
 * are whole characters; keeps the rest. If memory runs out, sends nothing: hub->failed. */
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

/* Marks the snapshot as ready: from now on clients treat what follows as snapshot data, and a
 * further request is for the next one. */
static void mark_ready(struct hub *hub)
{
    struct snapshot_request *request = &hub->requests.current;
    request->is_ready = true;
    VECTOR_EACH(struct waiting_client, client, request->clients)
        show_progress(hub, client, 100, true);
    delay_next_snapshot(hub);
}

/* Ends the current request: sends the bytes that are left, and answers its clients. */
static void requests_finish(struct hub *hub)
{
    struct snapshot_request *request = &hub->requests.current;
    if (request->rest_size > 0) /* a snapshot never ends like this, and what is sent must be valid
                                 * UTF-8 */
        send_chunk(hub, request->rest, request->rest_size, false);
    VECTOR_EACH(struct waiting_client, client, request->clients)
        reply_string(hub, &client->to, "{}");
    requests_end(hub);
}

/* Shows progress to all clients of the current request, if it is more than before. */
static void advance(struct hub *hub, unsigned percent)
{
    struct snapshot_request *request = &hub->requests.current;
    if (percent <= request->percent || percent > 100)
        return;
    request->percent = percent;
    VECTOR_EACH(struct waiting_client, client, request->clients)
        show_progress(hub, client, percent, false);
}

/* Handles a message of the session about the current request: an error, progress, that the snapshot
 * is ready, a piece of it that was asked for, or its end. Returns false if it is about another
 * request, or not expected in the state that this one is in. */
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

/* Returns whether all clients have taken all bytes but LITTLE_LEFT. */
static bool is_taken(const struct hub *hub, const struct snapshot_request *request)
{
    VECTOR_EACH(const struct waiting_client, waiting, request->clients) {
        const struct client *client = hub_find(hub, waiting->to.connection);
        if (client && client_left(client) > LITTLE_LEFT)
            return false;
    }
    return true;
}

/* Removes the clients that have gone from a request. */
static void requests_remove_gone(const struct hub *hub, struct snapshot_request *request)
{
    size_t count = 0;
    VECTOR_EACH(const struct waiting_client, waiting, request->clients) {
        const struct client *client = hub_find(hub, waiting->to.connection);
        if (client && client->state == CONNECTION_OPEN)
            request->clients.data[count++] = *waiting;
    }
    request->clients.count = count;
}

/* Returns whether the next bytes of the current snapshot can be asked for: it is ready, none are
 * asked for, and the clients have taken those before. */
static bool wants_more(const struct hub *hub)
{
    const struct snapshot_request *request = &hub->requests.current;
    return request->is_ready && !request->is_asked && is_taken(hub, request);
}

/* Forgets clients that have gone, begins the next request when it may, and asks for more bytes when
 * the clients have room for them. */
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

/* Returns how long there is nothing to do. 0: there is something to do now; -1: nothing at any
 * time; else in how many milliseconds. */
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

/* ==== the Chrome DevTools Protocol: one table from method to function ==== */

enum { SOURCE_MOST = 4 << 20 }; /* bytes of a file of Go */

/* A request while it is being answered. */
struct cdp_request {
    struct client *client;
    struct reply_to to;
    struct json_value params;
    const struct method *method;
};

struct method {
    const char *name;
    void (*run)(struct hub *hub, struct cdp_request *request);
    const char *text; /* the message of cdp_answer() and cdp_refuse() */
};

/* Answers with the fixed result that the table has for the method. */
static void cdp_answer(struct hub *hub, struct cdp_request *request)
{
    reply_string(hub, &request->to, request->method->text);
}

/* Refuses with the reason that the table has for the method. */
static void cdp_refuse(struct hub *hub, struct cdp_request *request)
{
    reply_refuse(hub, &request->to, request->method->text);
}

/* ---- answered by the session ---- */

/* Asks the session on behalf of a request; done is called with the answer. A body that is too long,
 * or for which memory runs out, is refused. */
static void ask(struct hub *hub, struct cdp_request *request, enum channel_kind kind,
                const struct text *body, questions_done *done)
{
    if (body->failed || body->size > CHANNEL_MOST_ASKED) {
        reply_refuse(hub, &request->to, body->failed ? "out of memory" : "this is too long");
        return;
    }
    if (questions_ask(&hub->questions, kind, body->data, body->size, &request->to, done))
        request->client->asked++;
    else
        reply_refuse(hub, &request->to, "out of memory");
}

/* Asks about the object that a member of params names. */
static void ask_about(struct hub *hub, struct cdp_request *request, enum channel_kind kind,
                      const char *member, questions_done *done)
{
    _cleanup_(text_deinit) struct text body = {0};
    static const char missing[] = "a parameter is missing";
    if (json_text(json_member(request->params, member), &body))
        ask(hub, request, kind, &body, done);
    else
        reply_error(hub, &request->to, REPLY_NO_PARAMS, missing, sizeof(missing) - 1);
}

/* Passes on a result, or an error. */
static void pass_on(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                    const char *body, size_t size)
{
    if (kind == CHANNEL_ANSWER)
        reply_result(hub, to, body, size);
    else
        reply_error(hub, to, REPLY_REFUSED, body, size);
}

/* Asks how much memory the process takes. */
static void get_usage(struct hub *hub, struct cdp_request *request)
{
    ask(hub, request, CHANNEL_USAGE, &(struct text){0}, pass_on);
}

/* ---- objects ---- */

/* Passes on an object, as the member "result", or an error. */
static void pass_on_object(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                           const char *body, size_t size)
{
    if (kind == CHANNEL_ANSWER)
        reply_within(hub, to, "{\"result\":", body, size, "}");
    else
        reply_error(hub, to, REPLY_REFUSED, body, size);
}

/* Asks for the object with an id of the snapshot. */
static void get_object(struct hub *hub, struct cdp_request *request)
{
    ask_about(hub, request, CHANNEL_OBJECT, "objectId", pass_on_object);
}

/* Passes on an id of the snapshot, or an error. */
static void pass_on_heap_id(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                            const char *body, size_t size)
{
    if (kind == CHANNEL_ANSWER)
        reply_within(hub, to, "{\"heapSnapshotObjectId\":\"", body, size, "\"}");
    else
        reply_error(hub, to, REPLY_REFUSED, body, size);
}

/* Asks for the id that an object has in the snapshot. */
static void get_heap_id(struct hub *hub, struct cdp_request *request)
{
    ask_about(hub, request, CHANNEL_HEAP_ID, "objectId", pass_on_heap_id);
}

/* Handles the method by which DevTools selects an object. A row of the Memory panel has been
 * selected: it is $0 now, and those before become $1 and on. What is no id is refused. */
static void add_inspected(struct hub *hub, struct cdp_request *request)
{
    _cleanup_(text_deinit) struct text digits = {0};
    uint32_t *inspected = request->client->inspected;
    const bool is_text = json_text(json_member(request->params, "heapObjectId"), &digits);
    text_append(&digits, "", 1);
    char *end = digits.data;
    errno = 0;
    const unsigned long long id = is_text && !digits.failed ? strtoull(digits.data, &end, 10) : 0;
    if (id == 0 || id > UINT32_MAX || errno != 0 || *end) {
        reply_refuse(hub, &request->to, "no object has this id");
        return;
    }
    memmove(inspected + 1, inspected, (CHANNEL_INSPECTED - 1) * sizeof(*inspected));
    inspected[0] = (uint32_t)id;
    reply_string(hub, &request->to, "{}");
}

/* Asks for the properties of an object. Go has no accessors, so a request for these only gets
 * none. */
static void get_properties(struct hub *hub, struct cdp_request *request)
{
    if (json_is_true(json_member(request->params, "accessorPropertiesOnly")))
        reply_string(hub, &request->to, "{\"result\":[],\"internalProperties\":[]}");
    else
        ask_about(hub, request, CHANNEL_PROPERTIES, "objectId", pass_on);
}

/* Asks for the value of an expression. The console evaluates what is being typed, too
 * (CHANNEL_EAGER), and for completions. */
static void cdp_evaluate(struct hub *hub, struct cdp_request *request)
{
    _cleanup_(text_deinit) struct text body = {0}, group = {0};
    struct channel_evaluate head = {0};
    memcpy(head.inspected, request->client->inspected, sizeof(head.inspected));
    head.flags =
        json_is_true(json_member(request->params, "throwOnSideEffect")) ? CHANNEL_EAGER : 0;
    json_text(json_member(request->params, "objectGroup"), &group);
    if (group.size == strlen("completion") && memcmp(group.data, "completion", group.size) == 0)
        head.flags |= CHANNEL_COMPLETION;
    text_append(&body, &head, sizeof(head));
    if (json_text(json_member(request->params, "expression"), &body))
        ask(hub, request, CHANNEL_EVALUATE, &body, pass_on);
    else
        reply_refuse(hub, &request->to, "there is no expression");
}

/* ---- the console, and files of Go ---- */

/* Answers Runtime.enable: there is one context, which has the name of the program. */
static void enable_runtime(struct hub *hub, struct cdp_request *request)
{
    _cleanup_(text_deinit) struct text params = {0};
    text_printf(&params, "{\"context\":{\"id\":1,\"origin\":\"\",\"name\":");
    json_write_string(&params, hub->options->name);
    text_printf(&params, ",\"uniqueId\":\"1.1\",\"auxData\":{\"isDefault\":true}}}");
    text_append(&params, "", 1);
    if (!params.failed)
        reply_event(hub, request->to.connection, "Runtime.executionContextCreated", params.data);
    reply_string(hub, &request->to, "{}");
}

/* Appends the hexadecimal digits of the server's path, at most this many. */
static void append_digits(const struct hub *hub, struct text *text, unsigned most)
{
    for (const char *at = hub->address->path + 1; *at && most > 0; at++) {
        if (*at == '-')
            continue;
        text_append(text, at, 1);
        most--;
    }
}

/* Answers with an object whose member is an id: digits of the server's path, at most this many. */
static void reply_digits(struct hub *hub, const struct reply_to *to, const char *member,
                         unsigned most)
{
    _cleanup_(text_deinit) struct text result = {0};
    text_printf(&result, "{\"%s\":\"", member);
    append_digits(hub, &result, most);
    text_append_string(&result, "\"}");
    reply_result(hub, to, result.data, result.failed ? 0 : result.size);
}

/* Windows with the same id count as one program. */
static void get_isolate(struct hub *hub, struct cdp_request *request)
{
    reply_digits(hub, &request->to, "id", 16);
}

/* Sends the lines of the console that the session has as events, and then answers. */
static void lines_came(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                       const char *body, size_t size)
{
    if (kind == CHANNEL_ANSWER)
        reply_events(hub, to->connection, body, size);
    reply_digits(hub, to, "debuggerId", 32);
}

/* Goes on with Runtime.enable or Debugger.enable once the session has answered with its scripts:
 * sends them as events, if there are any, and asks for the lines of the console. */
static void scripts_came(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                         const char *body, size_t size)
{
    struct cdp_request request = {.client = hub_find(hub, to->connection), .to = *to};
    if (kind == CHANNEL_ANSWER)
        reply_events(hub, to->connection, body, size);
    ask(hub, &request, CHANNEL_LINES, &(struct text){0}, lines_came);
}

/* Handles Debugger.enable. The panel forgets scripts and clears its console when it disables the
 * debugger, which it does before each snapshot. So they are sent again, but not to a client that
 * has them. */
static void enable_debugger(struct hub *hub, struct cdp_request *request)
{
    if (request->client->has_debugger) {
        reply_digits(hub, &request->to, "debuggerId", 32);
        return;
    }
    request->client->has_debugger = true;
    ask(hub, request, CHANNEL_SCRIPTS, &(struct text){0}, scripts_came);
}

/* Answers Debugger.disable. */
static void disable_debugger(struct hub *hub, struct cdp_request *request)
{
    request->client->has_debugger = false;
    reply_string(hub, &request->to, "{}");
}

/* Reads a regular file of at most SOURCE_MOST bytes. Returns false if it cannot. Symbolic links are
 * not followed. */
static bool read_source(const char *path, struct text *ret)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_size <= SOURCE_MOST && text_grow(ret, as_size(status.st_size));
    ssize_t count = 1;
    for (const size_t size = good ? as_size(status.st_size) : 0;
         good && count > 0 && ret->size < size;) {
        count = read(fd, ret->data + ret->size, size - ret->size);
        good = count >= 0;
        ret->size += count > 0 ? as_size(count) : 0;
    }
    close(fd);
    return good;
}

/* Answers with the text of a source file, whose path the session has sent. An error if that has
 * none, or if this process may not read it. */
static void source_came(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                        const char *body, size_t size)
{
    _cleanup_(text_deinit) struct text path = {0}, source = {0}, quoted = {0};
    if (kind != CHANNEL_ANSWER) {
        reply_error(hub, to, REPLY_REFUSED, body, size);
        return;
    }
    text_append(&path, body, size);
    text_append(&path, "", 1);
    if (path.failed || strlen(path.data) != size || !read_source(path.data, &source)) {
        text_append(&quoted, body, size);
        text_printf(&quoted, ": cannot be read");
        reply_error(hub, to, REPLY_REFUSED, quoted.data, quoted.failed ? 0 : quoted.size);
        return;
    }
    json_write(&quoted, source.data, source.size);
    reply_within(hub, to, "{\"scriptSource\":", quoted.data, quoted.failed ? 0 : quoted.size, "}");
}

/* Asks for the path of a script, a source file of Go. */
static void get_source(struct hub *hub, struct cdp_request *request)
{
    ask_about(hub, request, CHANNEL_SOURCE, "scriptId", source_came);
}

/* ---- snapshots ---- */

/* Requests a snapshot, with progress if the client wants it. */
static void cdp_take_snapshot(struct hub *hub, struct cdp_request *request)
{
    requests_add(hub, &request->to, json_is_true(json_member(request->params, "reportProgress")));
}

/* Answers that no garbage is collected: a line in the console says why. */
static void collect_garbage(struct hub *hub, struct cdp_request *request)
{
    static const char line[] =
        "Collect garbage: nothing has been collected. Go collects by itself, "
        "and a snapshot leaves out what nothing reaches";
    reply_line(hub, request->to.connection, line);
    reply_string(hub, &request->to, "{}");
}

/* ---- the table ---- */

#define NO_SAMPLING "Go samples allocations by itself: go2heapsnapshot --format pprof --by alloc"

#define NO_PROFILES "there are no CPU profiles here: go tool pprof takes them"

static const struct method methods[] = {
    {"Debugger.disable", disable_debugger, NULL},
    {"Debugger.enable", enable_debugger, NULL},
    {"Debugger.getScriptSource", get_source, NULL},
    {"Debugger.setAsyncCallStackDepth", cdp_answer, "{}"},
    {"Debugger.setBlackboxPatterns", cdp_answer, "{}"},
    {"Debugger.setBlackboxExecutionContexts", cdp_answer, "{}"},
    {"Debugger.setPauseOnExceptions", cdp_answer, "{}"},
    {"Debugger.setSkipAllPauses", cdp_answer, "{}"},
    {"HeapProfiler.addInspectedHeapObject", add_inspected, NULL},
    {"HeapProfiler.collectGarbage", collect_garbage, NULL},
    {"HeapProfiler.disable", cdp_answer, "{}"},
    {"HeapProfiler.enable", cdp_answer, "{}"},
    {"HeapProfiler.getHeapObjectId", get_heap_id, NULL},
    {"HeapProfiler.getObjectByHeapObjectId", get_object, NULL},
    {"HeapProfiler.getSamplingProfile", cdp_refuse, NO_SAMPLING},
    {"HeapProfiler.startSampling", cdp_refuse, NO_SAMPLING},
    {"HeapProfiler.startTrackingHeapObjects", cdp_answer, "{}"},
    {"HeapProfiler.stopSampling", cdp_refuse, NO_SAMPLING},
    {"HeapProfiler.stopTrackingHeapObjects", cdp_take_snapshot, NULL},
    {"HeapProfiler.takeHeapSnapshot", cdp_take_snapshot, NULL},
    {"Profiler.disable", cdp_answer, "{}"},
    {"Profiler.enable", cdp_answer, "{}"},
    {"Profiler.setSamplingInterval", cdp_answer,
     "{}"}, /* node inspect ends if it is not answered */
    {"Profiler.start", cdp_refuse, NO_PROFILES},
    {"Profiler.stop", cdp_refuse, NO_PROFILES},
    {"Runtime.callFunctionOn", cdp_refuse, "Go's functions cannot be called"},
    {"Runtime.compileScript", cdp_answer, "{}"},
    {"Runtime.disable", cdp_answer, "{}"},
    {"Runtime.discardConsoleEntries", cdp_answer, "{}"},
    {"Runtime.enable", enable_runtime, NULL},
    {"Runtime.evaluate", cdp_evaluate, NULL},
    {"Runtime.getHeapUsage", get_usage, NULL},
    {"Runtime.getIsolateId", get_isolate, NULL},
    {"Runtime.getProperties", get_properties, NULL},
    {"Runtime.globalLexicalScopeNames", cdp_answer, "{\"names\":[]}"},
    {"Runtime.releaseObject", cdp_answer, "{}"},
    {"Runtime.releaseObjectGroup", cdp_answer, "{}"},
    {"Runtime.runIfWaitingForDebugger", cdp_answer, "{}"},
};

enum { METHODS = COUNT_OF(methods) };

/* Copies JSON that answers repeat. Returns false if it does not fit. */
static bool copy_value(struct json_value value, char *ret, size_t space)
{
    if (value.size >= space)
        return false;
    if (value.size > 0)
        memcpy(ret, value.data, value.size);
    ret[value.size] = '\0';
    return true;
}

/* Runs the method with a name, or answers as V8 does if it is unknown. */
static void find_method(struct hub *hub, struct cdp_request *request, struct json_value name)
{
    _cleanup_(text_deinit) struct text method = {0}, message = {0};
    json_text(name, &method);
    for (unsigned i = 0; i < METHODS && !request->method; i++)
        if (method.size == strlen(methods[i].name) &&
            memcmp(method.data, methods[i].name, method.size) == 0)
            request->method = &methods[i];
    if (request->method) {
        request->method->run(hub, request);
        return;
    }
    text_append_string(&message, "'");
    text_append(&message, method.data, MIN(method.size, 100));
    text_printf(&message, "' wasn't found");
    reply_error(hub, &request->to, REPLY_NO_METHOD, message.data,
                message.failed ? 0 : message.size);
}

/* Answers a message that is no request with an error, and passes a request on to its method. */
void cdp_message(struct hub *hub, struct client *client, const char *text, size_t size)
{
    static const char no_json[] = "a message must be JSON, at most 32 levels deep",
                      no_request[] = "a message must have an integer \"id\" and a \"method\"";
    struct cdp_request request = {.client = client, .to = {.connection = client->number}};
    struct json_value message;
    if (!json_read(text, size, &message)) {
        reply_error(hub, &request.to, REPLY_NO_JSON, no_json, sizeof(no_json) - 1);
        return;
    }
    const struct json_value id = json_member(message, "id");
    const struct json_value name = json_member(message, "method");
    const struct json_value session = json_member(message, "sessionId");
    request.params = json_member(message, "params");
    const bool has_id = json_is_integer(id) && copy_value(id, request.to.id, sizeof(request.to.id));
    if (!has_id || name.size == 0 || *name.data != '"' ||
        (session.size > 0 && *session.data != '"') ||
        !copy_value(session, request.to.session, sizeof(request.to.session))) {
        reply_error(hub, &request.to, REPLY_NO_REQUEST, no_request, sizeof(no_request) - 1);
        return;
    }
    find_method(hub, &request, name);
}

/* ---- its description ---- */

/* Events that clients may subscribe to, by domain. */
static const struct {
    const char *domain, *events;
} domains[] = {
    {"Debugger", "{\"name\":\"scriptParsed\"}"},
    {"HeapProfiler",
     "{\"name\":\"addHeapSnapshotChunk\"},{\"name\":\"reportHeapSnapshotProgress\"}"},
    {"Profiler", ""},
    {"Runtime", "{\"name\":\"consoleAPICalled\"},{\"name\":\"executionContextCreated\"}"},
};

/* Appends the methods of a domain, "HeapProfiler.enable" of "HeapProfiler", without their
 * parameters. */
static void describe_commands(struct text *text, const char *domain)
{
    const size_t size = strlen(domain);
    bool is_first = true;
    for (unsigned i = 0; i < METHODS; i++) {
        const char *name = methods[i].name;
        if (strncmp(name, domain, size) != 0 || name[size] != '.')
            continue;
        text_printf(text, "%s{\"name\":\"%s\",\"parameters\":[]}", is_first ? "" : ",",
                    name + size + 1);
        is_first = false;
    }
}

/* Appends the description of the protocol, of version 1.3, from which clients generate their
 * methods: /json/protocol. */
static void cdp_describe(struct text *text)
{
    text_printf(text, "{\"version\":{\"major\":\"1\",\"minor\":\"3\"},\"domains\":[");
    for (size_t i = 0; i < COUNT_OF(domains); i++) {
        text_printf(text, "%s{\"domain\":\"%s\",\"commands\":[", i > 0 ? "," : "",
                    domains[i].domain);
        describe_commands(text, domains[i].domain);
        text_printf(text, "],\"events\":[%s],\"types\":[]}", domains[i].events);
    }
    text_append_string(text, "]}");
}

/* ==== HTTP: the list of targets, and the handshake of a WebSocket ==== */

/* Answers a request of HTTP by an error, and ends the connection. */
static void discovery_refuse(struct hub *hub, struct client *client, unsigned status,
                             const char *why)
{
    http_refuse(&client->out, status, why);
    client_move(client, CONNECTION_LEAVES, hub->now);
}

/* Answers a request of HTTP by JSON, and ends the connection. */
static void discovery_answer(struct hub *hub, struct client *client, const struct text *body)
{
    http_answer(&client->out, 200, "application/json", body->data, body->size);
    client->out.failed |= body->failed;
    client_move(client, CONNECTION_LEAVES, hub->now);
}

/* Answers /json/version. */
static void answer_version(struct hub *hub, struct client *client)
{
    _cleanup_(text_deinit) struct text body = {0};
    text_append_string(&body, "{\"Browser\":");
    json_write_string(&body, hub->options->program);
    text_printf(&body, ",\"Protocol-Version\":\"1.3\"}");
    discovery_answer(hub, client, &body);
}

/* Answers /json/protocol. */
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

/* Lists the one target, with the addresses by which DevTools opens it; none until it is known. */
void discovery_list(struct hub *hub, struct client *client)
{
    static const char
        page[] = "devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=",
        compatible[] =
            "devtools://devtools/bundled/inspector.html?experiments=true&v8only=true&ws=";
    _cleanup_(text_deinit) struct text body = {0};
    const char *host = client->host;
    const char *path = hub->address->path;
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

/* Goes on when the session has described its target, or failed to: answers all clients that wait
 * for the list. */
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

/* Answers a request by its path: the version, the protocol, the list of targets, or the upgrade to
 * a WebSocket; 404 for others. Before that refuses a Host header that is missing, given twice or
 * another host's (400), requests of web pages (403), and methods other than GET (405). */
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
