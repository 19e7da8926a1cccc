/*
 * id_hash: hashes that are the same in every run, for ids by which a later run recognizes things.
 *
 * The writer of a dump can choose keys that collide, so these hashes are used for nothing else;
 * tables use seeded hashes (map.h).
 */
#ifndef BASE_ID_HASH_H
#define BASE_ID_HASH_H

#include <stddef.h>
#include <stdint.h>

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

#endif
