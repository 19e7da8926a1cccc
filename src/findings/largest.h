/*
 * largest: the objects that retain most.
 *
 * Among objects that hold each other (a struct, its map, the memory of the map's entries) only the
 * outermost one is listed, unless it has half as much again as the next one: they are effectively
 * one object. The same is true for an object that holds others of its own class, such as the nodes
 * of a tree. Only a few objects per class are listed, to leave space for others.
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

/* Finds these objects, those that retain most first; each has at least a thousandth of the heap, is
 * not garbage, and is not folded with others. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *largest_find(const struct findings *findings, large_vector *ret);

#endif
