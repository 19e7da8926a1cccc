/* session; see include/go2heapsnapshot/session.h. */
#include <go2heapsnapshot/session.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/graph.h>
#include <go2heapsnapshot/match.h>
#include <go2heapsnapshot/typing.h>
#include <go2heapsnapshot/version.h>

#include "base/option_size.h"
#include "base/scope.h"
#include "library/origin.h"

struct g2h_session {
    struct origin origin;
    struct g2h_heap *heap;
    struct g2h_typing *typing;
    struct g2h_graph *graph;
    struct g2h_view *view;
    unsigned threads;
    struct g2h_dominators *dominators; /* NULL: nobody has asked for them yet */
    struct g2h_findings *findings;     /* as well */
};

static struct g2h_error *open_origin(struct g2h_session *session, const char *source,
                                     const char *exe, const struct g2h_open_options *options)
{
    static const char process[] = "pid:";
    const size_t size = sizeof(process) - 1;
    struct origin_options origin = {.path = source,
                                    .exe = exe,
                                    .threads = options->threads,
                                    .forks = options->forks,
                                    .collapses = options->collapses,
                                    .progress = options->progress};
    if (strncmp(source, process, size) == 0) {
        char *end;
        errno = 0;
        origin.pid = strtoull(source + size, &end, 10);
        if (errno != 0 || *end != '\0' || origin.pid == 0)
            return error_create(G2H_ERROR_SYSTEM, "%s: is not a process ID", source);
    }
    return origin_open(&origin, &session->origin);
}

static struct g2h_error *session_make(struct g2h_session *session, const char *source,
                                      const char *exe, const struct g2h_open_options *options)
{
    const struct g2h_heap_options heap_options = {options->threads, options->progress, 0};
    const struct g2h_typing_options typing_options = {options->threads, options->redaction};
    const struct g2h_view_options view_options = {options->reachable, options->max_nodes};
    struct origin *origin = &session->origin;
    TRY(open_origin(session, source, exe, options));
    TRY(g2h_heap_load(origin->input, &heap_options, &session->heap));
    TRY(origin_match(origin, exe, options->untyped_ok, options->threads, &session->heap));
    if (origin->exe)
        TRY(g2h_typing_create(session->heap, origin->exe, &typing_options, &session->typing));
    const struct g2h_graph_options graph_options = {.exe = origin->exe,
                                                    .typing = session->typing,
                                                    .threads = options->threads,
                                                    .redaction = options->redaction,
                                                    .memory = &origin->memory,
                                                    .no_stacks = options->no_stacks,
                                                    .full_names = options->full_names};
    TRY(g2h_graph_build(session->heap, &graph_options, &session->graph));
    return g2h_view_create(session->graph, &view_options, &session->view);
}

static void close_session(struct g2h_session **session)
{
    g2h_close(*session);
}

struct g2h_error *g2h_open(const char *source, const char *exe,
                           const struct g2h_open_options *given, struct g2h_session **ret)
{
    struct g2h_open_options options;
    *ret = NULL;
    _cleanup_(close_session) struct g2h_session *session = calloc(1, sizeof(*session));
    TRY_MEMORY(session);
    OPTIONS_COPY(&options, given);
    session->threads = options.threads;
    TRY(session_make(session, source, exe, &options));
    *ret = take_pointer(session);
    return NULL;
}

void g2h_close(struct g2h_session *session)
{
    if (!session)
        return;
    g2h_findings_destroy(session->findings);
    g2h_dominators_destroy(session->dominators);
    g2h_view_destroy(session->view);
    g2h_graph_destroy(session->graph);
    g2h_typing_destroy(session->typing);
    g2h_exe_close(session->origin.exe);
    g2h_heap_destroy(session->heap);
    g2h_input_close(session->origin.input);
    origin_deinit(&session->origin);
    free(session);
}

const struct g2h_view *g2h_session_view(const struct g2h_session *session)
{
    return session->view;
}

const struct g2h_heap *g2h_session_heap(const struct g2h_session *session)
{
    return session->heap;
}

const struct g2h_exe *g2h_session_exe(const struct g2h_session *session)
{
    return session->origin.exe;
}

const struct g2h_process_account *g2h_session_process(const struct g2h_session *session)
{
    return session->origin.is_process ? &session->origin.account : NULL;
}

struct g2h_error *g2h_session_dominators(struct g2h_session *session,
                                         const struct g2h_dominators **ret)
{
    if (!session->dominators)
        TRY(g2h_view_dominators(session->view, &session->dominators));
    *ret = session->dominators;
    return NULL;
}

struct g2h_error *g2h_session_findings(struct g2h_session *session, struct g2h_findings **ret)
{
    struct g2h_findings_options options = {.size = sizeof(options), .threads = session->threads};
    if (!session->findings) {
        TRY(g2h_session_dominators(session, &options.dominators));
        TRY(g2h_findings_create(session->view, &options, &session->findings));
    }
    *ret = session->findings;
    return NULL;
}

const char *g2h_version(void)
{
    return G2H_VERSION;
}
