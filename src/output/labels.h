/*
 * labels: the names of nodes and edges in outputs with the types, names and strings of a heap
 * snapshot. Names are numbers of output_strings.h.
 */
#ifndef OUTPUT_LABELS_H
#define OUTPUT_LABELS_H

#include "output/output_strings.h"

/* The types that are used, by their index in a snapshot's "edge_types" and "node_types". */
enum edge_type {
    EDGE_ELEMENT = 1,
    EDGE_PROPERTY = 2,
    EDGE_INTERNAL = 3,
    EDGE_SHORTCUT = 5,
    EDGE_WEAK = 6
};
enum node_type {
    NODE_STRING = 2,
    NODE_OBJECT = 3,
    NODE_NUMBER = 7,
    NODE_NATIVE = 8,
    NODE_SYNTHETIC = 9,
    NODE_SLICED = 11
};

/* ---- nodes ---- */

struct node_label {
    enum node_type type;
    uint32_t name; /* a number of output_strings.h */
};

/* Returns whether strings that are short keep a node's long bytes: the last one ends before the
 * middle of the slot. If the view is folded, strings are of one class, since folded ones are. */
static inline bool label_is_sliced(const struct strings *strings, const struct g2h_node *node)
{
    enum { LEAST = 64 /* bytes of a slot */ };
    return node->size >= LEAST && node->members == 0 && !strings->is_folded &&
           g2h_view_text_size(strings->view, g2h_view_object(strings->view, node->object)) <=
               node->size / 2;
}

/* Returns the label of a node. *texts is at the string of the block's next string node
 * (output_strings.h's node_texts), and moves on if the node uses it. */
static inline struct node_label label_node(const struct strings *strings,
                                           const struct g2h_node *node, const uint32_t **texts)
{
    const bool is_text = node->kind == G2H_NODE_TEXT;
    const enum node_type text_type =
        is_text && label_is_sliced(strings, node) ? NODE_SLICED : NODE_STRING;
    return (struct node_label){
        .type = is_text                         ? text_type
                : node->kind == G2H_NODE_OBJECT ? NODE_OBJECT
                : node->kind == G2H_NODE_STACK  ? NODE_NATIVE
                                                : NODE_SYNTHETIC,
        .name = node->name == G2H_NAME_NONE ? *(*texts)++
                : is_text                   ? strings_of_edge(node->name)
                          : strings_of_class(strings, node->object, strings->of_node[node->name]),
    };
}

/* ---- edges ---- */

struct edge_label {
    enum edge_type type;
    uint64_t name_or_index; /* EDGE_ELEMENT: an index; otherwise a number of output_strings.h */
};

/* What remains of a block's edge_keys (output_strings.h), one for each edge of a map's entry. The
 * second walk decides again from the dump which edges these are, and may find more of them if the
 * dump has been written to. */
struct keys_left {
    const uint32_t *at;
    size_t count;
};

static inline struct keys_left keys_of_block(const struct strings *strings, size_t block)
{
    return (struct keys_left){strings->edge_keys[block], strings->key_counts[block]};
}

static inline uint32_t next_key(struct keys_left *keys)
{
    if (keys->count == 0)
        return KEY_NUMBER_NONE;
    keys->count--;
    return *keys->at++;
}

/* Returns the label of an edge by its flags; names of map entries' keys do not count. */
static inline struct edge_label label_without_key(const struct strings *strings,
                                                  const struct g2h_edge *edge)
{
    static const uint8_t types[] = {
        [0] = EDGE_PROPERTY,
        [G2H_EDGE_BY_INDEX] = EDGE_ELEMENT,
        [G2H_EDGE_WEAK] = EDGE_WEAK,
        [G2H_EDGE_WEAK | G2H_EDGE_BY_INDEX] = EDGE_WEAK,
        [G2H_EDGE_INTERNAL] = EDGE_INTERNAL,
        [G2H_EDGE_INTERNAL | G2H_EDGE_BY_INDEX] = EDGE_ELEMENT,
        [G2H_EDGE_INTERNAL | G2H_EDGE_WEAK] = EDGE_WEAK,
        [G2H_EDGE_INTERNAL | G2H_EDGE_WEAK | G2H_EDGE_BY_INDEX] = EDGE_WEAK,
    };
    const enum edge_type type = (edge->flags & G2H_EDGE_SHORTCUT) != 0
                                    ? EDGE_SHORTCUT
                                    : (enum edge_type)types[edge->flags % sizeof(types)];
    if (type == EDGE_SHORTCUT && (edge->flags & OVERLAY_LINK) != 0)
        return (struct edge_label){type, strings->link};
    return (struct edge_label){type,
                               type == EDGE_ELEMENT ? edge->index : strings_of_edge(edge->name)};
}

/* Returns the label of an edge. If the edge is of a map's entry, the next one of keys is taken and
 * may name it. */
static inline struct edge_label label_edge(const struct strings *strings,
                                           const struct g2h_edge *edge, struct keys_left *keys)
{
    if ((edge->flags & (G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0)
        return label_without_key(strings, edge);
    const uint32_t key = next_key(keys);
    const bool is_weak = (edge->flags & G2H_EDGE_WEAK) != 0;
    if (key == KEY_NUMBER_NONE)
        return label_without_key(strings, edge);
    if ((key & KEY_NUMBER_ELEMENT) != 0 && !is_weak)
        return (struct edge_label){EDGE_ELEMENT, key & ~KEY_NUMBER_ELEMENT};
    if ((key & KEY_NUMBER_ELEMENT) != 0)
        return (struct edge_label){EDGE_WEAK, strings->weak_element};
    return (struct edge_label){is_weak                                  ? EDGE_WEAK
                               : (edge->flags & G2H_EDGE_INTERNAL) != 0 ? EDGE_INTERNAL
                                                                        : EDGE_PROPERTY,
                               key};
}

#endif
