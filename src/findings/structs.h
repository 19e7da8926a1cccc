/*
 * structs: the structs whose objects have most bytes of their own, and their layouts.
 */
#ifndef FINDINGS_STRUCTS_H
#define FINDINGS_STRUCTS_H

#include "findings/findings.h"

enum { STRUCTS = 24, STRUCT_FIELDS = 64 };

/* A struct by one of its objects. */
struct struct_layout {
    uint32_t class;      /* a node of merged */
    uint32_t object;     /* of the heap: one whose type is known as a whole and for sure */
    uint64_t objects;    /* of the class */
    uint64_t size, slot; /* bytes of the value, and of the memory that its object takes */
};

typedef VECTOR(struct struct_layout) struct_vector;

/* Finds at most STRUCTS of them, the one with most bytes first, each with at least a thousandth of
 * the heap; not those of the runtime, which users cannot change, and those without types. Findings
 * must have their merged tree. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *structs_find(const struct findings *findings, struct_vector *ret);

#endif
