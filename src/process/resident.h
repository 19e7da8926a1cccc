/*
 * resident: the breakdown of a live process's resident memory; see
 * include/go2heapsnapshot/memory.h.
 */
#ifndef PROCESS_RESIDENT_H
#define PROCESS_RESIDENT_H

#include <go2heapsnapshot/memory.h>

#include "process/counters.h"

/* How much of the heap's spans is resident. */
struct resident_spans {
    uint64_t objects, slots; /* of spans with objects: allocated slots, and free ones */
    uint64_t manual;         /* spans of stacks and the like */
};

/* Adds up the resident pages of spans; call it before their descriptions are given back. */
void resident_find_spans(const struct runtime *runtime, struct resident_spans *ret);

/* Finds the parts of RSS; none if the process is a core. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *resident_find(const struct runtime *runtime, const struct counters *counters,
                                const struct resident_spans *spans, struct g2h_memory *ret);

#endif
