/*
 * conversion: the steps of library/pipeline.h as the command line's options select them; see
 * conversion.h. The parts: the key of --redact-key; what a message says of the profile's rate; the
 * series of several dumps, which share an executable and ids; the steps, each with its messages;
 * options for the output; and --inspect.
 */
#include "cli/conversion.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <go2heapsnapshot/go2heapsnapshot.h>
#include <go2heapsnapshot/graph.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/port.h"
#include "base/redaction.h"
#include "cli/at_death.h"
#include "cli/terminal.h"
#include "exe/exe.h"
#include "inspect/inspect.h"
#include "inspect/taken.h"
#include "process/attach/available.h"
#include "process/attach/procfs.h"

/* ==== reads the file of --redact-key ==== */

/* Limits of a file of random bytes: it has at least the bytes of a key, and no more than a
 * deliberately made key. Random bytes hardly ever have fewer different values, even if they are
 * digits. */
enum { KEY_LEAST = G2H_REDACT_KEY, KEY_MOST = 4096, DIFFERENT_LEAST = 8 };

#define HOW_TO "(umask 077; head -c 32 /dev/urandom > FILE) makes a key"

/* Reads a file into data up to one byte more than a key may have: KEY_MOST + 1. *ret is how many
 * bytes were read. */
static struct g2h_error *redact_key_read_all(const char *path, int file, uint8_t *data, size_t *ret)
{
    size_t size = 0;
    for (;;) {
        const ssize_t count = read(file, data + size, KEY_MOST + 1 - size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_system(errno, "%s: cannot read", path);
        size += as_size(count);
        if (count == 0 || size > KEY_MOST)
            break;
    }
    *ret = size;
    return NULL;
}

struct key_file {
    int file;
    uint8_t data[KEY_MOST + 1];
};

static void redact_key_forget(struct key_file *key)
{
    explicit_bzero(key->data, sizeof(key->data));
    if (key->file >= 0)
        close(key->file);
}

/* Returns how many different bytes there are. */
static int count_different(const uint8_t *data, size_t size)
{
    uint8_t seen[256] = {0};
    int count = 0;
    for (size_t i = 0; i < size; i++) {
        count += seen[data[i]] == 0;
        seen[data[i]] = 1;
    }
    return count;
}

/* Refuses a file that everybody can read or write: with the key, anyone could test guesses of
 * strings. */
static struct g2h_error *check_status(const char *path, int file)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return error_system(errno, "%s: cannot read", path);
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        return error_create(G2H_ERROR_SYSTEM, "%s: is not a key file; " HOW_TO, path);
    if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is a key that everyone can read or write; chmod 600 it if "
                            "no one has, or make a new one",
                            path);
    return NULL;
}

/* Returns an error if bytes cannot be a random key: too few, too many, or hardly different ones. */
static struct g2h_error *check_bytes(const char *path, const uint8_t *data, size_t size)
{
    if (size < KEY_LEAST)
        return error_create(
            G2H_ERROR_SYSTEM,
            "%s: is too short for a key: %zu bytes, at least %d are needed; " HOW_TO, path, size,
            KEY_LEAST);
    if (size > KEY_MOST)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is too large for a key, which has at most %d bytes; " HOW_TO, path,
                            KEY_MOST);
    if (count_different(data, size) < DIFFERENT_LEAST)
        return error_create(G2H_ERROR_SYSTEM,
                            "%s: is not a random key: has only %d different bytes; " HOW_TO, path,
                            count_different(data, size));
    return NULL;
}

/*
 * Makes a key from all bytes of a file. The file must not be readable by everybody, and must have
 * at least as many bytes as a key. Error: G2H_ERROR_SYSTEM, whose message explains the problem with
 * the file.
 */
static struct g2h_error *redact_key_read(const char *path, uint8_t ret[G2H_REDACT_KEY])
{
    static const uint8_t no_key[SIPHASH_KEY];
    _cleanup_(redact_key_forget) struct key_file key;
    size_t size = 0;
    key.file = open(path, O_RDONLY | O_CLOEXEC);
    if (key.file < 0)
        return error_system(errno, "%s: cannot open", path);
    TRY(check_status(path, key.file));
    TRY(redact_key_read_all(path, key.file, key.data, &size));
    TRY(check_bytes(path, key.data, size));
    siphash(no_key, key.data, size, ret); /* each byte counts, so the key may be digits, too */
    return NULL;
}

/* ==== messages about a profile of allocations ==== */

/* Sums over LEAST_OBJECTS samples or more are mostly wrong by less than a quarter. If one rate is
 * FAR_OFF times the other, neither that error nor garbage explains the difference. */
enum { LEAST_OBJECTS = 64, FAR_OFF = 8 };

/* Returns where the sampling rate is from, in words: the command line, the process, or a guess and
 * its reason. */
static const char *sampling_reason(const struct options *options, const struct g2h_heap *heap,
                                   const struct g2h_sampling *sampling)
{
    uint64_t known;
    if (options->memprofile_rate > 0)
        return "given";
    if (g2h_heap_memprofile_rate(heap, &known))
        return "the process's own";
    if (sampling->rate == G2H_MEMPROFILE_RATE)
        return "supposed as it is usual";
    return g2h_heap_record_count(heap, G2H_RECORD_ALLOCSAMPLE) >= g2h_heap_object_count(heap) / 2
               ? "supposed as most objects have samples"
               : "supposed as the samples fit it, and are too many for the usual one";
}

/* Says with --verbose by which rate the samples of allocations are scaled. Unless the user or the
 * process gives it, warns if it is guessed by the samples, or if it is FAR_OFF times larger or
 * smaller than what would fit the heap. */
void message_sampling(const struct options *options, const struct g2h_input *input,
                      const struct g2h_heap *heap)
{
    struct g2h_sampling sampling;
    const bool is_given = options->memprofile_rate > 0;
    uint64_t known;
    g2h_sampling(heap, &sampling);
    const uint64_t rate = is_given ? options->memprofile_rate : sampling.rate;
    if (options->verbose)
        say("allocations: %" PRIu64 " sites, %" PRIu64
            " sampled objects in use, scaled by a runtime.MemProfileRate of %" PRIu64
            ", which is %s",
            sampling.sites, sampling.objects, rate, sampling_reason(options, heap, &sampling));
    if (is_given || g2h_heap_memprofile_rate(heap, &known))
        return;
    if (rate != G2H_MEMPROFILE_RATE && rate == sampling.likely_rate && rate != 1)
        say("go2heapsnapshot: warning: %s: is scaled by a runtime.MemProfileRate of %" PRIu64
            ", which the samples fit; they are too many for the usual %d: --memprofile-rate gives "
            "the program's own",
            input->name, rate, G2H_MEMPROFILE_RATE);
    if (sampling.objects < LEAST_OBJECTS || sampling.likely_rate == 0)
        return;
    if (sampling.likely_rate / FAR_OFF >= rate || rate / FAR_OFF >= sampling.likely_rate)
        say("go2heapsnapshot: warning: %s: is scaled by a runtime.MemProfileRate of %" PRIu64
            ", by which it is much %s than the heap; one of about %" PRIu64
            " would fit: --memprofile-rate gives the program's own",
            input->name, rate, rate > sampling.likely_rate ? "more" : "less", sampling.likely_rate);
}

/* ==== the steps ==== */

/* ---- series ---- */

/* Makes the key of --redact, if it is given. */
struct g2h_error *series_open_redaction(const struct options *options, struct series *series)
{
    uint8_t key[G2H_REDACT_KEY];
    if (!options->redact && !options->redact_key)
        return NULL;
    if (options->redact_key)
        TRY(redact_key_read(options->redact_key, key));
    return g2h_redaction_create(options->redact_key ? key : NULL, &series->redaction);
}

/* Keeps the heap and its input, to compare the next dump with it, and frees those of the dump
 * before. */
void series_keep(struct series *series, struct pipeline *conversion)
{
    g2h_heap_destroy(series->heap);
    g2h_input_close(series->input);
    series->heap = conversion->heap;
    series->input = conversion->origin.input;
    conversion->heap = NULL;
    conversion->origin.input = NULL;
}

/* Sets the series that the page of HTML shows: the bases, which are the earlier dumps, and the
 * times of all, in milliseconds since 1970, that of this dump last. Returns false if memory runs
 * out. */
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
    g2h_exe_close(series->exe);
}

/* ---- the executable of a series ---- */

/* Keeps the executable for the next dump, and frees the rest. */
void series_end(struct series *series, struct pipeline *conversion)
{
    if (conversion->origin.exe) {
        g2h_exe_close(series->exe);
        series->exe = take_pointer(conversion->origin.exe);
    }
    pipeline_deinit(conversion);
}

/* Returns whether two statuses are those of one file, which nothing has written to in between. */
static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
           one->st_size == other->st_size && one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
           one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

/*
 * Returns whether the executable of the dump before is also that of this dump: it has the same
 * path, and is still as it was when it was opened. If its path is another file now, as after a new
 * build, the dumps of a series are still of the program that wrote the first one. own is the
 * executable that had to be opened to read a process, which runs that file; NULL: none was.
 */
static bool series_has_exe(struct series *series, const char *path, const struct g2h_exe *own)
{
    struct stat now;
    const struct stat *then = g2h_input_status(g2h_exe_input(series->exe, 0));
    if (!path || strcmp(path, g2h_exe_path(series->exe)) != 0)
        return false;
    struct g2h_error *changed = exe_check_inputs(series->exe);
    g2h_error_destroy(changed);
    if (changed)
        return false;
    if (own)
        return is_same_file(g2h_input_status(g2h_exe_input(own, 0)), then);
    const bool is_same = stat(path, &now) == 0 && is_same_file(&now, then);
    if (!is_same && S_ISREG(then->st_mode) && !series->has_said_replaced) {
        say("go2heapsnapshot: note: %s: was replaced since it was read: types are those of the "
            "file that was read first",
            path);
        series->has_said_replaced = true;
    }
    return true;
}

/* Moves the executable of the dump before from the series to a conversion, in place of the one that
 * was opened to read the process, if any, if series_has_exe() says that this dump has the same.
 * path: that of --exe, which counts if none was opened. */
static void series_lend_exe(struct series *series, const char *path, struct pipeline *conversion)
{
    struct g2h_exe **own = &conversion->origin.exe;
    if (!series->exe || !series_has_exe(series, *own ? g2h_exe_path(*own) : path, *own))
        return;
    g2h_exe_close(*own);
    *own = take_pointer(series->exe);
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

/* Returns the options of the steps. The dominators of the whole graph are left out if neither the
 * format needs them nor the view is folded or limited to what an object holds. */
struct pipeline_options conversion_options(const struct options *options,
                                           const struct series *series,
                                           const struct conversion_context *context)
{
    return (struct pipeline_options){.exe = options->exe,
                                     .threads = options->threads,
                                     .untyped_ok = options->untyped_ok,
                                     .no_stacks = options->no_stacks,
                                     .full_names = options->full_names,
                                     .no_dominators = options->format->needs == 0 &&
                                                      options->max_nodes == 0 && !options->under,
                                     .redaction = series->redaction,
                                     .opened = check_exe,
                                     .untyped = say_untyped,
                                     .phase = begin_phase,
                                     .context = context};
}

/* Returns how many objects the format can have, and what that limit is, for struct needs. If
 * garbage is left out, it is not known yet how many nodes there are. */
static uint64_t most_objects(const struct options *options, const char **ret_beyond)
{
    const bool is_snapshot = options->format->is_for_devtools && options->max_nodes == 0 &&
                             !options_leave_out_garbage(options, true);
    *ret_beyond = is_snapshot ? "that a heap snapshot can have; --max-nodes 10M folds the smallest"
                              : "that can be read; --format dump writes them all the same";
    return is_snapshot ? limits.snapshot_nodes : limits.objects;
}

/* Opens the dump, core or process, or reads the output of the command. Which records are needed
 * depends on the format. */
static struct g2h_error *open_heap(const struct options *options, const char *path,
                                   const struct g2h_progress *progress,
                                   struct origin_stream *stream, struct pipeline *conversion)
{
    struct origin_options origin = {.path = path,
                                    .pid = options->pid,
                                    .exe = options->exe,
                                    .threads = options->threads,
                                    .forks = options->fork,
                                    .collapses = options->fork_huge,
                                    .progress = progress,
                                    .around = options->guard ? guard_around : NULL,
                                    .context = options->guard,
                                    .stream = stream,
                                    .ages = options->aged};
    if (options->watch == 0)
        origin.watch = options->ages;
    if (!options->is_dump) {
        origin.memory = options->format->memory;
        origin.object_memory = options->format->object_memory;
        origin.most_objects = most_objects(options, &origin.beyond);
    }
    origin.sample = options->sample;
    origin.sample_seed = options->sample_seed;
    if (!options->keep) /* which shortens the dumps that it keeps */
        origin.largest_array = options->largest_array;
    if (options->death) {
        origin.copy = &options->death->copy;
        origin.program = &options->death->program;
    }
    return options->command ? command_open(options->command, &origin, &conversion->origin)
                            : origin_open(&origin, &conversion->origin);
}

/* Opens the dump, or makes one of a core or a process. Of a live process, first makes this program
 * the one that the kernel ends if memory runs out. Then reads the heap, and says what is to be
 * known of it. */
struct g2h_error *conversion_capture(const struct options *options, const char *path,
                                     const struct g2h_progress *progress,
                                     struct origin_stream *stream, struct pipeline *conversion)
{
    const bool is_live = options->pid != 0 && !options->death;
    if (is_live)
        origin_end_first();
    TRY(open_heap(options, path, progress, stream, conversion));
    if (options->is_quiet)
        return NULL;
    message_process(&conversion->origin, options->watch == 0);
    if (is_live)
        message_go_command(options->pid);
    return NULL;
}

/* Returns an error if the heap has more objects than the format can have, or if memory is too short
 * for the steps after loading. That is only checked with types: without, they take little more than
 * the loaded heap. */
static struct g2h_error *check_loaded(const struct options *options,
                                      const struct pipeline *conversion)
{
    enum { LOADED = 28 }; /* bytes per object that a loaded heap takes: docs/performance.md */
    const uint64_t objects = g2h_heap_object_count(conversion->heap);
    struct needs needs = {
        .name = conversion->origin.input->name,
        .objects = objects,
        .ways = "convert it where there is more, or without types (no --exe), which takes half"};
    needs.most = most_objects(options, &needs.beyond);
    if (options->exe || conversion->origin.exe)
        needs.memory = objects * (options->format->object_memory - LOADED);
    return needs_check(&needs);
}

/* Opens or makes the dump, and loads the heap. */
struct g2h_error *conversion_load(const struct options *options, const char *path,
                                  const struct g2h_progress *progress, struct pipeline *conversion)
{
    TRY(conversion_capture(options, path, progress, NULL, conversion));
    TRY(pipeline_load(conversion, options->threads, progress));
    return check_loaded(options, conversion);
}

/* Matches the executable, if any, with the heap, and reports what it lacks. */
struct g2h_error *conversion_match(const struct options *options, struct series *series,
                                   const struct pipeline_options *steps,
                                   struct pipeline *conversion)
{
    series_lend_exe(series, options->exe, conversion);
    TRY(pipeline_match(conversion, steps));
    if (conversion->origin.exe && !options->is_quiet)
        message_missing_in_exe(conversion->origin.exe, conversion->heap);
    return NULL;
}

/* Returns the most nodes that the view may have, 0 for any number, so that the snapshot, which has
 * up to G2H_MOST_CONTEXTS nodes more for contexts, does not have more than --max-nodes; unless that
 * is so small that the contexts alone would take it up. */
static uint64_t conversion_view_nodes(const struct options *options)
{
    const bool has_contexts = options->format->is_for_devtools && !options->no_contexts;
    return !has_contexts || options->max_nodes <= G2H_MOST_CONTEXTS
               ? options->max_nodes
               : options->max_nodes - G2H_MOST_CONTEXTS;
}

/* Builds the graph and the view of it, and numbers the graph's nodes as in the dumps before if this
 * is one of a series. */
struct g2h_error *conversion_build(const struct options *options, const struct series *series,
                                   const struct pipeline_options *steps,
                                   struct pipeline *conversion)
{
    const struct g2h_view_options view = {
        .reachable = options_leave_out_garbage(options, g2h_heap_is_complete(conversion->heap)),
        .max_nodes = conversion_view_nodes(options)};
    TRY(pipeline_graph(conversion, steps));
    if (series->identity)
        TRY(g2h_identity_add(series->identity, conversion->graph));
    return pipeline_view(conversion, &view, options->under);
}

/* Checks that no input has changed since it was read. A file that is changed while it is read makes
 * the output wrong: this is the last check of all that were read. */
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

/* Returns whether all of the dump, and of the process that it was made of, was there. */
bool conversion_is_whole(const struct pipeline *conversion)
{
    const struct g2h_input *input = conversion->origin.input;
    return (conversion->heap ? g2h_heap_is_complete(conversion->heap) : !input || !input->damage) &&
           origin_is_complete(&conversion->origin);
}

/* ---- the options of an output ---- */

/* Returns the report's options, by the command line and the terminal. */
static struct g2h_report_options report_options(const struct options *options,
                                                const struct series *series)
{
    const struct g2h_base *base = series->bases.count > 0 ? series->bases.data[0] : NULL;
    return (struct g2h_report_options){.size = sizeof(struct g2h_report_options),
                                       .base = base,
                                       .json = options->json,
                                       .color = terminal_has_color(options),
                                       .columns = terminal_columns(options),
                                       .path_to = options->path_to,
                                       .older = options->older,
                                       .show = options->show,
                                       .by_label = options->by_label,
                                       .is_for_terminal = terminal_is_output(options),
                                       .is_short = terminal_is_output(options) && !options->full,
                                       .top = (unsigned)options->top,
                                       .sections = options->sections,
                                       .command =
                                           options->again.size > 0 ? options->again.data : NULL};
}

/* Fills in the options of all formats, though only one is written. What only the open dump tells
 * follows in output_settings_add_dump(). */
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

/* Makes *ret what formats call the source: the file, or "process 1234 (leakserver)", and a NUL. */
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

/* Returns what a summary records about its origin. The time is when the file was last written to
 * or, of a live process and of standard input, now. */
static struct g2h_summary_options summary_options(const struct options *options,
                                                  const struct g2h_input *input)
{
    const struct stat *status = g2h_input_status(input);
    const bool is_file = status && S_ISREG(status->st_mode);
    const time_t moment = is_file && options->pid == 0 ? status->st_mtime : time(NULL);
    return (struct g2h_summary_options){.size = sizeof(struct g2h_summary_options),
                                        .append_to = options->append ? options->output : NULL,
                                        .dump = status,
                                        .time = moment,
                                        .labels = options->labels,
                                        .label_count = options->label_count};
}

/* Adds the source, the memory, the times of a series for HTML, and the line of --summary if that is
 * wanted. */
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

/* ==== --inspect, by the options of the command line ==== */

static void devtools_say_line(const char *line)
{
    say("go2heapsnapshot: %s", line);
}

/* Describes the target to DevTools: path is its executable or, if that is not known, its first
 * input, or empty; title is the file's name, or the command, with the number of the process. Both
 * end with a NUL. */
static struct g2h_error *name_inspected(const struct options *options, struct text *title,
                                        struct text *path)
{
    char target[4096];
    ssize_t size = 0;
    if (options->pid != 0)
        size = readlink(procfs_path(options->pid, "exe").text, target, sizeof(target));
    if (size > 0)
        text_append(path, target, as_size(size));
    else if (options->exe || options->input_count > 0)
        text_append_string(path, options->exe ? options->exe : options->inputs[0]);
    text_append(path, "", 1);
    TRY_MEMORY(!path->failed);
    const char *slash = strrchr(path->data, '/');
    const char *name = slash ? slash + 1 : path->data;
    text_printf(title, "%.200s", options->command && !options->exe ? options->command : name);
    if (options->pid != 0)
        text_printf(title, " (pid %llu)", (unsigned long long)options->pid);
    text_append(title, "", 1);
    TRY_MEMORY(!title->failed);
    return NULL;
}

/* Serves the heap to DevTools until the session ends. The owner of the process that is inspected,
 * if there is one, may connect, too. */
struct g2h_error *devtools_serve(const struct options *options)
{
    _cleanup_(text_deinit) struct text title = {0}, path = {0};
    struct series series = {.identity = NULL};
    char process[64];
    struct stat owner;
    TRY(series_open_redaction(options, &series));
    TRY(name_inspected(options, &title, &path));
    snprintf(process, sizeof(process), "/proc/%llu", (unsigned long long)options->pid);
    const bool has_owner = options->pid != 0 && stat(process, &owner) == 0;
    struct inspect_options inspect = {
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
                              .max_nodes = conversion_view_nodes(options),
                              .redaction = series.redaction},
                    .inputs = options->inputs,
                    .input_count = options->input_count,
                    .title = title.data,
                    .path = path.data,
                    .directory = options->source,
                    .no_contexts = options->no_contexts,
                    .say = devtools_say_line},
        .server = {.program = "go2heapsnapshot " G2H_VERSION,
                   .name = title.data,
                   .owner = has_owner ? owner.st_uid : (uid_t)-1},
    };
    server_parse(options->inspect_at, &inspect.address); /* take_inspect() has checked it */
    struct g2h_error *error = inspect_run(&inspect);
    series_deinit(&series);
    return error;
}
