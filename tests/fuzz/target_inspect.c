/*
 * target_inspect: an input is what clients of --inspect send, and what a session answers, in steps:
 * a byte that says what happens, two for how many bytes follow, and these. Nothing is sent
 * anywhere.
 *
 * Whatever comes, each message to a client must be JSON in UTF-8 in a frame of its own, each
 * question to the session short, and nothing kept beyond what the server's limits say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check.h"
#include "fuzz_target.h"
#include "inspect/http.h"
#include "inspect/hub.h"
#include "inspect/inspect_json.h"

enum { CLIENTS = 3, QUESTIONS = 256 };

/* What happens in a step: the lowest bits of its byte. The others choose a client or a question. */
enum { SENDS_BYTES, SENDS_TEXT, SESSION_ANSWERS, SESSION_FAILS, TIME_GOES_BY, CLIENT_TAKES, STEPS };

static const char handshake[] = "GET /path HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                                "Connection: upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

struct fuzz {
    struct hub hub;
    struct client *clients[CLIENTS];
    struct channel_head questions[QUESTIONS]; /* that are not answered */
    size_t question_count;
};

/* ---- what is sent ---- */

static uint64_t number_at(const char *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number = number << 8 | (uint8_t)at[i];
    return number;
}

/* Checks a frame, and returns its size. */
static size_t check_frame(const char *at, size_t left)
{
    struct json_value value;
    CHECK(left >= 2);
    const unsigned first = (uint8_t)at[0], length = (uint8_t)at[1],
                   more = length == 126   ? 2
                          : length == 127 ? 8
                                          : 0;
    CHECK(first == 0x81 || first == 0x88 || first == 0x8a);
    CHECK(length < 0x80 && left >= 2 + more);
    const uint64_t size = more > 0 ? number_at(at + 2, more) : length;
    CHECK(size <= left - 2 - more && (first == 0x81 || size <= 125));
    CHECK(more == 0 || size >= (more == 2 ? 126 : 65536));
    if (first == 0x81) {
        CHECK(websocket_is_utf8(at + 2 + more, (size_t)size));
        CHECK(json_read(at + 2 + more, (size_t)size, &value));
        CHECK(json_member(value, "id").size > 0 || json_member(value, "method").size > 0 ||
              json_member(value, "error").size > 0);
    }
    return 2 + more + (size_t)size;
}

/* Checks an answer of HTTP, and returns its size. */
static size_t check_answer(const char *at, size_t left)
{
    static const char length[] = "Content-Length: ";
    const char *end = memmem(at, left, "\r\n\r\n", 4);
    CHECK(end);
    const size_t head = (size_t)(end - at) + 4;
    const char *found = memmem(at, head, length, strlen(length));
    const bool is_upgrade = memcmp(at, "HTTP/1.1 101 ", 13) == 0;
    CHECK((found != NULL) != is_upgrade);
    const size_t size = head + (found ? strtoul(found + strlen(length), NULL, 10) : 0);
    CHECK(size <= left);
    return size;
}

static void take_out(struct client *connection)
{
    struct text *out = &connection->out;
    for (size_t at = 0; at < out->size;) {
        const size_t left = out->size - at;
        at += left > 9 && memcmp(out->data + at, "HTTP/1.1 ", 9) == 0
                  ? check_answer(out->data + at, left)
                  : check_frame(out->data + at, left);
    }
    out->size = connection->sent = 0;
}

/* ---- the session ---- */

static void take_questions(struct fuzz *fuzz)
{
    struct questions *asks = &fuzz->hub.questions;
    struct channel_head head;
    for (size_t at = 0; at < asks->out.size; at += sizeof(head) + head.size) {
        CHECK(asks->out.size - at >= sizeof(head));
        memcpy(&head, asks->out.data + at, sizeof(head));
        CHECK(head.size <= CHANNEL_MOST_ASKED && head.size <= asks->out.size - at - sizeof(head));
        CHECK(head.kind >= CHANNEL_TAKE && head.kind <= CHANNEL_SOURCE);
        if (fuzz->question_count < QUESTIONS)
            fuzz->questions[fuzz->question_count++] = head;
    }
    asks->out.size = asks->sent = 0;
}

static void put_answer(struct fuzz *fuzz, enum channel_kind kind, uint32_t number, const void *body,
                       size_t size)
{
    const struct channel_head head = {(uint32_t)size, number, kind};
    text_append(&fuzz->hub.questions.in, (const char *)&head, sizeof(head));
    text_append(&fuzz->hub.questions.in, body, size);
    CHECK(hub_answered(&fuzz->hub));
}

/* Answers as the session does: with JSON, but for bytes of snapshots and ids. */
static void answer(struct fuzz *fuzz, const struct channel_head *question, const uint8_t *data,
                   size_t size)
{
    static const char object[] = "{\"result\":[]}", event[] = "{\"method\":\"x\"}\n";
    const uint32_t number = question->number;
    switch (question->kind) {
    case CHANNEL_TAKE:
        put_answer(fuzz, CHANNEL_PROGRESS, number, data, size > 0 ? 1 : 0);
        put_answer(fuzz, CHANNEL_READY, number, NULL, 0);
        break;
    case CHANNEL_MORE:
        put_answer(fuzz, size > 0 ? CHANNEL_ANSWER : CHANNEL_END, number, data, size);
        break;
    case CHANNEL_TARGET:
        put_answer(fuzz, CHANNEL_ANSWER, number, "\"title\":\"x\"", size > 0 ? 11 : 0);
        break;
    case CHANNEL_HEAP_ID:
        put_answer(fuzz, CHANNEL_ANSWER, number, "12", 2);
        break;
    case CHANNEL_SCRIPTS:
    case CHANNEL_LINES:
        put_answer(fuzz, CHANNEL_ANSWER, number, event, size % sizeof(event) == 0 ? 0 : 15);
        break;
    case CHANNEL_SOURCE:
        put_answer(fuzz, CHANNEL_ANSWER, number, FUZZ_CORPUS "/README.md",
                   size % sizeof(FUZZ_CORPUS "/README.md"));
        break;
    default:
        put_answer(fuzz, CHANNEL_ANSWER, number, object, sizeof(object) - 1);
    }
}

static void answer_one(struct fuzz *fuzz, unsigned choice, const uint8_t *data, size_t size,
                       bool fails)
{
    if (fuzz->question_count == 0) { /* an answer that nobody has asked for */
        put_answer(fuzz, choice, size, data, size);
        return;
    }
    const size_t which = choice % fuzz->question_count;
    const struct channel_head question = fuzz->questions[which];
    fuzz->questions[which] = fuzz->questions[--fuzz->question_count];
    if (fails)
        put_answer(fuzz, CHANNEL_ERROR, question.number, data, size);
    else
        answer(fuzz, &question, data, size);
}

/* ---- the clients ---- */

static struct client *client_of(struct fuzz *fuzz, unsigned choice)
{
    struct client **client = &fuzz->clients[choice % CLIENTS];
    if (*client && (*client)->state == CONNECTION_GONE) {
        hub_remove(&fuzz->hub, *client);
        *client = NULL;
    }
    if (!*client)
        *client = hub_add(&fuzz->hub, -1);
    CHECK(*client);
    return *client;
}

static void send_bytes(struct fuzz *fuzz, struct client *client, const void *data, size_t size)
{
    if (client->in.size > WEBSOCKET_MOST) /* no more is read from the socket */
        return;
    text_append(&client->in, data, size);
    hub_feed(&fuzz->hub, client);
}

/* Sends a message in a frame whose mask changes nothing, after a handshake if there was none. */
static void send_text(struct fuzz *fuzz, struct client *client, const uint8_t *data, size_t size)
{
    const uint8_t head[] = {0x81, 0xfe, (uint8_t)(size >> 8), (uint8_t)size, 0, 0, 0, 0};
    if (client->state == CONNECTION_HEAD && client->in.size == 0)
        send_bytes(fuzz, client, handshake, sizeof(handshake) - 1);
    send_bytes(fuzz, client, head, sizeof(head));
    send_bytes(fuzz, client, data, size);
}

static void step(struct fuzz *fuzz, unsigned what, const uint8_t *data, size_t size)
{
    const unsigned choice = what / STEPS;
    switch (what % STEPS) {
    case SENDS_BYTES:
        send_bytes(fuzz, client_of(fuzz, choice), data, size);
        break;
    case SENDS_TEXT:
        send_text(fuzz, client_of(fuzz, choice), data, size);
        break;
    case SESSION_ANSWERS:
    case SESSION_FAILS:
        answer_one(fuzz, choice, data, size, what % STEPS == SESSION_FAILS);
        break;
    case TIME_GOES_BY:
        hub_wake(&fuzz->hub, fuzz->hub.now + (int64_t)choice * 250);
        hub_tick(&fuzz->hub);
        break;
    default:
        take_out(client_of(fuzz, choice));
        hub_tick(&fuzz->hub);
    }
    take_questions(fuzz);
    CHECK(hub_patience(&fuzz->hub) >= -1 && !fuzz->hub.failed);
}

static void check_limits(const struct client *client)
{
    CHECK(client->asked <= 16);
    CHECK(client->joined.size <= WEBSOCKET_MOST);
    CHECK(client->state != CONNECTION_HEAD || client->in.size <= HTTP_HEAD_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct server_options options = {
        .program = "program \"\x01\xff", .name = "name \"\x01\xff", .owner = (uid_t)-1};
    static const struct server_address address = {
        .host = "127.0.0.1", .port = 9229, .is_loopback = true, .path = "/path"};
    struct fuzz fuzz = {.hub = {.options = &options, .address = &address}};
    for (size_t at = 0; at + 3 <= size;) {
        const size_t wanted = (size_t)data[at + 1] << 8 | data[at + 2], left = size - at - 3,
                     count = wanted < left ? wanted : left;
        step(&fuzz, data[at], data + at + 3, count);
        at += 3 + count;
        for (unsigned i = 0; i < CLIENTS; i++)
            if (fuzz.clients[i] && fuzz.clients[i]->state != CONNECTION_GONE)
                check_limits(fuzz.clients[i]);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        if (fuzz.clients[i])
            take_out(fuzz.clients[i]);
    hub_deinit(&fuzz.hub);
    return 0;
}
