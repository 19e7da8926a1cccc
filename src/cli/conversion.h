/*
 * conversion: the steps from a dump, core or process to a view as the command line selects them,
 * for one conversion, for the dumps that it is compared with, and for each snapshot of --watch; and
 * for --inspect.
 */
#ifndef CLI_CONVERSION_H
#define CLI_CONVERSION_H

#include <sys/stat.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/trend.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "library/pipeline.h"
#include "mcp/mcp.h"

/* ==== messages about a profile of allocations ==== */

/* With -v prints the rate by which samples were scaled, and where that rate comes from. In any case
 * warns if a rate was assumed that cannot be the right one. */
void message_sampling(const struct options *options, const struct g2h_input *input,
                      const struct g2h_heap *heap);

/* ==== the steps ====
 *
 * The steps from a dump, core or process to a view as the command line selects them, for one
 * conversion, for the dumps that it is compared with, and for each snapshot of --watch.
 *
 * The steps are those of library/pipeline.h, with messages for the user.
 */

typedef VECTOR(int64_t) int64_vector;

/* A series of dumps of one process, or one dump. The heap of the dump before is kept, to compare
 * the next one with. */
struct series {
    struct g2h_redaction *redaction; /* NULL: none; shared by all dumps, as strings are compared */
    VECTOR(struct g2h_base *) bases; /* earlier dumps, of formats that take a base or show trends */
    int64_vector times; /* when each of these was taken, in milliseconds since 1970; 0: unknown */
    VECTOR(struct stat) base_files; /* the dumps that these were made of */
    uint64_t base_build;            /* hash of the executable that wrote the base; 0: none */
    struct collections of_base;     /* if there is a base */
    struct g2h_trend *trend;        /* NULL: none */
    struct keep keep;               /* of a process that is watched */
    struct g2h_exe *exe;            /* of the dump before, with what was read of it; NULL: none */
    bool has_said_replaced;
    struct g2h_identity *identity; /* NULL: there is only one dump */
    struct mcp *mcp;               /* the client that asks about the heap, or NULL */
    struct g2h_input *input;
    struct g2h_heap *heap;
};

/* Makes the key of --redact, if it is given. Errors: those of redact_key_read() and
 * g2h_redaction_create(). */
struct g2h_error *series_open_redaction(const struct options *options, struct series *series);

/* Keeps the heap of a dump, to compare the next dump of the series with it. */
void series_keep(struct series *series, struct pipeline *conversion);

/* Ends a conversion, but keeps its executable for the next one: opening and matching it again takes
 * longer than a small dump. */
void series_end(struct series *series, struct pipeline *conversion);

/* Sets the earlier heaps of a page, and when these and the page's own heap were taken. Returns
 * false if memory runs out. */
bool series_set_html(struct series *series, int64_t time, struct g2h_html_options *ret);

void series_deinit(struct series *series);

/* The outcome of all conversions. */
struct outcome {
    bool complete;   /* nothing was damaged or missing */
    bool is_failed;  /* the output has been written, but something requested is missing */
    bool is_process; /* the last conversion was of a core or a process */
    bool is_base;    /* the error is that the executable did not write the base */
    size_t steady;   /* places that grew in every interval */
};

/* The context of the callbacks of a conversion's steps. */
struct conversion_context {
    const struct outputs *outputs;
    const struct g2h_progress *progress;
};

/* Returns the options of the steps; the context must live as long. */
struct pipeline_options conversion_options(const struct options *options,
                                           const struct series *series,
                                           const struct conversion_context *context);

/* Opens the dump or makes one from a core or a process, and reports what is missing in it. The dump
 * that is made goes to stream; NULL: to a temporary file. */
struct g2h_error *conversion_capture(const struct options *options, const char *path,
                                     const struct g2h_progress *progress,
                                     struct origin_stream *stream, struct pipeline *conversion);

/* Captures, and loads the heap. */
struct g2h_error *conversion_load(const struct options *options, const char *path,
                                  const struct g2h_progress *progress, struct pipeline *conversion);

/* Matches the executable, if any, with the heap, and reports what it lacks. */
struct g2h_error *conversion_match(const struct options *options, struct series *series,
                                   const struct pipeline_options *steps,
                                   struct pipeline *conversion);

/* Builds the graph, adds it to the series, and creates the view. */
struct g2h_error *conversion_build(const struct options *options, const struct series *series,
                                   const struct pipeline_options *steps,
                                   struct pipeline *conversion);

/* Returns an error if a file has changed since it was read. */
struct g2h_error *conversion_check_inputs(const struct series *series,
                                          const struct pipeline *conversion);

/* Returns whether nothing that was read so far is cut or missing. */
bool conversion_is_whole(const struct pipeline *conversion);

/* The options of an output, which point to each other. */
struct output_settings {
    struct g2h_report_options report;
    struct g2h_numbers_account numbers;
    struct g2h_heapsnapshot_options heapsnapshot;
    struct g2h_pprof_options pprof;
    struct g2h_summary_options summary;
    struct g2h_html_options html;
    struct g2h_output_options output;
    struct text source; /* that the output names */
};

/* Sets the options of an output by those of the command line. */
void output_settings_begin(const struct options *options, const struct series *series,
                           const struct outputs *outputs, const struct g2h_progress *progress,
                           struct output_settings *settings);

/* Adds what is known once the dump is open: where it is from, and when it was written. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *output_settings_add_dump(const struct options *options, struct series *series,
                                           const struct pipeline *conversion,
                                           struct output_settings *settings);

void output_settings_deinit(struct output_settings *settings);

/* ==== --inspect, by the options of the command line ==== */

/* Serves DevTools until a signal comes or the session ends. Errors: those of inspect_run(). */
struct g2h_error *devtools_serve(const struct options *options);

#endif
