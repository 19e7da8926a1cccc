/*
 * numbers: adds nodes for the numbers and other values in the fields of objects, which DevTools
 * shows only as nodes; see numbers.h.
 *
 * Objects of one type and size have the same fields, which are listed once. Values that have been
 * seen before are found by their bits, all others by their formatted value.
 */
#include "output/heapsnapshot/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "output/fields.h"

enum { SPACE_FOR_KEYS = 64 << 20 /* bytes of names by keys of entries */ };

/* A number in all objects of a layout. */
struct numbers_field {
    struct g2h_value value; /* without path; data is that of the first such object */
    uint32_t name;
};

struct numbers_layout {
    size_t first, count; /* in fields */
};

struct numbers_finding {
    struct numbers *numbers;
    const struct g2h_view *view;
    struct strings *strings;
    struct g2h_values *values;
    struct g2h_edges *edges; /* reads the keys of maps' entries */
    struct map layouts_by;   /* type, size and name → number of the layout */
    VECTOR(struct numbers_layout) layouts;
    VECTOR(struct numbers_field) fields;
    struct map by_bits;       /* bits and kind → number */
    struct string_pool texts; /* of the numbers */
    bool *is_wanted;          /* by name; NULL: all are */
    uint64_t space;           /* of SPACE_FOR_KEYS */
    struct g2h_text text;
};

/* ---- classes ---- */

/* Returns the size of the first name in a list: it ends before a comma that is in no brackets. */
static size_t numbers_name_size(const char *list)
{
    size_t size = 0;
    for (int depth = 0; list[size] != '\0' && (list[size] != ',' || depth > 0); size++)
        if (strchr("([{", list[size]))
            depth++;
        else if (strchr(")]}", list[size]))
            depth--;
    return size;
}

/* Marks the classes whose names are in a list, separated by commas. A name that no class has is an
 * error if must_exist, and is passed over otherwise. */
static struct g2h_error *numbers_want(struct numbers_finding *finding, const char *of,
                                      bool must_exist)
{
    finding->is_wanted =
        calloc(count_and_end(g2h_view_name_count(finding->view)), sizeof(*finding->is_wanted));
    TRY_MEMORY(finding->is_wanted);
    for (size_t size; *of != '\0'; of += size + (of[size] == ',')) {
        uint32_t name;
        size = numbers_name_size(of);
        if (g2h_view_find_name(finding->view, of, size, &name) &&
            (g2h_view_name_uses(finding->view, name) & G2H_NAME_OF_NODE) != 0)
            finding->is_wanted[name] = true;
        else if (must_exist)
            return error_create(G2H_ERROR_NOT_FOUND, "there is no class '%.*s'", as_width(size),
                                of);
    }
    return NULL;
}

/* ---- values ---- */

/* Returns whether a value is one that gets a node; if it is an element of an array, it does not. */
static bool is_number(const struct g2h_value *value)
{
    return (value->kind <= G2H_VALUE_COMPLEX || value->kind == G2H_VALUE_TIME) &&
           (value->path_size == 0 || value->path[value->path_size - 1] != ']');
}

/* Returns a key for a value's bits, which is the same for values that are formatted alike; 0: only
 * the formatted value identifies it. */
static uint64_t key_of_bits(const struct numbers_finding *finding, const struct g2h_value *value)
{
    const bool is_fixed = value->kind == G2H_VALUE_INT || value->kind == G2H_VALUE_FLOAT;
    uint64_t order;
    if (value->kind == G2H_VALUE_TIME || !g2h_value_order(finding->view, value, &order))
        return 0;
    /* A type's name decides how its numbers are shown: time.Duration. */
    return map_hash_pair(order, (is_fixed ? value->number : 0) * 16 + value->kind) | 1;
}

/* Gets the number of a value: equal texts have the same. A map from the value's bits spares making
 * its text again. */
static struct g2h_error *numbers_number_of(struct numbers_finding *finding,
                                           const struct g2h_value *value, uint32_t *ret)
{
    struct g2h_content content;
    const uint64_t key = key_of_bits(finding, value);
    *ret = key != 0 ? map_get(&finding->by_bits, key) : MAP_NONE;
    if (*ret != MAP_NONE)
        return NULL;
    g2h_value_content(finding->view, value, &finding->text, &content);
    TRY_MEMORY(!finding->text.failed &&
               string_pool_intern(&finding->texts, finding->text.data, finding->text.size, ret));
    TRY_MEMORY(key == 0 || map_put(&finding->by_bits, key, *ret, ret));
    return NULL;
}

/* Adds an edge to the node of a value, which is made if the value is new. The edge's name is a
 * string's number. */
static struct g2h_error *numbers_add_edge(struct numbers_finding *finding,
                                          const struct g2h_value *value, uint32_t name)
{
    struct number_edge edge = {.name = name};
    TRY(numbers_number_of(finding, value, &edge.number));
    TRY_MEMORY(vector_push(&finding->numbers->edges, edge));
    return NULL;
}

/* ---- fields ---- */

/* Lists the numbers in objects of a layout, from the first such object; the name replaces the path,
 * which is lost with the next value. None of an array of more than FIELDS_MOST_ARRAY bytes. */
static struct g2h_error *list_fields(struct numbers_finding *finding,
                                     const struct g2h_location *location,
                                     struct numbers_layout *ret)
{
    struct numbers_field field;
    ret->first = finding->fields.count;
    ret->count = 0;
    if (location->is_array && location->bytes.size > FIELDS_MOST_ARRAY)
        return NULL;
    g2h_values_begin_at(finding->values, location);
    while (ret->count < FIELDS_MOST && g2h_values_next(finding->values, &field.value)) {
        static const char itself[] = "(value)";
        const struct g2h_value *value = &field.value;
        if (!is_number(value))
            continue;
        TRY_MEMORY(value->path_size > 0
                       ? strings_add(finding->strings, value->path, value->path_size, &field.name)
                       : strings_add(finding->strings, itself, strlen(itself), &field.name));
        field.value.path_size = 0;
        TRY_MEMORY(vector_push(&finding->fields, field));
        ret->count++;
    }
    return NULL;
}

/* Sets *ret to the layout of objects with this number of g2h_values_layout() and of this size,
 * which is listed when the first such object comes. */
static struct g2h_error *numbers_layout_of(struct numbers_finding *finding,
                                           const struct g2h_location *location, uint64_t number,
                                           struct numbers_layout *ret)
{
    const uint64_t key = map_hash_pair(number, location->bytes.size);
    const uint32_t known = map_get(&finding->layouts_by, key);
    uint32_t added = as_u32(finding->layouts.count);
    if (known != MAP_NONE) {
        *ret = finding->layouts.data[known];
        return NULL;
    }
    TRY(list_fields(finding, location, ret));
    TRY_MEMORY(vector_push(&finding->layouts, *ret) &&
               map_put(&finding->layouts_by, key, added, &added));
    return NULL;
}

/* Adds an edge for each number in an object, by the fields of its layout. */
static struct g2h_error *numbers_add_fields(struct numbers_finding *finding,
                                            const struct g2h_location *location, uint64_t number)
{
    struct numbers_layout layout;
    TRY(numbers_layout_of(finding, location, number, &layout));
    for (size_t i = 0; i < layout.count; i++) {
        struct g2h_value value = finding->fields.data[layout.first + i].value;
        value.data = location->bytes.data + value.offset;
        TRY(numbers_add_edge(finding, &value, finding->fields.data[layout.first + i].name));
    }
    return NULL;
}

/* ---- entries of maps ---- */

/* Gets the name of a value by its entry's key: *ret_name is a string's number, or the index of an
 * element with KEY_NUMBER_ELEMENT. *ret is false if it is in no entry, or if the space for names is
 * used up. A key that is already a string of the output costs no space; the heap's own strings
 * follow those that are added, so a new one moves first_text. */
static struct g2h_error *numbers_name_by_key(struct numbers_finding *finding, uint32_t node,
                                             const struct g2h_value *value, bool *ret,
                                             uint32_t *ret_name)
{
    struct g2h_key_name key;
    enum g2h_key form;
    TRY(g2h_edges_value_key(finding->edges, node, value, &form, &key));
    *ret = form != G2H_KEY_NONE;
    if (form == G2H_KEY_INDEX)
        *ret_name = (uint32_t)key.index | KEY_NUMBER_ELEMENT;
    if (form != G2H_KEY_TEXT)
        return NULL;
    const uint32_t before = finding->strings->first_text;
    *ret = key.size <= finding->space;
    if (!*ret)
        return NULL;
    TRY_MEMORY(strings_add(finding->strings, key.text, key.size, ret_name));
    finding->space -= finding->strings->first_text > before ? key.size : 0;
    return NULL;
}

/* Adds an edge to a number in an entry of a map, named by the entry's key; nothing if it has no
 * name. */
static struct g2h_error *add_entry(struct numbers_finding *finding, uint32_t node,
                                   const struct g2h_value *value)
{
    bool is_named;
    uint32_t name;
    TRY(numbers_name_by_key(finding, node, value, &is_named, &name));
    return is_named ? numbers_add_edge(finding, value, name) : NULL;
}

/* Adds the bytes of a bucket of a map[K]uint8, which look like one array of bytes. */
static struct g2h_error *add_bytes(struct numbers_finding *finding, uint32_t node,
                                   const struct g2h_value *bytes)
{
    static const char path[] = "elems[0]"; /* the slot does not matter */
    struct g2h_value value = *bytes;
    value.kind = G2H_VALUE_UINT;
    value.size = 1;
    value.path = path;
    value.path_size = sizeof(path) - 1;
    for (uint64_t i = 0; i < bytes->size; i++, value.offset++, value.data++)
        TRY(add_entry(finding, node, &value));
    return NULL;
}

/* Returns whether a value is the elems of a bucket, if these are bytes: one array. */
static bool is_bytes_of_bucket(const struct g2h_value *value)
{
    static const char elems[] = "elems";
    const size_t size = sizeof(elems) - 1;
    return value->kind == G2H_VALUE_BYTES && value->path_size >= size &&
           memcmp(value->path + value->path_size - size, elems, size) == 0;
}

/* Adds the numbers in the memory of a map's entries. */
static struct g2h_error *numbers_add_entries(struct numbers_finding *finding,
                                             const struct g2h_location *location, uint32_t node)
{
    struct g2h_value value;
    g2h_values_begin_at(finding->values, location);
    while (g2h_values_next(finding->values, &value))
        if (value.kind <= G2H_VALUE_COMPLEX || value.kind == G2H_VALUE_TIME)
            TRY(add_entry(finding, node, &value));
        else if (is_bytes_of_bucket(&value))
            TRY(add_bytes(finding, node, &value));
    return NULL;
}

/* ---- all objects ---- */

/* Adds the numbers of a node, if it is an object of a known layout, and of a class that is wanted.
 * A node with none gets no entry in the list. */
static struct g2h_error *numbers_add_node(struct numbers_finding *finding, uint32_t number,
                                          const struct g2h_node *node)
{
    struct numbers *numbers = finding->numbers;
    const struct numbered numbered = {number, numbers->edges.count};
    struct g2h_location location;
    if (node->kind != G2H_NODE_OBJECT || node->object == UINT32_MAX ||
        (finding->is_wanted && !finding->is_wanted[node->name]) ||
        !g2h_location_of_object(finding->view, node->object, &location))
        return NULL;
    if ((g2h_view_name_uses(finding->view, node->name) & G2H_NAME_OF_ENTRIES) != 0)
        TRY(numbers_add_entries(finding, &location, number));
    else
        TRY(numbers_add_fields(finding, &location, g2h_values_layout(finding->view, node->object)));
    TRY_MEMORY(numbers->edges.count == numbered.first || vector_push(&numbers->list, numbered));
    return NULL;
}

/* Adds the numbers of all objects, in the order of nodes, and a last entry that ends the list. */
static struct g2h_error *numbers_add_nodes(struct numbers_finding *finding)
{
    const uint32_t all = g2h_view_node_count(finding->view);
    struct g2h_node node;
    for (uint32_t i = as_u32(g2h_view_account(finding->view)->first_object); i < all; i++) {
        g2h_view_brief(finding->view, i, &node);
        TRY(numbers_add_node(finding, i, &node));
    }
    const struct numbered end = {UINT32_MAX, finding->numbers->edges.count};
    TRY_MEMORY(vector_push(&finding->numbers->list, end));
    assert(
        IS_ORDERED(i, finding->numbers->list.count,
                   finding->numbers->list.data[i - 1].node < finding->numbers->list.data[i].node));
    return NULL;
}

/* Assigns a string and an id to each number. */
static struct g2h_error *name_numbers(struct numbers_finding *finding, struct ids *ids)
{
    for (uint32_t i = 0; i < finding->texts.count; i++) {
        struct number_node node;
        size_t size;
        const char *text = string_pool_text(&finding->texts, i, &size);
        TRY_MEMORY(strings_add(finding->strings, text, size, &node.name) &&
                   ids_synthetic(ids, G2H_NODE_PART, id_hash(id_hash_text(text, size)), &node.id) &&
                   vector_push(&finding->numbers->nodes, node));
    }
    return NULL;
}

static void numbers_finding_deinit(struct numbers_finding *finding)
{
    g2h_values_destroy(finding->values);
    g2h_edges_destroy(finding->edges);
    map_deinit(&finding->layouts_by);
    map_deinit(&finding->by_bits);
    string_pool_deinit(&finding->texts);
    g2h_text_deinit(&finding->text);
    free(finding->layouts.data);
    free(finding->fields.data);
    free(finding->is_wanted);
}

/* Finds the numbers in objects that are shown as nodes. Error: there are no types, or no class of
 * that name. None if texts are hidden. */
struct g2h_error *numbers_init(struct numbers *numbers, const struct g2h_view *view, const char *of,
                               bool must_exist, struct ids *ids, struct strings *strings)
{
    _cleanup_(numbers_finding_deinit) struct numbers_finding finding = {
        .numbers = numbers, .view = view, .strings = strings, .space = SPACE_FOR_KEYS};
    if (!g2h_view_is_typed(view))
        return error_create(G2H_ERROR_NOT_FOUND,
                            "without types there are no numbers to show: --exe gives them");
    if (of)
        TRY(numbers_want(&finding, of, must_exist));
    if (g2h_view_is_redacted(view))
        return NULL;
    TRY(g2h_values_create(view, &finding.values));
    TRY(g2h_edges_create(view, &finding.edges));
    TRY(numbers_add_nodes(&finding));
    return name_numbers(&finding, ids);
}

void numbers_deinit(struct numbers *numbers)
{
    free(numbers->nodes.data);
    free(numbers->list.data);
    free(numbers->edges.data);
}

/* Returns the index in list of the first node from node on. */
size_t numbers_from(const struct numbers *numbers, uint32_t node)
{
    size_t at;
    BISECT(at, numbers->list.count, numbers->list.data[at].node < node);
    return at;
}
