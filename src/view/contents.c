/*
 * contents: formats values for people; see include/go2heapsnapshot/values.h.
 *
 * An interface is followed to its value, and that of an error to the first field of its struct;
 * everything else that a value leads to is only named by its address. So each value takes a bounded
 * number of steps.
 */
#include <inttypes.h>
#include <string.h>

#include "naming/symbols.h"
#include "view/locations.h"

enum { HEX_BYTES = 32 };

/* A value that is being formatted. */
struct formatting {
    const struct g2h_view *view;
    struct text *text;
    struct g2h_content *content;
};

/* Returns a type by its number. */
static const struct type *contents_type_of(const struct formatting *out, uint32_t number)
{
    return types_get(out->view->graph->typing->types, number);
}

/* Returns a word of a value, by its index. */
static uint64_t contents_word_at(const struct formatting *out, const struct g2h_value *value,
                                 unsigned index)
{
    const struct g2h_heap *heap = out->view->graph->heap;
    return heap_word(heap, value->data + index * heap->params.pointer_size);
}

/* Formats a nil pointer, slice, map or the like. */
static void format_nil(const struct formatting *out)
{
    out->content->is_nil = true;
    text_append_string(out->text, "nil");
}

/* ---- strings and bytes ---- */

/* Appends a string in quotes, and an ellipsis if it was cut. whole is its length, size how much of
 * it there is. */
static void format_quoted(const struct formatting *out, const uint8_t *data, size_t size,
                          uint64_t whole)
{
    text_append_string(out->text, "\"");
    const bool is_clipped = text_append_clipped(out->text, data, size, G2H_CONTENT_LIMIT);
    text_append_string(out->text, is_clipped || whole > size ? "\"…" : "\"");
}

/* Returns whether bytes can be shown as a string: ASCII without control characters but white
 * space. */
static bool is_printable(const uint8_t *data, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if ((data[i] < ' ' && data[i] != '\n' && data[i] != '\t' && data[i] != '\r') ||
            data[i] >= 0x7f)
            return false;
    return true;
}

/* Formats bytes as a string if they are all printable, else in hexadecimal. whole is how many there
 * are, size how many of them the dump has. */
static void format_bytes(const struct formatting *out, const uint8_t *data, size_t size,
                         uint64_t whole)
{
    const size_t shown = MIN(size, G2H_CONTENT_LIMIT);
    if (is_printable(data, shown)) {
        format_quoted(out, data, shown, whole);
        return;
    }
    text_append_string(out->text, "0x");
    for (size_t i = 0; i < shown && i < HEX_BYTES; i++)
        text_printf(out->text, "%02x", data[i]);
    if (whole > HEX_BYTES)
        text_append_string(out->text, "…");
}

/* Returns whether length bytes at an address are inside the object of memory, even if the dump does
 * not have them all. */
static bool is_in_object(const struct formatting *out, const struct view_memory *memory,
                         uint64_t address, uint64_t length)
{
    const struct g2h_heap *heap = out->view->graph->heap;
    return memory->object != UINT32_MAX && length <= heap_address(heap, memory->object) +
                                                         heap_object_size(heap, memory->object) -
                                                         address;
}

/* Formats length bytes at an address, as a string or as bytes; of a shortened object, those that
 * the dump has. */
static void format_memory(const struct formatting *out, uint64_t address, uint64_t length,
                          bool is_string)
{
    struct view_memory memory = {.bytes = {(const uint8_t *)"", 0}};
    const bool is_there = length == 0 || view_memory_at(out->view, address, &memory);
    const size_t size = bytes_at_most(memory.bytes, length).size;
    if (!is_there || (size < length && !is_in_object(out, &memory, address, length)))
        text_printf(out->text, "(not in the dump)");
    else if (is_string)
        format_quoted(out, memory.bytes.data, size, length);
    else
        format_bytes(out, memory.bytes.data, size, length);
}

/* Formats a slice as "len 3 cap 4", and one of bytes also by its contents; one without array is
 * nil. */
static void format_slice(const struct formatting *out, const struct g2h_value *value)
{
    struct g2h_content *content = out->content;
    const struct types *types = out->view->graph->typing->types;
    const uint64_t first = contents_word_at(out, value, 0),
                   length = contents_word_at(out, value, 1),
                   capacity = contents_word_at(out, value, 2);
    if (first == 0) {
        format_nil(out);
        return;
    }
    content->has_length = true;
    content->length = length;
    content->capacity = capacity;
    content->target = first;
    text_printf(out->text, "len %" PRIu64 " cap %" PRIu64, length, capacity);
    if (value_is_byte(types, contents_type_of(out, value->number)->elem)) {
        text_append_string(out->text, " ");
        format_memory(out, first, length, false);
    }
}

/* ---- maps, channels, functions ---- */

/* Formats a map as "3 entries", and a channel as "len 1 cap 10", by the fields of its header
 * (internal/runtime/maps.Map, runtime.hchan); by its address if the header is not in the dump. */
static void format_header(const struct formatting *out, const struct g2h_value *value)
{
    const struct type *type = contents_type_of(out, value->number);
    const bool is_map = type->kind == TYPE_MAP;
    const uint64_t address = contents_word_at(out, value, 0);
    struct g2h_content *content = out->content;
    struct view_memory memory;
    content->target = address;
    if (type->header == TYPE_NONE || !view_memory_at(out->view, address, &memory)) {
        text_printf(out->text, "0x%" PRIx64, address);
        return;
    }
    const struct types *types = out->view->graph->typing->types;
    content->has_length = true;
    if (is_map) {
        const bool is_swiss = types_field(types, type->header, "used") != NULL;
        content->length = content->capacity =
            view_memory_field(out->view, &memory, type->header, is_swiss ? "used" : "count");
        text_printf(out->text, "%" PRIu64 "%s", content->length,
                    content->length == 1 ? " entry" : " entries");
    } else {
        content->length = view_memory_field(out->view, &memory, type->header, "qcount");
        content->capacity = view_memory_field(out->view, &memory, type->header, "dataqsiz");
        text_printf(out->text, "len %" PRIu64 " cap %" PRIu64, content->length, content->capacity);
    }
}

/* Formats a func value by the function's name: its word points to a closure, whose first word is
 * the code's address. */
static void format_function(const struct formatting *out, const struct g2h_value *value)
{
    const struct g2h_graph *graph = out->view->graph;
    const uint64_t closure = contents_word_at(out, value, 0);
    struct view_memory memory;
    struct g2h_bytes name;
    uint64_t entry;
    out->content->target = closure;
    const uint64_t code =
        view_memory_at(out->view, closure, &memory) ? view_memory_word(out->view, &memory, 0) : 0;
    if (code != 0 && graph->typing->exe && exe_function_at(graph->typing->exe, code, &name, &entry))
        text_append_name(out->text, &graph->names, name.data, name.size, NAME_LIMIT);
    else
        text_printf(out->text, "0x%" PRIx64, closure);
}

/* Formats a word that is a pointer by what its type says it points to. */
static void format_pointer(const struct formatting *out, const struct g2h_value *value)
{
    const uint8_t kind = contents_type_of(out, value->number)->kind;
    const uint64_t address = contents_word_at(out, value, 0);
    if (address == 0) {
        format_nil(out);
    } else if (kind == TYPE_MAP || kind == TYPE_CHAN) {
        format_header(out, value);
    } else if (kind == TYPE_FUNC) {
        format_function(out, value);
    } else {
        out->content->target = address;
        text_printf(out->text, "0x%" PRIx64, address);
    }
}

/* ---- interfaces ---- */

static void format_value(const struct formatting *out, const struct g2h_value *value);

/* Gets the first field of a struct if it is a string; else returns false, and *ret is unchanged. */
static bool first_string(const struct formatting *out, uint32_t number,
                         const struct g2h_bytes *bytes, struct g2h_value *ret)
{
    struct g2h_value first;
    const struct types *types = out->view->graph->typing->types;
    const struct type *type = contents_type_of(out, number);
    if (type->kind != TYPE_STRUCT || type->field_count == 0)
        return false;
    const struct type_field *field = types_fields(types, type);
    if (field->offset != 0 || field->type >= types->list.count ||
        !value_fill(out->view, field->type, bytes, 0, &first) || first.kind != G2H_VALUE_STRING)
        return false;
    *ret = first;
    return true;
}

/* Formats the value of a type at an address, after a blank. Structs and arrays are shown by their
 * first string, or else by the address, also if they are not in memory; interfaces by the address.
 * Of all other values, and of interfaces, it is said if they are not in memory. Nothing for a type
 * without size. */
static void format_at(const struct formatting *out, uint32_t number, uint64_t address)
{
    const struct types *types = out->view->graph->typing->types;
    struct g2h_value value;
    struct view_memory memory;
    if (types_size(types, number) == 0)
        return;
    text_append_string(out->text, " ");
    const bool is_there = view_memory_at(out->view, address, &memory) &&
                          value_fill(out->view, number, &memory.bytes, 0, &value);
    const uint8_t kind = types_get(types, number)->kind;
    if (is_there && value.kind == G2H_VALUE_OTHER)
        first_string(out, number, &memory.bytes, &value);
    if (is_there && value.kind != G2H_VALUE_OTHER && value.kind != G2H_VALUE_INTERFACE) {
        struct g2h_content of_value = {.is_nil = false};
        format_value(&(struct formatting){out->view, out->text, &of_value}, &value);
    } else if (is_there || kind == TYPE_STRUCT || kind == TYPE_ARRAY) {
        text_printf(out->text, "at 0x%" PRIx64, address);
    } else {
        text_printf(out->text, "(not in the dump)");
    }
}

/* Formats a pointer that an interface holds; for an error also the string that it points to. nil if
 * it is that, else the address. */
static void format_direct(const struct formatting *out, uint32_t number, uint64_t address,
                          bool is_error)
{
    const struct types *types = out->view->graph->typing->types;
    const struct type *type = contents_type_of(out, number);
    struct g2h_value value;
    struct view_memory memory;
    if (address == 0) {
        text_printf(out->text, " nil");
    } else if (is_error && type->kind == TYPE_POINTER && type->elem < types->list.count &&
               view_memory_at(out->view, address, &memory) &&
               first_string(out, type->elem, &memory.bytes, &value)) {
        struct g2h_content of_value = {.is_nil = false};
        text_append_string(out->text, " ");
        format_value(&(struct formatting){out->view, out->text, &of_value}, &value);
    } else {
        text_printf(out->text, " 0x%" PRIx64, address);
    }
}

/* Formats an interface by its dynamic type, and the value that it holds; "nil", or "(unknown type)"
 * if its first word leads to no known type. */
static void format_interface(const struct formatting *out, const struct g2h_value *value)
{
    const struct typing *typing = out->view->graph->typing;
    const uint64_t first = contents_word_at(out, value, 0);
    const uint64_t data = contents_word_at(out, value, 1);
    if (first == 0) {
        format_nil(out);
        return;
    }
    const uint32_t dynamic =
        typing_interface_type(typing, first, contents_type_of(out, value->number)->empty_interface);
    out->content->target = data;
    if (dynamic == TYPE_NONE) {
        text_printf(out->text, "(unknown type)");
        return;
    }
    const struct g2h_bytes name = types_name(typing->types, dynamic);
    text_append_name(out->text, &out->view->graph->names, name.data, name.size, NAME_LIMIT);
    if (contents_type_of(out, dynamic)->direct_interface)
        format_direct(out, dynamic, data,
                      value->type_size == 5 && memcmp(value->type, "error", 5) == 0);
    else
        format_at(out, dynamic, data);
}

/* ---- all kinds ---- */

/* Returns whether a value is a time.Duration. */
static bool is_duration(const struct g2h_value *value)
{
    static const char name[] = "time.Duration";
    return value->type_size == strlen(name) && memcmp(value->type, name, value->type_size) == 0 &&
           value->size == 8;
}

/* Formats a value by its kind, and sets the numbers in content. */
static void format_value(const struct formatting *out, const struct g2h_value *value)
{
    const struct g2h_graph *graph = out->view->graph;
    struct g2h_content *content = out->content;
    switch (value->kind) {
    case G2H_VALUE_STRING:
        content->has_length = true;
        content->length = content->capacity = contents_word_at(out, value, 1);
        content->target = content->length > 0 ? contents_word_at(out, value, 0) : 0;
        format_memory(out, content->target, content->length, true);
        break;
    case G2H_VALUE_SLICE:
        format_slice(out, value);
        break;
    case G2H_VALUE_INTERFACE:
        format_interface(out, value);
        break;
    case G2H_VALUE_POINTER:
        format_pointer(out, value);
        break;
    case G2H_VALUE_TIME:
        times_append(out->view, value->data, out->text);
        break;
    case G2H_VALUE_BYTES:
        content->has_length = true;
        content->length = content->capacity = value->size;
        format_bytes(out, value->data, (size_t)value->size, value->size);
        break;
    case G2H_VALUE_OTHER:
        break;
    default:
        if (is_duration(value))
            times_append_duration(heap_number(graph->heap, value->data, 8), out->text);
        else
            value_append(graph, value, out->text);
    }
}

/* Reads a value, and appends how it is shown. Of values that are redacted or secret only the target
 * remains. */
void g2h_value_content(const struct g2h_view *view, const struct g2h_value *value,
                       struct g2h_text *text, struct g2h_content *ret)
{
    struct text made = view_borrow(text);
    made.size = 0;
    *ret = (struct g2h_content){.is_nil = false};
    format_value(&(struct formatting){view, &made, ret}, value);
    if (view->graph->names.redaction || value_is_secret(view->graph->heap, value)) {
        made.size = 0;
        *ret = (struct g2h_content){.target = ret->target};
    }
    if (value_is_secret(view->graph->heap, value))
        text_append_string(&made, "(secret)");
    view_give_back(text, &made);
}

/* Maps numbers to unsigned ones in the same order: signed numbers by flipping the sign bit; floats
 * by flipping all bits of negative ones, and the sign bit of others. Returns false for values that
 * have no order, and if the heap is redacted. */
bool g2h_value_order(const struct g2h_view *view, const struct g2h_value *value, uint64_t *ret)
{
    const struct g2h_heap *heap = view->graph->heap;
    const uint64_t top = UINT64_C(1) << 63;
    if (view->graph->names.redaction || value_is_secret(heap, value))
        return false;
    if (value->kind == G2H_VALUE_TIME) {
        *ret = times_order(view, value->data);
    } else if (value->kind == G2H_VALUE_BOOL || value->kind == G2H_VALUE_UINT) {
        *ret = heap_number(heap, value->data, value->size);
    } else if (value->kind == G2H_VALUE_INT) {
        const unsigned above = (unsigned)(64 - 8 * value->size);
        const uint64_t number = heap_number(heap, value->data, value->size) << above;
        *ret = (uint64_t)((int64_t)number >> above) ^ top;
    } else if (value->kind == G2H_VALUE_FLOAT) {
        const double wide = value_float(heap, value->data, value->size);
        memcpy(ret, &wide, sizeof(*ret));
        *ret = (*ret & top) != 0 ? ~*ret : *ret | top;
    } else {
        return false;
    }
    return true;
}
