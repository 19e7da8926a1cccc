/* sampling; see sampling.h. */
#include "cli/sampling.h"

#include <inttypes.h>

#include "cli/messages.h"

/* Sums over LEAST_OBJECTS samples or more are mostly wrong by less than a quarter. If one rate is
 * FAR_OFF times the other, neither that error nor garbage explains the difference. */
enum { LEAST_OBJECTS = 64, FAR_OFF = 8 };

void message_sampling(const struct options *options, const struct g2h_input *input,
                      const struct g2h_heap *heap)
{
    struct g2h_sampling sampling;
    const bool is_given = options->memprofile_rate > 0;
    g2h_sampling(heap, &sampling);
    const uint64_t rate = is_given ? options->memprofile_rate : sampling.rate;
    if (options->verbose)
        say("allocations: %" PRIu64 " sites, %" PRIu64
            " sampled objects in use, scaled by a runtime.MemProfileRate of %" PRIu64
            ", which is %s",
            sampling.sites, sampling.objects, rate,
            is_given    ? "given"
            : rate == 1 ? "supposed as most objects have samples"
                        : "supposed as it is usual");
    if (is_given || sampling.objects < LEAST_OBJECTS || sampling.likely_rate == 0)
        return;
    if (sampling.likely_rate / FAR_OFF >= rate || rate / FAR_OFF >= sampling.likely_rate)
        say("go2heapsnapshot: warning: %s: is scaled by a runtime.MemProfileRate of %" PRIu64
            ", by which it is much %s than the heap; one of about %" PRIu64
            " would fit: --memprofile-rate gives the program's own",
            input->name, rate, rate > sampling.likely_rate ? "more" : "less", sampling.likely_rate);
}
