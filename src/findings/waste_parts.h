/* waste_parts: the functions that the waste files share; see waste.h. */
#ifndef FINDINGS_WASTE_PARTS_H
#define FINDINGS_WASTE_PARTS_H

#include "findings/findings.h"

/* Adds one array or string to the row of a declaration; by_declaration leads from a declaration to
 * its row's index. Returns the row, or NULL if memory runs out. */
struct waste_row *waste_add(struct waste_rows *rows, struct map *by_declaration,
                            uint32_t declaration, uint64_t wasted, uint64_t bytes);

/* ---- slices.c ---- */

/* A slice that is not full. */
struct open_slice {
    uint32_t array; /* number of the object */
    uint32_t declaration;
    uint64_t used_end, end; /* offsets in the array: the end of the part in use, and of the slice */
};
typedef VECTOR(struct open_slice) open_slice_vector;

/* Finds the part of an object that a slice covers, clipped to the object, whatever length the dump
 * has for the slice. Returns false if the slice is in no object of the view. */
bool slices_locate(const struct findings *findings, const struct g2h_capacity *capacity,
                   struct open_slice *ret);

/* Sums up count lists of slices. Each array counts once, at the declaration of the slice that uses
 * most of it. full has a bit for each object that a full slice is in, and so uses, too. If an array
 * has a window, everything outside of it counts, at the window's declaration, which is in
 * declarations. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *slices_sum(const struct findings *findings,
                             const struct g2h_capacities *capacities,
                             const open_slice_vector *lists, size_t count, const uint64_t *full,
                             const uint32_t *declarations, struct waste_rows *ret);

/* Sums up what lives only because it is in slots that no slice uses, at the declarations of the
 * slices. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *slices_sum_stale(const struct findings *findings, const uint32_t *declarations,
                                   struct waste_rows *ret);

/* ---- substrings.c ---- */

/* The smallest string for which size classes cannot explain that less than half is in use. */
enum { WASTE_LEAST_TEXT = 64 };

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

/* Adds a string to the parts if it uses less than half of its object. used has a bit for each
 * object of which a string uses half or more, and gets more bits. Returns false if memory runs
 * out. */
bool substrings_add(const struct findings *findings, const struct g2h_capacity *capacity,
                    part_vector *parts, uint64_t *used);

/* Sums up count lists of parts, except those of objects that have a bit in used. used also gets
 * bits for strings of roots whose use is not known. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *substrings_sum(const struct findings *findings, const part_vector *lists,
                                 size_t count, uint64_t *used, struct waste_rows *ret);

/* ---- equal_strings.c ---- */

/* Finds the duplicates among the strings that were read. Stale strings count as waste already, so
 * they are left out. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *equals_find(const struct findings *findings, struct equals *ret);
void equals_deinit(struct equals *strings);

/* ---- struct_layout.c ---- */

/* Prepares layout_see_slice(). Errors: G2H_ERROR_MEMORY. */
struct g2h_error *layout_init(const struct findings *findings, struct layout_findings *ret);

/* Records how far a slice reaches into its array. Several threads may call it at the same time. */
void layout_see_slice(const struct findings *findings, const struct layout_findings *layout,
                      const struct g2h_capacity *capacity);

/* Sums up all objects, after all slices have been seen. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *layout_find(const struct findings *findings, struct layout_findings *ret);
void layout_deinit(struct layout_findings *layout);

/* ---- fragmentation.c ---- */

/* Finds the spans of all objects. There are no rows if the span sizes of the release of Go are not
 * known. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *fragmentation_find(const struct findings *findings, struct fragmentation *ret);
void fragmentation_deinit(struct fragmentation *fragmentation);

/* ---- shared ---- */

static inline void waste_set_bit(uint64_t *bits, uint32_t object)
{
    const uint64_t bit = (uint64_t)1 << object % 64;
    if ((__atomic_load_n(&bits[object / 64], __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(&bits[object / 64], bit, __ATOMIC_RELAXED);
}

#endif
