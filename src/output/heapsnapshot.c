/*
 * heapsnapshot: a graph as the JSON that Chrome DevTools loads.
 *
 * The file is cut into tasks: the header with the synthetic nodes, nodes by blocks of objects,
 * edges by the same blocks, strings. Counts are known before the first byte, since DevTools
 * allocates by the header. Edges are made again from the dump: the walk over an object's pointers
 * sees the same words as the one that resolved them, and takes their targets in the same order.
 *
 * Sections are in the order in which DevTools' loader looks for them. One node or edge a line, as
 * V8 wrote it for many years, keeps the file fit for tools that read lines.
 */
#include <stdio.h>
#include <stdlib.h>

#include <go2heapsnapshot/version.h>

#include "graph/fold.h"
#include "graph/walk.h"
#include "output/folded.h"
#include "output/lines.h"
#include "output/sink.h"

enum { STRINGS_PER_TASK = 1 << 15, TEXTS_AHEAD = 8 };

/* V8's lists as of Chromium 156 and Node 20; DESIGN: other readers insist on all of them. */
static const char meta[] =
    "\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_"
    "id\","
    "\"detachedness\"],\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\","
    "\"closure\",\"regexp\","
    "\"number\",\"native\",\"synthetic\",\"concatenated string\",\"sliced "
    "string\",\"symbol\",\"bigint\","
    "\"object shape\"],\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
    "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[[\"context\","
    "\"element\",\"property\","
    "\"internal\",\"hidden\",\"shortcut\",\"weak\"],\"string_or_number\",\"node\"],"
    "\"trace_function_info_fields\":[\"function_id\",\"name\",\"script_name\",\"script_id\","
    "\"line\",\"column\"],"
    "\"trace_node_fields\":[\"id\",\"function_info_index\",\"count\",\"size\",\"children\"],"
    "\"sample_fields\":[\"timestamp_us\",\"last_assigned_id\"],"
    "\"location_fields\":[\"object_index\",\"script_id\",\"line\",\"column\"]}";

struct writer {
    const struct g2h_graph *graph;
    const struct g2h_progress *progress;
    size_t node_tasks, edge_tasks, string_tasks;
    size_t folded_tasks; /* behind the edges of objects: those of folded nodes */
    uint32_t **seen;     /* by thread, with a fold: fold_seen() */
};

#define TRY(condition) \
    do { \
        if (!(condition)) \
            return &error_no_memory; \
    } while (0)

static bool append(struct worker_buffer *buffer, const char *text, size_t size)
{
    char *at = worker_buffer_reserve(buffer, size);
    if (!at)
        return false;
    memcpy(at, text, size);
    buffer->size += size;
    return true;
}

/* ---- the header ---- */

/* A text of the dump, without what could end a JSON string or unbalance the header's braces. */
static void append_plain(struct text *text, const char *plain)
{
    for (; *plain; plain++) {
        bool safe = *plain > ' ' && *plain < 0x7f && !strchr("\"\\{}[]", *plain);
        text_append(text, safe || *plain == ' ' ? plain : "?", 1);
    }
}

static struct g2h_error *write_header(const struct g2h_graph *graph, struct worker_buffer *buffer)
{
    const struct g2h_heap *heap = graph->heap;
    struct text text = {0};
    text_append(&text, "{\"snapshot\":{", 13);
    text_append(&text, meta, sizeof(meta) - 1);
    text_printf(&text,
                ",\"go2heapsnapshot\":{\"version\":\"%s\",\"format\":\"%s\",\"go_version\":\"",
                G2H_VERSION, g2h_heap_format(heap));
    append_plain(&text, g2h_heap_go_version(heap));
    text_printf(&text, "\",\"goarch\":\"");
    append_plain(&text, heap->params.arch);
    text_printf(
        &text,
        "\",\"pointer_size\":%d,\"big_endian\":%s,\"complete\":%s,\"objects\":%u,\"bytes\":%llu,",
        (int)heap->params.pointer_size, heap->params.big_endian ? "true" : "false",
        g2h_heap_is_complete(heap) ? "true" : "false", heap->object_count,
        (unsigned long long)heap->account.object_bytes);
    text_printf(&text, "\"id_base\":\"0x%llx\",\"id_granule\":%llu",
                (unsigned long long)graph->ids.base, (unsigned long long)ID_GRANULE);
    bool exceptions = false;
    for (size_t i = 0; i < graph->ids.arena_count; i++) {
        const struct id_arena *arena = &graph->ids.arenas[i];
        if (!ids_is_exception(&graph->ids, arena))
            continue;
        text_printf(&text, "%s[\"0x%llx\",%u]", exceptions ? "," : ",\"id_arenas\":[",
                    (unsigned long long)(arena->arena << ARENA_SHIFT), arena->slot);
        exceptions = true;
    }
    text_printf(&text, "%s,\"id_displaced\":%llu", exceptions ? "]" : "",
                (unsigned long long)graph->ids.displaced.count);
    if (graph->account.left_out_objects > 0)
        text_printf(&text, ",\"left_out_objects\":%llu,\"left_out_bytes\":%llu",
                    (unsigned long long)graph->account.left_out_objects,
                    (unsigned long long)graph->account.left_out_bytes);
    if (graph->account.folded_nodes > 0)
        text_printf(&text, ",\"folded_objects\":%llu,\"folded_nodes\":%llu",
                    (unsigned long long)graph->account.folded_objects,
                    (unsigned long long)graph->account.folded_nodes);
    text_printf(&text,
                "},\"node_count\":%llu,\"edge_count\":%llu,\"trace_function_count\":0,\"extra_"
                "native_bytes\":0},\n",
                (unsigned long long)graph->account.nodes, (unsigned long long)graph->account.edges);
    text_printf(&text, "\"nodes\":[");
    bool good = !text.failed && append(buffer, text.data, text.size);
    text_deinit(&text);
    return good ? NULL : &error_no_memory;
}

/* ---- nodes ---- */

static struct g2h_error *write_synthetic_nodes(const struct g2h_graph *graph,
                                               struct worker_buffer *buffer)
{
    for (size_t i = 0; i < graph->synthetics.count; i++) {
        struct g2h_error *error = make_room(buffer, NODE_LINE);
        if (error)
            return error;
        char *begin = buffer->data + buffer->size;
        char *at = write_node(begin, NODE_SYNTHETIC, graph->synthetics.data[i].name,
                              graph->synthetics.data[i].id, 0,
                              (uint32_t)(graph->first_child[i + 1] - graph->first_child[i]));
        if (i == 0) /* no comma before the first node */
            memmove(begin, begin + 1, (size_t)(--at - begin));
        buffer->size = (size_t)(at - buffer->data);
    }
    return NULL;
}

static struct g2h_error *write_object_nodes(const struct g2h_graph *graph, size_t number,
                                            struct worker_buffer *buffer)
{
    const struct target_block *block = &graph->targets.blocks[number];
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT;
    uint64_t child = graph_object_child(graph, first);
    char *at = worker_buffer_reserve(buffer, (size_t)block->objects * NODE_LINE);
    TRY(at);
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t object = first + i;
        uint32_t edge_count = 0;
        for (uint32_t j = block->starts[i]; j < block->starts[i + 1]; j++)
            edge_count += block->targets[j] != NO_TARGET;
        for (; graph_is_child_of(graph, child, object); child++)
            edge_count++;
        at = write_object_node(graph, at, object, edge_count);
    }
    buffer->size = (size_t)(at - buffer->data);
    return NULL;
}

static struct g2h_error *write_part_nodes(const struct g2h_graph *graph,
                                          struct worker_buffer *buffer)
{
    char *at = worker_buffer_reserve(buffer, graph->parts.count * NODE_LINE + 1);
    TRY(at);
    for (size_t i = 0; i < graph->parts.count; i++)
        at = write_node(at, NODE_OBJECT, graph->parts.data[i].name, graph->parts.data[i].id,
                        graph->parts.data[i].size, 0);
    buffer->size = (size_t)(at - buffer->data);
    return NULL;
}

/* ---- edges ---- */

static char *write_child(const struct g2h_graph *graph, char *at, uint64_t child)
{
    const struct edge *edge = &graph->children[child];
    return write_edge(at, edge->type, edge->name, graph_node_number(graph, edge->target));
}

static struct g2h_error *write_synthetic_edges(const struct g2h_graph *graph,
                                               struct worker_buffer *buffer)
{
    for (uint64_t i = 0; i < graph->first_object_child; i++) {
        struct g2h_error *error = make_room(buffer, EDGE_LINE);
        if (error)
            return error;
        char *begin = buffer->data + buffer->size;
        char *at = write_child(graph, begin, i);
        if (i == 0)
            memmove(begin, begin + 1, (size_t)(--at - begin));
        buffer->size = (size_t)(at - buffer->data);
    }
    return NULL;
}

/* entry_names: the block's, at the next one. */
static char *write_pointer(const struct g2h_graph *graph, char *at, struct namer *namer,
                           uint64_t offset, uint32_t target, const uint32_t **entry_names)
{
    struct edge_name name;
    namer_name(namer, offset, &name);
    const uint32_t entry = name.is_entry ? next_entry_name(entry_names) : NAME_NONE;
    const struct edge_label label =
        label_pointer(graph, &name, entry, is_weak_pointer(graph, namer->object, target));
    return write_edge(at, label.type, label.name, (uint32_t)graph->synthetics.count + target);
}

/* The pointers of an object. */
static struct g2h_error *write_pointers(const struct g2h_graph *graph, uint32_t object,
                                        const uint32_t **entry_names, struct worker_buffer *buffer)
{
    struct object_walk walk;
    uint64_t offset;
    uint32_t target;
    object_walk_begin(&walk, graph, object);
    while (object_walk_next(&walk, &offset, &target)) {
        struct g2h_error *error = make_room(buffer, EDGE_LINE);
        if (error)
            return error;
        char *at = write_pointer(graph, buffer->data + buffer->size, &walk.namer, offset, target,
                                 entry_names);
        buffer->size = (size_t)(at - buffer->data);
    }
    return NULL;
}

static struct g2h_error *write_object_edges(const struct g2h_graph *graph, size_t number,
                                            struct worker_buffer *buffer)
{
    const struct target_block *block = &graph->targets.blocks[number];
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT;
    const uint32_t *entry_names = graph->entry_names ? graph->entry_names[number] : NULL;
    uint64_t child = graph_object_child(graph, first);
    for (uint32_t i = 0; i < block->objects; i++) {
        struct g2h_error *error = NULL;
        heap_prefetch(graph->heap, (uint64_t)first + i + OBJECTS_AHEAD);
        if (block->starts[i] < block->starts[i + 1])
            error = write_pointers(graph, first + i, &entry_names, buffer);
        for (; !error && graph_is_child_of(graph, child, first + i); child++) {
            error = make_room(buffer, EDGE_LINE);
            if (!error)
                buffer->size =
                    (size_t)(write_child(graph, buffer->data + buffer->size, child) - buffer->data);
        }
        if (error)
            return error;
    }
    return NULL;
}

/* ---- strings ---- */

static bool write_string(struct worker_buffer *buffer, bool is_first, const char *text, size_t size)
{
    char *at = worker_buffer_reserve(buffer, text_json_limit(size) + 2);
    if (!at)
        return false;
    if (!is_first) {
        *at++ = ',';
        *at++ = '\n';
    }
    buffer->size = (size_t)(text_json_string(at, text, size) - buffer->data);
    return true;
}

static uint64_t string_count(const struct g2h_graph *graph)
{
    return (uint64_t)graph->strings.count + graph->texts.entries.count;
}

static struct g2h_error *write_strings(const struct g2h_graph *graph, size_t number,
                                       struct worker_buffer *buffer)
{
    const uint64_t first = (uint64_t)number * STRINGS_PER_TASK, count = string_count(graph);
    struct text text = {0};
    bool good = true;
    for (uint64_t i = first; i < count && i < first + STRINGS_PER_TASK && good; i++) {
        size_t size;
        if (i < graph->strings.count) {
            const char *own = string_pool_text(&graph->strings, (uint32_t)i, &size);
            good = write_string(buffer, i == 0, own, size);
            continue;
        }
        text.size = 0;
        const struct text_entry *entry = &graph->texts.entries.data[i - graph->strings.count];
        if (i + TEXTS_AHEAD < count)
            texts_prefetch(&graph->texts, entry + TEXTS_AHEAD);
        texts_append(&graph->texts, entry, &text);
        good = !text.failed && write_string(buffer, false, text.data, text.size);
    }
    text_deinit(&text);
    return good ? NULL : &error_no_memory;
}

/* ---- all of it ---- */

static struct g2h_error *write_first_nodes(const struct g2h_graph *graph,
                                           struct worker_buffer *buffer)
{
    struct g2h_error *error = write_header(graph, buffer);
    return error         ? error
           : graph->fold ? folded_write_synthetic_nodes(graph, buffer)
                         : write_synthetic_nodes(graph, buffer);
}

/* The last nodes, and the first edges. */
static struct g2h_error *write_middle(const struct g2h_graph *graph, uint32_t *seen,
                                      struct worker_buffer *buffer)
{
    static const char edges[] = "],\n\"edges\":[";
    struct g2h_error *error =
        graph->fold ? folded_write_other_nodes(graph, buffer) : write_part_nodes(graph, buffer);
    if (error)
        return error;
    TRY(append(buffer, edges, sizeof(edges) - 1));
    return graph->fold ? folded_write_synthetic_edges(graph, seen, buffer)
                       : write_synthetic_edges(graph, buffer);
}

static struct g2h_error *produce(void *context, size_t task, unsigned worker,
                                 struct worker_buffer *buffer)
{
    static const char strings[] =
        "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n"
        "\"locations\":[],\n\"strings\":[";
    struct writer *writer = context;
    const struct g2h_graph *graph = writer->graph;
    uint32_t *seen = writer->seen ? writer->seen[worker] : NULL;
    if (writer->progress && worker == 0) /* the thread that called us */
        writer->progress->update(writer->progress->context, "writing", task,
                                 1 + writer->node_tasks + 1 + writer->edge_tasks +
                                     writer->folded_tasks + writer->string_tasks,
                                 0);
    if (task == 0)
        return write_first_nodes(graph, buffer);
    task -= 1;
    if (task < writer->node_tasks)
        return graph->fold ? folded_write_object_nodes(graph, task, buffer)
                           : write_object_nodes(graph, task, buffer);
    task -= writer->node_tasks;
    if (task == 0)
        return write_middle(graph, seen, buffer);
    task -= 1;
    if (task < writer->edge_tasks)
        return graph->fold ? folded_write_object_edges(graph, seen, task, buffer)
                           : write_object_edges(graph, task, buffer);
    task -= writer->edge_tasks;
    if (task < writer->folded_tasks)
        return folded_write_folded_edges(graph, seen, task, buffer);
    task -= writer->folded_tasks;
    if (task == 0)
        TRY(append(buffer, strings, sizeof(strings) - 1));
    struct g2h_error *error = write_strings(graph, task, buffer);
    if (!error && task == writer->string_tasks - 1)
        TRY(append(buffer, "]}\n", 3));
    return error;
}

struct g2h_error *g2h_write_heapsnapshot(const struct g2h_graph *graph,
                                         const struct g2h_output_options *options)
{
    unsigned threads = options->threads ? options->threads : graph->threads;
    struct writer writer = {
        .graph = graph,
        .progress = options->progress,
        .node_tasks = graph->targets.block_count,
        .edge_tasks = graph->targets.block_count,
        .string_tasks = (size_t)((string_count(graph) + STRINGS_PER_TASK - 1) / STRINGS_PER_TASK)};
    struct g2h_error *error = NULL;
    if (graph->fold) {
        threads = fold_threads(threads);
        writer.folded_tasks = fold_tasks(graph->fold);
        writer.seen = calloc(threads, sizeof(*writer.seen));
        TRY(writer.seen);
    }
    for (unsigned i = 0; i < threads && writer.seen && !error; i++) {
        writer.seen[i] = fold_seen(graph->fold);
        error = writer.seen[i] ? NULL : &error_no_memory;
    }
    const size_t tasks =
        1 + writer.node_tasks + 1 + writer.edge_tasks + writer.folded_tasks + writer.string_tasks;
    if (!error)
        error = sink_run(options, threads, tasks, produce, &writer);
    for (unsigned i = 0; i < threads && writer.seen; i++)
        fold_seen_free(graph->fold, writer.seen[i]);
    free(writer.seen);
    return error;
}
