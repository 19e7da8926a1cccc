/*
 * values: an iterator over the values in an object, by its type; see
 * include/go2heapsnapshot/view.h.
 *
 * It visits structs and arrays depth-first. An object that is an array has as many values as fit
 * into it. The number of fields and elements visited is bounded by the object's size and the number
 * of fields of all types, because a type may have any number of fields without bytes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "naming/names.h"
#include "naming/symbols.h"
#include "view/locations.h"
#include "view/view.h"

enum { DEPTH = 64 /* of nested structs and arrays: deeper ones are skipped */ };

/* A struct or array that is being visited. */
struct values_level {
    uint32_t type;
    uint64_t offset;      /* in the object */
    uint64_t next, count; /* fields or elements */
    uint32_t element;     /* an array's element type; TYPE_NONE of a struct */
    size_t path_size;     /* size of the path that leads here */
};

struct g2h_values {
    const struct g2h_view *view;
    struct g2h_bytes contents;
    struct values_level levels[DEPTH];
    size_t depth;
    uint64_t parts_left; /* how many more may be visited */
    bool as_seen;        /* values that people see as one are one */
    uint32_t atomic; /* the type of sync/atomic whose number is the current part; or TYPE_NONE */
    struct text path;
};

/* Makes an iterator without a location. *ret is NULL if memory runs out. */
struct g2h_error *g2h_values_create(const struct g2h_view *view, struct g2h_values **ret)
{
    *ret = calloc(1, sizeof(**ret));
    if (!*ret)
        return &error_no_memory;
    (*ret)->view = view;
    return NULL;
}

void g2h_values_destroy(struct g2h_values *values)
{
    if (!values)
        return;
    text_deinit(&values->path);
    free(values);
}

/* Returns the types of the heap. */
static const struct types *types_of(const struct g2h_values *values)
{
    return values->view->graph->typing->types;
}

/* Enters a struct or array at an offset, which has count fields or elements; too deep ones are
 * skipped. element: an array's element type, or TYPE_NONE. */
static void values_enter(struct g2h_values *values, uint32_t type, uint64_t offset,
                         uint32_t element, uint64_t count)
{
    if (values->depth < DEPTH)
        values->levels[values->depth++] =
            (struct values_level){type, offset, 0, count, element, values->path.size};
}

/* Begins the iteration over a location: an array's elements, or a single value, which counts as the
 * only element of a level without a path. as_seen: values that people see as one, such as
 * time.Time, are not taken apart. A sound location has at most parts_left parts; damaged types may
 * claim more. */
static void values_begin(struct g2h_values *values, const struct g2h_location *location,
                         bool as_seen)
{
    const struct types *types = types_of(values);
    const uint64_t size = types_size(types, location->type);
    const uint64_t all = location->bytes.size;
    const uint64_t space = all > location->base ? all - location->base : 0;
    values->contents = location->bytes;
    values->parts_left = 2 * (all + types->fields.count) + DEPTH;
    values->as_seen = as_seen;
    if (size > 0)
        values_enter(values, TYPE_NONE, location->base, location->type,
                     location->is_array ? space / size : 1);
    if (!location->is_array && values->depth > 0)
        values->levels[0].type = location->type; /* the value itself, not an element of an array */
}

/* Begins to read the values of a node; none if it is no object, or one without a known type. */
void g2h_values_begin(struct g2h_values *values, uint32_t node)
{
    const struct g2h_view *view = values->view;
    struct g2h_location location;
    values->depth = 0;
    values->path.size = 0;
    values->parts_left = 0;
    if (view_is_object(view, node) &&
        g2h_location_of_object(view, view_object_of(view, node), &location))
        values_begin(values, &location, false);
}

void g2h_values_begin_at(struct g2h_values *values, const struct g2h_location *location)
{
    values->depth = 0;
    values->path.size = 0;
    values_begin(values, location, true);
}

/* Packs what tells how values of an object are laid out, so that equal numbers mean equal layouts:
 * its type, whether it is an array, and whether it has a malloc header; 0: the type is not known,
 * so one bit is always set otherwise. */
uint64_t g2h_values_layout(const struct g2h_view *view, uint32_t object)
{
    const struct typing *typing = view->graph->typing;
    const struct g2h_heap *heap = view->graph->heap;
    if (!typing)
        return 0;
    const struct object_type known = typing_object(typing, object);
    const bool has_header = heap_has_malloc_header(heap, heap_slot_class(heap, object));
    const bool is_array = known.form == OBJECT_ARRAY;
    if (!is_array && known.form != OBJECT_VALUE)
        return 0;
    enum { IS_ARRAY = 2, IS_KNOWN = 4, TYPE_SHIFT = 3 };
    return (uint64_t)known.type << TYPE_SHIFT | IS_KNOWN | (is_array ? IS_ARRAY : 0) | has_header;
}

/* ---- iteration ---- */

/* Returns whether a type's name begins with a prefix. */
static bool values_begins_with(const struct types *types, uint32_t type, const char *text)
{
    const struct g2h_bytes name = types_name(types, type);
    return name.size >= strlen(text) && memcmp(name.data, text, strlen(text)) == 0;
}

/* Returns the type of the innermost level's next field or element, stores its offset, and makes the
 * path lead to it. As seen, a value of sync/atomic is its number: the path does not get the field's
 * name, "v", and values->atomic has the type. */
static uint32_t values_next_part(struct g2h_values *values, uint64_t *ret_offset)
{
    const struct types *types = types_of(values);
    struct values_level *level = &values->levels[values->depth - 1];
    values->path.size = level->path_size;
    values->atomic = TYPE_NONE;
    if (level->element != TYPE_NONE) {
        const uint64_t index = level->next++;
        *ret_offset = level->offset + index * types_size(types, level->element);
        if (level->type == TYPE_NONE)
            text_printf(&values->path, "[%" PRIu64 "]", index);
        return level->element;
    }
    const struct type_field *field =
        &types->fields.data[types_get(types, level->type)->first_field + level->next++];
    const struct g2h_bytes name = types_text(types, field->name);
    *ret_offset = level->offset + field->offset;
    if (values->as_seen && bytes_are(name, "v") &&
        values_begins_with(types, level->type, "sync/atomic.")) {
        values->atomic = level->type;
        return field->type;
    }
    if (values->path.size > 0)
        text_append_string(&values->path, ".");
    text_append_utf8(&values->path, name.data, name.size, NAME_LIMIT);
    return field->type;
}

/* Enters a field or element that is a struct or an array. Returns false if it is neither. As seen,
 * types that have a form of their own, such as time.Time, are one value. */
static bool enter_part(struct g2h_values *values, uint32_t number, uint64_t offset)
{
    const struct types *types = types_of(values);
    const struct type *type = types_get(types, number);
    enum g2h_value_kind kind;
    if (values->as_seen && value_kind_of(types, number, &kind) && kind != G2H_VALUE_OTHER)
        return false;
    if (type->kind == TYPE_STRUCT) {
        values_enter(values, number, offset, TYPE_NONE, type->field_count);
        return true;
    }
    if (type->kind != TYPE_ARRAY)
        return false;
    if (type->elem < types->list.count && types_size(types, type->elem) > 0)
        values_enter(values, TYPE_NONE, offset, type->elem, type->length);
    return true;
}

/* Sets *ret to the kind of a type's values. Returns false if the type is not known. In the table a
 * kind is 1 higher, because 0 is that of types without an entry. */
bool value_kind_of(const struct types *types, uint32_t number, enum g2h_value_kind *ret)
{
    const struct type *type = types_get(types, number);
    static const uint8_t kinds[TYPE_KINDS] = {
        [TYPE_BOOL] = 1 + G2H_VALUE_BOOL,
        [TYPE_INT] = 1 + G2H_VALUE_INT,
        [TYPE_INT8] = 1 + G2H_VALUE_INT,
        [TYPE_INT16] = 1 + G2H_VALUE_INT,
        [TYPE_INT32] = 1 + G2H_VALUE_INT,
        [TYPE_INT64] = 1 + G2H_VALUE_INT,
        [TYPE_UINT] = 1 + G2H_VALUE_UINT,
        [TYPE_UINT8] = 1 + G2H_VALUE_UINT,
        [TYPE_UINT16] = 1 + G2H_VALUE_UINT,
        [TYPE_UINT32] = 1 + G2H_VALUE_UINT,
        [TYPE_UINT64] = 1 + G2H_VALUE_UINT,
        [TYPE_UINTPTR] = 1 + G2H_VALUE_UINT,
        [TYPE_FLOAT32] = 1 + G2H_VALUE_FLOAT,
        [TYPE_FLOAT64] = 1 + G2H_VALUE_FLOAT,
        [TYPE_COMPLEX64] = 1 + G2H_VALUE_COMPLEX,
        [TYPE_COMPLEX128] = 1 + G2H_VALUE_COMPLEX,
        [TYPE_STRING] = 1 + G2H_VALUE_STRING,
        [TYPE_SLICE] = 1 + G2H_VALUE_SLICE,
        [TYPE_INTERFACE] = 1 + G2H_VALUE_INTERFACE,
        [TYPE_CHAN] = 1 + G2H_VALUE_POINTER,
        [TYPE_FUNC] = 1 + G2H_VALUE_POINTER,
        [TYPE_MAP] = 1 + G2H_VALUE_POINTER,
        [TYPE_POINTER] = 1 + G2H_VALUE_POINTER,
        [TYPE_UNSAFE_POINTER] = 1 + G2H_VALUE_POINTER,
    };
    const uint8_t kind = type->kind < TYPE_KINDS ? kinds[type->kind] : 0;
    *ret = (enum g2h_value_kind)(kind - 1);
    if (type->kind == TYPE_STRUCT)
        *ret = times_is_time(types, number) ? G2H_VALUE_TIME : G2H_VALUE_OTHER;
    if (type->kind == TYPE_ARRAY)
        *ret = value_is_byte(types, type->elem) ? G2H_VALUE_BYTES : G2H_VALUE_OTHER;
    return kind > 0 || type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY;
}

/* Returns whether a type is that of bytes. */
bool value_is_byte(const struct types *types, uint32_t number)
{
    return number < types->list.count && types_get(types, number)->kind == TYPE_UINT8 &&
           types_size(types, number) == 1;
}

/* Returns whether a value of a kind has a size that value_append() can read. */
static bool has_its_size(const struct g2h_heap *heap, enum g2h_value_kind kind, uint64_t size)
{
    const uint64_t word = heap->params.pointer_size;
    switch (kind) {
    case G2H_VALUE_BOOL:
    case G2H_VALUE_INT:
    case G2H_VALUE_UINT:
        return size > 0 && size <= 8;
    case G2H_VALUE_FLOAT:
        return size == 4 || size == 8;
    case G2H_VALUE_COMPLEX:
        return size == 8 || size == 16;
    case G2H_VALUE_STRING:
    case G2H_VALUE_INTERFACE:
        return size == 2 * word;
    case G2H_VALUE_SLICE:
        return size == 3 * word;
    case G2H_VALUE_POINTER:
        return size == word;
    case G2H_VALUE_TIME:
    case G2H_VALUE_BYTES:
    case G2H_VALUE_OTHER:
        return true;
    }
    return false;
}

/* Reads a value of a type; false if it is not there as a whole. A dump's types come from the
 * executable, so each size is checked before value_append() relies on it. */
bool value_fill(const struct g2h_view *view, uint32_t number, const struct g2h_bytes *contents,
                uint64_t offset, struct g2h_value *ret)
{
    const struct types *types = view->graph->typing->types;
    const struct type *type = types_get(types, number);
    if (!value_kind_of(types, number, &ret->kind) ||
        !has_its_size(view->graph->heap, ret->kind, type->size) || contents->size < type->size ||
        offset > contents->size - type->size)
        return false;
    ret->offset = offset;
    ret->size = type->size;
    ret->data = contents->data + offset;
    ret->type = string_pool_text(&types->names, type->name, &ret->type_size);
    ret->number = number;
    ret->path = "";
    ret->path_size = 0;
    return true;
}

/* Reads a value, and adds its path; the number in a value of sync/atomic gets the atomic's type.
 * Returns false if the value cannot be read. */
static bool values_fill(struct g2h_values *values, uint32_t number, uint64_t offset,
                        struct g2h_value *ret)
{
    const struct types *types = types_of(values);
    if (!value_fill(values->view, number, &values->contents, offset, ret))
        return false;
    if (values->path.data) {
        ret->path = values->path.data;
        ret->path_size = values->path.size;
    }
    if (values->atomic != TYPE_NONE) {
        const struct g2h_bytes name = types_name(types, values->atomic);
        ret->type = (const char *)name.data;
        ret->type_size = name.size;
        if (values_begins_with(types, values->atomic, "sync/atomic.Bool"))
            ret->kind = G2H_VALUE_BOOL;
    }
    return true;
}

/* Gets the next value; false after the last one. A depth-first walk with its own stack: takes the
 * next part of the innermost level, enters it if it has parts itself, and leaves a level that has
 * no more, or whose parts are beyond the bytes that the dump has. */
bool g2h_values_next(struct g2h_values *values, struct g2h_value *ret)
{
    while (values->depth > 0 && values->parts_left-- > 0) {
        const struct values_level *level = &values->levels[values->depth - 1];
        uint64_t offset;
        if (level->next >= level->count || level->offset > values->contents.size) {
            values->depth--;
            continue;
        }
        const uint32_t type = values_next_part(values, &offset);
        if (offset > values->contents.size) {
            values->depth--; /* all later parts have larger offsets */
            continue;
        }
        if (type < types_of(values)->list.count && !enter_part(values, type, offset) &&
            values_fill(values, type, offset, ret))
            return true;
    }
    return false;
}

/* ---- formatting ---- */

/* Returns a float32 or float64. */
double value_float(const struct g2h_heap *heap, const uint8_t *at, uint64_t size)
{
    const uint64_t bits = heap_number(heap, at, size);
    const uint32_t narrow_bits = (uint32_t)bits;
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof(wide));
    memcpy(&narrow, &narrow_bits, sizeof(narrow));
    return size == 4 ? (double)narrow : wide;
}

/* Appends a complex number as Go prints it: (1+2i). */
static void append_complex(const struct g2h_heap *heap, const uint8_t *at, uint64_t size,
                           struct text *text)
{
    const uint64_t half = size / 2;
    const double imaginary = value_float(heap, at + half, half);
    text_append_string(text, "(");
    text_append_float(text, value_float(heap, at, half), half == 4);
    if (isnan(imaginary) || (!signbit(imaginary) && !isinf(imaginary)))
        text_append_string(text, "+"); /* else it has a sign */
    text_append_float(text, imaginary, half == 4);
    text_append_string(text, "i)");
}

/* Appends the characters of a string in quotes, or its hash if strings are redacted; nothing if
 * they are not in the dump. */
static void values_append_string(const struct g2h_graph *graph, const uint8_t *at,
                                 struct text *text)
{
    const struct g2h_heap *heap = graph->heap;
    const uint64_t size = heap_word(heap, at + heap->params.pointer_size);
    const uint8_t *data = size == 0
                              ? (const uint8_t *)""
                              : typing_memory(graph->typing, heap_word(heap, at), size, UINT32_MAX);
    if (!data)
        return;
    const struct g2h_bytes bytes = bytes_at(data, size);
    if (graph->names.redaction) {
        text_append_redacted(text, graph->names.redaction, bytes.data, bytes.size);
        return;
    }
    text_append_string(text, "\"");
    text_append_utf8(text, bytes.data, bytes.size, NAME_LIMIT);
    text_append_string(text, "\"");
}

/* Appends an integer; the sign of a small signed one is extended to 64 bits. */
static void values_append_integer(const struct g2h_heap *heap, const struct g2h_value *value,
                                  struct text *text)
{
    uint64_t number = heap_number(heap, value->data, value->size);
    if (value->kind == G2H_VALUE_UINT) {
        text_append_number(text, number);
        return;
    }
    if (value->size < 8 && (number >> (8 * value->size - 1) & 1) != 0)
        number |= UINT64_MAX << 8 * value->size;
    text_printf(text, "%" PRId64, (int64_t)number);
}

/* Appends a value as text. Slices, interfaces and pointers are shown by their first word only;
 * contents.c shows what they lead to. */
void value_append(const struct g2h_graph *graph, const struct g2h_value *value, struct text *text)
{
    const struct g2h_heap *heap = graph->heap;
    switch (value->kind) {
    case G2H_VALUE_BOOL:
        text_printf(text, heap_number(heap, value->data, value->size) != 0 ? "true" : "false");
        break;
    case G2H_VALUE_INT:
    case G2H_VALUE_UINT:
        values_append_integer(heap, value, text);
        break;
    case G2H_VALUE_FLOAT:
        text_append_float(text, value_float(heap, value->data, value->size), value->size == 4);
        break;
    case G2H_VALUE_COMPLEX:
        append_complex(heap, value->data, value->size, text);
        break;
    case G2H_VALUE_STRING:
        values_append_string(graph, value->data, text);
        break;
    case G2H_VALUE_SLICE:
    case G2H_VALUE_INTERFACE:
    case G2H_VALUE_POINTER: {
        const uint64_t word = heap_word(heap, value->data);
        if (word == 0)
            text_append_string(text, "nil");
        else
            text_printf(text, "0x%" PRIx64, word);
        break;
    }
    case G2H_VALUE_TIME:
    case G2H_VALUE_BYTES:
    case G2H_VALUE_OTHER:
        break; /* contents.c */
    }
}

/* Returns whether a value is part of an object that secret.Do has allocated, and not a pointer. */
bool value_is_secret(const struct g2h_heap *heap, const struct g2h_value *value)
{
    return value->kind != G2H_VALUE_POINTER && value->data && heap_is_secret(heap, value->data);
}

/* Replaces the text by a value: "(secret)" for one that secret.Do has allocated, nothing for a
 * number if the heap is redacted. */
void g2h_value_text(const struct g2h_view *view, const struct g2h_value *value,
                    struct g2h_text *text)
{
    const struct g2h_graph *graph = view->graph;
    const bool is_number = value->kind <= G2H_VALUE_COMPLEX;
    struct text made = view_borrow(text);
    made.size = 0;
    if (value_is_secret(graph->heap, value))
        text_append_string(&made, "(secret)");
    else if (!(is_number && graph->names.redaction))
        value_append(graph, value, &made);
    view_give_back(text, &made);
}
