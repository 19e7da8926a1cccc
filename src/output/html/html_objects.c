/*
 * html_objects: puts into the page's data the largest objects, with the path to each, its fields
 * and who refers to it; the examples of suspects, with their values or stacks; and the layouts of
 * the structs that take most memory. See data.h for how the data are written. The fields of a
 * layout are read from one object of the class; those that belong together are joined to one row.
 */
#include <inttypes.h>
#include <string.h>

#include <go2heapsnapshot/values.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "findings/class_rows.h"
#include "findings/memory_use.h"
#include "findings/path.h"
#include "findings/patterns.h"
#include "output/html/data.h"

enum {
    MOST_STEPS = 60,    /* of a path */
    MOST_REFERRERS = 4, /* classes and fields that point to an object */
    MOST_VALUES = 16,   /* of an object */
};

struct objects {
    struct data *data;
    const struct findings *findings;
    large_vector list;
    node_vector path_nodes[LARGEST_OBJECTS];
    struct retainers retainers[LARGEST_OBJECTS];
    struct g2h_values *values;
    struct g2h_text text, type;
};

static void html_objects_deinit(struct objects *objects)
{
    for (size_t i = 0; i < LARGEST_OBJECTS; i++) {
        free(objects->path_nodes[i].data);
        retainers_deinit(&objects->retainers[i]);
    }
    free(objects->list.data);
    g2h_values_destroy(objects->values);
    g2h_text_deinit(&objects->text);
    g2h_text_deinit(&objects->type);
}

/* Adds "address":"0x…", a string, since numbers of JSON end at 2^53. */
static void html_objects_put_address(struct data *data, uint64_t address)
{
    data_key(data, "address");
    text_printf(&data->out.text, "\"0x%" PRIx64 "\"", address);
}

/* Adds "key":number and a comma. */
static void html_objects_put_number(struct data *data, const char *key, uint64_t number)
{
    data_key(data, key);
    data_number(data, number);
    data_words(data, ",");
}

/* Adds the class of an object, or the name of another node, and a comma. */
static void html_objects_put_class(struct data *data, const struct g2h_node *node)
{
    size_t size;
    const char *name = findings_class_name(data->findings->view, node, &size);
    html_objects_put_number(data, "class", data_name(data, name, size));
}

/* ---- the path to an object ---- */

/* Adds the step of a path from a node to the next, after so many others. */
static void put_step(struct data *data, uint32_t from, uint32_t to, size_t count)
{
    const struct findings *findings = data->findings;
    _cleanup_(text_deinit) struct text step = {0};
    struct g2h_node node;
    g2h_view_brief(findings->view, to, &node);
    path_append_step(findings->paths, from, to, &step);
    data->out.text.failed |= step.failed;
    data_words(data, count > 0 ? ",{" : "{");
    html_objects_put_class(data, &node);
    if (node.object != UINT32_MAX) {
        html_objects_put_address(data, node.address);
        data_words(data, ",");
    }
    html_objects_put_number(data, "retained",
                            g2h_dominators_retained_size(findings->dominators, to));
    data_key(data, "step");
    data_string(data, step.data, step.size);
    data_words(data, "}");
}

/* Adds the path to an object: as an expression, if it has one, and step by step, at most
 * MOST_STEPS. */
static struct g2h_error *put_path(struct data *data, const node_vector *nodes)
{
    const struct findings *findings = data->findings;
    _cleanup_(text_deinit) struct text expression = {0};
    size_t count = 0;
    TRY(expression_append(findings->view, paths_edges(findings->paths), nodes->data, nodes->count,
                          &expression));
    TRY_MEMORY(!expression.failed);
    if (expression.size > 0) {
        data_key(data, "held_by");
        data_path(data, &expression);
        data_words(data, ",");
    }
    data_key(data, "steps");
    data_words(data, "[");
    for (size_t i = 1; i < nodes->count && count < MOST_STEPS; i++)
        if (path_shows(findings->view, nodes->data[i]))
            put_step(data, nodes->data[i - 1], nodes->data[i], count++);
    data_words(data, "],");
    return NULL;
}

/* Adds the groups of roots that together hold an object, or hold its nearest holder that has such;
 * nothing if none has. */
static void put_sharers(struct data *data, uint32_t node)
{
    const char *sharers;
    size_t size;
    for (; node != 0; node = g2h_dominators_of(data->findings->dominators, node)) {
        if (!g2h_view_sharers(data->findings->view, node, &sharers, &size))
            continue;
        data_key(data, "shared_by");
        data_string(data, sharers, size);
        data_words(data, ",");
        return;
    }
}

/* Adds the first MOST_REFERRERS classes and fields that point to an object, and how many pointers
 * each has. */
static void put_referrers(struct data *data, const struct retainers *retainers)
{
    data_key(data, "referrers");
    data_words(data, "[");
    for (size_t i = 0; i < retainers->list.count && i < MOST_REFERRERS; i++) {
        const struct retainer *retainer = &retainers->list.data[i];
        size_t size;
        const char *name = string_pool_text(&retainers->names, retainer->name, &size);
        data_words(data, i > 0 ? ",[" : "[");
        data_string(data, name, size);
        data_words(data, ",");
        data_number(data, retainer->count);
        data_words(data, "]");
    }
    data_words(data, "]");
}

/* ---- the contents of an object ---- */

/* Adds a value as [path, type, value]; count is how many come before it. */
static void html_objects_put_field(struct objects *objects, const struct g2h_value *value,
                                   size_t count)
{
    struct data *data = objects->data;
    struct g2h_content content;
    g2h_value_content(objects->findings->view, value, &objects->text, &content);
    objects->type.size = 0;
    g2h_value_type(objects->findings->view, value, false, &objects->type);
    data->out.text.failed |= objects->text.failed || objects->type.failed;
    data_words(data, count > 0 ? ",[" : "[");
    data_string(data, value->path, value->path_size);
    data_words(data, ",");
    data_string(data, objects->type.data, objects->type.size);
    data_words(data, ",");
    data_string(data, objects->text.data, objects->text.size);
    data_words(data, "]");
}

/* Adds the first MOST_VALUES values, unless the object is a map, its type is not known as a whole,
 * or texts are hidden. */
static void html_objects_put_fields(struct objects *objects, uint32_t object)
{
    const struct g2h_view *view = objects->findings->view;
    struct g2h_location location;
    struct g2h_value value;
    size_t count = 0;
    if (g2h_view_is_redacted(view) || !g2h_view_is_typed(view) ||
        !g2h_location_of_object(view, object, &location) || g2h_location_is_map(view, &location))
        return;
    data_words(objects->data, ",");
    data_key(objects->data, "fields");
    data_words(objects->data, "[");
    g2h_values_begin_at(objects->values, &location);
    while (count < MOST_VALUES && g2h_values_next(objects->values, &value))
        html_objects_put_field(objects, &value, count++);
    data_words(objects->data, "]");
}

/* ---- all objects ---- */

/* Adds one of the largest objects: its node in the page's tree, class, sizes, path, referrers, and
 * values. */
static struct g2h_error *html_objects_put(struct objects *objects, const struct html_tree *tree,
                                          size_t number)
{
    struct data *data = objects->data;
    const struct findings *findings = objects->findings;
    const struct large_object *object = &objects->list.data[number];
    const uint32_t place = g2h_dominators_number(findings->dominators, object->node);
    struct g2h_node node;
    g2h_view_brief(findings->view, object->node, &node);
    data_words(data, number > 0 ? ",\n{" : "\n{");
    html_objects_put_number(data, "node", tree_number(tree, findings->merged.of[place]));
    html_objects_put_class(data, &node);
    html_objects_put_address(data, node.address);
    data_words(data, ",");
    html_objects_put_number(data, "own", node.size);
    html_objects_put_number(data, "retained", object->retained);
    TRY(put_path(data, &objects->path_nodes[number]));
    put_sharers(data, object->node);
    put_referrers(data, &objects->retainers[number]);
    html_objects_put_fields(objects, node.object);
    data_words(data, "}");
    return NULL;
}

/* Finds the largest objects, the shortest path to each, and what points to it. */
static struct g2h_error *find_objects(struct objects *objects)
{
    const struct findings *findings = objects->findings;
    uint32_t nodes[LARGEST_OBJECTS];
    TRY(largest_find(findings, &objects->list));
    for (size_t i = 0; i < objects->list.count; i++)
        nodes[i] = objects->list.data[i].node;
    TRY(paths_shortest(findings->paths, nodes, objects->list.count, objects->path_nodes));
    TRY(g2h_values_create(findings->view, &objects->values));
    return retainers_find_all(findings, paths_edges(findings->paths), nodes, objects->list.count,
                              objects->retainers);
}

/* Adds the largest objects, up to DATA_OBJECTS_BYTES of data. */
struct g2h_error *data_put_largest(struct data *data, const struct html_tree *tree)
{
    _cleanup_(html_objects_deinit) struct objects objects = {.data = data,
                                                             .findings = data->findings};
    const size_t begin = data_size(&data->out);
    TRY(find_objects(&objects));
    data_key(data, "largest");
    data_words(data, "[");
    for (size_t i = 0; i < objects.list.count && data_size(&data->out) - begin < DATA_OBJECTS_BYTES;
         i++)
        TRY(html_objects_put(&objects, tree, i));
    data_words(data, "],\n");
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}

/* ---- examples of suspects ---- */

enum { MOST_CALLS = 24 };

/* Adds the stack of one of the goroutines in a place: its functions and lines, the innermost one
 * first, MOST_CALLS at most; its number, too, unless the view is redacted. */
static struct g2h_error *put_example_stack(struct objects *objects, uint32_t place)
{
    struct data *data = objects->data;
    struct stack_place found;
    struct stack_walk walk;
    struct g2h_view_call call;
    size_t count = 0;
    TRY(stack_place_find(objects->findings, place, &found));
    if (found.example == UINT32_MAX)
        return NULL;
    if (!g2h_view_is_redacted(objects->findings->view))
        html_objects_put_number(data, "goroutine", found.goid);
    data_key(data, "stack");
    data_words(data, "[");
    stack_walk_begin(&walk, objects->findings->view, found.example, false);
    while (count < MOST_CALLS && stack_walk_next(&walk, &call)) {
        objects->text.size = 0;
        g2h_view_call_text(objects->findings->view, &call, &objects->text);
        data->out.text.failed |= objects->text.failed;
        data_comma(data, count++);
        data_string(data, objects->text.data, objects->text.size);
    }
    data_words(data, "]");
    return NULL;
}

/* Adds class, address and values of a suspect's example; nothing if that is not an object. */
static void put_example_object(struct objects *objects, uint32_t example)
{
    struct data *data = objects->data;
    struct g2h_node node;
    g2h_view_brief(objects->findings->view, example, &node);
    if (node.object == UINT32_MAX)
        return;
    html_objects_put_class(data, &node);
    html_objects_put_address(data, node.address);
    html_objects_put_fields(objects, node.object);
}

/* Adds an example for each suspect, in the report's order: {} for one without, or beyond
 * DATA_EXAMPLES_BYTES of data. What is outside of the heap comes first there, and has none. */
struct g2h_error *data_put_examples(struct data *data, const struct who_suspects *suspects)
{
    _cleanup_(html_objects_deinit) struct objects objects = {.data = data,
                                                             .findings = data->findings};
    const size_t begin = data_size(&data->out);
    enum g2h_memory_part part;
    const bool is_outside = memory_is_outside(data->findings, &part);
    TRY(g2h_values_create(data->findings->view, &objects.values));
    data_key(data, "suspect_examples");
    data_words(data, is_outside ? "[{}" : "[");
    for (size_t i = 0; i < suspects->count; i++) {
        const struct who *who = &suspects->list[i];
        data_words(data, is_outside + i > 0 ? ",\n{" : "\n{");
        const bool has_room = data_size(&data->out) - begin < DATA_EXAMPLES_BYTES;
        if (has_room && who->suspect.is_goroutines)
            TRY(put_example_stack(&objects, who->suspect.item));
        else if (has_room && !who->suspect.is_deferred && who->example.node != UINT32_MAX)
            put_example_object(&objects, who->example.node);
        data_words(data, "}");
    }
    data_words(data, "],\n");
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}

/* ---- layouts ---- */

/* Returns the letter for a kind of field, by which page.js chooses its colour: pointer, string,
 * slice (l), interface, other, number. */
static const char *html_objects_kind_of(enum g2h_value_kind kind)
{
    switch (kind) {
    case G2H_VALUE_POINTER:
        return "p";
    case G2H_VALUE_STRING:
        return "s";
    case G2H_VALUE_SLICE:
        return "l";
    case G2H_VALUE_INTERFACE:
        return "i";
    case G2H_VALUE_BYTES:
    case G2H_VALUE_OTHER:
        return "o";
    default:
        return "n";
    }
}

/* A field, or the elements of an array that is one. */
struct html_objects_field {
    struct text name, type; /* of an array the name of the field, and the type of an element */
    enum g2h_value_kind kind;
    uint64_t offset, size, elements; /* elements: 0 if it is not an array */
};

/* Adds a field as [name, type, offset, size, letter]; count is how many come before it. */
static void put_layout_field(struct data *data, const struct html_objects_field *field,
                             size_t count)
{
    _cleanup_(text_deinit) struct text name = {0};
    text_append(&name, field->name.data, field->name.size);
    if (field->elements > 0)
        text_printf(&name, "[%" PRIu64 "]", field->elements);
    data->out.text.failed |= name.failed || field->name.failed || field->type.failed;
    data_words(data, count > 0 ? ",[" : "[");
    data_string(data, name.data, name.size);
    data_words(data, ",");
    data_string(data, field->type.data, field->type.size);
    data_words(data, ",");
    data_number(data, field->offset);
    data_words(data, ",");
    data_number(data, field->size);
    data_words(data, ",\"");
    data_words(data, html_objects_kind_of(field->kind));
    data_words(data, "\"]");
}

/* Reads a value of a struct that begins at base: of "Names[7]", an element of an array, the name is
 * "Names". */
static void html_objects_read_field(struct objects *objects, const struct g2h_value *value,
                                    uint64_t base, struct html_objects_field *field)
{
    const bool is_element = value->path_size > 0 && value->path[value->path_size - 1] == ']';
    const char *bracket = is_element ? memrchr(value->path, '[', value->path_size) : NULL;
    field->name.size = field->type.size = 0;
    text_append(&field->name, value->path,
                bracket ? as_size(bracket - value->path) : value->path_size);
    objects->type.size = 0;
    g2h_value_type(objects->findings->view, value, false, &objects->type);
    text_append(&field->type, objects->type.data, objects->type.size);
    objects->data->out.text.failed |= objects->type.failed;
    field->kind = value->kind;
    field->offset = value->offset - base;
    field->size = value->size;
    field->elements = bracket ? 1 : 0;
}

static bool html_objects_is_same(const struct text *one, const struct text *other)
{
    return one->size == other->size &&
           (one->size == 0 || memcmp(one->data, other->data, one->size) == 0);
}

/* Merges an element of an array into the field that has the elements before it. Returns false if it
 * is not the next element. */
static bool html_objects_join(struct html_objects_field *field,
                              const struct html_objects_field *next)
{
    if (field->elements == 0 || next->elements == 0 ||
        !html_objects_is_same(&field->name, &next->name) ||
        !html_objects_is_same(&field->type, &next->type) ||
        field->offset + field->size != next->offset)
        return false;
    field->size += next->size;
    field->elements++;
    return true;
}

static void field_deinit(struct html_objects_field *field)
{
    text_deinit(&field->name);
    text_deinit(&field->type);
}

/* Adds the fields of a struct, the elements of an array as one of them: each value that is read
 * either extends the field before it or begins the next one. */
static void put_layout_fields(struct objects *objects, const struct g2h_location *location)
{
    _cleanup_(field_deinit) struct html_objects_field field = {.name = {0}}, next = {.name = {0}};
    struct g2h_value value;
    size_t count = 0;
    g2h_values_begin_at(objects->values, location);
    for (bool is_first = true; count < STRUCT_FIELDS && g2h_values_next(objects->values, &value);
         is_first = false) {
        html_objects_read_field(objects, &value, location->base, &next);
        if (!is_first && html_objects_join(&field, &next))
            continue;
        if (!is_first)
            put_layout_field(objects->data, &field, count++);
        const struct html_objects_field read = next; /* they change places, with their memory */
        next = field;
        field = read;
    }
    if (count < STRUCT_FIELDS)
        put_layout_field(objects->data, &field, count);
}

/* Adds the layout of a struct: how many objects, size, slot and fields. */
static void html_objects_put_layout(struct objects *objects, const struct struct_layout *layout,
                                    size_t number)
{
    struct data *data = objects->data;
    struct g2h_location location;
    size_t size;
    const char *name = merged_name(&objects->findings->merged, layout->class, &size);
    data_words(data, number > 0 ? ",\n{" : "\n{");
    html_objects_put_number(data, "class", data_name(data, name, size));
    html_objects_put_number(data, "objects", layout->objects);
    html_objects_put_number(data, "size", layout->size);
    html_objects_put_number(data, "slot", layout->slot);
    data_key(data, "fields");
    data_words(data, "[");
    if (g2h_location_of_object(objects->findings->view, layout->object, &location))
        put_layout_fields(objects, &location);
    data_words(data, "]}");
}

/* Adds the layouts of structs with padding, up to DATA_LAYOUTS_BYTES of data. */
struct g2h_error *data_put_layouts(struct data *data)
{
    _cleanup_(html_objects_deinit) struct objects objects = {.data = data,
                                                             .findings = data->findings};
    _cleanup_vector_ struct_vector structs = {0};
    const size_t begin = data_size(&data->out);
    TRY(structs_find(data->findings, &structs));
    TRY(g2h_values_create(data->findings->view, &objects.values));
    data_key(data, "layouts");
    data_words(data, "[");
    for (size_t i = 0; i < structs.count && data_size(&data->out) - begin < DATA_LAYOUTS_BYTES; i++)
        html_objects_put_layout(&objects, &structs.data[i], i);
    data_words(data, "],\n");
    TRY_MEMORY(!data->out.text.failed);
    return NULL;
}
