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
enum { GROWTH_MOST_HOLDERS = 256, GROWTH_SAMPLES = 8 };

/* A single object of an earlier heap. */
struct growth_holder {
    uint64_t class; /* hash of its class' name */
    uint64_t retained;
    bool has_twin; /* the object that dominates it dominates others of its class */
    uint32_t sample_count;
    uint64_t samples[GROWTH_SAMPLES]; /* keys of objects that it holds, chosen by their addresses */
};

/* Single objects of an earlier heap, of nodes of the merged tree that have a few, such as the
 * tenants of a server: the sum of these does not tell which has grown. Empty if all zeros. */
struct growth_holders {
    struct map numbers; /* hash of an object's address and class → number in list */
    struct map below;   /* the same of the object that dominates it and its own class */
    struct map samples; /* the same of one of its samples and its own class */
    struct map lines;   /* hash of the names from the root to a node → how many objects it had */
    VECTOR(struct growth_holder) list;
};

/* Notes these objects of a heap, if their nodes retain much. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *growth_holders_fill(const struct g2h_dominators *dominators,
                                      const struct merged *merged, struct growth_holders *ret);

void growth_holders_deinit(struct growth_holders *holders);

/* Returns what an object of a class retained, by its address, which it keeps for as long as its
 * process runs, unless it is a slice or the table of a map that has moved to grow; UINT64_MAX if it
 * is not known. */
uint64_t growth_holder_before(const struct growth_holders *holders, uint64_t address,
                              const char *class, size_t size);

/* Returns what an object of a class retained that is not known by its own address, but by that of
 * the object that dominated it and no other one of the class. UINT64_MAX if that dominated several,
 * or none. size is that of the class's name. */
uint64_t growth_holder_below(const struct growth_holders *holders, uint64_t address,
                             const char *class, size_t size);

/* Returns the number in holders->list of the object of a class that held one of its samples, the
 * object at this address; MAP_NONE: that is none. A slice that has moved to grow has kept these. */
uint32_t growth_holder_of_sample(const struct growth_holders *holders, uint64_t address,
                                 const char *class, size_t size);

/* Returns how many objects a node of the merged tree had whose names from the root are those of
 * line, a node of this tree; MAP_NONE if its objects are not known. */
uint32_t growth_holders_in_line(const struct growth_holders *holders, const struct merged *merged,
                                uint32_t line);

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
