/*
 * ids; see ids.h.
 *
 * Odd ids: 2^31 of them, one for each 8 bytes of 16 GiB. That space is cut into 256 slots of one arena (64 MiB) each, and
 * an arena's slot is a function of its address and nothing else, so that two dumps of one process agree whatever else
 * has come into use in between, above or below. Neighbours have neighbouring slots, holes take none for good: the 257th
 * arena has the slot of the first again. Regions of 64 GiB are turned against each other, for Go's heaps start at
 * addresses that are multiples of 2^40 apart.
 *
 * Where two arenas in use have the same slot, two objects may have the same place. Then the lower one, which is the older
 * one since Go takes arenas upwards, has the place, and the other is displaced to a free place by hashing its address.
 *
 * Even ids: those below 2^10 are fixed; goroutines have 2^30 + 2 * goid; all others are hashed to [2^31, 2^32).
 */
#include "graph/ids.h"

#include <stdlib.h>

enum { SLOTS = 256, REGION_SHIFT = 10 /* of arenas: 64 GiB */ };

static const uint64_t PLACES = (uint64_t)1 << 31;
static const uint64_t GOROUTINE_IDS = (uint64_t)1 << 30;
static const uint64_t HASHED_IDS = (uint64_t)1 << 31;

/* The slot of an arena. On 32-bit systems every address has its own id, counted from 0. */
static uint32_t slot_of(const struct ids *ids, uint64_t arena)
{
    const uint64_t usual_region = UINT64_C(0xc000000000) >> ARENA_SHIFT >> REGION_SHIFT; /* not turned */
    const uint64_t turn = ids->heap->params.pointer_size == 4 ? 0 : 157 * ((arena >> REGION_SHIFT) - usual_region);
    return (uint32_t)((arena + turn) % SLOTS);
}

static uint64_t place_of(const struct ids *ids, uint64_t address)
{
    const uint64_t within = address & (((uint64_t)1 << ARENA_SHIFT) - 1);
    return ((uint64_t)slot_of(ids, address >> ARENA_SHIFT) << ARENA_SHIFT | within) / ID_GRANULE;
}

static bool list_arenas(struct ids *ids)
{
    const struct g2h_heap *heap = ids->heap;
    VECTOR(struct id_arena) arenas = {0};
    for (uint32_t i = 0; i < heap->object_count; i++) {
        uint64_t arena = heap->addresses[i] >> ARENA_SHIFT;
        if (arenas.count > 0 && arenas.data[arenas.count - 1].arena == arena)
            continue;
        struct id_arena entry = {arena, slot_of(ids, arena)};
        if (!vector_push(&arenas, entry)) {
            free(arenas.data);
            return false;
        }
    }
    ids->arenas = arenas.data;
    ids->arena_count = arenas.count;
    return true;
}

/* Such that the formula holds for the heap's first arena, whose address stays as the heap grows. */
static uint64_t base_of(const struct ids *ids)
{
    uint64_t first = ids->heap->params.heap_start >> ARENA_SHIFT;
    if (ids->arena_count > 0 && ids->arenas[0].arena < first)
        first = ids->arenas[0].arena; /* a damaged params record */
    uint64_t slot = slot_of(ids, first);
    return first > slot ? (first - slot) << ARENA_SHIFT : 0;
}

bool ids_is_exception(const struct ids *ids, const struct id_arena *arena)
{
    return arena->arena - (ids->base >> ARENA_SHIFT) != arena->slot;
}

/* ---- arenas that share a slot ---- */

static int compare_slots(const void *a, const void *b)
{
    const struct id_arena *one = a, *other = b;
    if (one->slot != other->slot)
        return one->slot < other->slot ? -1 : 1;
    return one->arena < other->arena ? -1 : one->arena > other->arena;
}

/* Arenas by slot: those of slot i are [begin[i], begin[i + 1]). */
struct slots {
    struct id_arena *arenas;
    size_t begin[SLOTS + 1];
};

/* Whether address is in an object so large that it has parts, with ids of addresses in it. */
static bool is_within_part(const struct g2h_heap *heap, uint32_t object, uint64_t address)
{
    const uint64_t size = heap_object_size(heap, object);
    return size > UINT32_MAX && address - heap->addresses[object] < size;
}

/* Whether an object below limit starts at the given place. */
static bool place_is_used(const struct ids *ids, const struct slots *slots, uint64_t place, uint64_t limit)
{
    const struct g2h_heap *heap = ids->heap;
    const uint64_t within = place * ID_GRANULE & (((uint64_t)1 << ARENA_SHIFT) - 1);
    size_t slot = (size_t)(place * ID_GRANULE >> ARENA_SHIFT);
    for (size_t i = slots->begin[slot]; i < slots->begin[slot + 1]; i++) {
        uint64_t address = slots->arenas[i].arena << ARENA_SHIFT | within;
        uint32_t object = address < limit ? index_candidate(&heap->index, heap->addresses, address) : UINT32_MAX;
        if (object != UINT32_MAX && (heap->addresses[object] == address || is_within_part(heap, object, address)))
            return true;
    }
    return false;
}

static struct g2h_error *displace_objects(struct ids *ids, const struct slots *slots)
{
    const struct g2h_heap *heap = ids->heap;
    struct map used = {0}; /* places that displaced objects have */
    struct g2h_error *error = NULL;
    for (uint32_t i = 0; i < heap->object_count && !error; i++) {
        const uint64_t address = heap->addresses[i];
        uint32_t value;
        if (!place_is_used(ids, slots, place_of(ids, address), address))
            continue;
        uint64_t place = map_hash(address) % PLACES;
        while (place_is_used(ids, slots, place, UINT64_MAX) || map_get(&used, place) != MAP_NONE)
            place = (place + 1) % PLACES;
        if (!map_put(&used, place, 0, &value) || !map_put(&ids->displaced, i, (uint32_t)place, &value))
            error = &error_no_memory;
    }
    map_deinit(&used);
    return error;
}

static struct g2h_error *share_slots(struct ids *ids)
{
    struct slots slots = {.arenas = malloc((ids->arena_count + 1) * sizeof(*slots.arenas))};
    bool shared = false;
    if (!slots.arenas)
        return &error_no_memory;
    for (size_t i = 0; i < ids->arena_count; i++)
        slots.arenas[i] = ids->arenas[i];
    qsort(slots.arenas, ids->arena_count, sizeof(*slots.arenas), compare_slots);
    for (size_t slot = 0, i = 0; slot <= SLOTS; slot++) {
        slots.begin[slot] = i;
        while (i < ids->arena_count && slots.arenas[i].slot == slot)
            i++;
        shared = shared || i > slots.begin[slot] + 1;
    }
    struct g2h_error *error = shared ? displace_objects(ids, &slots) : NULL;
    free(slots.arenas);
    return error;
}

/* ---- ids ---- */

struct g2h_error *ids_init(struct ids *ids, const struct g2h_heap *heap)
{
    *ids = (struct ids){.heap = heap};
    if (!list_arenas(ids))
        return &error_no_memory;
    ids->base = base_of(ids);
    return share_slots(ids);
}

void ids_deinit(struct ids *ids)
{
    free(ids->arenas);
    map_deinit(&ids->displaced);
    map_deinit(&ids->taken);
}

uint32_t ids_object(const struct ids *ids, uint32_t object)
{
    uint32_t place = ids->displaced.entries ? map_get(&ids->displaced, object) : MAP_NONE;
    if (place == MAP_NONE)
        place = (uint32_t)place_of(ids, ids->heap->addresses[object]);
    return 2 * place + 1;
}

uint32_t ids_part(const struct ids *ids, uint64_t address)
{
    return 2 * (uint32_t)place_of(ids, address) + 1;
}

bool ids_synthetic(struct ids *ids, enum id_kind kind, uint64_t key, uint32_t *ret)
{
    uint64_t id = HASHED_IDS + 2 * (map_hash(key * 16 + kind) % (HASHED_IDS / 2));
    uint32_t value;
    if (kind == ID_GOROUTINE && key < GOROUTINE_IDS / 2)
        id = GOROUTINE_IDS + 2 * key;
    while (map_get(&ids->taken, id) != MAP_NONE)
        id = id + 2 < 2 * HASHED_IDS ? id + 2 : HASHED_IDS;
    *ret = (uint32_t)id;
    return map_put(&ids->taken, id, 0, &value);
}
