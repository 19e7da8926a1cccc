/*
 * capacities: where slices, strings and maps are, by types; see include/go2heapsnapshot/graph.h.
 */
#ifndef GRAPH_CAPACITIES_H
#define GRAPH_CAPACITIES_H

#include "graph/graph.h"
#include "naming/key_names.h"

/* The kinds of values that are visited. */
enum capacities_of {
    OF_EVERYTHING,     /* slices, strings and maps */
    OF_POINTER_SLICES, /* only slices, also those without a capacity, whose elements may have */
    OF_NOSCAN_SLICES   /* pointers, or have none */
};

/* The kind of owner of a declaration. */
enum declaration_of {
    DECLARATION_OF_MAP,    /* a map type */
    DECLARATION_OF_TYPE,   /* a field of a type */
    DECLARATION_OF_GLOBAL, /* a variable, or a field of one */
};

/* Slices or strings of one type at equal distances from each other. */
struct capacity_run {
    uint64_t offset, stride, count;
    uint64_t element; /* size of a slice's elements; 1 for strings */
    uint32_t declaration;
    bool is_string;
};

struct declaration {
    enum declaration_of of;
    uint32_t number; /* of a type or a variable */
    uint64_t offset;
};

/* The runs [first, end) of a type or a variable. */
struct runs {
    uint32_t first, end;
};

struct g2h_capacities {
    const struct g2h_graph *graph;
    const struct typing *typing; /* NULL: nothing is typed */
    enum capacities_of of;
    VECTOR(struct capacity_run) runs;
    VECTOR(struct declaration) declarations;
    struct runs *of_type;  /* by type; empty if no object has it */
    uint32_t *map_of_type; /* by type: the declaration of a map, or of the map that a bucket or
                              group is of; else UINT32_MAX */
    struct map_entries **entries; /* by type: of buckets and groups; else NULL */
    VECTOR(struct runs) of_global;
    struct map maps; /* from key and element type to declaration */
    uint64_t left;   /* how many fields may still be visited: more than sane programs have */
};

/* Does the work of g2h_capacities_create() before there is a view, for a part of the capacities.
 * Errors: G2H_ERROR_MEMORY. */
struct g2h_error *capacities_create(const struct g2h_graph *graph, enum capacities_of of,
                                    struct g2h_capacities **ret);

#endif
