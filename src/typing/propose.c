/*
 * propose: turns references, which determine the type of an object or a part of it, into claims.
 *
 * References come in batches. If one leads into an object and its type fits there (fit.h), it
 * becomes a claim (claims.h). Mostly the slot class alone shows whether a type fits; otherwise the
 * object's field list is read.
 *
 * A claim is a candidate for the type of an object, or of a part of it. A slot class is the objects
 * of one size and field list, for which most answers are the same. A typer is the state of one
 * thread.
 */
#include <string.h>

#include "typing/claims.h"
#include "typing/fit.h"

/* ---- values and arrays ---- */

/* A type that values in an object may have, while it is compared with the object's pointers. */
struct proposal {
    uint32_t object;
    const struct slot_class *slot_class; /* of the object */
    uint64_t base;                       /* where the object's own value begins: after its header */
    uint64_t offset;                     /* where the value, or the array, begins */
    const struct reference *reference;   /* has the type, the count of an array, and the source */
    const struct pointer_map *map;       /* of the type */
};

/*
 * Returns the number of values plus 1 if the whole object is an array of them, else 0. For large
 * objects the index caches the answer.
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
    const uint64_t count = count_fitting(object->fields, base, map->size, map, 0, &rest),
                   values = rest ? 0 : count + 1;
    if (index) {
        if (index->tried_count < COUNT_OF(index->tried)) {
            index->tried[index->tried_count].type = type;
            index->tried[index->tried_count++].values = values;
        }
    }
    return values;
}

/* Returns whether an array may be a part of a field of some struct that fills the slot. */
static bool is_in_array_field(const struct typing *typing, const struct proposal *proposal)
{
    return is_array_field(typing, proposal->slot_class->size, proposal->base,
                          proposal->offset - proposal->base, proposal->reference->type,
                          proposal->reference->count);
}

/* Returns whether a slice that ends before its slot does leads into an array of its own, whose
 * capacity was cut: "b[100:112:112]". It does unless a struct may have the array as a field, or the
 * object is a tiny block, in which other values may follow. */
static bool is_cut_slice(const struct typing *typing, const struct proposal *proposal)
{
    const struct slot_class *slot_class = proposal->slot_class;
    return (slot_class->size != TINY_BLOCK || slot_class->has_pointers) &&
           !is_in_array_field(typing, proposal);
}

/* Returns whether a slice of values without pointers leads to an array that may be a field of a
 * struct that fills the slot, which has pointers elsewhere. */
static bool is_field_without_pointers(const struct typing *typing, const struct proposal *proposal)
{
    return proposal->reference->count > 0 && proposal->slot_class->size < INDEXED_SIZE &&
           is_in_array_field(typing, proposal);
}

/* Returns whether count consecutive values are very unlikely to be of another type: they are four
 * or more, and do not consist of pointers only. */
static bool is_telling(const struct pointer_map *map, uint64_t count)
{
    return count >= 4 && map->size > map->word_count * sizeof(uint64_t);
}

/* Returns whether an array ends where its slot does. An array field, or a slice whose capacity was
 * cut, does not; one without a count may. */
static bool ends_with_slot(const struct typing *typing, const struct proposal *proposal)
{
    const struct slot_class *slot_class = proposal->slot_class;
    const uint64_t size = proposal->reference->count * proposal->map->size;
    /* Several small values may share a tiny block: only one that fills it is alone there. */
    if (slot_class->size == TINY_BLOCK && !slot_class->has_pointers)
        return proposal->offset == proposal->base && fills_slot(typing, slot_class, size);
    return proposal->reference->count == 0 ||
           fits_class(typing, proposal->offset + size, slot_class->size);
}

/* Returns whether a whole object, which has pointers, is an array of the type, and makes *exact
 * true if the pointers show that this array fills the slot. */
static bool is_whole_array(struct typing *typing, const struct proposal *proposal,
                           const struct g2h_object *object, struct field_index *index, bool *exact)
{
    const struct slot_class *slot_class = proposal->slot_class;
    const struct pointer_map *map = proposal->map;
    const uint64_t base = proposal->base, stride = map->size;
    const uint64_t found = values_of_whole(index, object, base, proposal->reference->type, map),
                   most = typing_room(typing, slot_class->size - base) / stride + 1,
                   values = MIN(found, most); /* and 1; 0: it is not */
    if (values == 0)
        return false;
    *exact = *exact || (fits_class(typing, base + (values - 1) * stride, slot_class->size) &&
                        (is_telling(map, values - 1) || is_cut_slice(typing, proposal)));
    return true;
}

/* Proposes an array as a part of an object, as long as the object's pointers there are those of the
 * type. Values without pointers are a part of an object with some only if they may be an array
 * field: re.Rune0[:1]. */
static void propose_array_part(struct typer *typer, const struct proposal *proposal,
                               const struct g2h_object *object, struct field_index *index)
{
    const struct reference *reference = proposal->reference;
    const struct pointer_map *map = proposal->map;
    const uint64_t offset = proposal->offset;
    bool rest = false;
    struct typed_part part = {.offset = offset,
                              .type = reference->type,
                              .count = reference->count,
                              .source = reference->source,
                              .is_array = true};
    if (proposal->slot_class->has_pointers) {
        /* FIELD_STRIDE: fields_near() may begin before the array */
        if ((map->word_count == 0 && !is_field_without_pointers(typer->typing, proposal)) ||
            !field_index_take(index, reference->count * map->word_count + FIELD_STRIDE / 16))
            return;
        const uint64_t matching = count_fitting(fields_near(object, index, offset), offset,
                                                map->size, map, reference->count, &rest);
        if (matching == 0 || matching < reference->count)
            return;
        part.count = matching;
    } else if (part.count == 0) {
        part.count = (proposal->slot_class->size - offset) / map->size;
    }
    claim_part(typer, proposal->object, &part, map);
}

/*
 * Proposes an array that begins at offset. A slice may begin within its array, whose start is no
 * longer referenced; if the whole slot looks like an array of the type, that is claimed from its
 * start. Otherwise the array is a part of the object.
 */
static void propose_array(struct typer *typer, const struct proposal *proposal)
{
    struct typing *typing = typer->typing;
    const struct slot_class *slot_class = proposal->slot_class;
    const struct reference *reference = proposal->reference;
    const struct pointer_map *map = proposal->map;
    const uint64_t base = proposal->base, offset = proposal->offset;
    const uint64_t space = (slot_class->size - offset) / map->size;
    struct g2h_object object = {0};
    struct field_index *index = NULL;
    if (reference->count > space || space == 0 || offset < base)
        return;
    bool exact = ends_with_slot(typing, proposal);
    bool whole = (offset - base) % map->size == 0;
    if (!slot_class->has_pointers) {
        if (map->word_count > 0 && !typer_type_of(typing, reference->type)->may_be_noscan)
            return;
        exact = exact || (whole && is_cut_slice(typing, proposal));
    } else {
        if (offset != base && !exact &&
            part_is_known(typer, proposal->object, offset, true, reference))
            return;
        heap_object(typing->heap, proposal->object, &object);
        index = typer_field_index(typer, proposal->object, &object);
        whole = whole && is_whole_array(typing, proposal, &object, index, &exact);
    }
    if (whole && (offset == base || exact))
        claim_start(typer, proposal->object, base, true, exact, reference, map);
    else if (!typer_defer(typer, proposal->object, offset, reference))
        propose_array_part(typer, proposal, &object, index);
}

/* Returns whether a reference is not to be proposed now: it adds nothing, or it is deferred
 * (typer_defer). Deferred before the object is examined are references that may add a part, and
 * arrays in large objects, of which fields may be read only so often (struct field_index). */
static inline bool skip_for_now(struct typer *typer, const struct proposal *proposal)
{
    const uint64_t offset = proposal->offset;
    const bool is_array = proposal->reference->form == REFERENCE_ARRAY;
    if (!typer->shared ||
        (offset == proposal->base && (!is_array || proposal->slot_class->size < INDEXED_SIZE)))
        return false;
    return (!is_array && offset != proposal->base &&
            part_is_known(typer, proposal->object, offset, false, proposal->reference)) ||
           typer_defer(typer, proposal->object, offset, proposal->reference);
}

/* Proposes the object as a whole as an array of the type, from where its own value begins. */
static void propose_as_array(struct typer *typer, const struct proposal *proposal)
{
    struct reference reference = *proposal->reference;
    struct proposal array = *proposal;
    reference.form = REFERENCE_ARRAY;
    reference.count = 0;
    array.reference = &reference;
    array.offset = proposal->base;
    if (!skip_for_now(typer, &array))
        propose_array(typer, &array);
}

/* Proposes a value that begins at offset: as a claim on the object's start if that is base, else as
 * a part. An object with pointers must have them exactly where the type has, if its pointer map is
 * known; one without must not get a type with pointers, unless values of it may be noscan; a
 * channel must name the right element type. Nothing is proposed otherwise, nor for a part about
 * which as much is known, nor if the object's fields have been read too often (field_index_take()).
 */
static void propose_value(struct typer *typer, const struct proposal *proposal)
{
    struct typing *typing = typer->typing;
    const struct slot_class *slot_class = proposal->slot_class;
    const struct reference *reference = proposal->reference;
    const struct pointer_map *map = proposal->map;
    const struct type *type = typer_type_of(typing, reference->type);
    const uint32_t number = proposal->object;
    const uint64_t base = proposal->base, offset = proposal->offset;
    struct g2h_object object;
    uint64_t size = base + map->size;
    bool rest = false;
    if (offset != base && part_is_known(typer, number, offset, false, reference))
        return;
    if (!slot_class->has_pointers) {
        if (map->word_count > 0 && !type->may_be_noscan)
            return;
    } else if (map->known) {
        heap_object(typing->heap, number, &object);
        /* At the object's begin the list is read from its start in any case. */
        struct field_index *index =
            offset >= FIELD_STRIDE ? typer_field_index(typer, number, &object) : NULL;
        if (!field_index_take(index, map->word_count + FIELD_STRIDE / 16))
            return;
        if (!value_fits(&object, index, map, offset, &rest)) {
            if (index)
                part_refuse(typer, number, offset, reference->type);
            return;
        }
    }
    if (type->role == ROLE_CHAN && type->elem < typing->types->list.count) {
        heap_object(typing->heap, number, &object);
        if (is_other_channel(typing, type, &object, offset))
            return;
        size += channel_buffer_size(typing, type, &object, offset);
    }
    /* Exact: the value is all that the object holds. */
    const bool exact = offset == base && fills_slot(typing, slot_class, size) &&
                       (!rest || rest_repeats(typing, slot_class, &object, map));
    if (offset == base) {
        claim_start(typer, number, base, false, exact || type->role == ROLE_CLOSURE, reference,
                    map);
        /* The object may be the bucket array of a map of which only an overflow bucket is left,
         * whose pointer leads to the array's first bucket: see header_yields_to() in judge.c. */
        if (rest && !exact && base == 0 && type->role == ROLE_MAP_BUCKET)
            propose_as_array(typer, proposal);
        return;
    }
    const struct typed_part part = {
        .offset = offset, .type = reference->type, .source = reference->source};
    claim_part(typer, number, &part, map);
    /* Pointers to many elements show an array even if no slice of it is left. */
    if ((offset - base) % map->size == 0 && map->known &&
        slot_class->size / map->size >= ENOUGH_FOR_ARRAY &&
        has_enough_for_array(typer, number, offset, reference->type))
        propose_as_array(typer, proposal);
}

/* ---- types by content ---- */

/* Returns whether a closure of a type is all that an object holds: it has the size of the object's
 * slot, pointers where the object has some, and the rest of the object has none, or only repeats
 * them. */
static bool is_whole_closure(struct typer *typer, uint32_t number, const struct g2h_object *object,
                             uint32_t type)
{
    struct typing *typing = typer->typing;
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, type);
    bool rest = false;
    if (!map) {
        typer->no_memory = true;
        return false;
    }
    if (!map->known || !fits_class(typing, map->size, heap_object_size(typing->heap, number)))
        return false;
    return object_has_pointers(typing->heap, number)
               ? value_fits(object, NULL, map, 0, &rest) &&
                     (!rest ||
                      rest_repeats(typing, heap_slot_class(typing->heap, number), object, map))
               : map->word_count == 0;
}

/* Returns the type of a closure by its code, or MAP_NONE. If several types are possible
 * (closures.c), returns the only one that fits the object as a whole, else the one that covers all
 * of them. */
static uint32_t closure_type(struct typer *typer, uint32_t number, const struct g2h_object *object,
                             uint64_t code)
{
    const uint32_t type = map_get(&typer->typing->closure_by_entry, code),
                   other = map_get(&typer->typing->closure_of_value, code);
    if (type == MAP_NONE)
        return type;
    const bool is_whole = is_whole_closure(typer, number, object, type);
    if ((!is_whole || closure_last_is_value(typer->typing, object->contents, type)) &&
        other != MAP_NONE && is_whole_closure(typer, number, object, other))
        return other;
    if (is_whole)
        return type;
    uint32_t result = TYPE_NONE;
    for (uint32_t next = typer_type_of(typer->typing, type)->alternative; next != TYPE_NONE;
         next = typer_type_of(typer->typing, next)->alternative) {
        if (!is_whole_closure(typer, number, object, next))
            continue;
        if (result != TYPE_NONE)
            return type; /* more than one fits */
        result = next;
    }
    return result != TYPE_NONE ? result : type;
}

/* Finds the type of a reference if only its target determines it: a closure's type by its code, or
 * one of two types by the first byte. Returns false if the object determines none. */
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
        const uint64_t code = heap_word(heap, object.contents.data + offset);
        reference->type = closure_type(typer, number, &object, code);
        if (offset == 0)
            typer_follow_once(typer, &object, code);
        if (reference->source < SOURCE_CLOSURE)
            reference->source = SOURCE_CLOSURE;
    } else {
        const struct type *type = typer_type_of(typing, reference->type);
        if (offset >= object.contents.size)
            return false;
        reference->type = object.contents.data[offset] == 0 ? type->elem : type->other;
    }
    reference->form = REFERENCE_VALUE;
    return reference->type != MAP_NONE && reference->type < typing->types->list.count;
}

/* Finds whether a value of a type fits the start of the objects of a slot class that has a field
 * list. FIT_EXACT: the slot has nothing else; FIT_PART: it has more behind the value; FIT_UNKNOWN:
 * the object has to be looked at. */
static enum fit find_fit(struct typer *typer, const struct slot_class *slot_class, uint32_t number,
                         const struct pointer_map **ret_map)
{
    struct typing *typing = typer->typing;
    const struct type *type = typer_type_of(typing, number);
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
    return ((!rest || rest_repeats(typing, slot_class, &object, map)) &&
            fits_class(typing, map->size, slot_class->size)) ||
                   type->role == ROLE_CLOSURE
               ? FIT_EXACT
               : FIT_PART;
}

/* Returns the answer of find_fit() from the thread's cache: a program has some hundreds of slot
 * classes, and most of them have objects of one type only. */
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

/* Returns whether a reference repeats the claim on the object's start, and has no better source.
 * This test is cheap, and most references end here. */
static inline bool is_repeated(uint64_t base, uint32_t old, uint64_t offset,
                               const struct reference *reference)
{
    const bool is_array = reference->form == REFERENCE_ARRAY;
    const uint32_t claim = claim_pack(is_array, false, reference->source, reference->type);
    return offset == base && claim_is_same(old, claim) &&
           (old & CLAIM_SOURCE) <= (claim & CLAIM_SOURCE) &&
           ((old & CLAIM_EXACT) != 0 || !is_array);
}

/* Returns whether a reference adds nothing to the claim on the object's start: the claim comes from
 * the malloc header, or its type contains the reference's. */
static bool is_old_news(const struct typing *typing, uint64_t base, uint32_t old, uint64_t offset,
                        const struct reference *reference)
{
    if ((old & CLAIM_FRESH) != 0)
        return false; /* other threads may look before the claim is made, so none may rely on it */
    if (claim_is_certain(old) && reference->source != SOURCE_HEADER &&
        typer_type_of(typing, reference->type)->role == ROLE_NONE)
        return true;
    return claim_holds(typing, base, (old & CLAIM_TYPE) - 1, (old & CLAIM_ARRAY) != 0, offset,
                       reference->type, reference->form == REFERENCE_ARRAY);
}

/* Proposes a reference that has to be compared with the object's own fields; base is where the
 * value begins in the object: after a malloc header, if it has one. If the pointer map is not
 * known, only sizes can be compared. That is enough for one value of a structure of the runtime (a
 * type with a role), as what leads there, a map's header or a func value, says what it is. It is
 * not for an ordinary type or an array: that one does not fit would not be noticed. If memory runs
 * out, sets typer->no_memory and proposes nothing. Not inlined, since the caller mostly returns
 * before this. */
static __attribute__((noinline)) void propose_by_fields(struct typer *typer, uint32_t object,
                                                        uint64_t base, uint64_t offset,
                                                        const struct reference *reference)
{
    struct typing *typing = typer->typing;
    const struct slot_class *slot_class = heap_slot_class(typing->heap, object);
    const bool is_array = reference->form == REFERENCE_ARRAY;
    if (offset >= slot_class->size ||
        typer_type_of(typing, reference->type)->size > slot_class->size - offset)
        return; /* it does not fit, so no pointer map is needed */
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, reference->type);
    if (!map) {
        typer->no_memory = true;
        return;
    }
    if (map->size == 0 ||
        (!map->known && (is_array || typer_type_of(typing, reference->type)->role == ROLE_NONE)))
        return;
    const struct proposal proposal = {.object = object,
                                      .slot_class = slot_class,
                                      .base = base,
                                      .offset = offset,
                                      .reference = reference,
                                      .map = map};
    if (skip_for_now(typer, &proposal))
        return;
    if (is_array)
        propose_array(typer, &proposal);
    else
        propose_value(typer, &proposal);
}

/* Proposes a type that the reference has itself. Nothing is done if the claim on the object says
 * the same already. Mostly the slot class is enough to decide, if the value begins the object;
 * otherwise the object's own fields are read. */
static inline void propose_resolved(struct typer *typer, uint32_t object,
                                    const struct slot_class *slot_class, uint64_t offset,
                                    const struct reference *reference)
{
    struct typing *typing = typer->typing;
    const uint32_t old = __atomic_load_n(&typing->claims[object], __ATOMIC_RELAXED);
    const uint64_t base = heap_value_base(typing->heap, slot_class);
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
    propose_by_fields(typer, object, base, offset, reference);
}

/* Proposes a type for an object. The content of an interface, or a closure, gets its type from what
 * it points to first; nothing is proposed if that fails. */
void typer_propose(struct typer *typer, uint32_t object, uint64_t offset,
                   const struct reference *reference)
{
    struct reference own = *reference;
    if ((own.form == REFERENCE_CLOSURE || own.form == REFERENCE_CONTENT) &&
        !resolve_content(typer, object, offset, &own))
        return;
    propose_resolved(typer, object, heap_slot_class(typer->typing->heap, object), offset, &own);
}

/* Makes a withdrawn claim again. The claim was accepted in the round, so its type fits; only other
 * claims on the object can have made it superfluous. */
void typer_claim_again(struct typer *typer, const struct typer_waiting *claim)
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

/* Finds the target objects of the batch's references, all at once: index_find_many() overlaps the
 * cache misses. */
static void propose_find_targets(struct typer *typer)
{
    struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    uint64_t values[BATCH];
    uint32_t targets[BATCH];
    uint8_t indexes[BATCH]; /* indexes in the batch */
    size_t count = 0;
    typer->unknown_targets = false;
    for (size_t i = 0; i < typer->batch_count; i++) {
        const struct reference *reference = &typer->batch[i];
        if (reference->target != NO_TARGET || !in_heap_range(heap, reference->value))
            continue;
        values[count] = reference->value;
        indexes[count++] = (uint8_t)i;
    }
    if (count == 0)
        return;
    index_find_many(&heap->index, values, count, targets);
    for (size_t i = 0; i < count; i++) {
        struct reference *reference = &typer->batch[indexes[i]];
        reference->target = targets[i];
        if (reference->target != NO_TARGET)
            typer_prefetch_target(typing, (enum reference_form)reference->form, reference->target);
    }
}

/* Prefetches the records of objects whose slot class is not conclusive: those without a claim so
 * far, with pointers, but with no field list that all objects of the class share. */
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
            __builtin_prefetch(record + 64); /* the field list follows the contents */
        }
    }
}

/* Proposes the types of all references of the batch, and empties it. References to stacks become
 * ones out of the heap; those behind an object's end are dropped. The loops before the last one
 * only prefetch memory that it reads. */
void typer_flush(struct typer *typer)
{
    struct typing *typing = typer->typing;
    const struct g2h_heap *heap = typing->heap;
    if (typer->unknown_targets)
        propose_find_targets(typer);
    if (!typer->texts_only)
        prefetch_objects(typer);
    const size_t count = typer->batch_count;
    typer->batch_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct reference *reference = &typer->batch[i];
        if (reference->target == NO_TARGET) {
            if (outside_is_stack(&typing->outside, reference->value))
                typer_refer_outside(typer, &(struct outside_holder){.kind = HOLDER_OBJECT},
                                    (enum reference_form)reference->form, reference->value,
                                    reference->count, reference->type);
            continue;
        }
        const struct slot_class *slot_class = heap_slot_class(heap, reference->target);
        const uint64_t offset = reference->value - heap_address(heap, reference->target);
        if (offset >= slot_class->size)
            continue;
        if (reference->form == REFERENCE_VALUE || reference->form == REFERENCE_ARRAY)
            propose_resolved(typer, reference->target, slot_class, offset, reference);
        else if (reference->form != REFERENCE_TEXT)
            typer_propose(typer, reference->target, offset, reference);
        else if (!slot_class->has_pointers) /* the bytes of strings have none */
            claim_text(typing, reference->target, slot_class->size, offset, reference->count);
    }
}
