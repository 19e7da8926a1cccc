/* graph: its parts in order. Each part has a file of its own; here they are put together. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "graph/fold.h"

/* DevTools multiplies a node's number by 7 fields and an edge's by 3, in 32 bits. */
static const uint64_t NODE_LIMIT = UINT32_MAX / 7, EDGE_LIMIT = UINT32_MAX / 3;

bool graph_add_synthetic(struct g2h_graph *graph, const char *name, size_t size, uint32_t id,
                         uint32_t *ret)
{
    struct synthetic synthetic = {.id = id};
    *ret = (uint32_t)graph->synthetics.count;
    return name_intern(&graph->strings, (const uint8_t *)name, size, &synthetic.name) &&
           vector_push(&graph->synthetics, synthetic);
}

bool graph_intern(struct g2h_graph *graph, const char *name, uint32_t *ret)
{
    return string_pool_intern(&graph->strings, name, strlen(name), ret);
}

/* An object too large for a cell of the snapshot gets nodes for what is beyond PART_SIZE, in the
 * order of addresses. */
static struct g2h_error *add_parts(struct g2h_graph *graph, uint32_t object)
{
    const uint64_t size = heap_object_size(graph->heap, object),
                   address = heap_address(graph->heap, object);
    struct text text = {0};
    uint32_t edge_name;
    size_t length;
    const char *class =
        string_pool_text(&graph->strings, names_of_object(&graph->names, object), &length);
    struct part part;
    text_append(&text, class, length);
    text_printf(&text, " (continued)");
    bool good = !text.failed &&
                string_pool_intern(&graph->strings, text.data, text.size, &part.name) &&
                graph_intern(graph, "continued", &edge_name);
    for (uint64_t done = PART_SIZE; done < size && good; done += part.size) {
        struct node target = {(uint32_t)graph->parts.count, OF_PART};
        part.size = size - done < PART_SIZE ? (uint32_t)(size - done) : PART_SIZE;
        good = ids_part(&graph->ids, address + done, &part.id) &&
               vector_push(&graph->parts, part) &&
               graph_add_edge(graph, node_object(object), EDGE_INTERNAL, edge_name, target);
    }
    text_deinit(&text);
    return good ? NULL : &error_no_memory;
}

static struct g2h_error *add_all_parts(struct g2h_graph *graph)
{
    bool any = false;
    for (size_t i = 0; i < graph->heap->slot_classes.list.count; i++)
        any = any || graph->heap->slot_classes.list.data[i].size > PART_SIZE;
    for (uint32_t object = 0; any && object < graph->heap->object_count; object++) {
        struct g2h_error *error =
            heap_object_size(graph->heap, object) > PART_SIZE ? add_parts(graph, object) : NULL;
        if (error)
            return error;
    }
    return NULL;
}

static struct g2h_error *count_all(struct g2h_graph *graph)
{
    struct g2h_graph_account *account = &graph->account;
    account->synthetic_nodes = graph->synthetics.count;
    account->object_parts = graph->parts.count;
    account->nodes = account->synthetic_nodes + graph->heap->object_count + account->object_parts;
    account->edges += account->pointers_hit;
    if (graph->fold)
        fold_account(graph->fold, account);
    if (account->nodes > NODE_LIMIT || account->edges > EDGE_LIMIT)
        return error_create(G2H_ERROR_LIMIT,
                            "%s: %llu nodes and %llu edges: more than the %llu and %llu that a "
                            "heap snapshot can have",
                            graph->heap->input->name, (unsigned long long)account->nodes,
                            (unsigned long long)account->edges, (unsigned long long)NODE_LIMIT,
                            (unsigned long long)EDGE_LIMIT);
    return NULL;
}

/* Types came with Go 1.7's layout of descriptors; dumps before 1.4 have their own. */
static bool is_to_type(const struct g2h_graph *graph)
{
    return graph->exe && graph->heap->pointer_form == POINTERS_LISTED &&
           exe_types(graph->exe)->list.count > 0;
}

static struct g2h_error *type_objects(struct g2h_graph *graph)
{
    struct g2h_error *error = typing_create(graph->heap, &graph->targets, graph->exe,
                                            graph->redaction, graph->threads, &graph->typing);
    if (!error)
        error = names_add_types(&graph->names, graph->typing, &graph->strings);
    return error ? error : graph_name_pointers(graph);
}

/* Strings that are made of what the heap holds come last: all others must be known. */
static struct g2h_error *number_texts(struct g2h_graph *graph)
{
    if (!graph->typing)
        return NULL;
    struct g2h_error *error = texts_init(&graph->texts, &graph->names, &graph->strings);
    if (graph->fold)
        graph->texts.hidden = graph->fold->hidden;
    if (!error)
        error = graph_name_entries(graph);
    if (!error)
        error = texts_number_objects(&graph->texts, graph->typing, graph->threads);
    texts_finish(&graph->texts);
    return error;
}

static struct g2h_error *build(struct g2h_graph *graph, const struct g2h_graph_options *options)
{
    uint32_t dummy;
    struct g2h_error *error = NULL;
    if (options && (options->redact || options->redact_key)) {
        error = redaction_init(&graph->own_redaction, options->redact_key);
        graph->redaction = &graph->own_redaction;
    }
    if (!error)
        error = ids_init(&graph->ids, graph->heap);
    if (!error && !graph_intern(graph, "<dummy>", &dummy)) /* V8's string 0 */
        error = &error_no_memory;
    if (!error)
        error =
            names_init(&graph->names, graph->heap, graph->exe, graph->redaction, &graph->strings);
    if (!error)
        error = graph_resolve(graph, is_to_type(graph));
    if (!error && is_to_type(graph))
        error = type_objects(graph);
    if (!error)
        error = graph_add_roots(graph);
    if (!error)
        error = graph_reach(graph);
    if (!error && graph->typing)
        error = typing_account(graph->typing, graph->live, &graph->type_account);
    if (!error)
        error = add_all_parts(graph);
    if (!error)
        error = graph_add_shortcuts(graph);
    if (!error && options && !fold_prepare(graph, options->max_nodes, options->reachable))
        error = &error_no_memory;
    if (!error)
        error = graph_fill_children(graph);
    if (!error)
        error = fold_run(graph);
    if (!error)
        error = number_texts(graph);
    return error ? error : count_all(graph);
}

struct g2h_error *g2h_graph_build(const struct g2h_heap *heap,
                                  const struct g2h_graph_options *options, struct g2h_graph **ret)
{
    struct g2h_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return &error_no_memory;
    graph->heap = heap;
    graph->exe = options ? options->exe : NULL;
    graph->threads = options && options->threads ? options->threads : workers_available();
    struct g2h_error *error = build(graph, options);
    if (error) {
        g2h_graph_destroy(graph);
        return error;
    }
    *ret = graph;
    return NULL;
}

void g2h_graph_destroy(struct g2h_graph *graph)
{
    if (!graph)
        return;
    for (size_t i = 0; graph->entry_names && i < graph->targets.block_count; i++)
        free(graph->entry_names[i]);
    free(graph->entry_names);
    targets_deinit(&graph->targets);
    free(graph->live);
    free(graph->frame_pointed);
    free(graph->frames_by_sp);
    free(graph->synthetics.data);
    free(graph->parts.data);
    free(graph->edges.data);
    free(graph->children);
    free(graph->first_child);
    fold_destroy(graph->fold);
    string_pool_deinit(&graph->strings);
    names_deinit(&graph->names);
    texts_deinit(&graph->texts);
    typing_destroy(graph->typing);
    ids_deinit(&graph->ids);
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
