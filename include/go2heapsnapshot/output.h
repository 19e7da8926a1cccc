/*
 * Writing a view to a file descriptor, in a format chosen by name.
 */
#ifndef GO2HEAPSNAPSHOT_OUTPUT_H
#define GO2HEAPSNAPSHOT_OUTPUT_H

#include <sys/stat.h>

#include <go2heapsnapshot/identity.h>
#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/* The numbers of nodes and edges that contexts and event handlers add to those of a view; to a
 * folded one they add at most G2H_MOST_CONTEXTS nodes. */
enum { G2H_MOST_CONTEXTS = 22 };
struct g2h_contexts_account {
    uint64_t nodes, edges;
};
G2H_PUBLIC void g2h_heapsnapshot_contexts(const struct g2h_view *view,
                                          struct g2h_contexts_account *ret);

/* The nodes and edges that g2h_heapsnapshot_options.numbers added. */
struct g2h_numbers_account {
    uint64_t nodes, edges;
};

struct g2h_output_options;

/* Returns how many bytes of objects and of stacks an HPROF file of a view lacks: an array ends
 * where the dump's part of it ends, or where memory begins that the process has never written to,
 * or at options->largest_array. options may be NULL. */
G2H_PUBLIC uint64_t g2h_hprof_cut(const struct g2h_view *view,
                                  const struct g2h_output_options *options);

/* A summary of an earlier view, by names, for comparison: formats with G2H_TAKES_BASE show what has
 * grown since. */
struct g2h_base;

/* Creates a base from a view, which is not needed afterwards. name is the view's name in the
 * output; threads may be 0: one per processor. A base takes a few hundred bytes per distinct
 * location, mostly less than a megabyte in all. Errors: G2H_ERROR_MEMORY; those of
 * g2h_view_dominators(). */
G2H_PUBLIC struct g2h_error *g2h_base_create(const struct g2h_view *view, const char *name,
                                             unsigned threads, struct g2h_base **ret);
G2H_PUBLIC void g2h_base_destroy(struct g2h_base *base);

/* The most files that a format has: see g2h_format.files. */
enum { G2H_MOST_FILES = 2 };

/* ---- options: set the size of each struct, and all unused members to 0 ---- */

/* A node's code location: of a function, or where a goroutine is. script is the id of the file for
 * the client that DevTools is attached to (Debugger.scriptParsed), line counts from 0. */
struct g2h_code_location {
    uint32_t node, script, line;
};

/* Options of heapsnapshot. */
struct g2h_heapsnapshot_options {
    size_t size;
    bool no_contexts; /* omits native contexts, by which DevTools can filter: one for each of the
                         groups of roots that alone reach most, one for garbage, and one for
                         everything else */
    bool numbers;     /* adds a node for each number, bool or time.Time in objects, with edges from
                         the objects that have it: about 4.8 per object. Objects of a redacted view,
                         and folded nodes, have none */
    const char *numbers_of; /* only those of objects of these classes, whose names are separated by
                               commas outside of brackets; NULL: of all objects */
    struct g2h_numbers_account *numbers_account; /* receives the number of nodes and edges added;
                                                    may be NULL */
    const struct g2h_code_location *locations;   /* location_count of them, in any order */
    size_t location_count;
};

/* Options of report. */
struct g2h_report_options {
    size_t size;
    const struct g2h_base *base; /* the view to compare with; NULL: none */
    bool is_base_other;          /* another build of the program wrote the base */
    bool json;                   /* writes JSON instead of text */
    bool color;                  /* highlights important parts of text */
    unsigned columns;            /* width of the terminal; 0: 100 */
    const char *path_to;  /* writes only about this object or class; NULL: about the whole heap */
    const char *show;     /* writes only the contents of this object or variable, or how values are
                             distributed over the objects of this class; NULL: about the whole
                             heap */
    bool is_for_terminal; /* cuts lines of text that are wider than the terminal */
    bool is_short;        /* leaves out classes, tree and waste of text about the whole heap */
    unsigned top;         /* most elements of each list; 0: all in JSON, the default number in
                             text */
    const char *command;  /* command that writes this report, without options for its form: a short
                             report ends with suggestions for next commands; NULL: none */
    unsigned sections;    /* for JSON about the whole heap, besides its totals: enum
                             g2h_report_section, a bit for each; 0: all */
    const char *by_label; /* writes only what the goroutines with each value of this label retain;
                             empty: of all labels; NULL: about the whole heap */
    uint64_t older;       /* of the objects of the class path_to, only those that have lived for so
                             many seconds; 0: all. The process must have been watched for as long */
};

/* Sections of a report. */
enum g2h_report_section {
    G2H_SECTION_HEAP = 1, /* the totals, always written */
    G2H_SECTION_SUSPECTS = 2,
    G2H_SECTION_GOROUTINES = 4,
    G2H_SECTION_CLASSES = 8,
    G2H_SECTION_TREE = 16,
    G2H_SECTION_WASTE = 32,
};

/* Options of pprof, for the profile of allocation sites. */
struct g2h_pprof_options {
    size_t size;
    uint64_t memprofile_rate; /* MemProfileRate of the process in bytes per sample; 0: the rate of
                                 g2h_sampling() */
};

/* Options for a summary: formats with G2H_TAKES_SUMMARY then write a few thousand rows per dump
 * instead of all nodes and edges. The view must not be folded. */
struct g2h_summary_options {
    size_t size;
    const char *append_to;     /* the file that the rows are appended to; NULL: only the rows go to
                                  fd */
    const struct stat *dump;   /* g2h_input_status() of the dump: the permissions of append_to are
                                  limited to those of the dump; NULL: any */
    int64_t time;              /* when the dump was written, in seconds since 1970 */
    const char *const *labels; /* further facts about the dump, each KEY=VALUE */
    size_t label_count;
};

/* Options of html, which also reads report->base and report->is_base_other. */
struct g2h_html_options {
    size_t size;
    const struct g2h_base *const
        *series;          /* earlier dumps, the oldest first, for trends; NULL: none */
    size_t series_count;  /* trends need two or more */
    const int64_t *times; /* when each of the series, and finally the view's heap, was taken, in
                             milliseconds since 1970; 0, or NULL: not known */
};

struct g2h_output_options {
    size_t size;
    int fd;         /* the destination, which is not closed. Formats with is_file also read from
                       it */
    const int *fds; /* one descriptor per file of a format with several files; NULL: all files go to
                       fd, one after the other */
    const char *name;    /* name of the destination, for messages */
    const char *program; /* path of the executable, for formats that state it; NULL: not known */
    const char *source;  /* source of the heap, for formats that state it; may be NULL */
    const struct g2h_memory *memory; /* of the process that the heap was read from, for formats that
                                        state it; NULL: not known */
    bool gzip;                       /* compresses the output (RFC 1952) */
    unsigned threads; /* 0: one per processor. The output is the same for any number */
    const struct g2h_progress *progress; /* may be NULL */
    struct g2h_identity *series;         /* the series that the view's heap was added to last, which
                                            supplies the ids; NULL: ids of a single dump */

    /* Options of single formats, ignored by others. NULL: all members are 0; without summary,
     * everything is written. */
    const struct g2h_heapsnapshot_options *heapsnapshot;
    const struct g2h_report_options *report;
    const struct g2h_pprof_options *pprof;
    const struct g2h_summary_options *summary;
    const struct g2h_html_options *html;
    uint64_t largest_array; /* of formats with G2H_TAKES_ARRAYS, and dumps: the most bytes that are
                               written of an object without pointers; 0: no limit */
};

/* Whether a format needs dominators, or computes them itself: a bit for each. */
enum g2h_format_need { G2H_NEEDS_DOMINATORS = 1, G2H_FINDS_DOMINATORS = 2 };

/* The options that only some formats support: a bit for each. */
enum g2h_format_option {
    G2H_TAKES_SERIES = 1,    /* series: ids that hold for all dumps of a process */
    G2H_TAKES_BASE = 2,      /* report->base */
    G2H_TAKES_JSON = 4,      /* report->json */
    G2H_TAKES_SUMMARY = 8,   /* summary */
    G2H_TAKES_PATH = 16,     /* report->path_to, report->show */
    G2H_TAKES_RATE = 32,     /* pprof->memprofile_rate */
    G2H_TAKES_TRENDS = 64,   /* html->series */
    G2H_TAKES_NUMBERS = 128, /* heapsnapshot->numbers */
    G2H_TAKES_FOLDED = 256,  /* a folded view; the output of others is only correct for a whole
                                one */
    G2H_TAKES_ARRAYS = 512,  /* largest_array */
};

/* A format that views can be written in. */
struct g2h_format {
    const char *name;    /* as --format takes it */
    const char *by;      /* distinguishes formats of the same name, as --by takes it; NULL: the only
                            format of that name */
    const char *suffix;  /* suffix of its file names, with the dot */
    const char *summary; /* a description in a few words */
    const char *files[G2H_MOST_FILES]; /* its file names in the output directory; NULL: it is a
                                          single file */
    unsigned memory; /* memory of a conversion, in percent of the resident memory of the process;
                        measured with small objects */
    unsigned object_memory; /* memory of a conversion with types, in bytes per object: the least
                               that was measured */
    unsigned needs;         /* enum g2h_format_need */
    unsigned takes;         /* enum g2h_format_option */
    bool is_text;           /* it is readable text */
    bool is_compressed;     /* it is always compressed by gzip */
    bool is_file; /* it is not written sequentially: it needs an empty regular file and a descriptor
                     that can read and write, and is never compressed */
    bool is_for_devtools;
    bool leaves_out_garbage; /* it omits garbage, unless the dump is cut or damaged, because then
                                garbage is not known */
    /* NULL, or returns how many bytes of objects and stacks the output lacks. */
    uint64_t (*cut)(const struct g2h_view *view, const struct g2h_output_options *options);
    /* dominators: NULL unless the format needs them. Errors: G2H_ERROR_SYSTEM (a write failed; a
     * part of the file may have been written), G2H_ERROR_MEMORY, and G2H_ERROR_LIMIT if the view
     * exceeds the format's limits; then nothing has been written. */
    struct g2h_error *(*write)(const struct g2h_view *view, const struct g2h_dominators *dominators,
                               const struct g2h_output_options *options);
};

/* Returns a format by its index, the default format first; NULL after the last one. */
G2H_PUBLIC const struct g2h_format *g2h_format(size_t index);

/* Returns the format with a name, or NULL if there is none. If several formats have the name,
 * returns the one whose by matches, or the first one if by is NULL. */
G2H_PUBLIC const struct g2h_format *g2h_format_find(const char *name, const char *by);

/* Returns the library that this build lacks, "SQLite", if that is why it lacks the format with a
 * name; else NULL. */
G2H_PUBLIC const char *g2h_format_left_out(const char *name);

/* Returns the version of SQLite in this build; NULL: none. */
G2H_PUBLIC const char *g2h_sqlite_version(void);

/* Computes what a format needs, and writes a view in the format. Errors: those of
 * format->write(). */
G2H_PUBLIC struct g2h_error *g2h_write(const struct g2h_format *format, const struct g2h_view *view,
                                       const struct g2h_output_options *options);

/*
 * Writes a V8 heap snapshot (.heapsnapshot) for Chrome DevTools; docs/snapshot-format.md. Folded
 * views are written by at most eight threads. Errors: those of format->write(); G2H_ERROR_NOT_FOUND
 * if numbers are requested but there are no types, or, for a single dump, if no class has a name in
 * numbers_of.
 */
G2H_PUBLIC struct g2h_error *g2h_write_heapsnapshot(const struct g2h_view *view,
                                                    const struct g2h_output_options *options);

/*
 * Writes the same as a timeline (.heaptimeline), which DevTools shows under "Allocations on
 * timeline": the bytes that live by the collection since which they do, docs/ages.md. Ids are by
 * age, and hold for no other snapshot. Errors: those of format->write(); G2H_ERROR_NOT_FOUND if
 * the collections of the process were not watched.
 */
G2H_PUBLIC struct g2h_error *g2h_write_heaptimeline(const struct g2h_view *view,
                                                    const struct g2h_output_options *options);

/*
 * Writes a report of what holds the memory, as text for people, or as JSON: docs/report.md.
 * dominators may be NULL: then another thread computes them during other work. Errors:
 * G2H_ERROR_NOT_FOUND if the heap does not have path_to or show, those of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_report(const struct g2h_view *view,
                                              const struct g2h_dominators *dominators,
                                              const struct g2h_output_options *options);

/*
 * Writes a page for browsers, which shows what holds the memory, and which is less than 4 MB
 * whatever the heap: docs/html.md. dominators may be NULL, as for g2h_write_report(). Errors: those
 * of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_html(const struct g2h_view *view,
                                            const struct g2h_dominators *dominators,
                                            const struct g2h_output_options *options);

/*
 * Writes a profile of what holds the memory (google/pprof's profile.proto, always compressed by
 * gzip) for `go tool pprof`: docs/pprof.md. Errors: those of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_pprof(const struct g2h_view *view,
                                             const struct g2h_dominators *dominators,
                                             const struct g2h_output_options *options);

/*
 * Writes a profile of where the memory was allocated: the heap profile of runtime/pprof, made from
 * the dump's records: docs/pprof.md. Errors: those of format->write(); G2H_ERROR_NO_PROFILE if the
 * dump has no such records.
 */
G2H_PUBLIC struct g2h_error *g2h_write_pprof_alloc(const struct g2h_view *view,
                                                   const struct g2h_dominators *dominators,
                                                   const struct g2h_output_options *options);

/*
 * Writes nodes and edges as an SQLite database: docs/sqlite.md. Folded views are written by at most
 * eight threads. Errors: those of format->write(); G2H_ERROR_SYSTEM also if the descriptor does not
 * meet the requirements of is_file, and in a build without SQLite (g2h_sqlite_version()).
 */
G2H_PUBLIC struct g2h_error *g2h_write_sqlite(const struct g2h_view *view,
                                              const struct g2h_dominators *dominators,
                                              const struct g2h_output_options *options);

/*
 * Writes nodes and edges as comma-separated values: first nodes.csv to the first descriptor, then
 * edges.csv to the second one; docs/csv.md. Folded views are written by at most eight threads.
 * Errors: those of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_csv(const struct g2h_view *view,
                                           const struct g2h_output_options *options);

/*
 * Writes a heap dump in Java's format (HPROF 1.0.2), for Eclipse Memory Analyzer and VisualVM:
 * docs/hprof.md. dominators are ignored. Errors: those of format->write().
 */
G2H_PUBLIC struct g2h_error *g2h_write_hprof(const struct g2h_view *view,
                                             const struct g2h_dominators *dominators,
                                             const struct g2h_output_options *options);

/*
 * Writes an input unchanged, uncompressed by default: a dump made from a core file or a live
 * process, to be converted elsewhere. With options->largest_array it shortens larger objects
 * without pointers, whose sizes stay known: docs/dump-formats.md, "Shortened arrays". Errors:
 * G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY; G2H_ERROR_NOT_DUMP if arrays are to be shortened and it is
 * not a heap dump, or one of Go 1.3, whose objects do not say whether they have pointers;
 * G2H_ERROR_DAMAGED if arrays are to be shortened and the dump is damaged: what is before the
 * damage has been written.
 */
G2H_PUBLIC struct g2h_error *g2h_write_dump(const struct g2h_input *input,
                                            const struct g2h_output_options *options);

G2H_END

#endif
