/*
 * cdp_session: the process that has the heaps, and answers the server's questions; see
 * cdp_session.h, which has the idea: each snapshot is taken by a child that becomes the session
 * afterwards.
 *
 * The first part is the child's work: read the heap, give its objects ids (identity), write the
 * snapshot. The second is the session's: serve() reads a question from the channel and answers it
 * from the newest heap (struct taken); a snapshot is a question that takes many answers, a piece
 * each (begin_snapshot, cdp_session_go_on, hand_over). The baton is a pipe to the child: a byte
 * makes it the session, and without one it ends.
 */
#include "inspect/cdp_session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "inspect/channel.h"
#include "inspect/inspect_json.h"
#include "inspect/remote.h"

/* ==== the child takes a snapshot ==== */

/* Adds a line for users: a warning, an error, or, with type "log", other information. */
static void session_add_line(struct session *session, const char *type, const char *line)
{
    json_write_console(&session->lines, type, line);
    text_append_string(&session->lines, "\n");
}

/* ---- reading ---- */

/* Reads the heap: of the process, the command, or the next one of the given dumps, the last one
 * again and again. Errors: the process has ended; those of taken_read(). */
static struct g2h_error *read_heap(const struct session *session,
                                   const struct g2h_progress *progress, struct taken *ret)
{
    const struct session_options *options = session->options;
    struct taken_options taken = options->taken;
    if (taken.pid != 0 && kill((pid_t)taken.pid, 0) != 0 && errno == ESRCH)
        return error_create(G2H_ERROR_SYSTEM, "process %" PRIu64 " has ended", taken.pid);
    if (taken.pid == 0 && !taken.command)
        taken.input =
            options->inputs[session->count <= options->input_count ? session->count - 1
                                                                   : options->input_count - 1];
    return taken_read(&taken, progress, ret);
}

/* Adds the heap to the series, which is created if there is none. */
static struct g2h_error *add_to_series(struct session *session, const struct taken *taken)
{
    if (!session->identity)
        TRY(g2h_identity_create(session->options->taken.threads, &session->identity));
    return g2h_identity_add(session->identity, taken->made.graph);
}

/* Adds the heap to the series. One of another process begins a new series, and so does one whose
 * objects can have no more ids; both are warned of. */
static struct g2h_error *identify(struct session *session, const struct taken *taken)
{
    struct g2h_error *error =
        session->identity ? g2h_identity_check(session->identity, taken->made.heap) : NULL;
    const bool is_begun = session->identity != NULL;
    if (!error)
        error = add_to_series(session, taken);
    const bool is_at_end = error && error->code == G2H_ERROR_LIMIT && is_begun;
    if (!error || (error->code != G2H_ERROR_NOT_SERIES && !is_at_end))
        return error;
    session_add_line(session, "warning", error->message);
    session_add_line(session, "warning",
                     "so it cannot be compared with the snapshots before: their objects may "
                     "have the same ids");
    g2h_error_destroy(error);
    g2h_identity_destroy(session->identity);
    session->identity = NULL;
    return add_to_series(session, taken);
}

/* ---- messages ---- */

/* Appends "1,234 objects, 5.6 MB". */
static void append_objects(struct text *text, uint64_t count, uint64_t bytes)
{
    text_append_grouped(text, count);
    text_printf(text, count == 1 ? " object, " : " objects, ");
    text_append_bytes(text, bytes);
}

/* Adds a warning for the console, and prints it. */
static void say_warning(struct session *session, const char *line)
{
    session_add_line(session, "warning", line);
    session->options->say(line);
}

/* Reports the snapshot to the console and the terminal: the pause, how many objects it has, the
 * garbage that is left out, and, unless it is_first, how many the snapshot before had already.
 * Warns of damage, of types that are missing, and of a heap that is not complete. */
static void say_all(struct session *session, bool is_first)
{
    const struct taken *taken = &session->taken;
    const struct g2h_account *account = g2h_heap_account(taken->made.heap);
    const struct g2h_view_account *view = g2h_view_account(taken->made.view);
    const struct g2h_identity_account *series = g2h_identity_account(session->identity);
    const struct g2h_error *damage = g2h_heap_damage(taken->made.heap);
    _cleanup_(text_deinit) struct text text = {0};
    text_printf(&text, "snapshot %" PRIu32, taken->number);
    if (taken->made.origin.is_process && session->options->taken.pid != 0)
        text_printf(&text, ": the process was paused for %.2f s",
                    taken->made.origin.account.stopped);
    text_printf(&text, "; ");
    append_objects(&text, account->objects - view->left_out_objects,
                   account->object_bytes - view->left_out_bytes);
    if (view->left_out_objects > 0) {
        text_printf(&text, "; garbage is left out: ");
        append_objects(&text, view->left_out_objects, view->left_out_bytes);
    }
    if (!is_first) {
        text_printf(&text, "; of all objects ");
        text_append_grouped(&text, series->survivors);
        text_printf(&text, " were there before");
    }
    text_append(&text, "", 1);
    if (text.failed)
        return;
    session_add_line(session, "log", text.data);
    session->options->say(text.data);
    if (damage)
        say_warning(session, damage->message);
    if (!taken->made.typing)
        say_warning(session, session->options->taken.exe
                                 ? "nothing has a type, for the executable did not write the dump"
                                 : "without the executable nothing has a type: --exe");
    if (!damage &&
        (!g2h_heap_is_complete(taken->made.heap) || !origin_is_complete(&taken->made.origin)))
        say_warning(session, "the heap is not complete: a part could not be read");
}

/* ---- the whole snapshot ---- */

/* Writes the snapshot to the pipe, with the locations of code for DevTools' links. */
static struct g2h_error *write_snapshot(struct session *session,
                                        const struct g2h_progress *progress, int fd)
{
    _cleanup_vector_ code_locations locations = {0};
    TRY(scripts_locate(&session->scripts, &session->taken, &locations));
    const struct g2h_heapsnapshot_options heapsnapshot = {.size = sizeof(heapsnapshot),
                                                          .no_contexts =
                                                              session->options->no_contexts,
                                                          .locations = locations.data,
                                                          .location_count = locations.count};
    const struct g2h_output_options output = {.size = sizeof(output),
                                              .fd = fd,
                                              .name = "DevTools",
                                              .threads = session->options->taken.threads,
                                              .progress = progress,
                                              .series = session->identity,
                                              .heapsnapshot = &heapsnapshot};
    return g2h_write(g2h_format(0), session->taken.made.view, &output);
}

/* Reads the heap, and adds it to the series. */
static struct g2h_error *read_and_identify(struct session *session,
                                           const struct g2h_progress *progress, struct taken *taken)
{
    TRY(read_heap(session, progress, taken));
    return identify(session, taken);
}

/* Takes a snapshot: reads the heap, compares it with the one before, which is then freed, makes the
 * view, and writes it to fd. */
struct g2h_error *session_take(struct session *session, const struct g2h_progress *progress, int fd)
{
    struct taken before = session->taken;
    struct taken *taken = &session->taken;
    const bool is_first = before.number == 0;
    taken_forget(&before);
    *taken = (struct taken){.number = session->count, .time = clock_since_1970()};
    struct g2h_error *error = read_and_identify(session, progress, taken);
    taken_deinit(&before);
    TRY(error);
    taken->identity = session->identity;
    TRY(taken_view(&session->options->taken, taken));
    say_all(session, is_first);
    return write_snapshot(session, progress, fd);
}

/* ==== the session answers the server, and forks the child ====
 *
 * A snapshot is CHANNEL_TAKE, and then as many CHANNEL_MORE as it has chunks: begin_snapshot()
 * forks the child, cdp_session_go_on() answers what can be answered, and hand_over() makes the
 * child the session once the last chunk has been asked for.
 */

/* The snapshot that a child is taking. */
struct cdp_session_request {
    bool is_going_on;    /* false: there is none, and all else is 0 */
    pid_t child;         /* 0: it has ended, and was waited for */
    uint32_t number;     /* of CHANNEL_TAKE and CHANNEL_MORE */
    int control;         /* from the child: its progress and failures, messages of the channel */
    int data;            /* from the child: the snapshot */
    int baton;           /* to the child: a byte makes it the session */
    bool is_ready;       /* CHANNEL_READY was sent: there was a byte of the snapshot */
    bool is_done;        /* the child has reported that all is written */
    bool has_ended;      /* data has no more bytes */
    bool is_asked;       /* a CHANNEL_MORE waits for its answer */
    struct text failure; /* not empty: it has failed; with a zero at its end */
    struct text chunk;   /* bytes of data that have not been sent yet */
};

struct running {
    struct session session;
    struct cdp_session_request request;
    int channel;    /* to the server */
    uint64_t image; /* of the process, when the session began: g2h_process_image() */
};

/* ---- the child ---- */

struct reporting {
    int fd;
    uint8_t percent;
};

/* Returns the percentage of the whole snapshot that is done with a part of a phase, 0 to 1; 0 in
 * other phases, such as "writing", whose bytes DevTools counts itself. */
static double percent_of(const char *phase, double part)
{
    static const struct {
        const char *name;
        double from, to;
    } phases[] = {{"copying", 0, 15},  {"spooling", 0, 15},  {"dumping", 15, 25},
                  {"reading", 25, 45}, {"indexing", 45, 60}, {"preparing", 60, 80}};
    for (size_t i = 0; i < COUNT_OF(phases); i++)
        if (strcmp(phase, phases[i].name) == 0)
            return phases[i].from + part * (phases[i].to - phases[i].from);
    return 0;
}

/* Tells the session how far the child is, whenever the percentage has become higher. */
static void report(void *context, const char *phase, uint64_t done, uint64_t total,
                   uint64_t objects)
{
    struct reporting *reporting = context;
    const double part = total > 0 && done < total ? as_ratio(done, total) : total > 0;
    const uint8_t percent = (uint8_t)percent_of(phase, part);
    (void)objects;
    if (percent <= reporting->percent)
        return;
    reporting->percent = percent;
    channel_send(reporting->fd, CHANNEL_PROGRESS, 0, &percent, 1);
}

/* Does the child's work: takes the snapshot and writes it, then waits for the baton. Returns if it
 * got that, and is the session from now on. */
static void be_child(struct running *running, int control, int data, int baton)
{
    struct reporting reporting = {control, 0};
    const struct g2h_progress progress = {report, &reporting};
    char byte;
    struct g2h_error *error = session_take(&running->session, &progress, data);
    close(data);
    if (error) {
        channel_send(control, CHANNEL_ERROR, 0, error->message, strlen(error->message));
        _exit(1);
    }
    channel_send(control, CHANNEL_END, 0, NULL, 0);
    if (read(baton, &byte, 1) != 1)
        _exit(1);
    close(control);
    close(baton);
}

/* ---- forks ---- */

static void close_pair(const int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

/* What connects the session and a child: messages go through sockets, bytes through a pipe. */
struct connection {
    int control[2], data[2]; /* [0] is the session's, [1] the child's */
    int baton[2];            /* [0] is the child's */
};

static void connection_close(const struct connection *connection)
{
    close_pair(connection->control);
    close_pair(connection->data);
    close_pair(connection->baton);
}

/* Opens a connection. Returns false, with errno set and nothing open, if that fails. */
static bool connection_open(struct connection *ret)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ret->control) != 0)
        return false;
    const bool has_data = pipe(ret->data) == 0;
    if (has_data && pipe(ret->baton) == 0)
        return true;
    const int reason = errno;
    close_pair(ret->control);
    if (has_data)
        close_pair(ret->data);
    errno = reason;
    return false;
}

/* Notes why a snapshot has failed, for its answer. */
static void cdp_session_fail(struct running *running, const char *message)
{
    struct cdp_session_request *request = &running->request;
    request->failure.size = 0;
    text_append(&request->failure, message, strlen(message) + 1);
}

/* Waits for the child to end. Returns its status; with WNOHANG, 0 if it has not ended. */
static int wait_for(struct cdp_session_request *request, int flags)
{
    int status = 0;
    pid_t ended = 0;
    while (request->child > 0 && (ended = waitpid(request->child, &status, flags)) < 0 &&
           errno == EINTR)
        continue;
    if (ended != 0)
        request->child = 0;
    return status;
}

/* Ends a snapshot request without a result: the child is gone, and the session continues. */
static void cdp_session_end_request(struct cdp_session_request *request)
{
    if (request->child > 0)
        kill(request->child, SIGKILL);
    wait_for(request, 0);
    close(request->control);
    close(request->data);
    close(request->baton);
    text_deinit(&request->failure);
    text_deinit(&request->chunk);
    *request = (struct cdp_session_request){.is_going_on = false};
}

/* Answers that a snapshot has failed, and ends it. */
static void answer_failure(struct running *running)
{
    struct cdp_session_request *request = &running->request;
    const char *message = request->failure.data;
    channel_send(running->channel, CHANNEL_ERROR, request->number, message, strlen(message));
    session_add_line(&running->session, "error", message);
    running->session.options->say(message);
    cdp_session_end_request(request);
}

/* Forks a child that takes a snapshot, unless one is being taken. The answer is an error if one is,
 * or if there is no child. Each process closes the ends of the connection that the other one uses.
 * Also returns in the child, once it has become the session. */
static void begin_snapshot(struct running *running, uint32_t number)
{
    struct cdp_session_request *request = &running->request;
    struct connection connection;
    static const char busy[] = "a snapshot is being taken already";
    if (request->is_going_on) {
        channel_send(running->channel, CHANNEL_ERROR, number, busy, strlen(busy));
        return;
    }
    running->session.count++;
    *request = (struct cdp_session_request){.is_going_on = true, .number = number};
    const bool is_open = connection_open(&connection);
    request->child = is_open ? fork() : -1;
    if (request->child == 0) {
        close(connection.control[0]);
        close(connection.data[0]);
        close(connection.baton[1]);
        be_child(running, connection.control[1], connection.data[1], connection.baton[0]);
        *request = (struct cdp_session_request){.is_going_on = false};
        return;
    }
    if (request->child < 0) {
        const char *message = strerror(errno);
        if (is_open)
            connection_close(&connection);
        *request = (struct cdp_session_request){.is_going_on = false};
        channel_send(running->channel, CHANNEL_ERROR, number, message, strlen(message));
        return;
    }
    close(connection.control[1]);
    close(connection.data[1]);
    close(connection.baton[0]);
    request->control = connection.control[0];
    request->data = connection.data[0];
    request->baton = connection.baton[1];
    fcntl(request->data, F_SETFL, O_NONBLOCK);
}

/* Notes, for the answer, that a snapshot has failed because its child has ended, as its status from
 * waitpid() says. */
static void fail_by_status(struct running *running, int status)
{
    char message[128];
    if (WIFSIGNALED(status))
        snprintf(message, sizeof(message),
                 "the conversion died of signal %d; the session goes on with the snapshot before",
                 WTERMSIG(status));
    else
        snprintf(message, sizeof(message), "the conversion ended with status %d",
                 WEXITSTATUS(status));
    cdp_session_fail(running, message);
}

/* Answers that the snapshot is complete, makes the child the session, and ends this process.
 * Returns only if the child is dead, after noting that as the failure. */
static void hand_over(struct running *running)
{
    struct cdp_session_request *request = &running->request;
    const int status = wait_for(request, WNOHANG);
    if (request->child == 0) {
        fail_by_status(running, status);
        return;
    }
    const bool good = channel_send(running->channel, CHANNEL_END, request->number, NULL, 0) &&
                      write(request->baton, "", 1) == 1;
    _exit(good ? 0 : 1);
}

/* Reads a message of the child, and passes progress on, unless bytes of the snapshot are there; an
 * error is kept until the client can be told. If the child has gone without a word, its exit status
 * is the error. */
static void read_control(struct running *running)
{
    struct cdp_session_request *request = &running->request;
    _cleanup_(text_deinit) struct text body = {0};
    struct channel_head head;
    if (channel_receive(request->control, &head, &body) == CHANNEL_RECEIVED) {
        if (head.kind == CHANNEL_PROGRESS && body.size == 1 && !request->is_ready)
            channel_send(running->channel, CHANNEL_PROGRESS, request->number, body.data, 1);
        if (head.kind == CHANNEL_ERROR)
            cdp_session_fail(running, body.data);
        request->is_done = request->is_done || head.kind == CHANNEL_END;
        return;
    }
    fail_by_status(running, wait_for(request, 0));
}

/* Reads bytes of the snapshot, until there are enough for an answer, none for now, or no more at
 * all (has_ended). */
static void read_data(struct running *running)
{
    struct cdp_session_request *request = &running->request;
    if (request->chunk.capacity < CHANNEL_CHUNK && !text_grow(&request->chunk, CHANNEL_CHUNK)) {
        cdp_session_fail(running, error_no_memory.message);
        return;
    }
    while (request->chunk.size < CHANNEL_CHUNK) {
        const ssize_t size = read(request->data, request->chunk.data + request->chunk.size,
                                  CHANNEL_CHUNK - request->chunk.size);
        if (size < 0 && errno == EINTR)
            continue;
        request->has_ended = request->has_ended || size == 0;
        if (size <= 0)
            return;
        request->chunk.size += as_size(size);
    }
}

/* Continues a snapshot request, as far as that is possible: says that bytes are there, hands the
 * heap over to this process when all have been sent, says what has failed, and answers a question
 * for bytes (is_asked) if there are enough, or the last ones. */
static void cdp_session_go_on(struct running *running)
{
    struct cdp_session_request *request = &running->request;
    if (!request->is_going_on)
        return;
    if (!request->is_ready && request->chunk.size > 0) {
        request->is_ready = true;
        channel_send(running->channel, CHANNEL_READY, request->number, NULL, 0);
    }
    if (request->is_asked && request->has_ended && request->chunk.size == 0 && request->is_done)
        hand_over(running);
    if (request->failure.size > 0 && (!request->is_ready || request->is_asked)) {
        answer_failure(running);
        return;
    }
    if (!request->is_asked)
        return;
    if (request->chunk.size == CHANNEL_CHUNK || (request->has_ended && request->chunk.size > 0)) {
        channel_send(running->channel, CHANNEL_ANSWER, request->number, request->chunk.data,
                     request->chunk.size);
        request->chunk.size = 0;
        request->is_asked = false;
    }
}

/* ---- questions ---- */

/* Reads a value of /proc/PID/status, which is in kB there, in bytes. Returns false if it is not
 * known. */
static bool read_status(const char *status, const char *name, uint64_t *ret)
{
    const char *at = strstr(status, name);
    *ret = at ? strtoull(at + strlen(name), NULL, 10) << 10 : 0;
    return at != NULL;
}

/* Appends the result of Runtime.getHeapUsage: how much memory the process takes, by the kernel,
 * which costs it nothing. Error: not known, as of a dump. */
static struct g2h_error *append_usage(const struct session *session, struct text *text)
{
    char path[64], status[4096];
    uint64_t anonymous, resident;
    const uint64_t pid = session->options->taken.pid;
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", pid);
    const int fd = pid != 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t size = fd >= 0 ? read(fd, status, sizeof(status) - 1) : -1;
    if (fd >= 0)
        close(fd);
    status[MAX(size, 0)] = '\0';
    if (!read_status(status, "RssAnon:", &anonymous) || !read_status(status, "VmRSS:", &resident))
        return error_create(G2H_ERROR_NOT_FOUND, "not known");
    text_printf(text,
                "{\"usedSize\":%" PRIu64 ",\"totalSize\":%" PRIu64
                ",\"embedderHeapUsedSize\":0,\"backingStorageSize\":0}",
                anonymous, resident);
    return NULL;
}

/* Appends the title and the URL of the target; nothing if the process has ended or runs another
 * program. */
static void append_target(const struct running *running, struct text *text)
{
    const struct session_options *options = running->session.options;
    const uint64_t pid = options->taken.pid;
    _cleanup_(text_deinit) struct text url = {0};
    if (pid != 0 && g2h_process_image(pid) != running->image)
        return;
    text_append_string(&url, "file://");
    text_append_string(&url, options->path);
    text_append_string(text, "\"title\":");
    json_write(text, options->title, strlen(options->title));
    text_append_string(text, ",\"url\":");
    json_write(text, url.data, url.size);
}

/* Returns an error if there is no snapshot yet; else prepares for reading its values. */
static struct g2h_error *need_snapshot(struct taken *taken)
{
    return taken->made.view ? taken_need_iterators(taken)
                            : error_create(G2H_ERROR_NOT_FOUND, "there is no snapshot yet");
}

/* Appends the object with an id of DevTools, in decimal. Error: it is no id, or there is no
 * snapshot, or no such object in it. */
static struct g2h_error *cdp_session_append_object(struct taken *taken, const char *asked,
                                                   struct text *text)
{
    struct remote remote = {.kind = REMOTE_NODE};
    char *end;
    const unsigned long long id = strtoull(asked, &end, 10);
    TRY(need_snapshot(taken));
    if (*asked < '0' || *asked > '9' || *end != '\0' || id > UINT32_MAX)
        return error_create(G2H_ERROR_NOT_FOUND, "no id");
    TRY(taken_find(taken, (uint32_t)id, &remote.node));
    if (remote.node == UINT32_MAX)
        return error_create(G2H_ERROR_NOT_FOUND, "the newest snapshot has no such object");
    return remote_write(taken, &remote, text);
}

/* Reads an objectId of the newest snapshot. Error: it is of an earlier one, or no objectId. */
static struct g2h_error *read_place(struct taken *taken, const char *asked,
                                    struct remote_place *ret)
{
    bool is_old;
    TRY(need_snapshot(taken));
    const bool is_good = place_read(taken, asked, ret, &is_old);
    if (is_old)
        return error_create(G2H_ERROR_NOT_FOUND, "this is of an earlier snapshot");
    return is_good ? NULL : error_create(G2H_ERROR_NOT_FOUND, "no objectId");
}

/* Appends the properties of the place that an objectId means. */
static struct g2h_error *append_properties(struct taken *taken, const char *asked,
                                           struct text *text)
{
    _cleanup_free_ struct remote_place *place = malloc(sizeof(*place));
    TRY_MEMORY(place);
    TRY(read_place(taken, asked, place));
    return properties_write(taken, place, text);
}

/* Appends the id that the node of an objectId has in the snapshot. Error: it is a part of an
 * object, or of no node. */
static struct g2h_error *append_heap_id(struct taken *taken, const char *asked, struct text *text)
{
    _cleanup_free_ struct remote_place *place = malloc(sizeof(*place));
    TRY_MEMORY(place);
    TRY(read_place(taken, asked, place));
    const uint32_t id =
        place->kind == PLACE_NODE || place->kind == PLACE_OBJECT ? taken_id(taken, place->node) : 0;
    if (id == 0)
        return error_create(G2H_ERROR_NOT_FOUND, "it is not a node of the snapshot");
    text_printf(text, "%" PRIu32, id);
    return NULL;
}

/* Appends the value of an expression, which follows its options in the body. */
static struct g2h_error *append_evaluated(struct taken *taken, const struct text *body,
                                          struct text *text)
{
    struct channel_evaluate options;
    if (body->size < sizeof(options))
        return error_create(G2H_ERROR_NOT_FOUND, "no expression");
    memcpy(&options, body->data, sizeof(options));
    return evaluate(taken, &options, body->data + sizeof(options), text);
}

/* Appends the path of a source file. Error: it is not found. */
static struct g2h_error *append_source(const struct session *session, const char *asked,
                                       struct text *text)
{
    return scripts_append_path(&session->scripts, asked, text)
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND,
                              "there is no such file; --source DIR says where files are");
}

/* Appends the answer to a request other than a snapshot, by its kind. Error: that of the request,
 * or there is no such kind. */
static struct g2h_error *append_answer(struct running *running, uint32_t kind,
                                       const struct text *body, struct text *text)
{
    struct session *session = &running->session;
    switch (kind) {
    case CHANNEL_TARGET:
        append_target(running, text);
        return NULL;
    case CHANNEL_USAGE:
        return append_usage(session, text);
    case CHANNEL_OBJECT:
        return cdp_session_append_object(&session->taken, body->data, text);
    case CHANNEL_HEAP_ID:
        return append_heap_id(&session->taken, body->data, text);
    case CHANNEL_PROPERTIES:
        return append_properties(&session->taken, body->data, text);
    case CHANNEL_EVALUATE:
        return append_evaluated(&session->taken, body, text);
    case CHANNEL_SCRIPTS:
        scripts_append_events(&session->scripts, text);
        return NULL;
    case CHANNEL_LINES:
        text_append(text, session->lines.data, session->lines.size);
        return NULL;
    case CHANNEL_SOURCE:
        return append_source(session, body->data, text);
    default:
        return error_create(G2H_ERROR_NOT_FOUND, "no request");
    }
}

/* Makes the answer to a request, if it fits the channel. */
static struct g2h_error *make_answer(struct running *running, uint32_t kind,
                                     const struct text *body, struct text *text)
{
    TRY(append_answer(running, kind, body, text));
    TRY_MEMORY(!text->failed);
    return text->size <= CHANNEL_MOST ? NULL
                                      : error_create(G2H_ERROR_LIMIT, "there is too much of it");
}

/* Sends the answer to a request other than a snapshot, or its error. */
static void cdp_session_answer(struct running *running, const struct channel_head *head,
                               const struct text *body)
{
    _cleanup_(text_deinit) struct text text = {0};
    struct g2h_error *error = make_answer(running, head->kind, body, &text);
    if (error)
        channel_send(running->channel, CHANNEL_ERROR, head->number, error->message,
                     strlen(error->message));
    else
        channel_send(running->channel, CHANNEL_ANSWER, head->number, text.data, text.size);
    g2h_error_destroy(error);
}

/* ---- the loop ---- */

/* Reads a message of the server and handles it: begins a snapshot, sends more of one, or answers.
 * Returns false if the server is gone. */
static bool serve(struct running *running)
{
    _cleanup_(text_deinit) struct text body = {0};
    struct cdp_session_request *request = &running->request;
    struct channel_head head;
    if (channel_receive(running->channel, &head, &body) != CHANNEL_RECEIVED)
        return false;
    if (head.kind == CHANNEL_TAKE)
        begin_snapshot(running, head.number);
    else if (head.kind == CHANNEL_MORE && request->is_going_on && head.number == request->number)
        request->is_asked = true;
    else
        cdp_session_answer(running, &head, &body);
    return true;
}

/* Runs the process of a session. The session's loop: waits for questions of the server, and for
 * messages and bytes of the child that takes a snapshot, if there is one and they are wanted. Ends
 * the process, and does not return, once the server is gone. */
void session_run(const struct session_options *options, int channel)
{
    struct running running = {
        .channel = channel,
        .image = options->taken.pid != 0 ? g2h_process_image(options->taken.pid) : 0};
    struct cdp_session_request *request = &running.request;
    running.session.options = options;
    running.session.scripts.directory = options->directory;
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        const bool has_child = request->is_going_on && request->failure.size == 0;
        const bool listens = has_child && !request->is_done;
        /* Until there are some, and then only while they are asked for; a chunk at most. */
        const bool wants = has_child && !request->has_ended &&
                           (!request->is_ready || request->is_asked) &&
                           request->chunk.size < CHANNEL_CHUNK;
        struct pollfd fds[] = {{running.channel, POLLIN, 0},
                               {listens ? request->control : -1, POLLIN, 0},
                               {wants ? request->data : -1, POLLIN, 0}};
        if (poll(fds, 3, -1) < 0 && errno != EINTR)
            break;
        if ((fds[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            read_data(&running);
        if ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0)
            read_control(&running);
        cdp_session_go_on(&running);
        if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !serve(&running))
            break;
        cdp_session_go_on(&running);
    }
    if (request->is_going_on)
        cdp_session_end_request(request);
    _exit(0);
}
