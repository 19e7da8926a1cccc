/* types: the list of all types, found by number or name, and paths in them: which field is at an
 * offset, and what the way there is called ("items[3].Name"); see types.h. */
#include "types/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"

/* The most empty fields in a row that are skipped: only damaged executables have more. */
enum { EMPTY_FIELDS_MOST = 64 };

void types_init(struct types *types, unsigned pointer_size)
{
    *types = (struct types){.pointer_size = pointer_size};
}

void types_deinit(struct types *types)
{
    free(types->list.data);
    free(types->fields.data);
    string_pool_deinit(&types->names);
    free(types->packages.data);
    map_deinit(&types->by_address);
    *types = (struct types){0};
}

/* Makes a copy of types, but for their packages. Typing adds types to its own copy, so that the
 * executable's stay as they are. Returns false, and leaves nothing to free, if memory runs out. */
bool types_copy(struct types *types, const struct types *others)
{
    *types = *others;
    types->packages.data = NULL;
    types->packages.count = types->packages.capacity = 0;
    types->list.capacity = types->list.count;
    types->list.data = memory_copy(others->list.data, others->list.count, sizeof(struct type));
    types->fields.capacity = types->fields.count;
    types->fields.data =
        memory_copy(others->fields.data, others->fields.count, sizeof(struct type_field));
    const bool has_names = string_pool_copy(&types->names, &others->names),
               has_map = map_copy(&types->by_address, &others->by_address);
    if (has_names && has_map && (types->list.data || types->list.count == 0) &&
        (types->fields.data || types->fields.count == 0))
        return true;
    types_deinit(types);
    return false;
}

/* Adds a type. low and high are the range of all descriptors: most words that might be their
 * addresses are outside it, and types_at() needs no lookup. Returns false if memory runs out. */
bool types_add(struct types *types, const struct type *type, uint32_t *ret)
{
    const uint32_t number = as_u32(types->list.count);
    uint32_t first;
    if (number >= TYPE_NONE - 1 || !vector_push(&types->list, *type))
        return false;
    *ret = number;
    if (type->address == 0)
        return true;
    if (types->high == 0 || type->address < types->low)
        types->low = type->address;
    if (type->address >= types->high)
        types->high = type->address + 1;
    return map_put(&types->by_address, type->address, number, &first);
}

/* Adds a type made at run time. Types that package reflect made are in the heap, so they get a
 * range of their own: one range for both would contain the whole heap. Returns false if memory runs
 * out. */
bool types_add_made(struct types *types, const struct type *type, uint32_t *ret)
{
    const uint64_t low = types->low;
    const uint64_t high = types->high;
    const bool good = types_add(types, type, ret);
    types->low = low;
    types->high = high;
    if (types->made_high == 0 || type->address < types->made_low)
        types->made_low = type->address;
    if (type->address >= types->made_high)
        types->made_high = type->address + 1;
    return good;
}

struct g2h_bytes types_text(const struct types *types, uint32_t string)
{
    size_t size;
    const char *text = string_pool_text(&types->names, string, &size);
    return bytes_at(text, size);
}

struct g2h_bytes types_name(const struct types *types, uint32_t type)
{
    assert(type < types->list.count);
    return types_text(types, types_get(types, type)->name);
}

bool types_intern(struct types *types, const void *text, size_t size, uint32_t *ret)
{
    return string_pool_intern(&types->names, text, size, ret);
}

/* Finds the first type with a name; a size of 0 means that DWARF only declares it. Returns
 * TYPE_NONE if there is none. */
uint32_t types_find(const struct types *types, const char *name)
{
    uint32_t wanted;
    if (!string_pool_find(&types->names, name, strlen(name), &wanted))
        return TYPE_NONE;
    for (uint32_t i = 0; i < types->list.count; i++)
        if (types_get(types, i)->name == wanted && types_size(types, i) > 0)
            return i;
    return TYPE_NONE;
}

/* Returns the field of a struct with this name, or NULL. */
const struct type_field *types_field(const struct types *types, uint32_t number, const char *name)
{
    const struct type *type = types_get(types, number);
    for (uint32_t i = 0; i < type->field_count; i++) {
        const struct type_field *field = types_fields(types, type) + i;
        if (bytes_are(types_text(types, field->name), name))
            return field;
    }
    return NULL;
}

/* Returns the field that contains an offset, or NULL. The fields ascend by offset. The last one
 * that begins at or before the offset contains it, unless fields without size are behind it: up to
 * EMPTY_FIELDS_MOST are passed over. */
const struct type_field *types_field_at(const struct types *types, const struct type *type,
                                        uint64_t offset)
{
    uint32_t after;
    BISECT(after, type->field_count, types_fields(types, type)[after].offset <= offset);
    /* Empty fields may be at the same offset, after the field that contains the byte. */
    for (unsigned i = 0; after > 0 && i < EMPTY_FIELDS_MOST; i++) {
        const struct type_field *field = &types->fields.data[type->first_field + --after];
        if (field->type < types->list.count &&
            offset - field->offset < types_size(types, field->type))
            return field;
    }
    return NULL;
}

/* Goes to the field or element that contains an offset. An offset in padding belongs to no field,
 * so it returns false for that, too. */
bool types_step_into(const struct types *types, uint32_t *number, uint64_t *offset)
{
    const struct type *type = types_get(types, *number);
    if (type->kind == TYPE_ARRAY) {
        const uint64_t size = type->elem < types->list.count ? types_size(types, type->elem) : 0;
        if (size == 0 || *offset >= type->size)
            return false;
        *number = type->elem;
        *offset %= size;
        return true;
    }
    const struct type_field *field =
        type->kind == TYPE_STRUCT ? types_field_at(types, type, *offset) : NULL;
    if (!field)
        return false;
    *number = field->type;
    *offset -= field->offset;
    return true;
}

/* Returns the map type whose internals a type is, or TYPE_NONE. The parts of a map have the map
 * type as their elem; pointers, slices and arrays lead to parts. */
uint32_t types_map_inside(const struct types *types, uint32_t number)
{
    enum { STEPS_MOST = 4 }; /* enough for [2]*[]*bucket */
    for (int step = 0; step <= STEPS_MOST && number < types->list.count; step++) {
        const struct type *type = types_get(types, number);
        const bool is_part = type->role == ROLE_MAP_BUCKET || type->role == ROLE_MAP_GROUP ||
                             type->role == ROLE_INTERNAL;
        if (is_part)
            return type->elem;
        if (type->kind != TYPE_POINTER && type->kind != TYPE_SLICE && type->kind != TYPE_ARRAY)
            return TYPE_NONE;
        number = type->elem;
    }
    return TYPE_NONE;
}

/* What a path leaves out: STEP_SKIPPED is one step, and STEP_LAST all from there on. */
enum path_step { STEP_SHOWN, STEP_SKIPPED, STEP_LAST };

/* Returns how a path goes on at a field of a type. Users of a sync.Map and of a HashTrieMap do not
 * know the fields that lead to the entries: a path ends at the map, which the key follows. */
static enum path_step step_into_field(const struct types *types, uint32_t type,
                                      const struct type_field *field)
{
    const struct g2h_bytes of = types_name(types, type);
    const struct g2h_bytes name = types_text(types, field->name);
    const bool is_trie = bytes_begin(of, "internal/sync.HashTrieMap[") ||
                         bytes_begin(of, "internal/concurrent.HashTrieMap["),
               is_map = bytes_are(of, "sync.Map");
    if ((is_trie && bytes_are(name, "root")) ||
        (is_map && (bytes_are(name, "read") || bytes_are(name, "dirty"))))
        return STEP_LAST;
    return is_map && bytes_are(name, "m") ? STEP_SKIPPED : STEP_SHOWN;
}

/* Appends a string to a path of *done bytes in a buffer of size bytes, which it ends with NUL.
 * Returns false if it is cut. This is done for each word: snprintf() would take long. */
static bool append_step(char *buffer, size_t size, size_t *done, const void *text, size_t length)
{
    const size_t left = size - 1 - *done;
    const size_t kept = MIN(length, left);
    memcpy(buffer + *done, text, kept);
    *done += kept;
    buffer[*done] = '\0';
    return kept == length;
}

/* Appends "[index]" in the same way. Returns false if it does not fit. */
static bool append_index(char *buffer, size_t size, size_t *done, uint64_t index)
{
    char digits[24];
    size_t at = sizeof(digits);
    digits[--at] = ']';
    do {
        digits[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    digits[--at] = '[';
    return append_step(buffer, size, done, digits + at, sizeof(digits) - at);
}

/* Writes the path to the field at an offset of a type: a field's name or an index for each level
 * that contains the offset; a path that does not fit is cut. Returns its size. */
size_t types_path(const struct types *types, uint32_t number, uint64_t offset, char *buffer,
                  size_t size)
{
    size_t done = 0;
    buffer[0] = '\0';
    for (unsigned depth = 0; depth < 64 && number < types->list.count; depth++) {
        const struct type *type = types_get(types, number);
        bool is_whole = true;
        if (type->kind == TYPE_ARRAY && type->elem < types->list.count &&
            types_size(types, type->elem) > 0) {
            number = type->elem;
            is_whole = append_index(buffer, size, &done, offset / types_size(types, number));
            offset %= types_size(types, number);
        } else if (type->kind == TYPE_STRUCT) {
            const struct type_field *field = types_field_at(types, type, offset);
            if (!field)
                break;
            struct g2h_bytes name = types_text(types, field->name);
            const enum path_step step = step_into_field(types, number, field);
            if (step == STEP_LAST)
                break;
            if (bytes_begin(types_name(types, number), "unique.Handle["))
                name = bytes_of("Value()");           /* programs read its field by the method */
            if (name.size > 1 && name.data[0] == '.') /* the receiver of a method value: .this */
                name = bytes_from(name, 1);
            if (step != STEP_SKIPPED)
                is_whole = append_step(buffer, size, &done, ".", done > 0) &&
                           append_step(buffer, size, &done, name.data,
                                       strnlen((const char *)name.data, name.size));
            number = field->type;
            offset -= field->offset;
        } else {
            break;
        }
        if (!is_whole)
            break;
    }
    return done;
}
