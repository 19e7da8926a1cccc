/*
 * fragmentation: spans that few objects keep; see waste.h.
 *
 * A span is the memory that the slots of one size are cut out of. It is given back as a whole only,
 * once none of its slots has an object. Garbage counts as free here, since the next collection
 * frees it: only objects that are reachable pin a span.
 */
#ifndef FINDINGS_FRAGMENTATION_H
#define FINDINGS_FRAGMENTATION_H

#include <go2heapsnapshot/view.h>

#include "base/memory.h"

/* Spans, and the objects in them. */
struct span_sums {
    uint64_t spans, bytes;  /* number and size of the spans */
    uint64_t objects, live; /* the reachable objects in these spans, and their bytes */
};

/* The spans whose slots have one size. */
struct span_row {
    uint64_t slot;
    struct span_sums all;    /* those with reachable objects, */
    struct span_sums sparse; /* those in which reachable objects take less than a quarter, */
    struct span_sums empty;  /* and less than a tenth */
};

/* The objects of one class in sparse spans of slots of one size. */
struct span_pin {
    uint64_t slot;
    uint32_t name;           /* of the class */
    uint64_t objects, spans; /* how many objects are in how many sparse spans */
    uint64_t last;           /* begin of the span that was counted last */
};

struct fragmentation {
    VECTOR(struct span_row) rows; /* the one with most free bytes in sparse spans comes first */
    VECTOR(struct span_pin) pins; /* by slot; those in most spans come first */
    struct span_row sums;
};

/* A span is sparse if less than 1 / SPAN_SPARSE of its bytes is reachable, and nearly empty below 1
 * / SPAN_EMPTY. */
enum { SPAN_SPARSE = 4, SPAN_EMPTY = 10 };

static inline uint64_t span_unused(const struct span_sums *sums)
{
    return sums->bytes - sums->live;
}

#endif
