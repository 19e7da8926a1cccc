/* stale_part: the stale part (stale.h) of a suspect. */
#ifndef FINDINGS_STALE_PART_H
#define FINDINGS_STALE_PART_H

#include "findings/findings.h"

struct stale_part {
    bool is_of_items;        /* it is objects of the suspect; else what these hold */
    uint64_t beyond, before; /* objects: beyond the length of a slice, before its start */
    uint64_t retained;       /* of what the suspect holds: the bytes that these retain */
    uint32_t arrays;         /* the number of their arrays; 0: too little is stale to be reported */
    uint32_t most;           /* the one that has most: number in findings->stale.arrays */
    uint64_t length;         /* of the slice of that array */
};

/* Finds the stale objects of a suspect or, if these are less than a twentieth of its count objects,
 * the stale part of what it holds, if that is a twentieth of what it retains. item is a node of
 * merged. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *stale_find_part(const struct findings *findings, uint32_t item, uint64_t count,
                                  struct stale_part *ret);

#endif
