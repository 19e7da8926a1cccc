/* type_builder: builds types by hand, for tests of the code that uses types. */
#ifndef UNIT_TYPE_BUILDER_H
#define UNIT_TYPE_BUILDER_H

#include "unit.h"

#include "types/types.h"

/* Adds a type of a kind; elem is the type of which a composite consists or to which it points, or
 * TYPE_NONE if there is none. */
uint32_t type_add(struct types *types, const char *name, enum type_kind kind, uint64_t size,
                  uint32_t elem);
uint32_t type_pointer(struct types *types, const char *name, uint32_t elem);
uint32_t type_array(struct types *types, const char *name, uint32_t elem, uint64_t length);

/* Adds a struct. type_field() adds a field to the struct that was added last. */
uint32_t type_struct(struct types *types, const char *name, uint64_t size);
void type_field(struct types *types, const char *name, uint32_t type, uint64_t offset);

#endif
