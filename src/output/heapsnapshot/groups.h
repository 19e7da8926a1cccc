/*
 * groups: nodes of a snapshot above several rows that belong together; see contexts.h.
 */
#ifndef OUTPUT_HEAPSNAPSHOT_GROUPS_H
#define OUTPUT_HEAPSNAPSHOT_GROUPS_H

#include "output/heapsnapshot/contexts.h"

/* What contexts and groups are made of. */
struct contexts_making {
    struct contexts *contexts;
    const struct g2h_view *view;
    struct ids *ids;
    struct strings *strings; /* NULL: groups are only counted */
};

typedef VECTOR(uint32_t) target_vector;

/* Makes the groups of finalizers and cleanups, of the timers in lists, and of variables. A folded
 * view has none: the number of its nodes is limited. Error: G2H_ERROR_MEMORY. */
struct g2h_error *groups_make(const struct contexts_making *making, const target_vector *timers);

#endif
