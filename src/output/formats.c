/*
 * formats: the table of the formats in which views can be written. A new format is a row of this
 * table, and a file or a module beside this one that reads the view and nothing else.
 *
 * The files here are those that several formats share, and formats that are one file:
 *   formats, sink       this table; buffers that are written in order, gzipped if wanted
 *   ids                 ids of nodes as in a heap snapshot
 *   output_strings, labels
 *                       names and strings of nodes and edges as in a heap snapshot
 *   overlay             what of its edges and states is not in the view
 *   json                formats numbers and strings
 *   fields              which objects are written field by field
 *   database            SQLite, and rows for it in memory
 *   csv, dump           formats
 */
#include <string.h>

#include <go2heapsnapshot/identity.h>
#include <go2heapsnapshot/output.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/limits.h"
#ifdef WITH_SQLITE
#include "output/database.h"
#endif

static struct g2h_error *write_heapsnapshot(const struct g2h_view *view,
                                            const struct g2h_dominators *dominators,
                                            const struct g2h_output_options *options)
{
    (void)dominators;
    return g2h_write_heapsnapshot(view, options);
}

static struct g2h_error *write_heaptimeline(const struct g2h_view *view,
                                            const struct g2h_dominators *dominators,
                                            const struct g2h_output_options *options)
{
    (void)dominators;
    return g2h_write_heaptimeline(view, options);
}

static struct g2h_error *write_csv(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_output_options *options)
{
    (void)dominators; /* g2h_write_csv() finds them itself, in parallel with other work */
    return g2h_write_csv(view, options);
}

static const struct g2h_format formats[] = {
    {
        .name = "heapsnapshot",
        .suffix = ".heapsnapshot",
        .summary = "for the Memory tab of Chrome DevTools",
        .memory = 110,
        .object_memory = 52,
        .takes = G2H_TAKES_SERIES | G2H_TAKES_NUMBERS | G2H_TAKES_FOLDED,
        .is_for_devtools = true,
        .write = write_heapsnapshot,
    },
    {
        .name = "heaptimeline",
        .suffix = ".heaptimeline",
        .summary = "since when objects live, by --ages",
        .memory = 115,
        .object_memory = 56,
        .is_for_devtools = true,
        .write = write_heaptimeline,
    },
    {
        .name = "report",
        .suffix = ".txt",
        .summary = "who holds the memory, as text",
        .memory = 240,
        .object_memory = 78,
        .needs = G2H_FINDS_DOMINATORS,
        .takes = G2H_TAKES_BASE | G2H_TAKES_JSON | G2H_TAKES_PATH,
        .is_text = true,
        .write = g2h_write_report,
    },
    {
        .name = "html",
        .suffix = ".html",
        .summary = "the same as one page for browsers",
        .memory = 240,
        .object_memory = 78,
        .needs = G2H_FINDS_DOMINATORS,
        .takes = G2H_TAKES_BASE | G2H_TAKES_TRENDS,
        .write = g2h_write_html,
    },
    {
        .name = "pprof",
        .by = "retained",
        .suffix = ".pb.gz",
        .summary = "who holds the memory, for go tool pprof",
        .memory = 205,
        .object_memory = 68,
        .needs = G2H_NEEDS_DOMINATORS,
        .is_compressed = true,
        .write = g2h_write_pprof,
    },
    {
        .name = "pprof",
        .by = "alloc",
        .suffix = ".pb.gz",
        .summary = "who allocated the memory",
        .memory = 110,
        .object_memory = 50,
        .takes = G2H_TAKES_RATE,
        .is_compressed = true,
        .write = g2h_write_pprof_alloc,
    },
    {
        .name = "hprof",
        .suffix = ".hprof",
        .summary = "for Eclipse Memory Analyzer and VisualVM",
        .memory = 110,
        .object_memory = 50,
        .leaves_out_garbage = true,
        .cut = g2h_hprof_cut,
        .takes = G2H_TAKES_FOLDED | G2H_TAKES_ARRAYS,
        .write = g2h_write_hprof,
    },
#ifdef WITH_SQLITE
    {
        .name = "sqlite",
        .suffix = ".db",
        .summary = "all nodes and edges, as an SQLite database",
        .memory = 180,
        .object_memory = 76,
        .needs = G2H_NEEDS_DOMINATORS,
        .takes = G2H_TAKES_SERIES | G2H_TAKES_SUMMARY | G2H_TAKES_FOLDED,
        .is_file = true,
        .write = g2h_write_sqlite,
    },
#endif
    {
        .name = "csv",
        .suffix = "",
        .summary = "the same as CSV files in a directory",
        .memory = 185,
        .object_memory = 74,
        .files = {"nodes.csv", "edges.csv"},
        .needs = G2H_FINDS_DOMINATORS,
        .takes = G2H_TAKES_SERIES | G2H_TAKES_FOLDED,
        .write = write_csv,
    },
};

const struct g2h_format *g2h_format(size_t index)
{
    return index < COUNT_OF(formats) ? &formats[index] : NULL;
}

/* Returns the format of a name, and of a variant; by NULL: the usual variant, which comes first.
 * Returns NULL if there is none. */
const struct g2h_format *g2h_format_find(const char *name, const char *by)
{
    const struct g2h_format *format;
    for (size_t i = 0; (format = g2h_format(i)) != NULL; i++)
        if (strcmp(format->name, name) == 0 && (!by || (format->by && strcmp(format->by, by) == 0)))
            return format;
    return NULL;
}

/* Formats that this build lacks, and the library that is missing. */
static const struct {
    const char *name, *without;
} left_out[] = {
#ifndef WITH_SQLITE
    {"sqlite", "SQLite"},
#endif
    {NULL, NULL},
};

/* Returns without which library a format was left out of this build, or NULL. */
const char *g2h_format_left_out(const char *name)
{
    for (size_t i = 0; left_out[i].name; i++)
        if (strcmp(left_out[i].name, name) == 0)
            return left_out[i].without;
    return NULL;
}

#ifdef WITH_SQLITE
const char *g2h_sqlite_version(void)
{
    return sqlite3_libversion();
}
#else
const char *g2h_sqlite_version(void)
{
    return NULL;
}

/* Stands in for the writer in a build without SQLite: always an error. */
struct g2h_error *g2h_write_sqlite(const struct g2h_view *view,
                                   const struct g2h_dominators *dominators,
                                   const struct g2h_output_options *options)
{
    (void)view;
    (void)dominators;
    return error_create(G2H_ERROR_SYSTEM, "%s: this was built without SQLite", options->name);
}
#endif

CLEANUP_POINTER(destroy_dominators, struct g2h_dominators, g2h_dominators_destroy);

/* Formats take a node without an id for one without memory. Takes over the error, and returns the
 * one that says what is really short. */
static struct g2h_error *explain_ids(struct g2h_error *error,
                                     const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    if (!error || error->code != G2H_ERROR_MEMORY || !options->series ||
        !g2h_identity_is_full(options->series))
        return error;
    g2h_error_destroy(error);
    return error_create(G2H_ERROR_LIMIT,
                        "%s: the series has more than the %llu objects and other nodes that can "
                        "have ids: begin another one",
                        options->source ? options->source : options->name,
                        (unsigned long long)limits.last_id / 2 + 1);
}

/* Of a sample, only a report says how wrong its figures may be. */
#define SAMPLE_REFUSED \
    "this is a sample of a heap: only --format report says how exact its figures are"

/* Writes a view in a format. A sample of a heap goes into a report only. */
struct g2h_error *g2h_write(const struct g2h_format *format, const struct g2h_view *view,
                            const struct g2h_output_options *options)
{
    _cleanup_(destroy_dominators) struct g2h_dominators *dominators = NULL;
    if (g2h_heap_sample(g2h_view_heap(view)) && format->write != g2h_write_report)
        return error_create(G2H_ERROR_LIMIT, "%s", SAMPLE_REFUSED);
    if ((format->needs & G2H_NEEDS_DOMINATORS) != 0)
        TRY(g2h_view_dominators(view, &dominators));
    return explain_ids(format->write(view, dominators, options), options);
}
