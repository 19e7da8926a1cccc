/*
 * cdp_session: owns the heaps of --inspect, and has the right to read the process; see channel.h.
 *
 * It is one process. For a snapshot it forks: the child reads, adds the heap to the series, writes
 * the snapshot into a pipe, and then becomes the session, and the parent, which has passed on the
 * bytes and answered questions about the previous snapshot meanwhile, ends. If the child dies, the
 * parent continues with what it had. So the memory that one snapshot took is free by the time of
 * the next one, and only one heap is kept.
 */
#ifndef INSPECT_CDP_SESSION_H
#define INSPECT_CDP_SESSION_H

#include "inspect/taken.h"

struct session_options {
    struct taken_options taken;
    const char *const *inputs; /* dumps and cores: each snapshot uses the next one, and then the
                                * last one repeatedly */
    size_t input_count;
    const char *title;     /* "app (pid 4711)" */
    const char *path;      /* of the executable or the dump, "" if not known */
    const char *directory; /* of sources: struct scripts */
    bool no_contexts;
    void (*say)(const char *line); /* prints a line on the terminal */
};

/* Answers requests until the server is gone. Runs as a process of its own, which ends then. */
void session_run(const struct session_options *options, int channel) __attribute__((noreturn));

/* ---- cdp_session.c ---- */

/* State that is passed from one snapshot to the next. */
struct session {
    const struct session_options *options;
    struct g2h_identity *identity; /* NULL: no snapshot yet */
    struct taken taken;            /* the newest one, without a view if there was none */
    uint32_t count;                /* of snapshots that were asked for */
    struct scripts scripts;
    struct text lines; /* messages so far: events Runtime.consoleAPICalled, a line each */
};

/* Takes a snapshot, which replaces the last one, and writes it to a descriptor. Errors: those of
 * taken_read(), g2h_identity_add(), taken_view() and g2h_write(). */
struct g2h_error *session_take(struct session *session, const struct g2h_progress *progress,
                               int fd);

#endif
