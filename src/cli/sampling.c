/* sampling; see sampling.h. */
#include "cli/sampling.h"

#include <inttypes.h>

#include "cli/messages.h"

/* Sums over LEAST_OBJECTS samples or more are mostly wrong by less than a quarter. If one rate is
 * FAR_OFF times the other, neither that error nor garbage explains the difference. */
enum { LEAST_OBJECTS = 64, FAR_OFF = 8 };

/* Returns where the rate is from. */
static const char *sampling_reason(const struct options *options, const struct g2h_heap *heap,
                                   const struct g2h_sampling *sampling)
{
    uint64_t known;
    if (options->memprofile_rate > 0)
        return "given";
    if (g2h_heap_memprofile_rate(heap, &known))
        return "the process's own";
    if (sampling->rate == G2H_MEMPROFILE_RATE)
        return "supposed as it is usual";
    return g2h_heap_record_count(heap, G2H_RECORD_ALLOCSAMPLE) >= g2h_heap_object_count(heap) / 2
               ? "supposed as most objects have samples"
               : "supposed as the samples fit it, and are too many for the usual one";
}

void message_sampling(const struct options *options, const struct g2h_input *input,
                      const struct g2h_heap *heap)
{
    struct g2h_sampling sampling;
    const bool is_given = options->memprofile_rate > 0;
    uint64_t known;
    g2h_sampling(heap, &sampling);
    const uint64_t rate = is_given ? options->memprofile_rate : sampling.rate;
    if (options->verbose)
        say("allocations: %" PRIu64 " sites, %" PRIu64
            " sampled objects in use, scaled by a runtime.MemProfileRate of %" PRIu64
            ", which is %s",
            sampling.sites, sampling.objects, rate, sampling_reason(options, heap, &sampling));
    if (is_given || g2h_heap_memprofile_rate(heap, &known))
        return;
    if (rate != G2H_MEMPROFILE_RATE && rate == sampling.likely_rate && rate != 1)
        say("go2heapsnapshot: warning: %s: is scaled by a runtime.MemProfileRate of %" PRIu64
            ", which the samples fit; they are too many for the usual %d: --memprofile-rate gives "
            "the program's own",
            input->name, rate, G2H_MEMPROFILE_RATE);
    if (sampling.objects < LEAST_OBJECTS || sampling.likely_rate == 0)
        return;
    if (sampling.likely_rate / FAR_OFF >= rate || rate / FAR_OFF >= sampling.likely_rate)
        say("go2heapsnapshot: warning: %s: is scaled by a runtime.MemProfileRate of %" PRIu64
            ", by which it is much %s than the heap; one of about %" PRIu64
            " would fit: --memprofile-rate gives the program's own",
            input->name, rate, rate > sampling.likely_rate ? "more" : "less", sampling.likely_rate);
}
