/*
 * runtime_types: the runtime's structures, as struct types; the program's own types do not show
 * them.
 *
 * They are the headers of maps with their buckets, tables and groups, channels and the goroutines
 * waiting on them, and others, as each release lays them out. docs/runtime-structures.md lists all
 * of them.
 */
#ifndef TYPES_RUNTIME_TYPES_H
#define TYPES_RUNTIME_TYPES_H

#include "base/releases.h"
#include "types/types.h"

/* Names of types that are made here and recognized elsewhere: the target of a weak.Pointer, and the
 * sudogs of channels, "sudog<T>". */
#define WEAK_HANDLE_TYPE "weak.Pointer handle"

#define SUDOG_TYPES "sudog<"

/* State that is kept from one call of runtime_types_add() to the next. */
struct runtime_types {
    struct types *types;
    struct go_release release;
    uint32_t processed;  /* the number of types for which structures have been added */
    uint32_t structures; /* the number of map and channel types that have headers */
    bool no_memory;      /* memory ran out for a type or a string */
    struct map by_name;  /* name → type, or NAME_AMBIGUOUS */
    struct map derived; /* pointers to a type, slices and arrays of it, headers of its channels: see
                           build_find_derived() */
    VECTOR(uint8_t) traits; /* of each type: its alignment, and whether it holds pointers */
};

/* Returns whether a type of this name is the runtime's own type for a structure for which these
 * files make more exact types, or a GC shape, which is shared by many types. */
bool runtime_is_generic(struct g2h_bytes name);

void runtime_types_init(struct runtime_types *runtime, struct types *types,
                        const struct go_release *release);

void runtime_types_deinit(struct runtime_types *runtime);

/*
 * Sets the headers of map and channel types, and the targets of the untyped pointers in types of
 * the library (sync/atomic.Pointer[T], sync.Pool, weak.Pointer[T], HashTrieMap). Call it after the
 * types of an executable have been read, and again after more types have been added. The structs
 * that it adds have no gc_mask: their fields determine which words are pointers. Does nothing if
 * the release is not known. Returns false if memory runs out.
 */
bool runtime_types_add(struct runtime_types *runtime);

#endif
