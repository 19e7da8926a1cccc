/* meta; see meta.h. */
#include "meta.h"

#include "base/error.h"

/* ---- fields ---- */

/* Reads a list of fields: *ret_count is their number, and ret_fields has the index of the field
 * with each name, or SNAPSHOT_NONE. Other fields are ignored. */
static struct g2h_error *read_fields(struct json *json, const char *const *names, uint32_t count,
                                     uint32_t *ret_fields, uint32_t *ret_count)
{
    _cleanup_(text_deinit) struct text name = {0};
    bool more = true;
    for (uint32_t i = 0; i < count; i++)
        ret_fields[i] = SNAPSHOT_NONE;
    *ret_count = 0;
    TRY(json_open(json, '['));
    for (;;) {
        TRY(json_next(json, '[', *ret_count == 0, &more));
        if (!more)
            return NULL;
        if (*ret_count == META_MOST_FIELDS)
            return json_error(json, "there are more fields than a snapshot has");
        TRY(json_string(json, &name));
        for (uint32_t i = 0; i < count; i++)
            if (json_is(&name, names[i]))
                ret_fields[i] = *ret_count;
        ++*ret_count;
    }
}

static struct g2h_error *read_node_fields(struct snapshot *snapshot)
{
    static const char *const names[NODE_FIELDS_KNOWN] = {
        [NODE_TYPE] = "type",
        [NODE_NAME] = "name",
        [NODE_ID] = "id",
        [NODE_SELF_SIZE] = "self_size",
        [NODE_EDGE_COUNT] = "edge_count",
        [NODE_TRACE] = "trace_node_id",
        [NODE_DETACHEDNESS] = "detachedness",
    };
    TRY(read_fields(&snapshot->json, names, NODE_FIELDS_KNOWN, snapshot->node_field,
                    &snapshot->node_fields));
    for (int i = 0; i < NODE_FIELDS_NEEDED; i++)
        if (snapshot->node_field[i] == SNAPSHOT_NONE)
            return json_error(&snapshot->json, "nodes have no type, name, id, self_size or "
                                               "edge_count");
    return NULL;
}

static struct g2h_error *read_edge_fields(struct snapshot *snapshot)
{
    static const char *const names[EDGE_FIELDS_KNOWN] = {
        [EDGE_TYPE] = "type", [EDGE_NAME] = "name_or_index", [EDGE_TO] = "to_node"};
    TRY(read_fields(&snapshot->json, names, EDGE_FIELDS_KNOWN, snapshot->edge_field,
                    &snapshot->edge_fields));
    for (int i = 0; i < EDGE_FIELDS_KNOWN; i++)
        if (snapshot->edge_field[i] == SNAPSHOT_NONE)
            return json_error(&snapshot->json, "edges have no type, name_or_index or to_node");
    return NULL;
}

/* ---- types ---- */

typedef struct g2h_error *take_type(struct snapshot *snapshot, uint32_t number,
                                    const struct text *name);

static struct g2h_error *take_node_type(struct snapshot *snapshot, uint32_t number,
                                        const struct text *name)
{
    if (json_is(name, "synthetic"))
        snapshot->types.synthetic = number;
    snapshot->types.nodes = number + 1;
    return tables_add_node_type(snapshot->tables, number, name->data, name->size);
}

static struct g2h_error *take_edge_type(struct snapshot *snapshot, uint32_t number,
                                        const struct text *name)
{
    struct snapshot_types *types = &snapshot->types;
    const struct {
        const char *name;
        uint32_t *number;
    } known[] = {{"element", &types->element},
                 {"hidden", &types->hidden},
                 {"internal", &types->internal},
                 {"shortcut", &types->shortcut},
                 {"weak", &types->weak}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (json_is(name, known[i].name))
            *known[i].number = number;
    types->edges = number + 1;
    return tables_add_edge_type(snapshot->tables, number, name->data, name->size);
}

static struct g2h_error *read_type_names(struct snapshot *snapshot, take_type *take)
{
    struct json *json = &snapshot->json;
    _cleanup_(text_deinit) struct text name = {0};
    bool more;
    TRY(json_open(json, '['));
    for (uint32_t i = 0;; i++) {
        TRY(json_next(json, '[', i == 0, &more));
        if (!more)
            return NULL;
        if (i == SNAPSHOT_MOST_TYPES)
            return json_error(json, "there are more types than a snapshot has");
        TRY(json_string(json, &name));
        TRY(take(snapshot, i, &name));
    }
}

/* Reads the types of the fields. Only that of the field "type" matters, which is a list of names;
 * the others are passed over. */
static struct g2h_error *read_types(struct snapshot *snapshot, take_type *take,
                                    const uint32_t *count)
{
    struct json *json = &snapshot->json;
    bool more;
    TRY(json_open(json, '['));
    for (bool is_first = true;; is_first = false) {
        TRY(json_next(json, '[', is_first, &more));
        if (!more)
            return NULL;
        if (json_kind(json) == JSON_LIST && *count == 0)
            TRY(read_type_names(snapshot, take));
        else
            TRY(json_skip(json));
    }
}

/* ---- the header ---- */

static struct g2h_error *read_meta_entry(void *context, const struct text *key)
{
    struct snapshot *snapshot = context;
    struct snapshot_types *types = &snapshot->types;
    if (json_is(key, "node_fields"))
        return read_node_fields(snapshot);
    if (json_is(key, "edge_fields"))
        return read_edge_fields(snapshot);
    if (json_is(key, "node_types"))
        return read_types(snapshot, take_node_type, &types->nodes);
    if (json_is(key, "edge_types"))
        return read_types(snapshot, take_edge_type, &types->edges);
    return json_skip(&snapshot->json);
}

static struct g2h_error *read_meta(struct snapshot *snapshot)
{
    TRY(json_object(&snapshot->json, read_meta_entry, snapshot));
    snapshot->has_meta = snapshot->node_fields > 0 && snapshot->edge_fields > 0 &&
                         snapshot->types.nodes > 0 && snapshot->types.edges > 0;
    return snapshot->has_meta
               ? NULL
               : json_error(&snapshot->json, "meta has no fields and types of nodes and edges");
}

static struct g2h_error *read_entry(void *context, const struct text *key)
{
    struct snapshot *snapshot = context;
    struct json *json = &snapshot->json;
    if (json_is(key, "meta"))
        return read_meta(snapshot);
    if (json_is(key, "root_index"))
        return json_number(json, UINT64_MAX, &snapshot->root);
    if (json_is(key, "node_count"))
        return json_number(json, UINT32_MAX, &snapshot->node_count);
    if (json_is(key, "edge_count"))
        return json_number(json, UINT32_MAX, &snapshot->edge_count);
    return json_skip(json);
}

struct g2h_error *meta_read(struct snapshot *snapshot)
{
    if (snapshot->has_meta)
        return json_error(&snapshot->json, "there is a snapshot already");
    TRY(json_object(&snapshot->json, read_entry, snapshot));
    return snapshot->has_meta ? NULL : json_error(&snapshot->json, "the snapshot has no meta");
}
