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

#include "graph/graph.h"
#include "heap/pointers.h"
#include "output/sink.h"
#include "output/text.h"

enum {
    NODE_FIELDS = 7,
    NODE_LINE = 7 * (TEXT_U32_MAX + 1) + 1,
    EDGE_LINE = 3 * (TEXT_U32_MAX + 1) + 1
};
enum { STRINGS_PER_TASK = 1 << 15 };

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

/* Room for size bytes more. A buffer that has become large is written first. */
static struct g2h_error *make_room(struct worker_buffer *buffer, size_t size)
{
    const size_t large = 8u << 20;
    if (buffer->capacity - buffer->size >= size)
        return NULL;
    struct g2h_error *error = buffer->size > large ? worker_buffer_flush(buffer) : NULL;
    return error || worker_buffer_reserve(buffer, size + (1u << 18)) ? error : &error_no_memory;
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

static char *write_node(char *at, char type, uint32_t name, uint32_t id, uint32_t size,
                        uint32_t edge_count)
{
    *at++ = ',';
    *at++ = type;
    *at++ = ',';
    at = text_u32(at, name);
    *at++ = ',';
    at = text_u32(at, id);
    *at++ = ',';
    at = text_u32(at, size);
    *at++ = ',';
    at = text_u32(at, edge_count);
    memcpy(at, ",0,0\n", 5);
    return at + 5;
}

static const char STRING_DIGIT = '0' + NODE_STRING, OBJECT_DIGIT = '0' + NODE_OBJECT,
                  SYNTHETIC_DIGIT = '0' + NODE_SYNTHETIC;

static struct g2h_error *write_synthetic_nodes(const struct g2h_graph *graph,
                                               struct worker_buffer *buffer)
{
    for (size_t i = 0; i < graph->synthetics.count; i++) {
        struct g2h_error *error = make_room(buffer, NODE_LINE);
        if (error)
            return error;
        char *begin = buffer->data + buffer->size;
        char *at = write_node(begin, SYNTHETIC_DIGIT, graph->synthetics.data[i].name,
                              graph->synthetics.data[i].id, 0,
                              (uint32_t)(graph->first_child[i + 1] - graph->first_child[i]));
        if (i == 0) /* no comma before the first node */
            memmove(begin, begin + 1, (size_t)(--at - begin));
        buffer->size = (size_t)(at - buffer->data);
    }
    return NULL;
}

/* The first of the objects' own edges that belongs to object or a later one. */
static uint64_t find_object_child(const struct g2h_graph *graph, uint32_t object)
{
    uint64_t from = graph->first_object_child, to = graph->child_count;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (graph->children[middle].source.index < object)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Whether child is one of the object's own edges. */
static bool is_child_of(const struct g2h_graph *graph, uint64_t child, uint32_t object)
{
    return child < graph->child_count && graph->children[child].source.index == object;
}

static struct g2h_error *write_object_nodes(const struct g2h_graph *graph, size_t number,
                                            struct worker_buffer *buffer)
{
    const struct g2h_heap *heap = graph->heap;
    const struct target_block *block = &graph->targets.blocks[number];
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT;
    uint64_t child = find_object_child(graph, first);
    char *at = worker_buffer_reserve(buffer, (size_t)block->objects * NODE_LINE);
    TRY(at);
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t object = first + i, shape = heap_shape_number(heap, object);
        const uint64_t size = heap->shapes.list.data[shape].size;
        uint32_t edge_count = 0;
        for (uint32_t j = block->starts[i]; j < block->starts[i + 1]; j++)
            edge_count += block->targets[j] != NO_TARGET;
        for (; is_child_of(graph, child, object); child++)
            edge_count++;
        const bool is_text = graph->typing && typing_is_text(graph->typing, object);
        at = write_node(at, is_text ? STRING_DIGIT : OBJECT_DIGIT,
                        is_text ? graph->typing->texts[object]
                                : names_of_object(&graph->names, object),
                        ids_object(&graph->ids, object),
                        size < PART_SIZE ? (uint32_t)size : PART_SIZE, edge_count);
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
        at = write_node(at, OBJECT_DIGIT, graph->parts.data[i].name, graph->parts.data[i].id,
                        graph->parts.data[i].size, 0);
    buffer->size = (size_t)(at - buffer->data);
    return NULL;
}

/* ---- edges ---- */

static char *write_edge(char *at, char type, uint32_t name, uint32_t node)
{
    *at++ = ',';
    *at++ = type;
    *at++ = ',';
    at = text_u32(at, name);
    *at++ = ',';
    at = text_u32(at, node * NODE_FIELDS);
    *at++ = '\n';
    return at;
}

static uint32_t node_number(const struct g2h_graph *graph, struct node node)
{
    const uint32_t synthetics = (uint32_t)graph->synthetics.count;
    return node.of == OF_SYNTHETIC ? node.index
           : node.of == OF_OBJECT  ? synthetics + node.index
                                   : synthetics + graph->heap->object_count + node.index;
}

static char *write_child(const struct g2h_graph *graph, char *at, uint64_t child)
{
    const struct edge *edge = &graph->children[child];
    return write_edge(at, (char)('0' + edge->type), edge->name, node_number(graph, edge->target));
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
    const struct edge_name name = namer_name(namer, offset);
    const uint32_t node = (uint32_t)graph->synthetics.count + target;
    const uint32_t entry = name.is_entry ? *(*entry_names)++ : NAME_NONE;
    const bool weak = is_weak_pointer(graph, namer->object, target);
    uint32_t string;
    if (entry != NAME_NONE ? (entry & ENTRY_ELEMENT) != 0 : name.form == EDGE_NAME_INDEX) {
        const uint32_t index = entry != NAME_NONE ? entry & ~ENTRY_ELEMENT : (uint32_t)name.value;
        return weak ? write_edge(at, '0' + EDGE_WEAK, graph->weak_element, node)
                    : write_edge(at, '0' + EDGE_ELEMENT, index, node);
    }
    if (entry != NAME_NONE)
        string = entry;
    else if (name.form == EDGE_NAME_STRING)
        string = (uint32_t)name.value;
    else
        string = names_of_key(&graph->names, name.value);
    return write_edge(at,
                      weak               ? '0' + EDGE_WEAK
                      : name.is_internal ? '0' + EDGE_INTERNAL
                                         : '0' + EDGE_PROPERTY,
                      string, node);
}

/* The pointers of the block's object i. */
static struct g2h_error *write_pointers(const struct g2h_graph *graph,
                                        const struct target_block *block, uint32_t i,
                                        uint32_t object_number, const uint32_t **entry_names,
                                        struct worker_buffer *buffer)
{
    const struct g2h_heap *heap = graph->heap;
    const struct shape *shape = heap_shape(heap, object_number);
    const uint32_t *target = block->targets + block->starts[i],
                   *end = block->targets + block->starts[i + 1];
    struct g2h_object object;
    struct pointers pointers;
    struct namer namer;
    uint64_t offset, value;
    heap_object(heap, object_number, &object);
    pointers_of_object(heap, &object, shape, &pointers);
    namer_init(&namer, &graph->names, object_number, shape, &object.contents);
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        if (!in_heap_range(heap, value))
            continue;
        if (*target != NO_TARGET) {
            struct g2h_error *error = make_room(buffer, EDGE_LINE);
            if (error)
                return error;
            char *at = write_pointer(graph, buffer->data + buffer->size, &namer, offset, *target,
                                     entry_names);
            buffer->size = (size_t)(at - buffer->data);
        }
        target++;
    }
    return NULL;
}

static struct g2h_error *write_object_edges(const struct g2h_graph *graph, size_t number,
                                            struct worker_buffer *buffer)
{
    const struct target_block *block = &graph->targets.blocks[number];
    const uint32_t first = (uint32_t)number << BLOCK_SHIFT;
    const uint32_t *entry_names = graph->entry_names ? graph->entry_names[number] : NULL;
    uint64_t child = find_object_child(graph, first);
    for (uint32_t i = 0; i < block->objects; i++) {
        struct g2h_error *error = NULL;
        if (block->starts[i] < block->starts[i + 1])
            error = write_pointers(graph, block, i, first + i, &entry_names, buffer);
        for (; !error && is_child_of(graph, child, first + i); child++) {
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
        texts_append(&graph->texts, &graph->texts.entries.data[i - graph->strings.count], &text);
        good = !text.failed && write_string(buffer, false, text.data, text.size);
    }
    text_deinit(&text);
    return good ? NULL : &error_no_memory;
}

/* ---- all of it ---- */

static struct g2h_error *produce(void *context, size_t task, unsigned worker,
                                 struct worker_buffer *buffer)
{
    static const char edges[] = "],\n\"edges\":[";
    static const char strings[] =
        "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n"
        "\"locations\":[],\n\"strings\":[";
    struct writer *writer = context;
    const struct g2h_graph *graph = writer->graph;
    struct g2h_error *error = NULL;
    if (writer->progress && worker == 0) /* the thread that called us */
        writer->progress->update(
            writer->progress->context, "writing", task,
            1 + writer->node_tasks + 1 + writer->edge_tasks + writer->string_tasks, 0);
    if (task == 0) {
        error = write_header(graph, buffer);
        return error ? error : write_synthetic_nodes(graph, buffer);
    }
    task -= 1;
    if (task < writer->node_tasks)
        return write_object_nodes(graph, task, buffer);
    task -= writer->node_tasks;
    if (task == 0) {
        error = write_part_nodes(graph, buffer);
        if (!error && !append(buffer, edges, sizeof(edges) - 1))
            error = &error_no_memory;
        return error ? error : write_synthetic_edges(graph, buffer);
    }
    task -= 1;
    if (task < writer->edge_tasks)
        return write_object_edges(graph, task, buffer);
    task -= writer->edge_tasks;
    if (task == 0)
        TRY(append(buffer, strings, sizeof(strings) - 1));
    error = write_strings(graph, task, buffer);
    if (!error && task == writer->string_tasks - 1)
        TRY(append(buffer, "]}\n", 3));
    return error;
}

struct g2h_error *g2h_write_heapsnapshot(const struct g2h_graph *graph,
                                         const struct g2h_output_options *options)
{
    struct writer writer = {
        .graph = graph,
        .progress = options->progress,
        .node_tasks = graph->targets.block_count,
        .edge_tasks = graph->targets.block_count,
        .string_tasks = (size_t)((string_count(graph) + STRINGS_PER_TASK - 1) / STRINGS_PER_TASK)};
    size_t tasks = 1 + writer.node_tasks + 1 + writer.edge_tasks + writer.string_tasks;
    return sink_run(options, options->threads ? options->threads : graph->threads, tasks, produce,
                    &writer);
}
