/*
 * namer: the names of objects' pointers, which are made from keys that are collected once.
 */
#ifndef NAMING_NAMER_H
#define NAMING_NAMER_H

#include "heap/pointers.h"
#include "heap/targets.h"
#include "naming/key_names.h"
#include "naming/names.h"

/* ==== the names of pointers ====
 *
 * The name of an edge between objects is not stored but made from a key, which holds what
 * distinguishes the name: the offset in the source, the array element, the dynamic type of an
 * interface. Keys are collected once, interned all at once in ascending order, and looked up
 * whenever an object's pointers are walked.
 */

/*
 * The name of an edge: an element's index, a string, or a key. Keys below ELEMENT_OFFSET are plain
 * offsets, "f16"; others contain the index of a type (of an interface's value, "f16 (main.T)"), of
 * an array's element ("[3].f8"), of a typed part of an object ("f64.next"), or of an array's
 * element that no slice uses ("[3 beyond the length].Name").
 */
struct edge_name {
    uint64_t value;
    enum edge_name_form { EDGE_NAME_INDEX, EDGE_NAME_STRING, EDGE_NAME_KEY } form;
    bool is_internal; /* the edge leads to an object of the runtime */
    bool is_entry;    /* the pointer is in a map's entry, whose key may provide a better name:
                       * key_names.h */
    bool is_key;      /* the pointer is in the key itself */
};

/* The bits that all keys of elements that no slice uses have, and no other key. */
#define KEY_STALE (UINT64_C(3) << 61)

/* State shared by the names of an object's pointers. */
struct namer {
    const struct names *names;
    const struct slot_class *slot_class;
    struct g2h_bytes contents;
    uint32_t object;

    /* The value or array at the object's start, if it has a type: in [base, end). */
    uint32_t type;
    bool is_array;
    uint64_t base, end, size; /* size of one value */
    const struct map_entries *entries;
    const uint32_t *paths;
    uint64_t path_count;
    const struct slice_window *window; /* of an array of which slices use only a part; else NULL */
    uint64_t value, element; /* of the last name: where its value begins, and the value's number */
    unsigned used;           /* slots of that value's entries that are in use: a bit for each */
};

/* Returns whether a name is that of an element that no slice uses. */
static inline bool edge_name_is_stale(const struct edge_name *name)
{
    return name->form == EDGE_NAME_KEY && (name->value & KEY_STALE) == KEY_STALE;
}

/* The rare cases of namer_init() and namer_name(). */
void namer_init_window(struct namer *namer);

void namer_init_other(struct namer *namer);

void namer_find_used(struct namer *namer);

struct edge_name namer_name_other(struct namer *namer, uint64_t offset);

/* Initializes a namer for an object that is a value of a type, or an array of values: with types,
 * nearly all objects are. */
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
    namer->window = NULL;
    if (namer->entries)
        namer_find_used(namer);
    else if (namer->is_array && windows_has(&names->windows, namer->object))
        namer_init_window(namer);
}

/* Initializes a namer for an object. A claim is the object's type + 1, with flags (typing.h); 0 if
 * it has no type. */
static inline void namer_init(struct namer *namer, const struct names *names, uint32_t object,
                              const struct slot_class *slot_class, const struct g2h_bytes *contents)
{
    const uint32_t claim = names->typing ? names->typing->claims[object] : 0;
    namer->names = names;
    namer->slot_class = slot_class;
    namer->contents = *contents;
    namer->object = object;
    if (claim != 0)
        namer_init_typed(namer, claim);
    else if (names->typing)
        namer_init_other(namer);
    else
        namer->base = namer->path_count = 0;
}

/* Moves to the array's value that contains the word at offset. */
static inline void namer_find_value(struct namer *namer, uint64_t offset)
{
    if (!namer->is_array || offset - namer->value < namer->size)
        return;
    namer->value += namer->size;
    namer->element++;
    if (offset - namer->value >= namer->size) { /* not the next value */
        namer->element = (offset - namer->base) / namer->size;
        namer->value = namer->base + namer->element * namer->size;
    }
    if (namer->entries)
        namer_find_used(namer);
}

/* Returns a name that is a string; path may include PATH_INTERNAL. */
static inline struct edge_name namer_path(uint32_t path)
{
    return (struct edge_name){.value = path & ~PATH_INTERNAL,
                              .form = EDGE_NAME_STRING,
                              .is_internal = (path & PATH_INTERNAL) != 0};
}

/* Gets the name of a word in a map's entry; returns false if the word is in no entry in use. */
static inline bool namer_entry(struct namer *namer, uint64_t offset, uint32_t path,
                               struct edge_name *ret)
{
    namer_find_value(namer, offset);
    const uint8_t slot =
        namer->entries->slot_of_word[(offset - namer->value) >> namer->names->word_shift];
    if (slot == SLOT_NONE || (namer->used >> (slot & (SLOTS - 1)) & 1) == 0)
        return false;
    *ret = namer_path(path);
    ret->is_entry = namer->entries->kind != KEYS_WITHOUT_TEXT;
    ret->is_key = (slot & SLOT_IN_KEY) != 0;
    return true;
}

/* Does what namer_name() does. shift is names->word_shift: a loop in which it is constant takes
 * fewer instructions. */
static inline struct edge_name namer_name_by(struct namer *namer, uint64_t offset, unsigned shift)
{
    const uint64_t index = (offset - namer->base) >> shift;
    struct edge_name name;
    if (index < namer->path_count && namer->paths[index] != NAME_NONE &&
        (offset & ((UINT64_C(1) << shift) - 1)) == 0) {
        if (!namer->entries)
            return namer_path(namer->paths[index]);
        if (namer_entry(namer, offset, namer->paths[index], &name))
            return name;
    }
    return namer_name_other(namer, offset);
}

/* Returns the name of the pointer at offset. Asking for pointers in ascending order is fastest. */
static inline struct edge_name namer_name(struct namer *namer, uint64_t offset)
{
    return namer_name_by(namer, offset, namer->names->word_shift);
}

/* For an object with buckets or groups: returns the start of the bucket or group that contains the
 * word at offset, or UINT64_MAX if no complete one contains it. */
static inline uint64_t namer_value(const struct namer *namer, uint64_t offset)
{
    const uint64_t inner = offset - namer->base;
    const uint64_t size = namer->size;
    if (offset < namer->base || size == 0 || (!namer->is_array && inner >= size))
        return UINT64_MAX;
    const uint64_t value = namer->base + (inner < size ? 0 : inner / size * size);
    return namer->contents.size >= size && value <= namer->contents.size - size ? value
                                                                                : UINT64_MAX;
}

/* Appends a name, whether it was collected or not: "Config.TLS", "[3]", "f16". */
void namer_append(const struct namer *namer, const struct edge_name *name, struct text *text);

/* Returns the string of a plain offset, or NAME_NONE if it was not collected. */
static inline uint32_t names_of_offset(const struct names *names, uint64_t offset)
{
    return names->of_offset[offset / 4] - 1;
}

/* Returns the string of a key, or NAME_NONE if it was not collected because the dump has been
 * written to since. */
static inline uint32_t names_of_key(const struct names *names, uint64_t key)
{
    if (key < ELEMENT_OFFSET)
        return names_of_offset(names, key);
    const uint32_t rank = number_set_find(&names->keys, key);
    return rank != NUMBER_NONE ? names->of_key[rank] : NAME_NONE;
}

/* Prefetches what names_of_key() reads first for a key that is not a plain offset. */
static inline void names_prefetch_key(const struct names *names, uint64_t key)
{
    number_set_prefetch(&names->keys, key);
}

/* ==== the names of pointers in a heap without types ====
 *
 * namer_name() returns the same names, one at a time and in every case. This is the path that
 * nearly all pointers of an untyped heap take: an offset has its name in a table, and the name of a
 * pointer after the first word of an interface is looked up by this word and the offset. The last
 * few thousand of these names are remembered. Other look-ups wait until the data for several of
 * them has been prefetched, because the tables are larger than a cache.
 */

/* The remembered name of the pointer at offset that follows a word which may be the first of an
 * interface. */
struct untyped_known {
    uint64_t first; /* the word before the pointer */
    uint32_t offset;
    uint32_t name; /* string */
};

/* A name that has not been looked up yet. */
struct untyped_waiting {
    uint32_t *ret; /* where to store the name */
    uint64_t key, first;
    uint32_t offset;
};

enum { UNTYPED_WAITING = 32 };

struct untyped_names {
    struct untyped_waiting waiting[UNTYPED_WAITING];
    size_t waiting_count;
    unsigned shift;               /* shift from a hash to an index of known */
    struct untyped_known known[]; /* zeroes at first: an interface's pointer is never at offset 0 */
};

/* Creates the memory for names of a heap; free() releases it. Returns NULL if memory runs out. */
struct untyped_names *untyped_create(const struct g2h_heap *heap);

/* Returns whether all names of a heap's pointers can be found here, provided that it has no types
 * from an executable. */
static inline bool heap_names_untyped(const struct g2h_heap *heap)
{
    return heap->pointer_form == POINTERS_LISTED && heap_words_are_usual(heap);
}

/* Reads a word of such a heap. */
static inline uint64_t untyped_word(const uint8_t *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof(word));
    return word;
}

/* Returns whether the name of the pointer at offset, below ELEMENT_OFFSET, may depend on the
 * interface that contains it, not only on the offset. contents are the object's. */
static inline bool untyped_maybe_interface(const struct g2h_heap *heap, const uint8_t *contents,
                                           uint64_t offset)
{
    return offset >= sizeof(uint64_t) &&
           heap_maybe_interface(heap, untyped_word(contents + offset - sizeof(uint64_t)));
}

/* Gets the name of such a pointer, or makes the look-up wait. */
void untyped_interface_name(const struct names *names, struct untyped_names *known,
                            const struct slot_class *slot_class, uint64_t first, uint64_t offset,
                            uint32_t *ret);

/* Looks up the names that wait; they are NAME_NONE if names_of_key() returns it. */
void untyped_finish(const struct names *names, struct untyped_names *known);

/* Sets *ret to the string of the name of the pointer at offset, below ELEMENT_OFFSET. ret must stay
 * valid until untyped_finish(). */
static inline void untyped_name_of(const struct names *names, struct untyped_names *known,
                                   const struct slot_class *slot_class, const uint8_t *contents,
                                   uint64_t offset, uint32_t *ret)
{
    if (untyped_maybe_interface(names->heap, contents, offset))
        untyped_interface_name(names, known, slot_class,
                               untyped_word(contents + offset - sizeof(uint64_t)), offset, ret);
    else
        *ret = names_of_offset(names, offset);
}

/* ==== the pointers of an object, each with its offset, its target and its name ====
 *
 * Targets are stored in that order (heap/targets.h), so all code that walks the pointers of an
 * object uses this iterator.
 */

struct object_walk {
    const struct g2h_heap *heap;
    struct pointers pointers;
    struct namer namer; /* names of the object's words */
    const uint32_t *target, *end;
};

struct walk_pointer {
    uint64_t offset;
    uint32_t target; /* the object that it hits */
    struct edge_name name;
};

/* Begins a walk over the pointers of an object. */
static inline void object_walk_begin(struct object_walk *walk, const struct names *names,
                                     const struct targets *targets, uint32_t object)
{
    const struct g2h_heap *heap = names->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, object);
    walk->heap = heap;
    walk->target = targets_of(targets, object, &walk->end);
    pointers_of(heap, object, slot_class, &walk->pointers);
    namer_init(&walk->namer, names, object, slot_class, &walk->pointers.contents);
}

/* Gets the next pointer; returns false at the end. */
static inline bool object_walk_next(struct object_walk *walk, struct walk_pointer *ret)
{
    uint64_t value;
    while (walk->target < walk->end && pointers_next(&walk->pointers, &ret->offset, &value)) {
        if (!in_heap_range(walk->heap, value))
            continue;
        ret->target = *walk->target++;
        if (ret->target == NO_TARGET)
            continue;
        ret->name = namer_name(&walk->namer, ret->offset);
        return true;
    }
    /* After the dump was overwritten there may be fewer pointers than targets. */
    walk->target = walk->end;
    return false;
}

/* ==== which names pointers need ====
 *
 * A walk over the pointers on all threads finds the keys. If types are not known, this is the walk
 * that looks up the pointers' targets, while the pointers are in the cache. If objects are typed
 * after that, it is a separate walk over the objects that need keys.
 */

struct key_collector;

struct collection {
    struct names *names;
    const struct targets *targets;
    struct key_collector *collectors; /* by thread */
    unsigned threads;
};

/* Begins a collection and sets the listener for targets_init(). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *collection_init(struct collection *collection, struct names *names,
                                  unsigned threads, struct pointer_listener *ret);

/* Interns the names of the keys that the listener has collected. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *collection_finish(struct collection *collection);

void collection_deinit(struct collection *collection);

/* Does the whole collection after the targets have been found. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *names_collect(struct names *names, const struct targets *targets,
                                unsigned threads);

#endif
