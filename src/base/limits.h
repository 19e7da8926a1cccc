/*
 * limits: how much of a heap can be numbered. docs/performance.md says what reaches each limit, and
 * what to do about it.
 *
 * They are variables so that tests can lower them: a heap that reaches one has tens of gigabytes.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdint.h>

struct limits {
    uint64_t objects;         /* of a heap: a number has 31 bits */
    uint64_t nodes;           /* of a graph: its objects and roots */
    uint64_t snapshot_nodes;  /* DevTools multiplies the number of a node by its 7 fields, */
    uint64_t snapshot_edges;  /* and that of an edge by its 3, in 32 bits */
    uint64_t dominator_edges; /* between nodes that hold others */
    uint64_t hprof_ids;       /* of objects, classes and strings: 4 bytes */
    uint64_t last_id;         /* of the objects of a series: ids are odd */
};

extern struct limits limits;

#endif
