/* structures: the functions that make the runtime's structures, by file; see runtime_types.h. */
#ifndef TYPES_STRUCTURES_H
#define TYPES_STRUCTURES_H

#include "types/build.h"

/* Return the header of a map type: maps_header() as before Go 1.24, swiss_header() as
 * since then: maps.c. */
uint32_t maps_header(struct runtime_types *runtime, uint32_t map);
uint32_t swiss_header(struct runtime_types *runtime, uint32_t map);

/* Returns the header of a channel type (named.c). */
uint32_t chans_header(struct runtime_types *runtime, uint32_t channel);

/* Adds to a struct the members of the runtime.sudog of a goroutine that waits on a channel. elem is
 * the channel's element type, header its header; each is TYPE_NONE if unknown. Returns false if the
 * members cannot be built. */
bool chans_sudog(struct runtime_types *runtime, uint32_t sudog, uint32_t elem, uint32_t header);

/* Sets the types of the untyped pointers in a struct of sync, atomic, weak or time (sync.c). */
void sync_retype(struct runtime_types *runtime, uint32_t type);

/* Corrects the target of a pointer type that points to a timer or a coroutine (sync.c). */
void sync_retype_pointer(struct runtime_types *runtime, uint32_t type);

/* Returns a structure of the runtime that is identified by its name alone, or TYPE_NONE if the name
 * is not known (named.c). */
uint32_t named_struct(struct runtime_types *runtime, struct g2h_bytes name);

/* Returns the name of such a structure by its index; NULL after the last one. */
const char *named_struct_name(size_t i);

#endif
