/*
 * number_set: a set of 64-bit numbers that are close together in runs, as offsets in one kind of
 * object are. A number that is a multiple of 4 shares an entry of a hash table with 31 neighbors,
 * so that the table for a hundred thousand of them stays in the cache. A complete set can assign
 * each member its own rank, 0, 1, 2 … without gaps, as an index into a parallel array.
 */
#ifndef BASE_NUMBER_SET_H
#define BASE_NUMBER_SET_H

#include "base/map.h"

struct number_entry {
    uint64_t group; /* the upper bits that the entry's numbers have in common */
    uint32_t bits;  /* a bit for each number that is a member; 0 if the slot is free */
    uint32_t rank;  /* the rank of the entry's first member */
};

struct number_set {
    struct number_entry *entries;
    size_t mask, used; /* mask + 1 slots, a power of two; entries is NULL while empty */
    size_t count;      /* number of members */
};

#define NUMBER_NONE UINT32_MAX

/* Rotates the lowest two bits, which are mostly 0, to the top; the lowest five bits of the result
 * select the bit of an entry. */
static inline uint64_t number_turned(uint64_t number)
{
    return number >> 2 | number << 62;
}

/* Returns the slot of a group, or the free one where it belongs. There must be entries. */
static inline struct number_entry *number_slot(const struct number_set *set, uint64_t group)
{
    size_t slot = (size_t)map_hash(group) & set->mask;
    while (set->entries[slot].bits != 0 && set->entries[slot].group != group)
        slot = (slot + 1) & set->mask;
    return &set->entries[slot];
}

/* Adds a number whose group is new. Returns false if memory runs out. */
bool number_set_add_group(struct number_set *set, uint64_t number);

/* Adds a number, unless it is a member already. Returns false if memory runs out. */
static inline bool number_set_add(struct number_set *set, uint64_t number)
{
    const uint64_t turned = number_turned(number);
    const uint32_t bit = (uint32_t)1 << (turned & 31);
    if (!set->entries)
        return number_set_add_group(set, number);
    struct number_entry *entry = number_slot(set, turned >> 5);
    if (entry->bits == 0)
        return number_set_add_group(set, number);
    set->count += (entry->bits & bit) == 0;
    entry->bits |= bit;
    return true;
}

/* Prefetches the entry that number_set_add() and number_set_find() will read. */
static inline void number_set_prefetch(const struct number_set *set, uint64_t number)
{
    if (set->entries)
        __builtin_prefetch(&set->entries[(size_t)map_hash(number_turned(number) >> 5) & set->mask]);
}

/* Writes all members, in no particular order, to ret, which has space for count numbers. */
void number_set_members(const struct number_set *set, uint64_t *ret);

/* Assigns the members their ranks, which are valid until the next number is added. */
void number_set_rank(struct number_set *set);

/* Returns the rank of a number, or NUMBER_NONE if it is not a member. */
static inline uint32_t number_set_find(const struct number_set *set, uint64_t number)
{
    const uint64_t turned = number_turned(number);
    const uint32_t bit = (uint32_t)1 << (turned & 31);
    if (!set->entries)
        return NUMBER_NONE;
    const struct number_entry *entry = number_slot(set, turned >> 5);
    return (entry->bits & bit) != 0
               ? entry->rank + (uint32_t)__builtin_popcount(entry->bits & (bit - 1))
               : NUMBER_NONE;
}

void number_set_deinit(struct number_set *set);

#endif
