/*
 * length: how many entries a map, slice, channel, sync.Map or list has by its own count, which may
 * be more or less than the objects that it holds; see length.h.
 *
 * length_find() answers for one object. It reads the field that has the count, by the type of the
 * object; a slice's length is not in its array but in what points there, so that find_slice() looks
 * in the object or variable that holds the array. length_note_all() does so for all nodes of the
 * merged tree that are one container, and length_of_maps() adds up the maps of one node. A line is
 * a node of the merged tree: all objects of one class that one holder has.
 */
#include "findings/length.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/values.h>

#include "base/contract.h"
#include "base/error.h"
#include "findings/variable_part.h"

enum { LEAST_SLICE = 1000 /* divisor: the share of the heap of a slice whose length is noted */ };

CLEANUP_POINTER(length_destroy_values, struct g2h_values, g2h_values_destroy);

/* Reads a value that is a count, of a signed or unsigned type. Returns false if it cannot be read,
 * or is negative or more than an int64 has. */
static bool read_as_count(const struct g2h_view *view, const struct g2h_value *value, uint64_t *ret)
{
    const uint64_t sign = UINT64_C(1) << 63;
    if (!g2h_value_order(view, value, ret))
        return false;
    /* The order of signed values, which sorts as unsigned ones, has the sign bit inverted. */
    *ret ^= value->kind == G2H_VALUE_INT ? sign : 0;
    return *ret < sign;
}

/* Finds the value of a map's header that is the number of entries, and reads it. Returns false if
 * there is none, or it cannot be a number of entries. */
static bool read_entries(const struct g2h_view *view, struct g2h_values *values,
                         const struct g2h_location *map, struct g2h_value *value, uint64_t *ret)
{
    g2h_values_begin_at(values, map);
    while (g2h_values_next(values, value)) {
        /* The field of runtime.hmap, an int, and since Go 1.24 of internal/runtime/maps.Map. */
        const bool is_count = value->path_size == 5 && memcmp(value->path, "count", 5) == 0,
                   is_used = value->path_size == 4 && memcmp(value->path, "used", 4) == 0;
        if (is_used || is_count)
            return read_as_count(view, value, ret);
    }
    return false;
}

/* Gets the number of entries of a map, which its header has: also of those that the dump lacks.
 * values must be of the view. Returns false if it is not known. */
bool entries_length(const struct g2h_view *view, struct g2h_values *values,
                    const struct g2h_location *map, uint64_t *ret)
{
    struct g2h_value value;
    return read_entries(view, values, map, &value, ret);
}

/* Reads a field of an object that is a count, by its path. Returns false if there is none, or it is
 * negative. */
static bool read_count(const struct g2h_view *view, struct g2h_values *values, const char *field,
                       uint64_t *ret)
{
    struct g2h_value value;
    while (g2h_values_next(values, &value))
        if (value.path_size == strlen(field) && memcmp(value.path, field, value.path_size) == 0)
            return read_as_count(view, &value, ret);
    return false;
}

/* Gets the length of the only slice among some values that begins in an object. Returns false if
 * there is none, or if there are several. */
static bool read_slice(const struct g2h_view *view, struct g2h_values *values,
                       const struct g2h_node *array, uint64_t *ret)
{
    struct g2h_text text = {0};
    struct g2h_value value;
    struct g2h_content content;
    int found = 0;
    while (g2h_values_next(values, &value)) {
        if (value.kind != G2H_VALUE_SLICE)
            continue;
        g2h_value_content(view, &value, &text, &content);
        if (!content.has_length || content.target < array->address ||
            content.target - array->address >= array->size)
            continue;
        *ret = content.length;
        found++;
    }
    g2h_text_deinit(&text);
    return found == 1;
}

/* Reads the length of a slice that is a part of a variable, which an expression names:
 * main.dispatcher.retry.elems. An expression that cannot be read is not known. */
static struct g2h_error *read_part(const struct findings *findings, const char *name,
                                   const struct g2h_node *array, struct length *ret)
{
    _cleanup_(variable_part_deinit) struct variable_part part = {.is_value = false};
    struct g2h_text text = {0};
    struct g2h_content content;
    bool begins;
    struct g2h_error *error = variable_part_read(findings, name, &begins, &part);
    if (error && error->code == G2H_ERROR_NOT_FOUND) {
        g2h_error_destroy(error);
        return NULL;
    }
    if (error || !begins || !part.is_value || part.value.kind != G2H_VALUE_SLICE)
        return error;
    g2h_value_content(findings->view, &part.value, &text, &content);
    g2h_text_deinit(&text);
    /* Only a slice that leads into the array tells its length. */
    if (content.has_length && content.target >= array->address &&
        content.target - array->address < array->size)
        *ret = (struct length){"slice", content.length};
    return NULL;
}

/* Finds the length of a slice in what holds its array: an object, or the variable that the path is
 * the name of, or a part of. */
static struct g2h_error *find_slice(const struct findings *findings, struct g2h_values *values,
                                    const struct g2h_node *array, uint32_t node,
                                    const struct text *path, struct length *ret)
{
    struct g2h_location location;
    struct g2h_node holder;
    uint32_t by;
    if (!path_goes_by(findings->paths, node, &by))
        return NULL;
    g2h_view_brief(findings->view, by, &holder);
    if (holder.object != UINT32_MAX) {
        g2h_values_begin(values, by);
    } else {
        _cleanup_free_ char *name = strndup(path->data, path->size);
        TRY_MEMORY(name);
        if (g2h_length_of_static_slice(findings->view, array->object, &ret->count)) {
            ret->kind = "slice";
            return NULL;
        }
        if (g2h_location_of_variable(findings->view, name, &location) != G2H_VARIABLE_FOUND)
            return read_part(findings, name, array, ret);
        g2h_values_begin_at(values, &location);
    }
    if (read_slice(findings->view, values, array, &ret->count))
        ret->kind = "slice";
    return NULL;
}

/* Returns whether a class is slices of anything but bytes, whose number says nothing. */
static bool is_slice(const struct merged *merged, uint32_t line)
{
    static const char bytes[] = "[]uint8";
    size_t size;
    const char *name = merged_name(merged, line, &size);
    return merged_form(merged, line) == G2H_FORM_SLICE &&
           (size != sizeof(bytes) - 1 || memcmp(name, bytes, size) != 0);
}

/* Returns whether a line is lists of package container/list. */
static bool is_list(const struct merged *merged, uint32_t line)
{
    static const char list[] = "list.List";
    size_t size;
    const char *name = merged_name(merged, line, &size);
    return size == sizeof(list) - 1 && memcmp(name, list, size) == 0;
}

/* Reads what an object, of which the location is known, says of its length. Returns what it is.
 * NULL: it has no length, or it is not known. */
static const char *read_object(const struct merged *merged, uint32_t line,
                               struct g2h_values *values, const struct g2h_location *location,
                               uint64_t *ret)
{
    const enum g2h_class_form form = merged_form(merged, line);
    if (form == G2H_FORM_MAP)
        return entries_length(merged->view, values, location, ret) ? "map" : NULL;
    g2h_values_begin_at(values, location);
    if (form == G2H_FORM_CHAN)
        return read_count(merged->view, values, "qcount", ret) ? "channel" : NULL;
    if (is_list(merged, line))
        return read_count(merged->view, values, "len", ret) ? "list" : NULL;
    return NULL;
}

/* Returns the sync.Map that a variable is, if the line of merged is of such a variable; else the
 * line. Until Go 1.23 it has two pointers, which paths leave out. */
static uint32_t map_of_variable(const struct findings *findings, uint32_t node, uint32_t line)
{
    const struct merged_node *nodes = findings->merged.nodes.data;
    const uint32_t child = nodes[line].child;
    struct g2h_node read;
    if (nodes[line].kind == MERGED_CLASS || child == MERGED_NONE || !nodes[child].is_trie ||
        nodes[child].count != 1 || nodes[child].sibling != MERGED_NONE)
        return line;
    g2h_view_brief(findings->view, node, &read);
    return (g2h_view_name_uses(findings->view, read.name) & G2H_NAME_OF_LINKS) != 0 ? child : line;
}

/* Finds the length of a map whose header is in a frame, from the node of its memory: goes up the
 * path to the memory that the frame itself leads to, and reads the header that the frame has for
 * it. */
static void find_in_frame(const struct findings *findings, struct g2h_values *values, uint32_t node,
                          struct length *ret)
{
    struct g2h_location map;
    struct g2h_node read, above;
    uint32_t by;
    g2h_view_brief(findings->view, node, &read);
    while (path_goes_by(findings->paths, node, &by)) { /* to the memory that the frame leads to */
        g2h_view_brief(findings->view, by, &above);
        if (above.name != read.name)
            break;
        node = by;
        read = above;
    }
    if (path_goes_by(findings->paths, node, &by) &&
        g2h_location_of_map_in_frame(findings->view, by, read.object, &map) &&
        entries_length(findings->view, values, &map, &ret->count))
        ret->kind = "map";
}

/* Counts the entries of one of several sync.Maps that are merged in a line, by the uppermost of its
 * inner nodes. *ret is 0 before Go 1.24, where two maps of a sync.Map may share them. */
static struct g2h_error *count_entries_of_map(const struct findings *findings, uint32_t line,
                                              uint32_t node, uint64_t *ret)
{
    const struct g2h_dominators *dominators = findings->dominators;
    const struct merged *merged = &findings->merged;
    const uint32_t top = g2h_dominators_number(dominators, node);
    struct g2h_node read;
    *ret = 0;
    if (merged->nodes.data[line].trie_maps > 0)
        return NULL;
    _cleanup_free_ bool *is_below = calloc(merged->of_count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    is_below[top] = true;
    for (uint32_t i = top + 1; i < merged->of_count; i++) {
        is_below[i] = is_below[g2h_dominators_above(dominators, i)];
        if (!is_below[i] || merged->of[i] != line ||
            g2h_dominators_node(dominators, i) == UINT32_MAX)
            continue;
        g2h_view_brief(findings->view, g2h_dominators_node(dominators, i), &read);
        *ret += g2h_view_runtime_class(findings->view, read.name) == G2H_RUNTIME_TRIE_ENTRY;
    }
    return NULL;
}

/* Finds how many entries the node at the end of a path has, from the memory of the map, slice or
 * channel; of what paths show as a node of its own, from its merged node. ret->kind stays NULL if
 * there is no length, or texts are hidden. */
struct g2h_error *length_find(const struct findings *findings, uint32_t node,
                              const struct text *path, struct length *ret)
{
    const struct merged *merged = &findings->merged;
    const uint32_t line = map_of_variable(
        findings, node, merged->of[g2h_dominators_number(findings->dominators, node)]);
    _cleanup_(length_destroy_values) struct g2h_values *values = NULL;
    struct g2h_location location;
    struct g2h_node read;
    *ret = (struct length){.kind = NULL};
    if (merged->nodes.data[line].is_trie) {
        const struct merged_node *maps = &merged->nodes.data[line];
        uint64_t entries = maps->entries;
        if (maps->count > 1)
            TRY(count_entries_of_map(findings, line, node, &entries));
        *ret = (struct length){entries > 0 ? "sync.Map" : NULL, entries};
        return NULL;
    }
    g2h_view_brief(findings->view, node, &read);
    if (read.object == UINT32_MAX || g2h_view_is_redacted(findings->view))
        return NULL;
    TRY(g2h_values_create(findings->view, &values));
    if (findings_is_entries(findings->view, read.name)) {
        find_in_frame(findings, values, node, ret);
        return NULL;
    }
    if (is_slice(merged, line))
        return path->size > 0 ? find_slice(findings, values, &read, node, path, ret) : NULL;
    if (g2h_location_of_object(findings->view, read.object, &location))
        ret->kind = read_object(merged, line, values, &location, &ret->count);
    return NULL;
}

/* The lists of package container/list that are fields of a struct, not objects of their own. */
struct lists_inside {
    struct text field;  /* of the last list that was read: "entries" */
    struct text chosen; /* of the only one with so many entries */
    uint64_t entries;
    unsigned found;
};

static void lists_deinit(struct lists_inside *lists)
{
    text_deinit(&lists->field);
    text_deinit(&lists->chosen);
}

/* Returns the size of the field that a value is the end of, without the dot before the end: of
 * "entries.root.next" for "root.next" that of "entries". SIZE_MAX: it ends otherwise. */
static size_t size_before(const struct g2h_value *value, const char *end)
{
    const size_t size = strlen(end);
    if (value->path_size < size || memcmp(value->path + value->path_size - size, end, size) != 0 ||
        (value->path_size > size && value->path[value->path_size - size - 1] != '.'))
        return SIZE_MAX;
    return value->path_size > size ? value->path_size - size - 1 : 0;
}

/* Returns whether a value is the first pointer of a list: its first element. */
static bool is_first_of_list(const struct g2h_view *view, const struct g2h_value *value)
{
    static const char element[] = "*list.Element";
    _cleanup_(g2h_text_deinit) struct g2h_text type = {0};
    if (value->kind != G2H_VALUE_POINTER || size_before(value, "root.next") == SIZE_MAX)
        return false;
    g2h_value_type(view, value, false, &type);
    return type.size == sizeof(element) - 1 && memcmp(type.data, element, type.size) == 0;
}

/* Counts the lists among the values of a struct that have as many entries as wanted. */
static void count_lists(const struct g2h_view *view, struct g2h_values *values,
                        struct lists_inside *lists)
{
    struct g2h_value value;
    bool is_in_list = false;
    while (g2h_values_next(values, &value)) {
        uint64_t length;
        const size_t before = size_before(&value, "len");
        if (is_first_of_list(view, &value)) {
            lists->field.size = 0;
            text_append(&lists->field, value.path, size_before(&value, "root.next"));
            is_in_list = true;
        } else if (is_in_list && before == lists->field.size &&
                   (before == 0 || memcmp(value.path, lists->field.data, before) == 0)) {
            is_in_list = false;
            if (!read_as_count(view, &value, &length) || length != lists->entries)
                continue;
            lists->found++;
            lists->chosen.size = 0;
            text_append(&lists->chosen, lists->field.data, lists->field.size);
        }
    }
}

/* Finds the only list with so many entries that a struct has in it, an object or a variable at the
 * end of a path: appends its field to the path. Nothing if there is none, or more than one. */
struct g2h_error *length_find_list(const struct findings *findings, uint32_t node, uint64_t entries,
                                   struct text *path, struct length *ret)
{
    _cleanup_(length_destroy_values) struct g2h_values *values = NULL;
    _cleanup_(lists_deinit) struct lists_inside lists = {.entries = entries};
    struct g2h_location location;
    struct g2h_node read;
    if (g2h_view_is_redacted(findings->view))
        return NULL;
    g2h_view_brief(findings->view, node, &read);
    if (read.object != UINT32_MAX) {
        if (!g2h_location_of_object(findings->view, read.object, &location))
            return NULL;
    } else {
        _cleanup_free_ char *name = strndup(path->data, path->size);
        TRY_MEMORY(name);
        if (g2h_location_of_variable(findings->view, name, &location) != G2H_VARIABLE_FOUND)
            return NULL;
    }
    TRY(g2h_values_create(findings->view, &values));
    g2h_values_begin_at(values, &location);
    count_lists(findings->view, values, &lists);
    TRY_MEMORY(!lists.field.failed && !lists.chosen.failed);
    if (lists.found != 1)
        return NULL;
    if (lists.chosen.size > 0) {
        text_append_string(path, ".");
        text_append(path, lists.chosen.data, lists.chosen.size);
    }
    *ret = (struct length){"list", entries};
    return NULL;
}

/* Returns whether a line is maps, channels or lists: these have a count of their own. */
static bool may_have_length(const struct merged *merged, uint32_t line)
{
    const enum g2h_class_form form = merged_form(merged, line);
    return form == G2H_FORM_MAP || form == G2H_FORM_CHAN || is_list(merged, line);
}

/* Appends the name of the variable that a node of merged is, with the package's, or of the part of
 * one: main.journal.records. */
static void append_variable(const struct merged *merged, uint32_t node, struct text *text)
{
    const struct merged_node *variable = &merged->nodes.data[node];
    size_t size;
    if (variable->kind == MERGED_VARIABLE) {
        const char *package = merged_name(merged, variable->parent, &size);
        text_append(text, package, size);
        text_append_string(text, ".");
    }
    const char *own = merged_name(merged, node, &size);
    text_append(text, own, size);
    text_append(text, "", 1);
}

/* Reads the length of one slice from the only object that holds it, or from the variable; 0: it is
 * not in there. *ret stays as it is if nothing can be read. */
static struct g2h_error *read_lone_slice(const struct merged *merged, uint32_t line,
                                         struct g2h_values *values, uint64_t *ret)
{
    const struct merged_node *nodes = merged->nodes.data;
    const uint32_t above = nodes[line].parent;
    const bool is_of_variable = nodes[above].kind == MERGED_VARIABLE;
    struct g2h_location location;
    struct g2h_node array;
    if (merged_is_runtime(merged, is_of_variable ? nodes[above].parent : above))
        return NULL; /* its structures are large, and no program's */
    g2h_view_brief(merged->view, nodes[line].example, &array);
    if (nodes[above].kind == MERGED_CLASS && nodes[above].count == 1) {
        g2h_values_begin(values, nodes[above].example);
    } else {
        const struct findings findings = {.view = merged->view};
        _cleanup_(text_deinit) struct text name = {0};
        struct length part = {.kind = NULL};
        if (g2h_length_of_static_slice(merged->view, array.object, ret))
            return NULL;
        append_variable(merged, above, &name);
        TRY_MEMORY(!name.failed);
        if (g2h_location_of_variable(merged->view, name.data, &location) != G2H_VARIABLE_FOUND) {
            TRY(read_part(&findings, name.data, &array, &part));
            *ret = part.kind ? part.count : *ret;
            return NULL;
        }
        g2h_values_begin_at(values, &location);
    }
    if (!read_slice(merged->view, values, &array, ret))
        *ret = 0;
    return NULL;
}

/* Where the headers of maps have the number of entries: all maps of a program have the same header,
 * so it is found in one of them. */
struct map_count {
    struct g2h_value value;
    uint64_t offset; /* in the contents of the map's header */
    bool is_known;
};

/* Reads the entries of a map, as entries_length() does, but by the place that is known already.
 * Returns false if there is no header: that of a map in a frame is no object. */
static bool read_map(const struct g2h_view *view, struct g2h_values *values,
                     const struct g2h_location *map, struct map_count *count, uint64_t *ret)
{
    if (!g2h_location_is_map(view, map))
        return false;
    if (!count->is_known) {
        count->is_known = read_entries(view, values, map, &count->value, ret);
        if (count->is_known)
            count->offset = as_size(count->value.data - map->bytes.data);
        return count->is_known;
    }
    if (map->bytes.size < count->value.size || count->offset > map->bytes.size - count->value.size)
        return false;
    count->value.data = map->bytes.data + count->offset;
    return read_as_count(view, &count->value, ret);
}

/* Sums up the entries of all maps that are merged into one node. *ret becomes 0 if it is not of
 * maps, if one of them cannot be read, or if texts are hidden. */
struct g2h_error *length_of_maps(const struct findings *findings, uint32_t line, uint64_t *ret)
{
    const struct merged *merged = &findings->merged;
    _cleanup_(length_destroy_values) struct g2h_values *values = NULL;
    struct map_count count = {.is_known = false};
    struct g2h_location map;
    struct g2h_node read, first;
    uint64_t sum = 0, length;
    *ret = 0;
    if (merged_form(merged, line) != G2H_FORM_MAP || g2h_view_is_redacted(findings->view))
        return NULL;
    TRY(g2h_values_create(findings->view, &values));
    g2h_view_brief(findings->view, merged->nodes.data[line].example, &first);
    for (uint32_t i = 1; i < merged->of_count; i++) {
        const uint32_t node =
            merged->of[i] == line ? g2h_dominators_node(findings->dominators, i) : UINT32_MAX;
        if (node == UINT32_MAX)
            continue;
        g2h_view_brief(findings->view, node, &read);
        if (read.name != first.name)
            continue; /* memory of a map */
        if (read.object == UINT32_MAX ||
            !g2h_location_of_object(findings->view, read.object, &map) ||
            !read_map(findings->view, values, &map, &count, &length))
            return NULL;
        sum += length;
    }
    *ret = sum;
    return NULL;
}

/* Notes how many entries each container has that is one object: a map, a slice of much memory, or a
 * struct that counts. Nothing if texts are hidden. The example of a node that is one object is this
 * object: memory of a map is no example. */
struct g2h_error *length_note_all(struct merged *merged)
{
    _cleanup_(length_destroy_values) struct g2h_values *values = NULL;
    struct map_count count = {.is_known = false};
    struct g2h_location location;
    struct g2h_node read;
    const uint64_t least = merged_held(merged, 0) / LEAST_SLICE;
    if (g2h_view_is_redacted(merged->view))
        return NULL;
    TRY(g2h_values_create(merged->view, &values));
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        struct merged_node *node = &merged->nodes.data[i];
        uint64_t length;
        if (node->is_trie && (node->count != 1 || node->trie_tops != 1))
            node->entries = 0; /* of several, or of a part of one */
        if (node->kind != MERGED_CLASS || node->count != 1 || node->is_trie)
            continue;
        if (node->retained >= least && is_slice(merged, i))
            TRY(read_lone_slice(merged, i, values, &node->entries));
        if (!may_have_length(merged, i))
            continue;
        g2h_view_brief(merged->view, node->example, &read);
        if (read.object == UINT32_MAX ||
            !g2h_location_of_object(merged->view, read.object, &location))
            continue;
        if (merged_form(merged, i) == G2H_FORM_MAP
                ? read_map(merged->view, values, &location, &count, &length)
                : read_object(merged, i, values, &location, &length) != NULL)
            node->entries = length;
    }
    return NULL;
}
