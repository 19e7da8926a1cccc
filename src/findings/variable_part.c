/*
 * variable_part: reads an expression value by value, from a variable or an address on:
 * main.cache.limits.Max; see variable_part.h.
 *
 * The state is a struct variable_part: a location (an object, or a variable) and the path of a
 * value in it. part_read_steps() takes one field, index or key after the other; each step either
 * extends the path, or follows a pointer, slice or map to another location. A step that leads
 * nowhere is an error that says what there is instead: the fields, the nearest keys, "is nil". The
 * part similar finds names that are nearly the one that was asked for.
 */
#include "findings/variable_part.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"
#include "findings/findings.h"
#include "findings/keys.h"

CLEANUP_POINTER(destroy_values, struct g2h_values, g2h_values_destroy);

/* ==== similar ==== */

enum { LONGEST = 256 /* bytes of a name that similar_distance() compares */ };

/* Returns how many bytes differ between two names. The Levenshtein distance, computed row by
 * row. */
unsigned similar_distance(const char *one, size_t one_size, const char *other, size_t other_size)
{
    unsigned row[LONGEST + 1];
    if (one_size > LONGEST || other_size > LONGEST)
        return UINT_MAX;
    for (unsigned j = 0; j <= other_size; j++)
        row[j] = j;
    for (size_t i = 1; i <= one_size; i++) {
        unsigned before = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= other_size; j++) {
            const bool is_same = strncasecmp(&one[i - 1], &other[j - 1], 1) == 0;
            const unsigned changed = before + !is_same;
            before = row[j];
            row[j] = MIN(row[j] + 1, changed);
            row[j] = MIN(row[j - 1] + 1, row[j]);
        }
    }
    return row[other_size];
}

/* Returns how many changes a name may need to count as similar: 1, and one per three bytes. A
 * package is the same in many names, so only what follows it says how different two may be. */
static unsigned most_changes(const struct similar *similar)
{
    size_t size = similar->asked_size;
    for (size_t i = 0; i < similar->asked_size && similar->asked[0] != '"'; i++)
        if (similar->asked[i] == '.')
            size = similar->asked_size - i - 1;
    return 1 + (unsigned)(size / 3);
}

/* Adds a name if its distance, the number of characters to change, is at most most_changes(), and
 * it is not there yet. The list is ascending by distance; the furthest goes if it is full. */
void similar_add(struct similar *similar, const char *name, size_t size)
{
    similar_add_behind(similar, name, size, 0);
}

/* Does the same. The distance is that of what follows the first bytes. */
void similar_add_behind(struct similar *similar, const char *name, size_t size, size_t first)
{
    const unsigned most = most_changes(similar);
    const size_t compared = size - first;
    const size_t longer = MAX(compared, similar->asked_size);
    if (2 * longer - compared - similar->asked_size > most) /* the distance is at least that */
        return;
    const unsigned distance =
        similar_distance(name + first, compared, similar->asked, similar->asked_size);
    if (distance > most)
        return;
    for (size_t i = 0; i < similar->count; i++)
        if (similar->list[i].name.size == size &&
            memcmp(similar->list[i].name.data, name, size) == 0)
            return;
    size_t at = similar->count < SIMILAR_MOST ? similar->count++ : SIMILAR_MOST;
    if (at == SIMILAR_MOST && similar->list[--at].distance <= distance)
        return; /* the list is full of nearer ones; else its last one goes */
    struct text text = similar->list[at].name; /* its memory is used again */
    for (; at > 0 && similar->list[at - 1].distance > distance; at--)
        similar->list[at] = similar->list[at - 1];
    text.size = 0;
    text_append(&text, name, size);
    similar->list[at].name = text;
    similar->list[at].distance = distance;
}

/* Appends the names: "a, b or c"; nothing if there are none. */
void similar_append(const struct similar *similar, struct text *text)
{
    for (size_t i = 0; i < similar->count; i++) {
        const bool is_last = i + 1 == similar->count;
        if (i > 0)
            text_append_string(text, is_last ? " or " : ", ");
        text_append(text, similar->list[i].name.data, similar->list[i].name.size);
        text->failed |= similar->list[i].name.failed;
    }
}

void similar_deinit(struct similar *similar)
{
    for (size_t i = 0; i < SIMILAR_MOST; i++)
        text_deinit(&similar->list[i].name);
}

/* ==== variable_part ==== */

struct part_reading {
    const struct findings *findings;
    struct g2h_values *values;
    struct variable_part *part;
};

/* Returns an error that names the part: "main.cache is nil". */
static struct g2h_error *part_refuse(const struct part_reading *reading, const char *what)
{
    const struct text *name = &reading->part->name;
    return error_create(G2H_ERROR_NOT_FOUND, "%.*s %s", as_width(name->size), name->data, what);
}

/* ---- paths of values ---- */

/* Returns whether a value is within the part. The value's path must be the part's path, or begin
 * with it and go on with "." or "[". *without is the rest, without a leading ".". */
bool variable_part_has(const struct variable_part *part, const struct g2h_value *value,
                       struct g2h_bytes *without)
{
    const size_t size = part->path.size;
    if (value->path_size < size || memcmp(value->path, size > 0 ? part->path.data : "", size) != 0)
        return false;
    const char *rest = value->path + size;
    size_t left = value->path_size - size;
    if (size > 0 && left > 0 && *rest != '.' && *rest != '[')
        return false; /* "Names" is not a part of "Name" */
    const bool has_dot = size > 0 && left > 0 && *rest == '.';
    *without = bytes_at(rest + has_dot, left - has_dot);
    return true;
}

/* Returns the size of the first step of a path: "Config" of "Config.Limits", "[3]" of "[3].Name".
 */
static size_t first_step(struct g2h_bytes path)
{
    size_t at = path.size > 0 && path.data[0] == '[';
    while (at < path.size && path.data[at] != '.' && path.data[at] != '[')
        at++;
    return at;
}

/* Finds out what the values below the part's path are: a single one, and where they begin and end.
 * Returns false if there are none. */
static bool part_settle(const struct part_reading *reading)
{
    struct variable_part *part = reading->part;
    struct g2h_value value;
    struct g2h_bytes rest;
    uint64_t count = 0;
    part->is_value = false;
    g2h_values_begin_at(reading->values, &part->location);
    while (g2h_values_next(reading->values, &value)) {
        if (!variable_part_has(part, &value, &rest)) {
            if (count > 0) /* the values of a part follow each other */
                break;
            continue;
        }
        if (count++ == 0) {
            part->offset = value.offset;
            part->is_value = rest.size == 0;
            part->value = value;
            part->value.path = "";
            part->value.path_size = 0;
        }
        part->size = value.offset + value.size - part->offset;
    }
    return count > 0;
}

/* Makes a location the part. A location without values, such as a map's header, stays whole. */
static void part_enter(const struct part_reading *reading, const struct g2h_location *location)
{
    struct variable_part *part = reading->part;
    part->location = *location;
    part->path.size = 0;
    part->offset = location->base;
    part->size = location->bytes.size;
    part_settle(reading);
}

/* ---- pointers ---- */

/* Sets the path to that of the outermost value that begins at an offset of the location: a pointer
 * may lead to an element or a field. Returns false if none begins there. */
static bool part_find_offset(const struct part_reading *reading, uint64_t offset)
{
    struct variable_part *part = reading->part;
    _cleanup_(text_deinit) struct text before = {0};
    struct g2h_value value;
    g2h_values_begin_at(reading->values, &part->location);
    while (g2h_values_next(reading->values, &value) && value.offset <= offset) {
        if (value.offset < offset) {
            before.size = 0;
            text_append(&before, value.path, value.path_size);
            continue;
        }
        size_t end = 0, same = 0;
        while (end < value.path_size) { /* the steps that it shares with the value before */
            const size_t dot = value.path[end] == '.';
            const struct g2h_bytes rest = {(const uint8_t *)value.path + end + dot,
                                           value.path_size - end - dot};
            const size_t next = end + dot + first_step(rest);
            same = next <= before.size && memcmp(before.data, value.path, next) == 0 &&
                   (next == before.size || before.data[next] == '.' || before.data[next] == '[');
            end = next;
            if (!same)
                break;
        }
        text_append(&part->path, value.path, end);
        part->path.failed |= before.failed;
        return part_settle(reading);
    }
    return false;
}

/* Makes what an address leads to the part. Error: it leads to no object of a known type, or into
 * the middle of a value. */
static struct g2h_error *part_go_to(const struct part_reading *reading, uint64_t address)
{
    const struct g2h_view *view = reading->findings->view;
    struct g2h_location location;
    uint32_t object;
    if (!g2h_heap_find(g2h_view_heap(view), address, &object))
        return part_refuse(reading, "leads to memory that is not in the heap");
    if (!g2h_location_of_object(view, object, &location))
        return part_refuse(reading, "leads to an object whose type is not known as a whole");
    part_enter(reading, &location);
    return address <= location.address + location.base ||
                   part_find_offset(reading, address - location.address)
               ? NULL
               : part_refuse(reading, "leads into the middle of a value");
}

/* Returns the address that a string, slice, interface or pointer leads to, or 0. */
uint64_t variable_part_target(const struct findings *findings, const struct variable_part *part)
{
    _cleanup_(g2h_text_deinit) struct g2h_text shown = {0};
    struct g2h_content content;
    if (!part->is_value || part->value.kind < G2H_VALUE_STRING ||
        part->value.kind > G2H_VALUE_POINTER)
        return 0;
    g2h_value_content(findings->view, &part->value, &shown, &content);
    return content.target;
}

/* Makes what a pointer or an interface leads to the part. */
static struct g2h_error *part_follow(const struct part_reading *reading)
{
    const struct variable_part *part = reading->part;
    _cleanup_(g2h_text_deinit) struct g2h_text shown = {0};
    struct g2h_content content;
    g2h_value_content(reading->findings->view, &part->value, &shown, &content);
    if (content.is_nil || content.target == 0)
        return part_refuse(reading, "is nil");
    return part_go_to(reading, content.target);
}

/* Returns whether the part is one value that leads somewhere: a pointer or an interface. */
static bool part_is_reference(const struct variable_part *part)
{
    return part->is_value &&
           (part->value.kind == G2H_VALUE_POINTER || part->value.kind == G2H_VALUE_INTERFACE);
}

/* ---- fields ---- */

/* Appends a step to the part's path: a field, after a dot, or an index. */
static void part_append_step(struct variable_part *part, const char *step, size_t size)
{
    if (part->path.size > 0 && step[0] != '[')
        text_append_string(&part->path, ".");
    text_append(&part->path, step, size);
}

/* Sets the path to that of a field of an embedded struct, whose name may be left out. Returns false
 * if no embedded struct has it. */
static bool part_promote(const struct part_reading *reading, const char *name, size_t size)
{
    struct variable_part *part = reading->part;
    struct g2h_value value;
    struct g2h_bytes rest;
    g2h_values_begin_at(reading->values, &part->location);
    while (g2h_values_next(reading->values, &value)) {
        if (!variable_part_has(part, &value, &rest))
            continue;
        for (size_t at = 0; at < rest.size;) {
            const struct g2h_bytes left = bytes_from(rest, at);
            const size_t step = first_step(left);
            if (step == size && memcmp(left.data, name, size) == 0) {
                part_append_step(part, (const char *)rest.data, at + step);
                return part_settle(reading);
            }
            at += step;
            if (at < rest.size && rest.data[at] == '[')
                break; /* elements are not embedded */
            at += at < rest.size;
        }
    }
    return false;
}

/* Returns an error that says that a part has no field of this name: which fields there are,
 * MOST_FIELDS at most, and which of them has a similar name; or that it has elements instead, or
 * neither. */
static struct g2h_error *part_refuse_field(const struct part_reading *reading, const char *name,
                                           size_t size)
{
    enum { MOST_FIELDS = 12 };
    const struct variable_part *part = reading->part;
    _cleanup_(similar_deinit) struct similar similar = {.asked = name, .asked_size = size};
    _cleanup_(text_deinit) struct text fields = {0}, last = {0}, message = {0};
    struct g2h_value value;
    struct g2h_bytes rest;
    size_t count = 0;
    g2h_values_begin_at(reading->values, &part->location);
    while (g2h_values_next(reading->values, &value)) {
        if (!variable_part_has(part, &value, &rest) || rest.size == 0)
            continue;
        const size_t step = first_step(rest);
        if (step == last.size && memcmp(last.data, rest.data, step) == 0)
            continue;
        last.size = 0;
        text_append(&last, rest.data, step);
        similar_add(&similar, (const char *)rest.data, step);
        if (count++ < MOST_FIELDS) {
            text_append_string(&fields, count > 1 ? ", " : "");
            text_append(&fields, rest.data, step);
        }
    }
    const bool is_list = fields.size > 0 && fields.data[0] == '[';
    text_append_string(&message, "has no field ");
    text_append(&message, name, size);
    if (is_list) {
        text_append_string(&message, ": it has elements, from [0] on");
    } else if (count > 0) {
        text_append_string(&message, ": its fields are ");
        text_append(&message, fields.data, fields.size);
        if (count > MOST_FIELDS)
            text_printf(&message, " and %zu more", count - MOST_FIELDS);
    }
    if (similar.count > 0) {
        text_append_string(&message, "; did you mean ");
        similar_append(&similar, &message);
    }
    text_append(&message, "", 1);
    TRY_MEMORY(!message.failed && !fields.failed && !last.failed);
    return part_refuse(reading, message.data);
}

/* Moves to a field: of what a pointer leads to, and also of an embedded struct. Error: it is a map,
 * a value without fields, or has no field of the name. */
static struct g2h_error *part_step_name(const struct part_reading *reading, const char *name,
                                        size_t size)
{
    struct variable_part *part = reading->part;
    if (part_is_reference(part))
        TRY(part_follow(reading));
    if (g2h_location_is_map(reading->findings->view, &part->location) && part->path.size == 0)
        return part_refuse(reading, "is a map: it has keys in brackets, not fields");
    if (part->is_value && part->value.kind != G2H_VALUE_OTHER) {
        _cleanup_(text_deinit) struct text message = {0};
        text_append_string(&message, "is of type ");
        text_append(&message, part->value.type, part->value.type_size);
        text_append_string(&message, ": it has no fields");
        text_append(&message, "", 1);
        TRY_MEMORY(!message.failed);
        return part_refuse(reading, message.data);
    }
    const size_t before = part->path.size;
    part_append_step(part, name, size);
    if (part_settle(reading))
        return NULL;
    part->path.size = before;
    if (part_promote(reading, name, size))
        return NULL;
    part->path.size = before; /* back to what has no such field, to say why */
    part_settle(reading);
    return part_refuse_field(reading, name, size);
}

/* ---- elements ---- */

/* Returns an error for an index beyond the end. */
static struct g2h_error *part_refuse_index(const struct part_reading *reading, uint64_t index,
                                           uint64_t length)
{
    _cleanup_(text_deinit) struct text message = {0};
    text_append_string(&message, "has ");
    text_append_grouped(&message, length);
    text_printf(&message, "%s: there is no [%" PRIu64 "]", length == 1 ? " element" : " elements",
                index);
    text_append(&message, "", 1);
    TRY_MEMORY(!message.failed);
    return part_refuse(reading, message.data);
}

/* Gets the bytes from one element of an array to the next, and returns whether there are at least
 * two elements. */
static bool part_stride(const struct part_reading *reading, const struct g2h_location *array,
                        uint64_t *ret)
{
    struct g2h_value value;
    g2h_values_begin_at(reading->values, array);
    while (g2h_values_next(reading->values, &value))
        if (value.path_size >= 3 && memcmp(value.path, "[1]", 3) == 0) {
            struct g2h_value first;
            g2h_values_begin_at(reading->values, array);
            *ret = g2h_values_next(reading->values, &first) ? value.offset - first.offset : 0;
            return *ret > 0;
        }
    return false;
}

/* Moves to an element of a slice. Error: the slice is nil or too short, or the element is not in
 * the dump, or has no known type. */
static struct g2h_error *part_step_slice(const struct part_reading *reading, uint64_t index)
{
    struct variable_part *part = reading->part;
    const struct g2h_view *view = reading->findings->view;
    _cleanup_(g2h_text_deinit) struct g2h_text shown = {0};
    struct g2h_content content;
    struct g2h_location array;
    uint32_t object;
    uint64_t stride = 0;
    g2h_value_content(view, &part->value, &shown, &content);
    if (content.is_nil)
        return part_refuse(reading, "is nil");
    if (content.has_length && index >= content.length)
        return part_refuse_index(reading, index, content.length);
    if (!g2h_heap_find(g2h_view_heap(view), content.target, &object) ||
        !g2h_location_of_object(view, object, &array))
        return part_refuse(reading, "has its elements in memory whose type is not known");
    array.base = content.target - array.address;
    if (array.base > array.bytes.size)
        return part_refuse(reading, "has elements that are not in the dump");
    if (!array.is_array && index == 0) {
        part_enter(reading, &array);
        return NULL;
    }
    if (index > 0 && !part_stride(reading, &array, &stride))
        return part_refuse(reading, "has elements that are not in the dump");
    if (index > 0 && index > (array.bytes.size - array.base) / stride)
        return part_refuse(reading, "has elements that are not in the dump");
    array.base += index * stride;
    part->location = array;
    part->path.size = 0;
    text_append_string(&part->path, "[0]");
    return part_settle(reading) ? NULL
                                : part_refuse(reading, "has elements that are not in the dump");
}

/* ---- keys ---- */

enum { FEW_KEYS = 8, MOST_COMPARED = 100000 /* keys, each of which takes a microsecond */ };

struct part_keys {
    const struct g2h_view *view;
    const char *key;
    size_t size;
    struct similar similar;
    struct text few;  /* the first keys, */
    size_t few_first; /* of which these bytes are the first two */
    uint64_t count;
    bool is_found, failed;
    struct g2h_entry found;
};

/* Returns whether a key, as values show it, is the key that is asked for; that may have been copied
 * from an output that cut it, and then ends in an ellipsis before its quotation mark. */
static bool part_is_key(const struct part_keys *keys, const struct g2h_text *shown)
{
    static const char ellipsis[] = "…";
    const size_t cut = strlen(ellipsis);
    const bool is_cut =
        keys->size > cut + 1 && memcmp(keys->key + keys->size - cut - 1, ellipsis, cut) == 0;
    const size_t size = is_cut ? keys->size - cut - 1 : keys->size;
    return (is_cut ? shown->size >= size : shown->size == size) &&
           memcmp(shown->data, keys->key, size) == 0;
}

/* Compares an entry's key with the key that is asked for, and collects what an error would say: the
 * first FEW_KEYS keys, and similar ones among the first MOST_COMPARED. Returns false when the key
 * is found or memory has run out: the visit ends. */
static bool part_visit_key(void *context, const struct g2h_entry *entry)
{
    struct part_keys *keys = context;
    _cleanup_(g2h_text_deinit) struct g2h_text shown = {0};
    struct g2h_content content;
    g2h_value_content(keys->view, &entry->key, &shown, &content);
    keys->failed |= shown.failed;
    keys->count++;
    if (shown.size == 0)
        return !keys->failed;
    keys->is_found = part_is_key(keys, &shown);
    keys->found = *entry;
    if (!keys->is_found && keys->count <= MOST_COMPARED)
        similar_add(&keys->similar, shown.data, shown.size);
    if (!keys->is_found && keys->count <= FEW_KEYS) {
        text_append_string(&keys->few, keys->few.size > 0 ? ", " : "");
        text_append(&keys->few, shown.data, shown.size);
        keys->few_first = keys->count <= 2 ? keys->few.size : keys->few_first;
    }
    return !keys->is_found && !keys->failed;
}

/* Returns the error for a key that a map does not have: it says how many entries there are, and all
 * keys if they are few, else the nearest ones or the first two. */
static struct g2h_error *part_refuse_key(const struct part_reading *reading,
                                         const struct part_keys *keys)
{
    const struct text *name = &reading->part->name;
    _cleanup_(text_deinit) struct text number = {0}, nearest = {0};
    text_append_grouped(&number, keys->count);
    if (keys->count > 0 && keys->count <= FEW_KEYS) {
        text_append_string(&nearest, ": ");
        text_append(&nearest, keys->few.data, keys->few.size);
    } else if (keys->similar.count > 0) {
        text_append_string(&nearest, keys->count > MOST_COMPARED ? "; nearest of the first 100,000 "
                                                                 : "; nearest ");
        similar_append(&keys->similar, &nearest);
    } else if (keys->few.size > 0) {
        text_append_string(&nearest, "; there are ");
        text_append(&nearest, keys->few.data, keys->few_first);
        text_append_string(&nearest, ", …");
    }
    TRY_MEMORY(!number.failed && !nearest.failed && !keys->few.failed);
    return error_create(G2H_ERROR_NOT_FOUND, "no entry %.*s in %.*s (%.*s %s%.*s)",
                        as_width(keys->size), keys->key, as_width(name->size), name->data,
                        as_width(number.size), number.data, keys->count == 1 ? "entry" : "entries",
                        as_width(nearest.size), nearest.size > 0 ? nearest.data : "");
}

/* Moves to the entry of a map, the location, with a key as values show it. */
static struct g2h_error *part_step_entry(const struct part_reading *reading, const char *key,
                                         size_t size)
{
    struct part_keys keys = {.view = reading->findings->view,
                             .key = key,
                             .size = size,
                             .similar = {.asked = key, .asked_size = size}};
    struct g2h_location location;
    struct g2h_error *error =
        g2h_location_entries(keys.view, &reading->part->location, part_visit_key, &keys);
    if (!error && keys.failed)
        error = &error_no_memory;
    if (!error && !keys.is_found)
        error = part_refuse_key(reading, &keys);
    if (!error) {
        g2h_location_of_value(&keys.found.elem, &location);
        part_enter(reading, &location);
    }
    similar_deinit(&keys.similar);
    text_deinit(&keys.few);
    return error;
}

/* Returns the number of elements of the array that the part is: of different first steps, "[0]",
 * "[1]" …, in the paths of its values. */
static uint64_t part_elements(const struct part_reading *reading)
{
    struct g2h_value value;
    struct g2h_bytes rest;
    uint64_t count = 0;
    size_t last = 0;
    char step[32] = "";
    g2h_values_begin_at(reading->values, &reading->part->location);
    while (g2h_values_next(reading->values, &value)) {
        if (!variable_part_has(reading->part, &value, &rest) || rest.size == 0)
            continue;
        const size_t size = first_step(rest);
        if (size >= sizeof(step) || (size == last && memcmp(step, rest.data, size) == 0))
            continue;
        memcpy(step, rest.data, size);
        last = size;
        count++;
    }
    return count;
}

/* Moves to what is in brackets: an entry of a map, by its key, or an element of a slice or array,
 * by its index. A pointer or interface is followed first. Error: it is not a map and the key is no
 * index, it has no elements, or no such one. */
static struct g2h_error *part_step_key(const struct part_reading *reading, const char *key,
                                       size_t size)
{
    struct variable_part *part = reading->part;
    const struct g2h_view *view = reading->findings->view;
    enum { TOO_LONG = 19 }; /* a number of fewer digits fits into 64 bits */
    const bool is_index = size > 0 && size < TOO_LONG && strspn(key, "0123456789") >= size;
    const uint64_t index = is_index ? strtoull(key, NULL, 10) : 0;
    if (part_is_reference(part))
        TRY(part_follow(reading));
    if (g2h_location_is_map(view, &part->location) && part->path.size == 0)
        return part_step_entry(reading, key, size);
    if (!is_index)
        return part_refuse(reading, "is not a map");
    if (part->is_value && part->value.kind == G2H_VALUE_SLICE)
        return part_step_slice(reading, index);
    if (part->is_value && part->value.kind != G2H_VALUE_OTHER)
        return part_refuse(reading, "has no elements");
    const size_t before = part->path.size;
    text_append_string(&part->path, "[");
    text_append_number(&part->path, index);
    text_append_string(&part->path, "]");
    if (part_settle(reading))
        return NULL;
    part->path.size = before; /* back to what has no such element, to say why */
    part_settle(reading);
    const uint64_t count = part_elements(reading);
    struct g2h_bytes rest;
    struct g2h_value value;
    g2h_values_begin_at(reading->values, &part->location);
    while (g2h_values_next(reading->values, &value))
        if (variable_part_has(part, &value, &rest) && rest.size > 0)
            return rest.data[0] == '[' ? part_refuse_index(reading, index, count)
                                       : part_refuse(reading, "has fields, not elements");
    return part_refuse(reading, "has no elements");
}

/* ---- the expression ---- */

/* Returns the size of a key in brackets: of a quoted one with its quotation marks, in which a
 * backslash protects the next character. */
static size_t key_size(const char *at)
{
    if (*at != '"')
        return strcspn(at, "]");
    for (size_t i = 1; at[i]; i++) {
        if (at[i] == '"')
            return i + 1 + (strncmp(at + i + 1, "…", strlen("…")) == 0 ? strlen("…") : 0);
        i += at[i] == '\\' && at[i + 1];
    }
    return strlen(at);
}

/* Follows the steps of an expression from at to its end: ".name", "[key]", or ".Value()" of a
 * handle of package unique. Error: a step leads nowhere, or is not one. */
static struct g2h_error *part_read_steps(const struct part_reading *reading, const char *at)
{
    static const char handle_value[] = "Value()"; /* a handle of unique has nothing but value */
    struct variable_part *part = reading->part;
    while (*at) {
        const char *begin = at;
        if (*at == '[') {
            const size_t size = key_size(at + 1);
            if (at[1 + size] != ']')
                return part_refuse(reading, "is followed by a bracket that is not closed");
            TRY(part_step_key(reading, at + 1, size));
            at += size + 2;
        } else if (*at == '.') {
            const size_t size = strcspn(at + 1, ".[]() ");
            if (size == 0)
                return part_refuse(reading, "is followed by a dot without a name");
            const bool is_value = strncmp(at + 1, handle_value, strlen(handle_value)) == 0;
            TRY(is_value ? part_step_name(reading, "value", strlen("value"))
                         : part_step_name(reading, at + 1, size));
            at += is_value ? strlen(handle_value) + 1 : size + 1;
        } else {
            return error_create(G2H_ERROR_NOT_FOUND, "'%.40s' does not follow %.*s", at,
                                as_width(part->name.size), part->name.data);
        }
        text_append(&part->name, begin, as_size(at - begin));
        TRY_MEMORY(!part->name.failed && !part->path.failed);
    }
    return NULL;
}

/* Finds the variable that begins an expression: of all names that end before a dot or bracket, the
 * longest one. *ret_size becomes 0 if there is none. */
static struct g2h_error *part_read_variable(const struct part_reading *reading, const char *package,
                                            const char *expression, size_t *ret_size)
{
    const size_t longest = strcspn(expression, " \t\n()[],\"");
    _cleanup_(text_deinit) struct text name = {0};
    struct g2h_location location;
    *ret_size = 0;
    for (size_t size = longest; size > 0; size--) {
        if (size < longest && expression[size] != '.')
            continue;
        name.size = 0;
        text_append_string(&name, package);
        text_append(&name, expression, size);
        text_append(&name, "", 1);
        TRY_MEMORY(!name.failed);
        if (g2h_location_of_variable(reading->findings->view, name.data, &location) !=
            G2H_VARIABLE_FOUND)
            continue;
        text_append(&reading->part->name, name.data, name.size - 1);
        part_enter(reading, &location);
        *ret_size = size;
        return NULL;
    }
    return NULL;
}

/* Reads the address of an object. *ret_size becomes 0 if none comes, or if it is in no object. */
static struct g2h_error *part_read_address(const struct part_reading *reading,
                                           const char *expression, size_t *ret_size)
{
    uint32_t object;
    char *end;
    *ret_size = 0;
    const uint64_t address = strtoull(expression, &end, 16);
    const size_t size = as_size(end - expression);
    if (!g2h_heap_find(g2h_view_heap(reading->findings->view), address, &object))
        return NULL;
    text_append(&reading->part->name, expression, size);
    *ret_size = size;
    return part_go_to(reading, address);
}

/* Reads an address or a variable, whose package may be left out if it is main, and then the steps
 * after it. *ret_begins stays false if the expression does not begin with either, or there are no
 * types. */
struct g2h_error *variable_part_read(const struct findings *findings, const char *expression,
                                     bool *ret_begins, struct variable_part *ret)
{
    _cleanup_(destroy_values) struct g2h_values *values = NULL;
    const bool is_address = expression[0] == '0' && (expression[1] == 'x' || expression[1] == 'X');
    size_t size = 0;
    *ret = (struct variable_part){.is_value = false};
    *ret_begins = false;
    if (!g2h_view_is_typed(findings->view))
        return NULL;
    TRY(g2h_values_create(findings->view, &values));
    const struct part_reading reading = {findings, values, ret};
    if (is_address)
        TRY(part_read_address(&reading, expression, &size));
    else
        TRY(part_read_variable(&reading, "", expression, &size));
    if (size == 0 && !is_address)
        TRY(part_read_variable(&reading, "main.", expression, &size));
    *ret_begins = size > 0;
    return size > 0 ? part_read_steps(&reading, expression + size) : NULL;
}

/* Begins at a location. The whole location becomes the part, with name as its text; values are read
 * from the view. */
struct g2h_error *variable_part_begin(const struct findings *findings,
                                      const struct g2h_location *location, const char *name,
                                      struct variable_part *ret)
{
    _cleanup_(destroy_values) struct g2h_values *values = NULL;
    *ret = (struct variable_part){.is_value = false};
    TRY(g2h_values_create(findings->view, &values));
    text_append_string(&ret->name, name);
    part_enter(&(struct part_reading){findings, values, ret}, location);
    TRY_MEMORY(!ret->name.failed && !ret->path.failed);
    return NULL;
}

/* Goes on by steps: ".limits[3].Name". */
struct g2h_error *variable_part_go_on(const struct findings *findings, struct variable_part *part,
                                      const char *steps)
{
    _cleanup_(destroy_values) struct g2h_values *values = NULL;
    TRY(g2h_values_create(findings->view, &values));
    return part_read_steps(&(struct part_reading){findings, values, part}, steps);
}

void variable_part_deinit(struct variable_part *part)
{
    text_deinit(&part->name);
    text_deinit(&part->path);
}
