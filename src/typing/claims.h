/*
 * claims: the types that were proposed for objects and accepted.
 *
 * The claim on an object's start is one word, which several threads may write at the same time.
 * Every other claim on an object is a part in the object's shard; only the thread that owns the
 * shard adds parts.
 */
#ifndef TYPING_CLAIMS_H
#define TYPING_CLAIMS_H

#include "typing/typer.h"

static inline uint32_t claim_pack(bool is_array, bool is_exact, enum source source, uint32_t type)
{
    const uint32_t array = is_array ? CLAIM_ARRAY : 0;
    const uint32_t exact = is_exact ? CLAIM_EXACT : 0;
    return array | exact | (uint32_t)source << CLAIM_SOURCE_SHIFT | (type + 1);
}

/* Returns whether two claims are equal except for source and exactness. */
static inline bool claim_is_same(uint32_t one, uint32_t other)
{
    return ((one ^ other) & (CLAIM_ARRAY | CLAIM_TYPE)) == 0;
}

/* Returns whether a claim comes from the object's malloc header. */
static inline bool claim_is_certain(uint32_t claim)
{
    return claim != 0 && (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT == SOURCE_HEADER;
}

/* Adds a claim on the object's start, which is at base. If several threads make different claims,
 * the first one is accepted for now; the other claims become parts later, in order. */
void claim_start(struct typer *typer, uint32_t object, uint64_t base, bool is_array, bool is_exact,
                 const struct reference *reference, const struct pointer_map *map);

/* Adds a claim on a part of an object, or a further claim on its start. wanted->object is not set
 * yet. */
void claim_part(struct typer *typer, uint32_t object, const struct typed_part *wanted,
                const struct pointer_map *map);

/* Notes that a string of length bytes begins at offset of an object that has size bytes and no
 * pointers. */
void claim_text(struct typing *typing, uint32_t object, uint64_t size, uint64_t offset,
                uint64_t length);

/* Returns whether a reference adds nothing about a part of an object: its part is there already, or
 * its type is known not to fit. */
bool part_is_known(struct typer *typer, uint32_t object, uint64_t offset, bool is_array,
                   const struct reference *reference);

/* Notes that a value of a type does not fit a part of a large object, so that the type is not tried
 * there again. */
void part_refuse(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type);

/* If this many pointers lead to different values of one type in an object, the object is proposed
 * as an array of them. */
enum { ENOUGH_FOR_ARRAY = 16 };

/* Counts a value at offset. Returns whether ENOUGH_FOR_ARRAY values have been counted, including
 * this one. */
bool has_enough_for_array(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type);

/* If other threads propose as well, defers a reference whose order matters. Returns whether it was
 * deferred. */
bool typer_defer(struct typer *typer, uint32_t object, uint64_t offset,
                 const struct reference *reference);

#endif
