/*
 * Writing a view: formats by name, to a file descriptor.
 */
#ifndef GO2HEAPSNAPSHOT_OUTPUT_H
#define GO2HEAPSNAPSHOT_OUTPUT_H

#include <go2heapsnapshot/identity.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/* How many nodes and edges contexts add to those of a view, and how many nodes at most. */
enum { G2H_MOST_CONTEXTS = 22 };
struct g2h_contexts_account {
    uint64_t nodes, edges;
};
G2H_PUBLIC void g2h_heapsnapshot_contexts(const struct g2h_view *view,
                                          struct g2h_contexts_account *ret);

/* What a view held, by names, to be compared with: formats that take G2H_TAKES_BASE say what has
 * grown since. */
struct g2h_base;

/* Makes one; the view is not needed any more then. name is what it is called; on threads
 * threads (0: one per processor). It takes some hundred
 * bytes per place that is told from others, mostly less than a megabyte. Errors: G2H_ERROR_MEMORY;
 * those of g2h_view_dominators(). */
G2H_PUBLIC struct g2h_error *g2h_base_create(const struct g2h_view *view, const char *name,
                                             unsigned threads, struct g2h_base **ret);
G2H_PUBLIC void g2h_base_destroy(struct g2h_base *base);

struct g2h_output_options {
    int fd;           /* where to; not closed. Formats that want a file (is_file) read there, too */
    const char *name; /* of it, for messages */
    const char *program; /* the executable's path, for formats that say it; NULL: not known */
    const char *source;  /* what the heap was read from, for formats that say it; NULL */
    const struct g2h_base *base; /* NULL: nothing is compared */
    unsigned columns;            /* of a terminal, for formats that people read; 0: 100 */
    bool gzip;                   /* compress (RFC 1952) */
    unsigned threads;            /* 0: one per processor. The bytes are the same for any number */
    bool no_contexts; /* heapsnapshot: no native contexts, by which DevTools filters: those of the
                         groups of roots that alone reach most, of garbage, and of all else */
    const struct g2h_progress *progress; /* may be NULL */
    struct g2h_identity *series; /* to which the view's heap has been added last: its ids; NULL: of
                                    a dump by itself */
};

/* What has to be computed of a view before a format is written: a bit for each. */
enum g2h_format_need { G2H_NEEDS_DOMINATORS = 1 };

/* What of the options a format looks at that not all do: a bit for each. */
enum g2h_format_option {
    G2H_TAKES_SERIES = 1, /* series: ids that hold for all dumps of a process */
    G2H_TAKES_BASE = 2,   /* base */
};

/* A format that views can be written in. */
struct g2h_format {
    const char *name;    /* as --format takes it */
    const char *suffix;  /* of its files' names, with the dot */
    const char *summary; /* what it is, in a few words */
    unsigned needs;      /* enum g2h_format_need */
    unsigned takes;      /* enum g2h_format_option */
    bool is_text;        /* people can read it */
    bool is_compressed;  /* by gzip in any case */
    bool is_file; /* written here and there, not from front to back: to a regular file, which is
                     empty, by a descriptor that can read and write; never compressed */
    bool is_for_devtools;
    bool leaves_out_garbage; /* unless the dump is cut or damaged: what is garbage is not known */
    /* dominators: NULL, unless it needs them. Errors: G2H_ERROR_SYSTEM (the write failed: part of
     * the file may be there), G2H_ERROR_MEMORY, and G2H_ERROR_LIMIT where the format has room for
     * less than there is; then nothing has been written. */
    struct g2h_error *(*write)(const struct g2h_view *view, const struct g2h_dominators *dominators,
                               const struct g2h_output_options *options);
};

/* All formats, the usual one first; NULL behind the last one. */
G2H_PUBLIC const struct g2h_format *g2h_format(size_t index);

/* The format of a name; NULL where there is none. */
G2H_PUBLIC const struct g2h_format *g2h_format_find(const char *name);

/* What this was built without, if that is why there is no format of a name: "SQLite"; else NULL. */
G2H_PUBLIC const char *g2h_format_left_out(const char *name);

/* The version of SQLite that was built in; NULL: none. */
G2H_PUBLIC const char *g2h_sqlite_version(void);

/* Computes what a format needs, and writes a view in it. Errors: those of format->write(). */
G2H_PUBLIC struct g2h_error *g2h_write(const struct g2h_format *format, const struct g2h_view *view,
                                       const struct g2h_output_options *options);

/*
 * Writes a V8 heap snapshot (.heapsnapshot) as Chrome DevTools reads it; docs/snapshot.md.
 * At most eight threads write what is folded.
 * Errors: those of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_heapsnapshot(const struct g2h_view *view,
                                                    const struct g2h_output_options *options);

/*
 * Writes a report of who holds the memory, as text for people: docs/report.md. Errors: those of
 * format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_report(const struct g2h_view *view,
                                              const struct g2h_dominators *dominators,
                                              const struct g2h_output_options *options);

/*
 * Writes what holds the memory as a profile (google/pprof's profile.proto, compressed by gzip in
 * any case): for `go tool pprof`. docs/pprof.md. Errors: those of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_pprof(const struct g2h_view *view,
                                             const struct g2h_dominators *dominators,
                                             const struct g2h_output_options *options);

/*
 * Writes nodes and edges as an SQLite database: docs/sqlite.md. At most eight threads write what is
 * folded. Errors: those of format->write(); G2H_ERROR_SYSTEM also where the descriptor is not as
 * is_file wants it, and without SQLite (g2h_sqlite_version()).
 */
G2H_PUBLIC struct g2h_error *g2h_write_sqlite(const struct g2h_view *view,
                                              const struct g2h_dominators *dominators,
                                              const struct g2h_output_options *options);

/*
 * Writes a heap dump as Java has it (HPROF 1.0.2), for Eclipse Memory Analyzer and VisualVM:
 * docs/hprof.md. dominators are not looked at. Errors: those of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_hprof(const struct g2h_view *view,
                                             const struct g2h_dominators *dominators,
                                             const struct g2h_output_options *options);

/*
 * Writes an input as it is, though not compressed unless options say so: a dump that was made of a
 * core file or a live process, to be converted elsewhere. Errors: G2H_ERROR_SYSTEM,
 * G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_write_dump(const struct g2h_input *input,
                                            const struct g2h_output_options *options);

G2H_END

#endif
