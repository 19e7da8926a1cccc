/*
 * capacities: where slices, strings and maps are, by types; see include/go2heapsnapshot/view.h.
 */
#ifndef GRAPH_CAPACITIES_H
#define GRAPH_CAPACITIES_H

#include "graph/view.h"
#include "naming/keys.h"

/* What a place is of. */
enum place_of {
    PLACE_OF_MAP,    /* the type of a map; */
    PLACE_OF_TYPE,   /* a field of a type; */
    PLACE_OF_GLOBAL, /* a variable, or a field of it */
};

/* Slices or strings that are alike, at the same distance from each other. */
struct run {
    uint64_t offset, stride, count;
    uint64_t element; /* bytes of what they are slices of; strings: 1 */
    uint32_t place;
    bool is_string;
};

struct place {
    enum place_of of;
    uint32_t number; /* of a type, or a variable */
    uint64_t offset;
};

/* Runs [first, end) of a type or a variable. */
struct runs {
    uint32_t first, end;
};

struct g2h_capacities {
    const struct g2h_view *view;
    const struct typing *typing; /* NULL: nothing is typed */
    VECTOR(struct run) runs;
    VECTOR(struct place) places;
    struct runs *of_type;         /* by type; empty where no object has it */
    uint32_t *map_of_type;        /* by type, of maps and what is in them: its place; UINT32_MAX */
    struct map_entries **entries; /* by type, of buckets and groups; else NULL */
    VECTOR(struct runs) of_global;
    struct map maps; /* key and element → place */
    uint64_t left;   /* fields that may still be looked at: more than sane programs have */
};

#endif
