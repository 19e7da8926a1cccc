/*
 * fit: whether an object, or a part of it, can have a type; see fit.h.
 *
 * Two things are compared: sizes, since Go allocates slots of few sizes (the object's slot must be
 * the one for the type), and pointers, since a dump lists where an object has pointers (its field
 * list), and a type says where it has them (its pointer_map). The objects of one slot class have
 * the same size and field list, so most answers are found once per slot class and type.
 */
#include "typing/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/port.h"
#include "base/releases.h"

/* ---- sizes ---- */

/* Returns the slot size that the program allocates for size bytes; 0: a span of their own. */
uint64_t typing_slot(const struct typing *typing, uint64_t size)
{
    return size_class(size + (typing->has_red_zones ? size_class_red_zone(size) : 0));
}

/* Returns how many of size bytes in a slot can hold values: all but a red zone. */
uint64_t typing_room(const struct typing *typing, uint64_t size)
{
    return typing->has_red_zones ? size_class_without_red_zone(size) : size;
}

/* Returns whether the program takes a slot of this size for so many bytes. Yes if the slot is of
 * the size's own class (after the red zone of -asan, if the program has it), or one of the two
 * exceptions: small values without pointers share blocks of 16 bytes, and 24 bytes may be in 32,
 * since older releases have no class of 24. A large object's slot is whole pages. */
bool fits_class(const struct typing *typing, uint64_t size, uint64_t slot)
{
    if (size > slot)
        return false;
    if (typing->has_red_zones)
        size += size_class_red_zone(size); /* -asan appends it, so size may exceed slot now */
    if (size == slot)
        return true;
    const uint64_t class = size_class(size);
    if (size > slot)
        return false;
    if (slot == 16 && size < 16)
        return true; /* small values share a block, those with pointers have one of 8 bytes */
    if (class == 0)
        return slot - size < SPAN_UNIT; /* a large object: whole pages */
    return class == slot || (class == 24 && slot == 32);
}

/* Returns whether a value of size bytes is all that an object of a slot class holds. */
bool fills_slot(const struct typing *typing, const struct slot_class *slot_class, uint64_t size)
{
    if (slot_class->size == TINY_BLOCK && !slot_class->has_pointers)
        return size == TINY_BLOCK;
    return fits_class(typing, size, slot_class->size);
}

/* Returns whether a closure's last captured variable cannot be one held by reference. A reference
 * would lead to the begin of an object of the size class for the variable's type: if it leads to a
 * larger one, it is none. */
bool closure_last_is_value(const struct typing *typing, struct g2h_bytes contents, uint32_t type)
{
    const struct types *types = typing->types;
    const struct type *closure = types_get(types, type);
    if (closure->field_count < 2)
        return false;
    const struct type_field *last =
        &types->fields.data[closure->first_field + closure->field_count - 1];
    const struct type *pointer = types_get(types, last->type);
    if (pointer->kind != TYPE_POINTER || pointer->elem >= types->list.count ||
        contents.size < types->pointer_size || last->offset > contents.size - types->pointer_size)
        return false;
    const uint64_t value = heap_word(typing->heap, contents.data + last->offset);
    const uint32_t target = heap_find(typing->heap, value);
    if (target == UINT32_MAX)
        return false;
    const uint64_t base = heap_object_base(typing->heap, target);
    return value == heap_address(typing->heap, target) + base &&
           !fits_class(typing, base + types_size(types, pointer->elem),
                       heap_slot_class(typing->heap, target)->size);
}

/* Returns whether a type has a value of the wanted type at an offset, itself or in a part of a
 * part. */
bool type_holds(const struct types *types, uint32_t number, uint64_t offset, uint32_t wanted)
{
    for (unsigned depth = 0; depth < 64 && number < types->list.count; depth++) {
        if (offset == 0 && number == wanted)
            return true;
        if (!types_step_into(types, &number, &offset))
            return false;
    }
    return false;
}

/* Returns whether a claim on an object's start implies another claim. A part that the claimed type
 * has itself at this offset is no news, so that it need not be kept. */
bool claim_holds(const struct typing *typing, uint64_t base, uint32_t claimed, bool of_array,
                 uint64_t offset, uint32_t type, bool is_array)
{
    const struct type *whole = typer_type_of(typing, claimed);
    const struct type *part = typer_type_of(typing, type);
    if (is_array || offset < base || whole->size == 0 ||
        (!of_array && offset - base >= whole->size))
        return false;
    /* A claim on the start may be the better one. */
    if (offset == base &&
        (claimed == type || (whole->is_generic && !part->is_generic) || type_is_map_part(part)))
        return false;
    return type_holds(typing->types, claimed, (offset - base) % whole->size, type);
}

/* ---- arrays within structs ---- */

enum { ARRAYS_DEPTH = 64 };

/* Returns whether a struct, or a struct within it, has a field that is an array. has is by type: 0
 * if not known yet, else 1 plus the answer. */
static bool has_array(const struct types *types, uint8_t *has, uint32_t number, unsigned depth)
{
    const struct type *type = types_get(types, number);
    bool result = false;
    if (type->kind == TYPE_ARRAY)
        return type->length > 0;
    if (type->kind != TYPE_STRUCT || depth == 0)
        return false;
    if (has[number] != 0)
        return has[number] > 1;
    has[number] = 1; /* a damaged type may contain itself */
    for (uint32_t i = 0; i < type->field_count && !result; i++) {
        const uint32_t field = types_fields(types, type)[i].type;
        result = field < types->list.count && has_array(types, has, field, depth - 1);
    }
    has[number] = (uint8_t)(1 + result);
    return result;
}

/* Compares two types by size, and types of the same size by number, so that the order is always the
 * same. */
static int fit_compare_sizes(const void *one, const void *other, void *context)
{
    const struct types *types = context;
    const uint32_t a = *(const uint32_t *)one;
    const uint32_t b = *(const uint32_t *)other;
    const uint64_t size = types_size(types, a);
    const uint64_t other_size = types_size(types, b);
    if (size != other_size)
        return COMPARE(size, other_size);
    return COMPARE(a, b);
}

/* Returns whether a struct has the field that forbids allocating it in the heap, since Go 1.20. */
static bool is_not_in_heap(const struct types *types, const struct type *type)
{
    static const char marker[] = "/sys.NotInHeap"; /* this package has moved */
    const size_t size = sizeof(marker) - 1;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const uint32_t field = types_fields(types, type)[i].type;
        const struct g2h_bytes name =
            field < types->list.count ? types_name(types, field) : (struct g2h_bytes){.size = 0};
        if (name.size >= size && memcmp(name.data + name.size - size, marker, size) == 0)
            return true;
    }
    return false;
}

/* Returns whether objects may have a type. The runtime allocates by descriptor, so a type without
 * one is never allocated. If no type has one, the release has descriptors that are not supported,
 * and none is excluded. */
static bool may_be_allocated(const struct types *types, const struct type *type)
{
    return (type->address != 0 || types->low >= types->high) && !is_not_in_heap(types, type);
}

/* Lists the structs that have an array in them, and that may be allocated, by size. */
struct g2h_error *typing_find_arrays(struct typing *typing)
{
    const struct types *types = typing->types;
    _cleanup_free_ uint8_t *has = calloc(types->list.count + 1, sizeof(*has));
    TRY_MEMORY(has);
    for (uint32_t i = 0; i < types->list.count; i++)
        if (types_get(types, i)->kind == TYPE_STRUCT && types_size(types, i) > 0 &&
            may_be_allocated(types, types_get(types, i)) && has_array(types, has, i, ARRAYS_DEPTH))
            TRY_MEMORY(vector_push(&typing->with_arrays, i));
    if (typing->with_arrays.count > 0)
        qsort_r(typing->with_arrays.data, typing->with_arrays.count,
                sizeof(*typing->with_arrays.data), fit_compare_sizes, &typing->own_types);
    return NULL;
}

/* Returns whether a type has, in its fields, an array of elem with count elements or more from the
 * offset on. Looks ARRAYS_DEPTH levels deep. */
bool type_has_array(const struct types *types, uint32_t number, uint64_t offset, uint32_t elem,
                    uint64_t count)
{
    assert(elem < types->list.count && types_size(types, elem) > 0);
    for (unsigned depth = 0; depth < ARRAYS_DEPTH && number < types->list.count; depth++) {
        const struct type *type = types_get(types, number);
        const uint64_t begin = offset;
        if (!types_step_into(types, &number, &offset))
            return false;
        if (type->kind == TYPE_ARRAY && number == elem && offset == 0)
            return (type->size - begin) / types_size(types, elem) >= count;
    }
    return false;
}

/* Returns whether values may be a part of an array that is a field of some struct of this size. */
bool is_array_field(const struct typing *typing, uint64_t slot, uint64_t base, uint64_t offset,
                    uint32_t type, uint64_t count)
{
    size_t at;
    BISECT(at, typing->with_arrays.count,
           typer_type_of(typing, typing->with_arrays.data[at])->size <= slot - base);
    /* From the largest struct that fits downwards, until structs are too small for the slot. */
    while (at-- > 0) {
        const uint32_t holder = typing->with_arrays.data[at];
        if (!fits_class(typing, base + typer_type_of(typing, holder)->size, slot))
            return false;
        if (type_has_array(typing->types, holder, offset, type, count))
            return true;
    }
    return false;
}

/* ---- pointers ---- */

/* Returns how many values of a type, from base on and stride bytes apart, have their pointers where
 * the object has some. count is how many there are; 0: as many as fit, and one at the end that has
 * only its first pointers. Walks the object's pointers and the type's words at the same time: they
 * must be the same, element by element, with no pointer between them. *ret_rest: the object has
 * pointers that do not fit, or are behind the last value. */
uint64_t count_fitting(struct g2h_fields fields, uint64_t base, uint64_t stride,
                       const struct pointer_map *map, uint64_t count, bool *ret_rest)
{
    uint64_t offset, matching = 0;
    uint32_t word = 0;
    *ret_rest = false;
    bool more = fields_next_pointer(&fields, &offset);
    while (more && offset < base)
        more = fields_next_pointer(&fields, &offset);
    while (count == 0 || matching < count) {
        const uint64_t start = base + matching * stride;
        for (word = 0; word < map->word_count; word++) {
            if (!more) /* a partial element at the end of a list is fine */
                return count == 0 && (word > 0 || matching > 0) ? matching + (word > 0) : matching;
            if (offset != start + map->words[word]) {
                *ret_rest = true;
                return matching;
            }
            more = fields_next_pointer(&fields, &offset);
        }
        /* A pointer is left within the value, which the type does not have. */
        if (more && offset < start + stride && offset < start + map->size) {
            *ret_rest = true;
            return matching;
        }
        matching++;
        if (!more && count == 0)
            return matching;
    }
    *ret_rest = more;
    return matching;
}

/* Returns whether a value's pointers are where the object has pointers. The pointers of a type are
 * encoded as those of an object are, so a value at the start of an object fits if the encoded bytes
 * are equal. */
bool value_fits(const struct g2h_object *object, const struct field_index *index,
                const struct pointer_map *map, uint64_t offset, bool *ret_rest)
{
    const struct g2h_fields *fields = &object->fields;
    const size_t left = as_size(fields->end - fields->at);
    if (offset == 0 && map->code_size < left) { /* nearly all calls: compare bytes */
        *ret_rest = fields->at[map->code_size] != 0;
        if (memcmp(fields->at, map->code, map->code_size) != 0)
            return false;
        if (!*ret_rest)
            return true;
        struct g2h_fields behind = {.at = fields->at + map->code_size, .end = fields->end};
        uint64_t next;
        return fields_next_pointer(&behind, &next) && next >= map->size;
    }
    return count_fitting(fields_near(object, index, offset), offset, map->size, map, 1, ret_rest) ==
           1;
}

/* Returns whether an object's pointers after a value only repeat those of the value. After a malloc
 * header it always does; else only in objects too large for a bitmap, or with red zones (-asan), if
 * all fields after the first value fit into further ones. */
bool rest_repeats(const struct typing *typing, const struct slot_class *slot_class,
                  const struct g2h_object *object, const struct pointer_map *map)
{
    const struct g2h_heap *heap = typing->heap;
    const bool is_large = slot_class->size > LARGEST_SMALL || slot_class->is_headless;
    bool rest = false;
    if (heap_has_malloc_header(heap, slot_class))
        return true;
    if (heap->span_tail == TAIL_NONE || (!is_large && !typing->has_red_zones) || !map->known ||
        map->word_count == 0)
        return false;
    count_fitting(object->fields, 0, map->size, map, 0, &rest);
    return !rest;
}

/* Returns the word at offset of an object's contents, or 0 if the file does not have it. */
static uint64_t fit_word_at(const struct g2h_heap *heap, const struct g2h_object *object,
                            uint64_t offset)
{
    const uint64_t word = heap->params.pointer_size;
    return object->contents.size >= word && offset <= object->contents.size - word
               ? heap_word(heap, object->contents.data + offset)
               : 0;
}

/* Returns the size of the buffer behind a channel in its slot, or 0. In a channel (runtime.hchan)
 * dataqsiz, the number of elements, is the second word. A buffer without pointers is in one
 * allocation with the channel. */
uint64_t channel_buffer_size(struct typing *typing, const struct type *type,
                             const struct g2h_object *object, uint64_t offset)
{
    const uint64_t count =
        fit_word_at(typing->heap, object, offset + typing->heap->params.pointer_size);
    const uint32_t elem = typer_type_of(typing, type->elem)->elem;
    const struct pointer_map *map =
        elem < typing->types->list.count ? pointer_map_of(&typing->pointer_maps, elem) : NULL;
    if (!map || map->word_count > 0)
        return 0;
    const uint64_t size = map->size;
    return size > 0 && count < object->contents.size / size ? count * size : 0;
}

/* Returns whether a channel is of another element type. False as well if the release's channels do
 * not name their element type, or it has no descriptor in the program. */
bool is_other_channel(const struct typing *typing, const struct type *type,
                      const struct g2h_object *object, uint64_t offset)
{
    const struct g2h_heap *heap = typing->heap;
    const uint32_t elem = typer_type_of(typing, type->elem)->elem;
    if (typing->elemtype_offset == 0 || elem >= typing->types->list.count ||
        typer_type_of(typing, elem)->address == 0)
        return false;
    return fit_word_at(heap, object, offset + typing->elemtype_offset) !=
           typer_type_of(typing, elem)->address;
}
