/*
 * dwarf_check: makes types sound that only DWARF has, so that, whatever the executable contains, a
 * walk down a value of such a type terminates; see dwarf_info_init().
 */
#include <stdlib.h>

#include "exe/dwarf/dwarf_reader.h"

enum { DWARF_DEPTH_MOST = 64 }; /* nesting of values; no program has types this deep */

/* Computes the size of an array of C if the size of its elements is known. DWARF does not have the
 * array's size. */
static void size_array(struct types *types, struct type *type)
{
    if (type->kind != TYPE_ARRAY || type->size != DWARF_SIZE_UNKNOWN || type->elem == TYPE_NONE)
        return;
    const uint64_t size = types->list.data[type->elem].size;
    if (size != DWARF_SIZE_UNKNOWN && __builtin_mul_overflow(size, type->length, &type->size))
        type->size = 0;
}

static int dwarf_check_compare_fields(const void *a, const void *b)
{
    const struct type_field *one = a, *other = b;
    if (one->offset != other->offset)
        return one->offset < other->offset ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

/* Sorts the fields of a struct, and drops fields that overlap others or are not inside the
 * struct. */
static void check_struct(struct types *types, struct type *type)
{
    if (type->field_count == 0)
        return;
    struct type_field *fields = types->fields.data + type->first_field;
    for (uint32_t i = 1; i < type->field_count; i++)
        if (fields[i].offset < fields[i - 1].offset) {
            qsort(fields, type->field_count, sizeof(*fields), dwarf_check_compare_fields);
            break;
        }
    uint32_t good = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; type->size > 0 && i < type->field_count; i++) {
        if (fields[i].type == TYPE_NONE)
            continue;
        const uint64_t size = types->list.data[fields[i].type].size;
        if (fields[i].offset < end || fields[i].offset > type->size ||
            size > type->size - fields[i].offset)
            continue;
        end = fields[i].offset + size;
        fields[good++] = fields[i];
    }
    type->field_count = good;
}

/* Limits the length of an array to the elements that its size has space for. */
static void check_array(struct types *types, struct type *type)
{
    if (type->size == DWARF_SIZE_UNKNOWN)
        type->size = 0;
    const uint64_t size = type->elem == TYPE_NONE ? 0 : types->list.data[type->elem].size;
    /* An array may claim any number of elements that have no size. */
    if (size == 0 || size == DWARF_SIZE_UNKNOWN)
        type->length = 0;
    else if (type->length > type->size / size)
        type->length = type->size / size;
}

/* Returns whether only DWARF has the type. */
static bool is_dwarf_type(const struct type *type)
{
    return type->from_dwarf && type->address == 0;
}

/* Returns how deep values are nested in a value of a type (number). A type that is deeper than
 * DWARF_DEPTH_MOST, as is every type that contains itself, loses its parts. level: the depth of
 * this call, which is limited, too; the answers are cached. */
static unsigned check_depth(struct dwarf_reader *reader, struct types *types, uint32_t number,
                            unsigned level)
{
    struct type *type = &types->list.data[number];
    unsigned depth = 1;
    if (!is_dwarf_type(type) || (type->kind != TYPE_STRUCT && type->kind != TYPE_ARRAY))
        return 1;
    if (reader->depth.data[number] != 0)
        return reader->depth.data[number];
    if (level == DWARF_DEPTH_MOST)
        depth = DWARF_DEPTH_MOST + 1;
    else if (type->kind == TYPE_ARRAY && type->length > 0)
        depth = 1 + check_depth(reader, types, type->elem, level + 1);
    for (uint32_t i = 0; depth <= DWARF_DEPTH_MOST && i < type->field_count; i++) {
        const uint32_t part = types->fields.data[type->first_field + i].type;
        const unsigned below = 1 + check_depth(reader, types, part, level + 1);
        depth = below > depth ? below : depth;
    }
    if (depth > DWARF_DEPTH_MOST) {
        type->kind = TYPE_INVALID;
        type->elem = TYPE_NONE;
        type->length = type->field_count = 0;
        depth = 1;
    }
    reader->depth.data[number] = (uint8_t)depth;
    return depth;
}

/* Sizes come first, since the other checks compare with them. */
bool dwarf_types_check(struct dwarf_reader *reader, struct types *types)
{
    const uint32_t *numbers = reader->unchecked.data;
    const size_t count = reader->unchecked.count;
    struct type *list = types->list.data;
    /* Usually an array comes before the arrays that are its elements. */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = count; i > 0; i--)
            size_array(types, &list[numbers[i - 1]]);
    for (size_t i = 0; i < count; i++)
        if (list[numbers[i]].kind == TYPE_ARRAY)
            check_array(types, &list[numbers[i]]);
    for (size_t i = 0; i < count; i++)
        if (list[numbers[i]].kind == TYPE_STRUCT)
            check_struct(types, &list[numbers[i]]);
    while (reader->depth.count < types->list.count)
        if (!vector_push(&reader->depth, 0))
            return false;
    for (size_t i = 0; i < count; i++)
        check_depth(reader, types, numbers[i], 0);
    reader->unchecked.count = 0;
    return true;
}
