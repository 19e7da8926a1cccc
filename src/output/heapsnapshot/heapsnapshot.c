/*
 * heapsnapshot: writes a view as the JSON that Chrome DevTools loads.
 *
 * The file is cut into tasks: the header, nodes by blocks, edges by the same blocks, strings.
 * Counts are known before the first byte is written, since DevTools allocates memory by the header.
 * The sections are in the order in which DevTools' loader looks for them. Each node and each edge
 * has a line of its own, as V8 wrote them for many years, so that tools which read lines can use
 * the file.
 *
 * These are made before, in this order: ids, names, the parts of nodes that are too large,
 * contexts, numbers, and the heap's strings, whose numbers come last.
 *
 *   heapsnapshot        nodes, edges, strings
 *   contexts, numbers   DevTools' filters by package and goroutine; numbers in objects
 *   groups              rows that belong together
 *   goroutine_names     labels of goroutines in their names
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <go2heapsnapshot/output.h>
#include <go2heapsnapshot/version.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/workers.h"
#include "findings/ages.h"
#include "output/heapsnapshot/contexts.h"
#include "output/heapsnapshot/goroutine_names.h"
#include "output/heapsnapshot/numbers.h"
#include "output/ids.h"
#include "output/json.h"
#include "output/labels.h"
#include "output/output_strings.h"
#include "output/overlay.h"
#include "output/sink.h"

/* ==== a number per line ==== */

enum {
    NODE_FIELDS = 7, /* V8's, as in meta below */
    EDGE_FIELDS = 3,
    NODE_LINE = NODE_FIELDS * (JSON_U32_MAX + 1) + 1, /* the most bytes of a line */
    EDGE_LINE = EDGE_FIELDS * (JSON_U32_MAX + 1) + 1,
    LINE_SLACK = 8 /* bytes after a line that its writing may change */
};

/* The digits of the numbers of names, since nodes and edges contain these: json_short() by number.
 */
struct name_digits {
    uint64_t *digits;
    uint32_t count;
};

/* Writes the number of a name: its digits are in a table, those of a large number are made now. */
static inline char *lines_write_name(char *at, const struct name_digits *names, uint32_t name)
{
    return name < names->count ? json_u32_short(at, names->digits[name]) : json_u32(at, name);
}

enum { LARGE_BUFFER = 8 << 20 /* bytes of lines from which on they are flushed */ };

/* Writes a line's first field, the type, between commas. */
static inline char *write_type(char *at, unsigned type)
{
    if (type > 9) { /* NODE_SLICED */
        *at++ = ',';
        at = json_u32(at, type);
        *at++ = ',';
        return at;
    }
    const char text[] = {',', (char)('0' + type), ','};
    memcpy(at, text, sizeof(text));
    return at + sizeof(text);
}

/* Writes the line of a node, seven numbers after a comma, and returns the position after it.
 * detachedness has one digit. */
static inline char *lines_write_node(char *at, const struct name_digits *names, enum node_type type,
                                     uint32_t name, uint32_t id, uint32_t size, uint32_t edge_count,
                                     uint32_t detachedness)
{
    at = lines_write_name(write_type(at, type), names, name);
    *at++ = ',';
    at = json_u32(at, id);
    *at++ = ',';
    at = json_u32(at, size);
    *at++ = ',';
    at = json_u32(at, edge_count);
    const char end[] = {',', '0', ',', (char)('0' + detachedness), '\n'};
    memcpy(at, end, sizeof(end));
    return at + sizeof(end);
}

/* Writes the end of an edge's line: its target, which is the index of the first field of the node
 * that is written as number node. */
static inline char *write_target(char *at, uint32_t node)
{
    *at++ = ',';
    at = json_u32(at, node * NODE_FIELDS);
    *at++ = '\n';
    return at;
}

/* Writes the line of an edge by index. */
static inline char *write_element(char *at, uint32_t index, uint32_t node)
{
    return write_target(json_u32(write_type(at, EDGE_ELEMENT), index), node);
}

/* Writes an edge of a type other than EDGE_ELEMENT, which has a name. */
static inline char *write_edge(char *at, const struct name_digits *names, enum edge_type type,
                               uint32_t name, uint32_t node)
{
    return write_target(lines_write_name(write_type(at, type), names, name), node);
}

/* ==== nodes, edges, strings ==== */

enum { STRINGS_PER_TASK = 1 << 15 };

enum { MANY = 64 /* nodes or edges that are read at a time */ };

/* V8's lists as of Chromium 156 and Node 20. They are complete because other readers insist on all
 * entries. */
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

struct heapsnapshot_part {
    uint32_t node, name, id, size; /* name: a string's number */
    enum node_type type;
};

struct heapsnapshot_snapshot {
    const struct g2h_view *view;
    const struct g2h_progress *progress;
    struct g2h_identity *series; /* NULL: none */
    bool is_timeline;            /* ids are by age, and there are samples */
    struct node_ids ids;
    struct strings strings;
    struct detached detached;
    struct goroutine_names goroutine_names;
    struct overlay overlay;
    VECTOR(struct heapsnapshot_part) parts; /* ascending by node; written after the view's nodes */
    uint32_t continued;                     /* a string's number: the name of edges to parts */
    struct contexts contexts; /* after the parts, its groups, the event handlers, its contexts, */
    struct numbers numbers; /* and the nodes of numbers after these: see heapsnapshot_write_parts */
    const struct g2h_code_location *locations; /* location_count elements */
    size_t location_count;
    uint64_t nodes, edges;
    size_t string_tasks;
    struct name_digits digits;     /* of the strings that are names */
    struct overlay_edges *readers; /* by thread */
};

/* ---- preparation ---- */

/* Adds the parts in which a large node continues, of IDS_PART bytes each but the last, in the order
 * of addresses. Returns false if memory runs out. */
static bool heapsnapshot_add_parts(struct heapsnapshot_snapshot *snapshot, uint32_t number,
                                   const struct g2h_node *node)
{
    struct heapsnapshot_part part = {
        .node = number, .type = node->kind == G2H_NODE_STACK ? NODE_NATIVE : NODE_OBJECT};
    struct text text = {0};
    size_t size;
    const char *class = g2h_view_name(snapshot->view, node->name, &size);
    if (node->name == G2H_NAME_NONE) /* a string would show more than the part contains */
        text_printf(&text, "noptr%" PRIu64, node->size);
    text_append(&text, class, size);
    text_printf(&text, " (continued)");
    bool good =
        !text.failed && strings_add(&snapshot->strings, text.data, text.size, &part.name) &&
        strings_add(&snapshot->strings, "continued", strlen("continued"), &snapshot->continued);
    for (uint64_t done = IDS_PART; done < node->size && good; done += part.size) {
        part.size = node->size - done < IDS_PART ? (uint32_t)(node->size - done) : IDS_PART;
        good = (node->members > 0 ? ids_folded(&snapshot->ids.ids, id_hash(number + done), &part.id)
                                  : ids_part(&snapshot->ids.ids, node->object, done, &part.id)) &&
               vector_push(&snapshot->parts, part);
    }
    text_deinit(&text);
    return good;
}

/* Finds the nodes of more than IDS_PART bytes, and the parts in which each continues; none if no
 * node is that large. */
static struct g2h_error *find_parts(struct heapsnapshot_snapshot *snapshot)
{
    const uint32_t nodes = g2h_view_node_count(snapshot->view);
    if (g2h_view_account(snapshot->view)->largest_node <= IDS_PART)
        return NULL;
    for (uint32_t i = snapshot->ids.first_object; i < nodes; i++) {
        struct g2h_node node;
        g2h_view_brief(snapshot->view, i, &node);
        if (node.size > IDS_PART && !heapsnapshot_add_parts(snapshot, i, &node))
            return &error_no_memory;
    }
    assert(IS_ORDERED(i, snapshot->parts.count,
                      snapshot->parts.data[i - 1].node <= snapshot->parts.data[i].node));
    return NULL;
}

/* Counts all nodes and edges of the file. Error: more than DevTools can read (G2H_ERROR_LIMIT). */
static struct g2h_error *heapsnapshot_count_all(struct heapsnapshot_snapshot *snapshot,
                                                const char *name)
{
    const struct g2h_view_account *account = g2h_view_account(snapshot->view);
    const struct contexts *contexts = &snapshot->contexts;
    const struct numbers *numbers = &snapshot->numbers;
    snapshot->nodes = account->nodes + snapshot->parts.count + contexts->list.count +
                      contexts_handlers(contexts) + numbers->nodes.count;
    snapshot->edges = account->edges + snapshot->overlay.link_count + snapshot->parts.count +
                      contexts->edges.count + CONTEXT_EDGES * contexts->list.count +
                      contexts_handler_edges(contexts) + numbers->edges.count;
    if (snapshot->nodes > limits.snapshot_nodes || snapshot->edges > limits.snapshot_edges)
        return error_create(
            G2H_ERROR_LIMIT,
            "%s: %llu nodes and %llu edges: more than the %llu and %llu that a "
            "heap snapshot can have; --max-nodes 10M folds the smallest",
            name, (unsigned long long)snapshot->nodes, (unsigned long long)snapshot->edges,
            (unsigned long long)limits.snapshot_nodes, (unsigned long long)limits.snapshot_edges);
    return NULL;
}

/* Makes the digits of the numbers of names, up to JSON_SHORT. */
static struct g2h_error *make_digits(struct heapsnapshot_snapshot *snapshot)
{
    const uint32_t names = snapshot->strings.first_text;
    const uint32_t count = MIN(names, JSON_SHORT);
    snapshot->digits.digits = block_alloc(count_and_end(count), sizeof(*snapshot->digits.digits));
    TRY_MEMORY(snapshot->digits.digits);
    snapshot->digits.count = count;
    for (uint32_t i = 0; i < count; i++)
        snapshot->digits.digits[i] = json_short(i);
    return NULL;
}

/* Finds the numbers in objects, if they are wanted, and tells the caller how many nodes and edges
 * they take. */
static struct g2h_error *find_numbers(struct heapsnapshot_snapshot *snapshot,
                                      const struct g2h_heapsnapshot_options *wanted)
{
    struct numbers *numbers = &snapshot->numbers;
    if (wanted->numbers)
        TRY(numbers_init(numbers, snapshot->view, wanted->numbers_of, !snapshot->series,
                         &snapshot->ids.ids, &snapshot->strings));
    if (wanted->numbers_account)
        *wanted->numbers_account =
            (struct g2h_numbers_account){numbers->nodes.count, numbers->edges.count};
    return NULL;
}

/* The two parts of heapsnapshot_prepare() that look at each object on one thread; neither needs the
 * other. */
static struct g2h_error *heapsnapshot_init_strings(void *context)
{
    struct heapsnapshot_snapshot *snapshot = context;
    return strings_init(&snapshot->strings, snapshot->view, snapshot->series);
}

static struct g2h_error *heapsnapshot_init_overlay(void *context)
{
    struct heapsnapshot_snapshot *snapshot = context;
    return overlay_init(&snapshot->overlay, snapshot->view);
}

/* Makes all that nodes and edges are written from. The order matters: ids before the nodes that
 * need some, all names before the heap's strings, whose numbers follow. */
static struct g2h_error *heapsnapshot_prepare(struct heapsnapshot_snapshot *snapshot,
                                              unsigned threads,
                                              const struct g2h_output_options *options)
{
    struct g2h_heapsnapshot_options wanted;
    OPTIONS_COPY(&wanted, options->heapsnapshot);
    TRY(snapshot->is_timeline ? node_ids_init_by_age(&snapshot->ids, snapshot->view)
                              : node_ids_init(&snapshot->ids, snapshot->view, snapshot->series));
    TRY(workers_beside(threads, heapsnapshot_init_strings, heapsnapshot_init_overlay, snapshot));
    TRY(detached_init(snapshot->view, &snapshot->detached));
    TRY(goroutine_names_init(snapshot->view, &snapshot->strings, &snapshot->goroutine_names));
    TRY_MEMORY(strings_name_links(&snapshot->strings, &snapshot->overlay));
    TRY(find_parts(snapshot));
    if (!wanted.no_contexts)
        TRY(contexts_init(&snapshot->contexts, snapshot->view, &snapshot->ids.ids,
                          &snapshot->strings));
    TRY(find_numbers(snapshot, &wanted));
    snapshot->locations = wanted.locations;
    snapshot->location_count = wanted.location_count;
    TRY(heapsnapshot_count_all(snapshot, options->name));
    TRY(strings_number_texts(&snapshot->strings, threads));
    TRY(make_digits(snapshot));
    snapshot->string_tasks =
        (size_t)((strings_count(&snapshot->strings) + STRINGS_PER_TASK - 1) / STRINGS_PER_TASK);
    snapshot->readers = calloc(threads, sizeof(*snapshot->readers));
    if (!snapshot->readers)
        return &error_no_memory;
    for (unsigned i = 0; i < threads; i++)
        TRY(overlay_edges_init(&snapshot->readers[i], &snapshot->overlay));
    return NULL;
}

static void snapshot_deinit(struct heapsnapshot_snapshot *snapshot, unsigned threads)
{
    for (unsigned i = 0; i < threads && snapshot->readers; i++)
        overlay_edges_deinit(&snapshot->readers[i]);
    free(snapshot->readers);
    free(snapshot->digits.digits);
    free(snapshot->parts.data);
    detached_deinit(&snapshot->detached);
    goroutine_names_deinit(&snapshot->goroutine_names);
    overlay_deinit(&snapshot->overlay);
    contexts_deinit(&snapshot->contexts);
    numbers_deinit(&snapshot->numbers);
    strings_deinit(&snapshot->strings);
    node_ids_deinit(&snapshot->ids);
}

/* ---- the header ---- */

/* Appends a string of the dump without characters that could end a JSON string or unbalance the
 * header's braces. */
static void append_harmless(struct text *text, const char *name)
{
    for (; *name; name++) {
        bool safe = *name > ' ' && *name < 0x7f && !strchr("\"\\{}[]", *name);
        text_append(text, safe || *name == ' ' ? name : "?", 1);
    }
}

/* Appends how many stacks of goroutines there are, and their bytes; nothing if the view has
 * none. */
static void append_stacks(struct text *text, const struct g2h_view *view)
{
    const struct g2h_view_account *account = g2h_view_account(view);
    const struct g2h_memstats *memstats = g2h_heap_memstats(g2h_view_heap(view));
    if (account->stacks == 0)
        return;
    text_printf(text, "\"stacks\":%llu,\"stack_bytes\":%llu,", (unsigned long long)account->stacks,
                (unsigned long long)account->stack_bytes);
    if (memstats)
        text_printf(text, "\"stack_inuse\":%llu,",
                    (unsigned long long)memstats->numbers[G2H_MEMSTATS_STACK_INUSE]);
}

/* Appends how ids come from addresses. Ids of a series do not, and are only marked as such. */
static void append_ids(struct text *text, const struct heapsnapshot_snapshot *snapshot)
{
    const struct ids *ids = &snapshot->ids.ids;
    if (snapshot->series) {
        text_printf(text, "\"ids\":\"series\"");
        return;
    }
    if (snapshot->is_timeline) {
        text_printf(text, "\"ids\":\"age\"");
        return;
    }
    text_printf(text, "\"id_base\":\"0x%llx\",\"id_granule\":%llu", (unsigned long long)ids->base,
                (unsigned long long)ID_GRANULE);
    bool exceptions = false;
    for (size_t i = 0; i < ids->arena_count; i++) {
        const struct id_arena *arena = &ids->arenas[i];
        if (!ids_is_exception(ids, arena))
            continue;
        text_printf(text, "%s[\"0x%llx\",%u]", exceptions ? "," : ",\"id_arenas\":[",
                    (unsigned long long)(arena->arena << ID_ARENA_SHIFT), arena->slot);
        exceptions = true;
    }
    text_printf(text, "%s,\"id_displaced\":%llu", exceptions ? "]" : "",
                (unsigned long long)ids->displaced.count);
}

/* Returns how much larger RSS of the process is than all nodes; 0: not known. DevTools adds it to
 * the total, so that this is RSS, and shows it as memory outside of the JavaScript heap. */
static uint64_t bytes_outside(const struct g2h_view *view)
{
    const struct g2h_heap *heap = g2h_view_heap(view);
    const struct g2h_memory *memory = g2h_heap_memory(heap);
    const struct g2h_view_account *account = g2h_view_account(view);
    const uint64_t nodes =
        g2h_heap_account(heap)->object_bytes - account->left_out_bytes + account->stack_bytes;
    return memory && memory->resident > nodes ? memory->resident - nodes : 0;
}

/* Writes "snapshot": V8's lists of fields, what is known of the heap, and the counts of nodes and
 * edges. */
static struct g2h_error *heapsnapshot_write_header(const struct heapsnapshot_snapshot *snapshot,
                                                   struct worker_buffer *buffer)
{
    const struct g2h_heap *heap = g2h_view_heap(snapshot->view);
    const struct g2h_params *params = g2h_heap_params(heap);
    const struct g2h_view_account *account = g2h_view_account(snapshot->view);
    struct text text = {0};
    text_append_string(&text, "{\"snapshot\":{");
    text_append(&text, meta, sizeof(meta) - 1);
    text_printf(&text,
                ",\"go2heapsnapshot\":{\"version\":\"%s\",\"format\":\"%s\",\"go_version\":\"",
                G2H_VERSION, g2h_heap_format(heap));
    append_harmless(&text, g2h_heap_go_version(heap));
    text_printf(&text, "\",\"goarch\":\"");
    append_harmless(&text, params->arch);
    text_printf(
        &text,
        "\",\"pointer_size\":%d,\"big_endian\":%s,\"complete\":%s,\"objects\":%u,\"bytes\":%llu,",
        (int)params->pointer_size, params->big_endian ? "true" : "false",
        g2h_heap_is_complete(heap) ? "true" : "false", g2h_heap_object_count(heap),
        (unsigned long long)g2h_heap_account(heap)->object_bytes);
    append_stacks(&text, snapshot->view);
    append_ids(&text, snapshot);
    if (account->left_out_objects > 0)
        text_printf(&text, ",\"left_out_objects\":%llu,\"left_out_bytes\":%llu",
                    (unsigned long long)account->left_out_objects,
                    (unsigned long long)account->left_out_bytes);
    if (account->folded_nodes > 0)
        text_printf(&text, ",\"folded_objects\":%llu,\"folded_nodes\":%llu",
                    (unsigned long long)account->folded_objects,
                    (unsigned long long)account->folded_nodes);
    text_printf(&text,
                "},\"node_count\":%llu,\"edge_count\":%llu,\"trace_function_count\":0,\"extra_"
                "native_bytes\":%llu},\n",
                (unsigned long long)snapshot->nodes, (unsigned long long)snapshot->edges,
                (unsigned long long)bytes_outside(snapshot->view));
    text_printf(&text, "\"nodes\":[");
    bool good = !text.failed && worker_buffer_put(buffer, text.data, text.size);
    text_deinit(&text);
    return good ? NULL : &error_no_memory;
}

/* ---- nodes ---- */

/* Returns the first of a large node's parts, or NULL if it has none. */
static const struct heapsnapshot_part *
heapsnapshot_first_part(const struct heapsnapshot_snapshot *snapshot, uint32_t node)
{
    size_t at;
    BISECT(at, snapshot->parts.count, snapshot->parts.data[at].node < node);
    return at < snapshot->parts.count && snapshot->parts.data[at].node == node
               ? &snapshot->parts.data[at]
               : NULL;
}

/* Returns how many parts a large node has, from its first one on; 0 if first is NULL. */
static uint32_t part_count(const struct heapsnapshot_snapshot *snapshot,
                           const struct heapsnapshot_part *first)
{
    const struct heapsnapshot_part *part = first,
                                   *end = snapshot->parts.data + snapshot->parts.count;
    while (part && part < end && part->node == first->node)
        part++;
    return (uint32_t)(part - first);
}

/* Returns how many numbers a node has, and sets *ret to the first; leaves it if there are none. */
static uint32_t numbers_of_node(const struct heapsnapshot_snapshot *snapshot, uint32_t node,
                                const struct number_edge **ret)
{
    const struct numbers *numbers = &snapshot->numbers;
    const size_t index = numbers_from(numbers, node);
    return index < numbers->list.count && numbers->list.data[index].node == node
               ? numbers_of(numbers, index, ret)
               : 0;
}

/* Returns how many edges a node that is not an object has because of contexts and event handlers.
 */
static uint32_t more_edges(const struct heapsnapshot_snapshot *snapshot, uint32_t node)
{
    const struct contexts *contexts = &snapshot->contexts;
    uint32_t more = contexts_of(contexts, node) != UINT32_MAX;
    if (node == 0 && contexts->listeners.count > 0)
        more++;
    return more;
}

/* Returns the first node from first on whose edges are not those in the view, because of the
 * overlay or of groups. */
static uint32_t next_that_differs(const struct heapsnapshot_snapshot *snapshot, uint32_t first)
{
    const struct context_parent *parent = contexts_next_parent(&snapshot->contexts, first);
    const uint32_t next = overlay_next(&snapshot->overlay, first);
    return parent && parent->node < next ? parent->node : next;
}

/* Returns the number of edges of a node that next_that_differs() has found, which has `edges` in
 * the view. */
static uint32_t different_edges(const struct heapsnapshot_snapshot *snapshot, uint32_t node,
                                uint32_t edges)
{
    const struct context_parent *parent = contexts_next_parent(&snapshot->contexts, node);
    edges = overlay_edge_count(&snapshot->overlay, node, edges);
    return parent && parent->node == node ? (uint32_t)(edges + parent->more_edges) : edges;
}

/* Writes a node. Of a larger one than IDS_PART its parts have the other bytes. *texts is at the
 * string of the block's next string node, *differs the next node whose edges are not those in the
 * view. */
static char *write_node_of(const struct heapsnapshot_snapshot *snapshot, char *at, uint32_t number,
                           const struct g2h_node *node, const uint32_t **texts, uint32_t *differs)
{
    const struct node_label label = label_node(&snapshot->strings, node, texts);
    uint32_t edges = node->edges;
    if (number == *differs) {
        edges = different_edges(snapshot, number, edges);
        *differs = next_that_differs(snapshot, number + 1);
    }
    if (snapshot->parts.count > 0)
        edges += part_count(snapshot, heapsnapshot_first_part(snapshot, number));
    if (number < snapshot->ids.first_object)
        edges += more_edges(snapshot, number);
    else if (snapshot->numbers.list.count > 0)
        edges += numbers_of_node(snapshot, number, &(const struct number_edge *){NULL});
    return lines_write_node(at, &snapshot->digits, label.type,
                            goroutine_names_of(&snapshot->goroutine_names, number, label.name),
                            node_ids_of(&snapshot->ids, number, node),
                            node->size < IDS_PART ? (uint32_t)node->size : IDS_PART, edges,
                            detached_of(&snapshot->detached, number));
}

/* Writes the nodes of a block, a line each, MANY of them at a time. */
static struct g2h_error *write_nodes(const struct heapsnapshot_snapshot *snapshot, size_t block,
                                     struct worker_buffer *buffer)
{
    const uint32_t first = as_u32(block) << SNAPSHOT_BLOCK_SHIFT;
    const uint32_t end = snapshot_block_end(snapshot->view, first);
    const uint32_t *texts = snapshot->strings.node_texts[block];
    uint32_t differs = next_that_differs(snapshot, first);
    struct g2h_node nodes[MANY];
    char *begin = worker_buffer_reserve(buffer, (size_t)(end - first) * NODE_LINE + LINE_SLACK);
    char *at = begin;
    if (!begin)
        return &error_no_memory;
    for (uint32_t node = first; node - first < SNAPSHOT_BLOCK; node += MANY) {
        const size_t count = g2h_view_nodes(snapshot->view, node, MANY, nodes);
        for (size_t i = 0; i < count; i++) {
            at = write_node_of(snapshot, at, node + as_u32(i), &nodes[i], &texts, &differs);
            if (node + i == 0) /* no comma before the first node */
                memmove(begin, begin + 1, as_size(--at - begin));
        }
        if (count < MANY)
            break;
    }
    buffer->size = as_size(at - buffer->data);
    return NULL;
}

/* Writes the nodes after those of the view: parts, groups, event handlers, contexts and numbers.
 * The last node of a file, a context or a number, dominates nothing: if it did, the parser of VS
 * Code would write beyond its lists. */
static struct g2h_error *heapsnapshot_write_parts(const struct heapsnapshot_snapshot *snapshot,
                                                  struct worker_buffer *buffer)
{
    const struct contexts *contexts = &snapshot->contexts;
    const struct numbers *numbers = &snapshot->numbers;
    const size_t listeners = contexts->listeners.count,
                 count = snapshot->parts.count + contexts->list.count +
                         contexts_handlers(contexts) + numbers->nodes.count;
    char *at = worker_buffer_reserve(buffer, count * NODE_LINE + LINE_SLACK);
    if (!at)
        return &error_no_memory;
    VECTOR_EACH(const struct heapsnapshot_part, part, snapshot->parts)
        at = lines_write_node(at, &snapshot->digits, part->type, part->name, part->id, part->size,
                              0, 0);
    VECTOR_EACH(const struct context_group, group, contexts->groups)
        at = lines_write_node(at, &snapshot->digits, NODE_SYNTHETIC, group->name, group->id, 0,
                              as_u32(group->count), 0);
    if (listeners > 0)
        at = lines_write_node(at, &snapshot->digits, NODE_SYNTHETIC, contexts->handlers,
                              contexts->handlers_id, 0, as_u32(listeners), 0);
    for (size_t i = 0; i < listeners; i++)
        at = lines_write_node(at, &snapshot->digits, NODE_SYNTHETIC, contexts->listener,
                              contexts->listeners.data[i].id, 0, 1, 0);
    VECTOR_EACH(const struct context, context, contexts->list)
        at = lines_write_node(at, &snapshot->digits, NODE_SYNTHETIC, context->name, context->id, 0,
                              CONTEXT_EDGES, 0);
    VECTOR_EACH(const struct number_node, number, numbers->nodes)
        at =
            lines_write_node(at, &snapshot->digits, NODE_NUMBER, number->name, number->id, 0, 0, 0);
    buffer->size = as_size(at - buffer->data);
    return NULL;
}

/* ---- edges ---- */

/* Writes an edge of the view, by index or by name. keys has the names by keys that the block has
 * left. */
static inline char *write_edge_of(const struct heapsnapshot_snapshot *snapshot, char *at,
                                  const struct g2h_edge *edge, struct keys_left *keys)
{
    const struct edge_label label = label_edge(&snapshot->strings, edge, keys);
    return label.type == EDGE_ELEMENT
               ? write_element(at, (uint32_t)label.name_or_index, edge->target)
               : write_edge(at, &snapshot->digits, label.type, (uint32_t)label.name_or_index,
                            edge->target);
}

/* Writes the edges of the nodes from first to end, all but those to parts, contexts and numbers. */
static struct g2h_error *write_edges_of(const struct heapsnapshot_snapshot *snapshot,
                                        struct overlay_edges *reader, uint32_t first, uint32_t end,
                                        struct keys_left *keys, struct worker_buffer *buffer)
{
    struct g2h_edge edges[MANY];
    size_t count;
    overlay_edges_begin(reader, first, end);
    while ((count = overlay_edges_read(reader, edges, MANY)) > 0) {
        TRY(worker_buffer_provide(buffer, MANY * EDGE_LINE + LINE_SLACK, LARGE_BUFFER));
        char *at = buffer->data + buffer->size;
        for (size_t i = 0; i < count; i++)
            at = write_edge_of(snapshot, at, &edges[i], keys);
        buffer->size = as_size(at - buffer->data);
    }
    return NULL;
}

/* Returns the number under which a group is written as a node. */
static uint32_t group_node(const struct heapsnapshot_snapshot *snapshot, size_t group)
{
    return g2h_view_node_count(snapshot->view) + as_u32(snapshot->parts.count + group);
}

/* Returns the number under which "(event handlers)" is written as a node, if listener is 0, or a
 * listener, the first one of which is 1. */
static uint32_t handler_node(const struct heapsnapshot_snapshot *snapshot, size_t listener)
{
    return group_node(snapshot, snapshot->contexts.groups.count) + as_u32(listener);
}

/* Writes the edge to a group if the node is its parent, and the one if the node has all groups of
 * timers. */
static char *write_edges_to_group(const struct heapsnapshot_snapshot *snapshot, char *at,
                                  uint32_t node, size_t number)
{
    const struct contexts *contexts = &snapshot->contexts;
    const struct context_group *group = &contexts->groups.data[number];
    const struct context_member *first = &contexts->members.data[group->first];
    const uint32_t target = group_node(snapshot, number),
                   index = first->type == EDGE_ELEMENT ? first->name_or_index : as_u32(number) + 1;
    if (group->parent == node && group->kind == GROUP_OF_VARIABLES)
        at = write_edge(at, &snapshot->digits, EDGE_PROPERTY, contexts->together, target);
    else if (group->parent == node)
        at = write_element(at, index, target);
    if (contexts->timers_above == node && group->kind == GROUP_OF_TIMERS)
        at = write_edge(at, &snapshot->digits, EDGE_WEAK, contexts->timers, target);
    return at;
}

/* Writes the edges of a node that has groups: to what is in none, and to the groups. */
static struct g2h_error *write_grouped(const struct heapsnapshot_snapshot *snapshot,
                                       struct overlay_edges *reader, uint32_t node,
                                       struct worker_buffer *buffer)
{
    const struct contexts *contexts = &snapshot->contexts;
    struct keys_left none = {0}; /* the node has no edges with keys */
    struct g2h_edge edge;
    overlay_edges_begin(reader, node, node + 1);
    while (overlay_edges_read(reader, &edge, 1) > 0) {
        if ((edge.flags & G2H_EDGE_WEAK) == 0 && contexts_is_in_group(contexts, node, edge.target))
            continue;
        TRY(worker_buffer_provide(buffer, EDGE_LINE + LINE_SLACK, LARGE_BUFFER));
        buffer->size = as_size(write_edge_of(snapshot, buffer->data + buffer->size, &edge, &none) -
                               buffer->data);
    }
    for (size_t i = 0; i < contexts->groups.count; i++) {
        TRY(worker_buffer_provide(buffer, 2 * EDGE_LINE + LINE_SLACK, LARGE_BUFFER));
        buffer->size = as_size(
            write_edges_to_group(snapshot, buffer->data + buffer->size, node, i) - buffer->data);
    }
    return NULL;
}

/* Writes the edges from a large node to its parts; nothing for all other nodes. */
static struct g2h_error *write_edges_to_parts(const struct heapsnapshot_snapshot *snapshot,
                                              uint32_t node, struct worker_buffer *buffer)
{
    const struct heapsnapshot_part *part = heapsnapshot_first_part(snapshot, node);
    const uint32_t count = part_count(snapshot, part),
                   first = g2h_view_node_count(snapshot->view) +
                           (uint32_t)(part ? part - snapshot->parts.data : 0);
    for (uint32_t i = 0; i < count; i++) {
        TRY(worker_buffer_provide(buffer, EDGE_LINE + LINE_SLACK, LARGE_BUFFER));
        buffer->size = (size_t)(write_edge(buffer->data + buffer->size, &snapshot->digits,
                                           EDGE_INTERNAL, snapshot->continued, first + i) -
                                buffer->data);
    }
    return NULL;
}

/* Returns the number under which a context is written as a node. */
static uint32_t context_node(const struct heapsnapshot_snapshot *snapshot, size_t context)
{
    return g2h_view_node_count(snapshot->view) +
           as_u32(snapshot->parts.count + contexts_handlers(&snapshot->contexts) + context);
}

/* Writes the edge from a group's node to its context; nothing for a node without one. */
static struct g2h_error *write_edge_to_context(const struct heapsnapshot_snapshot *snapshot,
                                               uint32_t node, struct worker_buffer *buffer)
{
    const uint32_t context = contexts_of(&snapshot->contexts, node);
    if (context == UINT32_MAX)
        return NULL;
    TRY(worker_buffer_provide(buffer, EDGE_LINE + LINE_SLACK, LARGE_BUFFER));
    buffer->size = as_size(write_edge(buffer->data + buffer->size, &snapshot->digits, EDGE_INTERNAL,
                                      snapshot->contexts.map, context_node(snapshot, context)) -
                           buffer->data);
    return NULL;
}

/* Writes a node's edges to its numbers, whose nodes come after all contexts. */
static struct g2h_error *write_edges_to_numbers(const struct heapsnapshot_snapshot *snapshot,
                                                uint32_t node, struct worker_buffer *buffer)
{
    const struct contexts *contexts = &snapshot->contexts;
    const uint32_t first_number = context_node(snapshot, contexts->list.count);
    const struct number_edge *edges;
    const uint32_t count = numbers_of_node(snapshot, node, &edges);
    TRY(worker_buffer_provide(buffer, (size_t)count * EDGE_LINE + LINE_SLACK, LARGE_BUFFER));
    char *at = buffer->data + buffer->size;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t name = edges[i].name;
        const uint32_t target = first_number + edges[i].number;
        at = (name & KEY_NUMBER_ELEMENT) != 0
                 ? write_element(at, name & ~KEY_NUMBER_ELEMENT, target)
                 : write_edge(at, &snapshot->digits, EDGE_PROPERTY, name, target);
    }
    buffer->size = as_size(at - buffer->data);
    return NULL;
}

/* Writes the edges of the nodes that are not in the view, in the order of these nodes: groups to
 * their members, "(event handlers)" to the listeners, listeners to their targets, contexts to
 * themselves. */
static struct g2h_error *write_edges_of_contexts(const struct heapsnapshot_snapshot *snapshot,
                                                 struct worker_buffer *buffer)
{
    const struct contexts *contexts = &snapshot->contexts;
    const size_t listeners = contexts->listeners.count,
                 edges = 2 * listeners + contexts->members.count;
    TRY(worker_buffer_provide(
        buffer, (CONTEXT_EDGES * contexts->list.count + edges) * EDGE_LINE + LINE_SLACK,
        LARGE_BUFFER));
    char *at = buffer->data + buffer->size;
    VECTOR_EACH(const struct context_member, member, contexts->members)
        at = member->type == EDGE_ELEMENT
                 ? write_element(at, member->name_or_index, member->node)
                 : write_edge(at, &snapshot->digits, (enum edge_type)member->type,
                              member->name_or_index, member->node);
    for (size_t i = 0; i < listeners; i++)
        at = write_element(at, as_u32(i) + 1, handler_node(snapshot, 1 + i));
    for (size_t i = 0; i < listeners; i++)
        at = write_edge(at, &snapshot->digits, EDGE_WEAK, contexts->first,
                        contexts->listeners.data[i].target);
    for (size_t i = 0; i < contexts->list.count; i++) {
        const uint32_t node = context_node(snapshot, i);
        at = write_edge(at, &snapshot->digits, EDGE_INTERNAL, contexts->map, node);
        at = write_edge(at, &snapshot->digits, EDGE_INTERNAL, contexts->native_context, node);
    }
    buffer->size = as_size(at - buffer->data);
    return NULL;
}

/* Writes the root's edge to "(event handlers)", if there are any. Its number keeps it last. */
static struct g2h_error *write_edge_to_handlers(const struct heapsnapshot_snapshot *snapshot,
                                                struct worker_buffer *buffer)
{
    enum { LAST = 99 };
    const struct contexts *contexts = &snapshot->contexts;
    if (contexts->listeners.count == 0)
        return NULL;
    TRY(worker_buffer_provide(buffer, EDGE_LINE + LINE_SLACK, LARGE_BUFFER));
    buffer->size =
        (size_t)(write_element(buffer->data + buffer->size, LAST, handler_node(snapshot, 0)) -
                 buffer->data);
    return NULL;
}

/* Returns where a run of nodes from first on ends, at most at end. Only its last node may have
 * edges that the view does not know: those to a context, to numbers or to parts. A node with
 * groups, and any node if there are parts, is a run of its own. */
static uint32_t next_stop(const struct heapsnapshot_snapshot *snapshot, uint32_t first,
                          uint32_t end)
{
    const struct contexts *contexts = &snapshot->contexts;
    const struct numbers *numbers = &snapshot->numbers;
    const size_t at = contexts_from(contexts, first);
    const size_t numbered = numbers_from(numbers, first);
    const struct context_parent *parent = contexts_next_parent(contexts, first);
    if (snapshot->parts.count > 0 || (parent && parent->node == first))
        return first + 1;
    if (parent && parent->node < end)
        end = parent->node;
    if (at < contexts->edges.count && contexts->edges.data[at].node < end)
        end = contexts->edges.data[at].node + 1;
    if (numbered < numbers->list.count && numbers->list.data[numbered].node < end)
        end = numbers->list.data[numbered].node + 1;
    return end;
}

/* Writes all edges of the nodes from first to end, which are in one block. */
static struct g2h_error *write_edges_from(const struct heapsnapshot_snapshot *snapshot,
                                          struct overlay_edges *reader, uint32_t first,
                                          uint32_t end, struct keys_left *keys,
                                          struct worker_buffer *buffer)
{
    for (uint32_t node = first, stop; node < end; node = stop) {
        stop = next_stop(snapshot, node, end);
        TRY(contexts_is_grouped(&snapshot->contexts, node)
                ? write_grouped(snapshot, reader, node, buffer)
                : write_edges_of(snapshot, reader, node, stop, keys, buffer));
        if (snapshot->parts.count > 0)
            TRY(write_edges_to_parts(snapshot, stop - 1, buffer));
        TRY(write_edge_to_context(snapshot, stop - 1, buffer));
        if (snapshot->numbers.list.count > 0)
            TRY(write_edges_to_numbers(snapshot, stop - 1, buffer));
    }
    return NULL;
}

/* Writes the edges of a block of nodes. Only the root, in the first block, has the edge to "(event
 * handlers)" after its own. */
static struct g2h_error *heapsnapshot_write_edges(const struct heapsnapshot_snapshot *snapshot,
                                                  size_t block, unsigned worker,
                                                  struct worker_buffer *buffer)
{
    const struct strings *strings = &snapshot->strings;
    const uint32_t first = as_u32(block) << SNAPSHOT_BLOCK_SHIFT,
                   end = snapshot_block_end(snapshot->view, first);
    struct overlay_edges *reader = &snapshot->readers[worker];
    struct keys_left keys = keys_of_block(strings, block);
    if (block > 0)
        return write_edges_from(snapshot, reader, first, end, &keys, buffer);
    const size_t begin = buffer->size; /* the root has few edges: none of them is flushed here */
    TRY(write_edges_from(snapshot, reader, 0, 1, &keys, buffer));
    TRY(write_edge_to_handlers(snapshot, buffer));
    if (buffer->size > begin) /* no comma before the first edge */
        memmove(buffer->data + begin, buffer->data + begin + 1, --buffer->size - begin);
    return write_edges_from(snapshot, reader, 1, end, &keys, buffer);
}

/* ---- locations ---- */

/* Writes where the code of nodes is: the index of a node's first field, script, line, and column,
 * which is 0. */
static struct g2h_error *write_locations(const struct heapsnapshot_snapshot *snapshot,
                                         struct worker_buffer *buffer)
{
    enum { MOST = 3 * JSON_U32_MAX + sizeof(",,,,0") };
    for (size_t i = 0; i < snapshot->location_count; i++) {
        const struct g2h_code_location *location = &snapshot->locations[i];
        TRY(worker_buffer_provide(buffer, MOST, LARGE_BUFFER));
        char *at = buffer->data + buffer->size;
        if (i > 0)
            *at++ = ',';
        at = json_u32(at, NODE_FIELDS * location->node);
        *at++ = ',';
        at = json_u32(at, location->script);
        *at++ = ',';
        at = json_u32(at, location->line);
        *at++ = ',';
        *at++ = '0';
        buffer->size = as_size(at - buffer->data);
    }
    return NULL;
}

/* ---- strings ---- */

/* Writes a string, after a comma unless it is the first. Returns false if memory runs out. */
static bool heapsnapshot_write_string(struct worker_buffer *buffer, bool is_first, const char *text,
                                      size_t size)
{
    char *at = worker_buffer_reserve(buffer, json_string_limit(size) + 2);
    if (!at)
        return false;
    if (!is_first) {
        *at++ = ',';
        *at++ = '\n';
    }
    buffer->size = as_size(json_string(at, text, size) - buffer->data);
    return true;
}

/* Writes the strings of a task, STRINGS_PER_TASK of them or those that are left. */
static struct g2h_error *heapsnapshot_write_strings(const struct heapsnapshot_snapshot *snapshot,
                                                    size_t task, struct worker_buffer *buffer)
{
    const struct strings *strings = &snapshot->strings;
    const uint64_t first = (uint64_t)task * STRINGS_PER_TASK;
    const uint64_t count = strings_count(strings);
    struct g2h_text text = {0};
    bool good = true;
    for (uint64_t i = first; i < count && i < first + STRINGS_PER_TASK && good; i++) {
        size_t size;
        strings_prefetch(strings, i);
        const char *data = strings_text(strings, as_u32(i), &text, &size);
        good = !text.failed && heapsnapshot_write_string(buffer, i == 0, data, size);
    }
    g2h_text_deinit(&text);
    return good ? NULL : &error_no_memory;
}

/* ---- samples ---- */

/* Writes a sample for each collection that was seen: its time in microseconds, and the last id of
 * what it found first. The last sample is of what has not survived a collection; it has no time of
 * its own, and DevTools needs one that is later. */
static struct g2h_error *write_samples(const struct heapsnapshot_snapshot *snapshot,
                                       struct worker_buffer *buffer)
{
    const struct ids *ids = &snapshot->ids.ids;
    if (!snapshot->is_timeline)
        return NULL;
    const struct g2h_ages_known *known = ages_watched(g2h_view_heap(snapshot->view));
    _cleanup_(text_deinit) struct text text = {0};
    for (unsigned look = 1; look <= known->look_count; look++)
        text_printf(&text, "%lld,%u,\n",
                    (long long)(known->looks[look].time - known->looks[1].time) * 1000,
                    ids_age_id(ids, look));
    const int64_t end = known->looks[known->look_count].time - known->looks[1].time + 1;
    text_printf(&text, "%lld,%u", (long long)end * 1000, ids_age_id(ids, 0));
    TRY_MEMORY(!text.failed && worker_buffer_put(buffer, text.data, text.size));
    return NULL;
}

/* ---- the whole file ---- */

/* Writes a part of the file into a buffer, as a task of sink_run(). The tasks of all sections have
 * one sequence of numbers: blocks of nodes, the same blocks with their edges, then strings; the
 * first of each also writes what is before its section. */
static struct g2h_error *heapsnapshot_produce(void *context, size_t task, unsigned worker,
                                              struct worker_buffer *buffer)
{
    static const char edges[] = "],\n\"edges\":[",
                      samples[] =
                          "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[",
                      locations[] = "],\n\"locations\":[", strings[] = "],\n\"strings\":[";
    const struct heapsnapshot_snapshot *snapshot = context;
    const size_t blocks = snapshot->strings.blocks;
    if (snapshot->progress && worker == 0) /* worker 0 is the thread of the caller */
        snapshot->progress->update(snapshot->progress->context, "writing", task,
                                   2 * blocks + snapshot->string_tasks, 0);
    if (task == 0)
        TRY(heapsnapshot_write_header(snapshot, buffer));
    if (task < blocks)
        return write_nodes(snapshot, task, buffer);
    task -= blocks;
    if (task == 0) {
        TRY(heapsnapshot_write_parts(snapshot, buffer));
        if (!worker_buffer_put(buffer, edges, sizeof(edges) - 1))
            return &error_no_memory;
    }
    if (task < blocks)
        return heapsnapshot_write_edges(snapshot, task, worker, buffer);
    task -= blocks;
    if (task == 0) {
        TRY(write_edges_of_contexts(snapshot, buffer));
        TRY_MEMORY(worker_buffer_put(buffer, samples, sizeof(samples) - 1));
        TRY(write_samples(snapshot, buffer));
        TRY_MEMORY(worker_buffer_put(buffer, locations, sizeof(locations) - 1));
        TRY(write_locations(snapshot, buffer));
        TRY_MEMORY(worker_buffer_put(buffer, strings, sizeof(strings) - 1));
    }
    TRY(heapsnapshot_write_strings(snapshot, task, buffer));
    return task < snapshot->string_tasks - 1 || worker_buffer_put(buffer, "]}\n", 3)
               ? NULL
               : &error_no_memory;
}

/* Returns an error if it is not known since which collection objects live. */
static struct g2h_error *check_ages(const struct g2h_heap *heap)
{
    TRY(ages_check_cut(heap));
    return ages_watched(heap)
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND,
                              "it is not known since when objects live: no collection of the "
                              "process was watched; --ages 1m --pid PID watches first");
}

/* Writes a snapshot or a timeline. Error of a timeline: the dump has no ages. A timeline
 * (is_timeline) takes its numbers from no series. */
static struct g2h_error *heapsnapshot_write(const struct g2h_view *view,
                                            const struct g2h_output_options *given,
                                            bool is_timeline)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    const unsigned threads = sink_threads(view, options);
    struct heapsnapshot_snapshot snapshot = {.view = view,
                                             .progress = options->progress,
                                             .series = is_timeline ? NULL : options->series,
                                             .is_timeline = is_timeline};
    if (is_timeline)
        TRY(check_ages(g2h_view_heap(view)));
    struct g2h_error *error = heapsnapshot_prepare(&snapshot, threads, options);
    if (!error)
        error = sink_run(options, threads, 2 * snapshot.strings.blocks + snapshot.string_tasks,
                         heapsnapshot_produce, &snapshot);
    snapshot_deinit(&snapshot, threads);
    return error;
}

/* Writes a snapshot of DevTools that is not a timeline. */
struct g2h_error *g2h_write_heapsnapshot(const struct g2h_view *view,
                                         const struct g2h_output_options *options)
{
    return heapsnapshot_write(view, options, false);
}

struct g2h_error *g2h_write_heaptimeline(const struct g2h_view *view,
                                         const struct g2h_output_options *options)
{
    return heapsnapshot_write(view, options, true);
}
