/*
 * parts: what is in an object, field by field: by its type, as far as that is known as a whole;
 * else each word may be a pointer.
 */
#ifndef OUTPUT_HPROF_PARTS_H
#define OUTPUT_HPROF_PARTS_H

#include "output/hprof/classes.h"

enum { MOST_FIELDS = 4096 /* of a class, as far as there are so many parts */ };

/* A field, while it is not known yet whether there will be a class for it. */
struct part {
    uint64_t offset;
    uint32_t name; /* id */
    uint16_t size; /* in the object */
    enum field_type type;
    bool is_bool;
};

struct parts {
    VECTOR(struct part) list;
    uint32_t pointers;
    bool too_many;
};

void parts_deinit(struct parts *parts);

/* Finds the parts of the first object of a shape, which go to empty *parts: by its type, or by
 * words, which are called as its pointers are. Error: G2H_ERROR_MEMORY. */
struct g2h_error *parts_by_values(struct classes *classes, const struct shape_key *key,
                                  struct parts *parts);
struct g2h_error *parts_by_words(struct classes *classes, const struct shape_key *key,
                                 struct parts *parts);

/* What an array's elements are: where the first one is, how far they are apart (0: there is one),
 * and how many pointers and other values are in each. */
struct element {
    uint64_t base, stride;
    uint32_t pointers, values;
};

void parts_element(struct classes *classes, const struct shape_key *key, struct element *ret);

#endif
