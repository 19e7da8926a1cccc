/*
 * containers: what holds many of something, as a logical container: a map, a slice, a list, a tree
 * of nodes of one class, or a variable with several of these.
 *
 * Its entries are the objects of which it has many, and all that there is of each: the objects that
 * an entry holds, slots of maps and slices, keys, and what several indexes hold together. The inner
 * nodes of a tree, the memory of a map and the trie of a sync.Map are no entries, but belong to the
 * container. Suspects and growth read the same containers; with a base all weights and counts are
 * by how much they have grown.
 *
 * Rules, in percent of bytes: a path goes down to the child that has HEAVY of what a node holds.
 * The entries are the class with the most objects per object of the container above it, at least
 * CONTAINER_MANY, and a class further down replaces them only if its container has ALL of the
 * earlier one. Where the path spreads, a branch belongs to the entries if half of it is a class of
 * as many objects (a part), or if it is a map or slice with a slot for each (an index); and if
 * pointers lead there from the entries, or back, because equal numbers may be chance. A container
 * is all of a map or slice, or of a struct that has little else; otherwise it is the sum of its
 * parts, and what remains is examined for itself.
 */
#ifndef FINDINGS_CONTAINERS_H
#define FINDINGS_CONTAINERS_H

#include "findings/findings.h"
#include "findings/growth.h"
#include "findings/merged.h"

enum {
    CONTAINER_MANY = 4,  /* least objects per holder that count as multiplied */
    CONTAINER_PARTS = 6, /* the most parts of one that are listed */
};

/* A logical container of a merged tree. */
struct container {
    uint32_t node;  /* the map, the struct, the variable … that has the entries; MERGED_NONE: only
                       the objects of item are known, not what they are in */
    uint32_t item;  /* the entries: of a recursive structure its uppermost node */
    uint32_t entry; /* the class whose objects number as many as the entries */
    uint32_t named; /* the class that says most about an entry: item, or one in it */
    uint32_t tree;  /* the class whose objects hold each other and the entries; or MERGED_NONE */
    uint32_t branch;  /* the child of node that item is in, or item */
    uint64_t entries; /* the objects of entry; with a base, by how many these have grown */
    uint64_t bytes;   /* of all parts; with a base, by how much these have grown */
    bool is_all;      /* bytes are all that node retains */
    uint32_t beside[CONTAINER_PARTS]; /* what else there is for each entry, which others hold, too:
                                         variables of the package, other packages */
    uint32_t beside_count;
};

struct containers {
    const struct findings *findings;
    const struct merged *merged;
    const growth_vector *growth;   /* NULL: there is no base */
    uint32_t *heaviest;            /* by node: its child with the greatest weight, or MERGED_NONE */
    struct container_links *links; /* which branches are of the same entries: what was asked last */
};

/* The caller passes *ret to containers_deinit(). findings must have its merged tree and paths;
 * growth may be NULL. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *containers_init(const struct findings *findings, const growth_vector *growth,
                                  struct containers *ret);

void containers_deinit(struct containers *containers);

/* Return what a node is ranked by: the bytes it retains or, with a base, by how much they have
 * grown; the same of the node alone; and of the number of its objects. */
uint64_t containers_weight(const struct containers *containers, uint32_t node);
uint64_t containers_own(const struct containers *containers, uint32_t node);
uint64_t containers_count(const struct containers *containers, uint32_t node);

/* Returns the child that has HEAVY percent of what a node holds, or MERGED_NONE if no child does,
 * or if most of what the node retains is its own bytes. */
uint32_t containers_heavy_child(const struct containers *containers, uint32_t node);

/* Returns whether most of what a node retains is its own bytes. */
bool containers_is_own(const struct containers *containers, uint32_t node);

/* Finds the container on the path down from a node. *ret_last becomes the node where the path
 * parts. Returns false, and sets nothing else, if nothing is multiplied there. */
bool containers_find(const struct containers *containers, uint32_t node, struct container *ret,
                     uint32_t *ret_last);

/* Finds only the entries of the container below a node: *ret becomes what containers_find() gives
 * as item. Returns false if nothing is multiplied there; *ret is MERGED_NONE then. */
bool containers_find_entries(const struct containers *containers, uint32_t node, uint32_t *ret);

/* Returns the node at or above one that no object holds alone: it is right below a package, or
 * below what names the groups that hold it together. Returns MERGED_NONE if there is none. */
uint32_t containers_shared_above(const struct containers *containers, uint32_t node);

/* Lists what no object holds alone, and of which there may be some for each entry by its numbers:
 * other indexes, parts; the heaviest first. The caller confirms each by the pointers to or from the
 * entries. */
void containers_find_beside(const struct containers *containers, const struct container *container,
                            uint32_t ret[CONTAINER_PARTS], uint32_t *ret_count);

/* Returns whether a child of container->node belongs to the entries. */
bool container_has(const struct containers *containers, const struct container *container,
                   uint32_t child);

/* Sets the flags of the nodes that a container consists of; those of all others are cleared. */
void container_mark(const struct containers *containers, const struct container *container,
                    bool *is_in);

#endif
