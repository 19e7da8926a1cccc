/* conversion; see conversion.h. */
#include "cli/conversion.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "base/scope.h"
#include "cli/at_death.h"
#include "cli/messages.h"
#include "cli/progress.h"
#include "cli/redact_key.h"
#include "cli/terminal.h"
#include "exe/exe.h"
#include "inspect/command.h"
#include "process/attach/procfs.h"

/* ---- series ---- */

struct g2h_error *series_open_redaction(const struct options *options, struct series *series)
{
    uint8_t key[G2H_REDACT_KEY];
    if (!options->redact && !options->redact_key)
        return NULL;
    if (options->redact_key)
        TRY(redact_key_read(options->redact_key, key));
    return g2h_redaction_create(options->redact_key ? key : NULL, &series->redaction);
}

void series_keep(struct series *series, struct pipeline *conversion)
{
    g2h_heap_destroy(series->heap);
    g2h_input_close(series->input);
    series->heap = conversion->heap;
    series->input = conversion->origin.input;
    conversion->heap = NULL;
    conversion->origin.input = NULL;
}

bool series_set_html(struct series *series, int64_t time, struct g2h_html_options *ret)
{
    if (!vector_grow(&series->times, 1))
        return false;
    series->times.data[series->bases.count] = time;
    ret->series = (const struct g2h_base *const *)series->bases.data;
    ret->series_count = series->bases.count;
    ret->times = series->times.data;
    return true;
}

void series_deinit(struct series *series)
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

/* ---- steps ---- */

static struct g2h_error *check_exe(const void *context, const struct g2h_exe *exe)
{
    const struct conversion_context *steps = context;
    return outputs_check(steps->outputs, g2h_exe_input(exe, 1), "executable's debug file");
}

static void say_untyped(const void *context, const struct g2h_error *error)
{
    (void)context;
    message_untyped(error);
}

static void begin_phase(const void *context, const char *phase)
{
    progress_begin(((const struct conversion_context *)context)->progress, phase);
}

struct pipeline_options conversion_options(const struct options *options,
                                           const struct series *series,
                                           const struct conversion_context *context)
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

struct g2h_error *conversion_capture(const struct options *options, const char *path,
                                     const struct g2h_progress *progress,
                                     struct pipeline *conversion)
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

struct g2h_error *conversion_load(const struct options *options, const char *path,
                                  const struct g2h_progress *progress, struct pipeline *conversion)
{
    TRY(conversion_capture(options, path, progress, conversion));
    return options->is_dump ? NULL : pipeline_load(conversion, options->threads, progress);
}

struct g2h_error *conversion_match(const struct options *options,
                                   const struct pipeline_options *steps,
                                   struct pipeline *conversion)
{
    TRY(pipeline_match(conversion, steps));
    if (conversion->origin.exe && !options->is_quiet)
        message_missing_in_exe(conversion->origin.exe, conversion->heap);
    return NULL;
}

uint64_t conversion_view_nodes(const struct options *options)
{
    const bool has_contexts = options->format->is_for_devtools && !options->no_contexts;
    return !has_contexts || options->max_nodes <= G2H_MOST_CONTEXTS
               ? options->max_nodes
               : options->max_nodes - G2H_MOST_CONTEXTS;
}

struct g2h_error *conversion_build(const struct options *options, const struct series *series,
                                   const struct pipeline_options *steps,
                                   struct pipeline *conversion)
{
    const struct g2h_view_options view = {
        options_leave_out_garbage(options, g2h_heap_is_complete(conversion->heap)),
        conversion_view_nodes(options)};
    TRY(pipeline_graph(conversion, steps));
    if (series->identity)
        TRY(g2h_identity_add(series->identity, conversion->graph));
    return pipeline_view(conversion, &view);
}

struct g2h_error *conversion_check_inputs(const struct series *series,
                                          const struct pipeline *conversion)
{
    struct g2h_error *error = g2h_input_check(conversion->origin.input);
    if (!error && series->input)
        error = g2h_input_check(series->input);
    if (!error && conversion->origin.exe)
        error = exe_check_inputs(conversion->origin.exe);
    return error;
}

bool conversion_is_whole(const struct pipeline *conversion)
{
    const struct g2h_input *input = conversion->origin.input;
    return (conversion->heap ? g2h_heap_is_complete(conversion->heap) : !input || !input->damage) &&
           origin_is_complete(&conversion->origin);
}

/* ---- the options of an output ---- */

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
        .by_label = options->by_label,
        .is_for_terminal = terminal_is_output(options),
        .is_short = terminal_is_output(options) && !options->full,
        .top = (unsigned)options->top,
        .sections = options->sections,
        .command = options->again.size > 0 ? options->again.data : NULL};
}

void output_settings_begin(const struct options *options, const struct series *series,
                           const struct outputs *outputs, const struct g2h_progress *progress,
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

struct g2h_error *output_settings_add_dump(const struct options *options, struct series *series,
                                           const struct pipeline *conversion,
                                           struct output_settings *settings)
{
    const struct g2h_input *input = conversion->origin.input;
    TRY(find_source(options, input, &settings->source));
    settings->output.source = settings->source.data;
    settings->output.memory = &conversion->origin.memory;
    TRY_MEMORY(series_set_html(series, pipeline_written_at(input), &settings->html));
    settings->summary = summary_options(options, input);
    if (options->summary)
        settings->output.summary = &settings->summary;
    return NULL;
}

void output_settings_deinit(struct output_settings *settings)
{
    text_deinit(&settings->source);
}
