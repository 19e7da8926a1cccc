/*
 * names: the pool of all names, and what objects are called.
 *
 * Names are neutral: UTF-8 as people know it, without what one or the other reader of an output
 * would misunderstand. The texts of the heap's own strings are not among them (texts.h).
 */
#ifndef NAMING_NAMES_H
#define NAMING_NAMES_H

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/number_set.h"
#include "base/redaction.h"
#include "base/strings.h"
#include "base/text.h"
#include "heap/heap.h"
#include "naming/packages.h"
#include "typing/typing.h"

enum { NAME_LIMIT = 1024 }; /* characters; V8 cuts its names there as well */

/* ---- the pool: each text once, numbered in the order of its first use ---- */

struct names;

/* What names are used for, by name: enum g2h_name_use. False where there is no memory. */
typedef VECTOR(uint8_t) name_uses;
bool name_uses_add(name_uses *uses, uint32_t name, enum g2h_name_use use);
bool name_uses_copy(const name_uses *uses, name_uses *ret);

/* What an edge is called. False where there is no memory. */
bool names_add_label(struct names *names, const char *text, size_t size, uint32_t *ret);

/* What a node is called: bytes of a dump or an executable, as UTF-8 and cut at NAME_LIMIT. */
bool names_add_node(struct names *names, const uint8_t *name, uint64_t size, uint32_t *ret);

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
    uint64_t size;               /* of a value */
    struct map_entries *entries; /* of a map's buckets or groups, else NULL; see keys.h */
    bool has_gaps;               /* not every word of a value has a path */
};

#define NAME_NONE     G2H_NAME_NONE
#define PATH_INTERNAL ((uint32_t)1 << 31)

struct names {
    struct string_pool strings;
    name_uses uses; /* by string: enum g2h_name_use */
    const struct g2h_heap *heap;
    const struct g2h_exe *exe;             /* may be NULL */
    const struct g2h_redaction *redaction; /* NULL: texts of the heap are shown */
    struct packages packages;              /* where names are short; else {0} */
    const struct typing *typing;           /* may be NULL */
    unsigned word_shift;                   /* of the pointer size */
    struct type_names *of_type;            /* with typing: by type */
    struct string_pool paths;              /* with typing: what stands behind keys: keys.h */
    uint64_t path_bytes;                   /* with typing: that names of words may still take */
    uint32_t *of_slot_class;               /* string, by slot class */
    uint32_t tiny; /* string: with typing, of blocks that small values share */
    uint64_t
        offset_end; /* plain offsets are below: ELEMENT_OFFSET, or no object has so many bytes */
    uint32_t *of_offset; /* string + 1, by offset / 4, below offset_end; 0 where it is not used: of
                            most of its pages nothing is ever written */
    struct number_set keys; /* that names are made of, other than plain offsets */
    uint32_t *of_key;       /* string, by the key's place among these */
};

/* From this offset on, edges are elements numbered by offset: names would outgrow DevTools' memory.
 */
enum { ELEMENT_OFFSET = 1 << 20 };

/* What names are made with. */
struct names_options {
    const struct g2h_exe *exe;             /* may be NULL */
    const struct g2h_redaction *redaction; /* NULL: texts of the heap are shown */
    bool is_short; /* names of packages in place of import paths, as far as exe tells them */
};

/* The names of all slot classes. */
struct g2h_error *names_init(struct names *names, const struct g2h_heap *heap,
                             const struct names_options *options);

/* And of all types that objects have as a whole, and for sure. */
struct g2h_error *names_add_types(struct names *names, const struct typing *typing);
void names_deinit(struct names *names);

/*
 * The string that an object's node is called, other than a text's. It says what the object is, not
 * how that is known, nor what is known of a part of it: this depends on what else is in the dump,
 * and an object must have the same class in all of them (remarks.c).
 */
uint32_t names_of_typed(const struct names *names, uint32_t object);
static inline uint32_t names_of_object(const struct names *names, uint32_t object)
{
    return names->typing ? names_of_typed(names, object)
                         : names->of_slot_class[heap_slot_class_number(names->heap, object)];
}

/* The type that a word tells if it is the first of an interface: index of a type, UINT32_MAX if it
 * tells none. */
static inline uint32_t interface_type_of(const struct g2h_heap *heap, uint64_t word)
{
    return heap_maybe_interface(heap, word) ? map_get(&heap->type_of_interface, word) : UINT32_MAX;
}

/*
 * text_append_symbol() of a name that packages are in: of a type, a function, a package itself. All
 * such names go through here, since a package must be called the same wherever it is read.
 */
size_t text_append_name(struct text *text, const struct names *names, const uint8_t *data,
                        uint64_t size, size_t limit);

/* Appends the type of an interface's value, in parentheses; nothing where type is UINT32_MAX. */
void text_append_interface(struct text *text, const struct names *names, uint32_t type);

#endif
