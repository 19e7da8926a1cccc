/* sampling: what samples of allocations stand for; and by which rate, as far as a dump tells. */
#ifndef OUTPUT_PPROF_SAMPLING_H
#define OUTPUT_PPROF_SAMPLING_H

#include <stdint.h>

#include <go2heapsnapshot/output.h>

struct sampling_estimate {
    int64_t objects, bytes;
};

/* How many objects of a size there were, of which count were sampled (scaleHeapSample of
 * runtime/pprof/protomem.go). */
struct sampling_estimate sampling_scale(uint64_t count, uint64_t size, uint64_t rate);

/* An allocation site; see g2h_heap_record(). */
struct g2h_memprof sampling_site(const struct g2h_heap *heap, size_t index);

#endif
