/*
 * merged: the tree of dominators, in which similar nodes are merged into one.
 *
 * Objects of one class that have the same dominator are one node, whatever their number. So a heap
 * of millions of objects has some thousands of nodes, small enough to show what retains the memory.
 * An object that is dominated by an object of its own class, as in a linked list, is merged with
 * it, so that a list of any length is one node, and a tree of any depth a few; but only if all
 * classes between the two are above both, so that the classes above an object are those of its
 * dominators. All strings are one class. Goroutines are alike if they differ only in their numbers,
 * and the memory of a map's entries counts as part of the map.
 *
 * Below a package or a frame are its variables, and below these the objects that they hold. In the
 * same way, an object that several groups hold together is below a node that names these groups. If
 * variables of a package hold objects together, and other variables of the package others of the
 * same class, as two indexes and their twins do, each of these islands has a node of its own.
 *
 * packages: the packages of classes.
 *
 * ranking: nodes of the merged tree by their weights, the heaviest first.
 */
#ifndef FINDINGS_MERGED_H
#define FINDINGS_MERGED_H

#include <stddef.h>

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"

struct findings;

/* ---- merged ---- */

enum merged_kind {
    MERGED_SYNTHETIC, /* not an object: a group, a package, a goroutine, a frame … */
    MERGED_VARIABLE,  /* of a package or a frame; or the groups that hold something together */
    MERGED_CLASS,     /* objects */
};

#define MERGED_NONE UINT32_MAX

/* A node of merged: one line of the report's tree. A variable that has the number of one is called
 * line where other numbers of nodes, of the view's, are near. */
struct merged_node {
    enum merged_kind kind;
    bool is_garbage; /* it is the node of garbage, or below that: nothing holds these */
    bool is_cyclic;  /* objects below other classes that are below this node are merged in it */
    uint32_t parent, child, sibling; /* numbers of nodes, or MERGED_NONE */
    uint32_t outermost; /* the uppermost node of this class from here upwards: this one if no object
                           of the class holds these */
    bool has_else;      /* it holds what the view is about, and other things: these are below it */
    bool is_trie;       /* the inner nodes and entries of sync.Maps, by the names of these: what
                           they hold is held by the map */
    uint32_t name;      /* see merged_name() */
    uint32_t example;   /* of the view's nodes that are merged here the one with the lowest number;
                           of lists, of their first elements */
    uint64_t count;     /* of objects, or of nodes that are not objects */
    uint32_t trie_tops, trie_maps; /* of sync.Maps: what each has one of, and what it may have */
    uint64_t entries; /* of one map, slice, channel, list or sync.Map: how many it has by its own
                         count; 0: not known (length.h) */
    uint64_t
        trie_entries;   /* of sync.Maps: entries, with those of before Go 1.24 that are deleted */
    uint64_t bytes;     /* the size of this node alone; in a sample an estimate */
    uint64_t retained;  /* the size of this node and of all nodes below it */
    uint64_t untouched; /* bytes of retained that take no memory: never written to */
};

struct merged {
    const struct g2h_view *view;
    VECTOR(struct merged_node)
    nodes;                    /* ordered by depth, and at the same depth by example */
    struct string_pool names; /* names that the view does not have */
    uint32_t view_names;      /* how many names the view has */
    uint32_t texts, tiny;     /* the names of all strings, and of blocks that small values share */
    struct map numbers;       /* hash of parent, kind and name → node; while merging */
    struct map variables;     /* node of the view → name of the edge that holds it */
    uint32_t *of; /* by number of a view's node in the order of dominators: the node that it is
                     merged in */
    uint32_t of_count;
    VECTOR(uint32_t)
    samples; /* by index of the heap's records G2H_RECORD_ALLOCSAMPLE: the node
                that the object is merged in; MERGED_NONE: it is in none */
};

/* Which islands have nodes of their own: those of several of one class; or, if the tree is compared
 * with that of another heap, all, because there may be another one of the class there. */
enum merged_islands { MERGED_ISLANDS_NONE, MERGED_ISLANDS_SEVERAL, MERGED_ISLANDS_ALL };

/* Merges the dominators of a view, on threads threads (0: one per processor). It takes 12 bytes per
 * node of the view while it runs, and to find islands 4 more, and 12 per object that several
 * variables of a package hold; 4 per node stay. The caller passes *ret to merged_deinit(). Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *merged_make(const struct g2h_view *view, const struct g2h_dominators *dominators,
                              unsigned threads, enum merged_islands which, struct merged *ret);

void merged_deinit(struct merged *merged);

/* Returns whether the view's nodes of a kind are objects, which have classes. */
static inline bool merged_is_object(enum g2h_node_kind kind)
{
    return kind == G2H_NODE_OBJECT || kind == G2H_NODE_TEXT;
}

/* Returns the name of a node: UTF-8, not terminated. */
const char *merged_name(const struct merged *merged, uint32_t node, size_t *ret_size);

/* Returns the bytes that a node retains, without garbage, whose node is below the root. */
uint64_t merged_held(const struct merged *merged, uint32_t node);

/* Finds the next word of a name that is not a number, from *at on, and moves *at after it: "main
 * and 20 goroutines" may become "main and 80 goroutines" in another dump. Returns false if there
 * are no more words. Not for classes, whose names stay as they are. */
bool merged_next_word(const char *name, size_t size, size_t *at, const char **ret,
                      size_t *ret_size);

/* Returns the kind of the view's nodes that are merged in a node, which must not be of objects. */
enum g2h_node_kind merged_kind_of(const struct merged *merged, uint32_t node);

/* Return the view's classification of the name of a class; for other nodes G2H_FORM_OTHER and
 * G2H_RUNTIME_NONE. */
enum g2h_class_form merged_form(const struct merged *merged, uint32_t node);

enum g2h_runtime_class merged_runtime_class(const struct merged *merged, uint32_t node);

/* Returns whether a node is the runtime's own by the name that the view has for it: a class, a
 * package, or goroutines. A MERGED_VARIABLE is not, also if it is below such a package. */
bool merged_is_runtime(const struct merged *merged, uint32_t node);

/* Returns whether an object of the view may be a block that small values share: strings that have
 * nothing to do with each other, if they were made one after the other (runtime/malloc.go:
 * maxTinySize). Objects of 16 bytes that have a type of their own are none. name: that of the node
 * which the object is merged in. */
bool merged_may_be_tiny(const struct merged *merged, uint32_t node, uint32_t name);

/* Returns whether a node is several variables of a package that hold objects together, apart from
 * others that hold objects of the same class: these variables, and the objects, are below it. */
bool merged_is_island(const struct merged *merged, uint32_t node);

/* Sets the flags of all nodes from this one on: whether they are it or below it. Those of the nodes
 * before it stay as they are. */
void merged_mark_below(const struct merged *merged, uint32_t node, bool *is_below);

/* ---- packages ---- */

/* Finds the package of a class by its name: map[string]*http.conn is of http. *ret is a part of the
 * name, or "builtin" for a class without a package. */
void package_of_class(const char *name, size_t size, const char **ret, size_t *ret_size);

/* ---- ranking ---- */

struct ranked {
    uint64_t weight;
    uint32_t node;
};

typedef VECTOR(struct ranked) ranking;

/* Sorts a list; of equal weights the node that comes first in the tree comes first. */
void ranking_sort(ranking *list);

/* Adds the children of a node, those that retain most first. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *ranking_of_children(const struct findings *findings, uint32_t node, ranking *ret);

#endif
