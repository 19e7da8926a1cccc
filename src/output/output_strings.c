/*
 * output_strings: the strings table of a heap snapshot, in which each name and each string of the
 * heap has a number; see output_strings.h. Three parts:
 *
 * v8_name        other names for what DevTools would take for V8's own
 * held_classes   classes of arrays of bytes or numbers by the field that holds them
 * strings        numbers for names, then for keys of maps, then for the strings of nodes
 *
 * A string of the heap is kept only as a hash and the place from which it can be read again.
 */
#include "output/output_strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>
#include <go2heapsnapshot/identity.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "base/workers.h"

/* ==== names that DevTools does not misunderstand ==== */

enum { NAME_LIMIT = 1024 /* characters */ };

/* Returns whether a name is V8's: that of a class that DevTools computes, or treats specially.
 * Nearly all names differ in their lengths, so these are compared here. */
static bool is_reserved(struct g2h_bytes name)
{
    static const char *const reserved[] = {
        "Object",
        "Array",
        "Function",
        "RegExp",
        "V8EventListener",
        "(string)",
        "(array)",
        "(system)",
        "(compiled code)",
        "(closure)",
        "(number)",
        "(symbol)",
        "(bigint)",
        "(object shape)",
        "(synthetic)",
        "(sliced string)",
        "(concatenated string)",
        "(map descriptors)",
        "(Document DOM trees)",
    };
    for (size_t i = 0; i < COUNT_OF(reserved); i++)
        if (name.size == strlen(reserved[i]) && memcmp(name.data, reserved[i], name.size) == 0)
            return true;
    return false;
}

/* Returns whether a name begins with a prefix by which DevTools recognizes V8's and Blink's own
 * nodes. */
static bool has_reserved_prefix(struct g2h_bytes name)
{
    static const char *const prefixes[] = {"<",      "system / ", "Detached ",
                                           "Window", "Object(",   "(closure"};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (bytes_begin(name, prefixes[i]))
            return true;
    return false;
}

/* Returns whether DevTools would misread a name, and appends one to use instead to ret, which is
 * empty before: a word before or after it. The arrow of a receive-only channel is put after "chan",
 * because DevTools takes names that begin with "<" for its own. */
bool v8_name_differs(const char *name, size_t size, struct text *ret)
{
    static const char receives[] = "<-chan ";
    const struct g2h_bytes bytes = bytes_at(name, size);
    const char *before = "";
    const char *after = "";
    assert(ret->size == 0);
    if (bytes_begin(bytes, receives)) {
        before = "chan (<-) ";
        name += strlen(receives);
        size -= strlen(receives);
    } else if (has_reserved_prefix(bytes)) {
        before = "Go ";
    } else if (is_reserved(bytes)) {
        after = " (Go)";
    } else {
        return false;
    }
    text_append_string(ret, before);
    text_append_utf8(ret, name, size, NAME_LIMIT - strlen(before) - strlen(after));
    text_append_string(ret, after);
    return true;
}

/* ==== classes of arrays of bytes and numbers by what holds them ==== */

/* The most classes that a snapshot gets by what holds them. In a series there may be more, since
 * objects keep their classes. */
enum { HELD_CLASSES_MOST = 50 };

/* Gets a number for the name of a class; returns false if memory runs out. */
typedef bool held_classes_add(void *context, const char *name, size_t size, uint32_t *ret);

/* Several declarations, or none that is worth a name. */
#define OF_SEVERAL (UINT32_MAX - 1)

/* An array, and the declaration of the slices that lead to it. */
struct held_array {
    uint32_t object, declaration;
};

/* A declaration, and the bytes of the arrays that only its slices lead to. */
struct held_declaration {
    uint64_t bytes;
    uint32_t number, type; /* type: the name of the arrays' class */
    uint32_t class;        /* index in the list of struct held_names; UINT32_MAX: none */
};

struct held_finder {
    const struct g2h_view *view;
    struct g2h_capacities *capacities;
    const struct held_classes *classes;
    VECTOR(struct held_array) arrays;
    struct map array_of; /* object → index in arrays */
    VECTOR(struct held_declaration) declarations;
    struct g2h_text text;
};

static void held_finder_deinit(struct held_finder *finder)
{
    g2h_capacities_destroy(finder->capacities);
    free(finder->arrays.data);
    free(finder->declarations.data);
    map_deinit(&finder->array_of);
    g2h_text_deinit(&finder->text);
}

/* Finds the classes of arrays that are divided by what holds them: those of the names below that
 * the view has, with their headers. Returns false if memory runs out. */
static bool find_types(const struct g2h_view *view, struct held_classes *classes)
{
    static const char *const names[] = {
        "[]uint8",   "[]int8",  "[]uint16", "[]int16", "[]uint32",    "[]int32",
        "[]uint64",  "[]int64", "[]uint",   "[]int",   "[]uintptr",   "[]float32",
        "[]float64", "[]bool",  "[]rune",   "[]byte",  "[]complex64", "[]complex128"};
    char header[64];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct held_type type;
        if (!g2h_view_find_name(view, names[i], strlen(names[i]), &type.name) ||
            (g2h_view_name_uses(view, type.name) & G2H_NAME_OF_NODE) == 0)
            continue;
        snprintf(header, sizeof(header), "%s header", names[i]);
        if (!g2h_view_find_name(view, header, strlen(header), &type.header))
            type.header = UINT32_MAX;
        if (!vector_push(&classes->types, type))
            return false;
    }
    return true;
}

/* Returns the type with a name; NULL: none. */
static const struct held_type *type_of(const struct held_classes *classes, uint32_t name)
{
    VECTOR_EACH(const struct held_type, type, classes->types)
        if (type->name == name)
            return type;
    return NULL;
}

/* ---- what leads to each array ---- */

/* Notes the array that a slice leads to, with the slice's declaration. Slices of garbage do not
 * count, unless they lead to garbage, nor do strings, slices of other types, and those without
 * capacity. An array that slices of several declarations share is OF_SEVERAL, and so is one whose
 * slice is an object alone (is_alone), which no declaration names. Returns false if memory runs
 * out. */
static bool note_slice(void *context, const struct g2h_capacity *capacity)
{
    struct held_finder *finder = context;
    uint32_t object;
    uint32_t index = as_u32(finder->arrays.count);
    if (capacity->kind != G2H_CAPACITY_SLICE || capacity->all == 0 ||
        !g2h_heap_find(g2h_view_heap(finder->view), capacity->address, &object))
        return true;
    const struct held_type *type = type_of(finder->classes, g2h_view_class(finder->view, object));
    const bool is_of_garbage =
        capacity->object != UINT32_MAX && g2h_view_is_garbage(finder->view, capacity->object);
    if (!type || (is_of_garbage && !g2h_view_is_garbage(finder->view, object)))
        return true;
    const bool is_alone = capacity->object != UINT32_MAX &&
                          g2h_view_class(finder->view, capacity->object) == type->header;
    const struct held_array fresh = {object, is_alone ? OF_SEVERAL : capacity->declaration};
    if (!map_put(&finder->array_of, object, index, &index))
        return false;
    if (index == finder->arrays.count)
        return vector_push(&finder->arrays, fresh);
    if (finder->arrays.data[index].declaration != fresh.declaration)
        finder->arrays.data[index].declaration = OF_SEVERAL;
    return true;
}

/* ---- the largest declarations ---- */

/* Orders declarations by bytes, most first; equal ones by number. */
static int compare_declarations(const void *a, const void *b)
{
    const struct held_declaration *one = a;
    const struct held_declaration *other = b;
    if (one->bytes != other->bytes)
        return COMPARE(other->bytes, one->bytes);
    return COMPARE(one->number, other->number);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct held_declaration *one = a;
    const struct held_declaration *other = b;
    return COMPARE(one->number, other->number);
}

/* Sums up the bytes of arrays by declaration, which is where slices are declared, such as the field
 * main.Block.Body. Arrays that slices of several declarations lead to count for none. */
static struct g2h_error *sum_declarations(struct held_finder *finder)
{
    const struct g2h_heap *heap = g2h_view_heap(finder->view);
    _cleanup_(map_deinit) struct map by_number = {0};
    VECTOR_EACH(const struct held_array, array, finder->arrays) {
        const struct held_declaration fresh = {.number = array->declaration,
                                               .type = g2h_view_class(finder->view, array->object),
                                               .class = UINT32_MAX};
        uint32_t index = as_u32(finder->declarations.count);
        if (array->declaration == OF_SEVERAL)
            continue;
        TRY_MEMORY(map_put(&by_number, array->declaration, index, &index));
        if (index == finder->declarations.count)
            TRY_MEMORY(vector_push(&finder->declarations, fresh));
        finder->declarations.data[index].bytes += g2h_heap_size(heap, array->object);
    }
    return NULL;
}

/* Makes the name of a class, "[]uint8 (main.Block.Body)"; "[]uint8 (in [][]uint8)" of slices that
 * are declared only as elements. */
static void make_name(struct held_finder *finder, const struct held_declaration *declaration,
                      struct text *ret)
{
    enum { LONGEST_DECLARATION = 800 }; /* characters */
    size_t size;
    const char *type = g2h_view_name(finder->view, declaration->type, &size);
    g2h_capacities_declaration(finder->capacities, declaration->number, &finder->text);
    ret->size = 0;
    const bool is_element = finder->text.size == size && memcmp(finder->text.data, type, size) == 0;
    text_append(ret, type, size);
    text_append_string(ret, is_element ? " (in []" : " (");
    text_append_utf8(ret, finder->text.data, finder->text.size, LONGEST_DECLARATION);
    text_append_string(ret, ")");
}

/* ---- classes ---- */

/* Gives an array its class: that of its declaration (name; NULL: none), or in a series the one that
 * it had before. Without either it keeps the class of its type. */
static struct g2h_error *held_classes_set(struct held_classes *classes, struct g2h_identity *series,
                                          uint32_t object, const struct text *name,
                                          held_classes_add *add, void *context)
{
    const char *class = name ? name->data : NULL;
    size_t size = name ? name->size : 0;
    uint32_t number;
    if (series)
        TRY_MEMORY(g2h_identity_class(series, object, class, size, &class, &size));
    if (class)
        TRY_MEMORY(add(context, class, size, &number) &&
                   vector_push(&classes->of, ((struct held_class){object, number})));
    return NULL;
}

/* Orders by object. */
static int compare_held_classes(const void *a, const void *b)
{
    const struct held_class *one = a;
    const struct held_class *other = b;
    return COMPARE(one->object, other->object);
}

/* Orders the classes by object, and notes where each group of HELD_GROUP objects begins; nothing if
 * there are none. An object has one class. */
static struct g2h_error *held_classes_order(struct held_classes *classes, uint32_t objects)
{
    const size_t groups = objects / HELD_GROUP + 1;
    if (classes->of.count == 0)
        return NULL;
    vector_sort(&classes->of, compare_held_classes);
    classes->first = block_alloc(groups + 1, sizeof(*classes->first));
    TRY_MEMORY(classes->first);
    size_t at = 0;
    for (size_t i = 0; i <= groups; i++) {
        while (at < classes->of.count && classes->of.data[at].object / HELD_GROUP < i)
            at++;
        classes->first[i] = as_u32(at);
    }
    assert(at == classes->of.count);
    return NULL;
}

/* Returns the class that an array got by the slices that lead to it, or UINT32_MAX. Searches the
 * object's group, half of what is left at a time. */
uint32_t held_classes_get(const struct held_classes *classes, uint32_t object)
{
    if (!classes->first || object == UINT32_MAX)
        return UINT32_MAX;
    size_t begin = classes->first[object / HELD_GROUP];
    size_t end = classes->first[object / HELD_GROUP + 1];
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (classes->of.data[middle].object == object)
            return classes->of.data[middle].class;
        if (classes->of.data[middle].object < object)
            begin = middle + 1;
        else
            end = middle;
    }
    return UINT32_MAX;
}

/* The names of the largest declarations. */
struct held_names {
    struct text list[HELD_CLASSES_MOST];
    size_t count;
};

static void held_names_deinit(struct held_names *names)
{
    for (size_t i = 0; i < HELD_CLASSES_MOST; i++)
        text_deinit(&names->list[i]);
}

/* Names the HELD_CLASSES_MOST declarations whose arrays have most bytes, and sorts the declarations
 * by number again. */
static struct g2h_error *choose_names(struct held_finder *finder, struct held_names *names)
{
    vector_sort(&finder->declarations, compare_declarations);
    for (size_t i = 0; i < finder->declarations.count && names->count < HELD_CLASSES_MOST; i++) {
        struct text *name = &names->list[names->count];
        make_name(finder, &finder->declarations.data[i], name);
        TRY_MEMORY(!name->failed && !finder->text.failed);
        finder->declarations.data[i].class = (uint32_t)names->count++;
    }
    vector_sort(&finder->declarations, compare_numbers);
    return NULL;
}

/* Returns the name of an array's class: the one in names that its declaration has by its index,
 * class. NULL: it has none, and the class is called after its type. */
static const struct text *name_of(const struct held_finder *finder, const struct held_names *names,
                                  const struct held_array *array)
{
    const struct held_declaration key = {.number = array->declaration},
                                  *found = finder->declarations.count == 0
                                               ? NULL
                                               : bsearch(&key, finder->declarations.data,
                                                         finder->declarations.count, sizeof(key),
                                                         compare_numbers);
    return found && found->class != UINT32_MAX ? &names->list[found->class] : NULL;
}

/* Gives the arrays that no slice leads to the classes that they had in the dump before, of which
 * only a series knows; nothing without one. */
static struct g2h_error *set_others(struct held_finder *finder, struct held_classes *classes,
                                    struct g2h_identity *series, held_classes_add *add,
                                    void *context)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(finder->view));
    for (uint32_t i = 0; series && i < objects; i++)
        if (type_of(classes, g2h_view_class(finder->view, i)) &&
            map_get(&finder->array_of, i) == MAP_NONE)
            TRY(held_classes_set(classes, series, i, NULL, add, context));
    return NULL;
}

/* Finds the classes. A folded view has none, since its folded nodes are by type. ret must be passed
 * to held_classes_deinit() also after an error. Errors: G2H_ERROR_MEMORY. */
static struct g2h_error *held_classes_init(struct held_classes *ret, const struct g2h_view *view,
                                           struct g2h_identity *series, held_classes_add *add,
                                           void *context)
{
    _cleanup_(held_finder_deinit) struct held_finder finder = {.view = view, .classes = ret};
    _cleanup_(held_names_deinit) struct held_names names = {.count = 0};
    *ret = (struct held_classes){.first = NULL};
    if (!g2h_view_is_typed(view) || g2h_view_account(view)->folded_nodes > 0)
        return NULL;
    TRY_MEMORY(find_types(view, ret));
    if (ret->types.count == 0)
        return NULL;
    TRY(g2h_capacities_create_noscan(view, &finder.capacities));
    TRY_MEMORY(g2h_capacities_of_variables(finder.capacities, note_slice, &finder) &&
               g2h_capacities_of_objects(finder.capacities, 0, UINT32_MAX, note_slice, &finder));
    TRY(sum_declarations(&finder));
    TRY(choose_names(&finder, &names));
    VECTOR_EACH(const struct held_array, array, finder.arrays)
        TRY(held_classes_set(ret, series, array->object, name_of(&finder, &names, array), add,
                             context));
    TRY(set_others(&finder, ret, series, add, context));
    return held_classes_order(ret, g2h_heap_object_count(g2h_view_heap(view)));
}

static void held_classes_deinit(struct held_classes *classes)
{
    free(classes->types.data);
    free(classes->of.data);
    free(classes->first);
    *classes = (struct held_classes){.first = NULL};
}

/* ==== the snapshot's strings table ====
 *
 * All threads read and hash strings; one thread at a time numbers them, in the order of nodes and
 * edges, keys first.
 */

static const char dummy[] = "<dummy>";

/*
 * DevTools reads all strings as one string, which must be shorter than 2^29. The names of edges to
 * the elems of entries have space for some ten million names. The names of edges to the keys
 * themselves, whose nodes mostly have the same name, have less space; once it is used up, these
 * edges are called by their slots, [#3] (key).
 */
static const uint64_t elem_space = UINT64_C(192) << 20, key_space = UINT64_C(16) << 20;

typedef VECTOR(uint32_t) number_vector;

/*
 * Strings are distinguished by a hash of 64 bits, and some more bits of another hash. The strings
 * themselves are not compared, since they would have to be read again. With secret seeds, two of
 * ten million strings have the same hashes in less than one conversion of a million.
 */
struct text_hash {
    uint64_t hash;
    uint32_t check;
};

static inline struct text_hash output_strings_hash_of(const char *text, size_t size)
{
    return (struct text_hash){map_hash_text(text, size), (uint32_t)map_hash_text_too(text, size)};
}

/* The state while strings are numbered. */
struct numbering {
    struct strings *strings;
    struct output_strings_reader *readers; /* by thread */
    VECTOR(uint64_t) hashes;               /* by string */
    uint32_t *slots; /* a hash table: a string's number, with bits of its check above; UINT32_MAX:
                        a free slot */
    size_t slot_count;
    unsigned number_bits;
    uint64_t elem_space, key_space;
    size_t block;          /* the block that is being numbered */
    number_vector numbers; /* the numbers of this block */
};

/* ---- strings of the heap ---- */

enum {
    LONGEST = 1024, /* characters that g2h_view_text() returns */
    KEPT = 980      /* characters of a cut string: LONGEST has space for what says that it is cut */
};

/* Returns where the character with a number begins in UTF-8; size if there are not so many. */
static size_t output_strings_begin_of(const char *text, size_t size, size_t number)
{
    size_t characters = 0;
    for (size_t i = 0; i < size; i++)
        if (((uint8_t)text[i] & 0xc0) != 0x80 && characters++ == number)
            return i;
    return size;
}

/* Returns the string of a node. A text longer than LONGEST, which the view has cut into `text`,
 * becomes its begin, its size and a hash, so that different ones stay different; but for hidden
 * texts, which the view has replaced. */
const char *strings_of_node(const struct g2h_view *view, uint32_t node, struct g2h_text *text,
                            size_t *ret_size)
{
    enum { MOST = sizeof("… (18446744073709551615 bytes, #12345678)") };
    const char *data = g2h_view_text(view, node, text, ret_size);
    /* Short by bytes, or as it is in the dump, or by characters: then the view has cut nothing. */
    if (*ret_size < LONGEST || data != text->data || g2h_view_is_redacted(view) ||
        g2h_view_text_size(view, node) <= LONGEST ||
        output_strings_begin_of(data, *ret_size, LONGEST - 1) == *ret_size)
        return data;
    const size_t kept = output_strings_begin_of(data, *ret_size, KEPT);
    assert(text->capacity - kept >= MOST);
    const int more = snprintf(text->data + kept, MOST, "… (%llu bytes, #%08x)",
                              (unsigned long long)g2h_view_text_size(view, node),
                              (unsigned)(g2h_view_text_hash(view, node) >> 32));
    text->size = kept + as_size(more);
    *ret_size = text->size;
    return data;
}

/* Returns a string by its number: the heap's strings, of keys and then of nodes, are made again
 * from the dump. */
const char *strings_text(const struct strings *strings, uint32_t number, struct g2h_text *text,
                         size_t *ret_size)
{
    if (number >= strings->first_text) {
        const size_t index = number - strings->first_text;
        const size_t keys = strings->keys.count;
        if (index >= keys)
            return strings_of_node(strings->view, strings->nodes.data[index - keys], text,
                                   ret_size);
        text->size = 0;
        g2h_view_key(strings->view, strings->keys.data[index], text);
        *ret_size = text->size;
        return text->data ? text->data : "";
    }
    const uint32_t renamed = map_get(&strings->renamed_by, number);
    *ret_size = sizeof(dummy) - 1;
    if (renamed != MAP_NONE)
        return string_pool_text(&strings->renamed, renamed, ret_size);
    return number > 0 ? g2h_view_name(strings->view, number - 1, ret_size) : dummy;
}

/* Prefetches what a string of the heap will be read from: soon says how near it is. A key takes two
 * steps, as its entry leads to it; the text of a node only the second one, its contents. Strings
 * before the heap's are names, which need none. */
static void prefetch_text(const struct strings *strings, uint64_t number, enum g2h_soon soon)
{
    const uint64_t index = number - strings->first_text;
    const uint64_t keys = strings->keys.count;
    if (number < strings->first_text || number >= strings_count(strings))
        return;
    if (index < keys)
        g2h_view_prefetch_key(strings->view, strings->keys.data[index], soon);
    else if (soon == G2H_SOON_KEYS)
        g2h_view_prefetch(strings->view, strings->nodes.data[index - keys], G2H_SOON_NODE);
}

/* Announces that the strings from number on are needed soon. */
void strings_prefetch(const struct strings *strings, uint64_t number)
{
    enum { OBJECTS_AHEAD = 32, TEXTS_AHEAD = 16 };
    prefetch_text(strings, number + OBJECTS_AHEAD, G2H_SOON_NODE);
    prefetch_text(strings, number + TEXTS_AHEAD, G2H_SOON_KEYS);
}

/* ---- names ---- */

/* Finds the number of a string that is no heap string. Names that the view has keep its number,
 * plus 1 for "<dummy>"; others follow all of the view's names. Returns false if memory runs
 * out. */
bool strings_add(struct strings *strings, const char *text, size_t size, uint32_t *ret)
{
    uint32_t index;
    assert(strings->keys.count + strings->nodes.count == 0); /* they follow the last name */
    if (g2h_view_find_name(strings->view, text, size, ret)) {
        *ret += 1;
        return true;
    }
    const uint32_t known = strings->renamed.count;
    const uint32_t number = strings->first_text;
    if (!string_pool_intern(&strings->renamed, text, size, &index))
        return false;
    if (index == known) {
        if (!vector_push(&strings->renamed_numbers, number) ||
            !map_put(&strings->renamed_by, number, index, ret))
            return false;
        strings->first_text++;
    }
    *ret = strings->renamed_numbers.data[index];
    return true;
}

/* Replaces a node's name by its other form in the snapshot. The new form takes the number of the
 * name if no edge has that name. Returns false if memory runs out. */
static bool rename_node(struct strings *strings, uint32_t name, const struct text *text)
{
    uint32_t index, value;
    uint32_t *number = &strings->of_node[name];
    if ((g2h_view_name_uses(strings->view, name) & G2H_NAME_OF_EDGE) != 0 ||
        g2h_view_find_name(strings->view, text->data, text->size, &value) ||
        string_pool_find(&strings->renamed, text->data, text->size, &value))
        return strings_add(strings, text->data, text->size, number);
    return string_pool_intern(&strings->renamed, text->data, text->size, &index) &&
           vector_push(&strings->renamed_numbers, *number) &&
           map_put(&strings->renamed_by, *number, index, &value);
}

/* Numbers the names of the view, and replaces those of nodes that DevTools would take for V8's.
 * Returns false if memory runs out. */
static bool number_names(struct strings *strings)
{
    const uint32_t names = g2h_view_name_count(strings->view);
    _cleanup_(text_deinit) struct text text = {0};
    strings->first_text = names + 1; /* number 0 is "<dummy>" */
    strings->of_node = block_alloc(count_and_end(names), sizeof(*strings->of_node));
    if (!strings->of_node)
        return false;
    for (uint32_t i = 0; i < names; i++) {
        size_t size;
        const char *name = g2h_view_name(strings->view, i, &size);
        strings->of_node[i] = i + 1;
        text.size = 0;
        if ((g2h_view_name_uses(strings->view, i) & G2H_NAME_OF_NODE) != 0 &&
            v8_name_differs(name, size, &text) && (text.failed || !rename_node(strings, i, &text)))
            return false;
    }
    return true;
}

/* ---- the table ---- */

/* Returns the slot where the search for a string with this hash begins; it continues in the slots
 * after it. */
static inline size_t first_slot(const struct numbering *numbering, uint64_t hash)
{
    return (size_t)((hash >> 32) * numbering->slot_count >> 32);
}

/* Returns the number that a slot of the hash table has, without the bits of the check. */
static inline uint32_t output_strings_number_in(const struct numbering *numbering, uint32_t slot)
{
    return slot & (uint32_t)((UINT64_C(1) << numbering->number_bits) - 1);
}

static inline size_t next_slot(const struct numbering *numbering, size_t slot)
{
    return slot + 1 < numbering->slot_count ? slot + 1 : 0;
}

/* Returns whether more strings would use more than six of seven slots. */
static inline bool output_strings_is_full(const struct numbering *numbering, size_t more)
{
    return numbering->hashes.count + more > numbering->slot_count / 7 * 6;
}

/* Puts a string into the first free slot from its own on. */
static void put_slot(const struct numbering *numbering, uint32_t number, uint32_t check)
{
    size_t slot = first_slot(numbering, numbering->hashes.data[number]);
    while (numbering->slots[slot] != UINT32_MAX)
        slot = next_slot(numbering, slot);
    numbering->slots[slot] = (uint32_t)((uint64_t)check << numbering->number_bits) | number;
}

/* Makes space for more strings: a slot for each, a sixth more, and a few. A slot has as many low
 * bits for the number as all slots need, and the others for bits of its check: these it keeps, as
 * far as there is space for them. Returns false if memory runs out, and leaves the table as it is.
 */
static bool output_strings_grow(struct numbering *numbering, size_t more)
{
    const struct numbering old = *numbering;
    const size_t count = (old.hashes.count + more) / 6 * 7 + 1024;
    numbering->slots = large_alloc(count, sizeof(*old.slots));
    if (!numbering->slots) {
        numbering->slots = old.slots;
        return false;
    }
    memset(numbering->slots, 0xff, count * sizeof(*old.slots));
    numbering->slot_count = count;
    /* So many that no number has all its bits set, as a free slot has. */
    numbering->number_bits = 0;
    while (numbering->number_bits < 32 && count >> numbering->number_bits != 0)
        numbering->number_bits++;
    for (size_t i = 0; i < old.slot_count; i++)
        if (old.slots[i] != UINT32_MAX)
            put_slot(numbering, output_strings_number_in(&old, old.slots[i]),
                     (uint32_t)((uint64_t)old.slots[i] >> old.number_bits));
    large_free(old.slots, old.slot_count, sizeof(*old.slots));
    return true;
}

/* Returns the number of a string, or UINT32_MAX if it has none. A slot has some bits of the second
 * hash (check) above the number: only if these match is the first hash compared, which is elsewhere
 * in memory. */
static inline uint32_t find_number(const struct numbering *numbering, const struct text_hash *text)
{
    const uint32_t tag = (uint32_t)((uint64_t)text->check << numbering->number_bits);
    for (size_t slot = first_slot(numbering, text->hash);; slot = next_slot(numbering, slot)) {
        const uint32_t content = numbering->slots[slot];
        const uint32_t number = output_strings_number_in(numbering, content);
        if (content == UINT32_MAX) /* a free slot ends the search */
            return UINT32_MAX;
        if (content - number == tag && numbering->hashes.data[number] == text->hash)
            return number;
    }
}

/* Adds a string that has no number yet, with the next number. Returns false if memory runs out. */
static bool output_strings_add_number(struct numbering *numbering, const struct text_hash *text,
                                      uint32_t *ret)
{
    if (output_strings_is_full(numbering, 1) &&
        !output_strings_grow(numbering, numbering->hashes.count))
        return false;
    *ret = as_u32(numbering->hashes.count);
    if (!vector_push(&numbering->hashes, text->hash))
        return false;
    put_slot(numbering, *ret, text->check);
    return true;
}

/* Prefetches the slot where the search for a string begins. */
static void prefetch_number(const struct numbering *numbering, uint64_t hash)
{
    __builtin_prefetch(&numbering->slots[first_slot(numbering, hash)]);
}

/* Adds the names, which have their numbers already, to the hash table. Returns false if memory runs
 * out. */
static bool hash_names(struct numbering *numbering)
{
    struct strings *strings = numbering->strings;
    for (uint32_t i = 0; i < strings->first_text; i++) {
        struct g2h_text none = {0};
        size_t size;
        uint32_t number;
        const char *text = strings_text(strings, i, &none, &size);
        const struct text_hash hash = output_strings_hash_of(text, size);
        if (!output_strings_add_number(numbering, &hash, &number))
            return false;
    }
    return true;
}

/* ---- blocks ---- */

/* Stores the numbers up to here as those of the current block; a block without numbers has none.
 * counts may be NULL. Returns false if memory runs out. */
static bool output_strings_end_block(struct numbering *numbering, uint32_t **blocks, size_t *counts)
{
    number_vector *numbers = &numbering->numbers;
    if (numbers->count == 0)
        return true;
    uint32_t *exact = realloc(numbers->data, numbers->count * sizeof(*exact));
    if (!exact)
        return false;
    blocks[numbering->block] = exact;
    if (counts)
        counts[numbering->block] = numbers->count;
    *numbers = (number_vector){0};
    return true;
}

/* If a node begins another block, ends the current one. Returns false if memory runs out. */
static bool output_strings_begin_block(struct numbering *numbering, uint32_t node,
                                       uint32_t **blocks, size_t *counts)
{
    const size_t block = node >> SNAPSHOT_BLOCK_SHIFT;
    if (block != numbering->block && !output_strings_end_block(numbering, blocks, counts))
        return false;
    numbering->block = block;
    return true;
}

/* ---- keys of maps' entries ---- */

/* The data that a thread reads about an edge of an entry. */
struct key_record {
    uint64_t key; /* the number from which the key is made again, or an index */
    struct text_hash hash;
    uint32_t size, node;
    uint8_t form;  /* enum g2h_key */
    bool is_key;   /* the edge leads to the key itself */
    bool repeated; /* the edge is not written, but its key becomes a string all the same */
};

enum {
    ENOUGH = 1 << 20,   /* bytes of records after which a buffer is flushed */
    NUMBERS_AHEAD = 16, /* how far ahead slots of the table are prefetched */
    NODES_AHEAD = 12,
    EDGES = 128, /* their keys are read together once more edges than this are given */
    MORE = 64    /* edges that are read at a time */
};

/* The state of a reading thread. */
struct output_strings_reader {
    struct g2h_edges *edges;
    struct g2h_text text;
    struct g2h_edge given[EDGES + MORE]; /* edges of entries; of several nodes, since most nodes
                                            have few */
    size_t count;
    uint32_t list[SNAPSHOT_BLOCK]; /* the block's nodes that have keys */
};

/* Reads the key of an edge, and hashes its string: the string itself is made again when it is
 * written. */
static void output_strings_read_key(struct g2h_edges *edges, const struct g2h_edge *edge,
                                    struct key_record *ret)
{
    struct g2h_key_name name;
    const enum g2h_key form = g2h_edges_key(edges, edge, &name);
    ret->node = edge->source;
    ret->form = (uint8_t)form;
    ret->is_key = (edge->flags & G2H_EDGE_OF_KEY) != 0;
    ret->repeated = (edge->flags & G2H_EDGE_REPEATED) != 0;
    if (form == G2H_KEY_INDEX) {
        ret->key = name.index;
    } else if (form == G2H_KEY_TEXT) {
        ret->key = name.again;
        ret->size = (uint32_t)name.size;
        ret->hash = output_strings_hash_of(name.text, name.size);
    }
}

/* Reads the keys of the edges in reader->given, whose memory it prefetches together. */
static struct g2h_error *read_pending_keys(struct output_strings_reader *reader,
                                           struct worker_buffer *buffer)
{
    struct key_record *records = (struct key_record *)(void *)worker_buffer_reserve(
        buffer, reader->count * sizeof(*records));
    TRY_MEMORY(records);
    g2h_edges_prefetch_keys(reader->edges, reader->given, reader->count);
    for (size_t i = 0; i < reader->count; i++)
        output_strings_read_key(reader->edges, &reader->given[i], &records[i]);
    buffer->size += reader->count * sizeof(*records);
    reader->count = 0;
    return buffer->size > ENOUGH ? worker_buffer_flush(buffer) : NULL;
}

/* Collects a node's edges of map entries, and reads their keys once there are enough to be
 * prefetched together. */
static struct g2h_error *read_keys_of(struct output_strings_reader *reader, uint32_t node,
                                      struct worker_buffer *buffer)
{
    size_t count;
    g2h_edges_begin(reader->edges, node, node + 1);
    while ((count = g2h_edges_read(reader->edges, &reader->given[reader->count], MORE)) > 0) {
        const struct g2h_edge *read = &reader->given[reader->count];
        for (size_t i = 0; i < count; i++)
            if ((read[i].flags & (G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) != 0)
                reader->given[reader->count++] = read[i];
        if (reader->count > EDGES)
            TRY(read_pending_keys(reader, buffer));
    }
    return NULL;
}

/* A task: reads the map keys that name edges of a block's nodes. */
static struct g2h_error *read_keys(void *context, size_t task, unsigned worker,
                                   struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    const struct g2h_view *view = numbering->strings->view;
    struct output_strings_reader *reader = &numbering->readers[worker];
    const uint32_t first = as_u32(task) << SNAPSHOT_BLOCK_SHIFT,
                   end = snapshot_block_end(view, first);
    size_t count = 0;
    for (uint32_t node = first; (node = g2h_view_next_keyed(view, node, end)) < end; node++)
        reader->list[count++] = node;
    for (size_t i = 0; i < count; i++) {
        if (i + NODES_AHEAD < count)
            g2h_view_prefetch(view, reader->list[i + NODES_AHEAD], G2H_SOON_NODE);
        TRY(read_keys_of(reader, reader->list[i], buffer));
    }
    return read_pending_keys(reader, buffer);
}

/* Finds the number of a key's string. A new string uses up some of *space. Once there is no space
 * left, new strings get KEY_NUMBER_NONE. Returns false if memory runs out. */
static bool number_key_text(struct numbering *numbering, const struct key_record *record,
                            uint64_t *space, uint32_t *ret)
{
    *ret = find_number(numbering, &record->hash);
    if (*ret != UINT32_MAX)
        return true;
    *ret = KEY_NUMBER_NONE;
    *space -= MIN(record->size, *space);
    return *space == 0 || (output_strings_add_number(numbering, &record->hash, ret) &&
                           vector_push(&numbering->strings->keys, record->key));
}

/* Sets *ret to what names an edge: an element's index, a string's number, or KEY_NUMBER_NONE.
 * Returns false if memory runs out. */
static bool number_key(struct numbering *numbering, const struct key_record *record, uint32_t *ret)
{
    uint64_t *space = record->is_key ? &numbering->key_space : &numbering->elem_space;
    *ret = KEY_NUMBER_NONE;
    if (record->form == G2H_KEY_NONE || (record->is_key && *space == 0))
        return true;
    if (record->form == G2H_KEY_INDEX) {
        *ret = KEY_NUMBER_ELEMENT | (uint32_t)record->key;
        return true;
    }
    return number_key_text(numbering, record, space, ret);
}

/* Numbers the keys that a task has read. One thread at a time does so, in the order of tasks. */
static struct g2h_error *output_strings_number_keys(void *context,
                                                    const struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    struct strings *strings = numbering->strings;
    const struct key_record *records = (const struct key_record *)(const void *)buffer->data;
    const size_t count = buffer->size / sizeof(*records);
    for (size_t i = 0; i < count; i++) {
        const struct key_record *record = &records[i];
        uint32_t number;
        if (i + NUMBERS_AHEAD < count)
            prefetch_number(numbering, records[i + NUMBERS_AHEAD].hash.hash);
        if (!output_strings_begin_block(numbering, record->node, strings->edge_keys,
                                        strings->key_counts) ||
            !number_key(numbering, record, &number) ||
            (!record->repeated && !vector_push(&numbering->numbers, number)))
            return &error_no_memory;
    }
    return NULL;
}

/* ---- strings of nodes ---- */

struct hashed_node {
    struct text_hash hash;
    uint32_t node;
};

/* A task: hashes the strings of a block's nodes. */
static struct g2h_error *hash_nodes(void *context, size_t task, unsigned worker,
                                    struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    const struct g2h_view *view = numbering->strings->view;
    struct g2h_text *text = &numbering->readers[worker].text;
    const uint32_t first = as_u32(task) << SNAPSHOT_BLOCK_SHIFT,
                   end = snapshot_block_end(view, first);
    struct hashed_node *at =
        (struct hashed_node *)(void *)worker_buffer_reserve(buffer, SNAPSHOT_BLOCK * sizeof(*at));
    TRY_MEMORY(at);
    for (uint32_t node = first; (node = g2h_view_next_text(view, node, end)) < end; node++) {
        size_t size;
        const char *data = strings_of_node(view, node, text, &size);
        TRY_MEMORY(!text->failed);
        *at++ = (struct hashed_node){output_strings_hash_of(data, size), node};
    }
    buffer->size = as_size((char *)(void *)at - buffer->data);
    return NULL;
}

/* Sets *ret to the number of a node's string, which is added if it is new. Returns false if memory
 * runs out. */
static bool number_node(struct numbering *numbering, const struct hashed_node *hashed,
                        uint32_t *ret)
{
    *ret = find_number(numbering, &hashed->hash);
    return *ret != UINT32_MAX || (output_strings_add_number(numbering, &hashed->hash, ret) &&
                                  vector_push(&numbering->strings->nodes, hashed->node));
}

/* Numbers the strings that a task has hashed, in the order of tasks; equal strings get one number.
 * Begins the blocks that the nodes are in. */
static struct g2h_error *output_strings_number_nodes(void *context,
                                                     const struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    const struct hashed_node *hashed = (const struct hashed_node *)(const void *)buffer->data;
    const size_t count = buffer->size / sizeof(*hashed);
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        if (i + NUMBERS_AHEAD < count)
            prefetch_number(numbering, hashed[i + NUMBERS_AHEAD].hash.hash);
        if (!output_strings_begin_block(numbering, hashed[i].node, numbering->strings->node_texts,
                                        NULL) ||
            !number_node(numbering, &hashed[i], &number) ||
            !vector_push(&numbering->numbers, number))
            return &error_no_memory;
    }
    return NULL;
}

/* ---- all strings ---- */

/* Numbers keys first, then nodes' strings. The table and lists are grown before the latter, since
 * their number is known: what is not used of them takes no memory. */
static struct g2h_error *number_texts(struct numbering *numbering, unsigned threads)
{
    struct strings *strings = numbering->strings;
    TRY_MEMORY(hash_names(numbering));
    TRY(workers_run_ordered(threads, strings->blocks, read_keys, NULL, output_strings_number_keys,
                            numbering));
    TRY_MEMORY(output_strings_end_block(numbering, strings->edge_keys, strings->key_counts));
    const size_t most = (size_t)g2h_view_account(strings->view)->texts;
    TRY_MEMORY(!output_strings_is_full(numbering, most) || output_strings_grow(numbering, most));
    TRY_MEMORY(vector_grow(&numbering->hashes, most) && vector_grow(&strings->nodes, most));
    TRY(workers_run_ordered(threads, strings->blocks, hash_nodes, NULL, output_strings_number_nodes,
                            numbering));
    TRY_MEMORY(output_strings_end_block(numbering, strings->node_texts, NULL));
    return NULL;
}

/* Makes an iterator for each thread. Repeated edges to a folded node are read as well: their keys
 * are numbered, though they name no edge. */
static struct g2h_error *create_readers(struct numbering *numbering, unsigned threads)
{
    struct g2h_error *error = NULL;
    numbering->readers = calloc(threads, sizeof(*numbering->readers));
    if (!numbering->readers)
        return &error_no_memory;
    for (unsigned i = 0; i < threads && !error; i++)
        error = g2h_edges_create(numbering->strings->view, &numbering->readers[i].edges);
    for (unsigned i = 0; i < threads && !error; i++)
        g2h_edges_repeat(numbering->readers[i].edges, true);
    return error;
}

static void numbering_deinit(struct numbering *numbering, unsigned threads)
{
    for (unsigned i = 0; numbering->readers && i < threads; i++) {
        g2h_edges_destroy(numbering->readers[i].edges);
        g2h_text_deinit(&numbering->readers[i].text);
    }
    free(numbering->readers);
    free(numbering->hashes.data);
    free(numbering->numbers.data);
    large_free(numbering->slots, numbering->slot_count, sizeof(*numbering->slots));
}

/* Returns the string of the name that weak edges by index have in the view, or string 0 if the view
 * has no such edges. */
static uint32_t find_weak_element(const struct g2h_view *view)
{
    static const char element[] = "element";
    uint32_t name;
    return strings_of_edge(
        g2h_view_find_name(view, element, sizeof(element) - 1, &name) ? name : G2H_NAME_NONE);
}

/* Returns whether a name is that of a class by size: ptr64, noptr48. */
static bool is_shape(const char *name, size_t size)
{
    static const char shape[] = "ptr";
    const size_t prefix = size > 2 && memcmp(name, "no", 2) == 0 ? 2 : 0;
    const size_t at = prefix + 3;
    if (size <= at || memcmp(name + prefix, shape, sizeof(shape) - 1) != 0)
        return false;
    for (size_t i = at; i < size; i++)
        if (name[i] < '0' || name[i] > '9')
            return false;
    return true;
}

/* Returns the first synthetic node of a kind, or UINT32_MAX. */
uint32_t output_strings_node_of(const struct g2h_view *view, enum g2h_node_kind kind)
{
    const uint64_t synthetic = g2h_view_account(view)->synthetic_nodes;
    struct g2h_node node;
    for (uint32_t i = 0; i < synthetic; i++) {
        g2h_view_brief(view, i, &node);
        if (node.kind == kind)
            return i;
    }
    return UINT32_MAX;
}

/* Gives garbage without a type one name. Garbage without a type is one class, if other objects have
 * types: what was freed since the last collection would be the first rows of Comparison, by sizes
 * that say nothing. Returns false if memory runs out. */
static bool join_garbage(struct strings *strings)
{
    static const char garbage[] = "(garbage)";
    size_t size;
    if (!g2h_view_is_typed(strings->view) || strings->is_folded ||
        output_strings_node_of(strings->view, G2H_NODE_UNREACHABLE) == UINT32_MAX)
        return true;
    if (!strings_add(strings, garbage, sizeof(garbage) - 1, &strings->garbage))
        return false;
    for (uint32_t i = 0; i < g2h_view_name_count(strings->view); i++) {
        const char *name = g2h_view_name(strings->view, i, &size);
        if ((g2h_view_name_uses(strings->view, i) & G2H_NAME_OF_NODE) != 0 && is_shape(name, size))
            strings->of_node[i] |= STRING_IS_SHAPE;
    }
    return true;
}

static bool output_strings_add_class(void *context, const char *name, size_t size, uint32_t *ret)
{
    return strings_add(context, name, size, ret);
}

/* Numbers the names, and the classes of arrays by what holds them. Strings of the heap get no
 * numbers yet: strings_number_texts() numbers them. */
struct g2h_error *strings_init(struct strings *strings, const struct g2h_view *view,
                               struct g2h_identity *series)
{
    *strings = (struct strings){.view = view,
                                .is_folded = g2h_view_account(view)->folded_nodes > 0,
                                .weak_element = find_weak_element(view)};
    strings->blocks =
        ((size_t)g2h_view_node_count(view) + SNAPSHOT_BLOCK - 1) >> SNAPSHOT_BLOCK_SHIFT;
    strings->node_texts = calloc(strings->blocks + 1, sizeof(*strings->node_texts));
    strings->edge_keys = calloc(strings->blocks + 1, sizeof(*strings->edge_keys));
    strings->key_counts = calloc(strings->blocks + 1, sizeof(*strings->key_counts));
    TRY_MEMORY(strings->node_texts && strings->edge_keys && strings->key_counts &&
               number_names(strings));
    TRY(held_classes_init(&strings->held, view, series, output_strings_add_class, strings));
    if (strings->held.of.count > 0) /* else no array has another class than its type */
        VECTOR_EACH(const struct held_type, type, strings->held.types)
            strings->of_node[type->name] |= STRING_MAY_BE_HELD;
    TRY_MEMORY(join_garbage(strings));
    return NULL;
}

/* Names the edges to elements of lists, if there are any. Returns false if memory runs out. */
bool strings_name_links(struct strings *strings, const struct overlay *overlay)
{
    return overlay->link_count == 0 ||
           strings_add(strings, OVERLAY_LINK_NAME, strlen(OVERLAY_LINK_NAME), &strings->link);
}

/* Numbers the texts of Go's strings. None without types. */
struct g2h_error *strings_number_texts(struct strings *strings, unsigned threads)
{
    struct numbering numbering = {
        .strings = strings, .elem_space = elem_space, .key_space = key_space};
    if (!g2h_view_is_typed(strings->view))
        return NULL;
    struct g2h_error *error = create_readers(&numbering, threads);
    if (!error)
        error = number_texts(&numbering, threads);
    numbering_deinit(&numbering, threads);
    return error;
}

void strings_deinit(struct strings *strings)
{
    for (size_t i = 0; i < strings->blocks; i++) {
        free(strings->node_texts ? strings->node_texts[i] : NULL);
        free(strings->edge_keys ? strings->edge_keys[i] : NULL);
    }
    free(strings->node_texts);
    free(strings->edge_keys);
    free(strings->key_counts);
    free(strings->of_node);
    held_classes_deinit(&strings->held);
    free(strings->keys.data);
    free(strings->nodes.data);
    string_pool_deinit(&strings->renamed);
    free(strings->renamed_numbers.data);
    map_deinit(&strings->renamed_by);
}
