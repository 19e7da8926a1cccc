/*
 * largest: the objects that retain most.
 *
 * Of objects that hold each other (a struct, its map, the memory of the map's entries) only the
 * outermost one is listed, unless it has half as much again as the next one: these are one thing.
 * So is what holds another object of its own class, such as the nodes of a tree. Of a class only a
 * few are listed, so that there is room for others.
 */
#ifndef FINDINGS_LARGEST_H
#define FINDINGS_LARGEST_H

#include "findings/findings.h"

enum { LARGEST_OBJECTS = 60, LARGEST_OF_CLASS = 8 };

struct large_object {
    uint64_t retained;
    uint32_t node; /* of the view */
    uint32_t name; /* of the class, in the view */
};

typedef VECTOR(struct large_object) large_vector;

/* Finds them, those that retain most first; an object has a thousandth of the heap at least. It
 * is no garbage, and not folded with others. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *largest_find(const struct findings *findings, large_vector *ret);

#endif
