/* structures: one function per structure of the runtime, each in its own file; see runtime.h. */
#ifndef TYPES_STRUCTURES_H
#define TYPES_STRUCTURES_H

#include "types/build.h"

/* The header of a map type, laid out as before Go 1.24 (maps.c), as since then (swiss.c). */
uint32_t maps_header(struct runtime_types *runtime, uint32_t map);
uint32_t swiss_header(struct runtime_types *runtime, uint32_t map);

/* The header of a channel type (chans.c). */
uint32_t chans_header(struct runtime_types *runtime, uint32_t channel);
bool chans_sudog(struct runtime_types *runtime, uint32_t sudog, uint32_t elem, uint32_t header);

/* Types the untyped pointers of a struct of sync, atomic, weak, time; corrects a pointer type
 * (sync.c). */
void sync_retype(struct runtime_types *runtime, uint32_t type);
void sync_retype_pointer(struct runtime_types *runtime, uint32_t number);

/* A structure of the runtime that is known by its name alone; the names (named.c). */
uint32_t named_struct(struct runtime_types *runtime, const char *text, size_t size);
const char *named_struct_name(size_t i); /* NULL behind the last */

#endif
