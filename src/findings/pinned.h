/*
 * pinned: arrays that pointers to single elements keep alive.
 *
 * The collector keeps an array as a whole. If a program keeps &list[i] of a long list and drops the
 * list, all other elements live on, though the program cannot reach them.
 */
#ifndef FINDINGS_PINNED_H
#define FINDINGS_PINNED_H

#include "findings/findings.h"

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

/* Returns the node of the arrays that contain the objects of a node of merged: this one, or one
 * above it, or MERGED_NONE. */
uint32_t pinned_arrays_of(const struct merged *merged, uint32_t node);

#endif
