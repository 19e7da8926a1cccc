/* pipeline; see pipeline.h. */
#include "library/pipeline.h"

#include <sys/stat.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/match.h>
#include <go2heapsnapshot/typing.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/scope.h"
#include "input/input.h"

struct g2h_error *pipeline_load(struct pipeline *pipeline, unsigned threads,
                                const struct g2h_progress *progress)
{
    struct g2h_input *input = pipeline->origin.input;
    const struct g2h_heap_options options = {threads, progress, 0};
    struct g2h_error *error = g2h_heap_load(input, &options, &pipeline->heap);
    if (error && input->damage) { /* the damage explains the error */
        g2h_error_destroy(error);
        error = input->damage;
        input->damage = NULL;
    }
    /* A dump of a live process says what RSS was. */
    const struct g2h_memory *memory = error ? NULL : g2h_heap_memory(pipeline->heap);
    if (memory && pipeline->origin.memory.resident == 0)
        pipeline->origin.memory = *memory; /* it has no lists, so there is nothing to free */
    return error;
}

/* Loads the heap again if only the executable says which release of Go wrote the dump: the ends of
 * spans depend on it. */
static struct g2h_error *load_by_release(struct pipeline *pipeline, unsigned threads)
{
    enum { DUMPS_HAVE_VERSIONS = 17 };
    bool is_guess;
    const int release = g2h_exe_release(pipeline->origin.exe, &is_guess);
    const struct g2h_heap_options options = {threads, NULL, release};
    if (!g2h_heap_lacks_release(pipeline->heap) || release < DUMPS_HAVE_VERSIONS)
        return NULL;
    g2h_heap_destroy(pipeline->heap);
    pipeline->heap = NULL;
    return g2h_heap_load(pipeline->origin.input, &options, &pipeline->heap);
}

static struct g2h_error *open_and_match(struct pipeline *pipeline,
                                        const struct pipeline_options *options)
{
    struct g2h_exe **exe = &pipeline->origin.exe;
    if (!*exe)
        TRY(g2h_exe_open(options->exe, exe));
    if (options->opened)
        TRY(options->opened(options->context, *exe));
    TRY(load_by_release(pipeline, options->threads));
    return g2h_exe_match(*exe, pipeline->heap);
}

struct g2h_error *pipeline_match(struct pipeline *pipeline, const struct pipeline_options *options)
{
    assert(pipeline->heap && !pipeline->graph);
    if (!options->exe && !pipeline->origin.exe)
        return NULL;
    struct g2h_error *error = open_and_match(pipeline, options);
    if (!error || error->code != G2H_ERROR_NOT_EXE || !options->untyped_ok)
        return error;
    if (options->untyped)
        options->untyped(options->context, error);
    g2h_error_destroy(error);
    g2h_exe_close(pipeline->origin.exe);
    pipeline->origin.exe = NULL;
    return NULL;
}

static void begin_phase(const struct pipeline_options *options, const char *phase)
{
    if (options->phase)
        options->phase(options->context, phase);
}

struct g2h_error *pipeline_graph(struct pipeline *pipeline, const struct pipeline_options *options)
{
    assert(pipeline->heap && !pipeline->graph); /* after load and match */
    const struct g2h_exe *exe = pipeline->origin.exe;
    const struct g2h_typing_options typing = {options->threads, options->redaction};
    begin_phase(options, "types");
    if (exe)
        TRY(g2h_typing_create(pipeline->heap, exe, &typing, &pipeline->typing));
    const struct g2h_graph_options graph = {.exe = exe,
                                            .typing = pipeline->typing,
                                            .threads = options->threads,
                                            .redaction = options->redaction,
                                            .memory = &pipeline->origin.memory,
                                            .no_stacks = options->no_stacks,
                                            .full_names = options->full_names,
                                            .no_dominators = options->no_dominators};
    begin_phase(options, "graph");
    return g2h_graph_build(pipeline->heap, &graph, &pipeline->graph);
}

struct g2h_error *pipeline_view(struct pipeline *pipeline, const struct g2h_view_options *options)
{
    assert(pipeline->graph && !pipeline->view);
    return g2h_view_create(pipeline->graph, options, &pipeline->view);
}

struct collections pipeline_collections(const struct pipeline *pipeline)
{
    const struct g2h_memstats *stats = g2h_heap_memstats(pipeline->heap);
    return stats ? (struct collections){stats->numbers[G2H_MEMSTATS_NUM_GC],
                                        stats->numbers[G2H_MEMSTATS_LAST_GC]}
                 : (struct collections){0};
}

int64_t pipeline_written_at(const struct g2h_input *input)
{
    const struct stat *status = g2h_input_status(input);
    return status && S_ISREG(status->st_mode)
               ? (int64_t)status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000
               : 0;
}

uint64_t pipeline_executable_hash(const struct pipeline *pipeline)
{
    const struct g2h_input *input =
        pipeline->origin.exe ? g2h_exe_input(pipeline->origin.exe, 0) : NULL;
    return input ? map_hash_text(input->data, (size_t)input->size) : 0;
}

void pipeline_deinit(struct pipeline *pipeline)
{
    g2h_view_destroy(pipeline->view);
    g2h_graph_destroy(pipeline->graph);
    g2h_typing_destroy(pipeline->typing);
    g2h_exe_close(pipeline->origin.exe);
    g2h_heap_destroy(pipeline->heap);
    g2h_input_close(pipeline->origin.input);
    origin_deinit(&pipeline->origin);
    *pipeline = (struct pipeline){0};
}
