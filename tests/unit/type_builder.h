/* type_builder: types made by hand, for tests of what is done with them. */
#ifndef UNIT_TYPE_BUILDER_H
#define UNIT_TYPE_BUILDER_H

#include "unit.h"

#include "types/types.h"

/* A type of a kind; of composites elem is what they consist of or point to, TYPE_NONE if nothing.
 */
uint32_t type_add(struct types *types, const char *name, enum type_kind kind, uint64_t size,
                  uint32_t elem);
uint32_t type_pointer(struct types *types, const char *name, uint32_t elem);
uint32_t type_array(struct types *types, const char *name, uint32_t elem, uint64_t length);

/* A struct, whose fields follow: each must be of the struct that was added last. */
uint32_t type_struct(struct types *types, const char *name, uint64_t size);
void type_field(struct types *types, const char *name, uint32_t type, uint64_t offset);

#endif
