/*
 * namer: the names of the pointers of objects, as fields and elements; see namer.h. A name is made
 * from a key, a number that says what the name consists of (a word of a type, an element's index,
 * an offset), so that equal names are made once: all threads first collect the keys of all pointers
 * (collect_block), the keys are sorted and their names interned, and namer_name() later finds the
 * name of a pointer by its key. Heaps without types have a part of their own, where names are
 * offsets.
 */
#include "naming/namer.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/workers.h"
#include "naming/symbols.h"

/* ==== the names of pointers ====
 *
 * If an object has a type, the names of the type's words are made once, and found by the word's
 * position in the value. Otherwise a word's name is its offset, with what the words themselves
 * reveal.
 */

static bool names_need_keys_other(const struct names *names, uint32_t object);

/* Returns whether words of an object may have names made from keys; false means that none does.
 * Most typed objects have names by their types for all their words. */
static inline bool names_need_keys(const struct names *names, uint32_t object)
{
    const uint32_t claim = names->typing ? names->typing->claims[object] : 0;
    if (claim == 0 || !typing_is_sure(names->typing, object) ||
        heap_has_malloc_header(names->heap, heap_slot_class(names->heap, object)))
        return names_need_keys_other(names, object);
    const struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
    if (of_type->entries)
        return names_need_keys_other(names, object);
    return (claim & CLAIM_ARRAY) == 0 ? of_type->has_gaps : windows_has(&names->windows, object);
}

/* Keys: bits 62 and 63 give the form; a plain offset has no bits from ELEMENT_OFFSET on. Below are
 * the other bits of each form, from its numbers' shifts on. */
#define KEY_FORM (UINT64_C(3) << 62)

#define KEY_SLOT (UINT64_C(0) << 62) /* type + 1, element + 1 (0: not of an array), offset */
enum { SLOT_TYPE = 36, SLOT_ELEMENT = 16, SLOT_ELEMENTS = 1 << (SLOT_TYPE - SLOT_ELEMENT) };

#define KEY_INTERFACE (UINT64_C(1) << 62) /* dynamic type, offset */
enum { INTERFACE_TYPE = 20 };

#define KEY_ELEMENT (UINT64_C(2) << 62) /* index, offset in the element */
enum { ELEMENT_INDEX = 20 };

#define KEY_PART (UINT64_C(3) << 62) /* type, offset of the part, offset in it */
enum { PART_TYPE = 32, PART_OFFSET = 16 };

/* Makes a name of a form; is_internal: the edge leads to an object of the runtime. */
static inline void set_name(struct edge_name *ret, enum edge_name_form form, bool is_internal,
                            uint64_t value)
{
    *ret = (struct edge_name){.value = value, .form = form, .is_internal = is_internal};
}

/* KEY_STALE, which is of form KEY_INTERFACE: before the start << 58 | type + 1, or 0 << 32 | index
 * << 16 | offset in the element. An index or a path that would need more bits is not in the name.
 */
enum { STALE_BEFORE = 58, STALE_TYPE = 32, STALE_INDEX = 16, STALE_NO_INDEX = UINT16_MAX };

/* Returns whether the field list contains a word of the malloc header. */
static bool namer_is_header_listed(const struct g2h_object *object)
{
    struct g2h_fields fields = object->fields;
    uint64_t offset;
    return fields_next_pointer(&fields, &offset) && offset < MALLOC_HEADER;
}

/* Returns the same as names_need_keys(), in the rare cases that may need the object's contents:
 * objects without a sure type, malloc headers, arrays with windows, and unused slots of maps. */
static bool names_need_keys_other(const struct names *names, uint32_t object)
{
    const struct typing *typing = names->typing;
    const uint32_t claim = typing ? typing->claims[object] : 0;
    const bool has_header =
        heap_has_malloc_header(names->heap, heap_slot_class(names->heap, object));
    struct g2h_object record;
    if (claim == 0 || !typing_is_sure(typing, object) || (has_header && (claim & CLAIM_ARRAY) == 0))
        return true;
    const struct type_names *of_type = &names->of_type[(claim & CLAIM_TYPE) - 1];
    heap_object(names->heap, object, &record);
    return (has_header && namer_is_header_listed(&record)) ||
           windows_has(&names->windows, object) ||
           (of_type->entries && map_entries_have_others(names, of_type->entries, &record.contents,
                                                        has_header ? MALLOC_HEADER : 0));
}

/* Begins anew with the same object and contents, but without its type. */
void namer_init_other(struct namer *namer)
{
    *namer = (struct namer){.names = namer->names,
                            .slot_class = namer->slot_class,
                            .contents = namer->contents,
                            .object = namer->object,
                            .type = TYPE_NONE};
}

/* Names the elements of an array by the slice that uses it. Moves the numbering of elements to
 * where the window begins. */
void namer_init_window(struct namer *namer)
{
    namer->window = windows_of(&namer->names->windows, namer->object);
    const uint64_t words = (namer->window->end - namer->window->begin) >> namer->names->word_shift;
    namer->base = namer->value = namer->window->begin;
    namer->path_count = MIN(words, namer->path_count);
}

/* Notes which slots of the current bucket or group are in use; none if it is not there as a
 * whole. */
void namer_find_used(struct namer *namer)
{
    namer->used =
        namer->contents.size >= namer->size && namer->value <= namer->contents.size - namer->size
            ? map_entries_used(namer->names, namer->entries, namer->contents.data + namer->value)
            : 0;
}

/* Returns whether a word is in the value or array that the object's type describes, and aligned. */
static inline bool is_typed(const struct namer *namer, uint64_t offset)
{
    return offset - namer->base < namer->end - namer->base &&
           (offset & (namer->names->heap->params.pointer_size - 1)) == 0;
}

/* Gets the name of a word in a map's bucket or group; path is its name by the type, or NAME_NONE. A
 * word of a slot in use without such a name gets the slot's number. Unused slots may still hold
 * pointers of an entry that has been moved, and overflow words belong to no slot: both are named
 * like any other field, or by their offset if the element's index has too many bits for a key. */
static void entry_name(struct namer *namer, uint64_t offset, uint32_t path, struct edge_name *ret)
{
    if (namer_entry(namer, offset, path, ret)) {
        if (path == NAME_NONE) {
            ret->form = EDGE_NAME_INDEX;
            ret->is_internal = false;
            ret->value = namer->element * SLOTS +
                         map_entries_slot(namer->entries, namer->names, offset - namer->value);
        }
        return;
    }
    const bool is_overflow =
        namer->entries->slot_of_word[(offset - namer->value) >> namer->names->word_shift] ==
        SLOT_NONE;
    const uint64_t element = namer->is_array ? namer->element + 1 : 0;
    if (is_overflow && path != NAME_NONE)
        *ret = namer_path(path | PATH_INTERNAL);
    else if (element >= SLOT_ELEMENTS)
        set_name(ret, EDGE_NAME_INDEX, false, offset);
    else
        set_name(ret, EDGE_NAME_KEY, is_overflow,
                 KEY_SLOT | ((uint64_t)namer->type + 1) << SLOT_TYPE | element << SLOT_ELEMENT |
                     (offset - namer->value));
}

/* Gets a name by the type of some other part of the object. Returns false if no part contains the
 * word, or an offset has too many bits for a key. */
static bool part_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct typing *typing = namer->names->typing;
    struct typed_location location;
    if ((offset & (namer->names->heap->params.pointer_size - 1)) != 0 ||
        !typing_locate(typing, namer->object, offset, &location))
        return false;
    const uint64_t part =
        location.part_offset + location.element * types_size(typing->types, location.type);
    if (part > UINT16_MAX || location.offset > UINT16_MAX)
        return false;
    set_name(ret, EDGE_NAME_KEY, false,
             KEY_PART | (uint64_t)location.type << PART_TYPE | part << PART_OFFSET |
                 location.offset);
    return true;
}

/* Gets the name of an element, or of a word in it, that no slice uses. Elements before the window
 * are numbered back from where it begins, those after it from there on. Returns false if slices use
 * it. */
static bool stale_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct slice_window *window = namer->window;
    if (!window || (offset >= window->begin && offset < window->end))
        return false;
    const bool is_before = offset < window->begin,
               is_pointer = window->size == namer->names->heap->params.pointer_size;
    uint64_t index, start;
    if (is_before) {
        index = (window->begin - offset + window->size - 1) / window->size;
        start = window->begin - index * window->size;
    } else {
        index = (offset - window->begin) / window->size;
        start = window->begin + index * window->size;
    }
    const uint64_t inside = offset - start;
    uint64_t key = KEY_STALE | (uint64_t)is_before << STALE_BEFORE;
    key |= MIN(index, STALE_NO_INDEX) << STALE_INDEX;
    if (!is_pointer && inside <= UINT16_MAX)
        key |= ((uint64_t)namer->type + 1) << STALE_TYPE | inside;
    set_name(ret, EDGE_NAME_KEY, false, key);
    return true;
}

/* Gets a name by the type of the object, or of the part that contains the word. Returns false if no
 * type says what the word is. */
static inline bool typed_name(struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    if (stale_name(namer, offset, ret))
        return true;
    if (!is_typed(namer, offset))
        return part_name(namer, offset, ret);
    const uint64_t index = (offset - namer->base) >> namer->names->word_shift;
    const uint32_t path = index < namer->path_count ? namer->paths[index] : NAME_NONE;
    if (namer->entries) {
        entry_name(namer, offset, path, ret);
    } else if (path != NAME_NONE) {
        *ret = namer_path(path);
    } else if (!namer->is_array) {
        return false;
    } else {
        const bool is_word = namer->size == namer->names->heap->params.pointer_size;
        set_name(ret, EDGE_NAME_INDEX, false, is_word ? index : offset);
        if (index < namer->path_count) {
            namer_find_value(namer, offset);
            ret->value = namer->element;
        }
    }
    return true;
}

/* Returns the key of a pointer in an object without a type; first is the word before it, which
 * names its type if the two are an interface. */
static uint64_t untyped_key(const struct g2h_heap *heap, const struct slot_class *slot_class,
                            uint64_t first, uint64_t offset)
{
    if (offset <= MALLOC_HEADER && heap_has_malloc_header(heap, slot_class))
        return offset; /* the word before is the allocation's type, not the first word of an
                          interface */
    const uint32_t type = interface_type_of(heap, first);
    return type != UINT32_MAX ? KEY_INTERFACE | (uint64_t)type << INTERFACE_TYPE | offset : offset;
}

/* Gets a name for a word of an object without a type from the executable: its index in an array of
 * words; element and offset in another array whose element's size the dump has; else its offset, or
 * what is known from the word before it. */
static void untyped_name(const struct namer *namer, uint64_t offset, struct edge_name *ret)
{
    const struct g2h_heap *heap = namer->names->heap;
    const struct slot_class *slot_class = namer->slot_class;
    const uint64_t word = heap->params.pointer_size;
    const bool is_array =
        slot_class->type != SLOT_CLASS_NO_TYPE &&
        (slot_class->kind == G2H_OBJECT_ARRAY || slot_class->kind == G2H_OBJECT_CHAN);
    const uint64_t size =
        is_array ? heap->types.data[slot_class->type].size : 0; /* size of an element */
    const uint64_t start =
        is_array && slot_class->kind == G2H_OBJECT_CHAN ? heap->params.hchan_size : 0;
    if (is_array && size == word) {
        set_name(ret, EDGE_NAME_INDEX, false, (offset - start) / size);
        return;
    }
    set_name(ret, offset >= ELEMENT_OFFSET ? EDGE_NAME_INDEX : EDGE_NAME_KEY, false, offset);
    if (offset >= ELEMENT_OFFSET)
        return;
    if (size > 0) {
        ret->value =
            KEY_ELEMENT | (offset - start) / size << ELEMENT_INDEX | (offset - start) % size;
        return;
    }
    if (offset >= word)
        ret->value = untyped_key(heap, slot_class,
                                 heap_word(heap, namer->contents.data + offset - word), offset);
}

/* Returns the name of a pointer by the object's type or, if that says nothing, by its offset. */
struct edge_name namer_name_other(struct namer *namer, uint64_t offset)
{
    struct edge_name name;
    if (!namer->names->typing || !typed_name(namer, offset, &name))
        untyped_name(namer, offset, &name);
    return name;
}

/* Appends the path to the word at an offset of a type, after the path that leads to the value. */
static void namer_append_path(const struct names *names, uint32_t type, uint64_t offset,
                              struct text *text)
{
    char path[NAME_LIMIT];
    const size_t size = types_path(names->typing->types, type, offset, path, sizeof(path));
    if (size > 0 && path[0] != '[' && text->size > 0)
        text_append_string(text, ".");
    text_append_utf8(text, path, size, NAME_LIMIT);
}

/* Appends the name of an element that no slice uses: "[3 beyond the length].Name". */
static void append_stale(const struct names *names, uint64_t key, struct text *text)
{
    const bool is_before = (key >> STALE_BEFORE & 1) != 0;
    const uint64_t index = key >> STALE_INDEX & UINT16_MAX,
                   type = key >> STALE_TYPE & ((1 << (STALE_BEFORE - STALE_TYPE)) - 1);
    text_printf(text, is_before ? "[-" : "[");
    if (index == STALE_NO_INDEX)
        text_printf(text, "…");
    else
        text_append_number(text, index);
    text_printf(text, is_before ? " before the start]" : " beyond the length]");
    if (type > 0)
        namer_append_path(names, (uint32_t)type - 1, key & UINT16_MAX, text);
}

/* Appends the name that a key stands for; the bits of each form are listed at the top of this
 * file. */
static void namer_append_key(const struct names *names, uint64_t key, struct text *text)
{
    const uint64_t form = key & KEY_FORM;
    if ((key & KEY_STALE) == KEY_STALE) {
        append_stale(names, key, text);
        return;
    }
    if (form == KEY_PART) {
        text_printf(text, "f%llu", (unsigned long long)(key >> PART_OFFSET & UINT16_MAX));
        namer_append_path(names, (uint32_t)((key & ~KEY_FORM) >> PART_TYPE), key & UINT16_MAX,
                          text);
        return;
    }
    if (form == KEY_SLOT && key >= ELEMENT_OFFSET) {
        const uint64_t element = key >> SLOT_ELEMENT & (SLOT_ELEMENTS - 1);
        if (element > 0)
            text_printf(text, "[%llu]", (unsigned long long)element - 1);
        namer_append_path(names, (uint32_t)(key >> SLOT_TYPE) - 1, key & UINT16_MAX, text);
        return;
    }
    if (form == KEY_ELEMENT)
        text_printf(text, "[%llu].", (unsigned long long)((key & ~KEY_FORM) >> ELEMENT_INDEX));
    text_append_string(text, "f");
    text_append_number(text, key & (ELEMENT_OFFSET - 1));
    if (form == KEY_INTERFACE)
        text_append_interface(text, names, (uint32_t)((key & ~KEY_FORM) >> INTERFACE_TYPE));
}

/* Appends the name of an edge. An index as "[3]", a key of a map by namer_append_key(), and others
 * by their string in the pool. */
void namer_append(const struct namer *namer, const struct edge_name *name, struct text *text)
{
    size_t size;
    if (name->form == EDGE_NAME_INDEX) {
        text_printf(text, "[%llu]", (unsigned long long)name->value);
    } else if (name->form == EDGE_NAME_KEY) {
        namer_append_key(namer->names, name->value, text);
    } else {
        const char *string = string_pool_text(&namer->names->strings, (uint32_t)name->value, &size);
        text_append(text, string, size);
    }
}

/* Puts the keys that are not plain offsets into a set that gives each a rank, and allocates the
 * strings by rank. */
static struct g2h_error *rank_keys(struct names *names, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i] >= ELEMENT_OFFSET && !number_set_add(&names->keys, keys[i]))
            return &error_no_memory;
    number_set_rank(&names->keys);
    names->of_key = block_alloc(names->keys.count + 1, sizeof(*names->of_key));
    return names->of_key ? NULL : &error_no_memory;
}

/*
 * Interns the names of keys, which must be ascending and unique.
 *
 * Keys are ascending, so that names get the same numbers whatever thread has collected them.
 */
static struct g2h_error *names_intern_keys(struct names *names, const uint64_t *keys, size_t count)
{
    struct text text = {0};
    assert(IS_ORDERED(i, count, keys[i - 1] < keys[i]));
    struct g2h_error *error = rank_keys(names, keys, count);
    for (size_t i = 0; i < count && !error; i++) {
        uint32_t number;
        text.size = 0;
        namer_append_key(names, keys[i], &text);
        if (text.failed || !names_add_label(names, text.data, text.size, &number))
            error = &error_no_memory;
        else if (keys[i] < ELEMENT_OFFSET)
            names->of_offset[keys[i] / 4] = number + 1;
        else
            names->of_key[number_set_find(&names->keys, keys[i])] = number;
    }
    text_deinit(&text);
    return error;
}

/* ==== the names of pointers in a heap without types ==== */

/* Returns where the name of the pointer at offset after the word first is remembered: by a
 * multiplicative hash of both, of which the upper bits are the index. */
static inline struct untyped_known *untyped_slot(struct untyped_names *names, uint64_t first,
                                                 uint64_t offset)
{
    return &names->known[(first ^ offset << 40) * 0x9fb21c651e98df25u >> names->shift];
}

/* Creates the cache for names of pointers without types. Small heaps have few such names, and
 * remembering more names than the cache holds does not help large heaps. */
struct untyped_names *untyped_create(const struct g2h_heap *heap)
{
    enum { LEAST = 6, MOST = 13 };
    unsigned bits = LEAST;
    while (bits < MOST && heap->object_count >> bits != 0)
        bits++;
    struct untyped_names *names =
        calloc(1, sizeof(*names) + ((size_t)1 << bits) * sizeof(names->known[0]));
    if (names)
        names->shift = 64 - bits;
    return names;
}

/* Looks up the names that wait. First prefetches the names' places in the table, and then reads
 * them: the table is larger than a cache. */
void untyped_finish(const struct names *names, struct untyped_names *known)
{
    uint32_t ranks[UNTYPED_WAITING];
    const size_t count = known->waiting_count;
    for (size_t i = 0; i < count; i++) {
        ranks[i] = number_set_find(&names->keys, known->waiting[i].key);
        if (ranks[i] != NUMBER_NONE)
            __builtin_prefetch(&names->of_key[ranks[i]]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct untyped_waiting *waiting = &known->waiting[i];
        const uint32_t name = ranks[i] != NUMBER_NONE ? names->of_key[ranks[i]] : NAME_NONE;
        *waiting->ret = name;
        *untyped_slot(known, waiting->first, waiting->offset) =
            (struct untyped_known){waiting->first, waiting->offset, name};
    }
    known->waiting_count = 0;
}

/* Finds the name of a pointer by the word before it, now or in untyped_finish(). Words after a
 * malloc header are never remembered: there the same offset has another meaning. */
void untyped_interface_name(const struct names *names, struct untyped_names *known,
                            const struct slot_class *slot_class, uint64_t first, uint64_t offset,
                            uint32_t *ret)
{
    const struct untyped_known *name = untyped_slot(known, first, offset);
    const bool is_headed =
        offset <= MALLOC_HEADER && heap_has_malloc_header(names->heap, slot_class);
    if (!is_headed && name->first == first && name->offset == offset) {
        *ret = name->name;
        return;
    }
    const uint64_t key = untyped_key(names->heap, slot_class, first, offset);
    if (key < ELEMENT_OFFSET) {
        *ret = names_of_offset(names, offset);
        return;
    }
    names_prefetch_key(names, key);
    known->waiting[known->waiting_count++] =
        (struct untyped_waiting){ret, key, first, (uint32_t)offset};
    if (known->waiting_count == UNTYPED_WAITING)
        untyped_finish(names, known);
}

/* ==== which names pointers need ==== */

/* This many keys wait until the part of the set that they need is in the cache. */
enum { KEYS_WAITING = 16 };

/* The keys that one thread has collected. */
struct key_collector {
    struct number_set keys; /* the keys of edges' names, other than plain offsets */
    uint64_t waiting[KEYS_WAITING];
    size_t waiting_count;
    uint64_t *offsets;             /* a bit for each offset / 4 that is the name of an edge */
    struct untyped_names *untyped; /* the pointers collected last, without their names; NULL if
                                  objects have types, or words are not this machine's */
};

/* Adds the keys that wait to the set; the part of it that each needs has been prefetched. Returns
 * false if memory runs out. */
static bool add_waiting(struct key_collector *collector)
{
    bool good = true;
    for (size_t i = 0; i < collector->waiting_count && good; i++)
        good = number_set_add(&collector->keys, collector->waiting[i]);
    collector->waiting_count = 0;
    return good;
}

static inline void collect_offset(struct key_collector *collector, uint64_t offset)
{
    collector->offsets[offset / 256] |= UINT64_C(1) << (offset / 4 % 64);
}

/* Collects a key: a plain offset by its bit; others wait until KEYS_WAITING of them can be added
 * together. Returns false if memory runs out. */
static inline bool collect_key(struct key_collector *collector, uint64_t key)
{
    if (key < ELEMENT_OFFSET) {
        collect_offset(collector, key);
        return true;
    }
    number_set_prefetch(&collector->keys, key);
    collector->waiting[collector->waiting_count++] = key;
    return collector->waiting_count < KEYS_WAITING || add_waiting(collector);
}

static inline bool collect_name(struct key_collector *collector, const struct edge_name *name)
{
    return name->form != EDGE_NAME_KEY || collect_key(collector, name->value);
}

/* Collects the name of a pointer for listen_untyped(), if the word before it may be the first of an
 * interface. Returns false if memory runs out. */
static bool collect_interface(struct key_collector *collector, const struct g2h_heap *heap,
                              const struct slot_class *slot_class, uint64_t first, uint64_t offset)
{
    struct untyped_known *known = untyped_slot(collector->untyped, first, offset);
    const bool is_headed = offset <= MALLOC_HEADER && heap_has_malloc_header(heap, slot_class);
    if (!is_headed && known->first == first && known->offset == offset)
        return true;
    if (!is_headed)
        *known = (struct untyped_known){first, (uint32_t)offset, 0};
    return collect_key(collector, untyped_key(heap, slot_class, first, offset));
}

/* The listener if nothing has types and heap_names_untyped(). Returns false if memory runs out. */
static bool listen_untyped(void *context, unsigned worker, uint32_t object,
                           const struct g2h_bytes *contents, const uint64_t *offsets, size_t count)
{
    const struct collection *collection = context;
    const struct g2h_heap *heap = collection->names->heap;
    struct key_collector *collector = &collection->collectors[worker];
    for (size_t i = 0; i < count; i++) {
        const uint64_t offset = offsets[i];
        if (offset >= ELEMENT_OFFSET) /* its name will be an index */
            continue;
        if (!untyped_maybe_interface(heap, contents->data, offset))
            collect_offset(collector, offset);
        else if (!collect_interface(collector, heap, heap_slot_class(heap, object),
                                    untyped_word(contents->data + offset - sizeof(uint64_t)),
                                    offset))
            return false;
    }
    return true;
}

/* The listener if objects have types, or if namer.h cannot find all names: collects the keys that
 * the names of an object's pointers need. Returns false if memory runs out. */
static bool listen_by_namer(void *context, unsigned worker, uint32_t object,
                            const struct g2h_bytes *contents, const uint64_t *offsets, size_t count)
{
    const struct collection *collection = context;
    struct key_collector *collector = &collection->collectors[worker];
    struct namer namer;
    namer_init(&namer, collection->names, object, heap_slot_class(collection->names->heap, object),
               contents);
    for (size_t i = 0; i < count; i++) {
        const struct edge_name name = namer_name(&namer, offsets[i]);
        if (!collect_name(collector, &name))
            return false;
    }
    return true;
}

/* Returns the number of words for a collector's bits. */
static size_t offset_words(const struct names *names)
{
    return (size_t)(names->offset_end / 256) + 1;
}

/* Begins to collect the names of edges. Each thread has a collector of its own, so that they need
 * no locks. */
struct g2h_error *collection_init(struct collection *collection, struct names *names,
                                  unsigned threads, struct pointer_listener *ret)
{
    const bool is_untyped = !names->typing && heap_names_untyped(names->heap);
    *collection = (struct collection){.names = names, .threads = threads};
    *ret = (struct pointer_listener){is_untyped ? listen_untyped : listen_by_namer, collection};
    collection->collectors = calloc(threads, sizeof(*collection->collectors));
    TRY_MEMORY(collection->collectors);
    for (unsigned i = 0; i < threads; i++) {
        struct key_collector *collector = &collection->collectors[i];
        collector->offsets = calloc(offset_words(names), sizeof(*collector->offsets));
        TRY_MEMORY(collector->offsets);
        if (!is_untyped)
            continue;
        collector->untyped = untyped_create(names->heap);
        TRY_MEMORY(collector->untyped);
    }
    return NULL;
}

static void collector_deinit(struct key_collector *collector)
{
    number_set_deinit(&collector->keys);
    free(collector->offsets);
    free(collector->untyped);
}

void collection_deinit(struct collection *collection)
{
    for (unsigned i = 0; i < collection->threads && collection->collectors; i++)
        collector_deinit(&collection->collectors[i]);
    free(collection->collectors);
}

/* ---- with types ---- */

/* Collects the keys of the names of an object's pointers. Returns false if memory runs out. */
static bool collect_object(struct key_collector *collector, const struct collection *collection,
                           uint32_t object)
{
    struct object_walk walk;
    struct walk_pointer pointer;
    object_walk_begin(&walk, collection->names, collection->targets, object);
    while (object_walk_next(&walk, &pointer))
        if (!collect_name(collector, &pointer.name))
            return false;
    return true;
}

/* Collects the keys of a block's objects: of those that have pointers, and whose names need keys;
 * most do not. */
static struct g2h_error *collect_block(void *context, size_t task, unsigned worker)
{
    const struct collection *collection = context;
    const struct target_block *block = &collection->targets->blocks[task];
    struct key_collector *collector = &collection->collectors[worker];
    for (uint32_t i = 0; i < block->objects; i++) {
        const uint32_t object = (as_u32(task) << BLOCK_SHIFT) + i;
        if (block->starts[i] < block->starts[i + 1] && names_need_keys(collection->names, object) &&
            !collect_object(collector, collection, object))
            return &error_no_memory;
    }
    return NULL;
}

/* ---- interning ---- */

/* Orders keys ascending. */
static int compare_keys(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a;
    uint64_t other = *(const uint64_t *)b;
    return COMPARE(one, other);
}

typedef VECTOR(uint64_t) key_vector;

/* Appends the keys of all threads to those in keys; afterwards all are ascending and unique.
 * Returns false if memory runs out. */
static bool collect_gather(const struct collection *collection, key_vector *keys)
{
    for (unsigned i = 0; i < collection->threads; i++) {
        struct key_collector *collector = &collection->collectors[i];
        if (!add_waiting(collector) || !vector_grow(keys, collector->keys.count))
            return false;
        if (collector->keys.count > 0) /* else keys->data may be NULL */
            number_set_members(&collector->keys, keys->data + keys->count);
        keys->count += collector->keys.count;
    }
    if (keys->count > 0)
        qsort(keys->data, keys->count, sizeof(*keys->data), compare_keys);
    size_t unique = 0;
    for (size_t i = 0; i < keys->count; i++)
        if (i == 0 || keys->data[i] != keys->data[i - 1])
            keys->data[unique++] = keys->data[i];
    keys->count = unique;
    return true;
}

/* Adds the plain offsets that any thread has collected, ascending. Each thread has a bit for each
 * multiple of 4 (bytes). Most bits are not set. Returns false if memory runs out. */
static bool gather_offsets(const struct collection *collection, key_vector *keys)
{
    for (size_t i = 0; i < offset_words(collection->names); i++) {
        uint64_t used = 0;
        for (unsigned j = 0; j < collection->threads; j++)
            used |= collection->collectors[j].offsets[i];
        for (; used != 0; used &= used - 1)
            if (!vector_push(keys, i * 256 + lowest_bit(used) * 4))
                return false;
    }
    return true;
}

/* Interns the names in an order that does not depend on the threads. */
struct g2h_error *collection_finish(struct collection *collection)
{
    key_vector keys = {0};
    const bool good = gather_offsets(collection, &keys) && collect_gather(collection, &keys);
    struct g2h_error *error =
        good ? names_intern_keys(collection->names, keys.data, keys.count) : &error_no_memory;
    free(keys.data);
    return error;
}

/* Collects the names of all edges. Collects in a walk of its own: types are known only after the
 * targets, so no listener could do it. */
struct g2h_error *names_collect(struct names *names, const struct targets *targets,
                                unsigned threads)
{
    struct pointer_listener listener;
    struct collection collection;
    struct g2h_error *error = collection_init(&collection, names, threads, &listener);
    collection.targets = targets;
    if (!error)
        error = workers_run(threads, targets->block_count, collect_block, &collection);
    if (!error)
        error = collection_finish(&collection);
    collection_deinit(&collection);
    return error;
}
