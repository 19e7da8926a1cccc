/*
 * index: finds the object that contains an address, in two steps that mostly stay in the cache.
 *
 * The address space of objects is divided into arenas of 64 MiB (Go's own size on 64-bit systems),
 * of which only those in use have tables, and each arena into pages of 8 KiB. In a page of a Go
 * heap all slots have one size. A page has the offset of its first slot; its groups of 64 slots
 * have a bit per slot for those that hold an object, and the number of the first of these objects.
 * A lookup need not read the objects, or anything as large as they are.
 */
#ifndef HEAP_INDEX_H
#define HEAP_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    ARENA_SHIFT = 26,
    INDEX_PAGE_SHIFT = 13,
    INDEX_PAGE = 1 << INDEX_PAGE_SHIFT,
    INDEX_PAGES = 1 << (ARENA_SHIFT - INDEX_PAGE_SHIFT), /* of an arena */
    INDEX_GROUP = 64                                     /* slots of a group */
};

/*
 * An object in 16 bytes, so that one cache line has all that a lookup needs. The lower
 * SLOT_CLASS_BITS of contents_and_class are the number of its slot class; the upper bits are the
 * offset of its contents in the input.
 */
struct heap_object {
    uint64_t address, contents_and_class;
};
enum { SLOT_CLASS_BITS = 24 };
#define SLOT_CLASS_LIMIT (UINT64_C(1) << SLOT_CLASS_BITS)
#define OFFSET_LIMIT     (UINT64_C(1) << (64 - SLOT_CLASS_BITS))

struct index_group {
    uint64_t slots; /* a bit for each slot that holds an object */
    uint32_t first; /* the number of the first of these objects */
};

struct index_page {
    uint32_t first;      /* the number of the first object that starts at or after the page's
                            start */
    uint32_t groups;     /* its first group among those of the arena */
    uint32_t reciprocal; /* 2^32 / size of a slot, rounded down, plus 1; 1 if slots are not smaller
                            than a page, or no object starts in the page; INDEX_IRREGULAR: objects
                            are not in slots of one size */
    uint16_t begin;   /* offset of the first slot that starts in the page; INDEX_PAGE if no object
                         starts in the page, or objects are not in slots of one size */
    uint16_t covered; /* number of bytes that belong to the object before the first */
};
enum { INDEX_IRREGULAR = 0 };

struct index_arena {
    struct index_page *pages; /* INDEX_PAGES of them; NULL if the arena has too few objects for a
                                 table to be worth it */
    struct index_group *groups;
};

struct object_index {
    uint64_t low, high; /* every object is in [low, high) */
    const struct heap_object *objects;
    uint32_t object_count;
    uint64_t *sizes;      /* sizes of objects, by slot class */
    uint64_t first_arena; /* address >> ARENA_SHIFT of the lowest arena */
    size_t arena_count;   /* number of arenas in use; 0: too many, so lookups search all objects */
    uint64_t *arenas;     /* their numbers, address >> ARENA_SHIFT, ascending */
    struct index_arena *tables;
    struct index_arena *directory; /* a copy of tables, by arena number - first_arena; NULL if the
                                      arenas are too far apart */
};

/*
 * Builds the index of count objects with ascending addresses that do not overlap. objects must not
 * move. sizes has the sizes of objects, by slot class. Only arenas with objects cost memory; if
 * there are many arenas with few objects, the index takes no more memory than the objects.
 */
struct g2h_error *index_init(struct object_index *index, const struct heap_object *objects,
                             uint32_t count, const uint64_t *sizes, size_t slot_class_count,
                             unsigned threads);
void index_deinit(struct object_index *index);

/* Returns the index of an arena among those in use, or SIZE_MAX if it is not in use. */
size_t index_arena(const struct object_index *index, uint64_t arena);

/* Returns the first object, from number `from` on, that starts at or after address, or the number
 * of all objects if there is none. */
uint32_t index_first(const struct object_index *index, uint32_t from, uint64_t address);

/* Returns the object that contains an address, by bisection over all objects; UINT32_MAX if there
 * is none. */
uint32_t index_find_slowly(const struct object_index *index, uint64_t address);

/* Returns the tables for the arena of an address in [low, high), or NULL if it has none. */
static inline const struct index_arena *index_table(const struct object_index *index,
                                                    uint64_t address)
{
    const uint64_t number = address >> ARENA_SHIFT;
    const size_t arena =
        index->directory ? (size_t)(number - index->first_arena) : index_arena(index, number);
    const struct index_arena *tables = index->directory ? index->directory : index->tables;
    return arena != SIZE_MAX && tables[arena].pages ? &tables[arena] : NULL;
}

static inline const struct index_page *index_page(const struct index_arena *arena, uint64_t address)
{
    return &arena->pages[(address & ((1u << ARENA_SHIFT) - 1)) >> INDEX_PAGE_SHIFT];
}

/* Returns the slot of an address at or after the page's begin. */
static inline uint32_t index_slot(const struct index_page *page, uint64_t address)
{
    const uint32_t offset = (uint32_t)(address & (INDEX_PAGE - 1)) - page->begin;
    return (uint32_t)((uint64_t)offset * page->reciprocal >> 32);
}

/* Returns the size of the slots around an address, or 0 if only objects determine it. */
static inline uint64_t index_slot_size(const struct object_index *index, uint64_t address)
{
    const struct index_arena *arena =
        address - index->low < index->high - index->low ? index_table(index, address) : NULL;
    const uint64_t reciprocal = arena ? index_page(arena, address)->reciprocal : INDEX_IRREGULAR;
    return reciprocal <= 1 ? 0 : ((UINT64_C(1) << 32) + reciprocal - 1) / reciprocal;
}

/* Returns the object in a slot of the page that the group belongs to, or UINT32_MAX if there is
 * none. */
static inline uint32_t index_in_group(const struct index_group *group, uint32_t slot)
{
    const uint64_t bit = UINT64_C(1) << slot % INDEX_GROUP;
    return (group->slots & bit) != 0 ? group->first + bits_of_word(group->slots & (bit - 1))
                                     : UINT32_MAX;
}

/* Returns the object that contains address, or UINT32_MAX if there is none. */
static inline uint32_t index_find(const struct object_index *index, uint64_t address)
{
    if (address - index->low >= index->high - index->low)
        return UINT32_MAX;
    const struct index_arena *arena = index_table(index, address);
    if (!arena)
        return index_find_slowly(index, address);
    const struct index_page *page = index_page(arena, address);
    const uint32_t offset = address & (INDEX_PAGE - 1);
    if (offset < page->covered)
        return page->first - 1;
    if (page->reciprocal == INDEX_IRREGULAR)
        return index_find_slowly(index, address);
    if (offset < page->begin)
        return UINT32_MAX;
    const uint32_t slot = index_slot(page, address);
    return index_in_group(&arena->groups[page->groups + slot / INDEX_GROUP], slot);
}

/* Does what index_find() does, for at most INDEX_MANY addresses in [low, high) at a time: it
 * prefetches the memory that all lookups need before it waits for the first one. */
enum { INDEX_MANY = 64 };
void index_find_many(const struct object_index *index, const uint64_t *addresses, size_t count,
                     uint32_t *ret);

#endif
