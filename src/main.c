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
#include <stdlib.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/port.h"
#include "cli/at_death.h"
#include "cli/conversion.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/watch.h"
#include "output/sink.h"
#include "process/attach/procfs.h"

/* ---- one dump ---- */

/* Completes the output files. dump (NULL: none) and the bases are what they show: outputs get no
 * wider permissions than these. */
static struct g2h_error *complete(struct outputs *outputs, const struct series *series,
                                  const struct g2h_input *dump)
{
    const struct target_read read = {.dump = dump ? g2h_input_status(dump) : NULL,
                                     .bases = series->base_files.data,
                                     .base_count = series->base_files.count};
    return outputs_complete(outputs, &read);
}

/* Completes the output of a dump, and reports what it lacks. damage says where the dump was
 * damaged, so that its rest is not in the output; NULL: nowhere. It becomes the input's, unless
 * that has one. */
static struct g2h_error *complete_dump(const struct options *options, struct outputs *outputs,
                                       const struct series *series, struct pipeline *conversion,
                                       struct g2h_error *damage)
{
    struct g2h_input *input = conversion->origin.input;
    message_dump_damage(input, damage);
    if (input->damage)
        g2h_error_destroy(damage);
    else
        input->damage = damage;
    TRY(g2h_input_check(input));
    TRY(complete(outputs, series, input));
    if (options->verbose && conversion->origin.is_process)
        message_process_account(&conversion->origin);
    progress_clear();
    return NULL;
}

CLEANUP_POINTER(main_close_sink, struct sink_stream, sink_close);

/* Writes the dump itself. One that is made of a process or a core goes to the output while it is
 * made, without a temporary file; but the copy of a process that has ended had better be on a disk
 * soon. */
static struct g2h_error *convert_dump(const struct options *options, const char *path,
                                      struct series *series, struct outputs *outputs,
                                      struct pipeline *conversion)
{
    progress_set_plan(PROGRESS_NONE);
    const struct g2h_progress *progress = progress_start();
    _cleanup_(output_settings_deinit) struct output_settings settings = {0};
    output_settings_begin(options, series, outputs, progress, &settings);
    _cleanup_(main_close_sink) struct sink_stream *sink = NULL;
    TRY(sink_open(&settings.output, &sink));
    _cleanup_free_ char *directory =
        outputs->list[0].path && !options->gzip ? target_directory_of(&outputs->list[0]) : NULL;
    struct origin_stream stream = {.put = sink_put, .context = sink, .directory = directory};
    const bool streams = !options->death;
    TRY(conversion_capture(options, path, progress, streams ? &stream : NULL, conversion));
    struct g2h_error *error = stream.has_begun
                                  ? sink_finish(sink)
                                  : g2h_write_dump(conversion->origin.input, &settings.output);
    if (error && error->code != G2H_ERROR_DAMAGED)
        return error;
    return complete_dump(options, outputs, series, conversion, error);
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

/* Writes the view. Text for people on a terminal is collected first: then the progress line is gone
 * before it, and a pager gets all of it. */
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

/* Tells the user about an output that is complete: notes about the file, with -v the account, then
 * the sampling, the survivors of a series, and as the last line what is typed. disk_faults are
 * those before the conversion. */
static void message_converted(const struct options *options, const struct series *series,
                              const struct outputs *outputs, const struct pipeline *conversion,
                              const struct output_settings *settings, uint64_t disk_faults)
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
    if (options->verbose)
        message_disk_faults(disk_faults);
    if ((options->format->takes & G2H_TAKES_RATE) != 0)
        message_sampling(options, input, conversion->heap);
    if (series->heap)
        message_survivors(input, series->input, series->identity, conversion->graph,
                          conversion->view);
    if (conversion->origin.exe)
        message_typed(input, conversion->heap, conversion->origin.exe, conversion->graph);
    progress_clear();
}

/* Returns which steps a conversion has, for its progress. In enum progress_plan, each plan without
 * types follows the one with types. */
static enum progress_plan plan_of(const struct options *options)
{
    const struct g2h_format *format = options->format;
    const bool is_untyped = !options->exe && options->pid == 0;
    enum progress_plan plan = PROGRESS_FILE;
    if (format->is_text)
        plan = PROGRESS_REPORT;
    else if (format->is_file)
        plan = PROGRESS_DATABASE;
    else if (format->needs != 0)
        plan = PROGRESS_PAGE;
    return is_untyped ? plan + 1 : plan;
}

/* Converts the source to the output, step by step: loads the dump or process, with warnings of what
 * it lacks; matches it with the dump before it in a series, or with the base; builds the graph and
 * the view; and writes the view in the format, or answers questions about it (--mcp). At last
 * checks that no input has changed meanwhile, completes the files, and says what was made. */
static struct g2h_error *convert_steps(const struct options *options, const char *path,
                                       struct series *series, struct outputs *outputs,
                                       struct pipeline *conversion)
{
    const uint64_t disk_faults = port_disk_faults();
    progress_set_plan(plan_of(options));
    const struct g2h_progress *progress = progress_start();
    const struct conversion_context context = {outputs, progress};
    const struct pipeline_options steps = conversion_options(options, series, &context);
    _cleanup_(output_settings_deinit) struct output_settings settings = {0};
    output_settings_begin(options, series, outputs, progress, &settings);
    TRY(conversion_load(options, path, progress, conversion));
    TRY(output_settings_add_dump(options, series, conversion, &settings));
    message_warnings(&conversion->origin, conversion->heap);
    if (options->base && series->bases.count > 0) {
        const struct collections of_dump = pipeline_collections(conversion);
        message_base_order(options->base, conversion->origin.input, &series->of_base, &of_dump,
                           options->base_exe != NULL);
    }
    if (series->identity)
        TRY(g2h_identity_check(series->identity, conversion->heap));
    TRY(conversion_match(options, series, &steps, conversion));
    if (options->base_exe)
        settings.report.is_base_other = series->base_build != pipeline_executable_hash(conversion);
    if (!conversion->origin.exe && !options->exe && !series->heap)
        message_untyped_hint(options, conversion->origin.input);
    TRY(conversion_build(options, series, &steps, conversion));
    message_size(options, conversion->origin.input, conversion->graph, conversion->view);
    if (series->mcp)
        return answer_questions(options, series, conversion, &settings.output);
    TRY(write_view(options, conversion->view, &settings.output));
    TRY(conversion_check_inputs(series, conversion));
    TRY(complete(outputs, series, conversion->origin.input));
    message_converted(options, series, outputs, conversion, &settings, disk_faults);
    return NULL;
}

/* The files that must not be overwritten; list is NULL if memory ran out. */
struct main_sources {
    struct target_source *list;
    size_t count;
};

/* Adds a file that the output must not overwrite; path NULL: none. */
static void add_source(struct main_sources *sources, const char *path, const char *what)
{
    sources->list[sources->count++] = (struct target_source){path, what};
}

/* Lists all files that are read, which the output must not overwrite: the inputs and four others.
 * list is NULL if memory runs out. */
static struct main_sources list_sources(const struct options *options)
{
    struct main_sources sources = {malloc((options->input_count + 4) * sizeof(*sources.list)), 0};
    for (size_t i = 0; sources.list && i < options->input_count; i++)
        add_source(&sources, options->inputs[i], "dump");
    if (sources.list) {
        add_source(&sources, options->exe, "executable");
        add_source(&sources, options->redact_key, "key");
        add_source(&sources, options->base, "dump");
        add_source(&sources, options->base_exe, "executable");
    }
    return sources;
}

/* Converts a dump to a path, or to standard output if path is NULL. If that fails and an input was
 * changed meanwhile, the change is the error. Also notes in outcome whether the dump was a process,
 * and whether all of it was there. */
static struct g2h_error *convert(const struct options *options, const char *dump, const char *path,
                                 const struct main_sources *sources, struct series *series,
                                 struct outcome *outcome)
{
    struct outputs outputs = {.count = 0};
    struct pipeline conversion = {0};
    struct g2h_error *error = outputs_open(options, path, sources->list, sources->count, &outputs);
    if (!error && options->is_dump)
        error = convert_dump(options, dump, series, &outputs, &conversion);
    else if (!error)
        error = convert_steps(options, dump, series, &outputs, &conversion);
    struct g2h_error *changed =
        error && conversion.origin.input ? conversion_check_inputs(series, &conversion) : NULL;
    if (changed) {
        g2h_error_destroy(error);
        error = changed;
    }
    outcome->is_process = conversion.origin.is_process;
    outcome->complete = outcome->complete && (error || conversion_is_whole(&conversion));
    if (!error && series->identity)
        series_keep(series, &conversion);
    outputs_deinit(&outputs);
    series_end(series, &conversion);
    return error;
}

/* ---- several dumps ---- */

/* Keeps what a trend needs of a view, if one is made, or else what a base needs: names and numbers,
 * the time and status of its dump, and its collections. */
static struct g2h_error *keep_base(const struct options *options, struct series *series,
                                   const struct pipeline *conversion)
{
    struct g2h_base *base;
    if (series->trend)
        return g2h_trend_add(series->trend, conversion->view, conversion->origin.input->name,
                             pipeline_written_at(conversion->origin.input), options->threads);
    TRY_MEMORY(vector_grow(&series->bases, 1) && vector_grow(&series->base_files, 1) &&
               vector_push(&series->times, pipeline_written_at(conversion->origin.input)));
    TRY(g2h_base_create(conversion->view, conversion->origin.input->name, options->threads, &base));
    series->bases.data[series->bases.count++] = base;
    series->of_base = pipeline_collections(conversion);
    series->base_files.data[series->base_files.count++] =
        *g2h_input_status(conversion->origin.input);
    return NULL;
}

/* Takes the steps from a dump to the names and numbers that a comparison needs. */
static struct g2h_error *make_base_steps(const struct options *options, const char *dump,
                                         struct series *series, struct pipeline *conversion)
{
    static const struct outputs none = {.name = "standard output"};
    const struct conversion_context context = {&none, progress_start()};
    const struct pipeline_options steps = conversion_options(options, series, &context);
    TRY(conversion_load(options, dump, context.progress, conversion));
    message_warnings(&conversion->origin, conversion->heap);
    TRY(conversion_match(options, series, &steps, conversion));
    TRY(conversion_build(options, series, &steps, conversion));
    TRY(keep_base(options, series, conversion));
    return conversion_check_inputs(series, conversion);
}

/* Makes a base from a dump, with which a heap is compared. Only its names and numbers are kept. exe
 * is the executable that wrote the dump, if it is another one; may be NULL. */
static struct g2h_error *make_base(const struct options *options, const char *dump, const char *exe,
                                   struct series *series, struct outcome *outcome)
{
    struct options of_base = *options;
    struct pipeline conversion = {.heap = NULL};
    const struct procfs_path own = procfs_path(options->pid, "exe");
    if (options->pid != 0 && !options->exe)
        of_base.exe = own.text; /* the executable of the process that is compared with the base */
    if (exe)
        of_base.exe = exe;
    of_base.pid = 0;
    struct g2h_error *error = make_base_steps(&of_base, dump, series, &conversion);
    outcome->is_base = error && error->code == G2H_ERROR_NOT_EXE && options->base;
    outcome->complete = outcome->complete && conversion_is_whole(&conversion);
    if (exe)
        series->base_build = pipeline_executable_hash(&conversion);
    series_end(series, &conversion);
    return error;
}

/* ---- trends ---- */

/* Writes the trend of the heaps of all dumps, or of a watched process. */
static struct g2h_error *report_trend(const struct options *options, struct series *series,
                                      struct outputs *outputs, struct outcome *outcome)
{
    const struct g2h_report_options report = {.size = sizeof(report),
                                              .json = options->json,
                                              .color = terminal_has_color(options),
                                              .columns = terminal_columns(options),
                                              .is_for_terminal = terminal_is_output(options)};
    struct g2h_output_options output_options = {.size = sizeof(output_options),
                                                .fd = outputs->list[0].fd,
                                                .name = outputs->name,
                                                .gzip = options->gzip,
                                                .threads = options->threads,
                                                .report = &report};
    TRY(g2h_trend_create(&series->trend));
    if (options->watch > 0)
        TRY(watch_process(options, series, &output_options, outcome));
    for (size_t i = 0; i < options->input_count; i++) {
        g2h_trend_expect_more(series->trend, i + 1 < options->input_count);
        TRY(make_base(options, options->inputs[i], NULL, series, outcome));
    }
    progress_clear();
    if (options_show_trends(options)) { /* the output has the page */
        output_options.fd = STDERR_FILENO;
        output_options.name = "standard error";
        output_options.gzip = false;
    }
    TRY(g2h_write_trend(series->trend, &output_options, &outcome->steady));
    return complete(outputs, series, NULL);
}

/* Does what report_trend() does, in the file of the command line, and keeps the dumps if that is
 * asked for. The first error counts. */
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

/* ---- all dumps ---- */

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
    TRY(series_open_redaction(options, &series));
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
    for (size_t i = 0; i < options->input_count; i++) {
        const char *output = paths.list ? paths.list[i] : options->output;
        if (shows_trends && i + 1 < options->input_count)
            TRY(make_base(options, options->inputs[i], NULL, &series, outcome));
        else
            TRY(convert(options, options->inputs[i], output, sources, &series, outcome));
    }
    return NULL;
}

/* Returns the exit status for the outcome of a conversion: failed, damaged (a part is missing), a
 * trend has grown, or fine. Prints the error and what may help against it, and frees it. */
static int end_with(struct g2h_error *error, const struct outcome *outcome)
{
    if (error)
        message_error(error);
    if (error && error->code == G2H_ERROR_MEMORY)
        message_memory();
    if (error && error->code == G2H_ERROR_NOT_EXE && outcome->is_base)
        message_no_base_exe();
    else if (error && error->code == G2H_ERROR_NOT_EXE && !outcome->is_process)
        message_no_exe();
    g2h_error_destroy(error);
    if (error || outcome->is_failed)
        return EXIT_FAILED;
    if (!outcome->complete)
        return EXIT_DAMAGED;
    return outcome->steady > 0 ? EXIT_GREW : EXIT_FINE;
}

/* ---- --at-death ---- */

/* How the copy of each process that --at-death has copied is converted. */
struct death_conversion {
    const struct options *options;
    const struct main_sources *sources;
};

/* Converts the copy of a process that has died, or is asked for, to a file: a function for
 * at_death_run(). Returns the exit status. */
static int write_death(void *context, struct death *death, uint64_t pid, const char *path)
{
    const struct death_conversion *conversion = context;
    struct options options = *conversion->options;
    struct outcome outcome = {.complete = true};
    options.pid = pid;
    options.death = death;
    options.aged = death->ages;
    options.output = path;
    options.again = (struct text){0}; /* no more questions can be asked about it */
    return end_with(convert_all(&options, conversion->sources, &outcome), &outcome);
}

/* Does --watch with --at-death: converts a process at intervals (watched), while a child, the guard
 * (cli/guard.c), waits for its end and then writes its heap as a compressed dump into the directory
 * of --keep (ended, write_death()). Returns EXIT_FAILED if the guard cannot be started, else the
 * exit status of both (guard_end()). */
static int watch_guarded(const struct options *options, const struct main_sources *sources)
{
    struct options watched = *options;
    struct options ended = *options;
    struct death_conversion conversion = {&ended, sources};
    struct guard guard;
    struct outcome outcome = {.complete = true};
    int status = EXIT_FAILED;
    watched.guard = &guard;
    ended.output = options->keep;
    ended.keep = NULL;
    ended.watch = 0;
    ended.is_dump = ended.gzip = true;
    if (guard_begin(&ended, write_death, &conversion, &guard)) {
        signals_catch("go2heapsnapshot");
        status = end_with(convert_all(&watched, sources, &outcome), &outcome);
    }
    return guard_end(&guard, status);
}

/* Refuses to write a file to a terminal, or messages to one of the inputs (as standard error).
 * Returns false after saying why, with the exit status. */
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
    if (options->is_piped)
        message_piped();
    if (!sources->list)
        message_error(&error_no_memory);
    /* A message would be written to the source. */
    return sources->list && !target_is_source(STDERR_FILENO, sources->list, sources->count);
}

/* Reads the options and does the one of four things that they ask for: to watch with a guard
 * process, to wait for a death, to serve DevTools, or to convert. */
int main(int argc, char **argv)
{
    struct options options;
    struct main_sources sources = {NULL, 0};
    struct outcome outcome = {.complete = true};
    int status; /* options_parse() sets it if there is nothing to convert */
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
            struct death_conversion conversion = {&options, &sources};
            status = at_death_run(&options, write_death, &conversion, -1);
        } else {
            signals_catch("go2heapsnapshot");
            status = end_with(options.inspect ? devtools_serve(&options)
                                              : convert_all(&options, &sources, &outcome),
                              &outcome);
        }
    }
    free(sources.list);
    options_deinit(&options);
    return status;
}
