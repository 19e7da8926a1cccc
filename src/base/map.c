/*
 * map: a hash table from numbers to numbers, with linear search, and a set of numbers that are
 * close together; see map.h. The set keeps groups of 32 numbers, a bit each, in a table by group;
 * when it is complete it gives each number a rank.
 */
#include "base/map.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "base/memory.h"
#include "base/port.h"

enum { FIRST_SLOTS = 64 }; /* of a map or set; a power of two */

/* ==== a hash table ==== */

uint64_t map_seed[6];

/* Sets map_seed to random numbers or, if the system has none, to what differs between runs: the
 * time, and addresses that the system chose. Runs before main(), when no map exists yet, so that
 * all threads use the same seed. */
__attribute__((constructor)) static void choose_seed(void)
{
    if (port_random(map_seed, sizeof(map_seed), false) != 0) {
        struct timespec now; /* the kernel lacks getrandom(), or has just started */
        clock_gettime(CLOCK_REALTIME, &now);
        map_seed[0] ^= (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
        map_seed[1] ^= (uint64_t)(uintptr_t)&now * 0x9e3779b97f4a7c15;
        map_seed[2] ^= (uint64_t)(uintptr_t)malloc * 0xd1342543de82ef95;
        for (size_t i = 3; i < 6; i++)
            map_seed[i] ^= map_seed[i - 3] * 0x9fb21c651e98df25;
    }
    for (size_t i = 0; i < 6; i++)
        if (i % 3 != 0)
            map_seed[i] |= UINT64_C(1) << 63 | 1; /* factors: neither small nor even */
}

/* Returns the slot that has a key, or the free one where it belongs: it searches linearly from the
 * key's hash on. */
static struct map_entry *map_find(struct map_entry *entries, size_t mask, uint64_t key)
{
    size_t slot = (size_t)map_hash(key) & mask;
    while (entries[slot].value != MAP_NONE && entries[slot].key != key)
        slot = (slot + 1) & mask;
    return &entries[slot];
}

/* Moves all entries to a table with more slots, a power of two. Returns false if memory runs
 * out. */
static bool map_grow(struct map *map, size_t slots)
{
    struct map_entry *entries = block_alloc(slots, sizeof(*entries));
    if (!entries)
        return false;
    memset(entries, 0xff, slots * sizeof(*entries)); /* .value is MAP_NONE */
    for (size_t i = 0; map->entries && i <= map->mask; i++)
        if (map->entries[i].value != MAP_NONE)
            *map_find(entries, slots - 1, map->entries[i].key) = map->entries[i];
    free(map->entries);
    map->entries = entries;
    map->mask = slots - 1;
    return true;
}

/* Sets a value unless the key has one; *ret is the value it then has. At most half of the slots are
 * used, so that searches stay short. Returns false if memory runs out. */
bool map_put(struct map *map, uint64_t key, uint32_t value, uint32_t *ret)
{
    assert(value != MAP_NONE);
    if ((!map->entries || map->count * 2 > map->mask) &&
        !map_grow(map, map->entries ? (map->mask + 1) * 2 : FIRST_SLOTS))
        return false;
    struct map_entry *entry = map_find(map->entries, map->mask, key);
    if (entry->value == MAP_NONE) {
        *entry = (struct map_entry){key, value};
        map->count++;
    }
    *ret = entry->value;
    return true;
}

/* Makes room for this many keys in an empty map, of which they fill half at most. Returns false if
 * memory runs out. */
bool map_reserve(struct map *map, size_t keys)
{
    assert(map->count == 0);
    size_t slots = FIRST_SLOTS;
    while (slots / 2 <= keys)
        slots *= 2;
    return map_grow(map, slots);
}

/* Changes the value of a key that has one. value must not be MAP_NONE: a key cannot be removed, for
 * searches for others go past it. */
void map_set(struct map *map, uint64_t key, uint32_t value)
{
    struct map_entry *entry = map_find(map->entries, map->mask, key);
    assert(entry->value != MAP_NONE && value != MAP_NONE);
    entry->value = value;
}

/* Makes map a copy of other. Returns false, and leaves map empty, if memory runs out. */
bool map_copy(struct map *map, const struct map *other)
{
    *map = *other;
    if (!other->entries)
        return true;
    map->entries = memory_copy(other->entries, other->mask + 1, sizeof(*other->entries));
    if (!map->entries)
        *map = (struct map){0};
    return map->entries != NULL;
}

void map_deinit(struct map *map)
{
    free(map->entries);
    *map = (struct map){0};
}

/* ==== a set of numbers that are close together ==== */

/* Doubles the table, or makes one of FIRST_SLOTS, and moves all entries. Returns false if memory
 * runs out; the set stays as it was. */
static bool number_set_grow(struct number_set *set)
{
    const size_t slots = set->entries ? (set->mask + 1) * 2 : FIRST_SLOTS;
    const struct number_set old = *set;
    struct number_entry *entries = zeroed_alloc(slots, sizeof(*entries));
    if (!entries)
        return false;
    set->entries = entries;
    set->mask = slots - 1;
    for (size_t i = 0; old.entries && i <= old.mask; i++)
        if (old.entries[i].bits != 0)
            *number_slot(set, old.entries[i].group) = old.entries[i];
    free(old.entries);
    return true;
}

/* Adds a number whose group is new. At most half of the slots are used, so that searches stay
 * short. Returns false if memory runs out. */
bool number_set_add_group(struct number_set *set, uint64_t number)
{
    const uint64_t turned = number_turned(number);
    if ((!set->entries || set->used * 2 > set->mask) && !number_set_grow(set))
        return false;
    *number_slot(set, turned >> 5) =
        (struct number_entry){.group = turned >> 5, .bits = 1u << (turned & 31)};
    set->used++;
    set->count++;
    return true;
}

/* Writes all members of the set to ret. Undoes number_turned() for each bit. */
void number_set_members(const struct number_set *set, uint64_t *ret)
{
    for (size_t i = 0; set->entries && i <= set->mask; i++)
        for (uint32_t bits = set->entries[i].bits; bits != 0; bits &= bits - 1) {
            const uint64_t turned = set->entries[i].group << 5 | lowest_bit(bits);
            *ret++ = turned << 2 | turned >> 62;
        }
}

/* Sets how many members come before those of each entry. Then a member's rank is known from its
 * entry alone. */
void number_set_rank(struct number_set *set)
{
    uint32_t rank = 0;
    for (size_t i = 0; set->entries && i <= set->mask; i++) {
        set->entries[i].rank = rank;
        rank += bits_of_word(set->entries[i].bits);
    }
    assert(rank == set->count);
}

void number_set_deinit(struct number_set *set)
{
    free(set->entries);
    *set = (struct number_set){0};
}
