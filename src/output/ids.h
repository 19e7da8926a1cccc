/*
 * ids: numbers by which DevTools' Comparison knows a node again in another snapshot of the same
 * process.
 *
 * An object's id comes from its address alone: 2 * ((address - id_base) / 8) + 1. Those of
 * synthetic nodes are even and come from what the node stands for: a goroutine's from its goid, a
 * frame's from its goroutine and its place counted from the stack's bottom. docs/snapshot.md has
 * the whole scheme.
 *
 * Of a series of dumps (go2heapsnapshot/identity.h) all ids are the series'.
 */
#ifndef OUTPUT_IDS_H
#define OUTPUT_IDS_H

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/identity.h>
#include <go2heapsnapshot/view.h>

#include "base/map.h"

/* Bytes of address per id: the smallest distance of two objects; and what the odd ids have room
 * for, in arenas. */
enum { ID_GRANULE = 8, ID_SLOTS = 256 };

/* Arenas of 64 MiB, as runtime/malloc.go has them on most systems with 64 bits: heapArenaBytes. */
enum { ID_ARENA_SHIFT = 26 };

/* An arena in use, and which of the slots of 64 MiB that the odd ids have room for it takes. */
struct id_arena {
    uint64_t arena; /* address >> ID_ARENA_SHIFT */
    uint32_t slot;
};

struct ids {
    const struct g2h_heap *heap;
    struct g2h_identity *series; /* NULL: ids by address; else nothing of what follows */
    bool turns;                  /* regions: on systems with 64 bits */
    uint64_t base;               /* of the formula above */
    struct id_arena *arenas;     /* those in use, ascending */
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

/* series: NULL, or one to which the heap has been added last. */
struct g2h_error *ids_init(struct ids *ids, const struct g2h_heap *heap,
                           struct g2h_identity *series);
void ids_deinit(struct ids *ids);

/* Whether the formula does not hold for an arena: its slot is another. */
bool ids_is_exception(const struct ids *ids, const struct id_arena *arena);

/* The slot of an arena. On 32-bit systems every address has its own id, counted from 0. */
static inline uint32_t ids_slot(const struct ids *ids, uint64_t arena)
{
    enum { REGION_SHIFT = 10 /* of arenas: 64 GiB */ };
    const uint64_t usual_region =
        UINT64_C(0xc000000000) >> ID_ARENA_SHIFT >> REGION_SHIFT; /* not turned */
    const uint64_t turn = ids->turns ? 157 * ((arena >> REGION_SHIFT) - usual_region) : 0;
    return (uint32_t)((arena + turn) % ID_SLOTS);
}

/* The place that an address has by its arena: half of an odd id. */
static inline uint64_t ids_place(const struct ids *ids, uint64_t address)
{
    const uint64_t within = address & (((uint64_t)1 << ID_ARENA_SHIFT) - 1);
    return ((uint64_t)ids_slot(ids, address >> ID_ARENA_SHIFT) << ID_ARENA_SHIFT | within) /
           ID_GRANULE;
}

/* The id of an object of the heap that begins at address. */
static inline uint32_t ids_object(const struct ids *ids, uint32_t object, uint64_t address)
{
    if (ids->series)
        return g2h_identity_object(ids->series, object);
    uint32_t place = ids->displaced.entries ? map_get(&ids->displaced, object) : MAP_NONE;
    if (place == MAP_NONE)
        place = (uint32_t)ids_place(ids, address);
    return 2 * place + 1;
}

/* An id for the part of an object that begins at an offset of it. False: no memory. */
bool ids_part(struct ids *ids, uint32_t object, uint64_t offset, uint32_t *ret);

/* An id for a node that stands for several, of a hash of these. False: no memory. */
bool ids_folded(struct ids *ids, uint64_t hash, uint32_t *ret);

/* An id for a node that is no object, of what it stands for. Of several with the same kind and key
 * each gets another one, in their order. False: no memory. */
bool ids_synthetic(struct ids *ids, enum g2h_node_kind kind, uint64_t key, uint32_t *ret);

#endif
