/*
 * ids; see ids.h.
 *
 * Odd ids: 2^31 of them. The space is cut into slots of one arena (64 MiB) each: with the smallest granule, 8, there are
 * 256, which is 16 GiB. An arena less than so many above the base has the slot of its distance from the base, whatever
 * else is in use: two dumps of one process agree on it though the heap has grown in between. An arena beyond takes one
 * of the slots that no arena of this heap has, the highest first. Where the arenas in use are more than the slots, the
 * granule is doubled until they fit. Then, and only then, small objects may share a granule: the second gets an id of
 * its own by hashing its address.
 *
 * Even ids: those below 2^10 are fixed; goroutines have 2^30 + 2 * goid; all others are hashed to [2^31, 2^32).
 */
#include "graph/ids.h"

#include <stdlib.h>

static const uint64_t ODD_IDS = (uint64_t)1 << 31;
static const uint64_t GOROUTINE_IDS = (uint64_t)1 << 30;
static const uint64_t HASHED_IDS = (uint64_t)1 << 31;

/* 32-bit processes: every address has its id. Otherwise the start of the heap, which stays as the heap grows. */
static uint64_t base_of(const struct g2h_heap *heap)
{
    const uint64_t arena = (uint64_t)1 << ARENA_SHIFT;
    uint64_t base = heap->params.heap_start & ~(arena - 1);
    if (heap->params.pointer_size == 4 && (heap->object_count == 0 || heap->index.high <= (uint64_t)1 << 32))
        return 0;
    if (heap->object_count > 0 && base > heap->index.low)
        base = heap->index.low & ~(arena - 1); /* a damaged params record */
    return base;
}

/* The arenas in use: those of the heap's index, or, where that has none, those that objects start in. */
static bool list_arenas(const struct g2h_heap *heap, uint64_t **ret, size_t *ret_count)
{
    VECTOR(uint64_t) arenas = {0};
    for (size_t i = 0; i < heap->index.arena_count; i++)
        if (!vector_push(&arenas, heap->index.arenas[i]))
            goto no_memory;
    for (uint32_t i = 0; heap->index.arena_count == 0 && i < heap->object_count; i++) {
        uint64_t arena = heap->addresses[i] >> ARENA_SHIFT;
        if ((arenas.count == 0 || arenas.data[arenas.count - 1] != arena) && !vector_push(&arenas, arena))
            goto no_memory;
    }
    *ret = arenas.data;
    *ret_count = arenas.count;
    return true;

no_memory:
    free(arenas.data);
    return false;
}

static struct g2h_error *move_arenas(struct ids *ids, const uint64_t *arenas, size_t count)
{
    const uint64_t first = ids->base >> ARENA_SHIFT;
    size_t near = 0;
    while (near < count && arenas[near] - first < ids->slots)
        near++;
    ids->moved_count = count - near;
    if (ids->moved_count == 0)
        return NULL;
    ids->moved = malloc(ids->moved_count * sizeof(*ids->moved));
    if (!ids->moved)
        return &error_no_memory;
    uint64_t slot = ids->slots;
    for (size_t i = near; i < count; i++) {
        slot--;
        while (near > 0 && arenas[near - 1] - first == slot) {
            slot--;
            near--;
        }
        ids->moved[i - (count - ids->moved_count)] = (struct id_arena){arenas[i], slot};
    }
    return NULL;
}

static uint64_t place_of(const struct ids *ids, uint64_t address)
{
    const uint64_t within = address & (((uint64_t)1 << ARENA_SHIFT) - 1);
    uint64_t arena = address >> ARENA_SHIFT;
    uint64_t slot = arena - (ids->base >> ARENA_SHIFT);
    if (slot >= ids->slots) {
        size_t from = 0, to = ids->moved_count;
        while (from + 1 < to) {
            size_t middle = from + (to - from) / 2;
            if (ids->moved[middle].arena <= arena)
                from = middle;
            else
                to = middle;
        }
        slot = ids->moved_count > 0 ? ids->moved[from].slot : slot % ids->slots;
    }
    return (slot << ARENA_SHIFT | within) / ids->granule;
}

/*
 * Objects that share their granule with the one below get an id of their own. Such an id must be none that another
 * object has; with objects of 16 bytes and more in granules of 16 there are none but the 8-byte ones.
 */
static struct g2h_error *resolve_clashes(struct ids *ids, const struct g2h_heap *heap)
{
    struct map used = {0}; /* places of all objects, made only where there is a clash */
    struct g2h_error *error = NULL;
    uint64_t previous = UINT64_MAX;
    if (ids->granule == 8)
        return NULL; /* no two objects are closer than 8 bytes */
    for (uint32_t i = 0; i < heap->object_count && !error; i++) {
        uint64_t place = place_of(ids, heap->addresses[i]);
        uint32_t value;
        if (place != previous) {
            previous = place;
            continue;
        }
        for (uint32_t j = 0; !used.entries && j < heap->object_count && !error; j++)
            if (!map_put(&used, place_of(ids, heap->addresses[j]), 0, &value))
                error = &error_no_memory;
        uint64_t own = map_hash(heap->addresses[i]) % ODD_IDS;
        while (map_get(&used, own) != MAP_NONE)
            own = (own + 1) % ODD_IDS;
        if (!error && (!map_put(&used, own, 0, &value) || !map_put(&ids->clashes, i, (uint32_t)own, &value)))
            error = &error_no_memory;
    }
    map_deinit(&used);
    return error;
}

struct g2h_error *ids_init(struct ids *ids, const struct g2h_heap *heap, uint64_t granule)
{
    uint64_t *arenas;
    size_t count;
    *ids = (struct ids){.base = base_of(heap), .granule = granule ? granule : 8};
    if (!list_arenas(heap, &arenas, &count))
        return &error_no_memory;
    while ((ids->slots = (ODD_IDS * ids->granule) >> ARENA_SHIFT) < count)
        ids->granule *= 2;
    struct g2h_error *error = move_arenas(ids, arenas, count);
    free(arenas);
    return error ? error : resolve_clashes(ids, heap);
}

void ids_deinit(struct ids *ids)
{
    free(ids->moved);
    map_deinit(&ids->clashes);
    map_deinit(&ids->taken);
}

uint32_t ids_part(const struct ids *ids, uint64_t address)
{
    return 2 * (uint32_t)place_of(ids, address) + 1;
}

uint32_t ids_object(const struct ids *ids, const struct g2h_heap *heap, uint32_t object)
{
    uint32_t place = ids->clashes.entries ? map_get(&ids->clashes, object) : MAP_NONE;
    if (place == MAP_NONE)
        place = (uint32_t)place_of(ids, heap->addresses[object]);
    return 2 * place + 1;
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
