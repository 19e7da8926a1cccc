/*
 * csv: writes the nodes and edges of a view as two files of comma-separated values (RFC 4180), for
 * DuckDB and all other programs that read such files: docs/csv.md.
 *
 * Columns, types, names and ids are those of the views "node" and "edge" of the format sqlite,
 * which are those of a heap snapshot. Each row contains its strings, so that strings need no
 * numbers: any free thread can make any block of nodes, or the edges of such a block. Edges are
 * written first, while another thread finds the dominators.
 */
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/ages.h"
#include "output/ids.h"
#include "output/json.h"
#include "output/labels.h"
#include "output/overlay.h"
#include "output/sink.h"

enum { MANY = 64 /* nodes or edges that are read at a time */ };

static const char node_head[] =
    "id,name,type,self_size,edge_count,retained_size,dominator,address\n",
                  aged_head[] = "id,name,type,self_size,edge_count,retained_size,dominator,address,"
                                "alive_since,alive_since_ms\n",
                  edge_head[] = "from_node,to_node,type,name_or_index\n";

/* The size with which short strings are copied, and the most characters of a row without its name:
 * 3 numbers of 32 bits, 5 of 64, a type; of an edge 2 ids, a type, an index. */
enum {
    SHORT = 16,
    NODE_ROW = 3 * (JSON_U32_MAX + 1) + 5 * (JSON_U64_MAX + 1) + 2 * SHORT,
    EDGE_ROW = 80
};

/* A short string that many rows contain. */
struct short_text {
    char data[SHORT];
    uint32_t size;
};

#define SHORT_TEXT(text) \
    { \
        text, sizeof(text) - 1 \
    }

/* Numbers below SMALL are looked up in a table. */
enum { SMALL = 1024 };

/* The names of the view as CSV fields, one after the other, by their numbers in
 * output_strings.h. */
struct fields {
    VECTOR(char) text;
    VECTOR(size_t) ends;
};

struct csv_reader { /* of one thread */
    struct overlay_edges edges;
    struct g2h_text text;
    struct short_text source; /* source_id as rows have it, with the comma */
    uint32_t source_id;
    struct short_text heads; /* the leading digits of most addresses: address_head */
    uint64_t address_head;
};

struct csv {
    const struct g2h_view *view;
    const struct g2h_output_options *options;
    const struct g2h_ages_known *ages; /* NULL: the process was not watched */
    struct g2h_dominators *dominators; /* found once the edges are written */
    struct node_ids node_ids;
    struct overlay overlay;
    struct strings strings;
    struct fields fields;
    uint32_t *ids; /* by node */
    size_t nodes, blocks;
    struct csv_reader *readers;
    unsigned threads;
    uint64_t small[SMALL]; /* by number: json_short() */
};

/* ---- fields ---- */

/* Returns the most characters that the field of a string of size bytes can take. */
static inline size_t field_limit(size_t size)
{
    return 3 * size + 2;
}

/* Returns whether any of eight bytes may be a control character, a quotation mark or a comma; only
 * false is certain. (x - 0x01…) & ~x has the top bit of each zero byte set, so XOR with a character
 * finds that character. */
static inline bool may_need_quotes(uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101;
    const uint64_t tops = ones << 7;
    const uint64_t quotes = bytes ^ ones * '"';
    const uint64_t commas = bytes ^ ones * ',';
    return ((((bytes - ones * ' ') & ~bytes) | ((quotes - ones) & ~quotes) |
             ((commas - ones) & ~commas)) &
            tops) != 0;
}

/* Returns whether a field must be quoted: RFC 4180 demands it for quotation marks, commas and line
 * ends; for outer blanks and empty strings, readers differ. Other control characters are quoted as
 * well. Looks at eight bytes at a time. */
static bool needs_quotes(const char *text, size_t size)
{
    uint64_t eight;
    size_t at = 0;
    if (size == 0 || text[0] == ' ' || text[size - 1] == ' ')
        return true;
    for (; size - at >= sizeof(eight); at += sizeof(eight)) { /* most strings need no quotes */
        memcpy(&eight, text + at, sizeof(eight));
        if (may_need_quotes(eight))
            break;
    }
    for (; at < size; at++)
        if ((unsigned char)text[at] < ' ' || text[at] == '"' || text[at] == ',')
            return true;
    return false;
}

/*
 * Writes UTF-8 as a field, in quotation marks if it needs them, and returns the position after it.
 * An empty string is written as "", which some readers distinguish from a missing value. NUL, which
 * other readers treat as the end of the string, is written as U+FFFD.
 */
static char *csv_put_text(char *at, const char *text, size_t size)
{
    static const char replacement[] = "\xef\xbf\xbd";
    if (!needs_quotes(text, size)) {
        memcpy(at, text, size);
        return at + size;
    }
    *at++ = '"';
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\0') {
            memcpy(at, replacement, sizeof(replacement) - 1);
            at += sizeof(replacement) - 1;
            continue;
        }
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}

/* Returns the field that make_fields() made of a name. */
static inline const char *csv_field_of(const struct fields *fields, uint32_t string,
                                       size_t *ret_size)
{
    const size_t begin = string > 0 ? fields->ends.data[string - 1] : 0;
    *ret_size = fields->ends.data[string] - begin;
    return fields->text.data + begin;
}

/* Makes each name of the view a CSV field once, because many rows contain it. */
static struct g2h_error *make_fields(struct csv *csv)
{
    struct fields *fields = &csv->fields;
    for (uint32_t i = 0; i < csv->strings.first_text; i++) {
        size_t size;
        const char *name = strings_text(&csv->strings, i, NULL, &size);
        TRY_MEMORY(vector_grow(&fields->text, field_limit(size)));
        char *begin = fields->text.data + fields->text.count;
        fields->text.count += as_size(csv_put_text(begin, name, size) - begin);
        TRY_MEMORY(vector_push(&fields->ends, fields->text.count));
    }
    TRY_MEMORY(vector_grow(&fields->text, SHORT)); /* csv_put_field() reads up to SHORT bytes */
    return NULL;
}

/* ---- rows ---- */

enum { LARGE = 4 << 20 /* size from which on a buffer is written */ };

/* Reports progress. Edges take about twice as long as nodes. */
static void csv_advance(const struct csv *csv, size_t done)
{
    const struct g2h_progress *progress = csv->options->progress;
    if (progress)
        progress->update(progress->context, "writing", done, 3 * csv->blocks, 0);
}

static inline char *csv_put_bytes(char *at, const char *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

/* Writes a number; the digits of small ones are in a table. */
static inline char *csv_put_number(const struct csv *csv, char *at, uint64_t number)
{
    return number < SMALL ? json_u32_short(at, csv->small[number]) : json_u64(at, number);
}

static inline char *csv_put_short(char *at, const struct short_text *text)
{
    memcpy(at, text->data, SHORT);
    return at + text->size;
}

/* Writes a field of csv->fields; SHORT bytes can be read from its start, so that short ones are
 * copied at a fixed size. */
static inline char *csv_put_field(char *at, const char *field, size_t size)
{
    if (size > SHORT)
        return csv_put_bytes(at, field, size);
    memcpy(at, field, SHORT);
    return at + size;
}

/* Writes the first row, which names the columns. */
static struct g2h_error *csv_put_head(struct worker_buffer *buffer, const char *head)
{
    TRY(worker_buffer_provide(buffer, strlen(head), LARGE));
    buffer->size =
        as_size(csv_put_bytes(buffer->data + buffer->size, head, strlen(head)) - buffer->data);
    return NULL;
}

/* ---- nodes ---- */

/* Consecutive nodes, with the ids of their dominators and their retained sizes. All of these are
 * looked up before any node is written: they are scattered in memory, and the processor can fetch
 * them all at once. */
struct node_batch {
    uint32_t first;
    size_t count;
    struct g2h_node nodes[MANY];
    uint32_t dominators[MANY]; /* ids */
    uint64_t retained_sizes[MANY];
};

/* Reads up to MANY nodes, and looks up the ids of their dominators; see struct node_batch. */
static void csv_read_nodes(const struct csv *csv, uint32_t first, struct node_batch *ret)
{
    ret->first = first;
    ret->count = g2h_view_nodes(csv->view, first, MANY, ret->nodes);
    for (size_t i = 0; i < ret->count; i++)
        if (ret->nodes[i].name == G2H_NAME_NONE)
            g2h_view_prefetch(csv->view, first + as_u32(i), G2H_SOON_KEYS);
    g2h_dominators_read(csv->dominators, first, ret->count, ret->dominators, ret->retained_sizes);
    for (size_t i = 0; i < ret->count; i++) {
        const uint32_t node = first + as_u32(i);
        overlay_dominator(&csv->overlay, csv->dominators, node, &ret->dominators[i],
                          &ret->retained_sizes[i]);
        ret->nodes[i].edges = overlay_edge_count(&csv->overlay, node, ret->nodes[i].edges);
        __builtin_prefetch(&csv->ids[ret->dominators[i]]);
    }
    for (size_t i = 0; i < ret->count; i++)
        ret->dominators[i] = csv->ids[ret->dominators[i]];
}

/* Writes an address. Most addresses have the same leading digits, which are kept, so that only the
 * last eight are made. */
static inline char *csv_put_address(struct csv_reader *reader, char *at, uint64_t address)
{
    const uint64_t head = address / JSON_EIGHT;
    if (head == 0 || head > UINT32_MAX)
        return json_u64(at, address);
    if (reader->address_head != head) {
        reader->address_head = head;
        reader->heads.size =
            (uint32_t)(json_u32(reader->heads.data, (uint32_t)head) - reader->heads.data);
    }
    return json_eight(csv_put_short(at, &reader->heads), (uint32_t)(address % JSON_EIGHT));
}

/* Writes the collection since which an object lives, and its time; nothing for other nodes, and for
 * an object that has not survived a collection. */
static char *csv_put_age(const struct csv *csv, char *at, uint32_t object)
{
    const struct g2h_age_look *look = ages_look(g2h_view_heap(csv->view), object);
    *at++ = ',';
    if (look)
        at = json_u64(at, look->last);
    *at++ = ',';
    return look ? json_u64(at, (uint64_t)look->time) : at;
}

/* Writes the columns after a node's name: type, size, edges, retained size, dominator (but for the
 * root), address (of objects) and, if these are known, the age. Returns the position after them. */
static char *csv_put_numbers(const struct csv *csv, struct csv_reader *reader, char *at,
                             const struct node_batch *batch, size_t i, enum node_type type)
{
    static const struct short_text types[] = {[NODE_STRING] = SHORT_TEXT(",string,"),
                                              [NODE_OBJECT] = SHORT_TEXT(",object,"),
                                              [NODE_NATIVE] = SHORT_TEXT(",native,"),
                                              [NODE_SYNTHETIC] = SHORT_TEXT(",synthetic,"),
                                              [NODE_SLICED] = SHORT_TEXT(",sliced string,")};
    const struct g2h_node *node = &batch->nodes[i];
    at = csv_put_short(at, &types[type]);
    at = csv_put_number(csv, at, node->size);
    *at++ = ',';
    at = csv_put_number(csv, at, node->edges);
    *at++ = ',';
    at = csv_put_number(csv, at, batch->retained_sizes[i]);
    *at++ = ',';
    if (batch->first + i > 0)
        at = json_u32(at, batch->dominators[i]);
    *at++ = ',';
    if (node->object != UINT32_MAX)
        at = csv_put_address(reader, at, node->address);
    if (csv->ages)
        at = csv_put_age(csv, at, node->object);
    *at++ = '\n';
    return at;
}

/* Writes a node's row. A heap string is read now; all other names are fields that have been made
 * before. Heap strings have no numbers here, so label_node() gets one that is not used. */
static struct g2h_error *put_node(const struct csv *csv, struct csv_reader *reader,
                                  const struct node_batch *batch, size_t i,
                                  struct worker_buffer *buffer)
{
    const uint32_t number = batch->first + as_u32(i);
    const uint32_t no_number = 0;
    const uint32_t *texts = &no_number;
    const struct node_label label = label_node(&csv->strings, &batch->nodes[i], &texts);
    const bool is_string = batch->nodes[i].name == G2H_NAME_NONE;
    size_t size;
    const char *name = is_string ? strings_of_node(csv->view, number, &reader->text, &size)
                                 : csv_field_of(&csv->fields, label.name, &size);
    TRY_MEMORY(!reader->text.failed);
    TRY(worker_buffer_provide(buffer, NODE_ROW + field_limit(size), LARGE));
    char *at = json_u32(buffer->data + buffer->size, csv->ids[number]);
    *at++ = ',';
    at = is_string ? csv_put_text(at, name, size) : csv_put_field(at, name, size);
    at = csv_put_numbers(csv, reader, at, batch, i, label.type);
    buffer->size = as_size(at - buffer->data);
    return NULL;
}

/* A task: writes the rows of a block of nodes, and the head before the first block. */
static struct g2h_error *put_nodes(void *context, size_t block, unsigned worker,
                                   struct worker_buffer *buffer)
{
    const struct csv *csv = context;
    const uint32_t first = as_u32(block) << SNAPSHOT_BLOCK_SHIFT;
    struct node_batch batch = {.count = MANY};
    if (worker == 0)
        csv_advance(csv, 2 * csv->blocks + block);
    if (block == 0)
        TRY(csv_put_head(buffer, csv->ages ? aged_head : node_head));
    for (uint32_t done = 0; done < SNAPSHOT_BLOCK && batch.count == MANY; done += MANY) {
        csv_read_nodes(csv, first + done, &batch);
        for (size_t i = 0; i < batch.count; i++)
            TRY(put_node(csv, &csv->readers[worker], &batch, i, buffer));
    }
    return NULL;
}

/* ---- edges ---- */

/* The index or string that names an edge. */
struct csv_edge_name {
    enum edge_type type;
    uint64_t index;   /* if type is EDGE_ELEMENT */
    const char *text; /* otherwise: size bytes */
    size_t size;
    bool is_field; /* text is a CSV field already */
};

/* Returns the name of an edge by its label: an element's index, or a name that is a field
 * already. */
static inline struct csv_edge_name name_by(const struct csv *csv, struct edge_label label)
{
    struct csv_edge_name name = {.type = label.type, .is_field = true};
    if (label.type == EDGE_ELEMENT)
        name.index = label.name_or_index;
    else
        name.text = csv_field_of(&csv->fields, (uint32_t)label.name_or_index, &name.size);
    return name;
}

/* Returns the type of an edge that is called after the text of a key. */
static enum edge_type type_by_key(const struct g2h_edge *edge)
{
    if ((edge->flags & G2H_EDGE_WEAK) != 0)
        return EDGE_WEAK;
    return (edge->flags & G2H_EDGE_INTERNAL) != 0 ? EDGE_INTERNAL : EDGE_PROPERTY;
}

/* Returns the name of an edge of a map's entry: the text of its key or, for a whole number, an
 * index. Edges whose key cannot be shown have the name without it, weak ones a name of their own.
 */
static struct csv_edge_name csv_name_by_key(const struct csv *csv, struct g2h_edges *edges,
                                            const struct g2h_edge *edge)
{
    struct g2h_key_name key;
    const bool is_weak = (edge->flags & G2H_EDGE_WEAK) != 0;
    const enum g2h_key form = g2h_edges_key(edges, edge, &key);
    if (form == G2H_KEY_TEXT)
        return (struct csv_edge_name){
            .type = type_by_key(edge), .text = key.text, .size = key.size};
    if (form == G2H_KEY_NONE)
        return name_by(csv, label_without_key(&csv->strings, edge));
    if (is_weak) /* those by index all have one name */
        return name_by(csv, (struct edge_label){EDGE_WEAK, csv->strings.weak_element});
    return name_by(csv, (struct edge_label){EDGE_ELEMENT, key.index});
}

/* Writes the id of an edge's source. Consecutive edges mostly have the same source, so that the
 * field is kept. */
static inline char *put_source(char *at, struct csv_reader *reader, uint32_t source)
{
    if (reader->source_id == source && reader->source.size > 0)
        return csv_put_short(at, &reader->source);
    char *end = json_u32(at, source);
    *end++ = ',';
    memcpy(reader->source.data, at, SHORT);
    reader->source.size = (uint32_t)(end - at);
    reader->source_id = source;
    return end;
}

/* Writes an edge; source and target are ids. */
static struct g2h_error *put_edge(const struct csv *csv, struct csv_reader *reader,
                                  const struct g2h_edge *edge, uint32_t source, uint32_t target,
                                  struct worker_buffer *buffer)
{
    static const struct short_text types[] = {[EDGE_ELEMENT] = SHORT_TEXT(",element,"),
                                              [EDGE_PROPERTY] = SHORT_TEXT(",property,"),
                                              [EDGE_INTERNAL] = SHORT_TEXT(",internal,"),
                                              [EDGE_SHORTCUT] = SHORT_TEXT(",shortcut,"),
                                              [EDGE_WEAK] = SHORT_TEXT(",weak,")};
    const struct csv_edge_name name = (edge->flags & (G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0
                                          ? name_by(csv, label_without_key(&csv->strings, edge))
                                          : csv_name_by_key(csv, reader->edges.edges, edge);
    TRY(worker_buffer_provide(buffer, EDGE_ROW + field_limit(name.size), LARGE));
    char *at = put_source(buffer->data + buffer->size, reader, source);
    at = csv_put_short(json_u32(at, target), &types[name.type]);
    if (name.type == EDGE_ELEMENT)
        at = csv_put_number(csv, at, name.index);
    else if (name.is_field)
        at = csv_put_field(at, name.text, name.size);
    else
        at = csv_put_text(at, name.text, name.size);
    *at++ = '\n';
    buffer->size = as_size(at - buffer->data);
    return NULL;
}

/* A batch of edges. The next batch is read while the one before is written, so that the data needed
 * for its edges can reach the cache meanwhile. */
struct edge_batch {
    size_t count;
    struct g2h_edge edges[MANY];
};

/* Reads the next batch of edges, at most MANY. */
static void read_edges(const struct csv *csv, struct overlay_edges *edges, struct edge_batch *ret)
{
    ret->count = overlay_edges_read(edges, ret->edges, MANY);
    g2h_edges_prefetch_keys(edges->edges, ret->edges, ret->count);
    for (size_t i = 0; i < ret->count; i++)
        __builtin_prefetch(&csv->ids[ret->edges[i].target]);
}

/* A task: writes the rows of the edges of a block of nodes. */
static struct g2h_error *put_edges(void *context, size_t block, unsigned worker,
                                   struct worker_buffer *buffer)
{
    const struct csv *csv = context;
    struct csv_reader *reader = &csv->readers[worker];
    struct edge_batch batches[2];
    struct edge_batch *now = &batches[0];
    struct edge_batch *next = &batches[1];
    const uint32_t first = as_u32(block) << SNAPSHOT_BLOCK_SHIFT;
    if (worker == 0)
        csv_advance(csv, 2 * block);
    if (block == 0)
        TRY(csv_put_head(buffer, edge_head));
    overlay_edges_begin(&reader->edges, first, snapshot_block_end(csv->view, first));
    for (read_edges(csv, &reader->edges, now); now->count > 0;) {
        read_edges(csv, &reader->edges, next);
        for (size_t i = 0; i < now->count; i++) {
            const struct g2h_edge *edge = &now->edges[i];
            TRY(put_edge(csv, reader, edge, csv->ids[edge->source], csv->ids[edge->target],
                         buffer));
        }
        struct edge_batch *const done = now;
        now = next;
        next = done;
    }
    return NULL;
}

/* ---- the whole output ---- */

/* Finds the ids of the nodes from node up to end, which are objects. All objects of the heap must
 * be nodes. */
static void find_ids_of_objects(struct csv *csv, uint32_t node, uint32_t end)
{
    const struct g2h_heap *heap = g2h_view_heap(csv->view);
    assert(node >= csv->node_ids.first_object &&
           end <= csv->node_ids.first_object + g2h_heap_object_count(heap));
    for (; node < end; node++) {
        const uint32_t object = node - csv->node_ids.first_object;
        csv->ids[node] = ids_object(&csv->node_ids.ids, object, g2h_heap_address(heap, object));
    }
}

/* A task: finds the ids of a block of nodes. If all objects are nodes, they are not read for
 * that. */
static struct g2h_error *csv_find_ids(void *context, size_t block, unsigned worker)
{
    struct csv *csv = context;
    struct g2h_node nodes[MANY];
    const uint32_t first = as_u32(block) << SNAPSHOT_BLOCK_SHIFT,
                   first_object = csv->node_ids.first_object,
                   objects = g2h_heap_object_count(g2h_view_heap(csv->view));
    size_t count = MANY;
    (void)worker;
    if (first >= first_object && csv->nodes - first_object == objects) {
        find_ids_of_objects(csv, first, snapshot_block_end(csv->view, first));
        return NULL;
    }
    for (uint32_t node = first; node - first < SNAPSHOT_BLOCK && count == MANY; node += MANY) {
        count = g2h_view_nodes(csv->view, node, MANY, nodes);
        for (size_t i = 0; i < count; i++)
            csv->ids[node + i] = node_ids_of(&csv->node_ids, node + as_u32(i), &nodes[i]);
    }
    return NULL;
}

/* Finds all that rows need and that is the same for every thread: ids, names as fields, the digits
 * of small numbers. */
static struct g2h_error *csv_prepare(struct csv *csv, struct g2h_identity *series)
{
    for (uint32_t i = 0; i < SMALL; i++)
        csv->small[i] = json_short(i);
    TRY(node_ids_init(&csv->node_ids, csv->view, series));
    TRY(overlay_init(&csv->overlay, csv->view));
    TRY(strings_init(&csv->strings, csv->view, series));
    TRY_MEMORY(strings_name_links(&csv->strings, &csv->overlay));
    TRY(make_fields(csv));
    csv->ids = large_alloc(csv->nodes, sizeof(*csv->ids));
    TRY_MEMORY(csv->ids);
    TRY(workers_run(csv->threads, csv->blocks, csv_find_ids, csv));
    csv->readers = calloc(csv->threads, sizeof(*csv->readers));
    TRY_MEMORY(csv->readers);
    for (unsigned i = 0; i < csv->threads; i++)
        TRY(overlay_edges_init(&csv->readers[i].edges, &csv->overlay));
    return NULL;
}

/* Writes a file: number 0 has the nodes, number 1 the edges. */
static struct g2h_error *csv_write_file(struct csv *csv, unsigned file, workers_produce *put)
{
    struct g2h_output_options options = *csv->options;
    if (options.fds)
        options.fd = options.fds[file];
    return sink_run(&options, csv->threads, csv->blocks, put, csv);
}

/* Finds the dominators, beside csv_write_edges() on another thread. */
static struct g2h_error *csv_find_dominators(void *context)
{
    struct csv *csv = context;
    return g2h_view_dominators(csv->view, &csv->dominators);
}

/* Writes the edges, beside csv_find_dominators(). */
static struct g2h_error *csv_write_edges(void *context)
{
    struct csv *csv = context;
    TRY(csv_prepare(csv, csv->options->series));
    return csv_write_file(csv, 1, put_edges);
}

static void csv_deinit(struct csv *csv)
{
    for (unsigned i = 0; csv->readers && i < csv->threads; i++) {
        overlay_edges_deinit(&csv->readers[i].edges);
        g2h_text_deinit(&csv->readers[i].text);
    }
    free(csv->readers);
    g2h_dominators_destroy(csv->dominators);
    large_free(csv->ids, csv->nodes, sizeof(*csv->ids));
    free(csv->fields.text.data);
    free(csv->fields.ends.data);
    strings_deinit(&csv->strings);
    node_ids_deinit(&csv->node_ids);
    overlay_deinit(&csv->overlay);
}

/* Writes the files of nodes and edges. The edges are written beside the search for dominators,
 * which only the nodes need. */
struct g2h_error *g2h_write_csv(const struct g2h_view *view, const struct g2h_output_options *given)
{
    struct g2h_output_options known;
    const struct g2h_output_options *options = OPTIONS_COPY(&known, given);
    _cleanup_(csv_deinit) struct csv csv = {.view = view,
                                            .options = options,
                                            .nodes = g2h_view_node_count(view),
                                            .threads = sink_threads(view, options)};
    csv.ages = ages_watched(g2h_view_heap(view));
    csv.blocks = (csv.nodes + SNAPSHOT_BLOCK - 1) >> SNAPSHOT_BLOCK_SHIFT;
    TRY(workers_beside(csv.threads, csv_find_dominators, csv_write_edges, &csv));
    return csv_write_file(&csv, 0, put_nodes);
}
