/* session; see include/go2heapsnapshot/session.h. */
#include <go2heapsnapshot/session.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/version.h>

#include "base/option_size.h"
#include "base/scope.h"
#include "library/pipeline.h"

struct g2h_session {
    struct pipeline made;
    unsigned threads;
    struct g2h_dominators *dominators; /* NULL: not computed yet */
    struct g2h_findings *findings;     /* as well */
};

/* Opens a file, or the process of "pid:NUMBER". */
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
    return origin_open(&origin, &session->made.origin);
}

static struct g2h_error *session_make(struct g2h_session *session, const char *source,
                                      const char *exe, const struct g2h_open_options *options)
{
    const struct pipeline_options steps = {.exe = exe,
                                           .threads = options->threads,
                                           .untyped_ok = options->untyped_ok,
                                           .no_stacks = options->no_stacks,
                                           .full_names = options->full_names,
                                           .redaction = options->redaction};
    const struct g2h_view_options view = {options->reachable, options->max_nodes};
    TRY(open_origin(session, source, exe, options));
    TRY(pipeline_load(&session->made, options->threads, options->progress));
    TRY(pipeline_match(&session->made, &steps));
    TRY(pipeline_graph(&session->made, &steps));
    return pipeline_view(&session->made, &view);
}

CLEANUP_POINTER(close_session, struct g2h_session, g2h_close);

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
    pipeline_deinit(&session->made);
    free(session);
}

const struct g2h_view *g2h_session_view(const struct g2h_session *session)
{
    return session->made.view;
}

const struct g2h_heap *g2h_session_heap(const struct g2h_session *session)
{
    return session->made.heap;
}

const struct g2h_exe *g2h_session_exe(const struct g2h_session *session)
{
    return session->made.origin.exe;
}

const struct g2h_process_account *g2h_session_process(const struct g2h_session *session)
{
    return session->made.origin.is_process ? &session->made.origin.account : NULL;
}

struct g2h_error *g2h_session_dominators(struct g2h_session *session,
                                         const struct g2h_dominators **ret)
{
    if (!session->dominators)
        TRY(g2h_view_dominators(session->made.view, &session->dominators));
    *ret = session->dominators;
    return NULL;
}

struct g2h_error *g2h_session_findings(struct g2h_session *session, struct g2h_findings **ret)
{
    struct g2h_findings_options options = {.size = sizeof(options), .threads = session->threads};
    if (!session->findings) {
        TRY(g2h_session_dominators(session, &options.dominators));
        TRY(g2h_findings_create(session->made.view, &options, &session->findings));
    }
    *ret = session->findings;
    return NULL;
}

const char *g2h_version(void)
{
    return G2H_VERSION;
}
