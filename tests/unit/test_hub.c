/* Covers inspect/hub, cdp and client: what clients of --inspect are answered, what the session is
 * asked for that, and when. The test is the network, the clock and the session. What real clients
 * see is tested by tests/inspect. */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "inspect/cdp.h"
#include "inspect/hub.h"
#include "inspect/inspect_json.h"

#define UUID    "01234567-89ab-cdef-0123-456789abcdef"
#define HEADERS "Host: 127.0.0.1:9229\r\n"
#define HANDSHAKE \
    HEADERS "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n" \
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static struct server_options options;
static const struct server_address address = {
    .host = "127.0.0.1", .port = 9229, .is_loopback = true, .path = "/" UUID};
static struct hub hub;

FIXTURE(set_up)
{
    options = (struct server_options){.program = "go2heapsnapshot 1.2", .name = "app"};
    hub = (struct hub){.options = &options, .address = &address, .now = 1000};
}

static int tear_down(void **state)
{
    (void)state;
    const bool failed = hub.failed;
    hub_deinit(&hub);
    return failed;
}

/* ---- clients ---- */

static struct client *request(const char *method, const char *path, const char *headers)
{
    struct client *client = hub_add(&hub, -1);
    assert_non_null(client);
    text_printf(&client->in, "%s %s HTTP/1.1\r\n%s\r\n", method, path, headers);
    hub_feed(&hub, client);
    return client;
}

/* Expects that a client has an answer with a status, and with a body if it is not NULL, after which
 * the connection ends; and removes the client. */
static void expect_http(struct client *client, unsigned status, const char *body)
{
    char begin[32], length[48];
    text_append(&client->out, "", 1);
    snprintf(begin, sizeof(begin), "HTTP/1.1 %u ", status);
    assert_int_equal(client->state, CONNECTION_LEAVES);
    assert_memory_equal(client->out.data, begin, strlen(begin));
    const char *end = strstr(client->out.data, "\r\n\r\n");
    assert_non_null(end);
    if (body)
        assert_string_equal(end + 4, body);
    snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n", strlen(end + 4));
    assert_non_null(strstr(client->out.data, length));
    hub_remove(&hub, client);
}

static void expect_status(const char *method, const char *path, const char *headers,
                          unsigned status)
{
    expect_http(request(method, path, headers), status, NULL);
}

static struct client *connect_client(void)
{
    struct client *client = request("GET", address.path, HANDSHAKE);
    assert_int_equal(client->state, CONNECTION_OPEN);
    assert_memory_equal(client->out.data, "HTTP/1.1 101 ", 13);
    assert_non_null(
        memmem(client->out.data, client->out.size, "Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", 36));
    client->sent = client->out.size;
    return client;
}

/* Sends a frame, masked by zeros. */
static void frame(struct client *client, unsigned first, const char *data, size_t size)
{
    const char wide[] = {(char)(size >> 8), (char)(size & 0xff)};
    const char head[] = {(char)first, (char)(0x80 | (size < 126 ? size : 126))};
    assert_true(size < 0x10000);
    text_append(&client->in, head, 2);
    text_append(&client->in, wide, size < 126 ? 0 : 2);
    text_append(&client->in, "\0\0\0", 4);
    text_append(&client->in, data, size);
    hub_feed(&hub, client);
}

static void say(struct client *client, const char *json)
{
    frame(client, 0x81, json, strlen(json));
}

/* Takes the next frame that is sent to a client. Returns its first byte; 0: there is none. */
static unsigned take(struct client *client, const char **ret, size_t *ret_size)
{
    const uint8_t *at = (const uint8_t *)client->out.data + client->sent;
    if (client_left(client) == 0)
        return 0;
    assert_true(client_left(client) >= 2);
    size_t head = 2, size = at[1];
    if (size == 126) {
        head = 4;
        size = (size_t)at[2] << 8 | at[3];
    } else if (size == 127) {
        head = 10;
        size = 0;
        for (unsigned i = 2; i < 10; i++)
            size = size << 8 | at[i];
    }
    assert_true(client_left(client) - head >= size);
    *ret = (const char *)at + head;
    *ret_size = size;
    client->sent += head + size;
    return at[0];
}

/* Expects that the next message to a client is this one, or begins with it if that ends in "…". */
static void expect(struct client *client, const char *json)
{
    const char *own = "";
    size_t size = 0, wanted = strlen(json);
    const size_t more = strlen("…");
    const bool is_cut = wanted > more && strcmp(json + wanted - more, "…") == 0;
    assert_int_equal(take(client, &own, &size), 0x81);
    wanted -= is_cut ? more : 0;
    if ((is_cut ? size < wanted : size != wanted) || memcmp(own, json, wanted) != 0)
        fail_msg("%.*s is not %s", (int)size, own, json);
}

static void expect_nothing(const struct client *client)
{
    assert_int_equal(client_left(client), 0);
}

/* Expects that the connection is closed with a status. */
static void expect_close(struct client *client, unsigned status)
{
    const char *own;
    size_t size;
    assert_int_equal(take(client, &own, &size), 0x88);
    assert_int_equal(size, 2);
    assert_int_equal((unsigned)(uint8_t)own[0] << 8 | (uint8_t)own[1], status);
    assert_int_equal(client->state, CONNECTION_LEAVES);
}

/* ---- the session ---- */

/* Expects the next question to the session, with a body of size bytes. Returns its number. */
static uint32_t asked(enum channel_kind kind, const void *body, size_t size)
{
    struct questions *questions = &hub.questions;
    struct channel_head head;
    assert_true(questions->out.size - questions->sent >= sizeof(head));
    memcpy(&head, questions->out.data + questions->sent, sizeof(head));
    assert_int_equal(head.kind, kind);
    assert_int_equal(head.size, size);
    if (size > 0)
        assert_memory_equal(questions->out.data + questions->sent + sizeof(head), body, size);
    questions->sent += sizeof(head) + size;
    return head.number;
}

static void expect_nothing_asked(void)
{
    assert_int_equal(hub.questions.out.size, hub.questions.sent);
}

/* Answers a question; the message comes in two pieces. */
static void answer(enum channel_kind kind, uint32_t number, const char *body)
{
    const struct channel_head head = {(uint32_t)strlen(body), number, kind};
    text_append(&hub.questions.in, (const char *)&head, 7);
    assert_true(hub_answered(&hub));
    text_append(&hub.questions.in, (const char *)&head + 7, sizeof(head) - 7);
    text_append(&hub.questions.in, body, strlen(body));
    assert_true(hub_answered(&hub));
}

/* ---- HTTP ---- */

TEST(discovery)
{
    static const char version[] =
        "{\"Browser\":\"go2heapsnapshot 1.2\",\"Protocol-Version\":\"1.3\"}";
    expect_http(request("GET", "/json/version", HEADERS), 200, version);
    expect_http(request("GET", "/json/version/?x", "Host: localhost:9229 \t \r\n"), 200, version);
    struct client *client = request("GET", "/json/protocol", HEADERS);
    const char *body = memmem(client->out.data, client->out.size, "\r\n\r\n", 4);
    struct json_value protocol;
    assert_non_null(body);
    const size_t head = (size_t)(body + 4 - client->out.data);
    assert_true(json_read(body + 4, client->out.size - head, &protocol));
    assert_non_null(memmem(protocol.data, protocol.size, "\"takeHeapSnapshot\"", 18));
    assert_true(json_member(protocol, "domains").size > 0);
    expect_http(client, 200, NULL);
}

TEST(refusals)
{
    expect_status("GET", "/json/nothing", HEADERS, 404);
    expect_status("GET", "/", HEADERS, 404);
    expect_status("POST", "/json/version", HEADERS, 405);
    expect_status("GET", "/json/version", "Host: evil.example\r\n", 400);
    expect_status("GET", "/json/version", "", 400);
    expect_status("GET", "/json/version", HEADERS HEADERS, 400);
    expect_status("GET", "/json/version", HEADERS "Origin: http://evil.example\r\n", 403);
    expect_status("GET", "/json/version", HEADERS "Sec-Fetch-Site: cross-site\r\n", 403);
    expect_status("GET", "/json/version", HEADERS "Sec-Fetch-Site: none\r\n", 200);
    expect_status("GET", "/json/version", HEADERS "Sec-Fetch-Site: same-origin\r\n", 200);
    expect_status("GET", "/json/version",
                  HEADERS "Origin: devtools://devtools\r\nSec-Fetch-Site: cross-site\r\n", 200);
    expect_status("GET", address.path, HEADERS, 426);
    expect_status("GET", address.path, HEADERS "Upgrade: websocket\r\nConnection: upgrade\r\n",
                  426);
    expect_status("GET", address.path,
                  HEADERS
                  "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhl\r\n",
                  400);
    expect_status("GET", "bad", HEADERS, 400);
    struct client *client = hub_add(&hub, -1);
    for (unsigned i = 0; i < HTTP_HEAD_MOST; i++)
        text_append(&client->in, "x", 1);
    hub_feed(&hub, client);
    expect_http(client, 431, "this is too long\n");
}

#define ENTRY(host) \
    "[{\"id\":\"" UUID "\",\"type\":\"node\",\"description\":\"\",\"faviconUrl\":\"\"," \
    "\"title\":\"app\",\"url\":\"file://\"," \
    "\"devtoolsFrontendUrl\":\"devtools://devtools/bundled/js_app.html?experiments=true&" \
    "v8only=true&ws=" host "/" UUID "\",\"devtoolsFrontendUrlCompat\":\"devtools://devtools/" \
    "bundled/inspector.html?experiments=true&v8only=true&ws=" host "/" UUID \
    "\",\"webSocketDebuggerUrl\":\"ws://" host "/" UUID "\"}]"

/* The session is asked once for all that wait; whoever waits for too long gets what was known last.
 */
TEST(lists)
{
    static const char target[] = "\"title\":\"app\",\"url\":\"file://\"";
    struct client *one = request("GET", "/json", HEADERS),
                  *other = request("GET", "/json/list", "Host: localhost:1\r\n");
    assert_int_equal(one->state, CONNECTION_WAITS);
    const uint32_t number = asked(CHANNEL_TARGET, NULL, 0);
    expect_nothing_asked();
    answer(CHANNEL_ANSWER, number, target);
    expect_http(one, 200, ENTRY("127.0.0.1:9229"));
    expect_http(other, 200, ENTRY("localhost:1"));
    one = request("GET", "/json", HEADERS);
    assert_int_equal(hub_patience(&hub), DISCOVERY_PATIENCE);
    hub_wake(&hub, hub.now + DISCOVERY_PATIENCE - 1);
    hub_tick(&hub);
    assert_int_equal(one->state, CONNECTION_WAITS);
    hub_wake(&hub, hub.now + 1);
    hub_tick(&hub);
    expect_http(one, 200, ENTRY("127.0.0.1:9229"));
    answer(CHANNEL_ANSWER, asked(CHANNEL_TARGET, NULL, 0), ""); /* it has ended */
    one = request("GET", "/json", HEADERS);
    answer(CHANNEL_ERROR, asked(CHANNEL_TARGET, NULL, 0), "no memory");
    expect_http(one, 200, "[]");
    options.is_private = true;
    expect_http(request("GET", "/json", HEADERS), 200, "[]");
    expect_nothing_asked();
}

/* ---- messages ---- */

TEST(answers)
{
    struct client *client = connect_client();
    say(client, "{\"id\":1,\"method\":\"HeapProfiler.enable\"}");
    expect(client, "{\"id\":1,\"result\":{}}");
    say(client, "{\"id\":-2,\"method\":\"Profiler.enable\",\"sessionId\":\"a\\n\",\"params\":{}}");
    expect(client, "{\"id\":-2,\"sessionId\":\"a\\n\",\"result\":{}}");
    say(client, "{\"id\":3,\"method\":\"No.such\\\"thing\"}");
    expect(
        client,
        "{\"id\":3,\"error\":{\"code\":-32601,\"message\":\"'No.such\\\"thing' wasn't found\"}}");
    say(client, "{\"id\":4,\"method\":\"Profiler.start\"}");
    expect(client, "{\"id\":4,\"error\":{\"code\":-32000,\"message\":\"there are no CPU profiles…");
    say(client, "{\"id\":5");
    expect(client, "{\"error\":{\"code\":-32700,…");
    static const char *const none[] = {"{}",
                                       "[]",
                                       "{\"id\":\"1\",\"method\":\"Runtime.disable\"}",
                                       "{\"id\":1.5,\"method\":\"Runtime.disable\"}",
                                       "{\"id\":1234567890123456789012345,\"method\":\"x\"}",
                                       "{\"id\":1,\"method\":1}",
                                       "{\"id\":1,\"method\":\"x\",\"sessionId\":1}"};
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        const char *own;
        size_t size;
        say(client, none[i]);
        assert_int_equal(take(client, &own, &size), 0x81);
        assert_non_null(memmem(own, size, "\"error\":{\"code\":-32600,", 23));
    }
    say(client, "{\"id\":6,\"method\":\"Runtime.getIsolateId\"}");
    expect(client, "{\"id\":6,\"result\":{\"id\":\"0123456789abcdef\"}}");
    say(client, "{\"id\":7,\"method\":\"Runtime.enable\"}");
    expect(client,
           "{\"method\":\"Runtime.executionContextCreated\",\"params\":{\"context\":{\"id\":1,"
           "\"origin\":\"\",\"name\":\"app\",\"uniqueId\":\"1.1\",\"auxData\":{\"isDefault\":true}}"
           "}}");
    expect(client, "{\"id\":7,\"result\":{}}");
    say(client, "{\"id\":8,\"method\":\"HeapProfiler.collectGarbage\"}");
    expect(client, "{\"method\":\"Runtime.consoleAPICalled\",…");
    expect(client, "{\"id\":8,\"result\":{}}");
    expect_nothing(client);
    expect_nothing_asked();
}

TEST(frames)
{
    static const char text[] = "{\"id\":1,\"method\":\"Runtime.disable\"}";
    struct client *client = connect_client();
    const char *own;
    size_t size;
    frame(client, 0x01, text, 5);
    frame(client, 0x89, "ping", 4); /* between fragments */
    assert_int_equal(take(client, &own, &size), 0x8a);
    assert_int_equal(size, 4);
    assert_memory_equal(own, "ping", 4);
    frame(client, 0x8a, "pong", 4);
    frame(client, 0x00, text + 5, 5);
    expect_nothing(client);
    frame(client, 0x80, text + 10, sizeof(text) - 11);
    expect(client, "{\"id\":1,\"result\":{}}");
    frame(client, 0x88, "\x03\xe8", 2);
    expect_close(client, WEBSOCKET_NORMAL);
    frame(client, 0x81, text, sizeof(text) - 1); /* is discarded */
    expect_nothing(client);
    client = connect_client();
    frame(client, 0x80, text, 5);
    expect_close(client, WEBSOCKET_PROTOCOL_ERROR);
    client = connect_client();
    frame(client, 0x01, text, 5);
    frame(client, 0x01, text, 5);
    expect_close(client, WEBSOCKET_PROTOCOL_ERROR);
    client = connect_client();
    frame(client, 0x81, "\"\xff\"", 3);
    expect_close(client, WEBSOCKET_NOT_UTF8);
    client = connect_client();
    static char large[0xffff];
    memset(large, ' ', sizeof(large));
    for (unsigned i = 0; i <= WEBSOCKET_MOST / sizeof(large); i++)
        frame(client, i == 0 ? 0x01 : 0x00, large, sizeof(large));
    expect_close(client, WEBSOCKET_TOO_LARGE);
}

/* ---- questions ---- */

TEST(expressions)
{
    struct client *client = connect_client(), *other = connect_client();
    struct {
        struct channel_evaluate head;
        char expression[8];
    } body = {.head = {.inspected = {30, 20, 10}}, .expression = "len(x)"};
    for (unsigned i = 1; i <= 3; i++) {
        char text[128];
        snprintf(text, sizeof(text),
                 "{\"id\":%u,\"method\":\"HeapProfiler.addInspectedHeapObject\",\"params\":"
                 "{\"heapObjectId\":\"%u0\"}}",
                 i, i);
        say(client, text);
        expect(client, "{\"id\":…");
    }
    static const char *const bad[] = {"\"0\"", "\"x\"", "\"7x\"", "\"4294967296\"", "7", "\"\""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        char text[128];
        snprintf(text, sizeof(text),
                 "{\"id\":4,\"method\":\"HeapProfiler.addInspectedHeapObject\",\"params\":"
                 "{\"heapObjectId\":%s}}",
                 bad[i]);
        say(client, text);
        expect(client,
               "{\"id\":4,\"error\":{\"code\":-32000,\"message\":\"no object has this id\"}}");
    }
    say(client,
        "{\"id\":5,\"method\":\"Runtime.evaluate\",\"params\":{\"expression\":\"len(x)\"}}");
    const uint32_t first = asked(CHANNEL_EVALUATE, &body, sizeof(body.head) + 6);
    say(client, "{\"id\":6,\"method\":\"Runtime.evaluate\",\"params\":{\"expression\":\"len(x)\","
                "\"throwOnSideEffect\":true,\"objectGroup\":\"completion\"}}");
    body.head.flags = CHANNEL_EAGER | CHANNEL_COMPLETION;
    const uint32_t second = asked(CHANNEL_EVALUATE, &body, sizeof(body.head) + 6);
    say(other, "{\"id\":7,\"method\":\"Runtime.evaluate\",\"params\":{\"expression\":\"len(x)\"}}");
    body.head = (struct channel_evaluate){.flags = 0};
    const uint32_t third = asked(CHANNEL_EVALUATE, &body, sizeof(body.head) + 6);
    answer(CHANNEL_ANSWER, third, "{\"three\":3}");
    answer(CHANNEL_ERROR, second, "it is \"odd\"");
    answer(CHANNEL_ANSWER, second, "{}"); /* it has been answered */
    answer(CHANNEL_ANSWER, first, "{\"one\":1}");
    expect(other, "{\"id\":7,\"result\":{\"three\":3}}");
    expect(client, "{\"id\":6,\"error\":{\"code\":-32000,\"message\":\"it is \\\"odd\\\"\"}}");
    expect(client, "{\"id\":5,\"result\":{\"one\":1}}");
    say(client, "{\"id\":8,\"method\":\"Runtime.evaluate\",\"params\":{\"expression\":5}}");
    expect(client, "{\"id\":8,\"error\":{\"code\":-32000,\"message\":\"there is no expression\"}}");
    expect_nothing(client);
    expect_nothing(other);
    expect_nothing_asked();
}

TEST(objects)
{
    static const struct {
        const char *ask, *body, *answer, *said;
        enum channel_kind kind;
    } cases[] = {
        {"Runtime.getHeapUsage", "", "{\"usedSize\":1}", "{\"usedSize\":1}", CHANNEL_USAGE},
        {"HeapProfiler.getObjectByHeapObjectId", "17", "{}", "{\"result\":{}}", CHANNEL_OBJECT},
        {"HeapProfiler.getHeapObjectId", "17", "5", "{\"heapSnapshotObjectId\":\"5\"}",
         CHANNEL_HEAP_ID},
        {"Runtime.getProperties", "17", "{\"result\":[]}", "{\"result\":[]}", CHANNEL_PROPERTIES},
    };
    struct client *client = connect_client();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[200];
        for (unsigned j = 0; j < 2; j++) {
            snprintf(text, sizeof(text),
                     "{\"id\":1,\"method\":\"%s\",\"params\":{\"objectId\":\"17\"}}", cases[i].ask);
            say(client, text);
            const uint32_t number = asked(cases[i].kind, cases[i].body, strlen(cases[i].body));
            answer(j == 0 ? CHANNEL_ANSWER : CHANNEL_ERROR, number, cases[i].answer);
            snprintf(text, sizeof(text), "{\"id\":1,\"result\":%s}", cases[i].said);
            expect(client, j == 0 ? text : "{\"id\":1,\"error\":{\"code\":-32000,…");
        }
        if (i == 0)
            continue;
        snprintf(text, sizeof(text), "{\"id\":2,\"method\":\"%s\"}", cases[i].ask);
        say(client, text);
        expect(client,
               "{\"id\":2,\"error\":{\"code\":-32602,\"message\":\"a parameter is missing\"}}");
    }
    say(client, "{\"id\":3,\"method\":\"Runtime.getProperties\",\"params\":"
                "{\"accessorPropertiesOnly\":true}}");
    expect(client, "{\"id\":3,\"result\":{\"result\":[],\"internalProperties\":[]}}");
    expect_nothing_asked();
}

TEST(scripts_and_lines)
{
    struct client *client = connect_client();
    say(client, "{\"id\":1,\"method\":\"Debugger.enable\"}");
    answer(CHANNEL_ANSWER, asked(CHANNEL_SCRIPTS, NULL, 0), "{\"a\":1}\n\n{\"b\":2}");
    expect(client, "{\"a\":1}");
    expect(client, "{\"b\":2}");
    expect_nothing(client);
    answer(CHANNEL_ANSWER, asked(CHANNEL_LINES, NULL, 0), "{\"line\":1}\n");
    expect(client, "{\"line\":1}");
    expect(client, "{\"id\":1,\"result\":{\"debuggerId\":\"0123456789abcdef0123456789abcdef\"}}");
    say(client, "{\"id\":2,\"method\":\"Debugger.enable\"}"); /* it has them */
    expect(client, "{\"id\":2,\"result\":{\"debuggerId\":…");
    expect_nothing_asked();
    say(client, "{\"id\":3,\"method\":\"Debugger.disable\"}");
    expect(client, "{\"id\":3,\"result\":{}}");
    say(client, "{\"id\":4,\"method\":\"Debugger.enable\"}");
    answer(CHANNEL_ERROR, asked(CHANNEL_SCRIPTS, NULL, 0), "none");
    answer(CHANNEL_ERROR, asked(CHANNEL_LINES, NULL, 0), "none");
    expect(client, "{\"id\":4,\"result\":{\"debuggerId\":…");
    expect_nothing(client);
}

/* Answers the question for a source file by a path. */
static void source_is(struct client *client, const char *path)
{
    say(client,
        "{\"id\":9,\"method\":\"Debugger.getScriptSource\",\"params\":{\"scriptId\":\"3\"}}");
    answer(CHANNEL_ANSWER, asked(CHANNEL_SOURCE, "3", 1), path);
}

TEST(sources)
{
    struct client *client = connect_client();
    char directory[] = "/tmp/test_hub-XXXXXX", path[64], link[64], refused[200];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/main.go", directory);
    snprintf(link, sizeof(link), "%s/link.go", directory);
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "package \"main\"\n", 15), 15);
    close(fd);
    assert_int_equal(symlink(path, link), 0);
    source_is(client, path);
    expect(client, "{\"id\":9,\"result\":{\"scriptSource\":\"package \\\"main\\\"\\n\"}}");
    const char *const unreadable[] = {link, directory, "/nowhere/main.go", "/dev/null"};
    for (unsigned i = 0; i < 4; i++) {
        source_is(client, unreadable[i]);
        snprintf(refused, sizeof(refused),
                 "{\"id\":9,\"error\":{\"code\":-32000,\"message\":\"%s: cannot be read\"}}",
                 unreadable[i]);
        expect(client, refused);
    }
    say(client,
        "{\"id\":9,\"method\":\"Debugger.getScriptSource\",\"params\":{\"scriptId\":\"4\"}}");
    answer(CHANNEL_ERROR, asked(CHANNEL_SOURCE, "4", 1), "no file");
    expect(client, "{\"id\":9,\"error\":{\"code\":-32000,\"message\":\"no file\"}}");
    unlink(link), unlink(path), rmdir(directory);
}

/* No more than 16 questions of a client are asked at a time, and one that takes nothing is not
 * answered more. */
TEST(turns)
{
    enum { MOST = 16, MORE = 4 };
    struct client *client = connect_client();
    uint32_t numbers[MOST + MORE];
    for (unsigned i = 0; i < MOST + MORE; i++)
        say(client, "{\"id\":1,\"method\":\"Runtime.getHeapUsage\"}");
    for (unsigned i = 0; i < MOST; i++)
        numbers[i] = asked(CHANNEL_USAGE, NULL, 0);
    expect_nothing_asked();
    hub_tick(&hub);
    expect_nothing_asked();
    assert_int_equal(hub_patience(&hub), -1);
    answer(CHANNEL_ANSWER, numbers[0], "{}");
    assert_int_equal(hub_patience(&hub), 0);
    hub_tick(&hub);
    asked(CHANNEL_USAGE, NULL, 0);
    expect_nothing_asked();
    client->sent = client->out.size;
    while (client_left(client) < CONNECTION_FULL)
        client_send(client, "0123456789", 10);
    for (unsigned i = 1; i < MOST; i++)
        answer(CHANNEL_ANSWER, numbers[i], "{}");
    hub_tick(&hub);
    expect_nothing_asked();
    client->sent = client->out.size;
    hub_tick(&hub);
    for (unsigned i = 1; i < MORE; i++)
        asked(CHANNEL_USAGE, NULL, 0);
    expect_nothing_asked();
}

/* ---- snapshots ---- */

static void press(struct client *client, unsigned id, bool with_progress)
{
    char text[128];
    snprintf(text, sizeof(text),
             "{\"id\":%u,\"method\":\"HeapProfiler.takeHeapSnapshot\",\"params\":"
             "{\"reportProgress\":%s}}",
             id, with_progress ? "true" : "false");
    say(client, text);
}

#define PROGRESS(rest) \
    "{\"method\":\"HeapProfiler.reportHeapSnapshotProgress\",\"params\":{\"done\":" rest "}}"
#define CHUNK(text) \
    "{\"method\":\"HeapProfiler.addHeapSnapshotChunk\",\"params\":{\"chunk\":" text "}}"

/* Two share one snapshot, a third one comes later; a character is cut by two pieces. */
TEST(snapshots)
{
    struct client *one = connect_client(), *two = connect_client(), *late = connect_client();
    press(one, 1, true);
    expect(one, PROGRESS("0,\"total\":100"));
    assert_int_equal(hub_patience(&hub), 0);
    hub_tick(&hub);
    const uint32_t number = asked(CHANNEL_TAKE, NULL, 0);
    answer(CHANNEL_PROGRESS, number, "\x0a");
    answer(CHANNEL_PROGRESS, number, "\x05"); /* never back */
    answer(CHANNEL_PROGRESS, number, "\x65"); /* nor beyond the end */
    expect(one, PROGRESS("10,\"total\":100"));
    press(two, 2, false);
    press(two, 3, false); /* its next one */
    press(two, 4, false);
    expect(two, "{\"id\":4,\"error\":{\"code\":-32000,\"message\":\"this client waits for a "
                "snapshot already\"}}");
    answer(CHANNEL_ANSWER, number, "early"); /* nobody has asked for bytes */
    expect_nothing(one);
    answer(CHANNEL_READY, number, "");
    expect(one, PROGRESS("100,\"total\":100,\"finished\":true"));
    press(late, 5, true);
    expect(late, PROGRESS("0,\"total\":100"));
    static const char *const pieces[] = {"{\"a\xe2", "\x82", "\xac\"", "}\xf0\x9f"};
    static const char *const chunks[] = {CHUNK("\"{\\\"a\""), NULL, CHUNK("\"€\\\"\""),
                                         CHUNK("\"}\"")};
    for (unsigned i = 0; i < 4; i++) {
        hub_tick(&hub);
        assert_int_equal(asked(CHANNEL_MORE, NULL, 0), number);
        hub_tick(&hub);
        expect_nothing_asked();
        answer(CHANNEL_ANSWER, number, pieces[i]);
        if (chunks[i])
            expect(one, chunks[i]), expect(two, chunks[i]);
    }
    hub_tick(&hub);
    asked(CHANNEL_MORE, NULL, 0);
    answer(CHANNEL_END, number, "");
    expect(one, CHUNK("\"\xef\xbf\xbd\xef\xbf\xbd\"")); /* what is sent is UTF-8 */
    expect(one, "{\"id\":1,\"result\":{}}");
    expect(two, CHUNK("\"\xef\xbf\xbd\xef\xbf\xbd\""));
    expect(two, "{\"id\":2,\"result\":{}}");
    expect_nothing(late);
    hub_tick(&hub);
    expect_nothing_asked(); /* the process is left alone for a while */
    assert_int_equal(hub_patience(&hub), REQUESTS_PAUSE);
    hub_wake(&hub, hub.now + REQUESTS_PAUSE);
    client_end(late);
    hub_remove(&hub, late);
    hub_tick(&hub);
    const uint32_t next = asked(CHANNEL_TAKE, NULL, 0);
    assert_int_not_equal(next, number);
    answer(CHANNEL_READY, next, "");
    hub_tick(&hub);
    asked(CHANNEL_MORE, NULL, 0);
    answer(CHANNEL_END, next, "");
    expect(two, "{\"id\":3,\"result\":{}}");
    expect_nothing(one);
    assert_int_equal(hub_patience(&hub), -1);
}

/* Nothing more is fetched until the slowest client has taken what there is. */
TEST(slow_clients)
{
    enum { PIECE = 100000 };
    static char piece[PIECE + 1];
    struct client *fast = connect_client(), *slow = connect_client();
    press(fast, 1, false);
    press(slow, 2, false);
    hub_tick(&hub);
    const uint32_t number = asked(CHANNEL_TAKE, NULL, 0);
    answer(CHANNEL_READY, number, "");
    hub_tick(&hub);
    asked(CHANNEL_MORE, NULL, 0);
    memset(piece, 'x', PIECE);
    answer(CHANNEL_ANSWER, number, piece);
    fast->sent = fast->out.size;
    hub_tick(&hub);
    expect_nothing_asked();
    slow->sent = slow->out.size - 1000;
    hub_tick(&hub);
    asked(CHANNEL_MORE, NULL, 0);
}

TEST(failed_snapshots)
{
    struct client *shows = connect_client(), *waits = connect_client();
    press(shows, 1, true);
    press(waits, 2, false);
    hub_tick(&hub);
    answer(CHANNEL_ERROR, asked(CHANNEL_TAKE, NULL, 0), "it has \"ended\"");
    expect(shows, PROGRESS("0,\"total\":100"));
    expect(shows, PROGRESS("100,\"total\":100,\"finished\":true"));
    const char *own;
    size_t size;
    struct json_value event;
    struct text chunk = {0};
    assert_int_equal(take(shows, &own, &size), 0x81);
    assert_true(json_read(own, size, &event));
    assert_true(json_text(json_member(json_member(event, "params"), "chunk"), &chunk));
    assert_true(json_read(chunk.data, chunk.size, &event));
    const struct json_value strings = json_member(event, "strings");
    static const char expected[] = "[\"\",\"no snapshot: it has \\\"ended\\\"\"]";
    assert_int_equal(strings.size, sizeof(expected) - 1);
    assert_memory_equal(strings.data, expected, strings.size);
    text_deinit(&chunk);
    expect(shows, "{\"id\":1,\"result\":{}}");
    expect(waits, "{\"id\":2,\"error\":{\"code\":-32000,\"message\":\"it has \\\"ended\\\"\"}}");
    hub_wake(&hub, hub.now + REQUESTS_PAUSE);
    press(shows, 3, true); /* fails when bytes of it are there */
    hub_tick(&hub);
    const uint32_t number = asked(CHANNEL_TAKE, NULL, 0);
    answer(CHANNEL_READY, number, "");
    answer(CHANNEL_ERROR, number, "lost");
    expect(shows, PROGRESS("0,\"total\":100"));
    expect(shows, PROGRESS("100,\"total\":100,\"finished\":true"));
    expect(shows, "{\"id\":3,\"error\":{\"code\":-32000,\"message\":\"lost\"}}");
    expect_nothing(shows);
}

/* ---- time, and what is broken ---- */

TEST(deadlines)
{
    struct client *client = hub_add(&hub, -1);
    text_append_string(&client->in, "GET / HT");
    hub_feed(&hub, client);
    assert_int_equal(hub_patience(&hub), 5000);
    hub_wake(&hub, hub.now + 4999);
    hub_tick(&hub);
    assert_int_equal(client->state, CONNECTION_HEAD);
    hub_wake(&hub, hub.now + 1);
    hub_tick(&hub);
    assert_int_equal(client->state, CONNECTION_GONE);
    hub_remove(&hub, client);
    client = connect_client();
    assert_int_equal(hub_patience(&hub), -1); /* a panel may stay open */
    say(client, "{\"id\":1,\"method\":\"Runtime.disable\"}");
    hub_wake(&hub, hub.now + 29999);
    hub_tick(&hub);
    assert_int_equal(client->state, CONNECTION_OPEN);
    hub_wake(&hub, hub.now + 1);
    hub_tick(&hub);
    assert_int_equal(client->state, CONNECTION_GONE); /* it has not taken its answer */
    for (unsigned i = 1; i < HUB_CONNECTIONS; i++)
        assert_non_null(hub_add(&hub, -1));
    assert_null(hub_add(&hub, -1));
}

TEST(broken_sessions)
{
    const struct channel_head head = {CHANNEL_MOST + 1, 1, CHANNEL_ANSWER};
    answer(CHANNEL_ANSWER, 77, "to a question that nobody has asked");
    text_append(&hub.questions.in, (const char *)&head, sizeof(head));
    assert_false(hub_answered(&hub));
}

UNIT_MAIN(set_up, tear_down)
