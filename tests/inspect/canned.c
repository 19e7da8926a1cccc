/*
 * canned: an --inspect whose session holds no heap: its answers are written below, and its snapshot
 * is a file. With it the server is tested alone, at moments that no real session would offer.
 *
 *   canned [OPTION]... [HOST:]PORT FILE
 *
 *   --piece N      bytes of the file in an answer (default: as many as there may be)
 *   --wait         a snapshot is there only after a line on standard input
 *   --fail TEXT    a snapshot fails; --fail-later TEXT: after its first piece
 *   --ended        what is inspected has ended
 *   --private      no target is listed
 *   --drop         the server drops its rights
 *
 * Says "listening at HOST:PORT/UUID" on standard output, and then a line for each question.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "inspect/channel.h"
#include "inspect/server.h"

static struct {
    size_t piece;
    const char *fail, *fail_later, *file;
    bool waits, is_ended;
} options = {.piece = CHANNEL_CHUNK};

static int channel;
static int snapshot = -1;

static void answer(enum channel_kind kind, uint32_t number, const char *body)
{
    channel_send(channel, kind, number, body, strlen(body));
}

static void take(uint32_t number)
{
    char line[16];
    for (char percent = 0; percent <= 50; percent += 25)
        channel_send(channel, CHANNEL_PROGRESS, number, &percent, 1);
    if (options.waits && !fgets(line, sizeof(line), stdin))
        exit(1);
    if (snapshot >= 0)
        close(snapshot);
    snapshot = open(options.file, O_RDONLY);
    if (options.fail)
        answer(CHANNEL_ERROR, number, options.fail);
    else
        answer(CHANNEL_READY, number, "");
}

static void send_more(uint32_t number)
{
    static char piece[CHANNEL_CHUNK];
    if (options.fail_later && lseek(snapshot, 0, SEEK_CUR) > 0) {
        answer(CHANNEL_ERROR, number, options.fail_later);
        return;
    }
    const ssize_t size = read(snapshot, piece, options.piece);
    if (size > 0)
        channel_send(channel, CHANNEL_ANSWER, number, piece, (size_t)size);
    else
        answer(CHANNEL_END, number, "");
}

/* Answers with what was asked, so that a test sees what has come through. */
static void evaluate(uint32_t number, const struct text *body)
{
    struct channel_evaluate head;
    struct text text = {0};
    if (body->size < sizeof(head))
        exit(1);
    memcpy(&head, body->data, sizeof(head));
    text_printf(&text, "{\"result\":{\"type\":\"string\",\"value\":\"%u %u %u: ", head.flags,
                head.inspected[0], head.inspected[1]);
    for (size_t i = sizeof(head); i < body->size; i++)
        text_printf(&text, "%02x", (unsigned char)body->data[i]);
    text_append(&text, "\"}}", 4);
    answer(CHANNEL_ANSWER, number, text.data);
    text_deinit(&text);
}

static void answer_one(const struct channel_head *head, const struct text *body)
{
    static const char none[] = "no object has this id";
    const bool is_known = body->size == 1 && *body->data == '7';
    switch (head->kind) {
    case CHANNEL_TAKE:
        take(head->number);
        break;
    case CHANNEL_MORE:
        send_more(head->number);
        break;
    case CHANNEL_TARGET:
        answer(CHANNEL_ANSWER, head->number,
               options.is_ended ? "" : "\"title\":\"c\u00e4nned\",\"url\":\"file:///canned\"");
        break;
    case CHANNEL_USAGE:
        answer(CHANNEL_ANSWER, head->number, "{\"usedSize\":1,\"totalSize\":2}");
        break;
    case CHANNEL_OBJECT:
        answer(is_known ? CHANNEL_ANSWER : CHANNEL_ERROR, head->number,
               is_known ? "{\"type\":\"object\",\"description\":\"seven\",\"objectId\":\"o7\"}"
                        : none);
        break;
    case CHANNEL_HEAP_ID:
        answer(CHANNEL_ANSWER, head->number, "7");
        break;
    case CHANNEL_PROPERTIES:
        answer(CHANNEL_ANSWER, head->number,
               "{\"result\":[],\"internalProperties\":[{\"name\":\"[[of]]\"}]}");
        break;
    case CHANNEL_EVALUATE:
        evaluate(head->number, body);
        break;
    case CHANNEL_SCRIPTS:
        answer(CHANNEL_ANSWER, head->number,
               "{\"method\":\"Debugger.scriptParsed\",\"params\":{\"scriptId\":\"1\"}}\n"
               "{\"method\":\"Debugger.scriptParsed\",\"params\":{\"scriptId\":\"2\"}}\n");
        break;
    case CHANNEL_LINES:
        answer(CHANNEL_ANSWER, head->number,
               "{\"method\":\"Runtime.consoleAPICalled\",\"params\":{\"type\":\"log\"}}\n");
        break;
    case CHANNEL_SOURCE: /* the scriptId is the path */
        answer(CHANNEL_ANSWER, head->number, body->data);
        break;
    default:
        exit(1);
    }
}

static int run_session(void)
{
    struct channel_head head;
    struct text body = {0};
    while (channel_receive(channel, &head, &body) == CHANNEL_RECEIVED) {
        printf("asked %u\n", head.kind);
        fflush(stdout);
        answer_one(&head, &body);
    }
    text_deinit(&body);
    return 0;
}

int main(int argc, char **argv)
{
    struct server_options server = {
        .program = "canned 1.0", .name = "canned[1]", .owner = (uid_t)-1};
    struct server_address address;
    struct g2h_error *error;
    int ends[2], listener, at = 1;
    bool drops = false;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--piece") == 0)
            options.piece = strtoul(argv[++at], NULL, 10);
        else if (strcmp(argv[at], "--fail") == 0)
            options.fail = argv[++at];
        else if (strcmp(argv[at], "--fail-later") == 0)
            options.fail_later = argv[++at];
        else if (strcmp(argv[at], "--wait") == 0)
            options.waits = true;
        else if (strcmp(argv[at], "--ended") == 0)
            options.is_ended = true;
        else if (strcmp(argv[at], "--private") == 0)
            server.is_private = true;
        else if (strcmp(argv[at], "--drop") == 0)
            drops = true;
    }
    if (argc - at != 2 || !server_parse(argv[at], &address)) {
        fprintf(stderr, "usage: canned [OPTION]... [HOST:]PORT FILE\n");
        return 2;
    }
    options.file = argv[at + 1];
    error = server_listen(&address, &listener);
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        g2h_error_destroy(error);
        return 1;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return 1;
    const pid_t session = fork();
    if (session == 0) {
        close(listener);
        close(ends[0]);
        channel = ends[1];
        signal(SIGINT, SIG_DFL);
        return run_session();
    }
    close(ends[1]);
    error = drops ? server_drop_rights() : NULL;
    printf("listening at %s:%u%s, session %d\n", address.host, address.port, address.path,
           (int)session);
    fflush(stdout);
    if (!error)
        error = server_run(&server, &address, listener, ends[0]);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    const int status = error ? 1 : 0;
    g2h_error_destroy(error);
    close(ends[0]);
    close(listener);
    return status;
}
