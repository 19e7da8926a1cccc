/*
 * namer: what the pointers of objects are called.
 *
 * The name of an edge between objects is not kept but made from a key, which is what distinguishes
 * it: the offset in the source, the array element, the dynamic type of an interface. Keys are
 * collected once (collect.h), interned all at once in ascending order, and looked up wherever an
 * object's pointers are gone through.
 */
#ifndef NAMING_NAMER_H
#define NAMING_NAMER_H

#include "naming/keys.h"

/* Whether the words of an object may have names that are keys; false means that none has. Most
 * typed objects, and all their words, have names by their types. */
bool names_need_keys_other(const struct names *names, uint32_t object);
static inline bool names_need_keys(const struct names *names, uint32_t object)
{
    const uint32_t claim = names->typing ? names->typing->claims[object] : 0;
    if (claim == 0 || !typing_is_plain(names->typing, object) ||
        heap_has_malloc_header(names->heap, heap_slot_class(names->heap, object)))
        return names_need_keys_other(names, object);
    const struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
    return of_type->entries ? names_need_keys_other(names, object)
                            : (claim & CLAIM_ARRAY) == 0 && of_type->has_gaps;
}

/*
 * What an edge is called: an element's index, a string, or a key. Keys below ELEMENT_OFFSET are
 * plain offsets, "f16"; others have the index of a type (of an interface's value, "f16 (main.T)"),
 * of an array's element ("[3].f8"), or of a typed part of an object ("f64.next").
 */
struct edge_name {
    enum edge_name_form { EDGE_NAME_INDEX, EDGE_NAME_STRING, EDGE_NAME_KEY } form;
    bool is_internal; /* it leads to what the runtime owns */
    bool is_entry;    /* of a map, whose key may have a better name: keys.h; */
    bool is_key;      /* it is the key's own */
    uint64_t value;
};

/* What the names of an object's pointers have in common. */
struct namer {
    const struct names *names;
    const struct slot_class *slot_class;
    struct g2h_bytes contents;
    uint32_t object;
    bool is_plain; /* nothing has types: most pointers are called by their offsets */

    /* The value or array that begins with the object, if it has a type: in [base, end). */
    uint32_t type;
    bool is_array;
    uint64_t base, end, size; /* size is a value's */
    const struct map_entries *entries;
    const uint32_t *paths;
    uint64_t path_count;
    uint64_t value, element; /* that the last name was of: where it begins, its number */
    unsigned used;           /* of its entries: a bit for each slot that is in use */
};

/* namer_init() and namer_name() for what is seldom. */
void namer_init_other(struct namer *namer);
void namer_find_used(struct namer *namer);
void namer_name_other(struct namer *namer, uint64_t offset, struct edge_name *ret);

/* Of an object that is a value of a type, or an array of such: nearly all are, if there are types.
 */
static inline void namer_init_typed(struct namer *namer, uint32_t claim)
{
    const struct names *names = namer->names;
    const uint32_t type = (claim & CLAIM_TYPE) - 1;
    const struct type_names *of_type = &names->of_type[type];
    namer->type = type;
    namer->is_array = (claim & CLAIM_ARRAY) != 0;
    namer->size = of_type->size;
    namer->base = heap_value_base(names->heap, namer->slot_class);
    namer->end = namer->is_array && namer->size > 0 ? UINT64_MAX : namer->base + namer->size;
    namer->entries = of_type->entries;
    namer->paths = namer->is_array ? of_type->array_paths : of_type->value_paths;
    namer->path_count = namer->is_array ? of_type->array_words : of_type->value_words;
    namer->value = namer->base;
    namer->element = 0;
    if (namer->entries)
        namer_find_used(namer);
}

static inline void namer_init(struct namer *namer, const struct names *names, uint32_t object,
                              const struct slot_class *slot_class, const struct g2h_bytes *contents)
{
    const uint32_t claim = names->typing ? names->typing->claims[object] : 0;
    namer->names = names;
    namer->slot_class = slot_class;
    namer->contents = *contents;
    namer->object = object;
    namer->is_plain = !names->typing && slot_class->type == SLOT_CLASS_NO_TYPE;
    if (claim != 0)
        namer_init_typed(namer, claim);
    else if (!namer->is_plain)
        namer_init_other(namer);
    else
        namer->path_count = 0;
}

/* Goes to the value of an array that has the word at offset. */
static inline void namer_find_value(struct namer *namer, uint64_t offset)
{
    if (!namer->is_array || offset - namer->value < namer->size)
        return;
    namer->value += namer->size;
    namer->element++;
    if (offset - namer->value >= namer->size) { /* not the next one */
        namer->element = (offset - namer->base) / namer->size;
        namer->value = namer->base + namer->element * namer->size;
    }
    if (namer->entries)
        namer_find_used(namer);
}

/* A string, PATH_INTERNAL with it. Field by field: a struct that is put together on the stack, and
 * then copied as a whole, waits for its small parts. */
static inline void namer_set_path(struct edge_name *ret, uint32_t path)
{
    ret->form = EDGE_NAME_STRING;
    ret->is_internal = (path & PATH_INTERNAL) != 0;
    ret->is_entry = ret->is_key = false;
    ret->value = path & ~PATH_INTERNAL;
}

/* What a word's place in an entry is called; false where it is of none that is in use. */
static inline bool namer_name_entry(struct namer *namer, uint64_t offset, uint32_t path,
                                    struct edge_name *ret)
{
    namer_find_value(namer, offset);
    const uint8_t place =
        namer->entries->place_of_word[(offset - namer->value) >> namer->names->word_shift];
    if (place == PLACE_NONE || (namer->used >> (place & (SLOTS - 1)) & 1) == 0)
        return false;
    namer_set_path(ret, path);
    ret->is_entry = namer->entries->kind != KEYS_PLAIN;
    ret->is_key = (place & PLACE_KEY) != 0;
    return true;
}

/* The name of the pointer at offset. Pointers are best asked for in their order. */
static inline void namer_name(struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct g2h_heap *heap = namer->names->heap;
    const uint64_t word = heap->params.pointer_size,
                   index = (offset - namer->base) >> namer->names->word_shift;
    if (namer->is_plain && offset < ELEMENT_OFFSET &&
        (offset < word ||
         !heap_maybe_interface(heap, heap_word(heap, namer->contents.data + offset - word)))) {
        ret->form = EDGE_NAME_KEY;
        ret->is_internal = ret->is_entry = ret->is_key = false;
        ret->value = offset;
        return;
    }
    if (index < namer->path_count && namer->paths[index] != NAME_NONE &&
        (offset & (word - 1)) == 0) {
        if (!namer->entries) {
            namer_set_path(ret, namer->paths[index]);
            return;
        }
        if (namer_name_entry(namer, offset, namer->paths[index], ret))
            return;
    }
    namer_name_other(namer, offset, ret);
}

/* Of an object with buckets or groups: where the one begins that has the word at offset; UINT64_MAX
 * where none has it as a whole. */
static inline uint64_t namer_value(const struct namer *namer, uint64_t offset)
{
    const uint64_t inner = offset - namer->base, size = namer->size;
    if (offset < namer->base || size == 0 || (!namer->is_array && inner >= size))
        return UINT64_MAX;
    const uint64_t value = namer->base + (inner < size ? 0 : inner / size * size);
    return namer->contents.size >= size && value <= namer->contents.size - size ? value
                                                                                : UINT64_MAX;
}

/* Interns the names of keys, which are ascending and unique. */
struct g2h_error *names_intern_keys(struct names *names, const uint64_t *keys, size_t count);

/* The string of a plain offset; NAME_NONE where it was not collected. */
static inline uint32_t names_of_offset(const struct names *names, uint64_t offset)
{
    return names->of_offset[offset / 4] - 1;
}

/* The string of a key; NAME_NONE where it was not collected: the dump has been written to since. */
static inline uint32_t names_of_key(const struct names *names, uint64_t key)
{
    if (key < ELEMENT_OFFSET)
        return names_of_offset(names, key);
    const uint32_t place = number_set_find(&names->keys, key);
    return place != NUMBER_NONE ? names->of_key[place] : NAME_NONE;
}

/* Brings to the cache what names_of_key() looks at first of a key that is no plain offset. */
static inline void names_prefetch_key(const struct names *names, uint64_t key)
{
    number_set_prefetch(&names->keys, key);
}

#endif
