/*
 * number_set: a set of 64-bit numbers that lie close together in places, as offsets in one kind of
 * object do. Numbers that are multiples of 4 share an entry of a hash table with 31 neighbours, so
 * that the table of a hundred thousand of them stays in the cache. Once it is complete, a set can
 * give each member a place of its own, from 0 on without gaps, for an array beside it.
 */
#ifndef BASE_NUMBER_SET_H
#define BASE_NUMBER_SET_H

#include "base/map.h"

struct number_entry {
    uint64_t group;  /* what its numbers have in common */
    uint32_t bits;   /* a bit for each that is a member; 0 where the slot is free */
    uint32_t places; /* the place of the first of these */
};

struct number_set {
    struct number_entry *entries;
    size_t mask, used; /* mask + 1 slots, a power of two; entries NULL while empty */
    size_t count;      /* members */
};

#define NUMBER_NONE UINT32_MAX

/* The lowest two bits, which are mostly 0, go to the top; the lowest five are then the bit. */
static inline uint64_t number_turned(uint64_t number)
{
    return number >> 2 | number << 62;
}

/* The slot of a group: its own, or the free one where it would be. There must be entries. */
static inline struct number_entry *number_slot(const struct number_set *set, uint64_t group)
{
    size_t slot = (size_t)map_hash(group) & set->mask;
    while (set->entries[slot].bits != 0 && set->entries[slot].group != group)
        slot = (slot + 1) & set->mask;
    return &set->entries[slot];
}

/* Adds a number whose group is new. False where there is no memory. */
bool number_set_add_group(struct number_set *set, uint64_t number);

/* Adds a number, if it is not a member yet. False where there is no memory. */
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

/* Brings to the cache what number_set_add() and number_set_find() will look at. */
static inline void number_set_prefetch(const struct number_set *set, uint64_t number)
{
    if (set->entries)
        __builtin_prefetch(&set->entries[(size_t)map_hash(number_turned(number) >> 5) & set->mask]);
}

/* Writes all members, in no order, to ret, which has room for count numbers. */
void number_set_members(const struct number_set *set, uint64_t *ret);

/* Gives the members their places; any number that is added takes them away. */
void number_set_place(struct number_set *set);

/* The place of a number, NUMBER_NONE where it is no member. */
static inline uint32_t number_set_find(const struct number_set *set, uint64_t number)
{
    const uint64_t turned = number_turned(number);
    const uint32_t bit = (uint32_t)1 << (turned & 31);
    if (!set->entries)
        return NUMBER_NONE;
    const struct number_entry *entry = number_slot(set, turned >> 5);
    return (entry->bits & bit) != 0
               ? entry->places + (uint32_t)__builtin_popcount(entry->bits & (bit - 1))
               : NUMBER_NONE;
}

void number_set_deinit(struct number_set *set);

#endif
