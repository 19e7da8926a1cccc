/* leaks: the goroutines that can never run again, by their places, and what they retain. */
#ifndef FINDINGS_LEAKS_H
#define FINDINGS_LEAKS_H

#include "base/text.h"
#include "findings/findings.h"

/* The leaked goroutines in one place. */
struct leaks_place {
    uint32_t node;    /* of merged: a group of goroutines, or one that is alone */
    uint32_t example; /* one of these goroutines: a node of the view */
    uint64_t count;
    uint64_t retained; /* by all that are in the place, if all are leaked; else by each of the
                          leaked ones alone */
};

struct leaks {
    struct g2h_leaks all;
    uint64_t retained;
    VECTOR(struct leaks_place) places;
    struct map by_node; /* node of merged → index in places */
};

/* Finds them. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *leaks_find(const struct findings *findings, struct leaks *ret);
void leaks_deinit(struct leaks *leaks);

/* Returns the leaked goroutines in the place that a node of merged is, or is below of; NULL: none.
 */
const struct leaks_place *leaks_at(const struct leaks *leaks, const struct findings *findings,
                                   uint32_t node);

/* Appends why a goroutine, a node of the view, can never run again: "nothing alive reaches the
 * channel it waits on", or "… they wait on" if are_many. */
void leaks_append_reason(const struct findings *findings, uint32_t goroutine, bool are_many,
                         struct text *text);

#endif
