/* type_builder; see type_builder.h. */
#include "type_builder.h"

uint32_t type_add(struct types *types, const char *name, enum type_kind kind, uint64_t size,
                  uint32_t elem)
{
    uint32_t number;
    struct type type = {.kind = (uint8_t)kind,
                        .size = size,
                        .pointer_bytes = UINT64_MAX,
                        .elem = elem,
                        .key = TYPE_NONE,
                        .header = TYPE_NONE,
                        .first_field = (uint32_t)types->fields.count};
    assert_true(types_intern(types, name, strlen(name), &type.name));
    assert_true(types_add(types, &type, &number));
    return number;
}

uint32_t type_pointer(struct types *types, const char *name, uint32_t elem)
{
    return type_add(types, name, TYPE_POINTER, types->pointer_size, elem);
}

uint32_t type_array(struct types *types, const char *name, uint32_t elem, uint64_t length)
{
    const uint32_t number =
        type_add(types, name, TYPE_ARRAY, types->list.data[elem].size * length, elem);
    types->list.data[number].length = length;
    return number;
}

uint32_t type_struct(struct types *types, const char *name, uint64_t size)
{
    return type_add(types, name, TYPE_STRUCT, size, TYPE_NONE);
}

void type_field(struct types *types, const char *name, uint32_t type, uint64_t offset)
{
    struct type_field field = {.type = type, .offset = offset};
    assert_true(types_intern(types, name, strlen(name), &field.name));
    assert_true(vector_push(&types->fields, field));
    types->list.data[types->list.count - 1].field_count++;
}
