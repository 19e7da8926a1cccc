/*
 * ids: numbers by which DevTools' Comparison recognizes a node in another snapshot of the same
 * process.
 */
#ifndef OUTPUT_IDS_H
#define OUTPUT_IDS_H

#include <assert.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/identity.h>
#include <go2heapsnapshot/view.h>

#include "base/map.h"

/* ==== ids of objects ====
 *
 * Numbers by which DevTools' Comparison recognizes a node in another snapshot of the same process.
 *
 * An object's id comes from its address alone: 2 * ((address - id_base) / 8) + 1. The ids of
 * synthetic nodes are even and come from what the node stands for: a goroutine's id comes from its
 * goid, a frame's from its goroutine and its position counted from the bottom of the stack.
 * docs/snapshot-format.md has the whole scheme.
 *
 * In a series of dumps (go2heapsnapshot/identity.h) all ids are those of the series.
 *
 * In a timeline the ids of objects ascend with the collection since which they live, as those of V8
 * ascend with the time of allocation. They hold for no other snapshot.
 */

/* The most bytes of a node in a snapshot, whose cells have 32 bits: larger objects continue in
 * further nodes, their parts. */
#define IDS_PART 0xfffffff8u

/* Bytes of address per id, which is the smallest distance between two objects; and the number of
 * arenas for which there are odd ids. */
enum { ID_GRANULE = 8, ID_SLOTS = 256 };

/* Arenas have 64 MiB, as on most 64-bit systems: heapArenaBytes in runtime/malloc.go. */
enum { ID_ARENA_SHIFT = 26 };

/* An arena in use, and which of the ID_SLOTS slots of 64 MiB it takes. */
struct id_arena {
    uint64_t arena; /* address >> ID_ARENA_SHIFT */
    uint32_t slot;
};

struct ids {
    const struct g2h_heap *heap;
    struct g2h_identity *series; /* NULL: ids come from addresses, by the fields below */
    uint32_t *by_age;            /* object → position in a timeline; NULL: it is none */
    uint32_t *age_ends; /* of a timeline: look → the end of its positions; 0: of all whose age is
                         * known; see ids_age_id() */
    uint32_t unaged;    /* of a timeline: the next position of what has no age */
    bool turns;         /* whether ranges are turned: on 64-bit systems */
    uint64_t base;      /* id_base of the formula above */
    struct id_arena *arenas; /* the arenas in use, ascending */
    size_t arena_count;
    struct id_arena *by_slot; /* arenas by slot: slot i has [slot_begin[i], slot_begin[i + 1]) */
    size_t slot_begin[ID_SLOTS + 1];
    struct map crowd; /* position → the lowest object there, in slots that many arenas share */
    struct map displaced; /* object → position, of objects whose own position a lower object has */
    struct map hashed;    /* the positions of displaced objects, of parts and of folded nodes */
    struct map taken;     /* the ids of synthetic nodes */
    struct map attempts; /* key → the attempt to continue with, for keys whose first attempt hit a
                          * used position or id */
};

/* series: NULL, or the series to which this heap was added last. */
struct g2h_error *ids_init(struct ids *ids, const struct g2h_heap *heap,
                           struct g2h_identity *series);

/* Numbers the objects of a heap by age, for a timeline: g2h_heap_ages() are known. Those whose own
 * age is not known follow all others. Error: G2H_ERROR_MEMORY. */
struct g2h_error *ids_init_by_age(struct ids *ids, const struct g2h_heap *heap);

void ids_deinit(struct ids *ids);

/* Returns the last id of a timeline's objects that a look saw first, or an earlier one; of look 0,
 * of those that have not survived a collection. */
static inline uint32_t ids_age_id(const struct ids *ids, unsigned look)
{
    assert(ids->age_ends);
    return ids->age_ends[look] > 0 ? 2 * ids->age_ends[look] - 1 : 0;
}

/* Returns whether the formula does not hold for an arena, because its slot is not the formula's. */
bool ids_is_exception(const struct ids *ids, const struct id_arena *arena);

/* Returns the slot of an arena. On 32-bit systems every address has its own id, counted from 0. */
static inline uint32_t ids_slot(const struct ids *ids, uint64_t arena)
{
    enum { RANGE_SHIFT = 10 /* arenas per range, as a shift: 64 GiB */ };
    const uint64_t usual_range =
        UINT64_C(0xc000000000) >> ID_ARENA_SHIFT >> RANGE_SHIFT; /* the one that is not turned */
    const uint64_t turn = ids->turns ? 157 * ((arena >> RANGE_SHIFT) - usual_range) : 0;
    return (uint32_t)((arena + turn) % ID_SLOTS);
}

/* Returns the position of an address, which its arena's slot decides. A position's id is 2 *
 * position + 1.
 */
static inline uint64_t ids_position(const struct ids *ids, uint64_t address)
{
    const uint64_t within = address & ((UINT64_C(1) << ID_ARENA_SHIFT) - 1);
    return ((uint64_t)ids_slot(ids, address >> ID_ARENA_SHIFT) << ID_ARENA_SHIFT | within) /
           ID_GRANULE;
}

/* Returns the id of an object of the heap that begins at address. */
static inline uint32_t ids_object(const struct ids *ids, uint32_t object, uint64_t address)
{
    if (ids->series)
        return g2h_identity_object(ids->series, object);
    if (ids->by_age)
        return 2 * ids->by_age[object] + 1;
    uint32_t position = ids->displaced.entries ? map_get(&ids->displaced, object) : MAP_NONE;
    if (position == MAP_NONE)
        position = (uint32_t)ids_position(ids, address);
    return 2 * position + 1;
}

/* Finds an id for the part of an object that begins at an offset. Returns false if memory runs out,
 * or the series has no ids left. */
bool ids_part(struct ids *ids, uint32_t object, uint64_t offset, uint32_t *ret);

/* Finds an id for a node that stands for several nodes, from a hash of these nodes; in a timeline
 * the next one after those of all objects. Returns false if memory runs out, or the series has no
 * ids left. */
bool ids_folded(struct ids *ids, uint64_t hash, uint32_t *ret);

/* Finds an id for a node that is not an object, from what the node stands for. If several nodes
 * have the same kind and key, each gets another id, in the order of the calls. Returns false if
 * memory runs out, or the series has no ids left. */
bool ids_synthetic(struct ids *ids, enum g2h_node_kind kind, uint64_t key, uint32_t *ret);

/* ==== the ids of all nodes of a view ==== */

struct node_ids {
    const struct g2h_view *view;
    struct ids ids;
    uint32_t first_object, first_folded; /* numbers of nodes */
    uint32_t *synthetic, *folded;
    uint32_t *hidden; /* ids of folded nodes' members that are not objects, in their order */
};

/* series: NULL, or the series to which the view's heap was added last. node_ids must be passed to
 * node_ids_deinit() also after an error. Error: G2H_ERROR_MEMORY. */
struct g2h_error *node_ids_init(struct node_ids *node_ids, const struct g2h_view *view,
                                struct g2h_identity *series);

/* The same with the ids of a timeline: see ids_init_by_age(). */
struct g2h_error *node_ids_init_by_age(struct node_ids *node_ids, const struct g2h_view *view);

void node_ids_deinit(struct node_ids *node_ids);

/* Returns the id of the view's node of this number. */
static inline uint32_t node_ids_of(const struct node_ids *node_ids, uint32_t number,
                                   const struct g2h_node *node)
{
    if (node->object != UINT32_MAX)
        return ids_object(&node_ids->ids, node->object, node->address);
    return number < node_ids->first_object ? node_ids->synthetic[number]
                                           : node_ids->folded[number - node_ids->first_folded];
}

#endif
