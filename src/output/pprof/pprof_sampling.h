/* pprof_sampling: scales samples of allocations to estimates, and finds the sampling rate, as far
 * as a dump shows it. */
#ifndef OUTPUT_PPROF_PPROF_SAMPLING_H
#define OUTPUT_PPROF_PPROF_SAMPLING_H

#include <stdint.h>

#include <go2heapsnapshot/output.h>

struct sampling_estimate {
    int64_t objects, bytes;
};

/* Estimates how many objects of a size there were, and their bytes, if count of them were sampled
 * (scaleHeapSample of runtime/pprof/protomem.go). */
struct sampling_estimate sampling_scale(uint64_t count, uint64_t size, uint64_t rate);

/* Returns an allocation site; see g2h_heap_record(). */
struct g2h_memprof sampling_site(const struct g2h_heap *heap, size_t index);

#endif
