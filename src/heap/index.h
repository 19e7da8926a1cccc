/*
 * index: from an address to the object that may hold it, in a step or two.
 *
 * The address space that objects use is cut into arenas of 64 MiB (of Go's own size on 64-bit
 * systems), of which only those in use have entries, and each arena into granules of 128 bytes or
 * more. A granule knows the first object that starts in it or after; what is left is a search among
 * the objects of one granule.
 */
#ifndef HEAP_INDEX_H
#define HEAP_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { ARENA_SHIFT = 26 };

/*
 * An object, in 16 bytes, so that one line of the cache has all that is looked up of it: the number
 * of its shape in the lower SHAPE_BITS of place, above them where its contents are in the input.
 */
struct heap_object {
    uint64_t address, place;
};
enum { SHAPE_BITS = 24 };
#define SHAPE_LIMIT  ((uint64_t)1 << SHAPE_BITS)
#define OFFSET_LIMIT ((uint64_t)1 << (64 - SHAPE_BITS))

struct object_index {
    uint64_t low, high; /* every object lies in [low, high) */
    uint32_t object_count;
    unsigned granule_shift; /* 0: no granules, search among all objects */
    uint64_t first_arena;   /* address >> ARENA_SHIFT of the lowest arena */
    size_t arena_count;     /* arenas in use */
    uint64_t *arenas;       /* their numbers, address >> ARENA_SHIFT, ascending */
    uint32_t *
        directory; /* arena number - first_arena → place among arenas, or UINT32_MAX; may be NULL */
    uint32_t *granules; /* first object at or after each granule of each arena in use, and one entry
                           more */
    size_t granule_count;
};

/*
 * Builds the index of count objects with ascending addresses. size_of gives an object's size; only
 * the arenas that the objects lie in cost memory, and granules get larger where arenas are nearly
 * empty.
 */
struct g2h_error *index_init(struct object_index *index, const struct heap_object *objects,
                             uint32_t count,
                             uint64_t (*size_of)(const void *context, uint32_t object),
                             const void *context, unsigned threads);
void index_deinit(struct object_index *index);

/* The place of an arena among those in use, SIZE_MAX where it is not in use. */
size_t index_arena(const struct object_index *index, uint64_t arena);

/* The last of the objects [from, to) that starts at or before address; from - 1 where none does. */
static inline uint32_t index_search(const struct heap_object *objects, uint32_t from, uint32_t to,
                                    uint64_t address)
{
    uint32_t count = to - from;
    while (count > 0) { /* without a branch that depends on the address: it would be guessed wrong
                           half the time */
        uint32_t half = count / 2;
        uint32_t above =
            0 - (uint32_t)(objects[from + half].address <= address); /* all bits or none */
        from += (half + 1) & above;
        count = ((count - half - 1) & above) | (half & ~above);
    }
    return from - 1;
}

/* The granule of an address in [low, high); SIZE_MAX where its arena is not in use. */
static inline size_t index_granule(const struct object_index *index, uint64_t address)
{
    size_t arena = index->directory
                       ? index->directory[(address >> ARENA_SHIFT) - index->first_arena]
                       : index_arena(index, address >> ARENA_SHIFT);
    if (arena >= index->arena_count)
        return SIZE_MAX;
    return (arena << (ARENA_SHIFT - index->granule_shift)) |
           (size_t)((address & ((1u << ARENA_SHIFT) - 1)) >> index->granule_shift);
}

/* The last object that starts at or before address, which may hold it; UINT32_MAX where no object
 * can. */
static inline uint32_t index_candidate(const struct object_index *index,
                                       const struct heap_object *objects, uint64_t address)
{
    if (address - index->low >= index->high - index->low)
        return UINT32_MAX;
    if (!index->granules)
        return index_search(objects, 0, index->object_count, address);
    size_t granule = index_granule(index, address);
    if (granule == SIZE_MAX)
        return UINT32_MAX;
    return index_search(objects, index->granules[granule], index->granules[granule + 1], address);
}

/* Two steps that bring to the cache what index_candidate() will read of an address in [low, high).
 */
static inline void index_prefetch(const struct object_index *index, uint64_t address)
{
    size_t granule = index->granules ? index_granule(index, address) : SIZE_MAX;
    if (granule != SIZE_MAX)
        __builtin_prefetch(&index->granules[granule]);
}

static inline void index_prefetch_objects(const struct object_index *index,
                                          const struct heap_object *objects, uint64_t address)
{
    size_t granule = index->granules ? index_granule(index, address) : SIZE_MAX;
    if (granule == SIZE_MAX)
        return;
    uint32_t from = index->granules[granule], to = index->granules[granule + 1];
    __builtin_prefetch(&objects[from]); /* mostly one line of the cache, at times two */
    __builtin_prefetch(&objects[to]);
}

#endif
