/*
 * swiss_maps: the Swiss maps that nothing typed leads to.
 *
 * In a stripped program nobody says what a global variable points to. But groups of a map that take
 * more than 512 bytes have a malloc header, by which their type is known, and with it the map's.
 * From there the way leads backwards: to the table whose words say that it has so many groups, and
 * to the map whose words say that it has so many tables. All else follows from the map
 * (internal/runtime/maps: Map, table, groupsReference).
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "typing/fit.h"
#include "typing/typer.h"

enum { SLOTS = 8 /* of a group */, DEPTH_LIMIT = 32 };

/* A field of both structures has the same place whatever the map's keys and elements are. */
static bool find_place(const struct types *types, uint32_t type, const char *name,
                       struct table_place *ret)
{
    const struct type_field *field = types_field(types, type, name);
    if (!field || field->type >= types->list.count)
        return false;
    const uint64_t size = types->list.data[field->type].size;
    ret->offset = field->offset;
    ret->size = (unsigned)size;
    return size <= sizeof(uint64_t);
}

/* The type of a map's tables; TYPE_NONE where the type is no Swiss map. */
static uint32_t table_of(const struct types *types, uint32_t map)
{
    const uint32_t count = (uint32_t)types->list.count,
                   header = map < count ? types->list.data[map].header : TYPE_NONE;
    if (header >= count || types->list.data[map].kind != TYPE_MAP)
        return TYPE_NONE;
    const struct type_field *directory = types_field(types, header, "dirPtr");
    if (!directory || directory->type >= count ||
        types->list.data[directory->type].target != TARGET_BY_WORD)
        return TYPE_NONE;
    const uint32_t to_table = types->list.data[directory->type].other;
    return to_table < count ? types->list.data[to_table].elem : TYPE_NONE;
}

static bool find_layout(const struct types *types, uint32_t map, struct table_layout *ret)
{
    const uint32_t table = table_of(types, map), count = (uint32_t)types->list.count;
    if (table >= count)
        return false;
    const uint32_t header = types->list.data[map].header;
    const struct type_field *groups = types_field(types, table, "groups");
    if (!groups || !find_place(types, groups->type, "data", &ret->groups) ||
        !find_place(types, groups->type, "lengthMask", &ret->mask))
        return false;
    ret->groups.offset += groups->offset;
    ret->mask.offset += groups->offset;
    ret->table_size = types->list.data[table].size;
    ret->map_size = types->list.data[header].size;
    return find_place(types, table, "used", &ret->used) &&
           find_place(types, table, "capacity", &ret->capacity) &&
           find_place(types, header, "used", &ret->elements) &&
           find_place(types, header, "dirPtr", &ret->directory) &&
           find_place(types, header, "dirLen", &ret->length) &&
           find_place(types, header, "globalDepth", &ret->depth) &&
           size_class(ret->table_size) != size_class(ret->map_size);
}

bool swiss_maps_init(struct swiss_maps *swiss, const struct typing *typing)
{
    const struct types *types = typing->types;
    *swiss = (struct swiss_maps){0};
    for (uint32_t i = 0; i < types->list.count; i++) {
        if (types->list.data[i].kind != TYPE_MAP || types->list.data[i].header == TYPE_NONE)
            continue;
        if (swiss->map_tables.count == 0 && !find_layout(types, i, &swiss->layout))
            return true; /* maps were not made so then */
        const struct map_table pair = {i, table_of(types, i)};
        if (pair.table < types->list.count && !vector_push(&swiss->map_tables, pair))
            return false;
    }
    return true;
}

void swiss_maps_deinit(struct swiss_maps *swiss)
{
    free(swiss->map_tables.data);
}

/* The type of the tables of a map type; TYPE_NONE. */
static uint32_t known_table(const struct swiss_maps *swiss, uint32_t map)
{
    size_t at;
    BISECT(at, swiss->map_tables.count, swiss->map_tables.data[at].map < map);
    return at < swiss->map_tables.count && swiss->map_tables.data[at].map == map
               ? swiss->map_tables.data[at].table
               : TYPE_NONE;
}

static uint64_t number_at(const struct g2h_heap *heap, const struct g2h_bytes *contents,
                          const struct table_place *place)
{
    const uint8_t *at = contents->data + place->offset;
    uint64_t result = 0;
    for (unsigned i = 0; i < place->size; i++)
        result |= (uint64_t)at[i] << 8 * (heap->params.big_endian ? place->size - 1 - i : i);
    return result;
}

/* Whether an object has a size and pointers. */
static bool is_scanned(const struct typing *typing, uint32_t object, uint64_t size,
                       struct g2h_bytes *ret)
{
    const struct slot_class *slot_class = heap_slot_class(typing->heap, object);
    if (slot_class->size != size_class(size) || !slot_class->has_pointers)
        return false;
    *ret = heap_contents(typing->heap, object);
    return ret->size >= size;
}

/* Whether of an object nothing is known for sure, or only which structure of any map it is. */
static bool is_open(const struct typing *typing, uint32_t object)
{
    const uint32_t claim = __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED);
    return claim == 0 || (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT == SOURCE_GUESS ||
           type_of(typing, (claim & CLAIM_TYPE) - 1)->is_generic;
}

/* The object whose values begin at an address; NO_TARGET. */
static uint32_t object_at(const struct typing *typing, uint64_t address)
{
    const uint32_t object = heap_find(typing->heap, address);
    return object != NO_TARGET &&
                   address - heap_address(typing->heap, object) == object_base(typing->heap, object)
               ? object
               : NO_TARGET;
}

/* Whether an object's slot is what Go takes for so many values of a size. */
static bool holds_values(const struct g2h_heap *heap, uint32_t object, uint64_t count,
                         uint64_t size)
{
    const uint64_t slot = heap_object_size(heap, object);
    uint64_t bytes;
    return !__builtin_mul_overflow(count, size, &bytes) && bytes <= slot &&
           fits_class(object_base(heap, object) + bytes, slot);
}

/* The map type of groups at an address, by the claim on them; TYPE_NONE. */
static uint32_t map_of_groups(const struct typing *typing, uint64_t address, uint64_t count)
{
    const uint32_t object = object_at(typing, address);
    const uint32_t claim =
        object != NO_TARGET ? __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED) : 0;
    if (claim == 0)
        return TYPE_NONE;
    const struct type *group = type_of(typing, (claim & CLAIM_TYPE) - 1);
    return group->role == ROLE_MAP_GROUP && holds_values(typing->heap, object, count, group->size)
               ? group->elem
               : TYPE_NONE;
}

/* The map type of what may be a table; TYPE_NONE. */
static uint32_t map_of_table(const struct typing *typing, const struct swiss_maps *swiss,
                             const struct g2h_bytes *contents)
{
    const struct g2h_heap *heap = typing->heap;
    const struct table_layout *layout = &swiss->layout;
    const uint64_t mask = number_at(heap, contents, &layout->mask),
                   capacity = number_at(heap, contents, &layout->capacity);
    if ((mask & (mask + 1)) != 0 || capacity != (mask + 1) * SLOTS ||
        number_at(heap, contents, &layout->used) > capacity)
        return TYPE_NONE;
    return map_of_groups(typing, number_at(heap, contents, &layout->groups), mask + 1);
}

/* The map type of a directory of so many pointers, by the first table; TYPE_NONE. */
static uint32_t map_of_directory(const struct typing *typing, const struct swiss_maps *swiss,
                                 uint64_t address, uint64_t length)
{
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint32_t directory = object_at(typing, address);
    if (directory == NO_TARGET || !holds_values(heap, directory, length, word))
        return TYPE_NONE;
    const uint64_t base = object_base(heap, directory);
    struct g2h_bytes contents = heap_contents(heap, directory);
    if (contents.size < base + word)
        return TYPE_NONE;
    const uint32_t table = object_at(typing, heap_word(heap, contents.data + base));
    return table != NO_TARGET && is_scanned(typing, table, swiss->layout.table_size, &contents)
               ? map_of_table(typing, swiss, &contents)
               : TYPE_NONE;
}

/* The map type of what may be a map; TYPE_NONE. */
static uint32_t map_of_map(const struct typing *typing, const struct swiss_maps *swiss,
                           const struct g2h_bytes *contents)
{
    const struct g2h_heap *heap = typing->heap;
    const struct table_layout *layout = &swiss->layout;
    const uint64_t depth = number_at(heap, contents, &layout->depth),
                   length = number_at(heap, contents, &layout->length),
                   address = number_at(heap, contents, &layout->directory);
    if (length == 0)
        return depth == 0 && number_at(heap, contents, &layout->elements) <= SLOTS
                   ? map_of_groups(typing, address, 1)
                   : TYPE_NONE;
    return depth < DEPTH_LIMIT && length == (uint64_t)1 << depth
               ? map_of_directory(typing, swiss, address, length)
               : TYPE_NONE;
}

void swiss_maps_seed(struct typer *typer, const struct swiss_maps *swiss, uint32_t object)
{
    const struct typing *typing = typer->typing;
    struct reference reference = {
        .type = TYPE_NONE, .source = SOURCE_POINTER, .form = REFERENCE_VALUE};
    struct g2h_bytes contents;
    if (!is_open(typing, object))
        return;
    if (is_scanned(typing, object, swiss->layout.table_size, &contents)) {
        reference.type = known_table(swiss, map_of_table(typing, swiss, &contents));
    } else if (is_scanned(typing, object, swiss->layout.map_size, &contents)) {
        const uint32_t map = map_of_map(typing, swiss, &contents);
        if (known_table(swiss, map) != TYPE_NONE)
            reference.type = type_of(typing, map)->header;
    }
    if (reference.type != TYPE_NONE)
        typer_propose(typer, object, 0, &reference);
}
