/*
 * go2heapsnapshot: reads the heap of a Go program, and writes who keeps its memory.
 *
 *   input   the dump's bytes, mapped
 *   heap    its records; objects by address
 *   exe     the executable that wrote the dump, if it is given: its types and names
 *   typing  with the executable: the type of each object
 *   graph   nodes and edges
 *   identity  for several dumps: which objects were in the dump before
 *   view    the nodes and edges that the options select: without garbage, folded
 *   output  a snapshot, a report …
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/port.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/at_death.h"
#include "cli/beside.h"
#include "cli/keep.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/redact_key.h"
#include "cli/sampling.h"
#include "cli/series.h"
#include "cli/signals.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/watch.h"
#include "inspect/command.h"
#include "inspect/inspect.h"
#include "exe/exe.h"
#include "library/pipeline.h"
#include "mcp/mcp.h"
#include "process/attach/procfs.h"

/* ---- the conversion ---- */

typedef VECTOR(int64_t) int64_vector;

/* A series of dumps of one process, or one dump. The heap of the dump before is kept, to compare
 * the next one with. */
struct series {
    struct g2h_redaction *redaction; /* NULL: none; shared by all dumps, as strings are compared */
    VECTOR(struct g2h_base *) bases; /* earlier dumps, of formats that take a base or show trends */
    int64_vector times; /* when each of these was taken, in milliseconds since 1970; 0: unknown */
    VECTOR(struct stat) base_files; /* the dumps that these were made of */
    uint64_t base_build;            /* hash of the executable that wrote the base; 0: none */
    struct g2h_trend *trend;        /* NULL: none */
    struct keep keep;               /* of a process that is watched */
    struct g2h_identity *identity;  /* NULL: there is only one dump */
    struct mcp *mcp;                /* the client that asks about the heap, or NULL */
    struct g2h_input *input;
    struct g2h_heap *heap;
};

/* The context of the callbacks of a conversion's steps. */
struct steps_context {
    const struct outputs *outputs;
    const struct g2h_progress *progress;
};

static struct g2h_error *check_exe(const void *context, const struct g2h_exe *exe)
{
    const struct steps_context *steps = context;
    return outputs_check(steps->outputs, g2h_exe_input(exe, 1), "executable's debug file");
}

static void say_untyped(const void *context, const struct g2h_error *error)
{
    (void)context;
    message_untyped(error);
}

static void begin_phase(const void *context, const char *phase)
{
    progress_begin(((const struct steps_context *)context)->progress, phase);
}

static struct pipeline_options steps_of(const struct options *options, const struct series *series,
                                        const struct steps_context *context)
{
    return (struct pipeline_options){.exe = options->exe,
                                     .threads = options->threads,
                                     .untyped_ok = options->untyped_ok,
                                     .no_stacks = options->no_stacks,
                                     .full_names = options->full_names,
                                     .no_dominators =
                                         options->format->needs == 0 && options->max_nodes == 0,
                                     .redaction = series->redaction,
                                     .opened = check_exe,
                                     .untyped = say_untyped,
                                     .phase = begin_phase,
                                     .context = context};
}

/* Matches the executable, if any, with the heap, and reports what it lacks. */
static struct g2h_error *match(const struct options *options, const struct pipeline_options *steps,
                               struct pipeline *conversion)
{
    TRY(pipeline_match(conversion, steps));
    if (conversion->origin.exe && !options->is_quiet)
        message_missing_in_exe(conversion->origin.exe, conversion->heap);
    return NULL;
}

/* Returns a hash of the executable, or 0 without one. */
static uint64_t build_of(const struct pipeline *conversion)
{
    const struct g2h_input *input =
        conversion->origin.exe ? g2h_exe_input(conversion->origin.exe, 0) : NULL;
    return input ? map_hash_text(input->data, (size_t)input->size) : 0;
}

/* Returns an error if a file has changed since it was read. */
static struct g2h_error *main_check_inputs(const struct series *series,
                                           const struct pipeline *conversion)
{
    struct g2h_error *error = g2h_input_check(conversion->origin.input);
    if (!error && series->input)
        error = g2h_input_check(series->input);
    if (!error && conversion->origin.exe)
        error = exe_check_inputs(conversion->origin.exe);
    return error;
}

static struct g2h_error *open_redaction(const struct options *options, struct series *series)
{
    uint8_t key[G2H_REDACT_KEY];
    if (!options->redact && !options->redact_key)
        return NULL;
    if (options->redact_key)
        TRY(redact_key_read(options->redact_key, key));
    return g2h_redaction_create(options->redact_key ? key : NULL, &series->redaction);
}

/* Opens the dump, core or process, or reads the output of the command. */
static struct g2h_error *open_heap(const struct options *options, const char *path,
                                   const struct g2h_progress *progress, struct pipeline *conversion)
{
    const struct origin_options origin = {.path = path,
                                          .copy = options->death ? &options->death->copy : NULL,
                                          .program =
                                              options->death ? &options->death->program : NULL,
                                          .pid = options->pid,
                                          .exe = options->exe,
                                          .threads = options->threads,
                                          .memory = options->is_dump ? 0 : options->format->memory,
                                          .forks = options->fork,
                                          .collapses = options->fork_huge,
                                          .progress = progress,
                                          .around = options->guard ? guard_around : NULL,
                                          .context = options->guard};
    return options->command ? command_open(options->command, &origin, &conversion->origin)
                            : origin_open(&origin, &conversion->origin);
}

/* Opens the dump or makes one from a core or a process, and reports what is missing in it. */
static struct g2h_error *capture(const struct options *options, const char *path,
                                 const struct g2h_progress *progress, struct pipeline *conversion)
{
    const bool is_live = options->pid != 0 && !options->death;
    if (is_live)
        origin_end_first();
    TRY(open_heap(options, path, progress, conversion));
    if (options->is_quiet)
        return NULL;
    message_process(&conversion->origin, options->watch == 0);
    if (is_live)
        message_go_command(options->pid);
    return NULL;
}

static struct g2h_error *load(const struct options *options, const char *path,
                              const struct g2h_progress *progress, struct pipeline *conversion)
{
    TRY(capture(options, path, progress, conversion));
    return options->is_dump ? NULL : pipeline_load(conversion, options->threads, progress);
}

/* Returns the most nodes that the view may have, so that the snapshot, which has contexts in
 * addition, does not have more than --max-nodes. */
static uint64_t view_nodes(const struct options *options)
{
    const bool has_contexts = options->format->is_for_devtools && !options->no_contexts;
    return !has_contexts || options->max_nodes <= G2H_MOST_CONTEXTS
               ? options->max_nodes
               : options->max_nodes - G2H_MOST_CONTEXTS;
}

/* Builds the graph, adds it to the series, and creates the view. */
static struct g2h_error *build(const struct options *options, const struct series *series,
                               const struct pipeline_options *steps, struct pipeline *conversion)
{
    const struct g2h_view_options view = {
        options_leave_out_garbage(options, g2h_heap_is_complete(conversion->heap)),
        view_nodes(options)};
    TRY(pipeline_graph(conversion, steps));
    if (series->identity)
        TRY(g2h_identity_add(series->identity, conversion->graph));
    return pipeline_view(conversion, &view);
}

/* Completes the output, which shows the dump and the base. */
static struct g2h_error *complete(struct outputs *outputs, const struct series *series,
                                  const struct pipeline *conversion)
{
    const struct target_read read = {.dump = g2h_input_status(conversion->origin.input),
                                     .bases = series->base_files.data,
                                     .base_count = series->base_files.count};
    return outputs_complete(outputs, &read);
}

/* Writes the dump itself, which may have been made from a process. */
static struct g2h_error *write_dump(const struct options *options,
                                    const struct g2h_output_options *output_options,
                                    struct outputs *outputs, const struct series *series,
                                    const struct pipeline *conversion)
{
    TRY(g2h_write_dump(conversion->origin.input, output_options));
    TRY(g2h_input_check(conversion->origin.input));
    TRY(complete(outputs, series, conversion));
    if (options->verbose && conversion->origin.is_process)
        message_process_account(&conversion->origin);
    progress_clear();
    return NULL;
}

/* Returns what a summary records about its origin. */
static struct g2h_summary_options summary_options(const struct options *options,
                                                  const struct g2h_input *input)
{
    const struct stat *status = g2h_input_status(input);
    const bool is_file = status && S_ISREG(status->st_mode);
    return (struct g2h_summary_options){.size = sizeof(struct g2h_summary_options),
                                        .append_to = options->append ? options->output : NULL,
                                        .dump = status,
                                        .time = is_file && options->pid == 0 ? status->st_mtime
                                                                             : time(NULL),
                                        .labels = options->labels,
                                        .label_count = options->label_count};
}

/* Answers questions about the view instead of writing it. */
static struct g2h_error *answer_questions(const struct options *options, struct series *series,
                                          const struct pipeline *conversion,
                                          const struct g2h_output_options *output_options)
{
    const struct answers_options answers = {.view = conversion->view,
                                            .input = conversion->origin.input,
                                            .exe = conversion->origin.exe,
                                            .base = output_options->report->base,
                                            .is_base_other = output_options->report->is_base_other,
                                            .memory = output_options->memory,
                                            .source = output_options->source,
                                            .threads = options->threads,
                                            .has_values = options->values};
    progress_clear();
    return mcp_serve(series->mcp, &answers);
}

/* Writes the view. Output for people is collected first: then the progress line is gone before it,
 * and a pager gets all of it. */
static struct g2h_error *write_view(const struct options *options, const struct g2h_view *view,
                                    const struct g2h_output_options *output_options)
{
    struct g2h_output_options to = *output_options;
    const int fd = options->format->is_text && terminal_is_output(options) ? pager_collect() : -1;
    if (fd >= 0)
        to.fd = fd;
    if (options->format->needs != 0)
        progress_begin(output_options->progress,
                       options->format->is_text ? "report" : "dominators");
    struct g2h_error *error = g2h_write(options->format, view, &to);
    if (options->format->is_text)
        progress_clear();
    if (!error && fd >= 0)
        return pager_show(fd);
    if (fd >= 0)
        close(fd);
    return error;
}

/* Appends the name of the process that is read. Returns false if it is not known. */
static bool append_program(const struct options *options, struct text *ret)
{
    if (options->death)
        text_append_string(ret, options->death->name);
    return options->death || (options->pid != 0 && procfs_read_whole_name(options->pid, ret) == 0);
}

/* Finds what formats call the source: the file, or "process 1234 (leakserver)". */
static struct g2h_error *find_source(const struct options *options, const struct g2h_input *input,
                                     struct text *ret)
{
    _cleanup_(text_deinit) struct text program = {0};
    text_append_string(ret, input->name);
    if (append_program(options, &program)) {
        text_append_string(ret, " (");
        text_append(ret, program.data, program.size);
        text_append_string(ret, ")");
    }
    text_append(ret, "", 1);
    TRY_MEMORY(!ret->failed);
    return NULL;
}

/* Returns when a file was written, in milliseconds since 1970; 0: not known, as of a pipe. */
static int64_t written_at(const struct g2h_input *input)
{
    const struct stat *status = g2h_input_status(input);
    return status && S_ISREG(status->st_mode)
               ? (int64_t)status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000
               : 0;
}

/* Sets the earlier heaps of a page, and when these and the page's own heap were taken. */
static bool set_html_series(struct series *series, int64_t time, struct g2h_html_options *ret)
{
    if (!vector_grow(&series->times, 1))
        return false;
    series->times.data[series->bases.count] = time;
    ret->series = (const struct g2h_base *const *)series->bases.data;
    ret->series_count = series->bases.count;
    ret->times = series->times.data;
    return true;
}

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

static struct g2h_report_options report_options(const struct options *options,
                                                const struct series *series)
{
    return (struct g2h_report_options){
        .size = sizeof(struct g2h_report_options),
        .base = series->bases.count > 0 ? series->bases.data[0] : NULL,
        .json = options->json,
        .color = terminal_has_color(options),
        .columns = terminal_columns(options),
        .path_to = options->path_to,
        .show = options->show,
        .is_for_terminal = terminal_is_output(options),
        .is_short = terminal_is_output(options) && !options->full,
        .top = (unsigned)options->top,
        .sections = options->sections,
        .command = options->again.size > 0 ? options->again.data : NULL};
}

/* Sets the options of an output by those of the command line. */
static void output_settings_begin(const struct options *options, const struct series *series,
                                  const struct outputs *outputs,
                                  const struct g2h_progress *progress,
                                  struct output_settings *settings)
{
    settings->report = report_options(options, series);
    settings->heapsnapshot =
        (struct g2h_heapsnapshot_options){.size = sizeof(settings->heapsnapshot),
                                          .no_contexts = options->no_contexts,
                                          .numbers = options->numbers,
                                          .numbers_of = options->numbers_of,
                                          .numbers_account = &settings->numbers};
    settings->pprof = (struct g2h_pprof_options){sizeof(settings->pprof), options->memprofile_rate};
    settings->html = (struct g2h_html_options){.size = sizeof(settings->html)};
    settings->output = (struct g2h_output_options){.size = sizeof(settings->output),
                                                   .fd = outputs->list[0].fd,
                                                   .fds = outputs->fds,
                                                   .name = outputs->name,
                                                   .program = options->exe,
                                                   .gzip = options->gzip,
                                                   .threads = options->threads,
                                                   .progress = progress,
                                                   .series = series->identity,
                                                   .largest_array = options->largest_array,
                                                   .heapsnapshot = &settings->heapsnapshot,
                                                   .report = &settings->report,
                                                   .pprof = &settings->pprof,
                                                   .html = &settings->html};
}

/* Adds what is known once the dump is open: where it is from, and when it was written. */
static struct g2h_error *output_settings_add_dump(const struct options *options,
                                                  struct series *series,
                                                  const struct pipeline *conversion,
                                                  struct output_settings *settings)
{
    const struct g2h_input *input = conversion->origin.input;
    TRY(find_source(options, input, &settings->source));
    settings->output.source = settings->source.data;
    settings->output.memory = &conversion->origin.memory;
    TRY_MEMORY(set_html_series(series, written_at(input), &settings->html));
    settings->summary = summary_options(options, input);
    if (options->summary)
        settings->output.summary = &settings->summary;
    return NULL;
}

static void output_settings_deinit(struct output_settings *settings)
{
    text_deinit(&settings->source);
}

/* Tells the user about an output that is complete. */
static void message_converted(const struct options *options, const struct series *series,
                              const struct outputs *outputs, const struct pipeline *conversion,
                              const struct output_settings *settings)
{
    const struct g2h_input *input = conversion->origin.input;
    if (options->append)
        message_narrowed(&outputs->list[0]);
    if (outputs->list[0].is_named)
        message_name(options->format, outputs->name, options->gzip);
    if (options->verbose && conversion->origin.is_process)
        message_process_account(&conversion->origin);
    if (options->verbose)
        message_account(options, input, conversion->origin.exe, conversion->graph, conversion->view,
                        &settings->numbers);
    if ((options->format->takes & G2H_TAKES_RATE) != 0)
        message_sampling(options, input, conversion->heap);
    if (series->heap)
        message_survivors(input, series->input, series->identity, conversion->graph,
                          conversion->view);
    if (conversion->origin.exe)
        message_typed(input, conversion->heap, conversion->origin.exe, conversion->graph);
    progress_clear();
}

/* Converts the source to the output, step by step. */
static struct g2h_error *convert_steps(const struct options *options, const char *path,
                                       struct series *series, struct outputs *outputs,
                                       struct pipeline *conversion)
{
    const struct g2h_progress *progress = progress_start();
    const struct steps_context context = {outputs, progress};
    const struct pipeline_options steps = steps_of(options, series, &context);
    _cleanup_(output_settings_deinit) struct output_settings settings = {0};
    output_settings_begin(options, series, outputs, progress, &settings);
    TRY(load(options, path, progress, conversion));
    TRY(output_settings_add_dump(options, series, conversion, &settings));
    if (options->is_dump)
        return write_dump(options, &settings.output, outputs, series, conversion);
    message_warnings(conversion->origin.input, conversion->heap);
    if (series->identity)
        TRY(g2h_identity_check(series->identity, conversion->heap));
    TRY(match(options, &steps, conversion));
    if (options->base_exe)
        settings.report.is_base_other = series->base_build != build_of(conversion);
    if (!conversion->origin.exe && !options->exe && !series->heap)
        message_untyped_hint(options, conversion->origin.input);
    TRY(build(options, series, &steps, conversion));
    message_size(options, conversion->origin.input, conversion->graph, conversion->view);
    if (series->mcp)
        return answer_questions(options, series, conversion, &settings.output);
    TRY(write_view(options, conversion->view, &settings.output));
    TRY(main_check_inputs(series, conversion));
    TRY(complete(outputs, series, conversion));
    message_converted(options, series, outputs, conversion, &settings);
    return NULL;
}

/* Keeps the heap of a dump, to compare the next dump of the series with it. */
static void series_keep(struct series *series, struct pipeline *conversion)
{
    g2h_heap_destroy(series->heap);
    g2h_input_close(series->input);
    series->heap = conversion->heap;
    series->input = conversion->origin.input;
    conversion->heap = NULL;
    conversion->origin.input = NULL;
}

static void series_deinit(struct series *series)
{
    for (size_t i = 0; i < series->bases.count; i++)
        g2h_base_destroy(series->bases.data[i]);
    free(series->bases.data);
    free(series->times.data);
    free(series->base_files.data);
    g2h_trend_destroy(series->trend);
    keep_deinit(&series->keep);
    g2h_redaction_destroy(series->redaction);
    g2h_identity_destroy(series->identity);
    g2h_heap_destroy(series->heap);
    g2h_input_close(series->input);
}

/* The files that must not be overwritten; list is NULL if memory ran out. */
struct main_sources {
    struct target_source *list;
    size_t count;
};

static struct main_sources list_sources(const struct options *options)
{
    struct main_sources sources = {malloc((options->input_count + 4) * sizeof(*sources.list)), 0};
    for (size_t i = 0; sources.list && i < options->input_count; i++)
        sources.list[sources.count++] = (struct target_source){options->inputs[i], "dump"};
    if (sources.list) {
        sources.list[sources.count++] = (struct target_source){options->exe, "executable"};
        sources.list[sources.count++] = (struct target_source){options->redact_key, "key"};
        sources.list[sources.count++] = (struct target_source){options->base, "dump"};
        sources.list[sources.count++] = (struct target_source){options->base_exe, "executable"};
    }
    return sources;
}

/* The outcome of all conversions. */
struct outcome {
    bool complete;   /* nothing was damaged or missing */
    bool is_failed;  /* the output has been written, but something requested is missing */
    bool is_process; /* the last conversion was of a core or a process */
    bool is_base;    /* the error is that the executable did not write the base */
    size_t steady;   /* places that grew in every interval */
};

/* Converts a dump to a path, or to standard output if path is NULL. If a file was changed
 * meanwhile, that error takes precedence. */
static struct g2h_error *convert(const struct options *options, const char *dump, const char *path,
                                 const struct main_sources *sources, struct series *series,
                                 struct outcome *outcome)
{
    struct outputs outputs = {.count = 0};
    struct pipeline conversion = {0};
    struct g2h_error *error = outputs_open(options, path, sources->list, sources->count, &outputs);
    if (!error)
        error = convert_steps(options, dump, series, &outputs, &conversion);
    struct g2h_error *changed =
        error && conversion.origin.input ? main_check_inputs(series, &conversion) : NULL;
    if (changed) {
        g2h_error_destroy(error);
        error = changed;
    }
    const bool is_whole = (!conversion.heap || g2h_heap_is_complete(conversion.heap)) &&
                          origin_is_complete(&conversion.origin);
    outcome->is_process = conversion.origin.is_process;
    outcome->complete = outcome->complete && (error || is_whole);
    if (!error && series->identity)
        series_keep(series, &conversion);
    outputs_deinit(&outputs);
    pipeline_deinit(&conversion);
    return error;
}

/* Keeps the data of a view that a trend or a base needs. For a base the status of its dump is kept,
 * too. */
static struct g2h_error *keep_base(const struct options *options, struct series *series,
                                   const struct pipeline *conversion)
{
    struct g2h_base *base;
    if (series->trend)
        return g2h_trend_add(series->trend, conversion->view, conversion->origin.input->name,
                             written_at(conversion->origin.input), options->threads);
    TRY_MEMORY(vector_grow(&series->bases, 1) && vector_grow(&series->base_files, 1) &&
               vector_push(&series->times, written_at(conversion->origin.input)));
    TRY(g2h_base_create(conversion->view, conversion->origin.input->name, options->threads, &base));
    series->bases.data[series->bases.count++] = base;
    series->base_files.data[series->base_files.count++] =
        *g2h_input_status(conversion->origin.input);
    return NULL;
}

/* Makes a base from a dump, with which a heap is compared. Only its names and numbers are kept. exe
 * is the executable that wrote the dump, if it is another one; may be NULL. */
static struct g2h_error *make_base(const struct options *options, const char *dump, const char *exe,
                                   struct series *series, struct outcome *outcome)
{
    static const struct outputs none = {.name = "standard output"};
    struct options of_base = *options;
    struct pipeline conversion = {.heap = NULL};
    const struct procfs_path own = procfs_path(options->pid, "exe");
    if (options->pid != 0 && !options->exe)
        of_base.exe = own.text; /* the executable of the process that is compared with the base */
    if (exe)
        of_base.exe = exe;
    of_base.pid = 0;
    const struct steps_context context = {&none, progress_start()};
    const struct pipeline_options steps = steps_of(&of_base, series, &context);
    struct g2h_error *error = load(&of_base, dump, context.progress, &conversion);
    if (!error)
        message_warnings(conversion.origin.input, conversion.heap);
    if (!error)
        error = match(&of_base, &steps, &conversion);
    outcome->is_base = error && error->code == G2H_ERROR_NOT_EXE && options->base;
    if (!error)
        error = build(&of_base, series, &steps, &conversion);
    if (!error)
        error = keep_base(options, series, &conversion);
    if (!error && exe)
        series->base_build = build_of(&conversion);
    if (!error)
        error = main_check_inputs(series, &conversion);
    outcome->complete = outcome->complete && conversion.heap &&
                        g2h_heap_is_complete(conversion.heap) &&
                        origin_is_complete(&conversion.origin);
    pipeline_deinit(&conversion);
    return error;
}

/* Returns the source of a snapshot of a watched process. */
static const char *snapshot_name(const struct options *options, const struct pipeline *conversion)
{
    return options->command ? options->command : conversion->origin.input->name;
}

/* Forgets every second heap of a page with trends if there are as many as a page can have. */
static void thin_out(struct series *series)
{
    enum { MOST_TRENDS = 200 };
    size_t kept = 0;
    if (series->bases.count < MOST_TRENDS)
        return;
    for (size_t i = 0; i < series->bases.count; i++)
        if (i % 2 == 0) {
            series->times.data[kept] = series->times.data[i];
            series->bases.data[kept++] = series->bases.data[i];
        } else {
            g2h_base_destroy(series->bases.data[i]);
        }
    series->bases.count = series->times.count = kept;
}

/* Reports the last snapshot of a watched process: as JSON in the output, else on standard error. */
static struct g2h_error *write_last(const struct options *options, const struct g2h_trend *trend,
                                    const struct g2h_output_options *output_options,
                                    const struct pipeline *conversion)
{
    struct g2h_output_options to = *output_options;
    if (!options->json) {
        to.fd = STDERR_FILENO;
        to.name = "standard error";
        to.gzip = false;
    }
    progress_clear();
    return g2h_write_trend_last(trend, options->pid != 0 ? conversion->origin.account.stopped : -1,
                                &to);
}

/* Replaces the page of a watch by its current state, and keeps the heap's names and numbers for the
 * next one. */
static struct g2h_error *write_page(const struct options *options, struct series *series,
                                    const struct g2h_output_options *output_options,
                                    const struct pipeline *conversion, int64_t time)
{
    struct g2h_html_options html = {.size = sizeof(html)};
    struct g2h_output_options to = *output_options;
    struct g2h_report_options report = *output_options->report;
    struct g2h_base *base;
    TRY_MEMORY(set_html_series(series, time, &html));
    if (series->bases.count > 0)
        report.base = series->bases.data[0];
    to.html = &html;
    to.report = &report;
    to.source = snapshot_name(options, conversion);
    to.program = options->exe;
    to.memory = &conversion->origin.memory;
    if (ftruncate(to.fd, 0) != 0 || lseek(to.fd, 0, SEEK_SET) != 0)
        return error_system(errno, "%s", to.name);
    TRY(g2h_write(options->format, conversion->view, &to));
    TRY_MEMORY(vector_grow(&series->bases, 1));
    TRY(g2h_base_create(conversion->view, to.source, options->threads, &base));
    series->bases.data[series->bases.count++] = base;
    series->times.count++; /* set_html_series() has put it there */
    thin_out(series);
    return NULL;
}

enum { MOST_FAILED = 3 /* in a row */ };

/* A watched process. Its snapshots are converted in another thread than they are taken in. */
struct watching {
    const struct options *options;
    struct options quiet; /* the same, of all snapshots but the first */
    struct series *series;
    const struct g2h_output_options *output_options;
    struct outcome *outcome;
    struct watch moments;
    struct beside beside;
    uint64_t taken;      /* snapshots that were passed on */
    uint64_t said;       /* missed moments that have been reported */
    atomic_ullong done;  /* snapshots that were converted */
    atomic_uint failed;  /* that failed since the last one that did not */
    atomic_bool is_over; /* the snapshots so far end the watch */
    pthread_mutex_t lock;
    struct g2h_error *error; /* that ends the watch, under the lock; NULL: none */
};

/* A snapshot that waits for its conversion. */
struct snapshot {
    const struct options *options;
    struct pipeline conversion;
    int64_t now;
    uint64_t limit, left; /* of memory */
};

static void snapshot_destroy(struct snapshot *snapshot)
{
    pipeline_deinit(&snapshot->conversion);
    free(snapshot);
}

static void snapshot_cleanup(struct snapshot **snapshot)
{
    if (*snapshot)
        snapshot_destroy(*snapshot);
}

/* Takes a snapshot of a watched process. */
static struct g2h_error *main_take_snapshot(const struct options *options, struct snapshot **ret)
{
    _cleanup_(snapshot_cleanup) struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    TRY_MEMORY(snapshot);
    snapshot->options = options;
    snapshot->now = clock_since_1970();
    if (options->pid != 0)
        snapshot->limit = g2h_process_limit(options->pid, &snapshot->left);
    TRY(capture(options, NULL, progress_start(), &snapshot->conversion));
    *ret = take_pointer(snapshot);
    return NULL;
}

/* Converts a snapshot: only its numbers and names are kept, unless the user wants the first and the
 * last dump. */
static struct g2h_error *add_snapshot(const struct watching *watching, struct snapshot *snapshot)
{
    static const struct outputs none = {.name = "standard output"};
    const struct options *options = snapshot->options;
    struct series *series = watching->series;
    const struct steps_context context = {&none, NULL};
    const struct pipeline_options steps = steps_of(options, series, &context);
    struct pipeline *conversion = &snapshot->conversion;
    TRY(keep_dump(&series->keep, conversion->origin.input));
    TRY(pipeline_load(conversion, options->threads, NULL));
    if (!options->is_quiet)
        message_warnings(conversion->origin.input, conversion->heap);
    TRY(match(options, &steps, conversion));
    TRY(build(options, series, &steps, conversion));
    if (series->base_files.count == 0)
        TRY_MEMORY(vector_push(&series->base_files, *g2h_input_status(conversion->origin.input)));
    TRY(g2h_trend_add(series->trend, conversion->view, snapshot_name(options, conversion),
                      snapshot->now, options->threads));
    g2h_trend_set_limit(series->trend, snapshot->limit, snapshot->left);
    watching->outcome->complete = watching->outcome->complete &&
                                  g2h_heap_is_complete(conversion->heap) &&
                                  origin_is_complete(&conversion->origin);
    TRY(write_last(options, series->trend, watching->output_options, conversion));
    return options_show_trends(options)
               ? write_page(options, series, watching->output_options, conversion, snapshot->now)
               : NULL;
}

/* Returns whether a watched process has grown by the bytes of --until-growth. */
static bool has_grown(const struct options *options, const struct g2h_trend *trend)
{
    return options->until_growth > 0 && g2h_trend_growth(trend) >= (int64_t)options->until_growth;
}

/* Ends the watch with an error. Takes over the error. */
static void end_watch(struct watching *watching, struct g2h_error *error)
{
    pthread_mutex_lock(&watching->lock);
    if (watching->error)
        g2h_error_destroy(error);
    else
        watching->error = error;
    pthread_mutex_unlock(&watching->lock);
    watching->is_over = true;
}

/*
 * Records that a snapshot failed. It is left out, because the process may be short of memory at
 * this moment; but the first one must not fail, nor several in a row. Takes over the error.
 */
static void note_failed(struct watching *watching, struct g2h_error *error, bool is_first,
                        bool counts)
{
    if (is_first || error->code == G2H_ERROR_MEMORY) {
        end_watch(watching, error);
        return;
    }
    message_error(error);
    g2h_error_destroy(error);
    if (counts && ++watching->failed >= MOST_FAILED)
        watching->is_over = true;
}

/* Converts a snapshot, in parallel with the thread that takes them. If it comes after the end of
 * the watch, only the dump is kept, unless the watch was to end with the one before. */
static void convert_snapshot(void *context, void *item)
{
    struct watching *watching = context;
    struct snapshot *snapshot = item;
    const bool is_late = watching->is_over;
    struct g2h_error *error = NULL;
    if (!is_late)
        error = add_snapshot(watching, snapshot);
    else if (!has_grown(watching->options, watching->series->trend))
        error = keep_dump(&watching->series->keep, snapshot->conversion.origin.input);
    if (error) {
        note_failed(watching, error, watching->done == 0, true);
    } else if (!is_late) {
        watching->failed = 0;
        watching->done++;
        if (has_grown(watching->options, watching->series->trend))
            watching->is_over = true;
    }
    snapshot_destroy(snapshot);
}

/* Takes the snapshot of this moment. Returns false if the process has ended. */
static bool take_next(struct watching *watching)
{
    const bool is_alone = beside_is_idle(&watching->beside);
    struct snapshot *snapshot;
    struct g2h_error *error =
        main_take_snapshot(watching->taken > 0 ? &watching->quiet : watching->options, &snapshot);
    if (!error) {
        watching->taken++;
        beside_give(&watching->beside, snapshot);
        return true;
    }
    if (watching->taken > 0 && watch_has_ended(&watching->moments)) {
        g2h_error_destroy(error);
        return false;
    }
    note_failed(watching, error, watching->taken == 0, is_alone);
    return true;
}

/* Returns whether there are as many snapshots as --count asks for. Those that are not converted yet
 * may fail: waits for them if all are needed. */
static bool has_all(struct watching *watching)
{
    const uint64_t count = watching->options->count;
    if (count == 0 || watching->taken < count)
        return false;
    beside_wait(&watching->beside);
    return watching->done >= count;
}

/* Reports which moments were missed. */
static void say_missed(struct watching *watching)
{
    const uint64_t missed = watching->moments.missed, now = missed - watching->said;
    if (now > 0)
        say("go2heapsnapshot: note: %llu snapshot%s missed (%llu so far): those before took longer "
            "than %llu s",
            (unsigned long long)now, now == 1 ? "" : "s", (unsigned long long)missed,
            (unsigned long long)watching->options->watch);
    watching->said = missed;
}

/* Takes snapshots of a process until there are enough, or a signal comes, or the process ends. A
 * snapshot is missed if another one is still waiting to be converted. */
static void take_snapshots(struct watching *watching)
{
    do {
        say_missed(watching);
        if (!beside_has_room(&watching->beside)) {
            watching->moments.missed++;
            say_missed(watching);
        } else if (!take_next(watching)) {
            return;
        }
    } while (!watching->is_over && !has_all(watching) &&
             watch_wait(&watching->moments, &watching->is_over));
}

static struct g2h_error *watch(const struct options *options, struct series *series,
                               const struct g2h_output_options *output_options,
                               struct outcome *outcome)
{
    struct watching watching = {.options = options,
                                .quiet = *options,
                                .series = series,
                                .output_options = output_options,
                                .outcome = outcome,
                                .lock = PTHREAD_MUTEX_INITIALIZER};
    watching.quiet.is_quiet = true;
    watch_begin(options->pid, options->watch, &watching.moments);
    const int number = beside_begin(convert_snapshot, &watching, &watching.beside);
    if (number != 0)
        return error_system(number, "cannot start a thread");
    take_snapshots(&watching);
    beside_end(&watching.beside);
    if (watching.error)
        return watching.error;
    if (watching.failed >= MOST_FAILED) {
        say("go2heapsnapshot: %d snapshots in a row have failed, which ends the watch",
            MOST_FAILED);
        outcome->is_failed = true;
    }
    if (watch_has_ended(&watching.moments))
        say("go2heapsnapshot: note: process %llu has ended, or runs another program",
            (unsigned long long)options->pid);
    return NULL;
}

/* Writes the trend of the heaps of all dumps, or of a watched process. */
static struct g2h_error *report_trend(const struct options *options, struct series *series,
                                      struct outputs *outputs, struct outcome *outcome)
{
    const struct g2h_report_options report = {.size = sizeof(report),
                                              .json = options->json,
                                              .color = terminal_has_color(options),
                                              .columns = terminal_columns(options)};
    struct g2h_output_options output_options = {.size = sizeof(output_options),
                                                .fd = outputs->list[0].fd,
                                                .name = outputs->name,
                                                .gzip = options->gzip,
                                                .threads = options->threads,
                                                .report = &report};
    TRY(g2h_trend_create(&series->trend));
    if (options->watch > 0)
        TRY(watch(options, series, &output_options, outcome));
    for (size_t i = 0; i < options->input_count; i++)
        TRY(make_base(options, options->inputs[i], NULL, series, outcome));
    progress_clear();
    if (options_show_trends(options)) { /* the output has the page */
        output_options.fd = STDERR_FILENO;
        output_options.name = "standard error";
        output_options.gzip = false;
    }
    TRY(g2h_write_trend(series->trend, &output_options, &outcome->steady));
    const struct target_read read = {.bases = series->base_files.data,
                                     .base_count = series->base_files.count};
    return outputs_complete(outputs, &read);
}

/* Does the same in the file of the command line. */
static struct g2h_error *report_trend_to(const struct options *options,
                                         const struct main_sources *sources, struct series *series,
                                         struct outcome *outcome)
{
    struct outputs outputs = {.count = 0};
    struct g2h_error *error =
        outputs_open(options, options->output, sources->list, sources->count, &outputs);
    if (!error && options->keep)
        error = keep_begin(options->keep, sources->list, sources->count, options->threads,
                           options->largest_array, &series->keep);
    if (!error)
        error = report_trend(options, series, &outputs, outcome);
    struct g2h_error *failed = keep_last(&series->keep);
    if (error && failed)
        g2h_error_destroy(failed);
    outputs_deinit(&outputs);
    return error ? error : failed;
}

/* Begins to answer a client, which gets the list of tools while the heap is being read. */
static struct g2h_error *begin_mcp(const struct options *options, struct series *series)
{
    const struct mcp_settings settings = {.has_base = options->base != NULL,
                                          .has_values = options->values};
    if (isatty(STDIN_FILENO))
        say("go2heapsnapshot: note: waits for a client of the Model Context Protocol on standard "
            "input");
    return mcp_begin(&settings, STDIN_FILENO, STDOUT_FILENO, &series->mcp);
}

/* Converts the dumps of the command line one after the other; those of a series go to a directory.
 * Dumps that the output is compared with come first: the base, and if a page shows trends, all
 * dumps but the last one. */
static struct g2h_error *convert_all(const struct options *options,
                                     const struct main_sources *sources, struct outcome *outcome)
{
    _cleanup_(series_deinit) struct series series = {.identity = NULL};
    _cleanup_(series_paths_deinit) struct series_paths paths = {.list = NULL};
    const bool shows_trends = options_show_trends(options);
    TRY(open_redaction(options, &series));
    if (options_report_trend(options))
        return report_trend_to(options, sources, &series, outcome);
    if (options->mcp)
        TRY(begin_mcp(options, &series));
    if (options->input_count > 1 && !options->append && !shows_trends) {
        TRY(series_make_paths(options, &paths));
        TRY(g2h_identity_create(options->threads, &series.identity));
    }
    if (options->base)
        TRY(make_base(options, options->base, options->base_exe, &series, outcome));
    if (options->pid != 0)
        return convert(options, NULL, options->output, sources, &series, outcome);
    for (size_t i = 0; i < options->input_count; i++)
        TRY(shows_trends && i + 1 < options->input_count
                ? make_base(options, options->inputs[i], NULL, &series, outcome)
                : convert(options, options->inputs[i], paths.list ? paths.list[i] : options->output,
                          sources, &series, outcome));
    return NULL;
}

/* ---- DevTools ---- */

static void main_say_line(const char *line)
{
    say("go2heapsnapshot: %s", line);
}

/* Describes the target: *ret_path is its file, or empty; the title is its name, and the number of
 * the process. */
static struct g2h_error *name_inspected(const struct options *options, struct text *title,
                                        struct text *path)
{
    char target[4096];
    ssize_t size = 0;
    if (options->pid != 0)
        size = readlink(procfs_path(options->pid, "exe").text, target, sizeof(target));
    if (size > 0)
        text_append(path, target, (size_t)size);
    else if (options->exe || options->input_count > 0)
        text_printf(path, "%.250s", options->exe ? options->exe : options->inputs[0]);
    text_append(path, "", 1);
    TRY_MEMORY(!path->failed);
    const char *slash = strrchr(path->data, '/');
    const char *name = options->command && !options->exe ? options->command
                       : slash                           ? slash + 1
                                                         : path->data;
    text_printf(title, "%.200s", name);
    if (options->pid != 0)
        text_printf(title, " (pid %llu)", (unsigned long long)options->pid);
    text_append(title, "", 1);
    TRY_MEMORY(!title->failed);
    return NULL;
}

/* Serves DevTools. */
static struct g2h_error *inspect(const struct options *options)
{
    _cleanup_(text_deinit) struct text title = {0}, path = {0};
    struct series series = {.identity = NULL};
    char process[64];
    struct stat owner;
    TRY(open_redaction(options, &series));
    TRY(name_inspected(options, &title, &path));
    snprintf(process, sizeof(process), "/proc/%llu", (unsigned long long)options->pid);
    const bool has_owner = options->pid != 0 && stat(process, &owner) == 0;
    struct inspect_options of = {
        .session = {.taken = {.exe = options->exe,
                              .command = options->command,
                              .pid = options->pid,
                              .threads = options->threads,
                              .forks = options->fork,
                              .collapses = options->fork_huge,
                              .untyped_ok = options->untyped_ok,
                              .no_stacks = options->no_stacks,
                              .full_names = options->full_names,
                              .garbage = options->garbage,
                              .max_nodes = view_nodes(options),
                              .redaction = series.redaction},
                    .inputs = options->inputs,
                    .input_count = options->input_count,
                    .title = title.data,
                    .path = path.data,
                    .directory = options->source,
                    .no_contexts = options->no_contexts,
                    .say = main_say_line},
        .server = {.program = "go2heapsnapshot " G2H_VERSION,
                   .name = title.data,
                   .owner = has_owner ? owner.st_uid : (uid_t)-1},
    };
    server_parse(options->inspect_at, &of.address);
    struct g2h_error *error = inspect_run(&of);
    series_deinit(&series);
    return error;
}

/* Returns the exit status for the outcome of a conversion. Prints and frees the error. */
static int end_with(struct g2h_error *error, const struct outcome *outcome)
{
    if (error)
        message_error(error);
    if (error && error->code == G2H_ERROR_NOT_EXE && outcome->is_base)
        message_no_base_exe();
    else if (error && error->code == G2H_ERROR_NOT_EXE && !outcome->is_process)
        message_no_exe();
    g2h_error_destroy(error);
    return error || outcome->is_failed ? EXIT_FAILED
           : !outcome->complete        ? EXIT_DAMAGED
           : outcome->steady > 0       ? EXIT_GREW
                                       : EXIT_FINE;
}

/* ---- --at-death ---- */

/* What is written for each process that --at-death has copied. */
struct at_death_asked {
    const struct options *options;
    const struct main_sources *sources;
};

/* A function for at_death_run(). */
static int write_death(void *context, struct death *death, uint64_t pid, const char *path)
{
    const struct at_death_asked *asked = context;
    struct options options = *asked->options;
    struct outcome outcome = {.complete = true};
    options.pid = pid;
    options.death = death;
    options.output = path;
    options.again = (struct text){0}; /* no more questions can be asked about it */
    return end_with(convert_all(&options, asked->sources, &outcome), &outcome);
}

/* Watches a process, and writes its heap when it is killed. Returns the exit status. */
static int watch_guarded(const struct options *options, const struct main_sources *sources)
{
    struct options watched = *options, ended = *options;
    struct at_death_asked asked = {&ended, sources};
    struct guard guard;
    struct outcome outcome = {.complete = true};
    int status = EXIT_FAILED;
    watched.guard = &guard;
    ended.output = options->keep;
    ended.keep = NULL;
    ended.watch = 0;
    ended.is_dump = ended.gzip = true;
    if (guard_begin(&ended, write_death, &asked, &guard)) {
        signals_catch("go2heapsnapshot");
        status = end_with(convert_all(&watched, sources, &outcome), &outcome);
    }
    return guard_end(&guard, status);
}

/* Checks what could make a conversion harmful. Returns false after saying why, with the exit
 * status. */
static bool may_convert(const struct options *options, const struct main_sources *sources,
                        int *ret_status)
{
    *ret_status = EXIT_FAILED;
    if (!options->inspect && !options->format->is_text && terminal_is_output(options)) {
        message_not_for_terminal(options);
        *ret_status = EXIT_USAGE;
        return false;
    }
    if (options->is_default)
        message_default();
    if (!sources->list)
        message_error(&error_no_memory);
    /* A message would be written to the source. */
    return sources->list && !target_is_source(STDERR_FILENO, sources->list, sources->count);
}

int main(int argc, char **argv)
{
    struct options options;
    struct main_sources sources = {NULL, 0};
    struct outcome outcome = {.complete = true};
    int status;
    if (!signals_occupy_descriptors())
        return EXIT_FAILED;
    if (options_parse(argc, argv, &options, &status)) {
        memory_prepare();
        sources = list_sources(&options);
        if (!may_convert(&options, &sources, &status)) {
            /* it has said why */
        } else if (options.at_death && options.watch > 0) {
            status = watch_guarded(&options, &sources);
        } else if (options.at_death) {
            struct at_death_asked asked = {&options, &sources};
            status = at_death_run(&options, write_death, &asked, -1);
        } else {
            signals_catch("go2heapsnapshot");
            status = end_with(options.inspect ? inspect(&options)
                                              : convert_all(&options, &sources, &outcome),
                              &outcome);
        }
    }
    free(sources.list);
    options_deinit(&options);
    return status;
}
