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

/* A good mixer of 64 bits into 64 (the finaliser of splitmix64). */
static inline uint64_t map_hash(uint64_t key)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

/* FNV-1a: a key for a text. The same in every run, so ids may be made of it. */
static inline uint64_t map_hash_bytes(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* A faster hash of a text, for tables within one run. */
static inline uint64_t map_hash_text(const void *data, size_t size)
{
    const uint64_t multiplier = 0x9fb21c651e98df25u;
    const uint8_t *at = data;
    uint64_t hash = size * multiplier, word;
    for (; size >= 8; at += 8, size -= 8) {
        __builtin_memcpy(&word, at, 8);
        hash = (hash ^ word) * multiplier;
        hash ^= hash >> 32;
    }
    for (word = 0; size > 0; size--)
        word = word << 8 | at[size - 1];
    hash = (hash ^ word) * multiplier;
    return hash ^ hash >> 29;
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

/* Changes the value of a key that has one. */
void map_set(struct map *map, uint64_t key, uint32_t value);

void map_deinit(struct map *map);

#endif
