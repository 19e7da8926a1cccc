/*
 * namer; see namer.h.
 *
 * If an object has a type, the names of the type's words are made once, and found by the word's
 * position in the value. Otherwise a word's name is its offset, with what the words themselves
 * reveal.
 */
#include "naming/namer.h"

#include <stdlib.h>

#include <string.h>

#include "naming/untyped.h"
#include "naming/symbols.h"

/* Keys: bits 62 and 63 give the form; a plain offset has no bits from ELEMENT_OFFSET on. */
#define KEY_FORM      ((uint64_t)3 << 62)
#define KEY_SLOT      ((uint64_t)0 << 62) /* type + 1 << 36 | element + 1, or 0 << 16 | offset */
#define KEY_INTERFACE ((uint64_t)1 << 62) /* type << 20 | offset */
#define KEY_ELEMENT   ((uint64_t)2 << 62) /* index << 20 | offset in the element */
#define KEY_PART      ((uint64_t)3 << 62) /* type << 32 | offset of the part << 16 | offset in it */

static inline void set_name(struct edge_name *ret, enum edge_name_form form, bool is_internal,
                            uint64_t value)
{
    *ret = (struct edge_name){.value = value, .form = form, .is_internal = is_internal};
}

/* KEY_STALE, which is of form KEY_INTERFACE: before the start << 58 | type + 1, or 0 << 32 | index
 * << 16 | offset in the element. An index or a path that would need more bits is not in the name.
 */
enum { STALE_BEFORE = 58, STALE_TYPE = 32, STALE_INDEX = 16, STALE_NO_INDEX = UINT16_MAX };

/* Returns whether the field list contains a word of the malloc header. */
static bool namer_is_header_listed(const struct g2h_object *object)
{
    struct g2h_fields fields = object->fields;
    uint64_t offset;
    return fields_next_pointer(&fields, &offset) && offset < MALLOC_HEADER;
}

/* The rare cases, which need the object's contents: malloc headers, arrays with windows, and unused
 * slots of maps. */
bool names_need_keys_other(const struct names *names, uint32_t object)
{
    const struct typing *typing = names->typing;
    const uint32_t claim = typing ? typing->claims[object] : 0;
    const bool has_header =
        heap_has_malloc_header(names->heap, heap_slot_class(names->heap, object));
    struct g2h_object record;
    if (claim == 0 || !typing_is_sure(typing, object) || (has_header && (claim & CLAIM_ARRAY) == 0))
        return true;
    const struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
    heap_object(names->heap, object, &record);
    return (has_header && namer_is_header_listed(&record)) ||
           windows_has(&names->windows, object) ||
           (of_type->entries && map_entries_have_others(names, of_type->entries, &record.contents,
                                                        has_header ? MALLOC_HEADER : 0));
}

void namer_init_other(struct namer *namer)
{
    *namer = (struct namer){.names = namer->names,
                            .slot_class = namer->slot_class,
                            .contents = namer->contents,
                            .object = namer->object,
                            .type = TYPE_NONE};
}

/* Moves the numbering of elements to where the window begins. */
void namer_init_window(struct namer *namer)
{
    namer->window = windows_of(&namer->names->windows, namer->object);
    const uint64_t words = (namer->window->end - namer->window->begin) >> namer->names->word_shift;
    namer->base = namer->value = namer->window->begin;
    namer->path_count = words < namer->path_count ? words : namer->path_count;
}

void namer_find_used(struct namer *namer)
{
    namer->used =
        namer->contents.size >= namer->size && namer->value <= namer->contents.size - namer->size
            ? map_entries_used(namer->names, namer->entries, namer->contents.data + namer->value)
            : 0;
}

/* Returns whether a word is in the value or array that the object's type describes, and aligned. */
static inline bool is_typed(const struct namer *namer, uint64_t offset)
{
    return offset - namer->base < namer->end - namer->base &&
           (offset & (namer->names->heap->params.pointer_size - 1)) == 0;
}

/*
 * Gets the name of a word in a map's bucket or group. Unused slots may still hold pointers of an
 * entry that has been moved; they are named like any other field.
 */
static void entry_name(struct namer *namer, uint64_t offset, uint32_t path, struct edge_name *ret)
{
    if (namer_entry(namer, offset, path, ret)) {
        if (path == NAME_NONE) {
            ret->form = EDGE_NAME_INDEX;
            ret->is_internal = false;
            ret->value = namer->element * SLOTS +
                         map_entries_slot(namer->entries, namer->names, offset - namer->value);
        }
        return;
    }
    const bool is_overflow =
        namer->entries->slot_of_word[(offset - namer->value) >> namer->names->word_shift] ==
        SLOT_NONE;
    const uint64_t element = namer->is_array ? namer->element + 1 : 0;
    if (is_overflow && path != NAME_NONE)
        *ret = namer_path(path | PATH_INTERNAL);
    else if (element >= (uint64_t)1 << 20)
        set_name(ret, EDGE_NAME_INDEX, false, offset);
    else
        set_name(ret, EDGE_NAME_KEY, is_overflow,
                 KEY_SLOT | ((uint64_t)namer->type + 1) << 36 | element << 16 |
                     (offset - namer->value));
}

/* Gets a name by the type of some other part of the object. */
static bool part_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct typing *typing = namer->names->typing;
    struct typed_location location;
    if ((offset & (namer->names->heap->params.pointer_size - 1)) != 0 ||
        !typing_locate(typing, namer->object, offset, &location))
        return false;
    const uint64_t part =
        location.part_offset + location.element * typing->types->list.data[location.type].size;
    if (part > UINT16_MAX || location.offset > UINT16_MAX)
        return false;
    set_name(ret, EDGE_NAME_KEY, false,
             KEY_PART | (uint64_t)location.type << 32 | part << 16 | location.offset);
    return true;
}

/* Gets the name of an element, or of a word in it, that no slice uses. Returns false if slices use
 * it. */
static bool stale_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct slice_window *window = namer->window;
    if (!window || (offset >= window->begin && offset < window->end))
        return false;
    const bool is_before = offset < window->begin,
               is_pointer = window->size == namer->names->heap->params.pointer_size;
    const uint64_t index = is_before ? (window->begin - offset + window->size - 1) / window->size
                                     : (offset - window->begin) / window->size,
                   start = is_before ? window->begin - index * window->size
                                     : window->begin + index * window->size,
                   inside = offset - start;
    const bool has_path = !is_pointer && inside <= UINT16_MAX;
    set_name(ret, EDGE_NAME_KEY, false,
             KEY_STALE | (uint64_t)is_before << STALE_BEFORE |
                 (has_path ? (uint64_t)namer->type + 1 : 0) << STALE_TYPE |
                 (index < STALE_NO_INDEX ? index : STALE_NO_INDEX) << STALE_INDEX |
                 (has_path ? inside : 0));
    return true;
}

/* Gets a name by the type of the object, or of the part that contains the word. */
static inline bool typed_name(struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    if (stale_name(namer, offset, ret))
        return true;
    if (!is_typed(namer, offset))
        return part_name(namer, offset, ret);
    const uint64_t index = (offset - namer->base) >> namer->names->word_shift;
    const uint32_t path = index < namer->path_count ? namer->paths[index] : NAME_NONE;
    if (namer->entries) {
        entry_name(namer, offset, path, ret);
    } else if (path != NAME_NONE) {
        *ret = namer_path(path);
    } else if (!namer->is_array) {
        return false;
    } else {
        const bool is_word = namer->size == namer->names->heap->params.pointer_size;
        set_name(ret, EDGE_NAME_INDEX, false, is_word ? index : offset);
        if (index < namer->path_count) {
            namer_find_value(namer, offset);
            ret->value = namer->element;
        }
    }
    return true;
}

uint64_t untyped_key(const struct g2h_heap *heap, const struct slot_class *slot_class,
                     uint64_t first, uint64_t offset)
{
    if (offset <= MALLOC_HEADER && heap_has_malloc_header(heap, slot_class))
        return offset; /* the word before is the allocation's type, not the first word of an
                          interface */
    const uint32_t type = interface_type_of(heap, first);
    return type != UINT32_MAX ? KEY_INTERFACE | (uint64_t)type << 20 | offset : offset;
}

/* Gets a name without a type from the executable. */
static void untyped_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct g2h_heap *heap = namer->names->heap;
    const struct slot_class *slot_class = namer->slot_class;
    const uint64_t word = heap->params.pointer_size;
    const bool is_array =
        slot_class->type != SLOT_CLASS_NO_TYPE &&
        (slot_class->kind == G2H_OBJECT_ARRAY || slot_class->kind == G2H_OBJECT_CHAN);
    const uint64_t size =
        is_array ? heap->types.data[slot_class->type].size : 0; /* size of an element */
    const uint64_t start =
        is_array && slot_class->kind == G2H_OBJECT_CHAN ? heap->params.hchan_size : 0;
    if (is_array && size == word) {
        set_name(ret, EDGE_NAME_INDEX, false, (offset - start) / size);
        return;
    }
    set_name(ret, offset >= ELEMENT_OFFSET ? EDGE_NAME_INDEX : EDGE_NAME_KEY, false, offset);
    if (offset >= ELEMENT_OFFSET)
        return;
    if (size > 0) {
        ret->value = KEY_ELEMENT | (offset - start) / size << 20 | (offset - start) % size;
        return;
    }
    if (offset >= word)
        ret->value = untyped_key(heap, slot_class,
                                 heap_word(heap, namer->contents.data + offset - word), offset);
}

struct edge_name namer_name_other(struct namer *namer, uint64_t offset)
{
    struct edge_name name;
    if (!namer->names->typing || !typed_name(namer, offset, &name))
        untyped_name(namer, offset, &name);
    return name;
}

/* Appends the path to the word at an offset of a type, after the path that leads to the value. */
static void namer_append_path(const struct names *names, uint32_t type, uint64_t offset,
                              struct text *text)
{
    char path[NAME_LIMIT];
    const size_t size = types_path(names->typing->types, type, offset, path, sizeof(path));
    if (size > 0 && path[0] != '[' && text->size > 0)
        text_append_string(text, ".");
    text_append_utf8(text, (const uint8_t *)path, size, NAME_LIMIT);
}

/* Appends the name of an element that no slice uses: "[3 beyond the length].Name". */
static void append_stale(const struct names *names, uint64_t key, struct text *text)
{
    const bool is_before = (key >> STALE_BEFORE & 1) != 0;
    const uint64_t index = key >> STALE_INDEX & UINT16_MAX,
                   type = key >> STALE_TYPE & ((1 << (STALE_BEFORE - STALE_TYPE)) - 1);
    text_printf(text, is_before ? "[-" : "[");
    if (index == STALE_NO_INDEX)
        text_printf(text, "…");
    else
        text_append_number(text, index);
    text_printf(text, is_before ? " before the start]" : " beyond the length]");
    if (type > 0)
        namer_append_path(names, (uint32_t)type - 1, key & UINT16_MAX, text);
}

/* Appends the name that a key stands for; the bits of each form are listed at the top of this
 * file. */
static void namer_append_key(const struct names *names, uint64_t key, struct text *text)
{
    const uint64_t form = key & KEY_FORM;
    if ((key & KEY_STALE) == KEY_STALE) {
        append_stale(names, key, text);
        return;
    }
    if (form == KEY_PART) {
        text_printf(text, "f%llu", (unsigned long long)(key >> 16 & UINT16_MAX));
        namer_append_path(names, (uint32_t)((key & ~KEY_FORM) >> 32), key & UINT16_MAX, text);
        return;
    }
    if (form == KEY_SLOT && key >= ELEMENT_OFFSET) {
        const uint64_t element = key >> 16 & ((1 << 20) - 1);
        if (element > 0)
            text_printf(text, "[%llu]", (unsigned long long)element - 1);
        namer_append_path(names, (uint32_t)(key >> 36) - 1, key & UINT16_MAX, text);
        return;
    }
    if (form == KEY_ELEMENT)
        text_printf(text, "[%llu].", (unsigned long long)((key & ~KEY_FORM) >> 20));
    text_append_string(text, "f");
    text_append_number(text, key & (ELEMENT_OFFSET - 1));
    if (form == KEY_INTERFACE)
        text_append_interface(text, names, (uint32_t)((key & ~KEY_FORM) >> 20));
}

void namer_append(const struct namer *namer, const struct edge_name *name, struct text *text)
{
    size_t size;
    if (name->form == EDGE_NAME_INDEX) {
        text_printf(text, "[%llu]", (unsigned long long)name->value);
    } else if (name->form == EDGE_NAME_KEY) {
        namer_append_key(namer->names, name->value, text);
    } else {
        const char *string = string_pool_text(&namer->names->strings, (uint32_t)name->value, &size);
        text_append(text, string, size);
    }
}

/* Puts the keys that are not plain offsets into a set that gives each a rank, and allocates the
 * strings by rank. */
static struct g2h_error *rank_keys(struct names *names, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i] >= ELEMENT_OFFSET && !number_set_add(&names->keys, keys[i]))
            return &error_no_memory;
    number_set_rank(&names->keys);
    names->of_key = block_alloc(names->keys.count + 1, sizeof(*names->of_key));
    return names->of_key ? NULL : &error_no_memory;
}

/* Keys are ascending, so that names get the same numbers whatever thread has collected them. */
struct g2h_error *names_intern_keys(struct names *names, const uint64_t *keys, size_t count)
{
    struct text text = {0};
    struct g2h_error *error = rank_keys(names, keys, count);
    for (size_t i = 0; i < count && !error; i++) {
        uint32_t number;
        text.size = 0;
        namer_append_key(names, keys[i], &text);
        if (text.failed || !names_add_label(names, text.data, text.size, &number))
            error = &error_no_memory;
        else if (keys[i] < ELEMENT_OFFSET)
            names->of_offset[keys[i] / 4] = number + 1;
        else
            names->of_key[number_set_find(&names->keys, keys[i])] = number;
    }
    text_deinit(&text);
    return error;
}
