/*
 * stale: objects that live on only because they are in a slot of an array that no slice uses:
 * beyond the length of each slice ("batch = batch[:0]"), or before its start ("queue = queue[1:]").
 *
 * An object counts as stale if an array dominates it directly, and has pointers to it in such slots
 * only; and so does everything that the object retains.
 *
 * pinned: arrays that pointers to single elements keep alive.
 *
 * views: arrays that short slices keep alive, and strings that substrings do.
 *
 * The collector keeps an array as a whole. If a program keeps &list[i] of a long list and drops the
 * list, all other elements live on, though the program cannot reach them.
 */
#ifndef FINDINGS_PINNED_H
#define FINDINGS_PINNED_H

#include <go2heapsnapshot/view.h>

#include "base/memory.h"

struct findings;
struct merged;

/* ---- stale ---- */

/* An array with stale objects. Stale objects below a stale object of another array count for that
 * array. */
struct stale_array {
    uint32_t window;         /* number in windows */
    uint32_t node;           /* of the view */
    uint64_t beyond, before; /* its stale objects: beyond the length, before the start */
    uint64_t retained;       /* the bytes that these retain */
};

struct stale {
    const struct g2h_dominators *dominators;
    const struct g2h_windows *windows;
    VECTOR(struct stale_array) arrays; /* ascending by node */
    uint32_t *of; /* by number of a node in the order of dominators: what makes it stale, see
                   * stale_of(); NULL if there are no stale objects */
};

/* Finds the stale objects. Takes 4 bytes per node of the view if there are any. The caller calls
 * stale_deinit() in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *stale_find(const struct g2h_view *view, const struct g2h_dominators *dominators,
                             const struct g2h_windows *windows, struct stale *ret);

void stale_deinit(struct stale *stale);

/* Return whether a node of the view, or an object of the heap, is stale. */
bool stale_has_node(const struct stale *stale, uint32_t node);

bool stale_has(const struct stale *stale, const struct g2h_view *view, uint32_t object);

/* ---- the stale part of a suspect ---- */

struct stale_part {
    bool is_of_items;        /* it is objects of the suspect; else what these hold */
    uint64_t beyond, before; /* objects: beyond the length of a slice, before its start */
    uint64_t retained;       /* of what the suspect holds: the bytes that these retain */
    uint32_t arrays;         /* the number of their arrays; 0: too little is stale to be reported */
    uint32_t most;           /* the one that has most: number in findings->stale.arrays */
    uint64_t length;         /* of the slice of that array */
};

/* Finds the stale objects of a suspect or, if these are less than a twentieth of its count objects,
 * the stale part of what it holds, if that is a twentieth of what it retains. item is a node of
 * merged; with a count of 0 any number of stale objects is enough. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *stale_find_part(const struct findings *findings, uint32_t item, uint64_t count,
                                  struct stale_part *ret);

/* ---- pinned ---- */

struct pinned {
    uint64_t arrays;             /* to which only such pointers lead; 0: none */
    uint64_t elements, referred; /* of these arrays: all, and those that are pointed to */
    uint64_t bytes, wasted;      /* of these arrays, and of their other elements */
};

/*
 * Examines the arrays that a node of merged stands for. *ret is empty unless most of the arrays are
 * pinned, and most of their elements are not referred to. An array does not count if a slice leads
 * to it, or a variable, whose kind is not checked. Reads all edges of the view if the first array
 * may be pinned. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *pinned_find(const struct findings *findings, uint32_t item, struct pinned *ret);

/* Sets a bit for each object to which a frame or another root points, but for variables of
 * packages: how much of it that uses is not known. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *pinned_mark_rooted(const struct g2h_view *view, uint64_t *bits);

/* Reads a pointer as the process has it. */
uint64_t pinned_word(const struct g2h_params *params, const uint8_t *bytes);

/* ---- views ---- */

/* Of the arrays or strings of a suspect those of which slices or substrings use less than a
 * quarter, in bytes. */
struct views {
    bool is_text;
    uint64_t count, bytes, used; /* count 0: they have less than half of the suspect's bytes */
};

/* Examines the arrays or strings that a node of merged stands for. One that no slice leads to does
 * not count, nor does a small one, nor one that a frame may use all of. Reads all objects if some
 * of the first ones are kept by short slices. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *views_find(const struct findings *findings, uint32_t item, struct views *ret);

/* Returns the node of the arrays that contain the objects of a node of merged: this one, or one
 * above it, or MERGED_NONE. */
uint32_t pinned_arrays_of(const struct merged *merged, uint32_t node);

#endif
