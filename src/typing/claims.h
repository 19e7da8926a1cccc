/*
 * claims: what has been said of objects and was believed.
 *
 * The claim on an object's start is one word, which threads may write at a time. Whatever else is
 * said of an object is a region in its shard; only the thread that has the shard to itself adds it.
 */
#ifndef TYPING_CLAIMS_H
#define TYPING_CLAIMS_H

#include "typing/typer.h"

static inline uint32_t claim_pack(bool is_array, bool is_exact, enum source source, uint32_t type)
{
    return (is_array ? (uint32_t)CLAIM_ARRAY : 0) | (is_exact ? (uint32_t)CLAIM_EXACT : 0) |
           (uint32_t)source << CLAIM_SOURCE_SHIFT | (type + 1);
}

/* Whether two claims differ in nothing but who says so, and how exactly. */
static inline bool claim_is_same(uint32_t one, uint32_t other)
{
    return ((one ^ other) & (CLAIM_ARRAY | CLAIM_TYPE)) == 0;
}

/* Whether a claim is that of the object's malloc header. */
static inline bool claim_is_certain(uint32_t claim)
{
    return claim != 0 && (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT == SOURCE_HEADER;
}

/* Adds a claim on the object's start, which is at base. Of several threads the first one is
 * believed for now; another one's claim becomes a region, when its turn has come. */
void claim_start(struct typer *typer, uint32_t object, uint64_t base, bool is_array, bool is_exact,
                 const struct reference *reference, const struct pointer_map *map);

/* Adds a claim on a part of an object, or one more on its start. wanted has no object yet. */
void claim_region(struct typer *typer, uint32_t object, const struct region *wanted,
                  const struct pointer_map *map);

/* Notes that a string of length bytes begins at offset of an object of size bytes, without pointers
 * in it. */
void claim_text(struct typing *typing, uint32_t object, uint64_t size, uint64_t offset,
                uint64_t length);

/* Whether a reference says nothing new of a part of an object: its region is there, or it is known
 * not to fit. */
bool region_is_known(struct typer *typer, uint32_t object, uint64_t offset, bool is_array,
                     const struct reference *reference);

/* Notes that a value does not fit a part of a large object, so that it is not tried again. */
void region_refuse(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type);

/* So many pointers to different values of one type make an array of the object they lead into. */
enum { ENOUGH_FOR_ARRAY = 16 };

/* Whether as many have been seen, with this one. */
bool is_one_of_many(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type);

#endif
