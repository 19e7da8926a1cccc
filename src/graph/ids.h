/*
 * ids: numbers by which DevTools' Comparison knows a node again in another snapshot of the same
 * process.
 *
 * An object's id comes from its address alone: 2 * ((address - id_base) / 8) + 1. Those of
 * synthetic nodes are even and come from what the node stands for: a goroutine's from its goid, a
 * frame's from its goroutine and its place counted from the stack's bottom. docs/snapshot.md has
 * the whole scheme.
 */
#ifndef GRAPH_IDS_H
#define GRAPH_IDS_H

#include "base/map.h"
#include "heap/heap.h"

/* Fixed ids of the synthetic nodes that there is one of. */
enum {
    ID_ROOT = 2,
    ID_GC_ROOTS = 4,
    ID_GLOBALS = 6,
    ID_DATA = 8,
    ID_BSS = 10,
    ID_GOROUTINES = 12,
    ID_FINALIZERS = 14,
    ID_QUEUED_FINALIZERS = 16,
    ID_DEFERS_AND_PANICS = 18,
    ID_OTHER_ROOTS = 20,
    ID_UNREACHABLE = 22,
    ID_OS_THREADS = 24,
    ID_ALLOCATION_SITES = 26,
    ID_FOLDED = 28,
    ID_CLEANUPS = 30,
    ID_GUESSES = 32,
    ID_PARTS = 34,
    ID_FUNCTIONS = 36,
};

/* What else synthetic nodes stand for; an id is made of this and a key. */
enum id_kind {
    ID_GOROUTINE,
    ID_FRAME,
    ID_CREATION_SITE,
    ID_FINALIZER,
    ID_QUEUED_FINALIZER,
    ID_DEFER,
    ID_PANIC,
    ID_OS_THREAD,
    ID_ALLOCATION_SITE,
    ID_PACKAGE,
    ID_FOLDED_SYNTHETICS,
    ID_CLEANUP,
    ID_PART,
    ID_FUNCTION,
};

/* Bytes of address per id: the smallest distance of two objects; and what the odd ids have room
 * for, in arenas. */
enum { ID_GRANULE = 8, ID_SLOTS = 256 };

/* An arena in use, and which of the slots of 64 MiB that the odd ids have room for it takes. */
struct id_arena {
    uint64_t arena; /* address >> ARENA_SHIFT */
    uint32_t slot;
};

/*
 * Hashes that are the same in every run, for ids are made of them. Whoever writes a dump can choose
 * keys that collide, so they are for nothing else. id_hash() is the finaliser of splitmix64, that
 * of a text FNV-1a.
 */
static inline uint64_t id_hash(uint64_t key)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return key ^ (key >> 31);
}

static inline uint64_t id_hash_text(const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

struct ids {
    const struct g2h_heap *heap;
    uint64_t base;           /* of the formula above */
    struct id_arena *arenas; /* those in use, ascending */
    size_t arena_count;
    struct id_arena *by_slot; /* the same, those of slot i at [slot_begin[i], slot_begin[i + 1]) */
    size_t slot_begin[ID_SLOTS + 1];
    struct map crowd;     /* place → the lowest object there, in slots that many arenas share */
    struct map displaced; /* object → place, of objects whose own place a lower object has */
    struct map hashed;    /* places of those, and of parts */
    struct map taken;     /* ids of synthetic nodes */
    struct map attempts;  /* key → how often a place or an id was looked for, where once was not
                             enough */
};

struct g2h_error *ids_init(struct ids *ids, const struct g2h_heap *heap);
void ids_deinit(struct ids *ids);

/* Whether the formula does not hold for an arena: its slot is another. */
bool ids_is_exception(const struct ids *ids, const struct id_arena *arena);

/* The id of an object. */
uint32_t ids_object(const struct ids *ids, uint32_t object);

/* An id for the part of an object that begins at address. False: no memory. */
bool ids_part(struct ids *ids, uint64_t address, uint32_t *ret);

/* An id for a node that stands for several objects, of a hash of these. False: no memory. */
bool ids_folded(struct ids *ids, uint64_t hash, uint32_t *ret);

/* An id for a synthetic node, of what it stands for. The same key gets another one each time, in
 * the same order. False: no memory. */
bool ids_synthetic(struct ids *ids, enum id_kind kind, uint64_t key, uint32_t *ret);

#endif
