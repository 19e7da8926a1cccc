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

/* So many files a format has at most: see g2h_format.files. */
enum { G2H_MOST_FILES = 2 };

/* A few thousand rows of a dump instead of all nodes and edges, for formats that take it; of a view
 * in which nothing is folded. */
struct g2h_summary_options {
    const char *append_to;     /* the file to which they are added; NULL: they go to fd, alone */
    unsigned permissions;      /* of that file, if there is none yet */
    int64_t time;              /* when the dump was written: seconds since 1970 */
    const char *const *labels; /* KEY=VALUE, what else is to be known of it */
    size_t label_count;
};
/* How a process sampled what it allocated, one sample for so many bytes (runtime.MemProfileRate).
 * That rate is in no dump: it is a variable of the segment noptrdata. */
struct g2h_sampling {
    uint64_t sites;       /* stacks that allocated, each with a size; 0: it did not sample */
    uint64_t objects;     /* that were sampled and in use, as of the last collection */
    uint64_t rate;        /* that is supposed: 1 where every second object has a sample, else
                             G2H_MEMPROFILE_RATE */
    uint64_t likely_rate; /* a power of two by which what was sampled makes up HeapAlloc; it is as
                             exact as there are many objects. 0: not known */
};
enum { G2H_MEMPROFILE_RATE = 512 << 10 }; /* unless a program sets another one */
G2H_PUBLIC void g2h_sampling(const struct g2h_heap *heap, struct g2h_sampling *ret);

struct g2h_output_options {
    int fd;           /* where to; not closed. Formats that want a file (is_file) read there, too */
    const int *fds;   /* of a format with several files, in their order; NULL: to fd,
                         one behind the other */
    const char *name; /* of it, for messages */
    const char *program; /* the executable's path, for formats that say it; NULL: not known */
    const char *source;  /* what the heap was read from, for formats that say it; NULL */
    const struct g2h_base *base;               /* NULL: nothing is compared */
    const struct g2h_summary_options *summary; /* NULL: all is written */
    bool is_base_other;                        /* another build of the program wrote it */
    uint64_t memprofile_rate; /* of the process, one sample for so many bytes; 0: g2h_sampling() */
    unsigned columns;         /* of a terminal, for formats that people read; 0: 100 */
    bool color;               /* of formats that people read: what they look for stands out */
    const char *path_to;      /* an object or a class that is asked for, in place of all; NULL */
    bool json;                /* for machines, what would else be for people */
    bool gzip;                /* compress (RFC 1952) */
    unsigned threads;         /* 0: one per processor. The bytes are the same for any number */
    bool no_contexts; /* heapsnapshot: no native contexts, by which DevTools filters: those of the
                         groups of roots that alone reach most, of garbage, and of all else */
    const struct g2h_progress *progress; /* may be NULL */
    struct g2h_identity *series; /* to which the view's heap has been added last: its ids; NULL: of
                                    a dump by itself */
};

/* What has to be computed of a view before a format is written, or what the format computes itself:
 * a bit for each. */
enum g2h_format_need { G2H_NEEDS_DOMINATORS = 1, G2H_FINDS_DOMINATORS = 2 };

/* What of the options a format looks at that not all do: a bit for each. */
enum g2h_format_option {
    G2H_TAKES_SERIES = 1,  /* series: ids that hold for all dumps of a process */
    G2H_TAKES_BASE = 2,    /* base */
    G2H_TAKES_JSON = 4,    /* json */
    G2H_TAKES_SUMMARY = 8, /* summary */
    G2H_TAKES_PATH = 16,   /* path_to */
    G2H_TAKES_RATE = 32,   /* memprofile_rate */
};

/* A format that views can be written in. */
struct g2h_format {
    const char *name; /* as --format takes it */
    const char *by;   /* of several formats of one name this one, as --by takes it; NULL: it is the
                         only one */
    const char *suffix;                /* of its files' names, with the dot */
    const char *summary;               /* what it is, in a few words */
    const char *files[G2H_MOST_FILES]; /* what its files are called in the directory that it is
                                          written to; NULL: it is one file */
    unsigned needs;                    /* enum g2h_format_need */
    unsigned takes;                    /* enum g2h_format_option */
    bool is_text;                      /* people can read it */
    bool is_compressed;                /* by gzip in any case */
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

/* The format of a name, of several the one of by; the first of them where by is NULL. NULL where
 * there is none. */
G2H_PUBLIC const struct g2h_format *g2h_format_find(const char *name, const char *by);

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
 * Writes a report of who holds the memory, as text for people, or as JSON: docs/report.md.
 * dominators may be NULL: then they are found, while another thread does something else. Errors:
 * G2H_ERROR_NOT_FOUND where there is no such path_to, those of format->write().
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
 * Writes who allocated the memory, as a profile: the heap profile of runtime/pprof, by the dump's
 * records. docs/pprof.md. Errors: those of format->write(); G2H_ERROR_NO_PROFILE where the dump has
 * none.
 */
G2H_PUBLIC struct g2h_error *g2h_write_pprof_alloc(const struct g2h_view *view,
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
 * Writes nodes and edges as comma-separated values: nodes.csv to the first descriptor, edges.csv to
 * the second one, before; docs/csv.md. At most eight threads write what is folded. Errors: those of
 * format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_csv(const struct g2h_view *view,
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
