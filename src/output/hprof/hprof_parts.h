/*
 * hprof_parts: the contents of an object, field by field. They come from its type if that is known
 * as a whole; otherwise each word may be a pointer.
 */
#ifndef OUTPUT_HPROF_HPROF_PARTS_H
#define OUTPUT_HPROF_HPROF_PARTS_H

#include "output/hprof/hprof_classes.h"

enum { MOST_FIELDS = 4096 /* the most parts that become fields of a class */ };

/* A field, before it is known whether there will be a class for it. */
struct part {
    uint64_t offset;
    uint32_t name; /* id */
    uint16_t size; /* bytes of a number in the object */
    enum field_type type;
    bool is_bool;
};

struct parts {
    VECTOR(struct part) list;
    uint32_t pointers;
    bool too_many;
};

void parts_deinit(struct parts *parts);

/* Find the parts of the first object of a shape, which are added to *parts, at first empty: by its
 * type, or by its words, which have the names of its pointers. Error: G2H_ERROR_MEMORY. */
struct g2h_error *parts_by_values(struct classes *classes, const struct shape_key *key,
                                  struct parts *parts);
struct g2h_error *parts_by_words(struct classes *classes, const struct shape_key *key,
                                 struct parts *parts);

/* The elements of an array: where the first one begins, how far they are apart (0: there is only
 * one), how many values each has, and how many of these are pointers. */
struct element {
    uint64_t base, stride;
    uint32_t pointers, values;
};

void parts_element(struct classes *classes, const struct shape_key *key, struct element *ret);

#endif
