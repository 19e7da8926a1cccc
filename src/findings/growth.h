/*
 * growth: by how much each node of a merged tree has grown since another heap, the base.
 *
 * Two nodes are considered the same if all names on their paths from the root are the same, or else
 * all but numbers, the states of goroutines and the lines of frames: so heaps of two builds of a
 * program, or of two machines, can be compared as well as two heaps of one process. Garbage is not
 * compared: its amount depends on when the last collection was.
 */
#ifndef FINDINGS_GROWTH_H
#define FINDINGS_GROWTH_H

#include <go2heapsnapshot/memory.h>
#include <go2heapsnapshot/output.h>

#include "findings/merged.h"

/* The growth of a node. A node that the base does not have had 0 there; that of garbage is 0. */
struct growth {
    int64_t retained, bytes, count;
    int64_t within;    /* retained, without what has moved here: at most the class's growth in the
                        * whole heap, in objects or retained bytes, and at most `most` */
    int64_t most;      /* within of the nearest node, from here upwards, that has not shrunk */
    int64_t more, own; /* count and bytes, if they have grown: of objects without what has moved
                        * here; they are not more than the class has in the whole heap */
    int64_t entries;   /* of one container (struct merged_node); */
    bool has_entries;  /* if its length is known, and was */
    uint64_t weight;   /* the most that within is, here or in a node below */
    uint32_t before;   /* its number in the base; MERGED_NONE: the base does not have it */
};

typedef VECTOR(struct growth) growth_vector;

/* Finds the growth of each node of merged. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *growth_find(const struct g2h_base *base, const struct merged *merged,
                              growth_vector *ret);

/* A subtree that only the base has; the names of its parent are still there. */
struct growth_gone {
    const char *name; /* valid as long as the base; of a very long one the first 2,048 bytes */
    size_t name_size;
    enum merged_kind kind;
    uint32_t parent; /* node of merged */
    uint64_t retained, count;
};

typedef VECTOR(struct growth_gone) gone_vector;

/* Finds the subtrees that only the base has, those that retained most first, without those inside
 * of another. growth is the result of growth_find(). Each had at least a kilobyte and a
 * ten-thousandth of the base's bytes: smaller ones, and all but the largest few thousand nodes,
 * have no names in the base. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *growth_find_gone(const struct g2h_base *base, const growth_vector *growth,
                                   gone_vector *ret);

/* The objects of a class in the base that are not garbage, their bytes, and what they retain.
 * growth_class_before() finds a class by its name; all are 0 for a class that the base does not
 * have. */
struct growth_class {
    uint64_t count, bytes, retained;
};

struct growth_class growth_class_before(const struct g2h_base *base, const char *name, size_t size);

/* How many objects of a node are known one by one, and how many of what each of these holds. */
enum { GROWTH_MOST_HOLDERS = 256 };

/* How objects are held: for each, a key of the names of the pointers from the root to it, along the
 * dominators, without indexes and what is inside maps. Two heaps of a process have the same key for
 * what has the same place. Empty if all zeros. */
struct growth_ways {
    struct map index_of; /* number in the order of dominators → index in list */
    VECTOR(struct growth_way) list;
};

/* Adds an object whose way is wanted. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *growth_ways_add(struct growth_ways *ways, const struct g2h_dominators *dominators,
                                  uint32_t node);

/* Finds the ways of all objects that have been added. Goes over the pointers of what is above
 * these. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *growth_ways_find(struct growth_ways *ways, const struct g2h_view *view,
                                   const struct g2h_dominators *dominators);

void growth_ways_deinit(struct growth_ways *ways);

/* A single object of an earlier heap. */
struct growth_holder {
    uint64_t class; /* hash of its class' name */
    uint64_t line;  /* of the merged tree; see growth_line_key() */
    uint64_t retained;
    uint32_t node; /* of that heap's view */
    bool has_twin; /* what holds it holds others of its class in the same way */
};

/* Single objects of an earlier heap, of nodes of the merged tree that have a few, such as the
 * tenants of a server: the sum of these does not tell which has grown. Empty if all zeros. */
struct growth_holders {
    struct map numbers; /* hash of way, class and address → number in list */
    struct map below;   /* hash of way, class and the address of what holds it → number in list */
    struct map lines;   /* growth_line_key() of a node → how many objects it had */
    VECTOR(struct growth_holder) list;
};

/* Notes these objects of a heap, if their nodes retain much. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *growth_holders_fill(const struct g2h_dominators *dominators,
                                      const struct merged *merged, struct growth_holders *ret);

void growth_holders_deinit(struct growth_holders *holders);

/* Returns the number in holders->list of an object, or MAP_NONE, by its way and its address, which
 * it keeps for as long as its process runs; or, for a slice that has moved to grow, by the address
 * of what holds it and no other one of the class (its hash) in the same way. An address alone may
 * be that of something else that is gone. */
uint32_t growth_holder_of(const struct growth_holders *holders, const struct growth_ways *ways,
                          const struct g2h_view *view, const struct g2h_dominators *dominators,
                          uint64_t class, uint32_t node);

/* Returns the key of a node of the merged tree in holders->lines: of all names from the root on. */
uint64_t growth_line_key(const struct merged *merged, uint32_t line);

const struct growth_holders *growth_holders_of(const struct g2h_base *base);

/* Returns the number of objects that are not garbage. */
uint64_t growth_count_held(const struct g2h_view *view);

/* The sums of the base as a whole, without garbage. */
struct growth_totals {
    char *name;
    uint64_t reachable, objects, goroutines;
    uint64_t stacks;          /* bytes of reachable */
    struct g2h_memory memory; /* as g2h_heap_memory(); resident is 0 if it is not known */
};

const struct growth_totals *growth_totals(const struct g2h_base *base);

#endif
