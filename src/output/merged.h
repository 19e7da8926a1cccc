/*
 * merged: the tree of dominators, with what is alike made one.
 *
 * Objects of a class that the same holds alone are one node, whatever their number; so a heap of
 * millions of objects has some thousands of nodes, and what is retained can be read at a glance.
 * What dominates an object of its own class again, as the head of a list does, is one node with it,
 * so that a list of any length is one. All texts are one class. Goroutines are alike without their
 * numbers, and what the runtime keeps of a map counts to the map.
 *
 * Below a package and below a frame stand its variables, and below these what they hold; in the
 * same way what several hold together stands below who they are.
 */
#ifndef OUTPUT_MERGED_H
#define OUTPUT_MERGED_H

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"

enum merged_kind {
    MERGED_SYNTHETIC, /* no object: a group, a package, a goroutine, a frame … */
    MERGED_VARIABLE,  /* of a package or a frame; or who holds something together */
    MERGED_CLASS,     /* objects */
};

#define MERGED_NONE UINT32_MAX

struct merged_node {
    enum merged_kind kind;
    uint32_t parent, child, sibling; /* numbers of nodes; MERGED_NONE */
    uint32_t name;                   /* see merged_name() */
    uint32_t example;  /* one of its nodes of the view; of what hangs in a row the first */
    uint64_t count;    /* of objects, or of nodes that are none */
    uint64_t bytes;    /* of what is in this node itself */
    uint64_t retained; /* and of all below it */
};

struct merged {
    const struct g2h_view *view;
    VECTOR(struct merged_node)
    nodes;                    /* parents come before their children; the first is the root */
    struct string_pool names; /* those that the view does not have */
    uint32_t view_names;      /* how many it has */
    struct map numbers;       /* key of a place → node */
    struct map entries;       /* name of what a map keeps → name of the map */
    struct map variables;     /* node of the view → name of the edge that holds it */
};

/* Merges the dominators of a view. It takes 16 bytes per node of the view while it runs, on
 * threads threads (0: one per processor). *ret goes to merged_deinit(). Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *merged_make(const struct g2h_view *view, const struct g2h_dominators *dominators,
                              unsigned threads, struct merged *ret);
void merged_deinit(struct merged *merged);

/* The name of a node: UTF-8, not terminated. */
const char *merged_name(const struct merged *merged, uint32_t node, size_t *ret_size);

/* What a node that is no object stands for. */
enum g2h_node_kind merged_kind_of(const struct merged *merged, uint32_t node);

#endif
