/*
 * map_finder: finds the maps that no typed pointer leads to.
 *
 * A stripped program does not have the types of its global variables. But a map's own words show
 * how many buckets or groups of which size it has, and these can be compared with the buckets or
 * groups of all map types of the program.
 */
#ifndef TYPING_MAP_FINDER_H
#define TYPING_MAP_FINDER_H

#include "typing/typer.h"

/* ---- map_parts.c ---- */

/* The bucket or group of a map type. */
struct map_part {
    uint64_t size;
    uint64_t pointers; /* a hash of the pointers' offsets */
    uint32_t map, type;
    uint64_t keys, elems, key_stride, elem_stride; /* first key and elem; from slot to slot */
};

struct map_parts {
    VECTOR(struct map_part) list; /* ascending by size; map_parts.c */
    bool swiss;
    uint8_t least_used; /* the lowest tophash of a used slot of a bucket */
};

/* Buckets or groups that an object may consist of. */
struct map_array {
    uint32_t object;
    uint64_t allocated; /* number of buckets or groups requested */
    uint64_t used;      /* slots of these that are in use */
    bool all_used;      /* used is exact; otherwise it is an upper limit */
};

bool map_parts_init(struct map_parts *parts, const struct typing *typing);
void map_parts_deinit(struct map_parts *parts);

/*
 * Returns the only map type whose buckets or groups an object can consist of, or TYPE_NONE. The
 * targets of the entries in use must fit the entries' types, too. cache is the thread's own,
 * empty at first. Sets typer->no_memory if memory runs out.
 */
uint32_t map_parts_find(struct typer *typer, const struct map_parts *parts, struct map *cache,
                        const struct map_array *array);

/* ---- map_finder.c ---- */

/* The position of a number in a structure, in bytes. */
struct map_field {
    uint64_t offset;
    unsigned size;
};

/* The offsets of the fields of runtime.hmap. */
struct classic_layout {
    uint64_t map_size;
    struct map_field elements, flags, shift, overflows, seed, buckets, old_buckets;
};

/* The offsets of the fields of internal/runtime/maps.Map and table. */
struct swiss_layout {
    uint64_t table_size, map_size;
    struct map_field used, capacity, groups, mask;       /* of a table */
    struct map_field elements, directory, length, depth; /* of a map */
};

struct map_table {
    uint32_t map, table; /* types */
};

/* The possible roles of objects of a slot class; most objects are neither a map nor a table. */
enum map_role { NO_MAP, MAY_BE_MAP, MAY_BE_TABLE };

struct map_finder {
    struct map_parts parts;
    VECTOR(struct map_table) map_tables; /* ascending; empty if there are no Swiss maps */
    struct swiss_layout swiss;
    struct classic_layout classic;
    bool is_classic;
    uint8_t *roles; /* by slot class: enum map_role */
};

/* Returns false if memory runs out. */
bool map_finder_init(struct map_finder *finder, const struct typing *typing);
void map_finder_deinit(struct map_finder *finder);

/* Types an object that must be a map, by its buckets, its only group or its first table; or one
 * that must be a table, by its groups. The object's role is not NO_MAP. Does not change an object
 * about which more is known. memory is the thread's own cache, empty at first. */
void map_finder_seed(struct typer *typer, const struct map_finder *finder, struct map *memory,
                     uint32_t object);

static inline enum map_role map_finder_role(const struct map_finder *finder,
                                            const struct g2h_heap *heap, uint32_t object)
{
    return (enum map_role)finder->roles[heap_slot_class_number(heap, object)];
}

/* Returns the object whose values begin at an address, or NO_TARGET. */
static inline uint32_t value_at(const struct typing *typing, uint64_t address)
{
    const uint32_t object = heap_find(typing->heap, address);
    return object != NO_TARGET && address - heap_address(typing->heap, object) ==
                                      heap_object_base(typing->heap, object)
               ? object
               : NO_TARGET;
}

#endif
