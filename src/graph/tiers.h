/*
 * tiers: to whom memory belongs: to the program's variables, to goroutines, or to the rest of the
 * roots. docs/report.md explains why.
 *
 *   1. What the variables of packages reach belongs to the program. Variables of the runtime and
 *      its own packages do not count; without an executable, all words of data and bss do.
 *   2. What is left and goroutines reach, by their frames, deferred calls and panics, belongs to
 *      them.
 *   3. What is left and the rest of the roots reaches belongs to the rest: variables of the
 *      runtime, timers, finalizers, cleanups, threads.
 *   4. What only (other roots) reach, the registers of a process among them, belongs to these: a
 *      register that points to a timer leads to a processor, which the runtime holds as well.
 *      Objects that nothing reaches are garbage.
 *
 * The walks of 1 and 2 pass by the runtime's records of threads and processors, that of 1 also by
 * its records of goroutines and of what they wait for (runtime.sudog), because these lead to
 * everything else; and both by what pools cache (pools.c), which is the rest's. And a runtime.sudog
 * holds no more than other such records: neither the channel nor the goroutine.
 *
 * So an edge holds its target only if both are of the same tier. An edge that leads up to what
 * belongs to the program is "foreign": it stays an ordinary edge, which DevTools ignores for the
 * same reason that it is ignored here. All others between tiers are weak.
 */
#ifndef GRAPH_TIERS_H
#define GRAPH_TIERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "roots/roots.h"

enum { TIER_BITS = 4, TIERS_PER_WORD = 64 / TIER_BITS };

struct tiers {
    uint64_t *of_object; /* TIER_BITS per object: enum tier */
    uint64_t *waiters; /* a bit per object: it is a record of a goroutine that waits; NULL: none */
};

/* How an edge holds its target. PASSED: not at all, because a walk passes it by: it is weak, and
 * foreign. */
enum hold { HOLD_STRONG, HOLD_FOREIGN, HOLD_PASSED, HOLD_WEAK };

static inline enum tier tiers_of(const struct tiers *tiers, uint32_t object)
{
    return (enum tier)(tiers->of_object[object / TIERS_PER_WORD] >>
                           (object % TIERS_PER_WORD * TIER_BITS) &
                       ((1 << TIER_BITS) - 1));
}

static inline bool tiers_waits(const uint64_t *waiters, uint32_t object)
{
    return waiters && bits_have(waiters, object);
}

/* An object as the source of pointers. */
struct tier_source {
    enum tier tier;
    bool waits;
};

static inline struct tier_source tiers_source(const struct tiers *tiers, uint32_t object)
{
    return (struct tier_source){tiers_of(tiers, object), tiers_waits(tiers->waiters, object)};
}

/* Returns whether a pointer to target holds it. */
static inline bool tiers_hold(const struct tiers *tiers, struct tier_source source, uint32_t target)
{
    return tiers_of(tiers, target) == source.tier &&
           (!source.waits || tiers_waits(tiers->waiters, target));
}

static inline enum hold tiers_hold_as(const struct tiers *tiers, struct tier_source source,
                                      uint32_t target)
{
    if (tiers_hold(tiers, source, target))
        return HOLD_STRONG;
    if (source.tier == TIER_GARBAGE)
        return HOLD_WEAK;
    if (tiers_of(tiers, target) == TIER_PROGRAM && !source.waits)
        return HOLD_FOREIGN;
    return HOLD_PASSED;
}

/* ---- how they are found (tiers.c), before there are any ---- */

struct g2h_graph;
struct owners;

/* An object at which the walk of the program ends, so that it and what only it leads to do not
 * belong to the program; unless it is of a goroutine, the walk of goroutines ends there, too. */
struct boundary {
    uint32_t object;
    enum boundary_of {
        BOUNDARY_GOROUTINE, /* or of what it waits for */
        BOUNDARY_THREAD,    /* or processor */
        BOUNDARY_POOL,      /* what a sync.Pool caches: an array of sync.poolLocal */
    } of;
};

struct boundaries {
    VECTOR(struct boundary) list; /* ascending */
};

/* The first step: lists the objects at which walks end, the runtime's records and pools, and gives
 * all objects TIER_GARBAGE. The caller calls boundaries_deinit() after an error, too. */
struct g2h_error *tiers_init(struct tiers *tiers, const struct g2h_graph *graph,
                             struct boundaries *ret);
void tiers_deinit(struct tiers *tiers);
void boundaries_deinit(struct boundaries *boundaries);

/* Finds what belongs to the program, and its owners. */
struct g2h_error *tiers_find_program(struct g2h_graph *graph, struct owners *owners,
                                     const struct boundaries *boundaries);

/*
 * Finds the objects of goroutines and of the rest, and their owners, once all edges from synthetic
 * nodes are known. marks has a bit for each object that is not garbage. is_changed: the objects of
 * the program must be found again. Objects that only boundaries lead to are followed by fewer
 * boundaries.
 */
struct g2h_error *tiers_find_others(struct g2h_graph *graph, struct owners *owners,
                                    struct boundaries *boundaries, const uint64_t *marks,
                                    bool is_changed);

#endif
