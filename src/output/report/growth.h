/*
 * growth: by how much each node of a merged tree has grown since another heap, that of the base.
 *
 * Nodes are the same that have the same names on the way from the root: so heaps of two builds of a
 * program, or of two machines, can be compared as well as two of one process.
 */
#ifndef OUTPUT_REPORT_GROWTH_H
#define OUTPUT_REPORT_GROWTH_H

#include <go2heapsnapshot/output.h>

#include "output/merged.h"

/* Of a node. What is not in the base was 0 there. */
struct growth {
    int64_t retained, bytes, count;
    uint64_t weight; /* the most that it, or one below it, has grown: what is above may have shrunk
                        elsewhere */
};

typedef VECTOR(struct growth) growth_vector;

/* Finds them, node by node. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *growth_find(const struct g2h_base *base, const struct merged *merged,
                              growth_vector *ret);

/* What the base has of a class, by its name. */
struct growth_class {
    uint64_t count, bytes;
};
struct growth_class growth_class_before(const struct g2h_base *base, const char *name, size_t size);

/* What is said of the base as a whole. */
struct growth_totals {
    char *name;
    uint64_t reachable, objects, goroutines;
};
const struct growth_totals *growth_totals(const struct g2h_base *base);

#endif
