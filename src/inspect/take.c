/* take: takes a snapshot, in the child, which then becomes the session; see cdp_session.h. */
#include "inspect/cdp_session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scope.h"
#include "inspect/json_write.h"
#include "inspect/remote.h"

void session_add_line(struct session *session, const char *type, const char *line)
{
    json_write_console(&session->lines, type, line);
    text_append_string(&session->lines, "\n");
}

/* ---- reading ---- */

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

/* Adds the heap to the series. One of another process begins a new series. */
static struct g2h_error *identify(struct session *session, const struct taken *taken)
{
    struct g2h_error *error =
        session->identity ? g2h_identity_check(session->identity, taken->made.heap) : NULL;
    if (error && error->code == G2H_ERROR_NOT_SERIES) {
        session_add_line(session, "warning", error->message);
        session_add_line(session, "warning",
                         "so it cannot be compared with the snapshots before: their objects may "
                         "have the same ids");
        g2h_error_destroy(error);
        error = NULL;
        g2h_identity_destroy(session->identity);
        session->identity = NULL;
    }
    TRY(error);
    if (!session->identity)
        TRY(g2h_identity_create(session->options->taken.threads, &session->identity));
    return g2h_identity_add(session->identity, taken->made.graph);
}

/* ---- messages ---- */

static void append_objects(struct text *text, uint64_t count, uint64_t bytes)
{
    text_append_grouped(text, count);
    text_printf(text, count == 1 ? " object, " : " objects, ");
    text_append_bytes(text, bytes);
}

static void say_warning(struct session *session, const char *line)
{
    session_add_line(session, "warning", line);
    session->options->say(line);
}

/* Reports the snapshot, and what it lacks, to the console and the terminal. */
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

static struct g2h_error *read_and_identify(struct session *session,
                                           const struct g2h_progress *progress, struct taken *taken)
{
    TRY(read_heap(session, progress, taken));
    return identify(session, taken);
}

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
