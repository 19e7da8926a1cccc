/*
 * output_strings: the snapshot's strings table, and what DevTools needs to tell names apart.
 */
#ifndef OUTPUT_OUTPUT_STRINGS_H
#define OUTPUT_OUTPUT_STRINGS_H

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/text.h"
#include "output/overlay.h"

/* ==== names that DevTools does not misunderstand ==== */

/*
 * Returns whether DevTools would misinterpret a node's name. If so, appends the name to use instead
 * to *ret, which must be empty: <-chan T becomes chan (<-) T, V8's own class names end in " (Go)",
 * and so on. It has at most 1024 characters, at which V8 cuts names as well.
 */
bool v8_name_differs(const char *name, size_t size, struct text *ret);

/* ==== classes of arrays of bytes and numbers by what holds them ====
 *
 * "[]uint8" has what all buffers of a program have in common, and is the first row of Summary in
 * half of all heaps. An array to which slices of one declaration lead, and no others, is of the
 * class "[]uint8 (main.Block.Body)". The declarations that hold most have classes; all else is
 * "[]uint8".
 */

struct g2h_identity;

/* A type of such arrays that the view has: the name of the class, and that of slices that were
 * allocated as objects of their own, UINT32_MAX: there are none. */
struct held_type {
    uint32_t name, header;
};

/* The class of an array: what held_classes_add got for it. */
struct held_class {
    uint32_t object, class;
};

struct held_classes {
    VECTOR(struct held_type) types;
    VECTOR(struct held_class) of; /* ordered by object */
    uint32_t *first;              /* by group of objects: where the group begins in of */
};

/* Objects per group of held_classes. */
enum { HELD_GROUP = 256 };

/* Returns the class of an object, or UINT32_MAX, also for object UINT32_MAX. */
uint32_t held_classes_get(const struct held_classes *classes, uint32_t object);

/* ==== the snapshot's strings table ====
 *
 * It numbers names, the contents of strings, and the keys of maps' entries.
 *
 * String 0 is V8's "<dummy>". Then come the names of the view; then names of nodes that DevTools
 * would misread, if the plain name is an edge's as well; then the strings of the heap, which may be
 * millions. These are not kept: the table identifies a heap string by a node that holds it, or by
 * the number that g2h_view_key() takes, and reads it from the dump again when it is written.
 * DevTools groups nodes by the number of their name, so each string is in the table once.
 */

/* Nodes per block. The strings of a block's nodes, and the keys of their edges, are numbered
 * together. */
enum { SNAPSHOT_BLOCK_SHIFT = 14, SNAPSHOT_BLOCK = 1 << SNAPSHOT_BLOCK_SHIFT };

/* Returns the end of the block that begins with node first. */
static inline uint32_t snapshot_block_end(const struct g2h_view *view, uint32_t first)
{
    const uint32_t left = g2h_view_node_count(view) - first;
    return first + MIN(left, SNAPSHOT_BLOCK);
}

/* The name of a map entry's edge by its key: the number of a string; or an element's index with the
 * bit KEY_NUMBER_ELEMENT; or KEY_NUMBER_NONE: the edge keeps its own name. */
#define KEY_NUMBER_ELEMENT (1u << 31)

#define KEY_NUMBER_NONE UINT32_MAX

/* A bit of strings->of_node: nodes with this name may be of a class by what holds them. */
#define STRING_MAY_BE_HELD (1u << 31)

/* Another one: nodes with this name have no type, and are of strings->garbage if they are garbage.
 */
#define STRING_IS_SHAPE (1u << 30)

struct strings {
    const struct g2h_view *view;
    bool is_folded;    /* the view is */
    uint32_t *of_node; /* by name: the string of nodes with this name; and STRING_MAY_BE_HELD */
    struct held_classes held;
    uint32_t garbage;                 /* the class of garbage without a type; 0: there is none */
    struct string_pool renamed;       /* names of nodes, and added ones, that the view lacks */
    VECTOR(uint32_t) renamed_numbers; /* by string of renamed: its number in the snapshot */
    struct map renamed_by;            /* number in the snapshot → string of renamed */
    uint32_t link;                    /* the name of edges to elements of a list: overlay.h */
    uint32_t weak_element;            /* the name of weak edges by index */
    uint32_t first_text;              /* the strings from here on are the heap's: */
    VECTOR(uint64_t) keys;            /* first those of entries' keys, for g2h_view_key(), */
    VECTOR(uint32_t) nodes;           /* then those of nodes: a node that holds the string */

    /* By block of nodes. The walks that write nodes and edges take one number after the other. */
    uint32_t **node_texts; /* the string of each node with one; NULL: the block has none */
    uint32_t **edge_keys;  /* the name of each edge of an entry; NULL: the block has none */
    size_t *key_counts;
    size_t blocks;
};

/* Numbers the names of the view, and those of classes by what holds them. series may be NULL.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *strings_init(struct strings *strings, const struct g2h_view *view,
                               struct g2h_identity *series);

/* Finds the string of another name; no heap string may have been numbered yet. Returns false if
 * memory runs out. */
bool strings_add(struct strings *strings, const char *text, size_t size, uint32_t *ret);

/* Names the edges to elements of lists, if there are any. Returns false if memory runs out. */
bool strings_name_links(struct strings *strings, const struct overlay *overlay);

/* Numbers the heap's strings; all names must have been added. Error: G2H_ERROR_MEMORY. */
struct g2h_error *strings_number_texts(struct strings *strings, unsigned threads);

void strings_deinit(struct strings *strings);

/* Returns the number of strings. */
static inline uint64_t strings_count(const struct strings *strings)
{
    return (uint64_t)strings->first_text + strings->keys.count + strings->nodes.count;
}

/* Returns the *ret_size bytes of a string. text is the buffer for strings that have to be made. */
const char *strings_text(const struct strings *strings, uint32_t number, struct g2h_text *text,
                         size_t *ret_size);

/* Returns the *ret_size bytes of the string of a node (g2h_view_text()). One that is cut ends in
 * its length and a hash: "… (59900 bytes, #1f2e3d4c)", so that DevTools does not take strings that
 * only begin alike for identical. A redacted one has both anyway. */
const char *strings_of_node(const struct g2h_view *view, uint32_t node, struct g2h_text *text,
                            size_t *ret_size);

/* Announces that the strings from number on are needed soon. */
void strings_prefetch(const struct strings *strings, uint64_t number);

/* Returns the string of an object's class, given that of its type: strings->of_node. */
static inline uint32_t strings_of_class(const struct strings *strings, uint32_t object,
                                        uint32_t type)
{
    if ((type & (STRING_MAY_BE_HELD | STRING_IS_SHAPE)) == 0)
        return type;
    if ((type & STRING_IS_SHAPE) != 0)
        return object != UINT32_MAX && g2h_view_is_garbage(strings->view, object)
                   ? strings->garbage
                   : type & ~STRING_IS_SHAPE;
    const uint32_t class = held_classes_get(&strings->held, object);
    return class != UINT32_MAX ? class : type & ~STRING_MAY_BE_HELD;
}

/* Returns the first node of a kind that is not an object's; UINT32_MAX: there is none. */
uint32_t output_strings_node_of(const struct g2h_view *view, enum g2h_node_kind kind);

/* Returns the string of an edge's name, or string 0 if the edge has no name because the dump has
 * been written to meanwhile. */
static inline uint32_t strings_of_edge(uint32_t name)
{
    return name == G2H_NAME_NONE ? 0 : name + 1;
}

#endif
