/*
 * map_finder: finds objects that are maps, or tables of maps, by their contents; see map_finder.h.
 *
 * Since Go 1.22, buckets and groups of more than 512 bytes have a malloc header, which identifies
 * their type, and with it the map's type; for others the contents identify it (map_parts.c). From
 * there the search goes backwards: to the table whose words have this number of groups, and to the
 * map whose words have this number of tables or buckets. Everything else follows from the map
 * (runtime.hmap; internal/runtime/maps: Map, table, groupsReference).
 *
 * To seed is to propose a type for an object that no typed pointer leads to; its pointers are then
 * followed. A group or bucket is an array of 8 slots for entries, a table has groups, and a
 * directory has the tables of a large map.
 */
#include "typing/map_finder.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"
#include "base/releases.h"
#include "typing/fit.h"

enum { SLOTS = 8 /* of a bucket or group */, DEPTH_LIMIT = 32 };

/* Finds a field of the runtime's map structures, whose offset is the same for all key and element
 * types. Returns false if there is no such field, or if it has more than 8 bytes. */
static bool find_small_field(const struct types *types, uint32_t type, const char *name,
                             struct map_field *ret)
{
    const struct type_field *field = types_field(types, type, name);
    if (!field || field->type >= types->list.count)
        return false;
    const uint64_t size = types_size(types, field->type);
    ret->offset = field->offset;
    ret->size = (unsigned)size;
    return size <= sizeof(uint64_t);
}

/* Returns the type of a map type's tables, or TYPE_NONE if it is not a Swiss map. Map.dirPtr points
 * to a group or, if the map is large, to a directory of pointers to tables: that is the pointer
 * type's other target. */
static uint32_t map_finder_table_of(const struct types *types, uint32_t map)
{
    const uint32_t count = as_u32(types->list.count),
                   header = map < count ? types_get(types, map)->header : TYPE_NONE;
    if (header >= count || types_get(types, map)->kind != TYPE_MAP)
        return TYPE_NONE;
    const struct type_field *directory = types_field(types, header, "dirPtr");
    if (!directory || directory->type >= count ||
        types_get(types, directory->type)->target != TARGET_BY_WORD)
        return TYPE_NONE;
    const uint32_t to_table = types_get(types, directory->type)->other;
    return to_table < count ? types_get(types, to_table)->elem : TYPE_NONE;
}

/* Finds the layout of Go 1.24's Swiss maps by one map type. Returns false if there is none, or if
 * maps and tables have one size class, so that an object's size could not tell them apart. */
static bool find_swiss(const struct types *types, uint32_t map, struct swiss_layout *ret)
{
    const uint32_t table = map_finder_table_of(types, map);
    const uint32_t count = as_u32(types->list.count);
    if (table >= count)
        return false;
    const uint32_t header = types_get(types, map)->header;
    const struct type_field *groups = types_field(types, table, "groups");
    if (!groups || !find_small_field(types, groups->type, "data", &ret->groups) ||
        !find_small_field(types, groups->type, "lengthMask", &ret->mask))
        return false;
    ret->groups.offset += groups->offset;
    ret->mask.offset += groups->offset;
    ret->table_size = types_size(types, table);
    ret->map_size = types_size(types, header);
    return find_small_field(types, table, "used", &ret->used) &&
           find_small_field(types, table, "capacity", &ret->capacity) &&
           find_small_field(types, header, "used", &ret->elements) &&
           find_small_field(types, header, "dirPtr", &ret->directory) &&
           find_small_field(types, header, "dirLen", &ret->length) &&
           find_small_field(types, header, "globalDepth", &ret->depth) &&
           /* role_of() tells them apart by the size */
           size_class(ret->table_size) != size_class(ret->map_size);
}

/* Finds the layout of runtime.hmap by one map type. Returns false if a field is missing. */
static bool find_classic(const struct types *types, uint32_t map, struct classic_layout *ret)
{
    const uint32_t header = types_get(types, map)->header;
    *ret = (struct classic_layout){.map_size = types_size(types, header)};
    (void)find_small_field(types, header, "noverflow", &ret->overflows); /* since Go 1.8 */
    return find_small_field(types, header, "count", &ret->elements) &&
           find_small_field(types, header, "flags", &ret->flags) &&
           find_small_field(types, header, "B", &ret->shift) &&
           find_small_field(types, header, "hash0", &ret->seed) &&
           find_small_field(types, header, "buckets", &ret->buckets) &&
           find_small_field(types, header, "oldbuckets", &ret->old_buckets);
}

/* Returns whether the objects of a slot class have pointers and can hold a structure of size
 * bytes. */
static bool has_size(const struct typing *typing, const struct slot_class *slot_class,
                     uint64_t size)
{
    return slot_class->has_pointers && slot_class->size == typing_slot(typing, size) &&
           slot_class->stored >= size;
}

/* Returns whether the objects of a slot class may be maps or tables, by their size. */
static enum map_role role_of(const struct map_finder *finder, const struct typing *typing,
                             const struct slot_class *slot_class)
{
    if (finder->is_classic)
        return has_size(typing, slot_class, finder->classic.map_size) ? MAY_BE_MAP : NO_MAP;
    if (has_size(typing, slot_class, finder->swiss.table_size))
        return MAY_BE_TABLE;
    return has_size(typing, slot_class, finder->swiss.map_size) ? MAY_BE_MAP : NO_MAP;
}

/* Finds the role of each slot class. Returns false if memory runs out. */
static bool find_roles(struct map_finder *finder, const struct typing *typing)
{
    const struct slot_class *classes = typing->heap->slot_classes.list.data;
    const size_t count = typing->heap->slot_classes.list.count;
    finder->roles = calloc(count + 1, sizeof(*finder->roles));
    for (size_t i = 0; finder->roles && i < count; i++)
        finder->roles[i] = (uint8_t)role_of(finder, typing, &classes[i]);
    return finder->roles != NULL;
}

/* Finds the layouts of maps by the first map type, since they are the same for all: those of Swiss
 * tables (Go 1.24) or the classic ones of before. Of Swiss ones also finds the table type of every
 * map type. Returns false if memory runs out. */
bool map_finder_init(struct map_finder *finder, const struct typing *typing)
{
    const struct types *types = typing->types;
    const uint32_t count = as_u32(types->list.count);
    *finder = (struct map_finder){0};
    for (uint32_t i = 0; i < count; i++) {
        if (types_get(types, i)->kind != TYPE_MAP || types_get(types, i)->header >= count)
            continue;
        /* The first map type decides: there are no tables if it is none of Swiss tables. */
        if (finder->map_tables.count == 0 && !find_swiss(types, i, &finder->swiss)) {
            finder->is_classic = find_classic(types, i, &finder->classic);
            break;
        }
        const struct map_table pair = {i, map_finder_table_of(types, i)};
        _asserted_ const size_t known = finder->map_tables.count;
        assert(known == 0 || finder->map_tables.data[known - 1].map < i);
        if (pair.table < count && !vector_push(&finder->map_tables, pair))
            return false;
    }
    return find_roles(finder, typing) && map_parts_init(&finder->parts, typing);
}

void map_finder_deinit(struct map_finder *finder)
{
    free(finder->roles);
    map_parts_deinit(&finder->parts);
    free(finder->map_tables.data);
}

/* Returns the type of the tables of a map type, or TYPE_NONE. */
static uint32_t known_table(const struct map_finder *finder, uint32_t map)
{
    size_t at;
    BISECT(at, finder->map_tables.count, finder->map_tables.data[at].map < map);
    return at < finder->map_tables.count && finder->map_tables.data[at].map == map
               ? finder->map_tables.data[at].table
               : TYPE_NONE;
}

/* Reads a field of a map or table, in the dump's byte order. */
static uint64_t map_finder_number_at(const struct g2h_heap *heap, const struct g2h_bytes *contents,
                                     const struct map_field *field)
{
    const uint8_t *at = contents->data + field->offset;
    uint64_t result = 0;
    for (unsigned i = 0; i < field->size; i++)
        result |= (uint64_t)at[i] << 8 * (heap->params.big_endian ? field->size - 1 - i : i);
    return result;
}

/* Returns whether an object is untyped, or typed only as a structure that any map may have. */
static bool map_finder_is_open(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED);
    return claim == 0 || (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT == SOURCE_GUESS ||
           typer_type_of(typing, (claim & CLAIM_TYPE) - 1)->is_generic;
}

/* Returns whether Go would allocate a slot of this object's size for count values of a size. */
static bool is_allocated_for(const struct typing *typing, uint32_t object, uint64_t count,
                             uint64_t size)
{
    const uint64_t slot = heap_object_size(typing->heap, object);
    uint64_t bytes;
    return !__builtin_mul_overflow(count, size, &bytes) && bytes <= slot &&
           fits_class(typing, heap_object_base(typing->heap, object) + bytes, slot);
}

/* The arguments of a thread's search for maps. */
struct map_finder_search {
    struct typer *typer;
    const struct map_finder *finder;
    struct map *memory;
};

/* Returns the map type of buckets or groups, by the claim on them or else by their contents, or
 * TYPE_NONE. */
static uint32_t map_of_array(const struct map_finder_search *search, const struct map_array *array)
{
    const struct typing *typing = search->typer->typing;
    const uint32_t claim = __atomic_load_n(&typing->claims[array->object], __ATOMIC_RELAXED);
    if (claim != 0) {
        const struct type *part = typer_type_of(typing, (claim & CLAIM_TYPE) - 1);
        /* The elem of a bucket or group is its map type. */
        if ((part->role == ROLE_MAP_GROUP || part->role == ROLE_MAP_BUCKET) &&
            is_allocated_for(typing, array->object, array->allocated, part->size))
            return part->elem;
        if (!map_finder_is_open(typing, array->object))
            return TYPE_NONE;
    }
    return map_parts_find(search->typer, &search->finder->parts, search->memory, array);
}

/* Returns the map type of the groups at an address, of which used slots are in use, or
 * TYPE_NONE. */
static uint32_t map_of_groups(const struct map_finder_search *search, uint64_t address,
                              uint64_t groups, uint64_t used)
{
    const struct map_array array = {
        .object = value_at(search->typer->typing, address),
        .allocated = groups,
        .used = used,
        .all_used = true,
    };
    return array.object != NO_TARGET ? map_of_array(search, &array) : TYPE_NONE;
}

/* Returns the map type of an object with these contents that may be a table, or TYPE_NONE. */
static uint32_t map_of_table(const struct map_finder_search *search,
                             const struct g2h_bytes *contents)
{
    const struct g2h_heap *heap = search->typer->typing->heap;
    const struct swiss_layout *layout = &search->finder->swiss;
    const uint64_t mask = map_finder_number_at(heap, contents, &layout->mask),
                   capacity = map_finder_number_at(heap, contents, &layout->capacity),
                   used = map_finder_number_at(heap, contents, &layout->used);
    /* The number of groups is a power of 2, and mask is one less (groupsReference.lengthMask). */
    if ((mask & (mask + 1)) != 0 || capacity != (mask + 1) * SLOTS || used > capacity)
        return TYPE_NONE;
    return map_of_groups(search, map_finder_number_at(heap, contents, &layout->groups), mask + 1,
                         used);
}

/* Returns the map type of a directory of length pointers, by its first table. TYPE_NONE: it is no
 * object of that size, or its first pointer leads to none that may be a table. */
static uint32_t map_of_directory(const struct map_finder_search *search, uint64_t address,
                                 uint64_t length)
{
    const struct typing *typing = search->typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint32_t directory = value_at(typing, address);
    if (directory == NO_TARGET || !is_allocated_for(typing, directory, length, word))
        return TYPE_NONE;
    const uint64_t base = heap_object_base(heap, directory);
    const struct g2h_bytes contents = heap_contents(heap, directory);
    if (contents.size < base + word)
        return TYPE_NONE;
    const uint32_t table = value_at(typing, heap_word(heap, contents.data + base));
    if (table == NO_TARGET || map_finder_role(search->finder, heap, table) != MAY_BE_TABLE)
        return TYPE_NONE;
    const struct g2h_bytes first = heap_contents(heap, table);
    return map_of_table(search, &first);
}

/* Returns the map type of an object with these contents that may be a Swiss map, or TYPE_NONE. */
static uint32_t map_of_swiss(const struct map_finder_search *search,
                             const struct g2h_bytes *contents)
{
    const struct g2h_heap *heap = search->typer->typing->heap;
    const struct swiss_layout *layout = &search->finder->swiss;
    const uint64_t depth = map_finder_number_at(heap, contents, &layout->depth),
                   length = map_finder_number_at(heap, contents, &layout->length),
                   address = map_finder_number_at(heap, contents, &layout->directory),
                   elements = map_finder_number_at(heap, contents, &layout->elements);
    /* A map of up to 8 elements has a single group instead of a directory. */
    if (length == 0)
        return depth == 0 && elements <= SLOTS ? map_of_groups(search, address, 1, elements)
                                               : TYPE_NONE;
    return depth < DEPTH_LIMIT && length == UINT64_C(1) << depth
               ? map_of_directory(search, address, length)
               : TYPE_NONE;
}

/* Returns the map type of an object with these contents that may be a classic map (runtime.hmap,
 * before Go 1.24), or TYPE_NONE: if the header's numbers are not plausible, or no map type fits the
 * buckets. Empty maps have no type to be told by. */
static uint32_t map_of_classic(const struct map_finder_search *search,
                               const struct g2h_bytes *contents)
{
    const struct typing *typing = search->typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const struct classic_layout *layout = &search->finder->classic;
    const uint64_t elements = map_finder_number_at(heap, contents, &layout->elements),
                   shift = map_finder_number_at(heap, contents, &layout->shift),
                   old_buckets = map_finder_number_at(heap, contents, &layout->old_buckets);
    /* A used map has a random seed, and hmap.flags has four bits. */
    if (shift >= DEPTH_LIMIT || elements == 0 ||
        map_finder_number_at(heap, contents, &layout->flags) >= 1 << 4 ||
        map_finder_number_at(heap, contents, &layout->seed) == 0)
        return TYPE_NONE;
    const uint64_t buckets = UINT64_C(1) << shift;
    if (elements / SLOTS > buckets) /* the map would have grown */
        return TYPE_NONE;
    struct map_array array = {
        .object = value_at(typing, map_finder_number_at(heap, contents, &layout->buckets)),
        /* runtime.makeBucketArray: since Go 1.9 overflow buckets are allocated with the buckets */
        .allocated = buckets + (shift >= 4 && layout->overflows.size != 0 ? buckets >> 4 : 0),
        .used = elements,
        .all_used = old_buckets == 0 && layout->overflows.size != 0 &&
                    map_finder_number_at(heap, contents, &layout->overflows) == 0,
    };
    if (array.object == NO_TARGET)
        return TYPE_NONE;
    const uint32_t found = map_of_array(search, &array);
    /* The buckets of a map literal may have been allocated without overflow buckets. */
    if (found != TYPE_NONE || array.allocated == buckets)
        return found;
    array.allocated = buckets;
    return map_of_array(search, &array);
}

/* Returns the type of an object that may be a map or a table by its role, or TYPE_NONE if it is
 * neither. */
static uint32_t map_finder_find_type(const struct map_finder_search *search, uint32_t object)
{
    const struct typing *typing = search->typer->typing;
    const struct map_finder *finder = search->finder;
    const struct g2h_bytes contents = heap_contents(typing->heap, object);
    uint32_t map;
    if (map_finder_role(finder, typing->heap, object) == MAY_BE_TABLE)
        return known_table(finder, map_of_table(search, &contents));
    if (finder->is_classic) {
        map = map_of_classic(search, &contents);
    } else {
        map = map_of_swiss(search, &contents);
        if (known_table(finder, map) == TYPE_NONE)
            return TYPE_NONE;
    }
    return map < typing->types->list.count ? typer_type_of(typing, map)->header : TYPE_NONE;
}

/* Types an object that looks like a map or its table. Nothing for an object that has a claim
 * already, or is of a map whose type is not found. */
void map_finder_seed(struct typer *typer, const struct map_finder *finder, struct map *memory,
                     uint32_t object)
{
    const struct map_finder_search search = {typer, finder, memory};
    assert(map_finder_role(finder, typer->typing->heap, object) != NO_MAP);
    if (!map_finder_is_open(typer->typing, object))
        return;
    const struct reference reference = {.type = map_finder_find_type(&search, object),
                                        .source = SOURCE_POINTER,
                                        .form = REFERENCE_VALUE};
    if (reference.type < typer->typing->types->list.count)
        typer_propose(typer, object, 0, &reference);
}
