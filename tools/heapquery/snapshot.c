/*
 * snapshot; see snapshot.h.
 *
 * Each section is in the file once, mostly nodes before the edges that begin at them; else they are
 * read in that order when all others have been. Names are numbers of strings, which mostly come
 * last: so only the end shows whether there is a string for each number.
 */
#include "snapshot.h"

#include <ctype.h>
#include <stdio.h>

#include "base/error.h"
#include "kinds.h"
#include "meta.h"

enum { MANY = 1 << 12 /* edges that are added to the tables at a time */ };

/* ---- sections in another order ---- */

/* Passes over a section that comes before what it needs. */
static struct g2h_error *put_off(struct json *json, struct snapshot_later *later)
{
    const uint8_t *begin = json->at;
    TRY(json_skip(json));
    *later = (struct snapshot_later){begin, json->at};
    return NULL;
}

/* Reads it in the end. */
static struct g2h_error *read_later(struct snapshot *snapshot, struct snapshot_later *later,
                                    struct g2h_error *(*read)(struct snapshot *snapshot))
{
    struct json *json = &snapshot->json;
    const uint8_t *end = later->end;
    if (!later->begin)
        return NULL;
    json->at = later->begin;
    *later = (struct snapshot_later){0};
    TRY(read(snapshot));
    return json->at == end ? NULL : json_error(json, "the section was expected to go on");
}

/* ---- nodes ---- */

/* Reads the numbers of the next node or edge. *ret_more: there is one. */
static struct g2h_error *read_numbers(struct json *json, uint32_t fields, bool is_first,
                                      uint64_t *numbers, bool *ret_more)
{
    for (uint32_t i = 0; i < fields; i++) {
        TRY(json_next(json, '[', is_first && i == 0, ret_more));
        if (!*ret_more)
            return i == 0 ? NULL : json_error(json, "the last one is not complete");
        TRY(json_number(json, INT64_MAX, &numbers[i]));
    }
    return NULL;
}

static struct g2h_error *take_node(struct snapshot *snapshot, const uint64_t *numbers,
                                   uint64_t *edges, uint64_t *size)
{
    const uint32_t *field = snapshot->node_field;
    uint64_t found[NODE_FIELDS_KNOWN] = {0};
    for (int i = 0; i < NODE_FIELDS_KNOWN; i++)
        if (field[i] != SNAPSHOT_NONE)
            found[i] = numbers[field[i]];
    *edges += found[NODE_EDGE_COUNT];
    *size += found[NODE_SELF_SIZE];
    if (found[NODE_TYPE] >= SNAPSHOT_MOST_TYPES)
        return json_error(&snapshot->json, "the node before has a type that there is not");
    snapshot->has_node_type[found[NODE_TYPE]] = true;
    if (found[NODE_NAME] >= UINT32_MAX || found[NODE_TRACE] > UINT32_MAX ||
        found[NODE_DETACHEDNESS] > UINT32_MAX)
        return json_error(&snapshot->json, "the node before has a number that is too large");
    if (found[NODE_EDGE_COUNT] > UINT32_MAX || *edges >= UINT32_MAX || *size > INT64_MAX ||
        snapshot->nodes.count >= UINT32_MAX - 1)
        return json_error(&snapshot->json, "so many nodes, edges or bytes no snapshot has");
    if (found[NODE_NAME] > snapshot->largest_name)
        snapshot->largest_name = (uint32_t)found[NODE_NAME];
    const struct snapshot_node node = {
        .id = found[NODE_ID],
        .self_size = found[NODE_SELF_SIZE],
        .name = (uint32_t)found[NODE_NAME],
        .edges = (uint32_t)found[NODE_EDGE_COUNT],
        .type = (uint32_t)found[NODE_TYPE],
        .trace_node_id = (uint32_t)found[NODE_TRACE],
        .detachedness = (uint32_t)found[NODE_DETACHEDNESS],
    };
    TRY_MEMORY(vector_push(&snapshot->nodes, node));
    return NULL;
}

static struct g2h_error *read_nodes(struct snapshot *snapshot)
{
    struct json *json = &snapshot->json;
    uint64_t numbers[META_MOST_FIELDS], edges = 0, size = 0;
    bool more;
    if (snapshot->has_nodes || snapshot->nodes_later.begin)
        return json_error(json, "nodes come once");
    if (!snapshot->has_meta)
        return put_off(json, &snapshot->nodes_later);
    TRY(json_open(json, '['));
    for (;;) {
        TRY(read_numbers(json, snapshot->node_fields, snapshot->nodes.count == 0, numbers, &more));
        if (!more)
            break;
        TRY(take_node(snapshot, numbers, &edges, &size));
    }
    snapshot->has_nodes = true;
    if (snapshot->nodes.count == 0)
        return json_error(json, "there are no nodes");
    if (snapshot->root % snapshot->node_fields != 0 ||
        snapshot->root / snapshot->node_fields >= snapshot->nodes.count)
        return json_error(json, "the root is none of the nodes");
    if (snapshot->node_count != UINT64_MAX && snapshot->node_count != snapshot->nodes.count)
        return json_error(json, "there are not as many nodes as the snapshot's node_count says");
    return NULL;
}

/* ---- edges ---- */

/* Edges that are not in the table yet, and the node at which the next edge begins. */
struct edge_rows {
    struct edge_row rows[MANY];
    size_t count;
    uint32_t from, left; /* left: how many more edges begin at that node */
};

static struct g2h_error *hand_on(struct snapshot *snapshot, struct edge_rows *rows)
{
    const size_t count = rows->count;
    rows->count = 0;
    return count > 0 ? tables_add_edges(snapshot->tables, rows->rows, count) : NULL;
}

static struct g2h_error *check_edge(struct snapshot *snapshot, const uint64_t *found)
{
    const uint64_t to = found[EDGE_TO];
    if (found[EDGE_TYPE] >= SNAPSHOT_MOST_TYPES)
        return json_error(&snapshot->json, "the edge before has a type that there is not");
    snapshot->has_edge_type[found[EDGE_TYPE]] = true;
    if (to % snapshot->node_fields != 0 || to / snapshot->node_fields >= snapshot->nodes.count)
        return json_error(&snapshot->json, "the edge before leads to no node");
    if (found[EDGE_NAME] >= UINT32_MAX)
        return json_error(&snapshot->json, "the edge before has a number that is too large");
    return NULL;
}

static struct g2h_error *take_edge(struct snapshot *snapshot, const uint64_t *numbers,
                                   struct edge_rows *rows)
{
    const struct snapshot_types *types = &snapshot->types;
    uint64_t found[EDGE_FIELDS_KNOWN];
    for (int i = 0; i < EDGE_FIELDS_KNOWN; i++)
        found[i] = numbers[snapshot->edge_field[i]];
    TRY(check_edge(snapshot, found));
    while (rows->left == 0) {
        if (rows->from + 1 == snapshot->nodes.count)
            return json_error(&snapshot->json, "there are more edges than the nodes have");
        rows->left = snapshot->nodes.data[++rows->from].edges;
    }
    rows->left--;
    const struct snapshot_edge edge = {
        .to = (uint32_t)(found[EDGE_TO] / snapshot->node_fields),
        .name_or_index = (uint32_t)found[EDGE_NAME],
        .type = (uint8_t)found[EDGE_TYPE],
    };
    const bool by_index = edge.type == types->element || edge.type == types->hidden;
    if (!by_index && edge.name_or_index > snapshot->largest_name)
        snapshot->largest_name = edge.name_or_index;
    rows->rows[rows->count++] = (struct edge_row){
        .number = tables_number(snapshot->edges.count),
        .from_node = rows->from,
        .type = edge.type,
        .name = by_index ? ROWS_NULL : edge.name_or_index,
        .element = by_index ? edge.name_or_index : ROWS_NULL,
        .to_node = edge.to,
    };
    TRY_MEMORY(vector_push(&snapshot->edges, edge));
    return rows->count == MANY ? hand_on(snapshot, rows) : NULL;
}

/* Returns an error if there are fewer edges than the nodes have, or not as many as the header
 * says. */
static struct g2h_error *check_all_edges(const struct snapshot *snapshot,
                                         const struct edge_rows *rows)
{
    uint32_t from = rows->from;
    uint64_t left = rows->left;
    while (left == 0 && from + 1 < snapshot->nodes.count)
        left += snapshot->nodes.data[++from].edges;
    if (left > 0)
        return json_error(&snapshot->json, "there are fewer edges than the nodes have");
    if (snapshot->edge_count != UINT64_MAX && snapshot->edge_count != snapshot->edges.count)
        return json_error(&snapshot->json,
                          "there are not as many edges as the snapshot's edge_count says");
    return NULL;
}

static struct g2h_error *read_edges(struct snapshot *snapshot)
{
    struct json *json = &snapshot->json;
    uint64_t numbers[META_MOST_FIELDS];
    bool more;
    if (snapshot->has_edges || snapshot->edges_later.begin)
        return json_error(json, "edges come once");
    if (!snapshot->has_nodes)
        return put_off(json, &snapshot->edges_later);
    _cleanup_free_ struct edge_rows *rows = calloc(1, sizeof(*rows));
    TRY_MEMORY(rows);
    rows->left = snapshot->nodes.data[0].edges;
    TRY(json_open(json, '['));
    for (;;) {
        TRY(read_numbers(json, snapshot->edge_fields, snapshot->edges.count == 0, numbers, &more));
        if (!more)
            break;
        TRY(take_edge(snapshot, numbers, rows));
    }
    snapshot->has_edges = true;
    TRY(check_all_edges(snapshot, rows));
    return hand_on(snapshot, rows);
}

/* ---- strings ---- */

static size_t digits(const char *at, size_t size)
{
    size_t count = 0;
    while (count < size && isdigit((unsigned char)at[count]))
        count++;
    return count;
}

static bool begins(const char *at, size_t size, const char *wanted)
{
    return size >= strlen(wanted) && memcmp(at, wanted, strlen(wanted)) == 0;
}

/* Returns whether a text is a name that V8 gives to edges to the value of a pair in a WeakMap: "1 /
 * part of key (Key @2) -> value (Value @3) pair in WeakMap (table @4)". Then *ret is the table's
 * id. */
static bool is_ephemeron(const struct text *text, uint64_t *ret)
{
    static const char middle[] = " / part of key (", tail[] = ") pair in WeakMap (table @";
    const size_t head = digits(text->data, text->size);
    if (head == 0 || !begins(text->data + head, text->size - head, middle))
        return false;
    size_t end = text->size;
    if (text->data[--end] != ')')
        return false;
    size_t first = end;
    while (first > 0 && isdigit((unsigned char)text->data[first - 1]))
        first--;
    enum { DIGITS = 18 };
    if (first == end || end - first > DIGITS || first < head + strlen(middle) + strlen(tail) ||
        memcmp(text->data + first - strlen(tail), tail, strlen(tail)) != 0)
        return false;
    for (*ret = 0; first < end; first++)
        *ret = *ret * 10 + (uint64_t)(text->data[first] - '0');
    return true;
}

static struct g2h_error *take_string(struct snapshot *snapshot, const struct text *text)
{
    static const char dom_trees[] = "(Document DOM trees)";
    const uint64_t number = snapshot->strings++;
    uint64_t table;
    uint32_t value;
    if (text->size == sizeof(dom_trees) - 1 && memcmp(text->data, dom_trees, text->size) == 0)
        snapshot->dom_trees = (uint32_t)number;
    if (text->size > 0 && is_ephemeron(text, &table)) {
        TRY_MEMORY(
            map_put(&snapshot->ephemerons, number, (uint32_t)snapshot->tables_of.count, &value));
        TRY_MEMORY(vector_push(&snapshot->tables_of, table));
    }
    return tables_add_string(snapshot->tables, number, text->data, text->size);
}

static struct g2h_error *read_strings(struct snapshot *snapshot)
{
    struct json *json = &snapshot->json;
    _cleanup_(text_deinit) struct text text = {0};
    bool more;
    if (snapshot->has_strings)
        return json_error(json, "there are strings already");
    TRY(json_open(json, '['));
    for (;;) {
        TRY(json_next(json, '[', snapshot->strings == 0, &more));
        if (!more)
            break;
        if (snapshot->strings == UINT32_MAX)
            return json_error(json, "so many strings no snapshot has");
        TRY(json_string(json, &text));
        TRY(take_string(snapshot, &text));
    }
    snapshot->has_strings = true;
    return NULL;
}

/* ---- all of it ---- */

static struct g2h_error *read_section(void *context, const struct text *key)
{
    struct snapshot *snapshot = context;
    static const struct {
        const char *key;
        struct g2h_error *(*read)(struct snapshot *snapshot);
    } sections[] = {{"snapshot", meta_read},
                    {"nodes", read_nodes},
                    {"edges", read_edges},
                    {"strings", read_strings}};
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
        if (json_is(key, sections[i].key))
            return sections[i].read(snapshot);
    snapshot->kinds |= kinds_of_key(key);
    return json_skip(&snapshot->json);
}

/* Names the types that nodes and edges have, but the meta does not know. */
static struct g2h_error *name_unknown_types(const struct snapshot *snapshot)
{
    char name[32];
    for (unsigned i = 0; i < SNAPSHOT_MOST_TYPES; i++) {
        const size_t size = (size_t)snprintf(name, sizeof(name), "unknown (%u)", i);
        if (i >= snapshot->types.nodes && snapshot->has_node_type[i])
            TRY(tables_add_node_type(snapshot->tables, i, name, size));
        if (i >= snapshot->types.edges && snapshot->has_edge_type[i])
            TRY(tables_add_edge_type(snapshot->tables, i, name, size));
    }
    return NULL;
}

/* Returns an error unless there is all that a snapshot has. */
static struct g2h_error *check_sections(const struct snapshot *snapshot)
{
    const char *kind = kinds_name(snapshot->kinds), *name = snapshot->json.name;
    if (!snapshot->has_meta && kind)
        return error_create(G2H_ERROR_DAMAGED, "%s: is %s, not a heap snapshot", name, kind);
    const char *missing = !snapshot->has_meta && snapshot->nodes_later.begin ? "meta"
                          : !snapshot->has_nodes                             ? "nodes"
                          : !snapshot->has_edges                             ? "edges"
                          : !snapshot->has_strings                           ? "strings"
                                                                             : NULL;
    return missing ? error_create(G2H_ERROR_DAMAGED, "%s: is not a heap snapshot: it has no %s",
                                  name, missing)
                   : NULL;
}

struct g2h_error *snapshot_read(struct snapshot *snapshot, const struct json *json,
                                struct tables *tables)
{
    *snapshot = (struct snapshot){
        .json = *json,
        .tables = tables,
        .types = {SNAPSHOT_NONE, SNAPSHOT_NONE, SNAPSHOT_NONE, SNAPSHOT_NONE, SNAPSHOT_NONE,
                  SNAPSHOT_NONE, 0, 0},
        .node_count = UINT64_MAX,
        .edge_count = UINT64_MAX,
        .dom_trees = SNAPSHOT_NONE,
    };
    TRY(json_object(&snapshot->json, read_section, snapshot));
    TRY(json_finish(&snapshot->json));
    if (snapshot->has_meta)
        TRY(read_later(snapshot, &snapshot->nodes_later, read_nodes));
    if (snapshot->has_nodes)
        TRY(read_later(snapshot, &snapshot->edges_later, read_edges));
    TRY(check_sections(snapshot));
    TRY(name_unknown_types(snapshot));
    if (snapshot->largest_name >= snapshot->strings)
        return error_create(G2H_ERROR_DAMAGED, "%s: string %lu is called for, and there are %llu",
                            json->name, (unsigned long)snapshot->largest_name,
                            (unsigned long long)snapshot->strings);
    return NULL;
}

void snapshot_deinit(struct snapshot *snapshot)
{
    free(snapshot->nodes.data);
    free(snapshot->edges.data);
    free(snapshot->tables_of.data);
    map_deinit(&snapshot->ephemerons);
}
