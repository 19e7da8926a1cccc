/*
 * names: what nodes and edges are called, in a form that DevTools takes as it is meant.
 *
 * The name of an edge between objects is not kept but made from a key, which is what distinguishes
 * it: the offset in the source, the array element, the dynamic type of an interface. Keys are
 * collected while pointers are resolved, interned all at once in ascending order, and looked up
 * while edges are written.
 */
#ifndef GRAPH_NAMES_H
#define GRAPH_NAMES_H

#include <go2heapsnapshot/exe.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/redaction.h"
#include "base/strings.h"
#include "base/text.h"
#include "heap/heap.h"
#include "typing/typing.h"

enum { NAME_LIMIT = 1024 }; /* characters; V8 cuts its names there as well */

/*
 * text_append_utf8() of a name of the linker's, in which import paths are escaped
 * (cmd/internal/objabi, PathToPrefix): gopkg.in/yaml%2ev2.Node is gopkg.in/yaml.v2.Node. Names that
 * are looked up are compared as they are; this is how they are shown.
 */
size_t text_append_symbol(struct text *text, const uint8_t *data, uint64_t size, size_t limit);

/* Appends what stands for bytes that are not to be shown. */
void text_append_redacted(struct text *text, const struct redaction *redaction, const uint8_t *data,
                          uint64_t size);

/*
 * Interns a node's name so that DevTools does not take it for something else (docs/snapshot.md,
 * "Names"): <-chan T becomes chan (<-) T, V8's own class names get " (Go)" behind, and so on.
 */
bool name_intern(struct string_pool *strings, const uint8_t *name, uint64_t size, uint32_t *ret);

/* ---- names of objects ---- */

/*
 * The names that come from a type, made where objects have it: of the object, and of each word of a
 * value, or of the values of the longest array. NAME_NONE: not used; in arrays also: the element's
 * index says it all. PATH_INTERNAL: the word is the runtime's own.
 */
struct type_names {
    uint32_t value, array; /* strings: "main.T", "[]main.T" */
    uint32_t *value_paths, *array_paths;
    uint64_t value_words, array_words;
    struct map_entries *entries; /* of a map's buckets or groups, else NULL; see keys.h */
    bool has_gaps;               /* not every word of a value has a path */
};

#define NAME_NONE     UINT32_MAX
#define PATH_INTERNAL ((uint32_t)1 << 31)

struct names {
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;         /* may be NULL */
    const struct redaction *redaction; /* NULL: texts of the heap are shown */
    const struct typing *typing;       /* may be NULL */
    unsigned word_shift;               /* of the pointer size */
    struct type_names *of_type;        /* with typing: by type */
    uint64_t path_bytes;               /* with typing: that names of words may still take */
    uint32_t *of_slot_class;           /* string, by slot class */
    uint32_t tiny;                     /* string: with typing, of blocks that small values share */
    uint32_t *of_offset; /* string, by offset / 4, below ELEMENT_OFFSET; UINT32_MAX where it is not
                            used */
    struct map of_key;   /* key → string */
};

/* From this offset on, edges are elements numbered by offset: names would outgrow DevTools' memory.
 */
enum { ELEMENT_OFFSET = 1 << 20 };

/* The names of all slot classes. exe may be NULL; redaction, too: then texts of the heap are shown.
 */
struct g2h_error *names_init(struct names *names, const struct g2h_heap *heap,
                             const struct g2h_exe *exe, const struct redaction *redaction,
                             struct string_pool *strings);

/* And of all types that objects have as a whole, and for sure. */
struct g2h_error *names_add_types(struct names *names, const struct typing *typing,
                                  struct string_pool *strings);
void names_deinit(struct names *names);

/* Whether the words of an object may have names that are keys; false means that none has. */
bool names_need_keys(const struct names *names, uint32_t object);

/*
 * The string that an object's node is called, other than a text's. It says what the object is, not
 * how that is known, nor what is known of a part of it: this depends on what else is in the dump,
 * and an object must have the same class in all of them (remarks.c).
 */
uint32_t names_of_object(const struct names *names, uint32_t object);

/*
 * What an edge is called: an element's index, a string, or a key. Keys below ELEMENT_OFFSET are
 * plain offsets, "f16"; others have the index of a type (of an interface's value, "f16 (main.T)"),
 * of an array's element ("[3].f8"), or of a typed part of an object ("f64.next").
 */
struct edge_name {
    enum edge_name_form { EDGE_NAME_INDEX, EDGE_NAME_STRING, EDGE_NAME_KEY } form;
    bool is_internal; /* it leads to what the runtime owns */
    bool is_entry;    /* of a map, whose key may have a better name: graph_name_entries() */
    uint64_t value;
};

/* The type that a word tells if it is the first of an interface: index of a type, UINT32_MAX if it
 * tells none. */
static inline uint32_t interface_type_of(const struct g2h_heap *heap, uint64_t word)
{
    return heap_maybe_interface(heap, word) ? map_get(&heap->type_of_interface, word) : UINT32_MAX;
}

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

/* Whether that name is_entry; then namer->value is its bucket or group. */
bool namer_finds_entry(struct namer *namer, uint64_t offset, unsigned *ret_slot);

/* Appends the type of an interface's value, in parentheses; nothing where type is UINT32_MAX. */
void text_append_interface(struct text *text, const struct names *names, uint32_t type);

/* Interns the names of keys, which are ascending and unique. */
struct g2h_error *names_intern_keys(struct names *names, struct string_pool *strings,
                                    const uint64_t *keys, size_t count);

/* The string of a key that was interned; else V8's string 0, "<dummy>", which names nothing. */
static inline uint32_t names_of_key(const struct names *names, uint64_t key)
{
    const uint32_t string =
        key < ELEMENT_OFFSET ? names->of_offset[key / 4] : map_get(&names->of_key, key);
    return string != UINT32_MAX ? string : 0;
}

#endif
