/* Covers the protocols of src/inspect, by the examples of their standards, and with input that ends
 * at any byte. What clients get from the whole is tested by tests/inspect. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "inspect/http.h"
#include "inspect/hub.h"
#include "inspect/inspect_json.h"
#include "inspect/server.h"
#include "inspect/taken.h"

/* ---- SHA-1: RFC 3174, 7.3; NIST's examples for the message of two blocks ---- */

static void assert_sha1(const void *data, size_t size, const char *expected)
{
    uint8_t digest[SHA1_SIZE];
    char hex[2 * SHA1_SIZE + 1];
    sha1(data, size, digest);
    for (unsigned i = 0; i < SHA1_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, expected);
}

TEST(digests)
{
    static char many[1000000];
    static const char *const two_blocks =
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    memset(many, 'a', sizeof(many));
    assert_sha1("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    assert_sha1("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_sha1(two_blocks, strlen(two_blocks), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    assert_sha1(many, sizeof(many), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    /* Where the length still fits into the last block, and where it does not: by sha1sum(1). */
    assert_sha1(many, 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    assert_sha1(many, 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699");
    assert_sha1(many, 63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
    assert_sha1(many, 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

/* ---- WebSocket ---- */

TEST(accepts_keys)
{
    char accept[WEBSOCKET_ACCEPT];
    const char *key = "dGhlIHNhbXBsZSBub25jZQ=="; /* RFC 6455, 1.3 */
    assert_true(websocket_accept(key, strlen(key), accept));
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_false(websocket_accept(key, strlen(key) - 1, accept));
    assert_false(websocket_accept("", 0, accept));
}

/* A copy of bytes in memory of just their size, so that a sanitizer sees what is read behind. */
static char *copy(const void *data, size_t size)
{
    char *bytes = malloc(size > 0 ? size : 1);
    assert_non_null(bytes);
    memcpy(bytes, data, size);
    return bytes;
}

/* Reads a frame, which is not there as long as a byte is missing. */
static void assert_frame(const uint8_t *bytes, size_t size, enum websocket_opcode opcode,
                         bool is_last, const char *payload)
{
    struct websocket_frame frame;
    size_t used;
    for (size_t left = 0; left < size; left++) {
        char *part = copy(bytes, left);
        assert_int_equal(websocket_read(part, left, &frame, &used), 0);
        assert_int_equal(used, 0);
        free(part);
    }
    char *whole = copy(bytes, size);
    assert_int_equal(websocket_read(whole, size, &frame, &used), 0);
    assert_int_equal(used, size);
    assert_int_equal(frame.opcode, opcode);
    assert_int_equal(frame.is_last, is_last);
    assert_int_equal(frame.size, strlen(payload));
    assert_memory_equal(frame.data, payload, frame.size);
    free(whole);
}

TEST(reads_frames)
{
    /* RFC 6455, 5.7 */
    static const uint8_t hello[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d,
                                    0x7f, 0x9f, 0x4d, 0x51, 0x58},
                         pong[] = {0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d,
                                   0x7f, 0x9f, 0x4d, 0x51, 0x58},
                         hel[] = {0x01, 0x83, 0, 0, 0, 0, 'H', 'e', 'l'},
                         lo[] = {0x80, 0x82, 0, 0, 0, 0, 'l', 'o'};
    assert_frame(hello, sizeof(hello), WEBSOCKET_TEXT, true, "Hello");
    assert_frame(pong, sizeof(pong), WEBSOCKET_PONG, true, "Hello");
    assert_frame(hel, sizeof(hel), WEBSOCKET_TEXT, false, "Hel");
    assert_frame(lo, sizeof(lo), WEBSOCKET_CONTINUATION, true, "lo");
}

TEST(reads_lengths_of_all_widths)
{
    enum { HEAD_16 = 8, SIZE = 300 };
    uint8_t bytes[HEAD_16 + SIZE] = {0x81, 0xfe, SIZE >> 8, SIZE & 0xff};
    char payload[SIZE + 1];
    memset(bytes + HEAD_16, 'x', SIZE);
    memset(payload, 'x', SIZE);
    payload[SIZE] = '\0';
    assert_frame(bytes, sizeof(bytes), WEBSOCKET_TEXT, true, payload);
    const uint8_t wide[] = {0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 'a', 'b'};
    assert_frame(wide, sizeof(wide), WEBSOCKET_TEXT, true, "ab");
}

static unsigned status_of(const void *data, size_t size)
{
    struct websocket_frame frame;
    size_t used;
    char *bytes = copy(data, size);
    const unsigned status = websocket_read(bytes, size, &frame, &used);
    free(bytes);
    return status;
}

TEST(refuses_frames_by_their_heads)
{
    assert_int_equal(status_of("\x81\x05", 2), WEBSOCKET_PROTOCOL_ERROR); /* no mask */
    assert_int_equal(status_of("\xc1\x85", 2), WEBSOCKET_PROTOCOL_ERROR); /* reserved bits */
    assert_int_equal(status_of("\xa1\x85", 2), WEBSOCKET_PROTOCOL_ERROR);
    assert_int_equal(status_of("\x91\x85", 2), WEBSOCKET_PROTOCOL_ERROR);
    assert_int_equal(status_of("\x82\x85", 2), WEBSOCKET_UNSUPPORTED); /* binary */
    assert_int_equal(status_of("\x83\x85", 2), WEBSOCKET_PROTOCOL_ERROR);
    assert_int_equal(status_of("\x8b\x85", 2), WEBSOCKET_PROTOCOL_ERROR);
    assert_int_equal(status_of("\x09\x80", 2), WEBSOCKET_PROTOCOL_ERROR); /* half a ping */
    assert_int_equal(status_of("\x89\xfe", 2), WEBSOCKET_PROTOCOL_ERROR); /* a long one */
    assert_int_equal(status_of("\x81\xff\x80\0\0\0\0\0\0\0", 10), WEBSOCKET_TOO_LARGE);
    assert_int_equal(status_of("\x81\xff\0\0\0\0\0\x10\0\0", 10), 0); /* 1 MB */
    assert_int_equal(status_of("\x81\xff\0\0\0\0\0\x10\0\1", 10), WEBSOCKET_TOO_LARGE);
}

TEST(writes_frames)
{
    static const struct {
        size_t size, head;
        const char *begin;
    } cases[] = {{0, 2, "\x81\x00"},
                 {5, 2, "\x81\x05"}, /* RFC 6455, 5.7 */
                 {125, 2, "\x81\x7d"},
                 {126, 4, "\x81\x7e\x00\x7e"},
                 {256, 4, "\x81\x7e\x01\x00"},
                 {65535, 4, "\x81\x7e\xff\xff"},
                 {65536, 10, "\x81\x7f\0\0\0\0\0\1\0\0"}};
    char *payload = calloc(1, 65536);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct text out = {0};
        websocket_write(&out, WEBSOCKET_TEXT, payload, cases[i].size);
        assert_int_equal(out.size, cases[i].head + cases[i].size);
        assert_memory_equal(out.data, cases[i].begin, cases[i].head);
        text_deinit(&out);
    }
    free(payload);
}

/* ---- HTTP ---- */

/* RFC 6455, 1.3, with a query and another case of letters. */
static const char handshake[] = "GET /chat?x=1&y HTTP/1.1\r\n"
                                "hOST: server.example.com\r\n"
                                "Upgrade: WebSocket\r\n"
                                "connection: keep-alive , Upgrade\r\n"
                                "Sec-WebSocket-Key: \t dGhlIHNhbXBsZSBub25jZQ== \r\n"
                                "Origin: http://example.com\r\n"
                                "Sec-WebSocket-Protocol: chat, superchat\r\n"
                                "Sec-WebSocket-Version:13\r\n\r\n";

TEST(reads_requests)
{
    struct http_request request;
    size_t used;
    const size_t size = sizeof(handshake) - 1;
    for (size_t left = 0; left < size; left++) {
        char *part = copy(handshake, left);
        assert_int_equal(http_read(part, left, &request, &used), HTTP_PARTIAL);
        free(part);
    }
    char *whole = copy(handshake, size);
    assert_int_equal(http_read(whole, size, &request, &used), HTTP_COMPLETE);
    assert_int_equal(used, size);
    assert_true(http_is(request.method, "GET"));
    assert_true(http_is(request.path, "/chat"));
    assert_true(http_is(request.host, "server.example.com"));
    assert_true(http_is(request.origin, "http://example.com"));
    assert_true(http_is(request.key, "dGhlIHNhbXBsZSBub25jZQ=="));
    assert_true(http_is(request.version, "13"));
    assert_true(request.is_upgrade);
    assert_false(request.is_twice);
    free(whole);
}

static enum http_state state_of(const char *text)
{
    struct http_request request;
    size_t used;
    char *bytes = copy(text, strlen(text));
    const enum http_state found = http_read(bytes, strlen(text), &request, &used);
    free(bytes);
    return found;
}

TEST(refuses_requests)
{
    static const char *const bad[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        " GET / HTTP/1.1\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET / HTTP/2\r\n\r\n",
        "GET x HTTP/1.1\r\n\r\n",
        "GET http://x/ HTTP/1.1\r\n\r\n",
        "GET /\x7f HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n more\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(state_of(bad[i]), HTTP_BAD);
    assert_int_equal(state_of("GET / HTTP/1.1\r\n\r\n"), HTTP_COMPLETE);
    char large[HTTP_HEAD_MOST + 1];
    memset(large, 'x', HTTP_HEAD_MOST);
    large[HTTP_HEAD_MOST] = '\0';
    assert_int_equal(state_of(large), HTTP_TOO_LARGE);
    memcpy(large + HTTP_HEAD_MOST - 4, "\r\n\r\n", 4);
    assert_int_equal(state_of(large), HTTP_BAD);
}

TEST(sees_repeated_headers)
{
    struct http_request request;
    size_t used;
    static const char *const names[] = {"Host", "Origin", "Sec-WebSocket-Key", "Sec-Fetch-Site"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        char text[200];
        const int size = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\n%s: a\r\n%s: \r\n\r\n",
                                  names[i], names[i]);
        assert_int_equal(http_read(text, (size_t)size, &request, &used), HTTP_COMPLETE);
        assert_true(request.is_twice);
    }
}

TEST(reads_addresses)
{
    static const struct {
        const char *text, *host; /* NULL: it is none */
        uint16_t port;
        bool is_loopback;
    } addresses[] = {
        {NULL, "127.0.0.1", 9229, true},         {"0", "127.0.0.1", 0, true},
        {"65535", "127.0.0.1", 65535, true},     {"localhost:80", "127.0.0.1", 80, true},
        {"127.1.2.3:80", "127.1.2.3", 80, true}, {"10.0.0.1:80", "10.0.0.1", 80, false},
        {"[::1]:80", "::1", 80, true},           {"[::]:80", "::", 80, false},
        {"[fe80::1]:80", "fe80::1", 80, false},
    };
    static const char *const bad[] = {
        "",       ":",      ":80",     "65536",  "-1",       "1x",    "[]:80",      "[:80", "]:80",
        "::1:80", "[1]:80", "host:80", "[::1]:", "10.0.0.1", "[::1]", "[[::1]]:80", "0x10"};
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        struct server_address address;
        assert_true(server_parse(addresses[i].text, &address));
        assert_string_equal(address.host, addresses[i].host);
        assert_int_equal(address.port, addresses[i].port);
        assert_int_equal(address.is_loopback, addresses[i].is_loopback);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct server_address address;
        if (server_parse(bad[i], &address))
            fail_msg("%s is an address", bad[i]);
    }
}

static bool is_here(const char *host, const char *bound)
{
    char *bytes = copy(host, strlen(host));
    const bool found = http_host_is_here((struct http_part){bytes, strlen(host)}, bound);
    free(bytes);
    return found;
}

/* What stands for this machine whatever it is bound to is in tests/inspect. */
TEST(knows_where_it_is)
{
    assert_true(is_here("192.168.0.7:9229", "192.168.0.7"));
    assert_false(is_here("192.168.0.8:9229", "192.168.0.7"));
    assert_false(is_here("192.168.0.7:9229", "127.0.0.1"));
    assert_true(is_here("localhost", "192.168.0.7"));
    assert_true(is_here("[fe80::7]:1", "fe80::7"));
    assert_false(is_here("[fe80::8]:1", "fe80::7"));
    assert_true(is_here("10.0.0.1", "0.0.0.0"));
    assert_true(is_here("[fe80::8]", "::"));
    assert_false(is_here("evil.example", "0.0.0.0"));
    assert_false(is_here("10.0.0.1.", "0.0.0.0"));
    assert_false(is_here("0x0a.0.0.1", "0.0.0.0"));
    assert_false(is_here("fe80::8", "::"));
    assert_false(is_here("", "0.0.0.0"));
}

/* ---- JSON ---- */

static bool is_json(const char *text, size_t size)
{
    struct json_value value;
    char *bytes = copy(text, size);
    const bool found = json_read(bytes, size, &value);
    free(bytes);
    return found;
}

TEST(reads_json)
{
    static const char object[] = " {\"a\" : [1, -0.5e+10, true,false , null],\"b\":{\"\\u00fC\\n\":"
                                 "\"\\\"\"} , \"c\":\"x\"}";
    static const char *const good[] = {"0",  "-0", "1e5",  "1.0E-5", "\"\"", "\"\\/\"",
                                       "[]", "{}", "[[]]", " 1 ",    "true", "{\"\":0}"},
                             *const bad[] = {
                                 "",       " ",       "01",        "-",           "1.",    ".5",
                                 "1e",     "+1",      "0x1",       "tru",         "truex", "\"",
                                 "\"\n\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\",  "[",
                                 "[1",     "[1,",     "[1,]",      "[,1]",        "[1 2]", "{",
                                 "{\"a\"", "{\"a\":", "{\"a\":1",  "{\"a\":1,}",  "{a:1}", "{1:1}",
                                 "1 1",    "[1}",     "{\"a\":1]", "'a'",         "NaN",   "//\n1"};
    for (size_t left = 0; left < sizeof(object) - 1; left++)
        assert_false(is_json(object, left));
    assert_true(is_json(object, sizeof(object) - 1));
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        assert_true(is_json(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(is_json(bad[i], strlen(bad[i])));
    assert_false(is_json("\"\0\"", 3));
    assert_false(is_json("1\0", 2));
}

TEST(reads_no_deeper)
{
    char text[2 * JSON_DEPTH + 2];
    memset(text, '[', JSON_DEPTH);
    memset(text + JSON_DEPTH, ']', JSON_DEPTH);
    assert_true(is_json(text, (size_t)2 * JSON_DEPTH));
    memset(text, '[', JSON_DEPTH + 1);
    memset(text + JSON_DEPTH + 1, ']', JSON_DEPTH + 1);
    assert_false(is_json(text, sizeof(text)));
}

TEST(finds_members)
{
    static const char text[] =
        "{ \"a\":{\"b\":1,\"c\":2} , \"b\" : [\"b\",{\"b\":3}],\"\\u0062c\": "
        "\"x\",\"a\":-4 ,\"e\":true,\"ab\":0}";
    struct json_value all, value;
    assert_true(json_read(text, sizeof(text) - 1, &all));
    value = json_member(all, "a"); /* the last one */
    assert_true(value.size == 2 && memcmp(value.data, "-4", 2) == 0 && json_is_integer(value));
    value = json_member(all, "b");
    assert_true(value.size == 13 && *value.data == '[' && !json_is_integer(value));
    assert_int_equal(json_member(all, "bc").size, 3);
    assert_true(json_is_true(json_member(all, "e")));
    assert_false(json_is_true(json_member(all, "a")));
    assert_int_equal(json_member(all, "c").size, 0);
    assert_int_equal(json_member(all, "").size, 0);
    assert_int_equal(json_member(value, "b").size, 0); /* of no object */
    assert_int_equal(json_member((struct json_value){0}, "b").size, 0);
}

static void assert_text(const char *json, const char *expected, size_t size)
{
    struct json_value value;
    struct text text = {0};
    assert_true(json_read(json, strlen(json), &value));
    assert_true(json_text(value, &text));
    assert_int_equal(text.size, size);
    assert_memory_equal(text.data, expected, size);
    text_deinit(&text);
}

TEST(reads_strings)
{
    struct text text = {0};
    struct json_value value;
    assert_text("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\b\f\n\r\t", 9);
    assert_text("\"\\u0000\\u007f\\u0080\\u07ff\\u0800\\uFFFF\"",
                "\0\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", 12);
    assert_text("\"\\ud834\\uDD1E\"", "\xf0\x9d\x84\x9e", 4); /* RFC 8259, 7 */
    assert_text("\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf", 4);
    assert_text("\"\xf0\x9d\x84\x9e\"", "\xf0\x9d\x84\x9e", 4);
    assert_text("\"\\ud834\"", "\xef\xbf\xbd", 3); /* without its other half */
    assert_text("\"\\ud834x\"", "\xef\xbf\xbdx", 4);
    assert_text("\"\\ud834\\n\"", "\xef\xbf\xbd\n", 4);
    assert_text("\"\\udd1e\\ud834\"", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    assert_text("\"\\ud834\\ud834\\udd1e\"", "\xef\xbf\xbd\xf0\x9d\x84\x9e", 7);
    assert_true(json_read("12", 2, &value));
    assert_false(json_text(value, &text));
    assert_false(json_text((struct json_value){0}, &text));
}

/* What is written is read as it was, but for bytes that are no UTF-8. */
TEST(writes_strings)
{
    struct text json = {0}, back = {0};
    struct json_value value;
    char all[0x80];
    for (unsigned i = 0; i < sizeof(all); i++)
        all[i] = (char)i;
    json_write(&json, all, sizeof(all));
    assert_true(json_read(json.data, json.size, &value));
    assert_true(json_text(value, &back));
    assert_int_equal(back.size, sizeof(all));
    assert_memory_equal(back.data, all, sizeof(all));
    json.size = 0;
    json_write_string(&json, "\xf0\x9d\x84\x9e\xe2\x80\xa8\n\"\\\x7f");
    assert_int_equal(json.size, 16);
    assert_memory_equal(json.data, "\"\xf0\x9d\x84\x9e\xe2\x80\xa8\\n\\\"\\\\\x7f\"", 16);
    json.size = 0;
    json_write_string(&json, "a\xff\xed\xa0\x80\xc3");
    assert_int_equal(json.size, 18);
    assert_memory_equal(json.data,
                        "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", 18);
    text_deinit(&json);
    text_deinit(&back);
}

/* Of the descriptors that it needs the last one is missing: --watch tries again and again. */
TEST(commands_that_do_not_start_leave_nothing_open)
{
    const struct origin_options options = {.threads = 1};
    const int first = dup(STDIN_FILENO);
    struct origin origin = {0};
    struct rlimit before, few;
    close(first);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)first + 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct g2h_error *error = command_open("true", &options, &origin);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_error(error, G2H_ERROR_SYSTEM, "cannot run 'true': Too many open files");
    for (int fd = first; fd < first + 4; fd++)
        assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* While a panel is open, accepting clients takes a tenth of the time at most. */
TEST(leaves_time_for_a_panel)
{
    struct hub hub = {.now = 1000};
    struct client *client = hub_add(&hub, -1);
    assert_non_null(client);
    hub_accepted(&hub, 20000);
    assert_true(hub_may_accept(&hub)); /* nobody is disturbed */
    client_move(client, CONNECTION_OPEN, hub.now);
    assert_false(hub_may_accept(&hub));
    assert_int_equal(hub_patience(&hub), 200);
    hub.now += 199;
    assert_false(hub_may_accept(&hub));
    hub.now += 1;
    assert_true(hub_may_accept(&hub));
    unsigned accepted = 0;
    for (const int64_t end = hub.now + 1000; hub.now < end; hub.now++)
        for (unsigned i = 0; i < 10 && hub_may_accept(&hub); i++, accepted++)
            hub_accepted(&hub, 150);
    assert_in_range(accepted, 400, 700); /* by the share 667 */
    hub_accepted(&hub, 60000000);
    assert_int_equal(hub_patience(&hub), 1000);
    hub_deinit(&hub);
}

TEST(listens_at_addresses_of_both_families)
{
    static const char *const texts[] = {"127.0.0.1:0", "[::1]:0"};
    for (size_t i = 0; i < 2; i++) {
        struct server_address address;
        int fd = -1;
        assert_true(server_parse(texts[i], &address));
        struct g2h_error *error = server_listen(&address, &fd);
        /* There may be no IPv6 here, which is another error than a wrong address. */
        if (error && (i == 0 || strstr(error->message, strerror(EINVAL))))
            fail_msg("%s: %s", texts[i], error->message);
        assert_true(error || address.port > 0);
        g2h_error_destroy(error);
        close(fd);
    }
}

UNIT_MAIN(NULL, NULL)
