/*
 * ids: gives each node an id that is the same in every dump of one process; see ids.h. An object's
 * id comes from its address by a formula (ids), goroutines have theirs by goid, and all other nodes
 * by a hash of what they are (node_ids). Where two nodes would have the same id, the second one
 * gets a free one by hashing its key again; the order of nodes decides which is the second.
 */
#include "output/ids.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"

/* ==== ids of objects ====
 *
 * Odd ids: there are 2^31, one for each 8 bytes of 16 GiB. That space is cut into 256 slots of one
 * arena (64 MiB) each. An arena's slot depends on the arena's address and nothing else, so that two
 * dumps of one process agree whatever arenas have come into use in between, above or below.
 * Adjacent arenas have adjacent slots. Holes between arenas do not use slots up: the 257th arena
 * has the slot of the first again. Ranges of 64 GiB are turned against each other, since Go's
 * heaps start at addresses that are multiples of 2^40 apart.
 *
 * If two arenas in use have the same slot, two objects may have the same position. Then the lower
 * object, which is the older one since Go takes arenas upwards, has the position. The other one is
 * displaced to a free position, which is found by hashing its address, again and again if the
 * position is taken.
 *
 * Nodes that stand for several objects have free positions, by a hash of their contents.
 *
 * Even ids: those below 2^10 are fixed; goroutines have 2^30 + 2 * goid; all others are hashed to
 * [2^31, 2^32).
 */

static const uint64_t PLACES = UINT64_C(1) << 31;

static const uint64_t GOROUTINE_IDS = UINT64_C(1) << 30;

static const uint64_t HASHED_IDS = UINT64_C(1) << 31;

/* Returns the first object, from number from on, that begins at or after address; or the number of
 * objects if none does. */
static uint32_t first_at(const struct g2h_heap *heap, uint32_t from, uint64_t address)
{
    uint32_t object;
    BISECT_FROM(object, from, g2h_heap_object_count(heap),
                g2h_heap_address(heap, object) < address);
    return object;
}

/* Lists the arenas that have objects, with their slots. Jumps from the first object of an arena to
 * that of the next by bisection. Returns false if memory runs out. */
static bool ids_list_arenas(struct ids *ids)
{
    const struct g2h_heap *heap = ids->heap;
    VECTOR(struct id_arena) arenas = {0};
    for (uint32_t i = 0; i < g2h_heap_object_count(heap);) {
        const uint64_t arena = g2h_heap_address(heap, i) >> ID_ARENA_SHIFT;
        struct id_arena entry = {arena, ids_slot(ids, arena)};
        i = first_at(heap, i + 1, (arena + 1) << ID_ARENA_SHIFT);
        if (!vector_push(&arenas, entry)) {
            free(arenas.data);
            return false;
        }
    }
    assert(IS_ORDERED(i, arenas.count, arenas.data[i - 1].arena < arenas.data[i].arena));
    ids->arenas = arenas.data;
    ids->arena_count = arenas.count;
    return true;
}

/* Returns the base with which the formula holds for the heap's first arena, whose address stays the
 * same as the heap grows. */
static uint64_t base_of(const struct ids *ids)
{
    uint64_t first = g2h_heap_params(ids->heap)->heap_start >> ID_ARENA_SHIFT;
    if (ids->arena_count > 0 && ids->arenas[0].arena < first)
        first = ids->arenas[0].arena; /* the params record is damaged */
    uint64_t slot = ids_slot(ids, first);
    return first > slot ? (first - slot) << ID_ARENA_SHIFT : 0;
}

bool ids_is_exception(const struct ids *ids, const struct id_arena *arena)
{
    return arena->arena - (ids->base >> ID_ARENA_SHIFT) != arena->slot;
}

/* ---- arenas that share a slot ---- */

/* Orders arenas by slot, and those that share one by address: the lower one is older. */
static int compare_slots(const void *a, const void *b)
{
    const struct id_arena *one = a;
    const struct id_arena *other = b;
    if (one->slot != other->slot)
        return COMPARE(one->slot, other->slot);
    return COMPARE(one->arena, other->arena);
}

/* Returns whether so many arenas share the slot that its objects are in ids->crowd. */
static bool is_crowded(const struct ids *ids, size_t slot)
{
    enum { FEW = 4 };
    return ids->slot_begin[slot + 1] - ids->slot_begin[slot] > FEW;
}

/* Lists the objects in slots that many arenas share, by position; of several objects with one
 * position, the lowest. Returns false if memory runs out. */
static bool list_crowd(struct ids *ids)
{
    const struct g2h_heap *heap = ids->heap;
    for (size_t i = 0; i < ids->arena_count; i++) {
        const uint64_t arena = ids->arenas[i].arena;
        if (!is_crowded(ids, ids->arenas[i].slot))
            continue;
        const uint32_t end = first_at(heap, 0, (arena + 1) << ID_ARENA_SHIFT);
        for (uint32_t object = first_at(heap, 0, arena << ID_ARENA_SHIFT); object < end; object++) {
            uint32_t lowest;
            if (!map_put(&ids->crowd, ids_position(ids, g2h_heap_address(heap, object)), object,
                         &lowest))
                return false;
        }
    }
    return true;
}

/* Returns whether an object below the address limit starts at the given position, in whichever
 * arena. Slots of very many arenas have their positions in a table. */
static bool position_is_used(const struct ids *ids, uint64_t position, uint64_t limit)
{
    const struct g2h_heap *heap = ids->heap;
    const uint64_t within = position * ID_GRANULE & ((UINT64_C(1) << ID_ARENA_SHIFT) - 1);
    const size_t slot = (size_t)(position * ID_GRANULE >> ID_ARENA_SHIFT);
    if (is_crowded(ids, slot)) {
        const uint32_t lowest = map_get(&ids->crowd, position);
        return lowest != MAP_NONE && g2h_heap_address(heap, lowest) < limit;
    }
    for (size_t i = ids->slot_begin[slot]; i < ids->slot_begin[slot + 1]; i++) {
        uint64_t address = ids->by_slot[i].arena << ID_ARENA_SHIFT | within;
        uint32_t object;
        if (address < limit && g2h_heap_find(heap, address, &object) &&
            g2h_heap_address(heap, object) == address)
            return true;
    }
    return false;
}

/* ---- free positions and ids ---- */

/*
 * Returns the hash that an attempt uses for a key. Keys cannot be chosen to collide in every
 * attempt, because each attempt mixes the key differently.
 */
static uint64_t hash_attempt(uint64_t key, uint32_t attempt)
{
    const uint64_t hash = id_hash(key);
    return attempt == 0 ? hash : id_hash(id_hash(key ^ id_hash(attempt)) + hash);
}

/* Returns the attempt, after the first one, from which a key continues. */
static uint32_t next_attempt(const struct ids *ids, uint64_t key)
{
    const uint32_t attempt = map_get(&ids->attempts, key);
    return attempt == MAP_NONE ? 1 : attempt;
}

/* Records that a key has used an attempt, so that the next search for the same key continues after
 * it. Returns false if memory runs out. */
static bool keep_attempt(struct ids *ids, uint64_t key, uint32_t attempt)
{
    uint32_t first;
    if (!map_put(&ids->attempts, key, attempt + 1, &first))
        return false;
    map_set(&ids->attempts, key, attempt + 1);
    return true;
}

/* Returns whether neither an object nor another node has a position. */
static bool position_is_free(const struct ids *ids, uint64_t position)
{
    return !position_is_used(ids, position, UINT64_MAX) &&
           map_get(&ids->hashed, position) == MAP_NONE;
}

/* Reserves a free position, found by a hash of key. A graph has fewer than 2^30 nodes, so most
 * positions are free. Returns false if memory runs out. */
static bool take_free_position(struct ids *ids, uint64_t key, uint64_t *ret)
{
    uint32_t value, attempt = 0;
    *ret = hash_attempt(key, 0) % PLACES;
    if (!position_is_free(ids, *ret)) {
        for (attempt = next_attempt(ids, key);; attempt++) {
            *ret = hash_attempt(key, attempt) % PLACES;
            if (position_is_free(ids, *ret))
                break;
        }
        if (!keep_attempt(ids, key, attempt))
            return false;
    }
    return map_put(&ids->hashed, *ret, 0, &value);
}

/* Finds other positions for objects whose positions lower objects have, and notes them in
 * displaced. */
static struct g2h_error *displace_objects(struct ids *ids)
{
    const struct g2h_heap *heap = ids->heap;
    for (uint32_t i = 0; i < g2h_heap_object_count(heap); i++) {
        const uint64_t address = g2h_heap_address(heap, i);
        uint64_t position;
        uint32_t value;
        if (!position_is_used(ids, ids_position(ids, address), address))
            continue;
        if (!take_free_position(ids, address, &position) ||
            !map_put(&ids->displaced, i, (uint32_t)position, &value))
            return &error_no_memory;
    }
    return NULL;
}

/* Sorts the arenas by slot, and sets *ret to whether any slot has two. Returns false if memory runs
 * out. */
static bool sort_by_slot(struct ids *ids, bool *ret)
{
    ids->by_slot = malloc((ids->arena_count + 1) * sizeof(*ids->by_slot));
    if (!ids->by_slot)
        return false;
    for (size_t i = 0; i < ids->arena_count; i++)
        ids->by_slot[i] = ids->arenas[i];
    qsort(ids->by_slot, ids->arena_count, sizeof(*ids->by_slot), compare_slots);
    *ret = false;
    for (size_t slot = 0, i = 0; slot <= ID_SLOTS; slot++) {
        ids->slot_begin[slot] = i;
        while (i < ids->arena_count && ids->by_slot[i].slot == slot)
            i++;
        *ret = *ret || i > ids->slot_begin[slot] + 1;
    }
    return true;
}

/* ---- ids ---- */

/* Prepares the numbering of a heap's objects. Most heaps have no arenas that share a slot, and need
 * no more than the formula. */
struct g2h_error *ids_init(struct ids *ids, const struct g2h_heap *heap,
                           struct g2h_identity *series)
{
    *ids = (struct ids){
        .heap = heap, .series = series, .turns = g2h_heap_params(heap)->pointer_size == 8};
    if (series)
        return NULL;
    if (!ids_list_arenas(ids))
        return &error_no_memory;
    ids->base = base_of(ids);
    bool shared;
    if (!sort_by_slot(ids, &shared) || (shared && !list_crowd(ids)))
        return &error_no_memory;
    return shared ? displace_objects(ids) : NULL;
}

/* Returns the place of an age among all: what the looks saw first, in their order, then what has
 * not survived a collection, then what is not known. */
static unsigned order_of_age(unsigned age, unsigned looks)
{
    if (age == G2H_AGE_UNKNOWN || age > looks)
        return looks + 1;
    return age == 0 ? looks : age - 1;
}

/* Returns how many ids an object takes: one for each IDS_PART bytes, since a large node continues
 * in parts. */
static uint32_t positions_of(const struct g2h_heap *heap, uint32_t object)
{
    const uint64_t size = g2h_heap_size(heap, object);
    return size > IDS_PART ? (uint32_t)((size - 1) / IDS_PART) + 1 : 1;
}

/* Numbers the objects by age. A counting sort by age (order_of_age()): the number of positions per
 * age gives where each age begins; then each object takes the next positions of its age.
 * positions_of() tells how many it takes. age_ends is by look, from 1 on, and has in 0 the end of
 * what has not survived a collection, which comes after all looks. */
struct g2h_error *ids_init_by_age(struct ids *ids, const struct g2h_heap *heap)
{
    *ids = (struct ids){.heap = heap};
    const struct g2h_ages_known *known = g2h_heap_ages(heap);
    const uint32_t objects = g2h_heap_object_count(heap);
    uint32_t begin[G2H_AGE_UNKNOWN + 2] = {0}; /* order_of_age() → the next position */
    assert(known && known->look_count < G2H_AGE_UNKNOWN);
    const unsigned looks = known->look_count;
    ids->by_age = block_alloc(count_and_end(objects), sizeof(*ids->by_age));
    ids->age_ends = calloc(count_and_end(looks), sizeof(*ids->age_ends));
    TRY_MEMORY(ids->by_age && ids->age_ends);
    for (uint32_t i = 0; i < objects; i++) {
        const unsigned order = order_of_age(g2h_heap_age(heap, i), looks);
        if (order <= looks) /* what is not known follows all others */
            begin[order + 1] += positions_of(heap, i);
    }
    for (unsigned order = 0; order <= looks; order++) {
        begin[order + 1] += begin[order];
        ids->age_ends[order < looks ? order + 1 : 0] = begin[order + 1];
    }
    for (uint32_t i = 0; i < objects; i++) {
        const unsigned order = order_of_age(g2h_heap_age(heap, i), looks);
        ids->by_age[i] = begin[order];
        begin[order] += positions_of(heap, i);
    }
    ids->unaged = begin[looks + 1];
    return NULL;
}

void ids_deinit(struct ids *ids)
{
    free(ids->by_age);
    free(ids->age_ends);
    free(ids->arenas);
    free(ids->by_slot);
    map_deinit(&ids->crowd);
    map_deinit(&ids->hashed);
    map_deinit(&ids->displaced);
    map_deinit(&ids->taken);
    map_deinit(&ids->attempts);
}

/* Finds an ID for a part of an object: in a series by the object's own ID, in a timeline the next
 * numbers after the object's, else by its address. Its natural position may be that of a small
 * object elsewhere, or of another part: then it gets a free one. Returns false if memory runs out,
 * or the series has no IDs left. */
bool ids_part(struct ids *ids, uint32_t object, uint64_t offset, uint32_t *ret)
{
    const uint64_t address = g2h_heap_address(ids->heap, object) + offset;
    if (ids->series)
        return g2h_identity_node(ids->series, G2H_NODE_OBJECT,
                                 id_hash(g2h_identity_object(ids->series, object)) + offset, ret);
    if (ids->by_age) {
        *ret = 2 * (ids->by_age[object] + (uint32_t)(offset / IDS_PART)) + 1;
        return true;
    }
    uint64_t position = ids_position(ids, address);
    uint32_t value;
    bool good =
        position_is_used(ids, position, UINT64_MAX) || map_get(&ids->hashed, position) != MAP_NONE
            ? take_free_position(ids, address, &position)
            : map_put(&ids->hashed, position, 0, &value);
    *ret = 2 * (uint32_t)position + 1;
    return good;
}

/* Returns the id that a key has at an attempt: an even one, as of no object, from HASHED_IDS on. */
static uint64_t synthetic_id(uint64_t key, uint32_t attempt)
{
    return HASHED_IDS + 2 * (hash_attempt(key, attempt) % (HASHED_IDS / 2));
}

/* Returns the id of a node of a kind that exists once, or the id of a goroutine; or 0 if the id
 * must be hashed. */
static uint64_t certain_id(enum g2h_node_kind kind, uint64_t key)
{
    if (kind <= G2H_NODE_MAPPINGS)
        return 2 * ((uint64_t)kind + 1);
    return kind == G2H_NODE_GOROUTINE && key < GOROUTINE_IDS / 2 ? GOROUTINE_IDS + 2 * key : 0;
}

/* Finds an ID for a node that is not an object, from its kind and key, the same in each snapshot;
 * in a series the one that it had before. IDs that are taken are avoided by hashing again, with
 * another attempt. Returns false if memory runs out, or the series has no IDs left. */
bool ids_synthetic(struct ids *ids, enum g2h_node_kind kind, uint64_t key, uint32_t *ret)
{
    if (ids->series)
        return g2h_identity_node(ids->series, kind, key, ret);
    enum { STEP = 16 }; /* between keys: nodes of other kinds mostly have another number */
    const uint64_t hashed = key * STEP + (kind - G2H_NODE_GOROUTINE);
    uint64_t id = certain_id(kind, key);
    uint32_t value;
    if (id == 0)
        id = synthetic_id(hashed, 0);
    if (map_get(&ids->taken, id) != MAP_NONE) {
        uint32_t attempt = next_attempt(ids, hashed);
        while (id = synthetic_id(hashed, attempt), map_get(&ids->taken, id) != MAP_NONE)
            attempt++;
        if (!keep_attempt(ids, hashed, attempt))
            return false;
    }
    *ret = (uint32_t)id;
    return map_put(&ids->taken, id, 0, &value);
}

/* Finds an ID for a folded node. The hash stands for the members, so that a folded node with other
 * members is another node. In a timeline folded nodes get the next IDs after those of all objects.
 * Returns false if memory runs out, or the series has no IDs left. */
bool ids_folded(struct ids *ids, uint64_t hash, uint32_t *ret)
{
    uint64_t position;
    if (ids->series)
        return g2h_identity_node(ids->series, G2H_NODE_FOLDED, hash, ret);
    if (ids->by_age) {
        *ret = 2 * ids->unaged++ + 1;
        return true;
    }
    const bool good = take_free_position(ids, hash, &position);
    *ret = good ? 2 * (uint32_t)position + 1 : 0;
    return good;
}

/* ==== the ids of all nodes of a view ==== */

enum { MANY = 64 /* nodes that are read at a time */ };

/* A node that is not an object, and where its id is stored. */
struct synthetic_node {
    uint64_t key;
    uint32_t *id;
    uint32_t whole;
    enum g2h_node_kind kind;
};

typedef VECTOR(struct synthetic_node) synthetic_vector;

/* Orders nodes as in the whole graph. */
static int compare_whole(const void *a, const void *b)
{
    const struct synthetic_node *one = a;
    const struct synthetic_node *other = b;
    return COMPARE(one->whole, other->whole);
}

/* Lists the synthetic nodes of the view, and where their ids go. */
static struct g2h_error *find_kept(const struct node_ids *node_ids, synthetic_vector *ret)
{
    struct g2h_node nodes[MANY];
    for (uint32_t first = 0; first < node_ids->first_object; first += MANY) {
        const uint32_t left = node_ids->first_object - first;
        const size_t count = g2h_view_nodes(node_ids->view, first, MIN(left, MANY), nodes);
        for (size_t i = 0; i < count; i++)
            TRY_MEMORY(vector_push(
                ret, ((struct synthetic_node){nodes[i].key, &node_ids->synthetic[first + i],
                                              nodes[i].whole, nodes[i].kind})));
    }
    return NULL;
}

/* Returns whether the members of a folded node are not objects. */
static bool is_of_synthetics(const struct g2h_node *folded)
{
    return folded->kind == G2H_NODE_FOLDED_SYNTHETICS || folded->kind == G2H_NODE_STACK;
}

/* Finds the nodes that are not objects and are members of folded nodes. */
static struct g2h_error *find_hidden(struct node_ids *node_ids, synthetic_vector *ret)
{
    const uint32_t nodes = g2h_view_node_count(node_ids->view);
    const size_t first = ret->count;
    struct g2h_node node, member;
    for (uint32_t i = node_ids->first_folded; i < nodes; i++) {
        g2h_view_brief(node_ids->view, i, &node);
        if (!is_of_synthetics(&node))
            continue;
        for (uint32_t j = 0; j < node.members; j++) {
            g2h_view_member(node_ids->view, i, j, &member);
            TRY_MEMORY(vector_push(
                ret, ((struct synthetic_node){member.key, NULL, member.whole, member.kind})));
        }
    }
    node_ids->hidden = block_alloc(ret->count - first + 1, sizeof(*node_ids->hidden));
    TRY_MEMORY(node_ids->hidden);
    for (size_t i = first; i < ret->count; i++)
        ret->data[i].id = &node_ids->hidden[i - first];
    return NULL;
}

/*
 * Finds the ids of nodes that are not objects. If two nodes would have the same id, the first one
 * gets it, in the order of the whole graph, so that a node's id does not depend on which nodes are
 * folded.
 */
static struct g2h_error *find_synthetic_ids(struct node_ids *node_ids)
{
    _cleanup_vector_ synthetic_vector all = {0};
    node_ids->synthetic =
        block_alloc(count_and_end(node_ids->first_object), sizeof(*node_ids->synthetic));
    TRY_MEMORY(node_ids->synthetic);
    TRY(find_kept(node_ids, &all));
    TRY(find_hidden(node_ids, &all));
    vector_sort(&all, compare_whole);
    VECTOR_EACH(const struct synthetic_node, synthetic, all)
        TRY_MEMORY(ids_synthetic(&node_ids->ids, synthetic->kind, synthetic->key, synthetic->id));
    return NULL;
}

/*
 * Finds the ids of folded nodes. DevTools' Comparison takes a node whose id is in both snapshots
 * for unchanged, whatever its size. So the id of a folded node is made from the ids of all its
 * members: a folded node that has changed gets another id, and the bytes of its class are right in
 * both snapshots.
 */
static struct g2h_error *find_folded_ids(struct node_ids *node_ids)
{
    const uint32_t nodes = g2h_view_node_count(node_ids->view);
    const uint32_t first = node_ids->first_folded;
    const uint32_t *hidden = node_ids->hidden;
    node_ids->folded = malloc(((size_t)(nodes - first) + 1) * sizeof(*node_ids->folded));
    if (!node_ids->folded)
        return &error_no_memory;
    for (uint32_t i = first; i < nodes; i++) {
        struct g2h_node node, member;
        uint64_t hash = 0;
        g2h_view_brief(node_ids->view, i, &node);
        for (uint32_t j = 0; j < node.members; j++) {
            g2h_view_member(node_ids->view, i, j, &member);
            if (member.object != UINT32_MAX)
                hash += id_hash(ids_object(&node_ids->ids, member.object, member.address));
            else if (is_of_synthetics(&node))
                hash += id_hash(*hidden++);
            else /* beside what the view is about: no other node needs its id */
                hash += id_hash((uint64_t)member.kind << 32 ^ member.key);
        }
        uint32_t *id = &node_ids->folded[i - first];
        const bool is_synthetic = is_of_synthetics(&node) || node.kind == G2H_NODE_ELSE;
        if (!(is_synthetic ? ids_synthetic(&node_ids->ids, node.kind, hash, id)
                           : ids_folded(&node_ids->ids, hash, id)))
            return &error_no_memory;
    }
    return NULL;
}

/* Returns the IDs of a view's nodes before any is made. Folded nodes come last, because their ids
 * are made from those of their members. */
static struct node_ids ids_of_nothing(const struct g2h_view *view)
{
    const struct g2h_view_account *account = g2h_view_account(view);
    return (struct node_ids){
        .view = view,
        .first_object = as_u32(account->first_object),
        .first_folded = as_u32(account->nodes - account->folded_nodes),
    };
}

/* Finds the IDs of all nodes but objects, which are computed when they are needed. */
struct g2h_error *node_ids_init(struct node_ids *node_ids, const struct g2h_view *view,
                                struct g2h_identity *series)
{
    *node_ids = ids_of_nothing(view);
    TRY(ids_init(&node_ids->ids, g2h_view_heap(view), series));
    TRY(find_synthetic_ids(node_ids));
    return find_folded_ids(node_ids);
}

/* Finds the IDs of all nodes for a timeline, in which they tell the age. */
struct g2h_error *node_ids_init_by_age(struct node_ids *node_ids, const struct g2h_view *view)
{
    *node_ids = ids_of_nothing(view);
    TRY(ids_init_by_age(&node_ids->ids, g2h_view_heap(view)));
    TRY(find_synthetic_ids(node_ids));
    return find_folded_ids(node_ids);
}

void node_ids_deinit(struct node_ids *node_ids)
{
    free(node_ids->synthetic);
    free(node_ids->folded);
    free(node_ids->hidden);
    ids_deinit(&node_ids->ids);
}
