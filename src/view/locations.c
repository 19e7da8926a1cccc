/*
 * locations: finds memory of the process whose type is known, as a location: an object, a variable,
 * or what a value leads to; see include/go2heapsnapshot/values.h. The first part reads memory by
 * address, from the dump or the executable; the second makes locations; the third writes types.
 */
#include "view/locations.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* ---- memory ---- */

/* Gets the data, bss or frame of the dump, or the part of the executable's file, that contains an
 * address. Returns false if none does. */
static bool locations_area_at(const struct typing *typing, uint64_t address,
                              struct view_memory *ret)
{
    const struct outside *outside = &typing->outside;
    size_t not_after;
    BISECT(not_after, outside->areas.count, outside->areas.data[not_after].address <= address);
    const struct area *area = not_after > 0 ? &outside->areas.data[not_after - 1] : NULL;
    if (!area || address - area->address >= area->contents.size)
        return false;
    const uint64_t offset = address - area->address;
    *ret = (struct view_memory){.bytes = bytes_from(area->contents, offset),
                                .slide = area->slide,
                                .object = UINT32_MAX,
                                .is_of_file =
                                    area->frame == UINT32_MAX && area->first_word == UINT64_MAX};
    return true;
}

/* Gets the memory outside of the heap at an address; the dump's memory takes precedence over the
 * file's. Data without pointers are in dumps that were taken from outside. Returns false if neither
 * has it. */
static bool outside_at(const struct typing *typing, uint64_t address, struct view_memory *ret)
{
    struct g2h_bytes bytes;
    const bool is_there = locations_area_at(typing, address, ret);
    if ((is_there && !ret->is_of_file) || !facts_data_at(&typing->heap->facts, address, &bytes))
        return is_there;
    *ret = (struct view_memory){.bytes = bytes, .object = UINT32_MAX};
    return true;
}

/* Gets the memory at an address, up to the end of the object or area there. Objects come first;
 * what is outside of the heap is known only with an executable. Returns false if nothing is there.
 */
bool view_memory_at(const struct g2h_view *view, uint64_t address, struct view_memory *ret)
{
    const struct g2h_heap *heap = view->graph->heap;
    const uint32_t object = heap_find(heap, address);
    if (object == UINT32_MAX)
        return view->graph->typing && outside_at(view->graph->typing, address, ret);
    const struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t offset = address - heap_address(heap, object);
    if (offset >= contents.size)
        return false;
    *ret = (struct view_memory){.bytes = bytes_from(contents, offset), .object = object};
    return true;
}

/* Reads the word at an offset of some memory; 0 if the memory ends before. A word of the file needs
 * the slide: the process has the file at another address (ASLR). nil stays nil. */
uint64_t view_memory_word(const struct g2h_view *view, const struct view_memory *memory,
                          uint64_t offset)
{
    const struct g2h_heap *heap = view->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    if (memory->bytes.size < word || offset > memory->bytes.size - word)
        return 0;
    const uint64_t found = heap_word(heap, memory->bytes.data + offset);
    return found == 0 ? 0 : found + memory->slide;
}

/* Returns the number in a field, or 0 if there is no such field, or it is not in the memory. */
uint64_t view_memory_field(const struct g2h_view *view, const struct view_memory *memory,
                           uint32_t type, const char *name)
{
    const struct types *types = view->graph->typing->types;
    const struct type_field *field = types_field(types, type, name);
    const uint64_t size =
        field && field->type < types->list.count ? types_size(types, field->type) : 0;
    if (size == 0 || size > 8 || memory->bytes.size < size ||
        field->offset > memory->bytes.size - size)
        return 0;
    return heap_number(view->graph->heap, memory->bytes.data + field->offset, size);
}

/* ---- locations ---- */

/* Gets the location of an object as a whole. Only objects whose type is known as a whole have a
 * location; a part's type is not enough. Returns false for others. */
bool g2h_location_of_object(const struct g2h_view *view, uint32_t object, struct g2h_location *ret)
{
    const struct typing *typing = view->graph->typing;
    const struct g2h_heap *heap = view->graph->heap;
    if (!typing)
        return false;
    const struct object_type known = typing_object(typing, object);
    *ret = (struct g2h_location){.type = known.type,
                                 .is_array = known.form == OBJECT_ARRAY,
                                 .base = heap_object_base(heap, object),
                                 .address = heap_address(heap, object),
                                 .bytes = heap_contents(heap, object),
                                 .object = object};
    return known.form == OBJECT_VALUE || known.form == OBJECT_ARRAY;
}

/* Returns whether a variable has a name: its own, or that without the directories of its package.
 */
static bool locations_is_called(const struct types *types, const struct dwarf_global *global,
                                const char *asked, size_t length)
{
    const struct g2h_bytes name = types_text(types, global->name);
    return name.size >= length && memcmp(name.data + name.size - length, asked, length) == 0 &&
           (name.size == length || name.data[name.size - length - 1] == '/');
}

/* If a variable is a pointer to static data, as that of var cache = &Cache{} is, gets the value
 * that it leads to instead. */
static void follow_static(const struct g2h_view *view, struct g2h_location *location)
{
    const struct types *types = view->graph->typing->types;
    const struct type *pointer = types_get(types, location->type);
    struct view_memory memory;
    if (pointer->kind != TYPE_POINTER || pointer->target != TARGET_ONE ||
        pointer->elem >= types->list.count)
        return;
    const uint64_t target = heap_word(view->graph->heap, location->bytes.data),
                   size = types_size(types, pointer->elem);
    if (!view_memory_at(view, target, &memory) || memory.object != UINT32_MAX ||
        memory.is_of_file || memory.bytes.size < size)
        return;
    memory.bytes = bytes_before(memory.bytes, size);
    *location = (struct g2h_location){
        .type = pointer->elem, .address = target, .bytes = memory.bytes, .object = UINT32_MAX};
}

/* Prefers a variable whose memory is in the dump. If the only one with this name is not, the result
 * says so instead of that there is none. */
enum g2h_variable g2h_location_of_variable(const struct g2h_view *view, const char *name,
                                           struct g2h_location *ret)
{
    const struct typing *typing = view->graph->typing;
    enum g2h_variable found = G2H_VARIABLE_NONE;
    const size_t length = strlen(name);
    for (size_t i = 0; typing && i < typing->dwarf_info->globals.count; i++) {
        const struct dwarf_global *global = &typing->dwarf_info->globals.data[i];
        struct view_memory memory;
        if (global->type >= typing->types->list.count ||
            !locations_is_called(typing->types, global, name, length))
            continue;
        found = G2H_VARIABLE_NOT_IN_DUMP;
        const uint64_t address = global->address + exe_slide(typing->exe),
                       size = types_size(typing->types, global->type);
        if (!view_memory_at(view, address, &memory) || memory.is_of_file ||
            memory.bytes.size < size)
            continue;
        memory.bytes = bytes_before(memory.bytes, size);
        *ret = (struct g2h_location){
            .type = global->type, .address = address, .bytes = memory.bytes, .object = UINT32_MAX};
        follow_static(view, ret);
        return G2H_VARIABLE_FOUND;
    }
    return found;
}

/* Counts the slices in data or bss of which an object is the array. */
struct static_slices {
    const struct g2h_view *view;
    uint32_t object;
    unsigned found;
    bool is_wrong; /* one is not as large as the array allows */
    uint64_t length;
};

/* Counts a slice of values of a type whose header is at an address, if it is of the object. */
static void static_slices_add(struct static_slices *slices, uint64_t address, uint32_t type)
{
    const struct g2h_heap *heap = slices->view->graph->heap;
    const uint64_t word = heap->params.pointer_size,
                   size = types_size(slices->view->graph->typing->types, type);
    struct view_memory memory;
    if (size == 0 || !view_memory_at(slices->view, address, &memory) || memory.is_of_file ||
        memory.bytes.size < 3 * word ||
        heap_find(heap, heap_word(heap, memory.bytes.data)) != slices->object)
        return;
    const uint64_t capacity = heap_word(heap, memory.bytes.data + 2 * word);
    slices->length = heap_word(heap, memory.bytes.data + word);
    slices->is_wrong |=
        slices->length > capacity || capacity > heap_object_size(heap, slices->object) / size;
    slices->found++;
}

/* Counts a word of data or bss that leads into the object, whatever it is. Only a capacity that
 * fills the object, as far as its memory was asked for, shows that this and the next two are a
 * slice. size: of an element. */
static void add_word(struct static_slices *slices, const struct g2h_heap *heap,
                     struct g2h_bytes words, uint64_t size)
{
    enum { ROUNDED = 4 /* divisor: Go rounds what is asked for up by less than this share */ };
    const uint64_t word = heap->params.pointer_size;
    const uint64_t offset = heap_word(heap, words.data) - heap_address(heap, slices->object);
    const uint64_t rest = heap_object_size(heap, slices->object) - offset;
    const uint64_t capacity = words.size >= 3 * word ? heap_word(heap, words.data + 2 * word) : 0;
    slices->found++;
    slices->is_wrong |= capacity == 0 || capacity > rest / size ||
                        rest - capacity * size >= MAX(size, rest / ROUNDED);
    slices->length = slices->is_wrong ? 0 : heap_word(heap, words.data + word);
    slices->is_wrong |= slices->length > capacity;
}

/* Counts the words of data and bss that lead into the object, if its type says how large the
 * elements of a slice are. */
static void add_words(struct static_slices *slices)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    const struct g2h_heap *heap = slices->view->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t begin = heap_address(heap, slices->object);
    const uint64_t all = heap_object_size(heap, slices->object);
    struct g2h_location array;
    if (!g2h_location_of_object(slices->view, slices->object, &array) || !array.is_array ||
        types_size(slices->view->graph->typing->types, array.type) == 0)
        return;
    const uint64_t size = types_size(slices->view->graph->typing->types, array.type);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t j = 0; j < heap->records[kinds[i]].count && j < HEAP_SEGMENTS; j++) {
            struct g2h_record record;
            g2h_heap_record(heap, kinds[i], j, &record);
            struct g2h_bytes rest = record.segment.contents;
            for (; rest.size >= word; rest = bytes_from(rest, word))
                if (heap_word(heap, rest.data) - begin < all)
                    add_word(slices, heap, rest, size);
        }
}

/* Looks at the words that code uses as slices (static_pointers) and, only if none of them is of the
 * object, at the single slices that only code reveals (static_values, not those of arrays), and at
 * last, without symbols, at all words. Returns false unless exactly one is of the object, with a
 * length within its capacity and a capacity within the object. */
bool g2h_length_of_static_slice(const struct g2h_view *view, uint32_t object, uint64_t *ret)
{
    const struct typing *typing = view->graph->typing;
    struct static_slices slices = {.view = view, .object = object};
    for (size_t i = 0; typing && i < typing->static_pointers.count; i++) {
        const struct static_pointer_type *slice = &typing->static_pointers.data[i];
        if (slice->is_slice)
            static_slices_add(&slices, slice->address, slice->type);
    }
    for (size_t i = 0; typing && slices.found == 0 && i < typing->static_values.count; i++) {
        const struct static_value *value = &typing->static_values.data[i];
        const struct type *type = types_get(typing->types, value->type);
        if (type->kind == TYPE_SLICE && type->elem < typing->types->list.count &&
            value->distance == 0)
            static_slices_add(&slices, value->address, type->elem);
    }
    if (typing && slices.found == 0 && typing->dwarf_info->globals.count == 0)
        add_words(&slices);
    *ret = slices.length;
    return slices.found == 1 && !slices.is_wrong;
}

void g2h_location_of_value(const struct g2h_value *value, struct g2h_location *ret)
{
    *ret = (struct g2h_location){
        .type = value->number, .bytes = bytes_at(value->data, value->size), .object = UINT32_MAX};
}

/* ---- types ---- */

static void locations_append_type(const struct g2h_view *view, uint32_t type, struct text *text)
{
    const struct g2h_bytes name = types_name(view->graph->typing->types, type);
    text_append_name(text, &view->graph->names, name.data, name.size, NAME_LIMIT);
}

/* Appends the type's name, with "[]" before it if the location is an array. */
void g2h_location_type(const struct g2h_view *view, const struct g2h_location *location,
                       struct g2h_text *text)
{
    struct text made = view_borrow(text);
    if (location->is_array)
        text_append_string(&made, "[]");
    locations_append_type(view, location->type, &made);
    view_give_back(text, &made);
}

/* Appends the type of a value. An interface's dynamic type is that of the value it holds; if it is
 * nil or not known, the declared type is appended. */
void g2h_value_type(const struct g2h_view *view, const struct g2h_value *value, bool is_dynamic,
                    struct g2h_text *text)
{
    const struct typing *typing = view->graph->typing;
    const struct type *type = types_get(typing->types, value->number);
    struct text made = view_borrow(text);
    uint32_t dynamic = TYPE_NONE;
    if (is_dynamic && value->kind == G2H_VALUE_INTERFACE)
        dynamic = typing_interface_type(typing, heap_word(view->graph->heap, value->data),
                                        type->empty_interface);
    if (dynamic != TYPE_NONE)
        locations_append_type(view, dynamic, &made);
    else
        text_append_name(&made, &view->graph->names, value->type, value->type_size, NAME_LIMIT);
    view_give_back(text, &made);
}
