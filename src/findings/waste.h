/*
 * waste: memory that is allocated and reachable, but unused: space in slices beyond their length,
 * objects only in slots of arrays that no slice uses, slots of maps without entries, strings of
 * which only a small part is used, duplicate strings; and, beside these, free slots of spans
 * (fragmentation.h), and bytes of slots that belong to no field (struct_layout.h).
 */
#ifndef FINDINGS_WASTE_H
#define FINDINGS_WASTE_H

#include <go2heapsnapshot/view.h>

#include "base/map.h"
#include "base/memory.h"
#include "findings/fragmentation.h"
#include "findings/struct_layout.h"

struct findings;

/* The waste of slices in one declaration, of maps of one type, or of strings in one declaration. */
struct waste_row {
    uint32_t declaration; /* see g2h_capacities_declaration() */
    uint64_t wasted;
    uint64_t count;             /* of arrays, maps or strings */
    uint64_t bytes;             /* of these arrays or strings, or of the memory for maps' entries; 0
                                 * for stale objects, which are wasted as a whole */
    uint64_t used, all;         /* of maps: slots in use, and all slots, */
    uint64_t entries, unknown;  /* all entries, and those in slots that the dump lacks: counted in
                                 * none of the others */
    uint64_t elements;          /* of slices: bytes of elements in use */
    uint64_t outside;           /* of slices: bytes before their start and beyond their capacity */
    uint64_t empty, empty_size; /* maps without entries, and the bytes that these retain */
};

struct waste_rows {
    VECTOR(struct waste_row) list; /* most waste first; no rows without waste, except of maps */
    struct waste_row sums;         /* of all rows in list */
};

/* The declaration of a window whose slices are in no object and no package's variable. */
#define DECLARATION_OF_LOCAL UINT32_MAX

/* Equal strings, compared by their hashes: a collision is too unlikely to happen. */
struct equal {
    uint32_t node; /* of the view: the first of these strings */
    uint32_t count;
    uint64_t bytes; /* of all these strings together */
};

/* Returns the bytes of all but one of these strings. */
static inline uint64_t equal_waste(const struct equal *equal)
{
    return equal->bytes - equal->bytes / equal->count;
}

struct equals {
    VECTOR(uint64_t) hashes;                  /* of all strings that were read; */
    VECTOR(uint32_t) nodes;                   /* their nodes */
    VECTOR(struct equal) list;                /* a hundred, those that waste most first */
    uint64_t count, bytes, different, wasted; /* wasted: all but one of several equal strings */
    uint64_t *objects; /* a bit for each object whose string is there more than once */
};

/* Reads all strings, except garbage, and except objects that strings use less than half of, or that
 * several share: a duplicate is not waste if the rest of its block is in use. Errors:
 * G2H_ERROR_MEMORY. */
struct g2h_error *equals_read(const struct g2h_view *view, struct equals *ret);

struct waste {
    struct equals texts;
    struct g2h_capacities
        *capacities; /* has the names of declarations: g2h_capacities_declaration() */
    struct waste_rows slices, stale, maps, substrings;
    struct fragmentation fragmentation;
    struct layout_findings layout;
};

/* Returns the bytes of all rows: neither spans nor layout, which overlap with these. */
static inline uint64_t waste_all(const struct waste *waste)
{
    return waste->slices.sums.wasted + waste->stale.sums.wasted + waste->maps.sums.wasted +
           waste->substrings.sums.wasted + waste->texts.wasted;
}

/* Finds the waste, after equals_read() has filled ret->texts. It needs the results of
 * findings_begin(), but not the merged tree. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *waste_find(const struct findings *findings, struct waste *ret);
void waste_deinit(struct waste *waste);

#endif
