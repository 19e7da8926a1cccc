/* structures: the functions that make the structures of the runtime, file by file; see runtime.h.
 */
#ifndef TYPES_STRUCTURES_H
#define TYPES_STRUCTURES_H

#include "types/build.h"

/* The header of a map type, as before Go 1.24 (maps.c) and as since then (swiss.c). */
uint32_t maps_header(struct runtime_types *runtime, uint32_t map);
uint32_t swiss_header(struct runtime_types *runtime, uint32_t map);

/* The header of a channel type (chans.c). */
uint32_t chans_header(struct runtime_types *runtime, uint32_t channel);

/* Gives a struct the members of the runtime.sudog that waits on a channel with this header, for an
 * element of this type; each is TYPE_NONE where it is not known. False where it cannot be. */
bool chans_sudog(struct runtime_types *runtime, uint32_t sudog, uint32_t elem, uint32_t header);

/* Gives the untyped pointers in a struct of sync, atomic, weak or time their types (sync.c). */
void sync_retype(struct runtime_types *runtime, uint32_t type);

/* Corrects what a type of pointers points to: a timer or a coroutine. */
void sync_retype_pointer(struct runtime_types *runtime, uint32_t type);

/* A structure of the runtime that is known by its name alone; TYPE_NONE where it is not (named.c).
 */
uint32_t named_struct(struct runtime_types *runtime, struct g2h_bytes name);

/* The names of these structures; NULL after the last one. */
const char *named_struct_name(size_t i);

#endif
