/*
 * graph_build: the order in which a graph is made; each step belongs to one module.
 *
 * The files of library/, which combines the modules:
 *
 *   origin              where a heap comes from: a dump, a core file, a process
 *   pipeline            the steps from there to a view
 *   graph_build         one of these steps: the graph
 *   session             all of them by one call, for users of the library
 *   death_box, death_files, scratch
 *                       copies a process at its end; the files of such copies; where the
 *                       temporary ones go
 *
 * The steps of the graph:
 *
 *   heap/targets.h         the objects that pointers hit  (with types, typing has found them)
 *   naming/names.h         the names of objects
 *   naming/collect.h       the names of their pointers  (with types, after graph/windows.h)
 *   roots/roots.h          the nodes that hold objects
 *   graph/reach.c          which objects each root reaches, and which are garbage
 *   graph/windows.h        which elements of arrays no slice uses
 *   graph/shortcuts.c      weak edges that are not pointers
 *   graph/children.c       edges in their order
 *   dominators/several.c   the objects that several groups of roots hold together
 *   graph/owners.c         each node's owner, if dominators are needed
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/scope.h"
#include "base/workers.h"
#include "graph/graph.h"
#include "dominators/sharers.h"
#include "graph/owners.h"
#include "graph/windows.h"
#include "naming/collect.h"

/* Finds the targets of pointers; without types, names are collected at the same time. */
static struct g2h_error *build_find_targets(struct g2h_graph *graph)
{
    struct pointer_listener listener;
    _cleanup_(collection_deinit) struct collection collection;
    graph->targets = &graph->own_targets;
    TRY(collection_init(&collection, &graph->names, graph->threads, &listener));
    TRY(targets_init(&graph->own_targets, graph->heap, graph->threads, &listener));
    return collection_finish(&collection);
}

static struct g2h_error *name_pointers(struct g2h_graph *graph, const struct g2h_typing *typing)
{
    if (!typing)
        return build_find_targets(graph);
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

static struct g2h_error *find_roots(struct g2h_graph *graph,
                                    const struct g2h_graph_options *options)
{
    const struct root_sources sources = {graph->heap,       graph->exe,    graph->typing,
                                         graph->targets,    &graph->names, graph->memory,
                                         options->no_stacks};
    return roots_init(&graph->roots, &sources);
}

static struct g2h_error *check_size(const struct g2h_graph *graph)
{
    const uint64_t nodes = (uint64_t)graph->roots.nodes.count + graph->heap->object_count;
    return nodes < UINT32_MAX ? NULL
                              : error_create(G2H_ERROR_LIMIT, "%s: %llu nodes: too many",
                                             graph->heap->input->name, (unsigned long long)nodes);
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

static struct g2h_error *build_graph_and_view(struct g2h_graph *graph,
                                              const struct g2h_graph_options *options)
{
    const struct names_options names_options = {options->exe, options->redaction,
                                                !options->full_names};
    TRY(names_init(&graph->names, graph->heap, &names_options));
    TRY(name_pointers(graph, options->typing));
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
    TRY(build_graph_and_view(graph, options));
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
