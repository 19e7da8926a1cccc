/*
 * layout: bytes of slots that belong to no value, because slots have few sizes (rounding), and
 * bytes of values that belong to no field, because fields are aligned (padding); see waste.h.
 *
 * Only objects count whose type is known for sure, and of which Go takes a slot of this very size.
 * The length of an array is the capacity of the slices of fields and of packages' variables that
 * reach furthest into it; other arrays do not count.
 */
#ifndef OUTPUT_REPORT_LAYOUT_H
#define OUTPUT_REPORT_LAYOUT_H

#include "base/memory.h"
#include "output/report/sections.h"

/* The objects of one layout. */
struct layout_row {
    uint32_t class;           /* see g2h_layouts_class() */
    uint64_t objects, values; /* values: of arrays, their elements */
    uint64_t slots;           /* bytes of the slots; of these, */
    uint64_t needed, headers; /* what values and malloc headers need, and the headers alone */
    uint64_t padding;         /* bytes of values that belong to no field */
    uint64_t saved;           /* bytes of slots that would not be taken if fields were reordered */
    uint64_t smallest, reordered; /* the smallest slot, and what it would be then */
};

struct layout {
    struct g2h_layouts *layouts;
    uint64_t *ends; /* by object: offset of the end of the slice that reaches furthest; 0: none */
    VECTOR(struct layout_row) rounding, padding; /* the row that loses most comes first */
    struct layout_row sums;                      /* of all objects that count */
};

/* Prepares layout_see_slice(). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *layout_init(const struct report *report, struct layout *ret);

/* Notes how far a slice reaches into its array. Several threads may call it at the same time. */
void layout_see_slice(const struct report *report, const struct layout *layout,
                      const struct g2h_capacity *capacity);

/* Sums up all objects, after all slices have been seen. Of the report it needs the view and the
 * threads. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *layout_find(const struct report *report, struct layout *ret);
void layout_put(const struct report *report, const struct layout *layout);
void layout_deinit(struct layout *layout);

#endif
