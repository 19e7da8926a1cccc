/*
 * guess: finds the only type of the program that an object can have.
 *
 * An object that no typed pointer leads to still has a size class and a field list. If exactly one
 * type of the executable is allocated with these, or else arrays of exactly one type are, but not
 * both, the object gets that type. An edge to such an object marks the type as a guess, unless
 * typed pointers into the middle of the object agree. The objects that it points to are then typed
 * as usual.
 *
 * If several types are allocated with these, a typed pointer into the object may rule out all but
 * one: a deferred d.mu.Unlock() keeps a *sync.Mutex only, and only one of the types has a
 * sync.Mutex there.
 *
 * To propose a type is to note it as a candidate (claims.h); a part is a candidate for some bytes
 * of an object. The key of a pattern is a hash of what objects of one size and field list have in
 * common.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/releases.h"
#include "typing/fit.h"

#define AMBIGUOUS   (UINT32_MAX - 1)
#define GUESS_ARRAY (1u << 31) /* an array of the type: types are fewer than 2^26 */

/* Returns a hash of what an untyped object shows of its type: its field list and its slot size. */
static uint64_t pattern_key(const uint8_t *code, size_t size, uint64_t slot)
{
    return map_hash_pair(map_hash_text(code, size), slot);
}

/* Adds a type to the candidates for objects with its pattern. Returns false if memory runs out. If
 * types with different names have it, it is AMBIGUOUS; all are kept in a list. */
static bool add_candidate(struct guesses *guesses, const struct typing *typing, uint32_t type,
                          const struct pointer_map *map, uint64_t slot)
{
    const uint64_t key = pattern_key(map->code, map->code_size, slot);
    uint32_t known;
    if (!map_put(&guesses->by_pattern, key, type, &known))
        return false;
    if (known != type && known != AMBIGUOUS &&
        typer_type_of(typing, known)->name != typer_type_of(typing, type)->name)
        map_set(&guesses->by_pattern, key, AMBIGUOUS);
    const uint32_t number = as_u32(guesses->candidates.count);
    const struct guess_candidate candidate = {type, map_get(&guesses->last_by_pattern, key)};
    if (!vector_push(&guesses->candidates, candidate) ||
        !map_put(&guesses->last_by_pattern, key, number, &known))
        return false;
    map_set(&guesses->last_by_pattern, key, number);
    return true;
}

/* Adds a type to the element types of arrays; one is kept for each size and field list. The key is
 * made word by word, so that guess_array_of() gets the keys of all prefixes of a list in one pass.
 * Returns false if memory runs out. If types of different names have one size and field list, it
 * becomes AMBIGUOUS. */
static bool add_element(struct guesses *guesses, const struct typing *typing, uint32_t type,
                        const struct pointer_map *map)
{
    uint64_t key = 0;
    for (size_t i = 0; i < map->word_count; i++)
        key = map_hash_pair(key, map->words[i]);
    key = map_hash_pair(key, map->size);
    const uint32_t number = as_u32(guesses->elements.count);
    uint32_t known;
    if (!map_put(&guesses->elements_by_key, key, number, &known))
        return false;
    if (known == number)
        return vector_push(&guesses->elements, ((struct guess_element){map, type}));
    struct guess_element *element = &guesses->elements.data[known];
    if (element->type != AMBIGUOUS &&
        typer_type_of(typing, element->type)->name != typer_type_of(typing, type)->name)
        element->type = AMBIGUOUS;
    return true;
}

/* Prepares the table of types by their pointers. Only types with pointers are candidates: a guess
 * compares pointers, and others have none to compare. */
struct g2h_error *guesses_init(struct guesses *guesses, struct typing *typing)
{
    for (uint32_t i = 0; i < typing->types->list.count; i++) {
        const struct type *type = typer_type_of(typing, i);
        /* Allocation needs the descriptor of a type; DWARF also has types without descriptors,
         * which are never allocated. */
        if (type->kind == TYPE_INVALID || type->role == ROLE_CLOSURE || type->size == 0 ||
            (type->address == 0 && type->role == ROLE_NONE))
            continue;
        const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, i);
        if (!map)
            return &error_no_memory;
        if (!map->known || map->word_count == 0)
            continue;
        const uint64_t slot = typing_slot(typing, map->size);
        if ((slot != 0 && !add_candidate(guesses, typing, i, map, slot)) ||
            !add_element(guesses, typing, i, map))
            return &error_no_memory;
    }
    return NULL;
}

void guesses_deinit(struct guesses *guesses)
{
    map_deinit(&guesses->by_pattern);
    map_deinit(&guesses->last_by_pattern);
    map_deinit(&guesses->elements_by_key);
    free(guesses->candidates.data);
    free(guesses->elements.data);
}

/*
 * Returns the element type of the arrays that an object with pointers at these words may be;
 * TYPE_NONE if there is none, or AMBIGUOUS. is_cut: the object has more pointers than these.
 */
static uint32_t guess_array_of(const struct typing *typing, const struct guesses *guesses,
                               const uint64_t *words, size_t count, bool is_cut, uint64_t slot)
{
    uint32_t result = TYPE_NONE;
    uint64_t key = 0;
    /* Tries each number of pointers that an element may have. The distance from the first pointer
     * to the one after them is then the element's size. */
    for (size_t per_element = 1; 2 * per_element <= count; per_element++) {
        const uint64_t size = words[per_element] - words[0];
        key = map_hash_pair(key, words[per_element - 1]);
        const uint32_t number = map_get(&guesses->elements_by_key, map_hash_pair(key, size));
        if (number == MAP_NONE)
            continue;
        const struct guess_element *element = &guesses->elements.data[number];
        const struct pointer_map *map = element->map;
        /* Two elements at least; and if all pointers are known, only whole ones, which fill the
         * slot. */
        if (map->word_count != per_element || map->size != size || size > slot / 2 ||
            (!is_cut &&
             (count % per_element != 0 || !fits_class(typing, count / per_element * size, slot))))
            continue;
        size_t word = 0;
        while (word < count &&
               words[word] == word / per_element * size + map->words[word % per_element])
            word++;
        if (word < count)
            continue;
        const bool is_telling =
            per_element >= 8 ||
            (per_element >= 2 && count / per_element >= 4); /* not just pointers in a row */
        if (result != TYPE_NONE || !is_telling)
            return AMBIGUOUS;
        result = element->type;
    }
    return result;
}

/* Reads the words of a field list, at most limit of them. Returns their number, and in *ret_size
 * the size of the list without its end, in bytes. */
static size_t guess_read_words(const struct g2h_fields *fields, uint64_t *words, size_t limit,
                               size_t *ret_size)
{
    struct g2h_fields copy = *fields;
    size_t count = 0;
    while (count < limit && fields_next_pointer(&copy, &words[count]))
        count++;
    *ret_size = as_size(copy.at - fields->at);
    return count;
}

/* Returns whether a type has a part of an object at the part's offset: a value, or an array that is
 * a field. */
static bool type_has_part(const struct typing *typing, uint32_t type, const struct typed_part *part)
{
    const uint64_t offset = part->offset % typer_type_of(typing, type)->size;
    return part->is_array ? type_has_array(typing->types, type, offset, part->type, part->count)
                          : type_holds(typing->types, type, offset, part->type);
}

/* Returns whether some parts of an object are known, and a type has all of them. */
static bool has_its_parts(struct typing *typing, uint32_t object, uint32_t type)
{
    const struct shard *shard = shard_of(typing, object);
    bool has_all = true;
    if (!typing_has_parts(typing, object))
        return false;
    for (uint32_t i = map_get(&shard->first, object); i != UINT32_MAX && has_all;
         i = shard->parts.data[i].next)
        has_all = type_has_part(typing, type, &shard->parts.data[i]);
    return has_all;
}

/* ---- by a part ---- */

/* A value that is in an object according to a typed pointer. */
struct guess_part {
    uint64_t offset;
    uint32_t type; /* TYPE_NONE: there is no such value */
};

/* Returns whether a claim on a part of an object is informative: it is a struct, and not
 * guessed. */
static bool is_telling_part(const struct typing *typing, uint32_t type, bool is_array,
                            uint32_t source)
{
    return !is_array && source < SOURCE_SWEEP && typer_type_of(typing, type)->kind == TYPE_STRUCT &&
           typer_type_of(typing, type)->role == ROLE_NONE;
}

/* Returns the value in an object that says most about the object's type: that of the claim on its
 * start if it is telling (is_telling_part()), else the telling part at the lowest offset. The type
 * is TYPE_NONE if there is none. */
static struct guess_part first_telling_part(struct typing *typing, uint32_t object)
{
    struct guess_part part = {0, TYPE_NONE};
    const uint32_t claim = typing->claims[object];
    if (claim != 0 && is_telling_part(typing, (claim & CLAIM_TYPE) - 1, (claim & CLAIM_ARRAY) != 0,
                                      (claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT))
        part.type = (claim & CLAIM_TYPE) - 1;
    if (part.type != TYPE_NONE || !typing_has_parts(typing, object))
        return part;
    const struct shard *shard = shard_of(typing, object);
    for (uint32_t i = map_get(&shard->first, object); i != UINT32_MAX;
         i = shard->parts.data[i].next) {
        const struct typed_part *one = &shard->parts.data[i];
        const bool is_before = part.type == TYPE_NONE || one->offset < part.offset ||
                               (one->offset == part.offset && one->type < part.type);
        if (is_before && is_telling_part(typing, one->type, one->is_array, one->source))
            part = (struct guess_part){one->offset, one->type};
    }
    return part;
}

/* Returns whether an object has space for count values of a type after an address, and pointers if
 * they have any. True also if nothing is known: target is UINT32_MAX, or the type has no map of
 * pointers. */
static bool may_hold(struct typing *typing, uint32_t target, uint64_t address, uint32_t type,
                     uint64_t count)
{
    const struct pointer_map *map =
        type < typing->types->list.count ? pointer_map_of(&typing->pointer_maps, type) : NULL;
    bool rest;
    if (target == UINT32_MAX || !map || !map->known)
        return true; /* nothing is known */
    const uint64_t offset = address - heap_address(typing->heap, target),
                   slot = heap_object_size(typing->heap, target);
    if (offset > slot || (map->size > 0 && count > (slot - offset) / map->size))
        return false;
    if (map->word_count == 0 || count == 0)
        return true;
    struct g2h_object object;
    heap_object(typing->heap, target, &object);
    return object_has_pointers(typing->heap, target) &&
           value_fits(&object, NULL, map, offset, &rest);
}

/* Returns whether an object may be a value of a type (number): the targets of its pointers and
 * slices are large enough for what the type's fields lead to, and have their pointers; and slices
 * are no longer than their capacity. Fields beyond the object's bytes are left out. */
static bool pointers_are_plausible(struct typing *typing, const struct g2h_object *object,
                                   uint32_t number)
{
    const struct g2h_heap *heap = typing->heap;
    const uint64_t word = heap->params.pointer_size;
    const struct pointer_map *map = pointer_map_of(&typing->pointer_maps, number);
    for (uint32_t i = 0; map && i < map->field_count; i++) {
        const struct pointer_field *field = &map->fields[i];
        const struct type *type = typer_type_of(typing, field->type);
        const uint64_t size = pointer_field_size(typing->types, field->type);
        if (object->contents.size < size || field->offset > object->contents.size - size)
            continue;
        const uint8_t *at = object->contents.data + field->offset;
        const uint64_t value = heap_word(heap, at);
        const uint32_t target = heap_find(heap, value);
        if (type->kind == TYPE_POINTER && type->target == TARGET_ONE &&
            !may_hold(typing, target, value, type->elem, 1))
            return false;
        if (type->kind == TYPE_SLICE &&
            (heap_word(heap, at + word) > heap_word(heap, at + 2 * word) ||
             !may_hold(typing, target, value, type->elem, heap_word(heap, at + 2 * word))))
            return false;
    }
    return true;
}

/* Returns the only type among those with an object's pattern (key) that contains a known part, or
 * AMBIGUOUS. With an object, only types that pass pointers_are_plausible() count: that depends on
 * this object, so the answer is not cached. */
static uint32_t only_type_with_part(const struct guesses *guesses, struct typing *typing,
                                    uint64_t key, const struct guess_part *part,
                                    const struct g2h_object *object)
{
    enum { MOST = 64 }; /* types that are tried for each object */
    uint32_t result = AMBIGUOUS, left = MOST;
    for (uint32_t i = map_get(&guesses->last_by_pattern, key); i != MAP_NONE;
         i = guesses->candidates.data[i].next) {
        const uint32_t type = guesses->candidates.data[i].type;
        if (object && left-- == 0)
            return AMBIGUOUS;
        /* Not the part itself: the object has more than that. */
        if (type == part->type || !type_holds(typing->types, type, part->offset, part->type) ||
            (object && !pointers_are_plausible(typing, object, type)))
            continue;
        /* One type may have two numbers, of its descriptor and of DWARF, but has one name. */
        if (result != AMBIGUOUS &&
            typer_type_of(typing, result)->name != typer_type_of(typing, type)->name)
            return AMBIGUOUS;
        result = type;
    }
    return result;
}

/* Proposes the only type with an object's pattern (key) that has the most telling of its known
 * parts. cache has the answers that depend on pattern and part alone; if these leave several types,
 * only those count whose pointers are plausible for this object. Nothing is proposed if the type
 * lacks other parts of the object. Returns false if memory runs out. */
static bool guess_by_part(struct typer *typer, const struct guesses *guesses, struct map *cache,
                          const struct g2h_object *record, uint32_t object, uint64_t key)
{
    struct typing *typing = typer->typing;
    const struct guess_part part = first_telling_part(typing, object);
    if (part.type == TYPE_NONE)
        return true;
    const uint64_t own = map_hash_pair(map_hash_pair(key, part.offset), part.type);
    uint32_t known;
    uint32_t guess = map_get(cache, own);
    if (guess == MAP_NONE) {
        guess = only_type_with_part(guesses, typing, key, &part, NULL);
        if (!map_put(cache, own, guess, &known))
            return false;
    }
    if (guess == AMBIGUOUS)
        guess = only_type_with_part(guesses, typing, key, &part, record);
    if (guess == AMBIGUOUS ||
        (typing_has_parts(typing, object) && !has_its_parts(typing, object, guess)))
        return true;
    const struct reference reference = {
        .type = guess, .source = SOURCE_GUESS, .form = REFERENCE_VALUE};
    typer_propose(typer, object, 0, &reference);
    return true;
}

/* ---- all of it ---- */

/* Proposes a type for an object by the positions of its pointers. A value or an array must fit, but
 * not both. The answer depends only on the object's pattern, and is cached for all objects that
 * share it; if it is ambiguous, the object's known parts may decide. Returns false if memory runs
 * out. */
bool typer_guess(struct typer *typer, const struct guesses *guesses, struct map *cache,
                 uint32_t number)
{
    const struct g2h_heap *heap = typer->typing->heap;
    const uint64_t slot = heap_object_size(heap, number);
    enum { MOST_WORDS = 512 };
    uint64_t words[MOST_WORDS];
    struct g2h_object object;
    size_t size;
    heap_object(typer->typing->heap, number, &object);
    const size_t count = guess_read_words(&object.fields, words, MOST_WORDS, &size);
    if (count == 0)
        return true;
    const uint64_t key = pattern_key(object.fields.at, size, slot);
    uint32_t known;
    uint32_t guess = map_get(cache, key);
    if (guess == MAP_NONE) {
        const bool is_cut = count == MOST_WORDS; /* then the key is not that of a whole pattern */
        const uint32_t element = guess_array_of(typer->typing, guesses, words, count, is_cut, slot),
                       value = is_cut ? MAP_NONE : map_get(&guesses->by_pattern, key);
        if (value == MAP_NONE)
            guess = element < AMBIGUOUS ? element | GUESS_ARRAY : AMBIGUOUS;
        else
            guess = element == TYPE_NONE ? value : AMBIGUOUS;
        if (!map_put(cache, key, guess, &known))
            return false;
    }
    if (guess == AMBIGUOUS)
        return guess_by_part(typer, guesses, cache, &object, number, key);
    const bool is_array = (guess & GUESS_ARRAY) != 0;
    const uint32_t type = guess & ~GUESS_ARRAY;
    /* Typed pointers that lead to its parts say as much as one that leads to it. */
    const bool is_proven = has_its_parts(typer->typing, number, type);
    const struct reference reference = {.type = type,
                                        .source = is_proven ? SOURCE_POINTER : SOURCE_GUESS,
                                        .form = is_array ? REFERENCE_ARRAY : REFERENCE_VALUE};
    typer_propose(typer, number, 0, &reference);
    return true;
}
