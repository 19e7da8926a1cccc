/*
 * propose: whether a type fits an object, and the claims that do.
 *
 * The hard filter: where the type has a pointer the dump's field list has one, and the other way
 * round, over all of its extent; and the extent fits the slot.
 */
#include <string.h>

#include "base/bisect.h"
#include "typing/typer.h"

/* runtime/sizeclasses.go; the same since Go 1.16, which added 24. */
static const uint16_t size_classes[] = {
    8,     16,    24,    32,    48,    64,    80,    96,    112,   128,   144,   160,  176,   192,
    208,   224,   240,   256,   288,   320,   352,   384,   416,   448,   480,   512,  576,   640,
    704,   768,   896,   1024,  1152,  1280,  1408,  1536,  1792,  2048,  2304,  2688, 3072,  3200,
    3456,  4096,  4864,  5120,  5376,  6144,  6528,  6784,  6912,  8192,  9472,  9728, 10240, 10880,
    12288, 13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768};

uint64_t size_class(uint64_t size)
{
    const size_t count = sizeof(size_classes) / sizeof(size_classes[0]);
    size_t at;
    BISECT(at, count, size_classes[at] < size);
    return at < count ? size_classes[at] : 0;
}

bool fits_class(uint64_t size, uint64_t slot)
{
    if (size == slot)
        return true;
    const uint64_t page = 8192, class = size_class(size);
    if (size > slot)
        return false;
    if (slot == 16 && size < 16)
        return true; /* small values without pointers share a block; those with have one of 8 bytes
                      */
    if (class == 0)
        return slot - size < page;
    return class == slot || (class == 24 && slot == 32);
}

/* Whether that many bytes are all that such an object has. */
static bool fills(const struct slot_class *slot_class, uint64_t size)
{
    if (slot_class->size == TINY_BLOCK && !slot_class->has_pointers)
        return size == TINY_BLOCK;
    return fits_class(size, slot_class->size);
}

bool type_holds(const struct types *types, uint32_t number, uint64_t offset, uint32_t wanted)
{
    for (unsigned depth = 0; depth < 64 && number < types->list.count; depth++) {
        const struct type *type = &types->list.data[number];
        if (offset == 0 && number == wanted)
            return true;
        if (type->kind == TYPE_ARRAY) {
            if (type->elem >= types->list.count || types->list.data[type->elem].size == 0 ||
                offset >= type->size)
                return false;
            number = type->elem;
            offset %= types->list.data[number].size;
            continue;
        }
        if (type->kind != TYPE_STRUCT)
            return false;
        const struct type_field *field = types_field_at(types, type, offset);
        if (!field)
            return false;
        number = field->type;
        offset -= field->offset;
    }
    return false;
}

bool claim_holds(const struct typing *typing, uint64_t base, uint32_t claimed, bool of_array,
                 uint64_t offset, uint32_t type, bool is_array)
{
    const struct type *whole = type_of(typing, claimed), *part = type_of(typing, type);
    if (is_array || offset < base || whole->size == 0 ||
        (!of_array && offset - base >= whole->size))
        return false;
    /* On the start it may be the better claim. */
    if (offset == base &&
        (claimed == type || (whole->is_generic && !part->is_generic) || type_is_map_part(part)))
        return false;
    return type_holds(typing->types, claimed, (offset - base) % whole->size, type);
}

/* ---- the filter ---- */

/*
 * Compares a field list with values of a pointer map that stand one behind the other from base on:
 * at most count of them, 0 for as many as there are fields. Gives how many values agree in all
 * their words (the last one may be cut by the list's end), and whether fields come behind them.
 */
static uint64_t count_matching(struct g2h_fields fields, uint64_t base, uint64_t stride,
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

/* Whether a value at offset fits the object; *ret_rest: there are pointers behind it. */
static bool value_fits(const struct g2h_object *object, const struct field_index *index,
                       const struct pointer_map *map, uint64_t offset, bool *ret_rest)
{
    const struct g2h_fields *fields = &object->fields;
    const size_t left = (size_t)(fields->end - fields->at);
    if (offset == 0 && map->code_size < left) { /* nearly all: compare the bytes */
        *ret_rest = fields->at[map->code_size] != 0;
        if (memcmp(fields->at, map->code, map->code_size) != 0)
            return false;
        if (!*ret_rest)
            return true;
        struct g2h_fields behind = {.at = fields->at + map->code_size, .end = fields->end};
        uint64_t next;
        return fields_next_pointer(&behind, &next) && next >= map->size;
    }
    return count_matching(fields_near(object, index, offset), offset, map->size, map, 1,
                          ret_rest) == 1;
}

/*
 * Whether the fields behind a value are those of values that are not there: from Go 1.22 on, what
 * is too large for a bitmap has its type's pointers over and over, up to the end of the slot
 * (typePointers.next in runtime/mbitmap.go). Behind a malloc header that need not be checked.
 */
static bool is_repetition(const struct g2h_heap *heap, const struct slot_class *slot_class,
                          const struct g2h_object *object, const struct pointer_map *map)
{
    bool rest = false;
    if (heap_has_malloc_header(heap, slot_class))
        return true;
    if (heap->span_tail == TAIL_NONE ||
        (slot_class->size <= LARGEST_SMALL && !slot_class->is_headless) || !map->known ||
        map->word_count == 0)
        return false;
    count_matching(object->fields, 0, map->size, map, 0, &rest);
    return !rest;
}

/* A word of an object's contents; 0 where it is not in the file. */
static uint64_t word_at(const struct g2h_heap *heap, const struct g2h_object *object,
                        uint64_t offset)
{
    const uint64_t word = heap->params.pointer_size;
    return object->contents.size >= word && offset <= object->contents.size - word
               ? heap_word(heap, object->contents.data + offset)
               : 0;
}

/* The bytes behind a channel in the same slot: its buffer, if the elements have no pointers
 * (runtime.makechan); the number of elements is hchan.dataqsiz, the second word. */
static uint64_t buffer_size(struct typing *typing, const struct type *type,
                            const struct g2h_object *object, uint64_t offset)
{
    const uint64_t count =
        word_at(typing->heap, object, offset + typing->heap->params.pointer_size);
    const uint32_t elem = type_of(typing, type->elem)->elem;
    const struct pointer_map *map =
        elem < typing->types->list.count ? pointer_map_of(&typing->pointer_maps, elem) : NULL;
    if (!map || map->word_count > 0)
        return 0;
    const uint64_t size = map->size;
    return size > 0 && count < object->contents.size / size ? count * size : 0;
}

/* Whether a channel says itself that its elements are of another type than this one's. */
static bool is_other_channel(const struct typing *typing, const struct type *type,
                             const struct g2h_object *object, uint64_t offset)
{
    const struct g2h_heap *heap = typing->heap;
    const uint32_t elem = type_of(typing, type->elem)->elem;
    if (typing->elemtype_offset == 0 || elem >= typing->types->list.count ||
        type_of(typing, elem)->address == 0)
        return false;
    return word_at(heap, object, offset + typing->elemtype_offset) !=
           type_of(typing, elem)->address;
}

/* ---- claims ---- */

static void push_item(struct typer *typer, uint32_t object, uint32_t region,
                      const struct pointer_map *map)
{
    if (map->has_others && !vector_push(&typer->items, ((struct item){object, region})))
        typer->no_memory = true;
}

/* One on a start. While threads run, those that lead nowhere are noted as well. */
static inline void push_start(struct typer *typer, uint32_t object, const struct pointer_map *map)
{
    if (map->has_others ? !vector_push(&typer->items, ((struct item){object, ITEM_START}))
                        : typer->shared && !vector_push(&typer->fresh, object))
        typer->no_memory = true;
}

/* In shard->known: it does not fit. */
#define REGION_REFUSED (MAP_NONE - 1)

/* Of what is said of a place of an object. */
static uint64_t region_key(uint32_t object, uint64_t offset, uint32_t type, bool is_array)
{
    return map_hash_pair((uint64_t)object << 32 | type, offset << 1 | is_array);
}

/* Whether nothing new is said of a part of an object: it is known, or known not to fit. */
static bool is_known(struct typer *typer, uint32_t object, uint64_t offset, bool is_array,
                     const struct reference *reference)
{
    struct shard *shard = shard_of(typer->typing, object);
    bool result = false;
    const uint32_t found =
        map_get(&shard->known, region_key(object, offset, reference->type, is_array));
    if (found == REGION_REFUSED) {
        result = true;
    } else if (found != MAP_NONE) {
        struct region *known = &shard->regions.data[found];
        result = known->object == object && known->offset == offset &&
                 known->type == reference->type && known->is_array == is_array &&
                 known->count >= reference->count && (!is_array || reference->count > 0) &&
                 known->source <= reference->source;
    }
    return result;
}

/* Remembers that a value does not fit a place of a large object. */
static void refuse(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type)
{
    struct shard *shard = shard_of(typer->typing, object);
    uint32_t first;
    if (!map_put(&shard->known, region_key(object, offset, type, false), REGION_REFUSED, &first))
        typer->no_memory = true;
}

/*
 * Few programs come near: so many parts of an object, and so many bytes of arrays that overlap.
 * What is beyond is not looked at, whichever came last.
 */
static bool is_too_much(const struct g2h_heap *heap, const struct region *region,
                        const struct region *last)
{
    const uint64_t size = heap_object_size(heap, region->object);
    return last && (last->number >= 64 + size / 64 || last->reach / 16 > size + 4096);
}

/*
 * Of parts without pointers only the first of an object matters: it names the object where nothing
 * is known of its start. False where the region is not to be added.
 */
static bool is_first_pointerless(const struct typing *typing, struct shard *shard,
                                 const struct region *region)
{
    const uint32_t found = map_get(&shard->pointerless, region->object);
    if (found == MAP_NONE)
        return true;
    struct region *known = &shard->regions.data[found];
    if (region_is_before(typing, region, known)) {
        const struct region old = *known;
        *known = *region;
        known->next = old.next;
        known->number = old.number;
        known->reach = old.reach;
    }
    return false;
}

/* Another claim on an object that has one, or a claim on a part of it. */
static void claim_region(struct typer *typer, uint32_t object, const struct region *wanted,
                         const struct pointer_map *map)
{
    const struct typing *typing = typer->typing;
    struct shard *shard = shard_of(typer->typing, object);
    struct region region = *wanted;
    const bool pointerless =
        map->known && map->field_count == 0 && region.offset != object_base(typing->heap, object);
    const uint64_t key = region_key(object, region.offset, region.type, region.is_array);
    region.object = object;
    const uint32_t first = map_get(&shard->first, object), added = (uint32_t)shard->regions.count;
    const uint32_t found = pointerless ? MAP_NONE : map_get(&shard->known, key);
    const struct region *last = first == MAP_NONE ? NULL : &shard->regions.data[first];
    uint32_t number;
    bool good = !pointerless || is_first_pointerless(typing, shard, &region);
    if (found < shard->regions.count) {
        struct region *known = &shard->regions.data[found];
        if (known->count >= region.count) {
            if (region.source < known->source)
                known->source = region.source;
            known->is_exact = known->is_exact || region.is_exact;
            good = false;
        }
    }
    if (good && !is_too_much(typing->heap, &region, last)) {
        region.next = first == MAP_NONE ? UINT32_MAX : first;
        region.number = last ? last->number + 1 : 1;
        region.reach = (last ? last->reach : 0) + region.count * map->size;
        good = added < REGION_REFUSED && vector_push(&shard->regions, region) &&
               (pointerless ? map_put(&shard->pointerless, object, added, &number)
                            : map_put(&shard->known, key, added, &number));
        if (good && !pointerless && number != added && number < added) {
            struct region *old = &shard->regions.data[number], *new = &shard->regions.data[added];
            map_set(&shard->known, key, added);
            old->is_superseded = true;
            new->source = old->source < new->source ? old->source : new->source;
            new->is_exact = new->is_exact || old->is_exact;
        }
        if (good && first == MAP_NONE) {
            __atomic_fetch_or(&typer->typing->has_regions[object / 64],
                              (uint64_t)1 << (object % 64), __ATOMIC_RELAXED);
            good = map_put(&shard->first, object, added, &number);
        } else if (good)
            map_set(&shard->first, object, added);
        typer->no_memory = typer->no_memory || !good;
    } else {
        good = false;
    }
    if (good)
        push_item(typer, object, added, map);
}

/* So many pointers to different values of one type make an array of what they point into. */
enum { ENOUGH_FOR_ARRAY = 16 };

/* Whether that many were seen, of which this is one. */
static bool is_one_of_many(struct typer *typer, uint32_t object, uint64_t offset, uint32_t type)
{
    struct shard *shard = shard_of(typer->typing, object);
    const uint64_t total = region_key(object, UINT64_MAX / 2, type, false);
    uint32_t count = 0, first = 0;
    bool good = map_put(&shard->known, total, 0, &count);
    if (good && count < ENOUGH_FOR_ARRAY) {
        good = map_put(&shard->known, region_key(object, offset, type, true) + 1, count, &first);
        if (good && first == count)
            map_set(&shard->known, total, ++count);
    }
    typer->no_memory = typer->no_memory || !good;
    return count >= ENOUGH_FOR_ARRAY;
}

static uint32_t pack(bool is_array, bool is_exact, enum source source, uint32_t type)
{
    return (is_array ? (uint32_t)CLAIM_ARRAY : 0) | (is_exact ? (uint32_t)CLAIM_EXACT : 0) |
           (uint32_t)source << CLAIM_SOURCE_SHIFT | (type + 1);
}

static bool same_claim(uint32_t one, uint32_t other)
{
    return ((one ^ other) & (CLAIM_ARRAY | CLAIM_TYPE)) == 0;
}

static bool is_certain(uint32_t claim)
{
    return claim != 0 && (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT == SOURCE_HEADER;
}

/* Another claim on the object's start than the one that it has. */
static void claim_too(struct typer *typer, uint32_t object, uint64_t base, uint32_t claim,
                      const struct pointer_map *map)
{
    uint32_t *place = &typer->typing->claims[object];
    const uint32_t old = *place;
    /* An array takes the place of its first element: what points into it is known then. */
    const bool is_larger = !is_certain(old) && (claim & CLAIM_ARRAY) != 0 &&
                           ((old ^ claim) & (CLAIM_ARRAY | CLAIM_TYPE)) == CLAIM_ARRAY;
    const uint32_t other = is_larger ? old : claim;
    const struct region region = {.offset = base,
                                  .type = (claim & CLAIM_TYPE) - 1,
                                  .source = (uint8_t)((other & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT),
                                  .is_array = (other & CLAIM_ARRAY) != 0,
                                  .is_exact = (other & CLAIM_EXACT) != 0};
    if (is_larger)
        *place = claim;
    claim_region(typer, object, &region, map);
    if (is_larger)
        push_start(typer, object, map);
}

/* A claim on the object's start. Of several threads the first one is believed for now. */
static void claim_start(struct typer *typer, uint32_t object, uint64_t base, bool is_array,
                        bool is_exact, const struct reference *reference,
                        const struct pointer_map *map)
{
    uint32_t *place = &typer->typing->claims[object];
    const uint32_t claim = pack(is_array, is_exact, reference->source, reference->type);
    uint32_t old = __atomic_load_n(place, __ATOMIC_RELAXED);
    for (;;) {
        uint32_t wanted = claim | typer->shared;
        if (old != 0) {
            if (!same_claim(old, claim)) {
                if (!typer_waits(typer, object, base, reference))
                    claim_too(typer, object, base, claim, map);
                return;
            }
            /* the better source, and exact if one of them is */
            wanted = (old & CLAIM_SOURCE) < (claim & CLAIM_SOURCE) ? old : claim;
            wanted |= ((old | claim) & CLAIM_EXACT) | (old & CLAIM_FRESH);
            if (wanted == old)
                return;
        }
        if (__atomic_compare_exchange_n(place, &old, wanted, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            if (old == 0)
                push_start(typer, object, map);
            return;
        }
    }
}

/* A string that points to an object without pointers. */
static void claim_text(struct typing *typing, uint32_t object, uint64_t size, uint64_t offset,
                       uint64_t length)
{
    uint32_t *place = &typing->texts[object];
    if (length == 0 || length > size - offset)
        return;
    const uint64_t end = offset + length;
    uint32_t old = __atomic_load_n(place, __ATOMIC_RELAXED), wanted;
    do {
        if (size == 16) {
            uint32_t known = old >> TEXT_TINY_END & 31;
            wanted = TEXT_TINY | (old & 0xffff) | 1u << offset |
                     (known > end ? known : (uint32_t)end) << TEXT_TINY_END;
        } else {
            wanted = end < TEXT_LIMIT ? (uint32_t)end : TEXT_LIMIT;
            if (wanted < old)
                wanted = old;
        }
        if (wanted == old)
            return;
    } while (!__atomic_compare_exchange_n(place, &old, wanted, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

/* ---- values and arrays ---- */

/*
 * How many values fill an object, if all of it is an array of them, plus 1; 0 where it is not. Of
 * large objects it is noted.
 */
static uint64_t values_of_whole(struct field_index *index, const struct g2h_object *object,
                                uint64_t base, uint32_t type, const struct pointer_map *map)
{
    uint64_t known = UINT64_MAX;
    bool rest = false;
    if (map->word_count == 0)
        return 0;
    if (index) {
        for (unsigned i = 0; i < index->tried_count; i++)
            if (index->tried[i].type == type)
                known = index->tried[i].values;
        if (known != UINT64_MAX)
            return known;
        if (!field_index_take(index, object->contents.size / sizeof(uint64_t)))
            return 0;
    }
    const uint64_t count = count_matching(object->fields, base, map->size, map, 0, &rest),
                   values = rest ? 0 : count + 1;
    if (index) {
        if (index->tried_count < sizeof(index->tried) / sizeof(index->tried[0])) {
            index->tried[index->tried_count].type = type;
            index->tried[index->tried_count++].values = values;
        }
    }
    return values;
}

/* Whether so many values in a row are hardly anything else: not just pointers. */
static bool is_telling(const struct pointer_map *map, uint64_t count)
{
    return count >= 4 && map->size > map->word_count * sizeof(uint64_t);
}

/*
 * A slice may begin within its array, whose start nothing refers to any more; if all of the slot
 * looks like an array of the type, it is one.
 */
static void propose_array(struct typer *typer, uint32_t number, const struct slot_class *slot_class,
                          uint64_t base, uint64_t offset, const struct reference *reference,
                          const struct pointer_map *map)
{
    struct typing *typing = typer->typing;
    const uint64_t stride = map->size;
    const uint64_t room = (slot_class->size - offset) / stride;
    struct g2h_object object = {0};
    struct field_index *index = NULL;
    bool rest = false, whole = false;
    if (reference->count > room || room == 0 || offset < base)
        return;
    /* A part of an array field, or of what is left of an array, does not end where the slot does.
     */
    bool exact =
        reference->count == 0 || fits_class(offset + reference->count * stride, slot_class->size);
    if (slot_class->size == TINY_BLOCK && !slot_class->has_pointers)
        exact = offset == base && fills(slot_class, reference->count * stride);
    if (!slot_class->has_pointers) {
        if (map->word_count > 0 && !type_of(typing, reference->type)->may_be_noscan)
            return;
        whole = (offset - base) % stride == 0;
    } else {
        if (offset != base && !exact && is_known(typer, number, offset, true, reference))
            return;
        heap_object(typer->typing->heap, number, &object);
        index = typer_field_index(typer, number, &object);
        if ((offset - base) % stride == 0) {
            const uint64_t values = values_of_whole(index, &object, base, reference->type, map);
            whole = values > 0;
            exact = exact || (whole && is_telling(map, values - 1) &&
                              fits_class(base + (values - 1) * stride, slot_class->size));
        }
    }
    if (whole && (offset == base || exact)) {
        claim_start(typer, number, base, true, exact, reference, map);
        return;
    }
    if (typer_waits(typer, number, offset, reference))
        return;
    struct region region = {.offset = offset,
                            .type = reference->type,
                            .count = reference->count,
                            .source = reference->source,
                            .is_array = true};
    if (slot_class->has_pointers) {
        if (map->word_count == 0 ||
            !field_index_take(index, reference->count * map->word_count + FIELD_STEP / 16))
            return;
        uint64_t matching = count_matching(fields_near(&object, index, offset), offset, stride, map,
                                           reference->count, &rest);
        if (matching == 0 || matching < reference->count)
            return;
        region.count = matching;
    } else if (region.count == 0) {
        region.count = room;
    }
    claim_region(typer, number, &region, map);
}

/*
 * Whether a reference waits before it is looked at: one that may make a part, or is of an object
 * whose fields are not looked at without end.
 */
static inline bool waits_first(struct typer *typer, uint32_t number,
                               const struct slot_class *slot_class, uint64_t base, uint64_t offset,
                               const struct reference *reference)
{
    const bool is_array = reference->form == REFERENCE_ARRAY;
    if (!typer->shared || (offset == base && (!is_array || slot_class->size < INDEXED_SIZE)))
        return false;
    return (!is_array && offset != base && is_known(typer, number, offset, false, reference)) ||
           typer_waits(typer, number, offset, reference);
}

static void propose_value(struct typer *typer, uint32_t number, const struct slot_class *slot_class,
                          uint64_t base, uint64_t offset, const struct reference *reference,
                          const struct pointer_map *map)
{
    struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const struct type *type = type_of(typing, reference->type);
    struct g2h_object object;
    uint64_t size = base + map->size;
    bool rest = false;
    if (offset != base && is_known(typer, number, offset, false, reference))
        return;
    if (!slot_class->has_pointers) {
        if (map->word_count > 0 && !type->may_be_noscan)
            return;
    } else if (map->known) {
        heap_object(typer->typing->heap, number, &object);
        struct field_index *index =
            offset >= FIELD_STEP ? typer_field_index(typer, number, &object) : NULL;
        if (!field_index_take(index, map->word_count + FIELD_STEP / 16))
            return;
        if (!value_fits(&object, index, map, offset, &rest)) {
            if (index)
                refuse(typer, number, offset, reference->type);
            return;
        }
    }
    if (type->role == ROLE_CHAN && type->elem < typing->types->list.count) {
        heap_object(typer->typing->heap, number, &object);
        if (is_other_channel(typing, type, &object, offset))
            return;
        size += buffer_size(typing, type, &object, offset);
    }
    const bool exact = offset == base && fills(slot_class, size) &&
                       (!rest || is_repetition(heap, slot_class, &object, map));
    if (offset == base) {
        claim_start(typer, number, base, false, exact || type->role == ROLE_CLOSURE, reference,
                    map);
        /* Where only an overflow bucket is left of a map: see gives_way(). */
        if (rest && !exact && base == 0 && type->role == ROLE_MAP_BUCKET) {
            struct reference array = *reference;
            array.form = REFERENCE_ARRAY;
            array.count = 0;
            if (!waits_first(typer, number, slot_class, base, base, &array))
                propose_array(typer, number, slot_class, base, base, &array, map);
        }
        return;
    }
    struct region region = {.offset = offset, .type = reference->type, .source = reference->source};
    claim_region(typer, number, &region, map);
    if ((offset - base) % map->size == 0 && map->known &&
        slot_class->size / map->size >= ENOUGH_FOR_ARRAY &&
        is_one_of_many(typer, number, offset, reference->type)) {
        struct reference array = *reference;
        array.count = 0;
        propose_array(typer, number, slot_class, base, base, &array, map);
    }
}

/* Whether an object is a closure and nothing else. */
static bool is_whole_closure(struct typer *typer, uint32_t number, const struct g2h_object *object,
                             uint32_t type)
{
    const struct pointer_map *map = pointer_map_of(&typer->typing->pointer_maps, type);
    bool rest = false;
    if (!map) {
        typer->no_memory = true;
        return false;
    }
    if (!map->known || !fits_class(map->size, heap_object_size(typer->typing->heap, number)))
        return false;
    return object_has_pointers(typer->typing->heap, number)
               ? value_fits(object, NULL, map, 0, &rest) && !rest
               : map->word_count == 0;
}

/* The type of a closure by its code; see closures.c. */
static uint32_t closure_type(struct typer *typer, uint32_t number, const struct g2h_object *object,
                             uint64_t code)
{
    const uint32_t type = map_get(&typer->typing->closure_by_entry, code),
                   other = map_get(&typer->typing->closure_of_value, code);
    if (type == MAP_NONE || is_whole_closure(typer, number, object, type))
        return type;
    if (other != MAP_NONE && is_whole_closure(typer, number, object, other))
        return other;
    uint32_t result = TYPE_NONE;
    for (uint32_t next = type_of(typer->typing, type)->key; next != TYPE_NONE;
         next = type_of(typer->typing, next)->key) {
        if (!is_whole_closure(typer, number, object, next))
            continue;
        if (result != TYPE_NONE)
            return type; /* there is no telling */
        result = next;
    }
    return result != TYPE_NONE ? result : type;
}

/* What the object that a reference hits says itself. */
static bool resolve_content(struct typer *typer, uint32_t number, uint64_t offset,
                            struct reference *reference)
{
    struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    struct g2h_object object;
    heap_object(typer->typing->heap, number, &object);
    if (reference->form == REFERENCE_CLOSURE) {
        if (object.contents.size < heap->params.pointer_size ||
            offset > object.contents.size - heap->params.pointer_size)
            return false;
        reference->type =
            closure_type(typer, number, &object, heap_word(heap, object.contents.data + offset));
        if (reference->source < SOURCE_CLOSURE)
            reference->source = SOURCE_CLOSURE;
    } else {
        const struct type *type = type_of(typing, reference->type);
        if (offset >= object.contents.size)
            return false;
        reference->type = object.contents.data[offset] == 0 ? type->elem : type->key;
    }
    reference->form = REFERENCE_VALUE;
    return reference->type != MAP_NONE && reference->type < typing->types->list.count;
}

/* Whether a value of a type fits the start of objects of a slot class that has a field list. */
static enum fit find_fit(struct typer *typer, const struct slot_class *slot_class, uint32_t number,
                         const struct pointer_map **ret_map)
{
    struct typing *typing = typer->typing;
    const struct type *type = type_of(typing, number);
    bool rest;
    if (type->size > slot_class->size)
        return FIT_NONE;
    const struct pointer_map *map = *ret_map = pointer_map_of(&typing->pointer_maps, number);
    if (!map || !map->known || type->role == ROLE_CHAN)
        return FIT_UNKNOWN;
    const struct g2h_object object = {.size = slot_class->size,
                                      .fields = slot_class_fields(typing->heap, slot_class)};
    if (map->size == 0 || !value_fits(&object, NULL, map, 0, &rest))
        return FIT_NONE;
    return (!rest && fits_class(map->size, slot_class->size)) || type->role == ROLE_CLOSURE
               ? FIT_EXACT
               : FIT_PART;
}

/* The same, remembered: a program has some hundreds of slot classes, and most of them one type. */
static const struct known_fit *known_fit(struct typer *typer, uint32_t object,
                                         const struct slot_class *slot_class, uint32_t type)
{
    const uint32_t number = heap_slot_class_number(typer->typing->heap, object);
    struct known_fit *known = &typer->fits[(number * 31 + type) % FITS];
    if (known->fit == FIT_UNKNOWN || known->slot_class != number || known->type != type) {
        known->slot_class = number;
        known->type = type;
        known->fit = find_fit(typer, slot_class, type, &known->map);
    }
    return known;
}

/* Whether a reference says the same as the claim on the object's start. */
static inline bool is_repeated(uint64_t base, uint32_t old, uint64_t offset,
                               const struct reference *reference)
{
    const bool is_array = reference->form == REFERENCE_ARRAY;
    const uint32_t claim = pack(is_array, false, reference->source, reference->type);
    return offset == base && same_claim(old, claim) &&
           (old & CLAIM_SOURCE) <= (claim & CLAIM_SOURCE) &&
           ((old & CLAIM_EXACT) != 0 || !is_array);
}

/* Whether a reference says nothing that the claim on the object's start does not say. */
static bool is_old_news(const struct typing *typing, uint64_t base, uint32_t old, uint64_t offset,
                        const struct reference *reference)
{
    if ((old & CLAIM_FRESH) != 0)
        return false; /* as if it had come before the claim */
    if (is_certain(old) && reference->source != SOURCE_HEADER &&
        type_of(typing, reference->type)->role == ROLE_NONE)
        return true;
    return claim_holds(typing, base, (old & CLAIM_TYPE) - 1, (old & CLAIM_ARRAY) != 0, offset,
                       reference->type, reference->form == REFERENCE_ARRAY);
}

/* What is neither known nor to be told by the slot class of the object. */
static __attribute__((noinline)) void propose_fields(struct typer *typer, uint32_t object,
                                                     uint64_t base, uint64_t offset,
                                                     const struct reference *reference)
{
    struct typing *typing = typer->typing;
    const struct slot_class *slot_class = heap_slot_class(typing->heap, object);
    const bool is_array = reference->form == REFERENCE_ARRAY;
    if (offset >= slot_class->size ||
        type_of(typing, reference->type)->size > slot_class->size - offset)
        return; /* before a pointer map is made */
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, reference->type);
    if (!map) {
        typer->no_memory = true;
        return;
    }
    if (map->size == 0 ||
        (!map->known && (is_array || type_of(typing, reference->type)->role == ROLE_NONE)) ||
        waits_first(typer, object, slot_class, base, offset, reference))
        return;
    if (is_array)
        propose_array(typer, object, slot_class, base, offset, reference, map);
    else
        propose_value(typer, object, slot_class, base, offset, reference, map);
}

static inline void propose(struct typer *typer, uint32_t object,
                           const struct slot_class *slot_class, uint64_t offset,
                           const struct reference *reference)
{
    struct typing *typing = typer->typing;
    const uint32_t old = __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED);
    const uint64_t base = heap_has_malloc_header(typing->heap, slot_class) ? MALLOC_HEADER : 0;
    if (old != 0 && (is_repeated(base, old, offset, reference) ||
                     is_old_news(typing, base, old, offset, reference)))
        return;
    if (reference->form != REFERENCE_ARRAY && offset == 0 && base == 0 && slot_class->fields) {
        const struct known_fit *known = known_fit(typer, object, slot_class, reference->type);
        if (known->fit == FIT_PART || known->fit == FIT_EXACT)
            claim_start(typer, object, 0, false, known->fit == FIT_EXACT, reference, known->map);
        if (known->fit != FIT_UNKNOWN)
            return;
    }
    propose_fields(typer, object, base, offset, reference);
}

void typer_propose(struct typer *typer, uint32_t object, uint64_t offset,
                   const struct reference *reference)
{
    struct reference own = *reference;
    if ((own.form == REFERENCE_CLOSURE || own.form == REFERENCE_CONTENT) &&
        !resolve_content(typer, object, offset, &own))
        return;
    propose(typer, object, heap_slot_class(typer->typing->heap, object), offset, &own);
}

void typer_claim_again(struct typer *typer, const struct waiting *claim)
{
    struct typing *typing = typer->typing;
    const struct reference reference = {.type = claim->type,
                                        .source = claim->source,
                                        .form =
                                            claim->is_array ? REFERENCE_ARRAY : REFERENCE_VALUE};
    const uint32_t old = typing->claims[claim->object];
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, claim->type);
    if (!map)
        typer->no_memory = true;
    else if (old == 0 || !is_old_news(typing, claim->offset, old, claim->offset, &reference))
        claim_start(typer, claim->object, claim->offset, claim->is_array, claim->is_exact,
                    &reference, map);
}

/* ---- references ---- */

static void find_targets(struct typer *typer)
{
    struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    const size_t count = typer->batch_count;
    typer->unknown_targets = false;
    for (size_t i = 0; i < count; i++)
        if (typer->batch[i].target == NO_TARGET)
            index_prefetch(&heap->index, typer->batch[i].value);
    for (size_t i = 0; i < count; i++)
        if (typer->batch[i].target == NO_TARGET)
            index_prefetch_slots(&heap->index, typer->batch[i].value);
    for (size_t i = 0; i < count; i++) {
        struct reference *reference = &typer->batch[i];
        if (reference->target != NO_TARGET)
            continue;
        reference->target = heap_find(heap, reference->value);
        if (reference->target != NO_TARGET)
            prefetch_target(typing, (enum reference_form)reference->form, reference->target);
    }
}

/* What is not found in the shape of the objects will be read. */
static void prefetch_objects(const struct typer *typer)
{
    const struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    for (size_t i = 0; i < typer->batch_count; i++) {
        const struct reference *reference = &typer->batch[i];
        const uint32_t target = reference->target;
        if (target != NO_TARGET && reference->form != REFERENCE_TEXT &&
            !heap_slot_class(heap, target)->fields && object_has_pointers(heap, target) &&
            __atomic_load_n(&typing->claims[target], __ATOMIC_RELAXED) == 0) {
            const uint8_t *record = heap->input->data + heap_offset(heap, target);
            __builtin_prefetch(record);
            __builtin_prefetch(record + 64); /* the field list is behind the contents */
        }
    }
}

void typer_flush(struct typer *typer)
{
    struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    if (typer->unknown_targets)
        find_targets(typer);
    if (!typer->texts_only)
        prefetch_objects(typer);
    const size_t count = typer->batch_count;
    typer->batch_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct reference *reference = &typer->batch[i];
        if (reference->target == NO_TARGET) {
            if (outside_is_stack(&typing->outside, reference->value))
                typer_refer_outside(typer, &(struct way){.holder = HOLDER_OBJECT},
                                    (enum reference_form)reference->form, reference->value,
                                    reference->count, reference->type);
            continue;
        }
        const struct slot_class *slot_class = heap_slot_class(heap, reference->target);
        const uint64_t offset = reference->value - heap_address(heap, reference->target);
        if (offset >= slot_class->size)
            continue;
        if (reference->form == REFERENCE_VALUE || reference->form == REFERENCE_ARRAY)
            propose(typer, reference->target, slot_class, offset, reference);
        else if (reference->form != REFERENCE_TEXT)
            typer_propose(typer, reference->target, offset, reference);
        else if (!slot_class->has_pointers)
            claim_text(typing, reference->target, slot_class->size, offset, reference->count);
    }
}
