/*
 * process: whether two dumps are of one process, the first one earlier.
 *
 * A dump has the pauses of the last 256 collections (runtime.MemStats.PauseNs): number n is at
 * (n - 1) % 256. Those that both dumps have must be the same to the nanosecond.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "identity/identity.h"

/* In runtime.MemStats. */
enum { TOTAL_ALLOC = 1, MALLOCS = 4, FREES = 5, PAUSES = 24, NUM_GC = 280, PAUSE_COUNT = 256 };

static struct g2h_error *refuse_process(const struct g2h_heap *before, const struct g2h_heap *after,
                                        const char *why)
{
    return error_create(G2H_ERROR_NOT_SERIES, "%s: is not of the process that wrote %s: %s",
                        after->input->name, before->input->name, why);
}

static struct g2h_error *check_program(const struct g2h_heap *before, const struct g2h_heap *after)
{
    const struct g2h_params *one = &before->params, *other = &after->params;
    if (one->pointer_size != other->pointer_size || one->big_endian != other->big_endian ||
        strcmp(one->arch, other->arch) != 0)
        return refuse_process(before, after, "that has another architecture");
    if (strcmp(g2h_heap_format(before), g2h_heap_format(after)) != 0 ||
        strcmp(before->go_version, after->go_version) != 0)
        return refuse_process(before, after, "that is of another release of Go");
    return NULL;
}

static struct g2h_error *check_order(const struct g2h_heap *before, const struct g2h_heap *after)
{
    static const struct {
        int number;
        const char *name;
    } growing[] = {{NUM_GC, "collections"},
                   {TOTAL_ALLOC, "bytes allocated"},
                   {MALLOCS, "objects allocated"},
                   {FREES, "objects freed"}};
    for (size_t i = 0; i < sizeof(growing) / sizeof(*growing); i++) {
        const uint64_t was = before->memstats.numbers[growing[i].number],
                       is = after->memstats.numbers[growing[i].number];
        if (is < was)
            return error_create(G2H_ERROR_NOT_SERIES,
                                "%s: is older than %s, or of another process: %" PRIu64
                                " %s so far, there %" PRIu64,
                                after->input->name, before->input->name, is, growing[i].name, was);
    }
    return NULL;
}

static struct g2h_error *check_pauses(const struct g2h_heap *before, const struct g2h_heap *after)
{
    const uint64_t *was = before->memstats.numbers, *is = after->memstats.numbers;
    const uint64_t last = was[NUM_GC],
                   first = is[NUM_GC] < PAUSE_COUNT ? 1 : is[NUM_GC] - PAUSE_COUNT + 1;
    for (uint64_t n = first; n <= last && n < first + PAUSE_COUNT; n++) {
        const size_t at = PAUSES + (size_t)((n - 1) % PAUSE_COUNT);
        char why[128];
        if (was[at] == is[at])
            continue;
        snprintf(why, sizeof(why),
                 "its collection number %" PRIu64 " paused it for %" PRIu64 " ns, there %" PRIu64,
                 n, is[at], was[at]);
        return refuse_process(before, after, why);
    }
    return NULL;
}

struct g2h_error *identity_check_process(const struct g2h_heap *before,
                                         const struct g2h_heap *after)
{
    struct g2h_error *error = check_program(before, after);
    /* A dump that is cut ends before its memstats. */
    if (error || !g2h_heap_memstats(before) || !g2h_heap_memstats(after))
        return error;
    if ((error = check_order(before, after)) != NULL)
        return error;
    return check_pauses(before, after);
}
