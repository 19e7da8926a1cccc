/* pprof_sampling; see pprof_sampling.h, and g2h_sampling() of include/go2heapsnapshot/output.h. */
#include "output/pprof/pprof_sampling.h"

#include <math.h>

#include <go2heapsnapshot/heap.h>

#include "base/bytes.h"

struct g2h_memprof sampling_site(const struct g2h_heap *heap, size_t index)
{
    struct g2h_record record;
    g2h_heap_record(heap, G2H_RECORD_MEMPROF, index, &record);
    return record.memprof;
}

/* ---- scaling ---- */

/* Returns a double without its fraction, within the range of int64_t. */
static int64_t whole(double value)
{
    return value >= (double)INT64_MAX   ? INT64_MAX
           : value <= (double)INT64_MIN ? INT64_MIN
                                        : (int64_t)value;
}

/* Returns how many objects a sample of this size represents. */
static double scale_of(uint64_t size, uint64_t rate)
{
    return rate > 1 ? 1 / (1 - exp(-(double)size / (double)rate)) : 1;
}

struct sampling_estimate sampling_scale(uint64_t count, uint64_t size, uint64_t rate)
{
    const int64_t objects = (int64_t)count, bytes = (int64_t)(count * size);
    if (count == 0 || size == 0)
        return (struct sampling_estimate){0, 0};
    if (rate <= 1)
        return (struct sampling_estimate){objects, bytes};
    const double scale = scale_of(size, rate);
    return (struct sampling_estimate){whole((double)objects * scale), whole((double)bytes * scale)};
}

/* ---- the rate ---- */

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

static double bytes_at_rate(const struct g2h_heap *heap, uint64_t rate)
{
    const size_t sites = g2h_heap_record_count(heap, G2H_RECORD_MEMPROF);
    double sum = 0;
    for (size_t i = 0; i < sites; i++) {
        const struct g2h_memprof site = sampling_site(heap, i);
        if (site.allocs > site.frees && site.size > 0)
            sum +=
                (double)(site.allocs - site.frees) * (double)site.size * scale_of(site.size, rate);
    }
    return sum;
}

/* Returns the power of two at which the samples best account for the allocated bytes. Their
 * estimated sum grows with the rate. */
static uint64_t likely_rate(const struct g2h_heap *heap, uint64_t allocated)
{
    enum { MOST = 40 };
    unsigned low = 0, high = MOST;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        const double half = bytes_at_rate(heap, (uint64_t)1 << middle) * M_SQRT2;
        if (half < (double)allocated)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint64_t)1 << low;
}

void g2h_sampling(const struct g2h_heap *heap, struct g2h_sampling *ret)
{
    const struct g2h_memstats *stats = g2h_heap_memstats(heap);
    const size_t sites = g2h_heap_record_count(heap, G2H_RECORD_MEMPROF),
                 samples = g2h_heap_record_count(heap, G2H_RECORD_ALLOCSAMPLE);
    *ret = (struct g2h_sampling){.sites = 0};
    for (size_t i = 0; i < sites; i++) {
        const struct g2h_memprof site = sampling_site(heap, i);
        if (is_early(site))
            continue;
        ret->sites++;
        ret->objects += site.allocs > site.frees ? site.allocs - site.frees : 0;
    }
    ret->rate = samples >= g2h_heap_object_count(heap) / 2 ? 1 : G2H_MEMPROFILE_RATE;
    if (stats && ret->objects > 0)
        ret->likely_rate = likely_rate(heap, stats->numbers[G2H_MEMSTATS_HEAP_ALLOC]);
}
