/*
 * runtime: the structures behind maps, channels and other values that Go's types do not show.
 *
 * The runtime's own layouts, release by release, as struct types: what a map value points to, its
 * buckets, tables and groups, a channel and those who wait on it, and so on.
 * docs/runtime-structures.md has them all.
 */
#ifndef TYPES_RUNTIME_H
#define TYPES_RUNTIME_H

#include "base/release.h"
#include "types/types.h"

/* What is kept from one call of runtime_types_add() to the next. */
struct runtime_types {
    struct types *types;
    struct go_release release;
    uint32_t done;       /* how many types have been seen to */
    uint32_t structures; /* how many maps and channels have got headers */
    bool no_memory;      /* whatever has failed, it is that */
    struct map by_name;  /* string → type; NAME_AMBIGUOUS */
    struct map made_of; /* pointers, slices, arrays of a type, headers of channels of it → type */
    VECTOR(uint8_t) facts; /* of each type: alignment, whether it holds pointers */
};

void runtime_types_init(struct runtime_types *runtime, struct types *types,
                        const struct go_release *release);
void runtime_types_deinit(struct runtime_types *runtime);

/*
 * Gives all map and channel types their headers, and the types of the library whose pointers are
 * untyped (sync/atomic.Pointer[T], sync.Pool, weak.Pointer[T], HashTrieMap) typed ones. Runs after
 * the types of an executable have been read, and again after others have been added: it sees to
 * those only. The structs it makes have no gc_mask: it follows from their fields. False where there
 * is no memory. Nothing is done where the release is unknown.
 */
bool runtime_types_add(struct runtime_types *runtime);

#endif
