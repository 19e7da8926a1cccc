/*
 * map: hash tables from numbers to numbers, and sets of numbers.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ==== hashes that are the same in every run, for ids by which a later run recognizes things ====
 *
 * The writer of a dump can choose keys that collide, so these hashes are used for nothing else;
 * tables use seeded hashes.
 */

/* Hashes a number with the finalizer of splitmix64. */
static inline uint64_t id_hash(uint64_t key)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

/* Hashes a string with FNV-1a. */
static inline uint64_t id_hash_text(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* ==== a hash table ====
 *
 * A hash table from 64-bit keys (addresses) to 32-bit values (indexes), with open addressing.
 */

struct map_entry {
    uint64_t key;
    uint32_t value; /* MAP_NONE if the slot is free */
};

struct map {
    struct map_entry *entries;
    size_t mask, count; /* mask + 1 slots, a power of two; entries is NULL while empty */
};

#define MAP_NONE UINT32_MAX

/*
 * The seed is random and differs in every run, so that the writer of a dump cannot choose keys that
 * collide. Therefore no output may depend on one of these hashes or on the order of a table; ids
 * have a hash of their own.
 */
extern uint64_t map_seed[6]; /* three numbers for each of two hashes */

/* Folds the 128 bits of a product into 64. */
static inline uint64_t map_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    const uint64_t high = (a >> 32) * (b >> 32);
    const uint64_t one = (a >> 32) * (b & UINT32_MAX);
    const uint64_t other = (a & UINT32_MAX) * (b >> 32);
    const uint64_t middle = (low >> 32) + (one & UINT32_MAX) + (other & UINT32_MAX);
    return (a * b) ^ (high + (one >> 32) + (other >> 32) + (middle >> 32));
#endif
}

/* Returns the hash of a key. It multiplies twice, because one multiplication would map consecutive
 * keys to a few slots, with one seed in a hundred. */
static inline uint64_t map_hash(uint64_t key)
{
    return map_fold(map_fold(key ^ map_seed[0], map_seed[1]), map_seed[2]);
}

/* Returns a key for two numbers. Two pairs with the same key are too unlikely to matter. */
static inline uint64_t map_hash_pair(uint64_t one, uint64_t other)
{
    return map_fold(map_fold(one ^ map_seed[0], map_seed[1]) ^ other, map_seed[2]);
}

static inline uint64_t map_word(const uint8_t *at, size_t size)
{
    uint64_t word = 0;
    __builtin_memcpy(&word, at, size);
    return word;
}

/* Returns the hash of a string by three seeds. It reads the string 16 bytes at a time, and the rest
 * at the end as two words that may overlap. The size is not added to one of these words, because
 * another size and another byte could then make the same sum. */
static inline uint64_t map_hash_text_by(const uint64_t *seed, const void *data, size_t size)
{
    const uint8_t *at = data;
    const uint64_t all = size;
    uint64_t one;
    uint64_t hash = seed[0];
    uint64_t other = 0;
    for (; size > 16; at += 16, size -= 16)
        hash = map_fold(map_word(at, 8) ^ seed[1], map_word(at + 8, 8) ^ hash);
    if (size >= 8) {
        one = map_word(at, 8);
        other = map_word(at + size - 8, 8);
    } else if (size >= 4) {
        one = map_word(at, 4);
        other = map_word(at + size - 4, 4);
    } else {
        one = size > 0 ? (uint64_t)at[0] << 16 | (uint64_t)at[size / 2] << 8 | at[size - 1] : 0;
    }
    return map_fold(map_fold(one ^ seed[1], other ^ hash), seed[2] ^ all);
}

static inline uint64_t map_hash_text(const void *data, size_t size)
{
    return map_hash_text_by(map_seed, data, size);
}

/* Returns a second hash of a string, which is independent of map_hash_text(). */
static inline uint64_t map_hash_text_too(const void *data, size_t size)
{
    return map_hash_text_by(map_seed + 3, data, size);
}

/* Returns the value of key, or MAP_NONE if there is none. */
static inline uint32_t map_get(const struct map *map, uint64_t key)
{
    if (!map->entries)
        return MAP_NONE;
    for (size_t slot = (size_t)map_hash(key) & map->mask;; slot = (slot + 1) & map->mask) {
        const struct map_entry *entry = &map->entries[slot];
        if (entry->value == MAP_NONE || entry->key == key)
            return entry->value;
    }
}

/* Sets the value of key, unless it has one already. *ret is the value that the key has afterwards.
 * Returns false if memory runs out. value must not be MAP_NONE. */
bool map_put(struct map *map, uint64_t key, uint32_t value, uint32_t *ret);

/* Makes space for this many keys in an empty map. Returns false if memory runs out. */
bool map_reserve(struct map *map, size_t keys);

/* Changes the value of a key that has one. value must not be MAP_NONE: a key cannot be removed, for
 * searches for others go past it. */
void map_set(struct map *map, uint64_t key, uint32_t value);

void map_deinit(struct map *map);

/* Makes map a copy of other. Returns false if memory runs out; map is then empty. */
bool map_copy(struct map *map, const struct map *other);

/* ==== a set of numbers that are close together ====
 *
 * A number that is a multiple of 4 shares an entry of a hash table with 31 neighbors, so that the
 * table for a hundred thousand of them stays in the cache. A complete set can assign each member
 * its own rank, 0, 1, 2 … without gaps, as an index into a parallel array.
 */

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
    const uint32_t bit = 1u << (turned & 31);
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
    const uint32_t bit = 1u << (turned & 31);
    if (!set->entries)
        return NUMBER_NONE;
    const struct number_entry *entry = number_slot(set, turned >> 5);
    return (entry->bits & bit) != 0
               ? entry->rank + (uint32_t)__builtin_popcount(entry->bits & (bit - 1))
               : NUMBER_NONE;
}

void number_set_deinit(struct number_set *set);

#endif
