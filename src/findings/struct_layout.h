/*
 * struct_layout: bytes of slots that belong to no value, because slots have few sizes (rounding),
 * and bytes of values that belong to no field, because fields are aligned (padding); see waste.h.
 *
 * Only objects count whose type is known for sure and for which Go uses a slot of exactly this
 * size. The length of an array is the capacity of the slices of fields and of packages' variables
 * that reach furthest into it; other arrays do not count.
 */
#ifndef FINDINGS_STRUCT_LAYOUT_H
#define FINDINGS_STRUCT_LAYOUT_H

#include <go2heapsnapshot/view.h>

#include "base/memory.h"

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
    uint64_t *ends; /* by object: offset of the end of the slice that reaches furthest; 0: none */
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
    return row->padding > row->saved ? row->padding : row->saved;
}

#endif
