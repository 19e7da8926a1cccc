/*
 * suspects: what of a heap is worth to be looked at first.
 *
 * From the roots down the tree of merged dominators each branch that retains much is followed to
 * where it has become many: a map holds 300 previews, so the previews are what there is too much
 * of, and the map is what holds them. Goroutines that are many in one place are told as such, with
 * all that they hold.
 */
#ifndef OUTPUT_REPORT_SUSPECTS_H
#define OUTPUT_REPORT_SUSPECTS_H

#include "output/merged.h"
#include "output/report/growth.h"

struct suspect {
    uint32_t item;   /* node of merged: objects of a class, or goroutines in one place */
    uint32_t holder; /* above it: what there are few of; MERGED_NONE: no object */
    bool is_goroutines;
    uint64_t bytes; /* that it retains; with a base: by which it has grown */
    uint64_t grown; /* with a base: by how many objects */
};

typedef VECTOR(struct suspect) suspect_vector;

/*
 * Finds them; those that retain most come first. reachable is how many bytes there are without
 * garbage. base and growth: since then, for what has grown instead of what there is; NULL. Errors:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *suspects_find(const struct merged *merged, uint64_t reachable,
                                const struct g2h_base *base, const growth_vector *growth,
                                suspect_vector *ret);

#endif
