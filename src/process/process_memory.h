/*
 * process_memory: numbers of a process's memory: the limit that it is subject to, the runtime's own
 * counters, how much its heap has, and the breakdown of its resident memory.
 */
#ifndef PROCESS_PROCESS_MEMORY_H
#define PROCESS_PROCESS_MEMORY_H

#include <stdint.h>

#include <go2heapsnapshot/memory.h>

#include "base/memory.h"
#include "process/runtime.h"

/* ==== the runtime's own counters of its memory, as runtime.ReadMemStats reads them ====
 *
 * All are exact at any moment. HeapInuse, HeapIdle and so on are sums of
 * runtime.memstats.heapStats, which ReadMemStats asserts to be equal to those of gcController. In a
 * stripped program the variable is found by its contents: the bytes of all spans with objects are
 * known.
 */

struct counters {
    bool is_known; /* otherwise all numbers are 0 */
    uint64_t heap_in_use, heap_free, heap_released;
    uint64_t in_stacks, in_gc; /* in spans without objects: of stacks, and of the collector */
    uint64_t stacks_sys, mspan_sys, mcache_sys, buckhash_sys, gc_misc_sys, other_sys;
    struct g2h_collector collector;
};

void counters_read(struct runtime *runtime, struct counters *ret);

/* ==== how much a live process has, before it is stopped ====
 *
 * The descriptions of its spans are read while it goes on, so the numbers are those of no single
 * moment, and off by what it allocates meanwhile.
 */

struct g2h_exe;

struct estimate {
    uint64_t objects;    /* 0: not known */
    uint64_t dump_bytes; /* so many bytes has a dump of it at least */
    uint64_t disk_bytes; /* so many of these are on a disk: large objects may be holes */
};

/* Fills *ret, with zeros if the process cannot be read. */
void estimate_live(uint64_t pid, struct g2h_exe *exe, struct estimate *ret);

/* ==== the breakdown of a live process's resident memory ==== */

/* A span of small objects, some of whose pages are not resident. */
struct resident_absent {
    uint64_t address, bytes;
};

/* How much of the heap's spans is resident. */
struct resident_spans {
    uint64_t objects, slots; /* of spans with objects: allocated slots, and free ones */
    uint64_t manual;         /* spans of stacks and the like */
    VECTOR(struct resident_absent) absent; /* in the order of the runtime's list */
};

/* Adds up the resident pages of spans; call it before their descriptions are given back. The caller
 * passes *ret to resident_spans_deinit(). Returns false if memory runs out. */
bool resident_find_spans(const struct runtime *runtime, struct resident_spans *ret);

void resident_spans_deinit(struct resident_spans *spans);

/* Finds the parts of RSS; none if the process is a core. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *resident_find(const struct runtime *runtime, const struct counters *counters,
                                const struct resident_spans *spans, struct g2h_memory *ret);

#endif
