/*
 * A session: one call opens a dump, a core file or a live process, and prepares all queries; one
 * call closes it. Use the other headers to run only single steps, or different ones.
 */
#ifndef GO2HEAPSNAPSHOT_SESSION_H
#define GO2HEAPSNAPSHOT_SESSION_H

#include <go2heapsnapshot/findings.h>
#include <go2heapsnapshot/process.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_session;

/* Set size to sizeof(struct g2h_open_options), and all unused members to 0. Later versions append
 * members, which are 0 for callers compiled with this one. */
struct g2h_open_options {
    size_t size;
    unsigned threads;   /* 0: one per processor */
    bool untyped_ok;    /* if the file is not the dump's executable, open without types instead of
                           failing; g2h_session_exe() is then NULL */
    bool full_names;    /* as in struct g2h_graph_options */
    bool no_stacks;     /* as there */
    bool reachable;     /* as in struct g2h_view_options */
    uint64_t max_nodes; /* as there */
    const struct g2h_redaction *redaction; /* must outlive the session; NULL: none */
    const struct g2h_progress *progress;   /* NULL: none */
    bool forks;                            /* as in struct g2h_process_options */
    bool collapses;                        /* as there */
};

/*
 * Opens a heap. source is the path of a dump or of a core file, "-" for standard input, or
 * "pid:4711" for a live process; a file of that name is "./pid:4711". exe is the executable that
 * wrote the dump or ran; NULL: for a core or a process, the one that it ran, and for a dump none,
 * so that nothing is typed. options may be NULL.
 *
 * Returns NULL and sets *ret, which goes to g2h_close(); or an error, and *ret is NULL. A dump or
 * core that could be read only in part is not an error: see g2h_heap_is_complete(). Errors: those
 * of g2h_input_open(), g2h_process_read_core(), g2h_process_read_live(), g2h_heap_load(),
 * g2h_exe_open(), g2h_exe_match(), g2h_typing_create(), g2h_graph_build() and g2h_view_create().
 */
G2H_PUBLIC struct g2h_error *g2h_open(const char *source, const char *exe,
                                      const struct g2h_open_options *options,
                                      struct g2h_session **ret);

/* Frees a session and all that its functions returned. session may be NULL. */
G2H_PUBLIC void g2h_close(struct g2h_session *session);

/* Return the parts of a session, which belong to it: the view, which has the nodes and edges; the
 * heap; the executable, NULL if there is none; the account of reading a core or a live process,
 * NULL for a dump. */
G2H_PUBLIC const struct g2h_view *g2h_session_view(const struct g2h_session *session);
G2H_PUBLIC const struct g2h_heap *g2h_session_heap(const struct g2h_session *session);
G2H_PUBLIC const struct g2h_exe *g2h_session_exe(const struct g2h_session *session);
G2H_PUBLIC const struct g2h_process_account *g2h_session_process(const struct g2h_session *session);

/* Gets the dominators and retained sizes of the view, which are computed at the first call. Errors:
 * those of g2h_view_dominators(). */
G2H_PUBLIC struct g2h_error *g2h_session_dominators(struct g2h_session *session,
                                                    const struct g2h_dominators **ret);

/* Gets the findings of the view, which are created at the first call. Errors: those of
 * g2h_findings_create(). */
G2H_PUBLIC struct g2h_error *g2h_session_findings(struct g2h_session *session,
                                                  struct g2h_findings **ret);

G2H_END

#endif
