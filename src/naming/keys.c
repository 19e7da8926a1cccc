/* keys; see keys.h. */
#include "naming/keys.h"

#include <stdlib.h>
#include <string.h>

#include "naming/symbols.h"

/* ---- where entries are ---- */

/* A field that is an array with an element for each slot. */
static const struct type_field *slots_field(const struct types *types, uint32_t type,
                                            const char *name, uint32_t *ret_elem)
{
    const struct type_field *field = types_field(types, type, name);
    if (!field || field->type >= types->list.count)
        return NULL;
    const struct type *array = &types->list.data[field->type];
    *ret_elem = array->elem;
    return array->kind == TYPE_ARRAY && array->length == SLOTS && array->elem < types->list.count
               ? field
               : NULL;
}

/* { keys [8]K; elems [8]V }, or { slots [8]struct { key K; elem V } }. */
static bool find_fields(const struct types *types, uint32_t type, struct map_entries *ret)
{
    uint32_t slot;
    const struct type_field *keys = slots_field(types, type, "keys", &ret->key),
                            *elems = slots_field(types, type, "elems", &ret->elem),
                            *slots = slots_field(types, type, "slots", &slot);
    if (keys && elems) {
        ret->keys = keys->offset;
        ret->elems = elems->offset;
        ret->key_stride = types->list.data[ret->key].size;
        ret->elem_stride = types->list.data[ret->elem].size;
        return true;
    }
    if (!slots)
        return false;
    keys = types_field(types, slot, "key");
    elems = types_field(types, slot, "elem");
    if (!keys || !elems || keys->type >= types->list.count || elems->type >= types->list.count)
        return false;
    ret->key = keys->type;
    ret->elem = elems->type;
    ret->keys = slots->offset + keys->offset;
    ret->elems = slots->offset + elems->offset;
    ret->key_stride = ret->elem_stride = types->list.data[slot].size;
    return true;
}

static enum key_kind kind_of(const struct type *key)
{
    if (key->kind == TYPE_STRING || (key->kind >= TYPE_BOOL && key->kind <= TYPE_UINTPTR))
        return KEYS_TEXTUAL;
    return key->kind == TYPE_INTERFACE ? KEYS_INTERFACE : KEYS_PLAIN;
}

bool map_entries_create(const struct types *types, uint32_t number, struct map_entries **ret)
{
    const struct type *type = &types->list.data[number];
    const uint64_t word = types->pointer_size;
    struct map_entries found = {.size = type->size, .is_swiss = type->role == ROLE_MAP_GROUP};
    *ret = NULL;
    if ((type->role != ROLE_MAP_BUCKET && type->role != ROLE_MAP_GROUP) ||
        type->size > UINT16_MAX || !find_fields(types, number, &found))
        return true;
    const uint64_t key_size = types->list.data[found.key].size,
                   elem_size = types->list.data[found.elem].size;
    if (key_size > type->size || elem_size > type->size ||
        found.keys + (SLOTS - 1) * found.key_stride > type->size - key_size ||
        found.elems + (SLOTS - 1) * found.elem_stride > type->size - elem_size)
        return true;
    found.kind = kind_of(&types->list.data[found.key]);
    found.place_of_word = malloc((size_t)(type->size / word) + 1);
    *ret = malloc(sizeof(**ret));
    if (!found.place_of_word || !*ret) {
        free(found.place_of_word);
        free(*ret);
        *ret = NULL;
        return false;
    }
    memset(found.place_of_word, PLACE_NONE, (size_t)(type->size / word) + 1);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        const uint64_t key = found.keys + slot * found.key_stride,
                       elem = found.elems + slot * found.elem_stride;
        for (uint64_t at = key; at < key + key_size; at += word)
            found.place_of_word[at / word] = (uint8_t)(slot | PLACE_KEY);
        for (uint64_t at = elem; at < elem + elem_size; at += word)
            found.place_of_word[at / word] = (uint8_t)slot;
    }
    **ret = found;
    return true;
}

void map_entries_destroy(struct map_entries *entries)
{
    if (entries)
        free(entries->place_of_word);
    free(entries);
}

bool map_entries_is_used(const struct names *names, const struct map_entries *entries,
                         const uint8_t *value, unsigned slot)
{
    if (entries->is_swiss) /* internal/runtime/maps/group.go: ctrlEmpty and ctrlDeleted have bit 7;
                              ctrl is a number whose lowest byte is of slot 0 */
        return (value[names->heap->params.big_endian ? 7 - slot : slot] & 0x80) == 0;
    /* runtime/map.go: minTopHash; below it, a slot is empty or its entry has been moved */
    const int minor = names->typing->release.minor;
    return value[slot] >= (minor != 0 && minor < 12 ? 4 : 5);
}

/* ---- names ---- */

/* Behind the key: ".Name", "[2]" of an elem, " (key.Name)" of the key itself. */
static void append_path(const struct types *types, const struct map_entries *entries,
                        uint64_t offset, struct text *text)
{
    const uint8_t place = entries->place_of_word[offset / types->pointer_size];
    const bool is_key = (place & PLACE_KEY) != 0;
    const uint32_t number = is_key ? entries->key : entries->elem;
    const struct type *type = &types->list.data[number];
    if (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY) { /* most: there is no path */
        if (is_key)
            text_append(text, " (key)", 6);
        return;
    }
    const unsigned slot = place & (SLOTS - 1);
    const uint64_t inner = offset - (is_key ? entries->keys + slot * entries->key_stride
                                            : entries->elems + slot * entries->elem_stride);
    char path[NAME_LIMIT / 2];
    const size_t size = types_path(types, number, inner, path, sizeof(path));
    if (is_key)
        text_append(text, " (key", 5);
    if (size > 0 && path[0] != '[')
        text_append(text, ".", 1);
    text_append_utf8(text, (const uint8_t *)path, size, NAME_LIMIT / 2);
    if (is_key)
        text_append(text, ")", 1);
}

void map_entries_append_index(const struct types *types, const struct map_entries *entries,
                              uint64_t offset, uint64_t index, struct text *text)
{
    text_printf(text, "[#%llu]", (unsigned long long)index);
    append_path(types, entries, offset, text);
}

/* ---- keys ---- */

static const uint8_t *memory_at(const struct key_reader *key, uint64_t address, uint64_t size)
{
    return typing_memory(key->names->typing, address, size, key->hint);
}

/* Equal keys have equal hashes, and so have a key and a text of the same bytes (texts.c). A long
 * key has none: the same long text may be the key of many maps, and all of it would be hashed again
 * for each. */
static bool append_redacted(const struct key_reader *key, struct text *text, const uint8_t *data,
                            uint64_t size)
{
    enum { HASHED = 1024 };
    if (size > HASHED)
        return false;
    text_append(text, "[", 1);
    text_append_redacted(text, key->names->redaction, data, size);
    text_append(text, "]", 1);
    return true;
}

static bool append_string(const struct key_reader *key, const uint8_t *at, unsigned slot,
                          struct text *text)
{
    const struct g2h_heap *heap = key->names->heap;
    const uint64_t size = heap_word(heap, at + heap->params.pointer_size);
    struct key_memo *memo = key->memo ? &key->memo[slot] : NULL;
    const uint8_t *data;
    if (size == 0)
        data = (const uint8_t *)"";
    else if (memo && memo->key == at && memo->size == size)
        data = memo->data;
    else
        data = memory_at(key, heap_word(heap, at), size);
    if (memo)
        *memo = (struct key_memo){at, data, size};
    if (!data)
        return false;
    if (key->names->redaction)
        return append_redacted(key, text, data, size);
    text_append(text, "[\"", 2);
    if (text_append_utf8(text, data, size, KEY_LIMIT + 1) > KEY_LIMIT) {
        while (text->size > 0 && ((uint8_t)text->data[text->size - 1] & 0xc0) == 0x80)
            text->size--;
        text->size -= text->size > 0;
        text_append(text, "…", strlen("…"));
    }
    text_append(text, "\"]", 2);
    return true;
}

static enum key_form append_integer(const struct key_reader *key, const struct type *type,
                                    const uint8_t *at, struct text *text, uint32_t *ret_integer)
{
    if (key->names->redaction) /* there are so few that a hash of them tells them */
        return KEY_NONE;
    uint64_t value = heap_number(key->names->heap, at, type->size);
    const bool is_signed = type->kind >= TYPE_INT && type->kind <= TYPE_INT64;
    if (is_signed && type->size < 8 && (value >> (8 * type->size - 1) & 1) != 0)
        value |= UINT64_MAX << 8 * type->size;
    if (type->kind == TYPE_BOOL) {
        text_printf(text, value != 0 ? "[true]" : "[false]");
        return KEY_TEXT;
    }
    if (value < INT32_MAX) {
        *ret_integer = (uint32_t)value;
        return KEY_INTEGER;
    }
    if (is_signed)
        text_printf(text, "[%lld]", (long long)value);
    else
        text_printf(text, "[%llu]", (unsigned long long)value);
    return KEY_TEXT;
}

static enum key_form append_key(const struct key_reader *key, uint32_t number, const uint8_t *at,
                                unsigned slot, struct text *text, uint32_t *ret_integer)
{
    const struct g2h_heap *heap = key->names->heap;
    const struct type *type = &key->names->typing->types->list.data[number];
    if (type->kind == TYPE_INTERFACE) {
        number =
            typing_interface_type(key->names->typing, heap_word(heap, at), type->empty_interface);
        if (number == TYPE_NONE)
            return KEY_NONE;
        type = &key->names->typing->types->list.data[number];
        if (kind_of(type) != KEYS_TEXTUAL || type->direct_interface)
            return KEY_NONE;
        at = memory_at(key, heap_word(heap, at + heap->params.pointer_size), type->size);
    }
    if (!at)
        return KEY_NONE;
    if (type->kind == TYPE_STRING)
        return append_string(key, at, slot, text) ? KEY_TEXT : KEY_NONE;
    if (type->size == 0 || type->size > 8)
        return KEY_NONE;
    return append_integer(key, type, at, text, ret_integer);
}

enum key_form key_append(const struct key_reader *key, const struct map_entries *entries,
                         const uint8_t *value, uint64_t offset, struct text *text,
                         uint32_t *ret_integer)
{
    const struct types *types = key->names->typing->types;
    const unsigned slot = entries->place_of_word[offset / types->pointer_size] & (SLOTS - 1);
    const enum key_form form =
        append_key(key, entries->key, value + entries->keys + slot * entries->key_stride, slot,
                   text, ret_integer);
    if (form == KEY_NONE)
        return KEY_NONE;
    if (form == KEY_INTEGER) {
        const size_t size = text->size;
        append_path(types, entries, offset, text);
        if (text->size == size)
            return KEY_INTEGER;
        text->size = size;
        text_printf(text, "[%u]", *ret_integer);
    }
    append_path(types, entries, offset, text);
    return KEY_TEXT;
}

void key_append_again(const struct key_reader *key, uint32_t number, uint64_t offset,
                      struct text *text)
{
    struct g2h_object object;
    struct typed_location location;
    uint32_t integer;
    heap_object(key->names->heap, number, &object);
    if (typing_locate(key->names->typing, number, offset, &location))
        key_append(key, key->names->of_type[location.type].entries,
                   object.contents.data + (offset - location.offset), location.offset, text,
                   &integer);
}
