/*
 * runtime: the runtime's structures, as struct types; Go's types do not show them.
 *
 * These are what a map points to, with its buckets, tables and groups; a channel, and those who
 * wait on it; and so on, as each release lays them out. docs/runtime-structures.md has all of them.
 */
#ifndef TYPES_RUNTIME_H
#define TYPES_RUNTIME_H

#include "base/release.h"
#include "types/types.h"

/* Names of types that are made here and known by them elsewhere: what a weak.Pointer points to, and
 * the sudogs of channels, "sudog<T>". */
#define WEAK_HANDLE_TYPE "weak.Pointer handle"
#define SUDOG_TYPES      "sudog<"

/* What lasts from one call of runtime_types_add() to the next. */
struct runtime_types {
    struct types *types;
    struct go_release release;
    uint32_t processed;     /* for how many types structures have been added */
    uint32_t structures;    /* how many types of maps and channels have got headers */
    bool no_memory;         /* there was none for a type or a string */
    struct map by_name;     /* name → type, NAME_AMBIGUOUS */
    struct map derived;     /* pointers to a type, slices and arrays of it, headers of channels of
                               it: see build_find_derived() */
    VECTOR(uint8_t) traits; /* of each type: alignment, whether it holds pointers */
};

/* Whether a type of this name is the runtime's own one for something that these files make more
 * exact types of, or a GC shape, which stands for many types. */
bool runtime_is_generic(struct g2h_bytes name);

void runtime_types_init(struct runtime_types *runtime, struct types *types,
                        const struct go_release *release);
void runtime_types_deinit(struct runtime_types *runtime);

/*
 * Gives types of maps and channels their headers, and the untyped pointers in types of the library
 * (sync/atomic.Pointer[T], sync.Pool, weak.Pointer[T], HashTrieMap) their types. It is called after
 * the types of an executable have been read, and again for those that have been added since. The
 * structs that it adds have no gc_mask, which follows from their fields. Nothing happens where the
 * release is not known. False where there is no memory.
 */
bool runtime_types_add(struct runtime_types *runtime);

#endif
