/* cdp; see cdp.h. */
#include "inspect/cdp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/scope.h"
#include "inspect/hub.h"
#include "inspect/json_read.h"
#include "inspect/json_write.h"
#include "inspect/client.h"

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

static void cdp_answer(struct hub *hub, struct cdp_request *request)
{
    reply_string(hub, &request->to, request->method->text);
}

static void cdp_refuse(struct hub *hub, struct cdp_request *request)
{
    reply_refuse(hub, &request->to, request->method->text);
}

/* ---- answered by the session ---- */

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

static void get_usage(struct hub *hub, struct cdp_request *request)
{
    ask(hub, request, CHANNEL_USAGE, &(struct text){0}, pass_on);
}

/* ---- objects ---- */

static void pass_on_object(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                           const char *body, size_t size)
{
    if (kind == CHANNEL_ANSWER)
        reply_within(hub, to, "{\"result\":", body, size, "}");
    else
        reply_error(hub, to, REPLY_REFUSED, body, size);
}

static void get_object(struct hub *hub, struct cdp_request *request)
{
    ask_about(hub, request, CHANNEL_OBJECT, "objectId", pass_on_object);
}

static void pass_on_heap_id(struct hub *hub, const struct reply_to *to, enum channel_kind kind,
                            const char *body, size_t size)
{
    if (kind == CHANNEL_ANSWER)
        reply_within(hub, to, "{\"heapSnapshotObjectId\":\"", body, size, "\"}");
    else
        reply_error(hub, to, REPLY_REFUSED, body, size);
}

static void get_heap_id(struct hub *hub, struct cdp_request *request)
{
    ask_about(hub, request, CHANNEL_HEAP_ID, "objectId", pass_on_heap_id);
}

/* A row of the Memory panel has been selected: it is $0 now. */
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

static void get_properties(struct hub *hub, struct cdp_request *request)
{
    if (json_is_true(json_member(request->params, "accessorPropertiesOnly")))
        reply_string(hub, &request->to, "{\"result\":[],\"internalProperties\":[]}");
    else
        ask_about(hub, request, CHANNEL_PROPERTIES, "objectId", pass_on);
}

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
    text_append(&body, (const char *)&head, sizeof(head));
    if (json_text(json_member(request->params, "expression"), &body))
        ask(hub, request, CHANNEL_EVALUATE, &body, pass_on);
    else
        reply_refuse(hub, &request->to, "there is no expression");
}

/* ---- the console, and files of Go ---- */

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

/* The panel forgets scripts and clears its console when it disables the debugger, which it does
 * before each snapshot. So they are sent again, but not to a client that has them. */
static void enable_debugger(struct hub *hub, struct cdp_request *request)
{
    if (request->client->has_debugger) {
        reply_digits(hub, &request->to, "debuggerId", 32);
        return;
    }
    request->client->has_debugger = true;
    ask(hub, request, CHANNEL_SCRIPTS, &(struct text){0}, scripts_came);
}

static void disable_debugger(struct hub *hub, struct cdp_request *request)
{
    request->client->has_debugger = false;
    reply_string(hub, &request->to, "{}");
}

/* Reads a regular file of at most SOURCE_MOST bytes. Returns false if it cannot. */
static bool read_source(const char *path, struct text *ret)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_size <= SOURCE_MOST && text_grow(ret, (size_t)status.st_size);
    ssize_t count = 1;
    for (const size_t size = good ? (size_t)status.st_size : 0;
         good && count > 0 && ret->size < size;) {
        count = read(fd, ret->data + ret->size, size - ret->size);
        good = count >= 0;
        ret->size += count > 0 ? (size_t)count : 0;
    }
    close(fd);
    return good;
}

/* The session knows the path; whether this process may read the file is another question. */
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

static void get_source(struct hub *hub, struct cdp_request *request)
{
    ask_about(hub, request, CHANNEL_SOURCE, "scriptId", source_came);
}

/* ---- snapshots ---- */

static void cdp_take_snapshot(struct hub *hub, struct cdp_request *request)
{
    requests_add(hub, &request->to, json_is_true(json_member(request->params, "reportProgress")));
}

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

enum { METHODS = sizeof(methods) / sizeof(*methods) };

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
    text_append(&message, method.data, method.size < 100 ? method.size : 100);
    text_printf(&message, "' wasn't found");
    reply_error(hub, &request->to, REPLY_NO_METHOD, message.data,
                message.failed ? 0 : message.size);
}

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
    const struct json_value id = json_member(message, "id"), name = json_member(message, "method"),
                            session = json_member(message, "sessionId");
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

void cdp_describe(struct text *text)
{
    text_printf(text, "{\"version\":{\"major\":\"1\",\"minor\":\"3\"},\"domains\":[");
    for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
        text_printf(text, "%s{\"domain\":\"%s\",\"commands\":[", i > 0 ? "," : "",
                    domains[i].domain);
        describe_commands(text, domains[i].domain);
        text_printf(text, "],\"events\":[%s],\"types\":[]}", domains[i].events);
    }
    text_append_string(text, "]}");
}
