/*
 * map_parts: finds the map type that buckets or groups belong to, by their contents.
 *
 * Many map types have buckets or groups of the same size with pointers at the same offsets:
 * map[string]*T for all T. They differ in the targets of their entries: objects of different sizes,
 * with different pointers, bytes of strings, or the types and itabs of interfaces.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/memory.h"
#include "typing/claims.h"
#include "typing/fit.h"
#include "typing/map_finder.h"

enum {
    SLOTS = 8,
    TRIED_LIMIT = 1024,  /* map types that are tried for one object */
    COUNTED_LIMIT = 128, /* buckets or groups whose slots are counted; tables have no more */
    FIT_LIMIT = 16,      /* buckets or groups whose pointers are compared */
};

#define STRING_LIMIT (UINT64_C(1) << 40) /* bytes */
#define NOTHING      (UINT32_MAX - 1)    /* the object belongs to no map type */

/* ---- buckets and groups of all map types ---- */

/* Returns the element type of a field that is an array with one element for each slot, or
 * TYPE_NONE. */
static uint32_t slot_array_elem(const struct types *types, const struct type_field *field)
{
    if (!field || field->type >= types->list.count)
        return TYPE_NONE;
    const struct type *array = types_get(types, field->type);
    return array->kind == TYPE_ARRAY && array->length == SLOTS && array->elem < types->list.count
               ? array->elem
               : TYPE_NONE;
}

/* Finds the keys and elems of { keys [8]K; elems [8]V }, or of { slots [8]struct { key K; elem V }
 * }. Returns false if a type is neither. */
static bool map_parts_find_slots(const struct types *types, uint32_t type, struct map_part *ret)
{
    const struct type_field *keys = types_field(types, type, "keys"),
                            *elems = types_field(types, type, "elems"),
                            *slots = types_field(types, type, "slots");
    const uint32_t key = slot_array_elem(types, keys);
    const uint32_t elem = slot_array_elem(types, elems);
    const uint32_t slot = slot_array_elem(types, slots);
    if (key != TYPE_NONE && elem != TYPE_NONE) {
        ret->keys = keys->offset;
        ret->elems = elems->offset;
        ret->key_stride = types_size(types, key);
        ret->elem_stride = types_size(types, elem);
        return true;
    }
    if (slot == TYPE_NONE)
        return false;
    ret->keys = ret->elems = slots->offset;
    ret->key_stride = ret->elem_stride = types_size(types, slot);
    return true;
}

/* Sorts by size; parts of a size with the same pointers are adjacent. */
static int map_parts_compare(const void *left, const void *right)
{
    const struct map_part *a = left;
    const struct map_part *b = right;
    if (a->size != b->size)
        return COMPARE(a->size, b->size);
    if (a->pointers != b->pointers)
        return COMPARE(a->pointers, b->pointers);
    return COMPARE(a->type, b->type);
}

/* Lists the buckets or groups of all map types, by size and pointers, so that an object without a
 * type can be compared with those of its shape. Left out are those whose slots or pointers are not
 * known. Returns false if memory runs out. */
bool map_parts_init(struct map_parts *parts, const struct typing *typing)
{
    const struct types *types = typing->types;
    enum { MIN_TOP_HASH = 5, MIN_TOP_HASH_BEFORE_12 = 4 /* minTopHash of runtime/map.go */ };
    const int minor = typing->release.minor;
    *parts = (struct map_parts){.least_used = minor != 0 && minor < 12 ? MIN_TOP_HASH_BEFORE_12
                                                                       : MIN_TOP_HASH};
    for (uint32_t i = 0; i < types->list.count; i++) {
        const struct type *type = types_get(types, i);
        struct map_part part = {.size = type->size, .map = type->elem, .type = i};
        if ((type->role != ROLE_MAP_BUCKET && type->role != ROLE_MAP_GROUP) || type->size < SLOTS ||
            type->elem >= types->list.count || !map_parts_find_slots(types, i, &part))
            continue;
        const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, i);
        if (!map)
            return false;
        if (!map->known)
            continue;
        part.pointers = map_hash_text(map->code, map->code_size);
        parts->swiss = type->role == ROLE_MAP_GROUP;
        if (!vector_push(&parts->list, part))
            return false;
    }
    if (parts->list.count > 0)
        qsort(parts->list.data, parts->list.count, sizeof(*parts->list.data), map_parts_compare);
    return true;
}

void map_parts_deinit(struct map_parts *parts)
{
    free(parts->list.data);
}

/* ---- slots ---- */

/* ctrlEmpty and ctrlDeleted of a group, which have the highest bit: that of a used slot is 0. */
enum { CTRL_EMPTY = 0x80 };

/* Returns whether a slot of the bucket or group at value is in use. */
static bool is_slot_used(const struct g2h_heap *heap, const struct map_parts *parts,
                         const uint8_t *value, unsigned slot)
{
    if (!parts->swiss) /* runtime/map.go: minTopHash */
        return value[slot] >= parts->least_used;
    /* internal/runtime/maps/group.go: ctrl is a number whose lowest byte belongs to slot 0 */
    return value[heap->params.big_endian ? SLOTS - 1 - slot : slot] < CTRL_EMPTY;
}

/* Returns how many slots of a bucket or group are in use. */
static unsigned used_slots(const struct map_parts *parts, const uint8_t *value)
{
    unsigned used = 0;
    for (unsigned slot = 0; slot < SLOTS; slot++) /* the order does not matter */
        used += parts->swiss ? value[slot] < CTRL_EMPTY : value[slot] >= parts->least_used;
    return used;
}

/* Returns whether as many slots of the buckets or groups are in use as the map's own words say:
 * exactly, or at most if the map also has entries elsewhere. */
static bool usage_agrees(const struct map_parts *parts, const struct g2h_bytes *values,
                         uint64_t size, const struct map_array *array)
{
    const uint64_t stored = values->size / size;
    const uint64_t count = MIN(array->allocated, stored);
    uint64_t used = 0;
    for (uint64_t i = 0; i < count && i < COUNTED_LIMIT; i++)
        used += used_slots(parts, values->data + i * size);
    /* Of more than COUNTED_LIMIT only a part was counted. */
    return used > 0 &&
           (array->all_used && count <= COUNTED_LIMIT ? used == array->used : used <= array->used);
}

/* Returns the slot that the byte at an offset of a bucket or group belongs to, or SLOTS if there is
 * none. */
static unsigned map_parts_slot_of(const struct map_part *part, uint64_t offset)
{
    if (part->key_stride > 0 && offset >= part->keys &&
        (offset - part->keys) / part->key_stride < SLOTS)
        return (unsigned)((offset - part->keys) / part->key_stride);
    if (part->elem_stride > 0 && offset >= part->elems &&
        (offset - part->elems) / part->elem_stride < SLOTS)
        return (unsigned)((offset - part->elems) / part->elem_stride);
    return SLOTS;
}

/* ---- targets of entries ---- */

/* How well a value agrees with its supposed type. */
enum agreement { DISAGREES, MAY_AGREE /* if it is a part of a larger value */, AGREES };

/* Returns whether the dump's release of Go allocates a slot of this size for size bytes.
 * fits_class() accepts 32 bytes for 17 to 24, as before Go 1.16, which had no class of 24. */
static bool fits_class_of_release(const struct typing *typing, uint64_t size, uint64_t slot)
{
    const int minor = typing->release.minor;
    return fits_class(typing, size, slot) && (minor == 0 || minor < 16 || slot != 32 || size > 24);
}

/* Returns how well the memory at an address agrees with count consecutive values of a type; count
 * is at least 1. Memory that is not in the heap cannot be checked, and agrees. AGREES takes an
 * object of the size class for these values, from its start; DISAGREES one that is too small, has
 * other pointers, or another certain type. */
static enum agreement values_agree(struct typer *typer, uint64_t address, uint32_t type,
                                   uint64_t count)
{
    const struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const uint32_t number = heap_find(heap, address);
    assert(count > 0);
    /* Between the objects may be a stack, but also memory that has been freed. */
    if (type >= typing->types->list.count || number == NO_TARGET)
        return in_heap_range(heap, address) ? MAY_AGREE : AGREES;
    const struct slot_class *slot_class = heap_slot_class(heap, number);
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, type);
    const uint64_t offset = address - heap_address(heap, number),
                   base = heap_value_base(heap, slot_class);
    uint64_t size;
    if (!map) {
        typer->no_memory = true;
        return DISAGREES;
    }
    if (offset < base || __builtin_mul_overflow(map->size, count, &size) ||
        offset > slot_class->size || size > slot_class->size - offset)
        return DISAGREES;
    bool rest = false;
    /* The collector sees no pointers in the object, but the type has some. */
    if (!slot_class->has_pointers && map->word_count > 0 &&
        !typer_type_of(typing, type)->may_be_noscan)
        return DISAGREES;
    if (slot_class->has_pointers && map->known) {
        struct g2h_object object;
        if (offset >= FIELD_STRIDE) /* the field list up to this offset is long */
            return MAY_AGREE;
        heap_object(heap, number, &object);
        if (!value_fits(&object, NULL, map, offset, &rest))
            return DISAGREES;
        /* Of several values only the first was compared, so the others are the rest. */
        rest = rest && count == 1 && !rest_repeats(typing, slot_class, &object, map);
    }
    const uint32_t claim = __atomic_load_n(&typing->claims[number], __ATOMIC_RELAXED);
    if (offset == base && claim_is_certain(claim) && (claim & CLAIM_TYPE) - 1 != type)
        return type_holds(typing->types, (claim & CLAIM_TYPE) - 1, 0, type) ? MAY_AGREE : DISAGREES;
    return offset == base && !rest && fits_class_of_release(typing, base + size, slot_class->size)
               ? AGREES
               : MAY_AGREE;
}

/* Returns how well a string agrees: its bytes are in an object without pointers, up to its length.
 * An empty one agrees; one of STRING_LIMIT bytes or more does not. An address between objects may
 * agree. */
static enum agreement string_agrees(const struct g2h_heap *heap, uint64_t address, uint64_t length)
{
    if (length == 0)
        return AGREES;
    if (address == 0 || length >= STRING_LIMIT)
        return DISAGREES;
    const uint32_t object = heap_find(heap, address);
    if (object == NO_TARGET)
        return in_heap_range(heap, address) ? MAY_AGREE : AGREES;
    const struct slot_class *slot_class = heap_slot_class(heap, object);
    const uint64_t offset = address - heap_address(heap, object);
    return !slot_class->has_pointers && offset <= slot_class->size &&
                   length <= slot_class->size - offset
               ? AGREES
               : DISAGREES;
}

/* Returns how well a slice agrees: its length, its capacity, and the values of type elem up to the
 * capacity. */
static enum agreement slice_agrees(struct typer *typer, const uint8_t *at, uint32_t elem)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint64_t address = heap_word(heap, at);
    const uint64_t length = heap_word(heap, at + word);
    const uint64_t capacity = heap_word(heap, at + 2 * word);
    if (length > capacity || (address == 0 && capacity > 0))
        return DISAGREES;
    /* Without elements, it does not matter where it points. */
    return capacity == 0 ? AGREES : values_agree(typer, address, elem, capacity);
}

/* Returns how well the target of a func value agrees: it must begin with the address of code. */
static enum agreement func_agrees(const struct typing *typing, uint64_t address)
{
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const uint32_t object = heap_find(heap, address);
    if (object == NO_TARGET)
        return in_heap_range(heap, address) ? MAY_AGREE : AGREES;
    const struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t offset = address - heap_address(heap, object);
    return contents.size >= word && offset <= contents.size - word &&
                   map_get(&typing->closure_by_entry, heap_word(heap, contents.data + offset)) !=
                       MAP_NONE
               ? AGREES
               : DISAGREES;
}

/* Returns how well the target of a channel agrees: a channel has the type of its elements. header:
 * TYPE_CHAN's. */
static enum agreement chan_agrees(const struct typing *typing, uint64_t address, uint32_t header)
{
    const struct g2h_heap *heap = typing->heap;
    const uint32_t number = heap_find(heap, address);
    struct g2h_object object;
    if (header >= typing->types->list.count || number == NO_TARGET)
        return in_heap_range(heap, address) ? MAY_AGREE : AGREES;
    heap_object(heap, number, &object);
    return typing->elemtype_offset == 0 || is_other_channel(typing, typer_type_of(typing, header),
                                                            &object, address - object.address)
               ? DISAGREES
               : AGREES;
}

/* Returns how well a pointer field of a type (number) agrees with what it points to. Its value is
 * at `at`, with all of its words. */
static enum agreement field_agrees(struct typer *typer, uint32_t number, const uint8_t *at)
{
    const struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const struct type *type = typer_type_of(typing, number);
    const uint64_t word = heap->params.pointer_size;
    const uint64_t first = heap_word(heap, at);
    switch ((enum type_kind)type->kind) {
    case TYPE_POINTER:
        return first == 0 || type->target != TARGET_ONE ? AGREES
                                                        : values_agree(typer, first, type->elem, 1);
    case TYPE_MAP:
        return first == 0 ? AGREES : values_agree(typer, first, type->header, 1);
    case TYPE_CHAN:
        return first == 0 ? AGREES : chan_agrees(typing, first, type->header);
    case TYPE_FUNC:
        return first == 0 ? AGREES : func_agrees(typing, first);
    case TYPE_STRING:
        return string_agrees(heap, first, heap_word(heap, at + word));
    case TYPE_SLICE:
        return slice_agrees(typer, at, type->elem);
    case TYPE_INTERFACE:
        return (first == 0 && heap_word(heap, at + word) == 0) ||
                       (first != 0 &&
                        typing_interface_type(typing, first, type->empty_interface) != TYPE_NONE)
                   ? AGREES
                   : DISAGREES;
    default:
        return AGREES;
    }
}

/* Returns how well the entries in use of the first count buckets or groups agree with their type:
 * as the worst of them. The other slots may have any content. */
static enum agreement entries_agree(struct typer *typer, const struct map_parts *parts,
                                    const struct map_part *part, const struct g2h_bytes *values,
                                    uint64_t count)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const struct pointer_map *map = pointer_map_of(&typer->typing->pointer_maps, part->type);
    enum agreement worst = AGREES;
    for (uint64_t i = 0; i < count && worst != DISAGREES; i++) {
        const uint8_t *value = values->data + i * part->size;
        for (uint32_t j = 0; j < map->field_count && worst != DISAGREES; j++) {
            const struct pointer_field *field = &map->fields[j];
            const unsigned slot = map_parts_slot_of(part, field->offset);
            if (slot == SLOTS || !is_slot_used(heap, parts, value, slot))
                continue;
            const enum agreement one = field_agrees(typer, field->type, value + field->offset);
            worst = MIN(one, worst);
        }
    }
    return worst;
}

/* ---- all map types ---- */

/* Returns whether the pointers of an object are those of count buckets or groups of a type. */
static bool pointers_fit(struct typer *typer, uint32_t number, const struct map_part *part,
                         uint64_t count)
{
    const struct typing *typing = typer->typing;
    const struct slot_class *slot_class = heap_slot_class(typing->heap, number);
    const struct type *type = typer_type_of(typing, part->type);
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, part->type);
    struct g2h_object object;
    bool rest;
    if (!slot_class->has_pointers)
        return type->may_be_noscan || map->word_count == 0;
    if (map->word_count == 0 || type->may_be_noscan)
        return false;
    heap_object(typing->heap, number, &object);
    return count_fitting(object.fields, heap_value_base(typing->heap, slot_class), part->size, map,
                         count, &rest) == count;
}

/* The part that agrees, as its index in parts->list, or NOTHING; and whether parts of several map
 * types agree. */
struct map_parts_choice {
    uint32_t part;
    bool several;
};

/* Adds a part to a choice, which becomes ambiguous if the part belongs to another map type. Types
 * of the same name are one type. */
static void map_parts_choose(const struct typing *typing, const struct map_parts *parts,
                             struct map_parts_choice *choice, uint32_t part)
{
    if (choice->part == NOTHING)
        choice->part = part;
    else if (typer_type_of(typing, parts->list.data[choice->part].map)->name !=
             typer_type_of(typing, parts->list.data[part].map)->name)
        choice->several = true;
}

/* Returns the only part that agrees in all, or if there is none, the only part that may agree.
 * Returns NOTHING if there are several. */
static uint32_t chosen(const struct map_parts_choice *best, const struct map_parts_choice *others)
{
    const struct map_parts_choice *choice = best->part != NOTHING ? best : others;
    return choice->several ? NOTHING : choice->part;
}

/* Returns the values that an object consists of, as far as they are in the input. */
static struct g2h_bytes values_of(const struct g2h_heap *heap, uint32_t object)
{
    const uint64_t base = heap_object_base(heap, object);
    const struct g2h_bytes contents = heap_contents(heap, object);
    return contents.size > base ? bytes_from(contents, base) : (struct g2h_bytes){0};
}

/* Returns whether the buckets or groups of two map types have the same size and pointers, so that
 * pointers_fit() has the same answer for both. */
static bool has_same_pointers(const struct typer *typer, const struct map_part *one,
                              const struct map_part *other)
{
    const struct typing *typing = typer->typing;
    const struct pointer_map *left = pointer_map_of(&typing->pointer_maps, one->type),
                             *right = pointer_map_of(&typing->pointer_maps, other->type);
    return left && right && left->known && right->known && left->code_size == right->code_size &&
           one->size == other->size &&
           typer_type_of(typing, one->type)->may_be_noscan ==
               typer_type_of(typing, other->type)->may_be_noscan &&
           memcmp(left->code, right->code, left->code_size) == 0;
}

/* Returns the index in parts->list of the only part that an object can consist of, if `allocated`
 * buckets or groups were requested, or NOTHING. Parts are sorted by size: those that Go would
 * allocate this slot for are adjacent. */
static uint32_t map_parts_index(struct typer *typer, const struct map_parts *parts, uint32_t object,
                                uint64_t allocated)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t slot = heap_object_size(heap, object);
    const uint64_t base = heap_object_base(heap, object);
    const struct g2h_bytes values = values_of(heap, object);
    struct map_parts_choice best = {.part = NOTHING};
    struct map_parts_choice others = best;
    const struct map_part *last = NULL;
    bool fits = false;
    size_t at;
    assert(allocated > 0);
    if (slot < base)
        return NOTHING;
    BISECT(at, parts->list.count, parts->list.data[at].size <= (slot - base) / allocated);
    for (unsigned tried = 0; at-- > 0; tried++) {
        const struct map_part *part = &parts->list.data[at];
        if (!fits_class(typer->typing, base + allocated * part->size, slot))
            break;
        if (tried == TRIED_LIMIT)
            return NOTHING;
        const uint64_t stored = values.size / part->size;
        const uint64_t whole = MIN(allocated, stored);
        const uint64_t count = MIN(whole, FIT_LIMIT);
        if (!last || !has_same_pointers(typer, last, part))
            fits = pointers_fit(typer, object, part, count);
        last = part;
        const enum agreement agreement =
            fits ? entries_agree(typer, parts, part, &values, count) : DISAGREES;
        if (agreement != DISAGREES)
            map_parts_choose(typer->typing, parts, agreement == AGREES ? &best : &others,
                             as_u32(at));
    }
    return chosen(&best, &others);
}

/* Returns the map type to which an object can belong as buckets or groups, or TYPE_NONE. All arrays
 * of the same object and size have the same part, but each must agree by itself with how many slots
 * are in use. */
uint32_t map_parts_find(struct typer *typer, const struct map_parts *parts, struct map *cache,
                        const struct map_array *array)
{
    const uint64_t key = map_hash_pair(array->object, array->allocated);
    uint32_t first;
    uint32_t part = map_get(cache, key);
    if (part == MAP_NONE) {
        part = map_parts_index(typer, parts, array->object, array->allocated);
        if (!map_put(cache, key, part, &first))
            typer->no_memory = true;
    }
    if (part == NOTHING)
        return TYPE_NONE;
    const struct g2h_bytes values = values_of(typer->typing->heap, array->object);
    return usage_agrees(parts, &values, parts->list.data[part].size, array)
               ? parts->list.data[part].map
               : TYPE_NONE;
}
