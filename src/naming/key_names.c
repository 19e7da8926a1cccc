/*
 * key_names: names of pointers in the entries of maps, by the entries' keys; see key_names.h. An
 * entry's key is not stored: a number says where in the dump it can be read again (key_origin,
 * key_append_again). Four sections:
 *
 *   where entries are  which words of a bucket or group are of which slot, whether its keys can be
 *                      shown, and which slots are in use
 *   names              what follows a key in a name, and names by the slot instead of the key
 *   keys               reading and formatting a key, as a string, a number, or a struct of these
 *   where keys are made from
 *                      the number of a key, and the key from its number
 *
 * To begin with: map_entries_create() and key_read().
 */
#include "base/contract.h"
#include "base/bytes.h"
#include "naming/key_names.h"

#include <stdlib.h>
#include <string.h>

#include "naming/symbols.h"

/* ---- where entries are ---- */

/* Returns the field with this name if it is an array with an element for each slot, else NULL. */
static const struct type_field *slots_field(const struct types *types, uint32_t type,
                                            const char *name, uint32_t *ret_elem)
{
    const struct type_field *field = types_field(types, type, name);
    if (!field || field->type >= types->list.count)
        return NULL;
    const struct type *array = types_get(types, field->type);
    *ret_elem = array->elem;
    return array->kind == TYPE_ARRAY && array->length == SLOTS && array->elem < types->list.count
               ? field
               : NULL;
}

/* Finds the fields of { keys [8]K; elems [8]V } or { slots [8]struct { key K; elem V } }. Returns
 * false if a type is neither. */
static bool key_names_find_fields(const struct types *types, uint32_t type, struct map_entries *ret)
{
    uint32_t slot;
    const struct type_field *keys = slots_field(types, type, "keys", &ret->key),
                            *elems = slots_field(types, type, "elems", &ret->elem),
                            *slots = slots_field(types, type, "slots", &slot);
    if (keys && elems) {
        ret->keys = keys->offset;
        ret->elems = elems->offset;
        ret->key_stride = types_size(types, ret->key);
        ret->elem_stride = types_size(types, ret->elem);
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
    ret->key_stride = ret->elem_stride = types_size(types, slot);
    return true;
}

enum { KEY_DEPTH = 4, KEY_FIELDS = 16 /* of structs and arrays in keys */ };

/* Returns whether all values in keys of a type can be shown: only strings, bools and whole numbers
 * can. A struct or array cannot if it is nested more than KEY_DEPTH levels deep, has more than
 * KEY_FIELDS fields or elements, a struct without fields, or parts that do not fit into it. */
static bool key_names_are_textual(const struct types *types, uint32_t number, unsigned depth)
{
    if (number >= types->list.count || depth == KEY_DEPTH)
        return false;
    const struct type *type = types_get(types, number);
    if (type->kind == TYPE_ARRAY)
        return type->length <= KEY_FIELDS && type->elem < types->list.count &&
               types_size(types, type->elem) == (type->length ? type->size / type->length : 0) &&
               key_names_are_textual(types, type->elem, depth + 1);
    if (type->kind != TYPE_STRUCT)
        return type->kind == TYPE_STRING ||
               (type->kind >= TYPE_BOOL && type->kind <= TYPE_UINTPTR && type->size <= 8);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = types_fields(types, type) + i;
        if (!key_names_are_textual(types, field->type, depth + 1) || field->offset > type->size ||
            types_size(types, field->type) > type->size - field->offset)
            return false;
    }
    return type->field_count > 0 && type->field_count <= KEY_FIELDS;
}

/* Returns whether keys of a type can be shown, or may be, depending on what an interface holds. */
static enum key_kind key_names_kind_of(const struct types *types, uint32_t number)
{
    if (types_get(types, number)->kind == TYPE_INTERFACE)
        return KEYS_INTERFACE;
    return key_names_are_textual(types, number, 0) ? KEYS_TEXTUAL : KEYS_WITHOUT_TEXT;
}

/* Notes for each word of a slot's key and element which slot it is in. */
static void map_entries_mark(struct map_entries *entries, const struct types *types, unsigned slot)
{
    const uint64_t word = types->pointer_size;
    const uint64_t key = entries->keys + slot * entries->key_stride;
    const uint64_t elem = entries->elems + slot * entries->elem_stride;
    for (uint64_t at = key; at < key + types_size(types, entries->key); at += word)
        entries->slot_of_word[at / word] = (uint8_t)(slot | SLOT_IN_KEY);
    for (uint64_t at = elem; at < elem + types_size(types, entries->elem); at += word)
        entries->slot_of_word[at / word] = (uint8_t)slot;
}

/* Copies entries without their arrays, whose words are all of no slot yet. Returns false if memory
 * runs out. */
static bool map_entries_copy(const struct map_entries *found, const struct types *types,
                             struct map_entries **ret)
{
    const size_t words = (size_t)(found->size / types->pointer_size) + 1;
    struct map_entries *copy = *ret = malloc(sizeof(*copy));
    if (!copy)
        return false;
    *copy = *found;
    copy->kind = key_names_kind_of(types, found->key);
    copy->slot_of_word = malloc(words);
    if (!copy->slot_of_word) {
        free(copy);
        *ret = NULL;
        return false;
    }
    memset(copy->slot_of_word, SLOT_NONE, words);
    return true;
}

/* Creates the entries of a type; *ret is NULL if it is neither a bucket nor a group, or does not
 * fit, since the executable may be damaged: all eight slots must be inside the type. Each word is
 * mapped to the slot that it belongs to. Returns false if memory runs out. */
bool map_entries_create(const struct types *types, uint32_t number, struct map_entries **ret)
{
    const struct type *type = types_get(types, number);
    struct map_entries found = {.size = type->size, .is_swiss = type->role == ROLE_MAP_GROUP};
    *ret = NULL;
    if ((type->role != ROLE_MAP_BUCKET && type->role != ROLE_MAP_GROUP) ||
        type->size > UINT16_MAX || !key_names_find_fields(types, number, &found))
        return true;
    const uint64_t key_size = types_size(types, found.key),
                   elem_size = types_size(types, found.elem);
    if (key_size > type->size || elem_size > type->size ||
        found.keys + (SLOTS - 1) * found.key_stride > type->size - key_size ||
        found.elems + (SLOTS - 1) * found.elem_stride > type->size - elem_size)
        return true;
    if (!map_entries_copy(&found, types, ret))
        return false;
    for (unsigned slot = 0; slot < SLOTS; slot++)
        map_entries_mark(*ret, types, slot);
    return true;
}

/* Creates the entries of a type that is a single entry, with its fields "key" and "value". *ret is
 * NULL if it has no such fields, or they do not lie within it, or it is too large. Returns false if
 * memory runs out. */
bool map_entries_create_single(const struct types *types, uint32_t number, struct map_entries **ret)
{
    const struct type *type = types_get(types, number);
    const struct type_field *key = types_field(types, number, "key"),
                            *value = types_field(types, number, "value");
    *ret = NULL;
    if (!key || !value || type->size > UINT16_MAX || key->type >= types->list.count ||
        value->type >= types->list.count || key->offset > type->size ||
        types_size(types, key->type) > type->size - key->offset || value->offset > type->size ||
        types_size(types, value->type) > type->size - value->offset)
        return true;
    const struct map_entries found = {.key = key->type,
                                      .elem = value->type,
                                      .keys = key->offset,
                                      .elems = value->offset,
                                      .size = type->size,
                                      .is_single = true};
    if (!map_entries_copy(&found, types, ret))
        return false;
    map_entries_mark(*ret, types, 0);
    return true;
}

void map_entries_destroy(struct map_entries *entries)
{
    if (entries) {
        free(entries->slot_of_word);
        free(entries->path_of_word);
        free(entries->pointers);
    }
    free(entries);
}

/* Returns a bit for each slot in use of a bucket or group. Before Go 1.24 the first eight bytes are
 * the hashes' top bytes (tophash), and from then on a control word. */
unsigned map_entries_used(const struct names *names, const struct map_entries *entries,
                          const uint8_t *value)
{
    unsigned used = 0;
    if (entries->is_single)
        return 1;
    if (entries->is_swiss) { /* internal/runtime/maps/group.go: ctrlEmpty and ctrlDeleted have bit 7
                                set; ctrl is a number whose lowest byte belongs to slot 0 */
        const uint64_t control = names->word_shift == 3 ? heap_word(names->heap, value)
                                                        : heap_number(names->heap, value, SLOTS),
                       top = ~control & 0x8080808080808080;
        return (unsigned)((top >> 7) * 0x0102040810204080 >> 56);
    }
    /* runtime/map.go: minTopHash; a slot with a lower value is empty, or its entry has been
     * moved */
    const int minor = names->typing->release.minor;
    for (unsigned slot = 0; slot < SLOTS; slot++)
        used |= (unsigned)(value[slot] >= (minor != 0 && minor < 12 ? 4 : 5)) << slot;
    return used;
}

/* Records which words of a bucket or group are pointers. Sorts the pointer words by slot, those of
 * no slot last, so that has_pointers() finds those of a slot in a row. words are offsets in bytes.
 * Returns false if memory runs out. */
bool map_entries_add_pointers(struct map_entries *entries, const uint32_t *words, uint32_t count,
                              unsigned word_shift)
{
    uint32_t at = 0;
    entries->pointers = malloc(count_and_end(count) * sizeof(*entries->pointers));
    if (!entries->pointers)
        return false;
    for (unsigned slot = 0; slot <= SLOTS; slot++) {
        entries->first_pointer[slot] = at;
        for (uint32_t i = 0; i < count; i++) {
            const uint8_t known = entries->slot_of_word[words[i] >> word_shift];
            if (slot == (known == SLOT_NONE ? SLOTS : known & (SLOTS - 1u)))
                entries->pointers[at++] = (uint16_t)words[i];
        }
    }
    entries->first_pointer[SLOTS + 1] = at;
    return true;
}

/* Returns whether any pointer word of a slot is not nil; slot SLOTS stands for the words of no
 * slot. */
static inline bool has_pointers(const struct names *names, const struct map_entries *entries,
                                const struct g2h_bytes *contents, uint64_t value, unsigned slot)
{
    const uint64_t word = names->heap->params.pointer_size;
    for (uint32_t i = entries->first_pointer[slot]; i < entries->first_pointer[slot + 1]; i++) {
        const uint64_t offset = value + entries->pointers[i];
        if (contents->size >= word && offset <= contents->size - word &&
            heap_word(names->heap, contents->data + offset) != 0)
            return true;
    }
    return false;
}

/* Returns whether an object has pointers outside of its entries in use. Pointers in unused slots,
 * or between slots such as overflow, have names of their own. */
bool map_entries_have_others(const struct names *names, const struct map_entries *entries,
                             const struct g2h_bytes *contents, uint64_t base)
{
    for (uint64_t value = base; value < contents->size; value += entries->size) {
        const bool is_whole = entries->size <= contents->size - value;
        const unsigned used =
            is_whole ? map_entries_used(names, entries, contents->data + value) : 0;
        if (has_pointers(names, entries, contents, value, SLOTS))
            return true;
        for (unsigned slot = 0; slot < SLOTS; slot++)
            if ((used >> slot & 1) == 0 && has_pointers(names, entries, contents, value, slot))
                return true;
    }
    /* If no pointer words are known, there may be others. */
    return entries->first_pointer[SLOTS + 1] == 0;
}

/* ---- names ---- */

/* Appends the suffix that follows the key: ".Name" or "[2]" for an elem, " (key.Name)" for the key
 * itself. offset: of a word in a slot, from the start of the bucket or group. */
static void key_names_append_path(const struct types *types, const struct map_entries *entries,
                                  uint64_t offset, struct text *text)
{
    const uint8_t known = entries->slot_of_word[offset / types->pointer_size];
    const bool is_key = (known & SLOT_IN_KEY) != 0;
    assert(known != SLOT_NONE);
    const uint32_t number = is_key ? entries->key : entries->elem;
    const struct type *type = types_get(types, number);
    if (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY) { /* most types: no path */
        if (is_key)
            text_append_string(text, " (key)");
        return;
    }
    const unsigned slot = known & (SLOTS - 1);
    const uint64_t inner = offset - (is_key ? entries->keys + slot * entries->key_stride
                                            : entries->elems + slot * entries->elem_stride);
    char path[NAME_LIMIT / 2];
    const size_t size = types_path(types, number, inner, path, sizeof(path));
    if (is_key)
        text_append_string(text, " (key");
    if (size > 0 && path[0] != '[')
        text_append_string(text, ".");
    text_append_utf8(text, path, size, NAME_LIMIT / 2);
    if (is_key)
        text_append_string(text, ")");
}

/* Appends the name of a pointer in an entry by the entry's slot, "[#3].Name". */
void map_entries_append_index(const struct types *types, const struct map_entries *entries,
                              uint64_t offset, uint64_t index, struct text *text)
{
    if (entries->is_single)
        text_append_string(text, "[…]");
    else
        text_printf(text, "[#%llu]", (unsigned long long)index);
    key_names_append_path(types, entries, offset, text);
}

/* Adds the strings that follow a key in names. The suffix of a word, such as ".Name", is the same
 * in all slots, so they share strings. Returns false if memory runs out. */
bool map_entries_add_paths(const struct types *types, struct map_entries *entries,
                           struct string_pool *paths)
{
    const uint64_t word = types->pointer_size;
    const uint64_t words = entries->size / word;
    struct text text = {0};
    entries->path_of_word = calloc(count_and_end(words), sizeof(*entries->path_of_word));
    uint32_t empty;
    bool good = entries->path_of_word != NULL && string_pool_intern(paths, "", 0, &empty);
    for (uint64_t i = 0; i < words && good; i++) {
        if (entries->slot_of_word[i] == SLOT_NONE)
            continue;
        text.size = 0;
        key_names_append_path(types, entries, i * word, &text);
        good = !text.failed &&
               string_pool_intern(paths, text.data, text.size, &entries->path_of_word[i]);
    }
    text_deinit(&text);
    return good;
}

/* ---- keys ---- */

/* Returns size bytes of the process's memory at an address, or NULL; if they are in an object, also
 * sets the object, offset and size of *ret. */
static const uint8_t *key_names_memory_at(const struct key_reader *reader, uint64_t address,
                                          uint64_t size, struct slot_key *ret)
{
    const struct typing *typing = reader->names->typing;
    const struct g2h_heap *heap = typing->heap;
    uint32_t object = reader->hint;
    if (object == UINT32_MAX ||
        address - heap_address(heap, object) >= heap_object_size(heap, object))
        object = heap_find(heap, address);
    if (object == UINT32_MAX)
        return typing_memory(typing, address, size, UINT32_MAX);
    const struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t offset = address - heap_address(heap, object);
    if (offset > contents.size || size > contents.size - offset)
        return NULL;
    ret->object = object;
    ret->offset = offset;
    ret->size = size;
    return contents.data + offset;
}

/* Appends the hash of a key in place of it. Equal keys have equal hashes, and so have a key and a
 * string with the same bytes (names.c). A long key has no name: the same long string may be the key
 * of many maps, and would be hashed as a whole for each of them. Returns false if it is too long to
 * be hashed. */
static bool append_redacted(const struct names *names, const uint8_t *data, size_t size,
                            struct text *text)
{
    enum { HASHED = 1024 };
    if (size > HASHED)
        return false;
    text_append_string(text, "[");
    text_append_redacted(text, names->redaction, data, size);
    text_append_string(text, "]");
    return true;
}

/* Appends a key as ["alice"], cut and redacted as needed. Returns false if it cannot be shown.
 * Nearly all keys are short ASCII, and are copied without looking at each character. */
static bool key_names_append_string(const struct names *names, const uint8_t *data, size_t size,
                                    struct text *text)
{
    if (names->redaction)
        return append_redacted(names, data, size, text);
    if (size <= KEY_LIMIT && text_is_ascii(data, size) && /* nearly all keys */
        (text->capacity - text->size >= size + 4 || text_grow(text, size + 4))) {
        char *at = text->data + text->size;
        memcpy(at, "[\"", 2);
        memcpy(at + 2, data, size);
        memcpy(at + 2 + size, "\"]", 2);
        text->size += size + 4;
        return true;
    }
    text_append_string(text, "[\"");
    if (text_append_clipped(text, data, size, KEY_LIMIT))
        text_append_string(text, "…");
    text_append_string(text, "\"]");
    return true;
}

/* Reads the string whose header is at `at`, and appends it as a key. KEY_NONE if its bytes are not
 * in the dump, or it is too long to be shown. */
static enum key_form read_string(const struct key_reader *reader, const uint8_t *at,
                                 struct text *text, struct slot_key *ret)
{
    const struct g2h_heap *heap = reader->names->heap;
    const uint64_t size = heap_word(heap, at + heap->params.pointer_size);
    const uint8_t *data = (const uint8_t *)"";
    ret->object = UINT32_MAX;
    if (size > 0)
        data = key_names_memory_at(reader, heap_word(heap, at), size, ret);
    if (!data)
        return KEY_NONE;
    const struct g2h_bytes key = bytes_at(data, size);
    return key_names_append_string(reader->names, key.data, key.size, text) ? KEY_TEXT : KEY_NONE;
}

static void key_names_append_integer(uint32_t integer, struct text *text)
{
    text_append_string(text, "[");
    text_append_number(text, integer);
    text_append_string(text, "]");
}

/* Reads an integer or bool key and appends it: [42], [true]. Numbers that fit into an element's
 * index become KEY_INTEGER. Integers are not shown if texts are redacted: KEY_NONE. */
static enum key_form read_integer(const struct key_reader *reader, const struct type *type,
                                  const uint8_t *at, struct text *text, struct slot_key *ret)
{
    if (reader->names->redaction) /* integers are so few that a hash would reveal them */
        return KEY_NONE;
    const struct g2h_heap *heap = reader->names->heap;
    uint64_t value = type->size == heap->params.pointer_size ? heap_word(heap, at)
                                                             : heap_number(heap, at, type->size);
    const bool is_signed = type->kind >= TYPE_INT && type->kind <= TYPE_INT64;
    if (is_signed && type->size < 8 && (value >> (8 * type->size - 1) & 1) != 0)
        value |= UINT64_MAX << 8 * type->size;
    if (type->kind == TYPE_BOOL) {
        text_printf(text, value != 0 ? "[true]" : "[false]");
        return KEY_TEXT;
    }
    if (value < INT32_MAX) {
        ret->integer = (uint32_t)value;
        key_names_append_integer(ret->integer, text);
        return KEY_INTEGER;
    }
    const bool is_negative = is_signed && (value >> 63 & 1) != 0;
    text_append_string(text, is_negative ? "[-" : "[");
    text_append_number(text, is_negative ? -value : value);
    text_append_string(text, "]");
    return KEY_TEXT;
}

/* A struct or array of which a value is appended. */
struct key_parts {
    const struct key_reader *reader;
    struct text *text;
    size_t begin; /* of the key in the text: what follows KEY_LIMIT bytes is left out */
    bool is_cut, is_bad;
};

static void key_names_append_value(struct key_parts *parts, uint32_t number, const uint8_t *at);

/* Appends a field or an element, after a comma unless it is_first. When the text has more than
 * KEY_LIMIT bytes, appends an ellipsis instead and sets parts->is_cut; from then on appends
 * nothing. */
static void key_names_append_part(struct key_parts *parts, bool is_first, uint32_t type,
                                  const uint8_t *at)
{
    struct text *text = parts->text;
    if (parts->is_cut)
        return;
    text_append_string(text, is_first ? "" : ", ");
    parts->is_cut = text->size > parts->begin + KEY_LIMIT;
    if (parts->is_cut)
        text_append_string(text, "…");
    else
        key_names_append_value(parts, type, at);
}

/* Appends a value of a type that key_names_are_textual(): a struct as in a literal, {17, "a"}; an
 * array of bytes, as UUIDs are, as hexadecimal digits. parts->is_bad becomes true if a value cannot
 * be shown. */
static void key_names_append_value(struct key_parts *parts, uint32_t number, const uint8_t *at)
{
    const struct types *types = parts->reader->names->typing->types;
    const struct type *type = types_get(types, number),
                      *elem = type->kind == TYPE_ARRAY ? types_get(types, type->elem) : NULL;
    struct text *text = parts->text;
    struct slot_key key;
    const size_t begin = text->size;
    if (elem && elem->kind == TYPE_UINT8) {
        for (uint64_t i = 0; i < type->length; i++)
            text_printf(text, "%02x", at[i]);
        return;
    }
    if (elem || type->kind == TYPE_STRUCT) {
        text_append_string(text, "{");
        for (uint64_t i = 0; elem && i < type->length; i++)
            key_names_append_part(parts, i == 0, type->elem, at + i * elem->size);
        for (uint32_t i = 0; !elem && i < type->field_count; i++) {
            const struct type_field *field = types_fields(types, type) + i;
            key_names_append_part(parts, i == 0, field->type, at + field->offset);
        }
        text_append_string(text, "}");
        return;
    }
    const enum key_form form = type->kind == TYPE_STRING
                                   ? read_string(parts->reader, at, text, &key)
                                   : read_integer(parts->reader, type, at, text, &key);
    parts->is_bad |= form == KEY_NONE;
    if (form == KEY_NONE || text->failed || text->size < begin + 2)
        return;
    /* without the brackets around the value */
    memmove(text->data + begin, text->data + begin + 1, text->size - begin - 2);
    text->size -= 2;
}

/* Reads a struct or array and appends it as a key: [{17, "a"}]. KEY_NONE, and nothing appended, if
 * a part cannot be shown, or texts are hidden. */
static enum key_form read_composite(const struct key_reader *reader, uint32_t number,
                                    const uint8_t *at, struct text *text)
{
    const size_t begin = text->size;
    struct key_parts parts = {.reader = reader, .text = text, .begin = begin};
    if (reader->names->redaction) /* it may have integers, which a hash would reveal */
        return KEY_NONE;
    text_append_string(text, "[");
    key_names_append_value(&parts, number, at);
    text_append_string(text, "]");
    if (parts.is_bad)
        text->size = begin;
    return parts.is_bad ? KEY_NONE : KEY_TEXT;
}

/* Reads and appends the key of a slot. The key in an interface must first be found by its dynamic
 * type; pointers, floats and what contains these are not shown, nor is what the dump lacks, nor
 * are keys other than strings if these are redacted: form is KEY_NONE. */
void key_read(const struct key_reader *reader, const struct map_entries *entries,
              const uint8_t *value, unsigned slot, struct text *text, struct slot_key *ret)
{
    const struct names *names = reader->names;
    const struct g2h_heap *heap = names->heap;
    const struct types *types = names->typing->types;
    uint32_t number = entries->key;
    const struct type *type = types_get(types, number);
    const uint8_t *at = value + entries->keys + slot * entries->key_stride;
    ret->form = KEY_NONE;
    ret->object = UINT32_MAX;
    if (entries->kind == KEYS_WITHOUT_TEXT)
        return;
    if (type->kind == TYPE_INTERFACE) {
        number = typing_interface_type(names->typing, heap_word(heap, at), type->empty_interface);
        if (number == TYPE_NONE)
            return;
        type = types_get(types, number);
        if (key_names_kind_of(types, number) != KEYS_TEXTUAL || type->direct_interface)
            return;
        at = key_names_memory_at(reader, heap_word(heap, at + heap->params.pointer_size),
                                 type->size, ret);
        ret->object = UINT32_MAX; /* that one has the key's value, not the bytes of a string */
    }
    if (!at)
        return;
    if (type->kind == TYPE_STRING)
        ret->form = read_string(reader, at, text, ret);
    else if (type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY)
        ret->form = read_composite(reader, number, at, text);
    else if (type->size > 0 && type->size <= 8) /* unless the executable is damaged */
        ret->form = read_integer(reader, type, at, text, ret);
}

/* Appends the suffix that follows a key: path is an element of path_of_word. */
void key_append_path(const struct names *names, uint32_t path, struct text *text)
{
    size_t size;
    const char *data = string_pool_text(&names->paths, path, &size);
    text_append(text, data, size);
}

/* ---- where keys are made from ---- */

/*
 * The number from which a name is made again. For a string: where the key's bytes are, object << 30
 * | path << 19 | offset << 7 | size. For an integer: path << 31 | integer. If these do not fit: the
 * named word of the bucket or group, object << 30 | offset / 4.
 */
#define ORIGIN_FORM    (UINT64_C(3) << 62)
#define ORIGIN_STRING  (UINT64_C(1) << 62)
#define ORIGIN_INTEGER (UINT64_C(2) << 62)
enum { SIZE_BITS = 7, OFFSET_BITS = 12, PATH_BITS = 11, OBJECT_SHIFT = 30, INTEGER_BITS = 31 };

static inline uint64_t low_bits(uint64_t number, unsigned bits)
{
    return number & ((UINT64_C(1) << bits) - 1);
}

static inline bool key_names_fits(uint64_t number, unsigned bits)
{
    return number >> bits == 0;
}

/* Packs where a key comes from into a number, by which equal keys are found: the integer, the
 * string's object, offset and size, or, if these have too many bits, where the entry is. */
uint64_t key_origin(const struct slot_key *key, uint32_t path, uint32_t object, uint64_t offset)
{
    if (key->form == KEY_INTEGER)
        return ORIGIN_INTEGER | (uint64_t)path << INTEGER_BITS | key->integer;
    if (key->object != UINT32_MAX && key_names_fits(path, PATH_BITS) &&
        key_names_fits(key->offset, OFFSET_BITS) && key_names_fits(key->size, SIZE_BITS))
        return ORIGIN_STRING | (uint64_t)key->object << OBJECT_SHIFT |
               (uint64_t)path << (OFFSET_BITS + SIZE_BITS) | key->offset << SIZE_BITS | key->size;
    return (uint64_t)object << OBJECT_SHIFT | offset / 4;
}

/* Appends the name that a word of a bucket or group has by the key of its entry: reads the key
 * again. Nothing is appended if the word is not in an object with entries, or its key is not shown.
 */
static void append_of_word(const struct names *names, uint32_t number, uint64_t offset,
                           struct text *text)
{
    const struct key_reader reader = {names, UINT32_MAX};
    const struct g2h_bytes contents = heap_contents(names->heap, number);
    struct typed_location location;
    struct slot_key key;
    if (!typing_locate(names->typing, number, offset, &location))
        return;
    const struct map_entries *entries = names->of_type[location.type].entries;
    key_read(&reader, entries, contents.data + (offset - location.offset),
             map_entries_slot(entries, names, location.offset), text, &key);
    if (key.form != KEY_NONE)
        key_append_path(names, entries->path_of_word[location.offset >> names->word_shift], text);
}

/* Makes the name of a key again, from the number that key_origin() returned. */
void key_append_again(const struct names *names, uint64_t origin, struct text *text)
{
    const uint64_t form = origin & ORIGIN_FORM;
    const uint32_t object = (uint32_t)(origin >> OBJECT_SHIFT);
    if (form == 0) {
        append_of_word(names, object, low_bits(origin, OBJECT_SHIFT) * 4, text);
    } else if (form == ORIGIN_INTEGER) {
        key_names_append_integer((uint32_t)low_bits(origin, INTEGER_BITS), text);
        key_append_path(names, (uint32_t)((origin & ~ORIGIN_FORM) >> INTEGER_BITS), text);
    } else {
        const struct g2h_bytes key =
            bytes_part(heap_contents(names->heap, object),
                       low_bits(origin >> SIZE_BITS, OFFSET_BITS), low_bits(origin, SIZE_BITS));
        key_names_append_string(names, key.data, key.size, text);
        key_append_path(names, (uint32_t)low_bits(origin >> (OFFSET_BITS + SIZE_BITS), PATH_BITS),
                        text);
    }
}

/* Prefetches what key_append_again() needs: the object's contents, or, if contents is false, the
 * record of where these are. */
void key_prefetch(const struct names *names, uint64_t origin, bool contents)
{
    const uint32_t object = (uint32_t)(origin >> OBJECT_SHIFT);
    if ((origin & ORIGIN_FORM) == ORIGIN_INTEGER)
        return;
    __builtin_prefetch(
        contents ? (const void *)(names->heap->input->data + heap_offset(names->heap, object))
                 : &names->heap->objects[object]);
}
