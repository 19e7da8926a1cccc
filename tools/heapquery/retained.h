/* retained: computes dominators and retained sizes of a snapshot's nodes, by DevTools' rules. */
#ifndef HEAPQUERY_RETAINED_H
#define HEAPQUERY_RETAINED_H

#include "snapshot.h"

struct retained {
    uint32_t *dominators; /* by node; the root's is the root itself */
    uint64_t *sizes;
};

/* Computes both; takes 36 bytes per node and 4 per edge while it runs. retained must be given to
 * retained_deinit() also after an error. Error: G2H_ERROR_MEMORY. */
struct g2h_error *retained_init(struct retained *retained, const struct snapshot *snapshot);
void retained_deinit(struct retained *retained);

#endif
