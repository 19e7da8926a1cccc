/*
 * go2heapsnapshot: a Go heap dump in, a heap snapshot for Chrome DevTools out.
 *
 *   input   the dump's bytes, mapped
 *   heap    its records; objects by address
 *   exe     the executable that wrote it, if it is given: its types and names
 *   graph   nodes and edges
 *   output  the snapshot's text
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <go2heapsnapshot/go2heapsnapshot.h>

#include "cli/messages.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/target.h"

/* A mapped file that becomes shorter while it is read. */
static void on_bus_error(int signal)
{
    static const char message[] =
        "go2heapsnapshot: the dump's file became shorter while it was read\n";
    (void)signal;
    target_remove_unfinished();
    if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
        _exit(EXIT_FAILED);
    _exit(EXIT_FAILED);
}

static void on_interrupt(int number)
{
    target_remove_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

/* What the caller wants ignored, as nohup does, stays so. */
static void catch_interrupt(int number)
{
    if (signal(number, on_interrupt) == SIG_IGN)
        signal(number, SIG_IGN);
}

/* What has been made so far. */
struct conversion {
    struct g2h_input *input;
    struct g2h_heap *heap;
    struct g2h_exe *exe; /* NULL: none, or it does not fit */
    struct g2h_graph *graph;
};

/* An executable that is none, or another one, is an error, unless the caller is content without
 * types. */
static struct g2h_error *open_exe(const struct options *options, struct conversion *conversion)
{
    if (!options->exe)
        return NULL;
    struct g2h_error *error = g2h_exe_open(options->exe, &conversion->exe);
    if (!error)
        error = g2h_exe_match(conversion->exe, conversion->heap);
    if (!error) {
        message_missing_in_exe(conversion->exe);
        return NULL;
    }
    if (error->code != G2H_ERROR_NOT_EXE || !options->untyped_ok)
        return error;
    message_untyped(error);
    g2h_error_destroy(error);
    g2h_exe_close(conversion->exe);
    conversion->exe = NULL;
    return NULL;
}

/* The rooms, one after the other. */
static struct g2h_error *convert(const struct options *options, struct target *target,
                                 struct conversion *conversion)
{
    const struct g2h_progress *progress = progress_start();
    const struct g2h_heap_options heap_options = {options->threads, progress};
    const struct g2h_output_options output_options = {target->fd, target->name, options->gzip,
                                                      options->threads, progress};

    struct g2h_error *error = g2h_input_open(options->input, progress, &conversion->input);
    if (!error)
        error = g2h_heap_load(conversion->input, &heap_options, &conversion->heap);
    if (error && conversion->input && conversion->input->damage) { /* it explains the other */
        g2h_error_destroy(error);
        error = conversion->input->damage;
        conversion->input->damage = NULL;
    }
    if (error)
        return error;
    message_warnings(conversion->input, conversion->heap);
    error = open_exe(options, conversion);
    const struct g2h_graph_options graph_options = {.exe = conversion->exe,
                                                    .threads = options->threads,
                                                    .redact = options->redact,
                                                    .reachable = options->reachable,
                                                    .max_nodes = options->max_nodes};
    if (!error)
        error = g2h_graph_build(conversion->heap, &graph_options, &conversion->graph);
    if (!error)
        message_size(conversion->input, conversion->heap, conversion->graph, &graph_options);
    if (!error)
        error = g2h_write_heapsnapshot(conversion->graph, &output_options);
    if (!error)
        error = target_complete(target);
    if (!error && target->is_named)
        message_name(target->name, options->gzip);
    if (!error && options->verbose)
        message_account(conversion->input, conversion->heap, conversion->exe, conversion->graph);
    if (!error && conversion->exe)
        message_typed(conversion->input, conversion->heap, conversion->exe, conversion->graph);
    progress_clear();
    return error;
}

/* Large arrays grow in place, and go back to the system when they are freed. */
static void give_back_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

int main(int argc, char **argv)
{
    struct options options;
    struct target target = {0};
    struct conversion conversion = {0};
    int status;

    if (!options_parse(argc, argv, &options, &status))
        return status;
    give_back_memory();
    if (!options.output && isatty(STDOUT_FILENO)) {
        say("go2heapsnapshot: a snapshot is no text for a terminal; write it to a file:");
        say("  go2heapsnapshot %s > app.heapsnapshot", options.input);
        return EXIT_USAGE;
    }
    signal(SIGBUS, on_bus_error);
    catch_interrupt(SIGINT);
    catch_interrupt(SIGTERM);
    catch_interrupt(SIGHUP);
    catch_interrupt(SIGQUIT);
    signal(SIGXFSZ, SIG_IGN); /* then writing fails with a message */

    struct g2h_error *error = target_open(options.output, options.input, &target);
    if (!error)
        error = convert(&options, &target, &conversion);
    if (error)
        message_error(error);
    status = error ? EXIT_FAILED : g2h_heap_is_complete(conversion.heap) ? EXIT_FINE : EXIT_DAMAGED;

    g2h_error_destroy(error);
    target_deinit(&target);
    g2h_graph_destroy(conversion.graph);
    g2h_exe_close(conversion.exe);
    g2h_heap_destroy(conversion.heap);
    g2h_input_close(conversion.input);
    return status;
}
