/*
 * names: the pool of all names, and the names of objects.
 *
 * Names are neutral: plain UTF-8, in which nothing is escaped for the reader of a particular
 * output. The contents of the heap's own strings are not in the pool: they are read from the dump.
 *
 *   names               the names of objects, what they say in Go; Go's strings; which elements of
 *                       arrays no slice uses
 *   symbols             the linker's names in readable form
 *   key_names           the names of map entries, from their keys
 *   namer               the names of pointers, with types and without; the pointers of an object,
 *                       each with target and name; finds on all threads which names are needed
 */
#ifndef NAMING_NAMES_H
#define NAMING_NAMES_H

#include <stdlib.h>

#include <go2heapsnapshot/names.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/redaction.h"
#include "base/strings.h"
#include "base/text.h"
#include "heap/heap.h"
#include "naming/symbols.h"
#include "typing/typing.h"

/* ==== the parts of arrays that slices use ====
 *
 * "q = q[1:]" leaves a slot before the slice, and "batch = batch[:0]" leaves slots after it.
 * Objects in these stale slots live on, though no index of the program leads there. So the elements
 * of an array with a window are numbered from where the slice begins, and stale slots have names
 * that say so. graph/windows.h finds the windows.
 */

/* An array that only slices lead to, and the part that they use. Offsets are in the object. */
struct slice_window {
    uint64_t begin, end;   /* the elements of the slice or of all slices together */
    uint64_t capacity_end; /* of the largest capacity */
    uint64_t size;         /* of an element */
    uint32_t object;
};

typedef VECTOR(struct slice_window) window_vector;

struct windows {
    window_vector list; /* ascending by object */
    uint64_t *has;      /* a bit per object that has a window; NULL: none has */
};

static inline bool windows_has(const struct windows *windows, uint32_t object)
{
    return windows->has && bits_have(windows->has, object);
}

/* Returns the window of an object, or NULL. */
static inline const struct slice_window *windows_of(const struct windows *windows, uint32_t object)
{
    size_t at;
    if (!windows_has(windows, object))
        return NULL;
    BISECT(at, windows->list.count, windows->list.data[at].object < object);
    return &windows->list.data[at];
}

static inline void windows_deinit(struct windows *windows)
{
    free(windows->list.data);
    free(windows->has);
    *windows = (struct windows){.has = NULL};
}

/* ==== the names of objects ==== */

enum { NAME_LIMIT = 1024 }; /* characters; V8 cuts its names at the same length */

/* The suffix that the name of memory with a map's entries adds to the map type's name. */
#define NAME_OF_ENTRIES " entries"

/* ---- the pool: each string once, numbered in the order of its first use ---- */

struct names;

/* The uses of each name, by the name's number: enum g2h_name_use, and from these shifts on enum
 * g2h_class_form and enum g2h_runtime_class. The functions return false if memory runs out. */
typedef VECTOR(uint16_t) name_uses;

enum { NAME_FORM_SHIFT = 8, NAME_RUNTIME_SHIFT = 12, NAME_FORM_MASK = 15 };

bool name_uses_add(name_uses *uses, uint32_t name, unsigned use);

bool name_uses_copy(const name_uses *uses, name_uses *ret);

/* Adds the name of an edge. Returns false if memory runs out. */
bool names_add_label(struct names *names, const char *text, size_t size, uint32_t *ret);

/* Adds the name of a node: bytes of a dump or an executable, converted to UTF-8 and cut at
 * NAME_LIMIT. Returns false if memory runs out. */
bool names_add_node(struct names *names, const void *name, size_t size, uint32_t *ret);

/* ---- names of objects ---- */

/*
 * The names from a type, made only for types that objects have: the name of an object, and of each
 * word of a value, or of the values in the longest array. NAME_NONE: not used; in arrays it can
 * also mean that the element's index is the whole name. PATH_INTERNAL: the word belongs to the
 * runtime.
 */
struct type_names {
    uint32_t value, array; /* strings: "main.T", "[]main.T" */
    uint32_t *value_paths, *array_paths;
    uint64_t value_words, array_words;
    uint64_t size; /* size of a value in bytes */
    struct map_entries
        *entries;  /* entries of a map's buckets or groups, else NULL; see key_names.h */
    bool has_gaps; /* some word of a value has no path */
};

#define NAME_NONE G2H_NAME_NONE

#define PATH_INTERNAL (1u << 31)

struct names {
    struct string_pool strings;
    name_uses uses; /* by string: enum g2h_name_use */
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;             /* may be NULL */
    const struct g2h_redaction *redaction; /* NULL: strings of the heap are shown */
    struct packages packages;              /* set if names are short; else {0} */
    const struct typing *typing;           /* may be NULL */
    unsigned word_shift;                   /* log2 of the pointer size */
    struct type_names *of_type;            /* with typing: the names from each type */
    struct map map_classes; /* with typing: the pairs of the name of a map and that of its entries;
                               see names_is_map_of() */
    struct string_pool paths; /* with typing: the suffixes that follow keys; see key_names.h */
    uint64_t path_bytes;      /* with typing: bytes that names of words may still take */
    uint32_t *of_slot_class;  /* string of each slot class */
    uint32_t tiny;            /* string: with typing, the name of blocks that small values share */
    uint64_t offset_end; /* plain offsets are below this: at most ELEMENT_OFFSET, and less if no
                          * object is that large */
    uint32_t *of_offset; /* string + 1 of each plain offset, indexed by offset / 4; 0 if not used.
                            Most of its pages are never written */
    struct windows windows; /* with typing: of arrays whose elements may have pointers */
    struct number_set keys; /* the keys from which names are made, except plain offsets */
    uint32_t *of_key;       /* string of each key, by the key's index in keys */
};

/* From this offset on, edges are elements numbered by their offset: as names, the offsets would
 * exceed DevTools' memory. */
enum { ELEMENT_OFFSET = 1 << 20 };

/* The sources of names. */
struct names_options {
    const struct g2h_exe *exe;             /* may be NULL */
    const struct g2h_redaction *redaction; /* NULL: strings of the heap are shown */
    bool is_short; /* names use package names instead of import paths, for the packages that exe
                      knows */
};

/* Creates the names of all slot classes. */
struct g2h_error *names_init(struct names *names, const struct g2h_heap *heap,
                             const struct names_options *options);

/* Adds the names of all types that objects have as a whole and for certain. */
struct g2h_error *names_add_types(struct names *names, const struct typing *typing);

void names_deinit(struct names *names);

/* Returns whether objects of the name map are maps whose entries are in objects of the name
 * entries, also if the map's type has a name of its own: "net/http.Header" has its entries in
 * "map[string][]string entries". */
static inline bool names_is_map_of(const struct names *names, uint32_t map, uint32_t entries)
{
    return map_get(&names->map_classes, pair_key(map, entries)) != MAP_NONE;
}

/*
 * Returns the string of the name of an object's node, unless the object holds string data. The name
 * says what the object is. It depends neither on how that is known nor on what is known of a part
 * of it: both depend on what else is in the dump, and an object must have the same class in all
 * dumps (remarks.c).
 */
uint32_t names_of_typed(const struct names *names, uint32_t object);

static inline uint32_t names_of_object(const struct names *names, uint32_t object)
{
    return names->typing ? names_of_typed(names, object)
                         : names->of_slot_class[heap_slot_class_number(names->heap, object)];
}

/* Returns the index of the type that a word denotes if it is the first word of an interface, or
 * UINT32_MAX if it denotes none. */
static inline uint32_t interface_type_of(const struct g2h_heap *heap, uint64_t word)
{
    return heap_maybe_interface(heap, word) ? map_get(&heap->type_of_interface, word) : UINT32_MAX;
}

/*
 * Like text_append_symbol(), for a name that contains packages: of a type, a function, or a package
 * itself. All such names go through this function, because a package must have the same name
 * everywhere.
 */
size_t text_append_name(struct text *text, const struct names *names, const void *data, size_t size,
                        size_t limit);

/* Appends the type of an interface's value in parentheses, or nothing if type is UINT32_MAX. */
void text_append_interface(struct text *text, const struct names *names, uint32_t type);

/* ==== what the names of types and functions say in Go ====
 *
 * Names are classified here, where they still are as the linker has them, so that outputs and
 * findings need not parse displayed names, in which http may be one of two packages.
 */

/* Classifies the name of a type, for objects that are values of it or, with G2H_FORM_SLICE or
 * G2H_FORM_CHAN, arrays or channels of them: returns G2H_NAME_OF_RUNTIME, enum g2h_class_form and
 * enum g2h_runtime_class, as name_uses has them. */
unsigned form_of_type(struct g2h_bytes type, enum g2h_class_form of);

/* Classifies the name of a function, for its frames: G2H_NAME_OF_RUNTIME and G2H_NAME_OF_LIBRARY,
 * or 0. */
unsigned form_of_function(struct g2h_bytes function);

/* ==== the contents of Go's strings, as names of the objects that hold them ====
 *
 * There may be millions of strings, so they are not stored: a string is read from the dump each
 * time it is needed. If names are redacted, strings are too.
 */

/* Appends the string of an object that holds string data: typing_is_text(). */
void names_append_text(const struct names *names, uint32_t object, struct text *text);

/* Returns how many bytes of such an object its strings take, from the object's start to the end of
 * the last one, without any limit, also if the dump has not all of them. */
uint64_t names_text_size(const struct names *names, uint32_t object);

/* Returns a hash of these bytes, as far as the dump has them. It is the same in every run. */
uint64_t names_text_hash(const struct names *names, uint32_t object);

/* Returns whether such an object has several strings. */
bool names_text_is_shared(const struct names *names, uint32_t object);

/* Gets the bytes of such an object if its string can be shown as it is: ASCII, a single string, and
 * not cut. Otherwise returns false. */
bool names_text_bytes(const struct names *names, uint32_t object, const uint8_t **ret,
                      size_t *ret_size);

#endif
