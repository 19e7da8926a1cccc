/* types; see types.h. */
#include "types/types.h"

#include <stdlib.h>

void types_init(struct types *types, unsigned pointer_size)
{
    *types = (struct types){.pointer_size = pointer_size};
}

void types_deinit(struct types *types)
{
    free(types->list.data);
    free(types->fields.data);
    string_pool_deinit(&types->names);
    map_deinit(&types->by_address);
    *types = (struct types){0};
}

bool types_add(struct types *types, const struct type *type, uint32_t *ret)
{
    const uint32_t number = (uint32_t)types->list.count;
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

bool types_intern(struct types *types, const char *text, size_t size, uint32_t *ret)
{
    return string_pool_intern(&types->names, text, size, ret);
}
