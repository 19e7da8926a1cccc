/*
 * alloc_rate: how the process sampled its allocations: runtime.MemProfileRate, and what a sample
 * stands for. A dump made from outside has the rate (dump/dump_facts.h). Those of WriteHeapDump do
 * not: the variable is in noptrdata, which they leave out. There it is supposed, as far as the
 * samples do not refute that.
 */
#include <math.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "heap/heap.h"

/* Returns an allocation site; see g2h_heap_record(). */
static struct g2h_memprof alloc_rate_site(const struct g2h_heap *heap, size_t index)
{
    struct g2h_record record;
    g2h_heap_record(heap, G2H_RECORD_MEMPROF, index, &record);
    return record.memprof;
}

/* Returns how many objects of a size a sampled one stands for, with one sample per rate bytes: 1 /
 * (1 - exp(-size / rate)), as in scaleHeapSample() of runtime/pprof/protomem.go. */
double g2h_sampling_scale(uint64_t size, uint64_t rate)
{
    return rate > 1 && size > 0 ? 1 / (1 - exp(-as_ratio(size, rate))) : 1;
}

/* Gets runtime.MemProfileRate; false if the dump does not tell it. */
bool g2h_heap_memprofile_rate(const struct g2h_heap *heap, uint64_t *ret)
{
    *ret = heap->facts.alloc_rate;
    return heap->facts.has_alloc_rate;
}

/* Returns whether a site was recorded before the runtime checks whether it is to sample at all:
 * Go 1.27 has such a site in every dump. */
static bool is_early(struct g2h_memprof site)
{
    struct g2h_memprof_frame frame;
    while (g2h_memprof_next_frame(&site, &frame))
        if (bytes_are(frame.function, "runtime.schedinit"))
            return true;
    return false;
}

/* Returns the bytes in use that all samples account for if this was the rate. */
static double bytes_at_rate(const struct g2h_heap *heap, uint64_t rate)
{
    const size_t sites = g2h_heap_record_count(heap, G2H_RECORD_MEMPROF);
    double sum = 0;
    for (size_t i = 0; i < sites; i++) {
        const struct g2h_memprof site = alloc_rate_site(heap, i);
        if (site.allocs > site.frees && site.size > 0)
            sum += (double)(site.allocs - site.frees) * (double)site.size *
                   g2h_sampling_scale(site.size, rate);
    }
    return sum;
}

/* Returns the power of two at which the samples best account for the allocated bytes, the nearest
 * one by ratio. Their estimated sum grows with the rate, so this is the lowest rate at which it is
 * the allocated bytes, or less by at most a square root of 2. */
static uint64_t likely_rate(const struct g2h_heap *heap, uint64_t allocated)
{
    enum { MOST = 40 };
    unsigned low = 0, high = MOST;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        const double estimated = bytes_at_rate(heap, UINT64_C(1) << middle);
        if (estimated * M_SQRT2 < (double)allocated)
            low = middle + 1;
        else
            high = middle;
    }
    return UINT64_C(1) << low;
}

/*
 * Returns whether so many objects have samples that the rate cannot be true: an object of 24 bytes
 * is one of 21,845 that a rate of 524,288 samples. The number of samples is that of independent
 * events, so that it deviates from the expected one by about the square root of that; six times as
 * much, and a few objects, is no chance.
 */
static bool is_refuted(const struct g2h_heap *heap, uint64_t rate)
{
    enum { DEVIATIONS = 6, FEW = 8 };
    const uint64_t samples = g2h_heap_record_count(heap, G2H_RECORD_ALLOCSAMPLE);
    uint64_t known = 0;
    double expected = 0, of_known = 0;
    for (uint32_t i = 0; i < heap->object_count; i++) {
        const uint64_t size = heap_object_size(heap, i);
        if (size != known) { /* neighbours mostly have one size */
            known = size;
            of_known = 1 / g2h_sampling_scale(size, rate);
        }
        expected += of_known;
    }
    return (double)samples > expected + DEVIATIONS * sqrt(expected) + FEW;
}

/* Sums up the sites, and finds the rate: the one that the process tells; else 1 if most objects
 * have samples; else the usual one, unless the samples refute it: then the one that fits the heap.
 */
void g2h_sampling(const struct g2h_heap *heap, struct g2h_sampling *ret)
{
    const struct g2h_memstats *stats = g2h_heap_memstats(heap);
    const size_t sites = g2h_heap_record_count(heap, G2H_RECORD_MEMPROF),
                 samples = g2h_heap_record_count(heap, G2H_RECORD_ALLOCSAMPLE);
    *ret = (struct g2h_sampling){.sites = 0};
    for (size_t i = 0; i < sites; i++) {
        const struct g2h_memprof site = alloc_rate_site(heap, i);
        if (is_early(site))
            continue;
        ret->sites++;
        ret->objects += site.allocs > site.frees ? site.allocs - site.frees : 0;
    }
    if (stats && ret->objects > 0)
        ret->likely_rate = likely_rate(heap, stats->numbers[G2H_MEMSTATS_HEAP_ALLOC]);
    if (g2h_heap_memprofile_rate(heap, &ret->rate))
        return;
    ret->rate = samples >= g2h_heap_object_count(heap) / 2 ? 1 : G2H_MEMPROFILE_RATE;
    if (ret->likely_rate > 0 && ret->likely_rate < ret->rate && is_refuted(heap, ret->rate))
        ret->rate = ret->likely_rate;
}
