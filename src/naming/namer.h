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

#include "naming/names.h"

/* Whether the words of an object may have names that are keys; false means that none has. */
bool names_need_keys(const struct names *names, uint32_t object);

/*
 * What an edge is called: an element's index, a string, or a key. Keys below ELEMENT_OFFSET are
 * plain offsets, "f16"; others have the index of a type (of an interface's value, "f16 (main.T)"),
 * of an array's element ("[3].f8"), or of a typed part of an object ("f64.next").
 */
struct edge_name {
    enum edge_name_form { EDGE_NAME_INDEX, EDGE_NAME_STRING, EDGE_NAME_KEY } form;
    bool is_internal; /* it leads to what the runtime owns */
    bool is_entry;    /* of a map, whose key may have a better name: keys.h */
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
};

/* namer_init() and namer_name() for what is not plain. */
void namer_init_other(struct namer *namer);
void namer_name_other(struct namer *namer, uint64_t offset, struct edge_name *ret);

static inline void namer_init(struct namer *namer, const struct names *names, uint32_t object,
                              const struct slot_class *slot_class, const struct g2h_bytes *contents)
{
    namer->names = names;
    namer->slot_class = slot_class;
    namer->contents = *contents;
    namer->object = object;
    namer->is_plain = !names->typing && slot_class->type == SLOT_CLASS_NO_TYPE;
    if (!namer->is_plain)
        namer_init_other(namer);
}

/* The name of the pointer at offset. Pointers are best asked for in their order. */
static inline void namer_name(struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct g2h_heap *heap = namer->names->heap;
    const uint64_t word = heap->params.pointer_size;
    if (namer->is_plain && offset < ELEMENT_OFFSET &&
        (offset < word ||
         !heap_maybe_interface(heap, heap_word(heap, namer->contents.data + offset - word)))) {
        ret->form = EDGE_NAME_KEY;
        ret->is_internal = ret->is_entry = false;
        ret->value = offset;
        return;
    }
    namer_name_other(namer, offset, ret);
}

/*
 * Of the pointer whose name was asked for last, and is_entry: the slot of its bucket or group,
 * which is at namer->value; and whether it is the key's.
 */
unsigned namer_slot(const struct namer *namer, uint64_t offset);
bool namer_is_of_key(const struct namer *namer, uint64_t offset);

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
