/*
 * waste: memory that is allocated and reachable, but unused: space in slices beyond their length,
 * objects only in slots of arrays that no slice uses, slots of maps without entries, strings of
 * which only a small part is used, duplicate strings; and, beside these, free slots of spans
 * (fragmentation), and bytes of slots that belong to no field (struct layout).
 *
 * struct layout: bytes of slots that belong to no value, because slots have few sizes (rounding),
 * and bytes of values that belong to no field, because fields are aligned (padding). Only objects
 * count whose type is known for sure and for which Go uses a slot of exactly this size. The length
 * of an array is the capacity of the slices of fields and of packages' variables that reach
 * furthest into it; other arrays do not count.
 *
 * fragmentation: spans that few objects keep. A span is the memory that the slots of one size are
 * cut out of. It is given back as a whole only, once none of its slots has an object. Garbage
 * counts as free here, since the next collection frees it: only objects that are reachable pin a
 * span.
 */
#ifndef FINDINGS_WASTE_H
#define FINDINGS_WASTE_H

#include <go2heapsnapshot/view.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"

struct findings;

/* ---- slices ---- */

/* A slice that is not full. */
struct open_slice {
    uint32_t array; /* number of the object */
    uint32_t declaration;
    uint64_t used_end, end; /* offsets in the array: the end of the part in use, and of the slice */
};

typedef VECTOR(struct open_slice) open_slice_vector;

/* ---- substrings ---- */

/* A string that uses less than half of the bytes that it keeps, or all such strings in one object;
 * offsets are from the object's first byte. */
struct waste_part {
    uint32_t text; /* number of the object */
    uint32_t declaration;
    uint64_t begin, end;
    uint64_t bytes;   /* sum of all these strings' lengths */
    uint64_t longest; /* length of the string at declaration, which is the longest */
};

typedef VECTOR(struct waste_part) part_vector;

/* ---- struct layout ---- */

/* The objects of one layout. */
struct layout_row {
    uint32_t class;           /* see g2h_layouts_class() */
    uint64_t objects, values; /* values: of arrays, their elements */
    uint64_t slots;           /* bytes of the slots; in these, */
    uint64_t needed, headers; /* what values and malloc headers need, and the headers alone */
    uint64_t padding;         /* bytes of values that belong to no field */
    uint64_t saved;           /* bytes of slots that would not be taken if fields were reordered */
    uint64_t smallest, reordered; /* the smallest slot, and what it would be then */
};

struct layout_findings {
    struct g2h_layouts *layouts;
    uint32_t *rests; /* by object: bytes behind the slice that reaches furthest, plus 1; 0: there is
                        no slice, or these are 4 GB or more */
    VECTOR(struct layout_row) rounding, padding; /* the row that loses most comes first */
    struct layout_row sums;                      /* of all objects that count */
};

/* Returns the bytes of slots that values do not need. */
static inline uint64_t layout_rounding(const struct layout_row *row)
{
    return row->slots - row->needed;
}

/* Returns the rank of a row of padding: reordering may save more than the padding, because the slot
 * may become smaller, or nothing, because all of it becomes rounding. */
static inline uint64_t layout_weight(const struct layout_row *row)
{
    return MAX(row->padding, row->saved);
}

/* ---- fragmentation ---- */

/* Spans, and the objects in them. */
struct span_sums {
    uint64_t spans, bytes;  /* number and size of the spans */
    uint64_t objects, live; /* the reachable objects in these spans, and their bytes */
};

/* The spans whose slots have one size. */
struct span_row {
    uint64_t slot;
    struct span_sums all;    /* those with reachable objects, */
    struct span_sums sparse; /* those in which reachable objects take less than a quarter, */
    struct span_sums empty;  /* and less than a tenth */
};

/* The objects of one class in sparse spans of slots of one size. */
struct span_pin {
    uint64_t slot;
    uint32_t name;           /* of the class */
    uint64_t objects, spans; /* how many objects are in how many sparse spans */
    uint64_t last;           /* begin of the span that was counted last */
};

struct fragmentation {
    VECTOR(struct span_row) rows; /* the one with most free bytes in sparse spans comes first */
    VECTOR(struct span_pin) pins; /* by slot; those in most spans come first */
    struct span_row sums;
};

/* A span is sparse if less than 1 / SPAN_SPARSE of its bytes is reachable, and nearly empty below 1
 * / SPAN_EMPTY. */
enum { SPAN_SPARSE = 4, SPAN_EMPTY = 10 };

static inline uint64_t span_unused(const struct span_sums *sums)
{
    return sums->bytes - sums->live;
}

/* ---- waste ---- */

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
