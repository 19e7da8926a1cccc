/*
 * pipeline: the steps from a source to a view, and a session that takes all of them; see
 * pipeline.h. The first part, build, is the order in which a graph is made: names, roots, what is
 * reached, edges, what several groups hold. The second has the steps load, match, graph and view.
 * The third is g2h_open() for users of the library.
 */
#include "library/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/match.h>
#include <go2heapsnapshot/session.h>
#include <go2heapsnapshot/typing.h>
#include <go2heapsnapshot/version.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/workers.h"
#include "dominators/several.h"
#include "findings/lookup.h"
#include "graph/graph.h"
#include "graph/owners.h"
#include "graph/windows.h"
#include "input/input.h"
#include "naming/namer.h"
#include "typing/paging.h"

/* ==== the order in which a graph is made; each step belongs to one module ==== */

/* Finds the targets of pointers of a heap without types, and collects the names at the same
 * time. */
static struct g2h_error *find_and_name_targets(struct g2h_graph *graph)
{
    struct pointer_listener listener;
    _cleanup_(collection_deinit) struct collection collection;
    graph->targets = &graph->own_targets;
    TRY(collection_init(&collection, &graph->names, graph->threads, &listener));
    TRY(targets_init(&graph->own_targets, graph->heap, graph->threads, &listener));
    return collection_finish(&collection);
}

/* Finds the targets of pointers. With types these are known already, and only the types' names are
 * added; collect_names() names the pointers later. */
static struct g2h_error *find_targets(struct g2h_graph *graph, const struct g2h_typing *typing)
{
    if (!typing)
        return find_and_name_targets(graph);
    graph->typing = typing->typing;
    graph->targets = &typing->targets;
    return names_add_types(&graph->names, graph->typing);
}

/* Collects the names of the pointers of typed objects, once it is known which elements of arrays no
 * slice uses. */
static struct g2h_error *collect_names(struct g2h_graph *graph)
{
    if (!graph->typing)
        return NULL;
    TRY(windows_find(graph, OF_POINTER_SLICES, graph->threads, &graph->names.windows));
    return names_collect(&graph->names, graph->targets, graph->threads);
}

/* Makes the nodes above the objects. */
static struct g2h_error *find_roots(struct g2h_graph *graph,
                                    const struct g2h_graph_options *options)
{
    const struct root_sources sources = {graph->heap,       graph->exe,    graph->typing,
                                         graph->targets,    &graph->names, graph->memory,
                                         options->no_stacks};
    return roots_init(&graph->roots, &sources);
}

/* Returns an error if the graph would have more nodes than numbers. */
static struct g2h_error *check_size(const struct g2h_graph *graph)
{
    const uint64_t nodes = (uint64_t)graph->roots.nodes.count + graph->heap->object_count;
    return nodes <= limits.nodes
               ? NULL
               : error_create(G2H_ERROR_LIMIT,
                              "%s: %llu nodes: more than the %llu that a graph can have; "
                              "--no-stacks makes fewer of them",
                              graph->heap->input->name, (unsigned long long)nodes,
                              (unsigned long long)limits.nodes);
}

/* Copies the counts of targets and roots into the graph's account. */
static void build_account(struct g2h_graph *graph)
{
    const struct root_account *roots = &graph->roots.account;
    struct g2h_graph_account *account = &graph->account;
    account->pointers = graph->targets->pointers;
    account->pointers_hit = graph->targets->hits;
    account->pointers_missed = account->pointers - account->pointers_hit;
    account->root_pointers = roots->pointers;
    account->root_pointers_hit = roots->pointers_hit;
    account->root_pointers_missed = roots->pointers_missed;
    account->conservative = roots->conservative;
    account->samples = roots->samples;
    account->samples_missed = roots->samples_missed;
    account->stacks = roots->stacks;
    account->stack_bytes = roots->stack_bytes;
}

/* Builds the graph, step by step: each step needs the results of those before. */
static struct g2h_error *build_graph(struct g2h_graph *graph,
                                     const struct g2h_graph_options *options)
{
    const struct names_options names_options = {options->exe, options->redaction,
                                                !options->full_names};
    TRY(names_init(&graph->names, graph->heap, &names_options));
    TRY(find_targets(graph, options->typing));
    TRY(find_roots(graph, options));
    TRY(graph_reach(graph, &graph->node_owners));
    TRY(collect_names(graph));
    TRY(roots_name_mapped(&graph->roots, graph->heap, &graph->names));
    if (graph->typing)
        TRY(typing_account(graph->typing, graph->live, &graph->type_account));
    TRY(graph_add_shortcuts(graph));
    TRY(check_size(graph));
    TRY(graph_fill_children(graph));
    assert(graph->children && graph->targets); /* what views read */
    TRY(graph_add_several(graph, &graph->node_owners));
    if (options->no_dominators)
        owners_deinit(&graph->node_owners);
    else
        TRY(owners_finish(&graph->node_owners, graph));
    build_account(graph);
    return NULL;
}

CLEANUP_POINTER(build_destroy, struct g2h_graph, g2h_graph_destroy);

/* Builds the graph of a heap. No options means the defaults, and 0 threads as many as there are
 * processors. *ret is set only without an error. */
struct g2h_error *g2h_graph_build(const struct g2h_heap *heap,
                                  const struct g2h_graph_options *options, struct g2h_graph **ret)
{
    static const struct g2h_graph_options none;
    _cleanup_(build_destroy) struct g2h_graph *graph = calloc(1, sizeof(*graph));
    TRY_MEMORY(graph);
    if (!options)
        options = &none;
    graph->heap = heap;
    graph->exe = options->exe;
    graph->memory = options->memory;
    graph->threads = options->threads > 0 ? options->threads : workers_available();
    TRY(build_graph(graph, options));
    *ret = take_pointer(graph);
    return NULL;
}

void g2h_graph_destroy(struct g2h_graph *graph)
{
    if (!graph)
        return;
    leaked_deinit(&graph->leaked);
    free(graph->live);
    tiers_deinit(&graph->tiers);
    free(graph->children);
    free(graph->first_child);
    free(graph->owners.data);
    owners_deinit(&graph->node_owners);
    sharing_deinit(&graph->sharing);
    roots_deinit(&graph->roots);
    names_deinit(&graph->names);
    targets_deinit(&graph->own_targets);
    free(graph);
}

const struct g2h_graph_account *g2h_graph_account(const struct g2h_graph *graph)
{
    return &graph->account;
}

const struct g2h_type_account *g2h_graph_type_account(const struct g2h_graph *graph)
{
    return graph->typing ? &graph->type_account : NULL;
}

/* ==== the steps ==== */

/* Loads the heap. If the input is damaged, that is the error, whatever the reader complained about.
 * Takes RSS from the dump if the origin did not know it. */
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

/* Loads the heap again if only the executable says which release of Go wrote the dump, whose own
 * version names none ("devel"): the ends of spans depend on it. */
static struct g2h_error *load_by_release(struct pipeline *pipeline, unsigned threads)
{
    enum { DUMPS_HAVE_VERSIONS = 17 /* go1.17: older dumps have no version to be unknown */ };
    bool is_guess;
    const int release = g2h_exe_release(pipeline->origin.exe, &is_guess);
    const struct g2h_heap_options options = {threads, NULL, release};
    if (!g2h_heap_lacks_release(pipeline->heap) || release < DUMPS_HAVE_VERSIONS)
        return NULL;
    g2h_heap_destroy(pipeline->heap);
    pipeline->heap = NULL;
    return g2h_heap_load(pipeline->origin.input, &options, &pipeline->heap);
}

/* Opens the executable, unless the origin has it, and checks that it wrote the dump. If only the
 * executable knows the release, the heap is loaded again. */
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

/* Checks that the executable wrote the dump. If it did not, and types are not required
 * (untyped_ok), tells why by untyped(), and goes on without it. Does nothing without an executable.
 */
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

/* Tells the caller that a step begins. */
static void begin_phase(const struct pipeline_options *options, const char *phase)
{
    if (options->phase)
        options->phase(options->context, phase);
}

/* Builds the graph of the loaded heap. Types first, if there is an executable, and then the
 * graph. */
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

CLEANUP_POINTER(pipeline_destroy_view, struct g2h_view, g2h_view_destroy);

/* Finds the nodes that `asked` names (--under), in a view of their own that has all nodes. */
static struct g2h_error *find_under(const struct pipeline *pipeline,
                                    const struct g2h_view_options *options, const char *asked,
                                    struct under_nodes *ret)
{
    _cleanup_(pipeline_destroy_view) struct g2h_view *whole = NULL;
    const struct g2h_view_options all = {.reachable = options->reachable};
    TRY(g2h_view_create(pipeline->graph, &all, &whole));
    return lookup_under(whole, pipeline->graph->threads, asked, ret);
}

/* Creates the view. With `under`, only what is below the nodes of that name is shown whole. */
struct g2h_error *pipeline_view(struct pipeline *pipeline, const struct g2h_view_options *options,
                                const char *under)
{
    assert(pipeline->graph && !pipeline->view);
    _cleanup_(under_nodes_deinit) struct under_nodes nodes = {.under = {0}};
    struct g2h_view_options of = *options;
    if (pipeline->typing)
        paging_prepare(pipeline->heap); /* outputs read strings and keys */
    if (!under)
        return g2h_view_create(pipeline->graph, options, &pipeline->view);
    TRY(find_under(pipeline, options, under, &nodes));
    of.under = nodes.under.data;
    of.under_count = nodes.under.count;
    of.holders = nodes.holders.data;
    of.holder_count = nodes.holders.count;
    of.under_name = under;
    return g2h_view_create(pipeline->graph, &of, &pipeline->view);
}

/* Returns the numbers of collections, by the heap's own statistics; zeros if a dump has none. */
struct collections pipeline_collections(const struct pipeline *pipeline)
{
    const struct g2h_memstats *stats = g2h_heap_memstats(pipeline->heap);
    return stats ? (struct collections){stats->numbers[G2H_MEMSTATS_NUM_GC],
                                        stats->numbers[G2H_MEMSTATS_LAST_GC]}
                 : (struct collections){0};
}

/* Returns when a file was written, in milliseconds since 1970; 0: not known, as of a pipe. */
int64_t pipeline_written_at(const struct g2h_input *input)
{
    const struct stat *status = g2h_input_status(input);
    return status && S_ISREG(status->st_mode)
               ? (int64_t)status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000
               : 0;
}

/* Returns a hash of the executable, which tells builds apart; 0: there is none. */
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

/* ==== see include/go2heapsnapshot/session.h ==== */

struct g2h_session {
    struct pipeline made;
    unsigned threads;
    struct g2h_dominators *dominators; /* NULL: not computed yet */
    struct g2h_findings *findings;     /* as well */
};

/* Opens a file, or the process of "pid:NUMBER". Errors: those of origin_open(); G2H_ERROR_SYSTEM if
 * NUMBER is not a process ID. */
static struct g2h_error *open_origin(struct g2h_session *session, const char *source,
                                     const char *exe, const struct g2h_open_options *options)
{
    static const char process[] = "pid:";
    const size_t size = sizeof(process) - 1;
    struct origin_options origin = {.path = source,
                                    .exe = exe,
                                    .threads = options->threads,
                                    .forks = options->forks,
                                    .collapses = options->collapses,
                                    .progress = options->progress};
    if (strncmp(source, process, size) == 0) {
        char *end;
        errno = 0;
        origin.pid = strtoull(source + size, &end, 10);
        if (errno != 0 || *end != '\0' || origin.pid == 0)
            return error_create(G2H_ERROR_SYSTEM, "%s: is not a process ID", source);
    }
    return origin_open(&origin, &session->made.origin);
}

/* Takes all steps for g2h_open(). */
static struct g2h_error *session_make(struct g2h_session *session, const char *source,
                                      const char *exe, const struct g2h_open_options *options)
{
    const struct pipeline_options steps = {.exe = exe,
                                           .threads = options->threads,
                                           .untyped_ok = options->untyped_ok,
                                           .no_stacks = options->no_stacks,
                                           .full_names = options->full_names,
                                           .redaction = options->redaction};
    const struct g2h_view_options view = {.reachable = options->reachable,
                                          .max_nodes = options->max_nodes};
    TRY(open_origin(session, source, exe, options));
    TRY(pipeline_load(&session->made, options->threads, options->progress));
    TRY(pipeline_match(&session->made, &steps));
    TRY(pipeline_graph(&session->made, &steps));
    return pipeline_view(&session->made, &view, NULL);
}

CLEANUP_POINTER(close_session, struct g2h_session, g2h_close);

/* Makes all of a session in one call: source, heap, graph and view. *ret is NULL if there is an
 * error. */
struct g2h_error *g2h_open(const char *source, const char *exe,
                           const struct g2h_open_options *given, struct g2h_session **ret)
{
    struct g2h_open_options options;
    *ret = NULL;
    _cleanup_(close_session) struct g2h_session *session = calloc(1, sizeof(*session));
    TRY_MEMORY(session);
    OPTIONS_COPY(&options, given);
    session->threads = options.threads;
    TRY(session_make(session, source, exe, &options));
    *ret = take_pointer(session);
    return NULL;
}

void g2h_close(struct g2h_session *session)
{
    if (!session)
        return;
    g2h_findings_destroy(session->findings);
    g2h_dominators_destroy(session->dominators);
    pipeline_deinit(&session->made);
    free(session);
}

const struct g2h_view *g2h_session_view(const struct g2h_session *session)
{
    return session->made.view;
}

const struct g2h_heap *g2h_session_heap(const struct g2h_session *session)
{
    return session->made.heap;
}

const struct g2h_exe *g2h_session_exe(const struct g2h_session *session)
{
    return session->made.origin.exe;
}

const struct g2h_process_account *g2h_session_process(const struct g2h_session *session)
{
    return session->made.origin.is_process ? &session->made.origin.account : NULL;
}

/* Computes the dominators at the first call. The session keeps them. */
struct g2h_error *g2h_session_dominators(struct g2h_session *session,
                                         const struct g2h_dominators **ret)
{
    if (!session->dominators)
        TRY(g2h_view_dominators(session->made.view, &session->dominators));
    *ret = session->dominators;
    return NULL;
}

/* Computes the findings, and the dominators that they need, at the first call. The session keeps
 * both. */
struct g2h_error *g2h_session_findings(struct g2h_session *session, struct g2h_findings **ret)
{
    struct g2h_findings_options options = {.size = sizeof(options), .threads = session->threads};
    if (!session->findings) {
        TRY(g2h_session_dominators(session, &options.dominators));
        TRY(g2h_findings_create(session->made.view, &options, &session->findings));
    }
    *ret = session->findings;
    return NULL;
}

const char *g2h_version(void)
{
    return G2H_VERSION;
}
