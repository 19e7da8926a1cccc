/*
 * outside_holders: which fields and variables point to memory outside of the heap.
 *
 * The graph has an edge for each pointer into a mapping. If a holder, such as a field of a type,
 * points into a mapping, the mapping's resident size counts for the holder, once. Garbage and the
 * runtime's own holders are left out. Fields and variables come before elements of slices and maps,
 * which are described by the holder of the first one. The list of all mappings that packages
 * syscall and x/sys/unix keep is reported only if the program has no pointer of its own.
 */
#ifndef FINDINGS_OUTSIDE_HOLDERS_H
#define FINDINGS_OUTSIDE_HOLDERS_H

#include "findings/findings.h"

enum { OUTSIDE_MOST = 3 };

struct outside_holders {
    struct {
        struct text name; /* main.cache.data, or a path to an element */
        uint64_t bytes;   /* resident, of the mappings that it points into */
    } list[OUTSIDE_MOST];
    size_t count;
};

/* Finds the holders that point to a twentieth or more of a part of RSS: of mapped files, or of
 * anonymous memory that is not Go's; other parts have none. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *outside_holders_find(const struct findings *findings, enum g2h_memory_part part,
                                       struct outside_holders *ret);
void outside_holders_deinit(struct outside_holders *holders);

#endif
