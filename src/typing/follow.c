/*
 * follow: from objects and variables that have types to what these point to.
 */
#include <string.h>

#include "typing/typer.h"

/* A word that points to something, by its value and, if it is known, its target. */
struct pointer {
    uint64_t value;
    uint32_t target;
    uint8_t source;
};

static void refer(struct typer *typer, enum reference_form form, const struct pointer *pointer,
                  uint32_t type, uint64_t count)
{
    if (pointer->value == 0 || (form != REFERENCE_TEXT && form != REFERENCE_CLOSURE &&
                                type >= typer->typing->types->list.count))
        return;
    typer_refer(typer, form, pointer->value, count, type, pointer->target,
                (enum source)pointer->source);
}

void typer_follow_array(struct typer *typer, uint64_t value, uint32_t elem, enum source source)
{
    const struct pointer pointer = {value, NO_TARGET, (uint8_t)source};
    refer(typer, REFERENCE_ARRAY, &pointer, elem, 0);
}

/* The only pointer field of a value that is as large as a pointer. */
static uint32_t only_pointer_field(const struct types *types, uint32_t number)
{
    for (unsigned depth = 0; depth < 64 && number < types->list.count; depth++) {
        const struct type *type = &types->list.data[number];
        if (type->kind == TYPE_ARRAY) {
            number = type->elem;
        } else if (type->kind == TYPE_STRUCT) {
            const struct type_field *field = types_field_at(types, type, 0);
            number = field ? field->type : TYPE_NONE; /* the others are empty */
        } else {
            return number;
        }
    }
    return TYPE_NONE;
}

/* The word at a distance, maybe negative, from at; false where it is outside of what can be read.
 */
static bool word_near(const struct g2h_heap *heap, const uint8_t *at, const struct extent *extent,
                      uint64_t distance, uint64_t *ret)
{
    const uint64_t offset = (uint64_t)(at - extent->begin) + distance,
                   size = (uint64_t)(extent->end - extent->begin);
    if (size < heap->params.pointer_size || offset > size - heap->params.pointer_size)
        return false;
    *ret = heap_word(heap, extent->begin + offset);
    return true;
}

static void follow_pointer(struct typer *typer, const uint8_t *at, const struct extent *extent,
                           const struct pointer *pointer, uint32_t number)
{
    uint64_t word;
    const struct g2h_heap *heap = typer->typing->heap;
    const struct type *type = type_of(typer->typing, number);
    switch ((enum type_target)type->target) {
    case TARGET_ONE:
        refer(typer, REFERENCE_VALUE, pointer, type->elem, 0);
        break;
    case TARGET_MANY:
        refer(typer, REFERENCE_ARRAY, pointer, type->elem, 0);
        break;
    case TARGET_COUNTED:
        if (word_near(heap, at, extent, type->length, &word) && word > 0)
            refer(typer, REFERENCE_ARRAY, pointer, type->elem, word);
        break;
    case TARGET_BY_WORD:
        if (word_near(heap, at, extent, type->length, &word) && word == 0)
            refer(typer, REFERENCE_VALUE, pointer, type->elem, 0);
        else
            refer(typer, REFERENCE_ARRAY, pointer, type->other, 0);
        break;
    case TARGET_BY_CONTENT:
        refer(typer, REFERENCE_CONTENT, pointer, number, 0);
        break;
    }
}

/* Follows a word that is a value of a type, or the only pointer of one. */
static void follow_word(struct typer *typer, const struct pointer *pointer, uint32_t number)
{
    const struct type *type = type_of(typer->typing, number);
    if (type->kind == TYPE_POINTER)
        refer(typer,
              type->target == TARGET_MANY         ? REFERENCE_ARRAY
              : type->target == TARGET_BY_CONTENT ? REFERENCE_CONTENT
                                                  : REFERENCE_VALUE,
              pointer, type->target == TARGET_BY_CONTENT ? number : type->elem, 0);
    else if (type->kind == TYPE_MAP || type->kind == TYPE_CHAN)
        refer(typer, REFERENCE_VALUE, pointer, type->header, 0);
    else if (type->kind == TYPE_FUNC)
        refer(typer, REFERENCE_CLOSURE, pointer, 0, 0);
}

bool typer_follow_interface(struct typer *typer, uint64_t first, uint64_t data, bool is_empty,
                            uint32_t target, enum source source)
{
    const struct typing *typing = typer->typing;
    const struct pointer pointer = {data, target, (uint8_t)source};
    uint32_t number = typing_interface_type(typing, first, is_empty);
    if (number == TYPE_NONE)
        return false;
    if (!type_of(typing, number)->direct_interface)
        refer(typer, REFERENCE_VALUE, &pointer, number, 0);
    else if ((number = only_pointer_field(typing->types, number)) != TYPE_NONE)
        follow_word(typer, &pointer, number);
    return true;
}

void typer_follow(struct typer *typer, const uint8_t *at, const struct extent *extent,
                  const struct pointer_field *field, uint32_t target, enum source source)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const struct type *type = type_of(typer->typing, field->type);
    const uint64_t word = heap->params.pointer_size;
    const struct pointer pointer = {heap_word(heap, at), target, (uint8_t)source};
    if (pointer.value == 0)
        return;
    switch ((enum type_kind)type->kind) {
    case TYPE_POINTER:
        follow_pointer(typer, at, extent, &pointer, field->type);
        break;
    case TYPE_STRING:
        refer(typer, REFERENCE_TEXT, &pointer, 0, heap_word(heap, at + word));
        break;
    case TYPE_SLICE: {
        const uint64_t capacity = heap_word(heap, at + 2 * word);
        if (capacity > 0)
            refer(typer, REFERENCE_ARRAY, &pointer, type->elem, capacity);
        break;
    }
    case TYPE_INTERFACE:
        typer_follow_interface(typer, pointer.value, heap_word(heap, at + word),
                               type->empty_interface, target, SOURCE_INTERFACE);
        break;
    case TYPE_MAP:
    case TYPE_CHAN:
    case TYPE_FUNC:
        follow_word(typer, &pointer, field->type);
        break;
    default:
        break;
    }
}

/* ---- claims ---- */

/* What is to be followed of an object by a claim. */
struct claimed {
    uint64_t offset, count; /* values */
    uint32_t type;
    const struct pointer_map *map;
    struct extent extent; /* of the object, as far as it is in the file */
};

static void follow_fields(struct typer *typer, const struct claimed *claimed)
{
    const struct pointer_map *map = claimed->map;
    const uint64_t stored = (uint64_t)(claimed->extent.end - claimed->extent.begin);
    for (uint64_t i = 0; i < claimed->count; i++) {
        const uint64_t start = claimed->offset + i * map->size;
        if (start > stored || map->size > stored - start)
            break;
        for (uint32_t j = 0; j < map->field_count; j++)
            if (map->fields[j].is_string == typer->texts_only)
                typer_follow(typer, claimed->extent.begin + start + map->fields[j].offset,
                             &claimed->extent, &map->fields[j], NO_TARGET, SOURCE_POINTER);
    }
}

/*
 * The same where the claim begins with the object: the words of the values are those of the field
 * list, so the next one that lies in the heap has the next target. leaves_heap: others may lead
 * elsewhere, such as to what the linker laid out.
 */
static inline void follow_words_of(struct typer *typer, const struct claimed *claimed,
                                   const uint32_t *target, const uint32_t *end, bool leaves_heap,
                                   uint64_t (*word_at)(const struct g2h_heap *, const uint8_t *))
{
    const struct g2h_heap *heap = typer->typing->heap;
    const struct outside *outside = &typer->typing->outside;
    const struct pointer_map *map = claimed->map;
    const uint32_t *words = map->words, *field_of_word = map->field_of_word;
    const uint32_t word_count = map->word_count;
    const uint8_t *begin = claimed->extent.begin;
    const uint64_t stored = (uint64_t)(claimed->extent.end - begin), size = map->size;
    const uint64_t low = heap->index.low, span = heap->index.high - low;
    for (uint64_t i = 0; i < claimed->count && (target < end || leaves_heap); i++) {
        const uint64_t start = claimed->offset + i * size;
        if (start > stored || size > stored - start)
            break;
        for (uint32_t j = 0; j < word_count && (target < end || leaves_heap); j++) {
            const uint8_t *at = begin + start + words[j];
            const uint64_t value = word_at(heap, at);
            const bool is_inside = value - low < span;
            const uint32_t hit = is_inside && target < end ? *target++ : NO_TARGET;
            if (field_of_word[j] == POINTER_FIELD_NONE)
                continue;
            if (hit == NO_TARGET) {
                if (!typer->texts_only && (is_inside ? outside_is_stack(outside, value)
                                                     : outside_is_static(outside, value)))
                    typer_follow(typer, begin + start + map->fields[field_of_word[j]].offset,
                                 &claimed->extent, &map->fields[field_of_word[j]], NO_TARGET,
                                 SOURCE_POINTER);
                continue;
            }
            const struct pointer_field *field = &map->fields[field_of_word[j]];
            if (field->is_string != typer->texts_only)
                continue;
            const struct type *type = type_of(typer->typing, field->type);
            /* As typer_follow() does it: nearly all of them are of these two kinds. */
            if (type->kind == TYPE_STRING) {
                typer_refer(typer, REFERENCE_TEXT, value,
                            word_at(heap, at + heap->params.pointer_size), 0, hit, SOURCE_POINTER);
            } else if (type->kind == TYPE_POINTER && type->target == TARGET_ONE) {
                if (type->elem < typer->typing->types->list.count)
                    typer_refer(typer, REFERENCE_VALUE, value, 0, type->elem, hit, SOURCE_POINTER);
            } else {
                typer_follow(typer, begin + start + field->offset, &claimed->extent, field, hit,
                             SOURCE_POINTER);
            }
        }
    }
}

/* In nearly all dumps words are the machine's own. */
static inline uint64_t usual_word(const struct g2h_heap *heap, const uint8_t *at)
{
    uint64_t word;
    (void)heap;
    memcpy(&word, at, sizeof(word));
    return word;
}

static void follow_words(struct typer *typer, const struct claimed *claimed, const uint32_t *target,
                         const uint32_t *end, bool leaves_heap)
{
    if (heap_words_are_usual(typer->typing->heap))
        follow_words_of(typer, claimed, target, end, leaves_heap, usual_word);
    else
        follow_words_of(typer, claimed, target, end, leaves_heap, heap_word);
}

/* Whether the field list names a word of the malloc header that lies in the heap: a type that was
 * made while the program ran. */
static bool is_header_listed(const struct g2h_heap *heap, const struct g2h_object *object)
{
    struct g2h_fields fields = object->fields;
    uint64_t offset;
    return fields_next_pointer(&fields, &offset) && offset < MALLOC_HEADER &&
           object->contents.size >= MALLOC_HEADER &&
           in_heap_range(heap, heap_word(heap, object->contents.data));
}

static void read_claim(struct typing *typing, const struct item *item, struct claimed *ret,
                       bool *ret_fills)
{
    bool is_array;
    if (item->region == ITEM_START) {
        const uint32_t claim = __atomic_load_n(&typing->claims[item->object], __ATOMIC_RELAXED);
        ret->type = (claim & CLAIM_TYPE) - 1;
        ret->offset = object_base(typing->heap, item->object);
        is_array = (claim & CLAIM_ARRAY) != 0;
        ret->count = is_array ? 0 : 1;
    } else {
        const struct region *region = &shard_of(typing, item->object)->regions.data[item->region];
        ret->type = region->type;
        ret->offset = region->offset;
        is_array = region->is_array;
        ret->count = region->is_array ? region->count : 1;
    }
    *ret_fills = is_array && ret->count == 0;
}

void typer_follow_item(struct typer *typer, const struct item *item)
{
    struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const uint64_t size = heap_object_size(heap, item->object);
    struct claimed claimed;
    struct g2h_object object;
    bool fills;
    const uint32_t *end, *target = targets_of(typing->targets, item->object, &end);
    const bool is_listed = object_has_pointers(heap, item->object),
               leaves_heap =
                   !typer->texts_only && targets_leave_heap(typing->targets, item->object);
    if (is_listed && target == end && !leaves_heap)
        return; /* it leads nowhere */
    read_claim(typing, item, &claimed, &fills);
    claimed.map = pointer_map_of(&typing->pointer_maps, claimed.type);
    if (!claimed.map) {
        typer->no_memory = true;
        return;
    }
    if (typer->texts_only ? !claimed.map->has_strings : !claimed.map->has_others)
        return;
    heap_object(typer->typing->heap, item->object, &object);
    const uint64_t stored = object.contents.size < size ? object.contents.size : size;
    if (fills)
        claimed.count = (size - claimed.offset) / claimed.map->size;
    claimed.extent = (struct extent){object.contents.data, object.contents.data + stored};
    if (!is_listed || item->region != ITEM_START) {
        follow_fields(typer, &claimed);
        return;
    }
    target += claimed.offset > 0 && is_header_listed(heap, &object);
    follow_words(typer, &claimed, target, end, leaves_heap);
}
