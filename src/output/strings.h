/*
 * strings: the snapshot's strings table: which number a name, the contents of a string or the key
 * of a map's entry has.
 *
 * String 0 is V8's "<dummy>". Then come the names of the view; then those of nodes that DevTools
 * would misread where their plain text is an edge's name as well; then the texts of the heap, of
 * which there may be millions. These are not kept: a text is known by the node that holds it, and
 * is read from the dump again when it is written. DevTools groups nodes by the number of their
 * name, so each text is there once.
 */
#ifndef OUTPUT_STRINGS_H
#define OUTPUT_STRINGS_H

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"

/* Nodes of which the texts, and the keys of whose edges, are numbered together. */
enum { SNAPSHOT_BLOCK_SHIFT = 14, SNAPSHOT_BLOCK = 1 << SNAPSHOT_BLOCK_SHIFT };

/* What an edge is called by the key of its map's entry: a string; this and an element's index;
 * KEY_NUMBER_NONE: as it says itself. */
#define KEY_NUMBER_ELEMENT ((uint32_t)1 << 31)
#define KEY_NUMBER_NONE    UINT32_MAX

struct strings {
    const struct g2h_view *view;
    uint32_t *of_node;                /* by name: its number where a node is called so */
    struct string_pool renamed;       /* what nodes are called instead of their names */
    VECTOR(uint32_t) renamed_numbers; /* by string of renamed: its number in the snapshot */
    struct map renamed_by;            /* the other way round */
    uint32_t weak_element;            /* how weak edges by index are called */
    uint32_t first_text;              /* the strings from here on are texts: */
    VECTOR(uint64_t) keys;            /* first those of entries' keys, by g2h_view_key(), */
    VECTOR(uint32_t) nodes;           /* then those of nodes */

    /* By block of nodes; the walks that write them take one after the other. */
    uint32_t **node_texts; /* of each text node, its string. NULL: the block has none */
    uint32_t **edge_keys;  /* of each edge of an entry. NULL: none */
    size_t *key_counts;
    size_t blocks;
};

/* Numbers the names of the view. Error: G2H_ERROR_MEMORY. */
struct g2h_error *strings_init(struct strings *strings, const struct g2h_view *view);

/* The string of a further name, which is no text yet. False where there is no memory. */
bool strings_add(struct strings *strings, const char *text, size_t size, uint32_t *ret);

/* Numbers the texts, once all names are there. Error: G2H_ERROR_MEMORY. */
struct g2h_error *strings_number_texts(struct strings *strings, unsigned threads);
void strings_deinit(struct strings *strings);

/* How many there are. */
static inline uint64_t strings_count(const struct strings *strings)
{
    return (uint64_t)strings->first_text + strings->keys.count + strings->nodes.count;
}

/* The text of a string: size bytes, of which text may be asked to make them. */
const char *strings_text(const struct strings *strings, uint32_t number, struct g2h_text *text,
                         size_t *ret_size);

/* Says that the texts of strings from number on are wanted soon. */
void strings_prefetch(const struct strings *strings, uint64_t number);

/* The string of an edge's name. One that has none, since the dump was written to meanwhile, has
 * string 0. */
static inline uint32_t strings_of_edge(uint32_t name)
{
    return name == G2H_NAME_NONE ? 0 : name + 1;
}

#endif
