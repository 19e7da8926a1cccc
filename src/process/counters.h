/*
 * counters: the runtime's own counters of its memory, as runtime.ReadMemStats reads them.
 *
 * All are exact at any moment. HeapInuse, HeapIdle and so on are sums of
 * runtime.memstats.heapStats, which ReadMemStats asserts to be equal to those of gcController. In a
 * stripped program the variable is found by its contents: the bytes of all spans with objects are
 * known.
 */
#ifndef PROCESS_COUNTERS_H
#define PROCESS_COUNTERS_H

#include "process/runtime.h"

struct counters {
    bool is_known; /* otherwise all numbers are 0 */
    uint64_t heap_in_use, heap_free, heap_released;
    uint64_t in_stacks, in_gc; /* in spans without objects: of stacks, and of the collector */
    uint64_t stacks_sys, mspan_sys, mcache_sys, buckhash_sys, gc_misc_sys, other_sys;
};

void counters_read(struct runtime *runtime, struct counters *ret);

#endif
