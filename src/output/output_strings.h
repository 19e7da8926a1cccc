/*
 * output_strings: the snapshot's strings table. It numbers names, the contents of strings, and the
 * keys of maps' entries.
 *
 * String 0 is V8's "<dummy>". Then come the names of the view; then names of nodes that DevTools
 * would misread, if the plain name is an edge's as well; then the strings of the heap, which may be
 * millions. These are not kept: the table identifies a heap string by a node that holds it, or by
 * the number that g2h_view_key() takes, and reads it from the dump again when it is written.
 * DevTools groups nodes by the number of their name, so each string is in the table once.
 */
#ifndef OUTPUT_OUTPUT_STRINGS_H
#define OUTPUT_OUTPUT_STRINGS_H

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"

/* Nodes per block. The strings of a block's nodes, and the keys of their edges, are numbered
 * together. */
enum { SNAPSHOT_BLOCK_SHIFT = 14, SNAPSHOT_BLOCK = 1 << SNAPSHOT_BLOCK_SHIFT };

/* Returns the end of the block that begins with node first. */
static inline uint32_t snapshot_block_end(const struct g2h_view *view, uint32_t first)
{
    const uint32_t left = g2h_view_node_count(view) - first;
    return first + (left < SNAPSHOT_BLOCK ? left : SNAPSHOT_BLOCK);
}

/* The name of a map entry's edge by its key: the number of a string; or an element's index with the
 * bit KEY_NUMBER_ELEMENT; or KEY_NUMBER_NONE: the edge keeps its own name. */
#define KEY_NUMBER_ELEMENT ((uint32_t)1 << 31)
#define KEY_NUMBER_NONE    UINT32_MAX

struct strings {
    const struct g2h_view *view;
    uint32_t *of_node;                /* by name: the string of nodes with this name */
    struct string_pool renamed;       /* names of nodes, and added ones, that the view lacks */
    VECTOR(uint32_t) renamed_numbers; /* by string of renamed: its number in the snapshot */
    struct map renamed_by;            /* number in the snapshot → string of renamed */
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

/* Numbers the names of the view. Error: G2H_ERROR_MEMORY. */
struct g2h_error *strings_init(struct strings *strings, const struct g2h_view *view);

/* Finds the string of another name; no heap string may have been numbered yet. Returns false if
 * memory runs out. */
bool strings_add(struct strings *strings, const char *text, size_t size, uint32_t *ret);

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

/* Announces that the strings from number on are needed soon. */
void strings_prefetch(const struct strings *strings, uint64_t number);

/* Returns the string of an edge's name, or string 0 if the edge has no name because the dump has
 * been written to meanwhile. */
static inline uint32_t strings_of_edge(uint32_t name)
{
    return name == G2H_NAME_NONE ? 0 : name + 1;
}

#endif
