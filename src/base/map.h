/* map: from 64-bit keys (addresses) to 32-bit values (indexes), by open addressing. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    uint64_t key;
    uint32_t value; /* MAP_NONE where the slot is free */
};

struct map {
    struct map_entry *entries;
    size_t mask, count; /* mask + 1 slots, a power of two; entries NULL while empty */
};

#define MAP_NONE UINT32_MAX

/*
 * The seed is random and another one in every run, so that nobody who writes a dump can choose keys
 * that collide. Therefore no output may depend on a hash, nor on the order of a table; ids have a
 * hash of their own.
 */
extern uint64_t map_seed[6]; /* three for each of two hashes */

/* Folds the 128 bits of a product into 64. */
static inline uint64_t map_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), high = (a >> 32) * (b >> 32);
    const uint64_t one = (a >> 32) * (b & UINT32_MAX), other = (a & UINT32_MAX) * (b >> 32);
    const uint64_t middle = (low >> 32) + (one & UINT32_MAX) + (other & UINT32_MAX);
    return (a * b) ^ (high + (one >> 32) + (other >> 32) + (middle >> 32));
#endif
}

/* The hash of a key. It is folded twice: once would let keys in a row meet in a few slots, with one
 * seed of a hundred. */
static inline uint64_t map_hash(uint64_t key)
{
    return map_fold(map_fold(key ^ map_seed[0], map_seed[1]), map_seed[2]);
}

/* A key for two numbers. That two pairs get the same one is too unlikely to happen. */
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

/* The hash of a text by three seeds. It is read 16 bytes at a time; what is left at its end is read
 * as two words that may overlap. The size is not added to one of these: then another size and
 * another byte would make the same sum. */
static inline uint64_t map_hash_text_by(const uint64_t *seed, const void *data, size_t size)
{
    const uint8_t *at = data;
    const uint64_t all = size;
    uint64_t hash = seed[0], one, other = 0;
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

/* Another hash, which has nothing to do with the first one. */
static inline uint64_t map_hash_text_too(const void *data, size_t size)
{
    return map_hash_text_by(map_seed + 3, data, size);
}

/* The value of key, MAP_NONE where it has none. */
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

/*
 * Gives key the value, unless it has one already. *ret is the value it has then. False where there
 * is no memory. value must not be MAP_NONE.
 */
bool map_put(struct map *map, uint64_t key, uint32_t value, uint32_t *ret);

/* Makes room for so many keys in an empty map. False where there is no memory. */
bool map_reserve(struct map *map, size_t keys);

/* Changes the value of a key that has one. */
void map_set(struct map *map, uint64_t key, uint32_t value);

void map_deinit(struct map *map);

/* Makes a map a copy of another. False where there is no memory; then it is empty. */
bool map_copy(struct map *map, const struct map *other);

#endif
