/*
 * leaked: the goroutines that can never run again, proved from the graph.
 *
 * A goroutine that is blocked runs again only if something that runs reaches what it waits on: a
 * channel, or the semaphore of a lock, of a sync.WaitGroup or a sync.Cond. So the roots are all but
 * the blocked goroutines. What they reach is marked, but not through the records in which the
 * runtime itself keeps each goroutine (runtime.g) and what it waits on (runtime.sudog). A blocked
 * goroutine becomes a root when something that it waits on is marked, and so on until nothing
 * changes. What is still blocked then is leaked. Go 1.26 and later do the same in the process for
 * their profile goroutineleak (runtime/mgc.go: findGoroutineLeaks).
 *
 * Whatever is not known speaks for a goroutine: if it waits for something else, if its sudogs are
 * not found, or if one of them is no longer in its queue, because the goroutine is just being
 * woken, it may run. Whether enough is known of the whole heap, leak_proof.h decides.
 *
 * The collector does not follow weak pointers, but the program does: what reaches the handle of one
 * reaches its object. A lock of less than 16 bytes shares its slot with other values; what leads to
 * these does not lead to the lock (lock_reach.h).
 */
#ifndef GRAPH_LEAKED_H
#define GRAPH_LEAKED_H

#include <go2heapsnapshot/graph.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strings.h"
#include "roots/roots.h"

struct g2h_graph;

/* A lock, or the like, on which a blocked goroutine waits. */
struct leaked_wait {
    uint32_t goroutine; /* synthetic node */
    uint32_t object;    /* that contains it; NO_TARGET: it is not in the heap, */
    uint64_t address;   /* but here */
};

struct leaked {
    enum g2h_leak_proof proof;
    const char *reason;               /* why there is no proof; NULL: there is one */
    uint64_t blocked;                 /* goroutines that have been examined */
    uint64_t count;                   /* those that can never run again; 0 without a proof */
    uint64_t *nodes;                  /* a bit per synthetic node; NULL: none is leaked */
    VECTOR(struct leaked_wait) waits; /* of all goroutines that have been examined */
    struct map variables; /* synthetic node of a goroutine → name in names of the global variable
                             that it waits on */
    struct string_pool names;
};

/*
 * Finds the leaked goroutines of a graph whose tentative edges have been decided, and that has no
 * "(unreachable)" yet. marks has a bit per object that the roots reach. Takes time for each object
 * and pointer once. Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *leaked_find(const struct g2h_graph *graph, const uint64_t *marks,
                              struct leaked *ret);
void leaked_deinit(struct leaked *leaked);

static inline bool leaked_has(const struct leaked *leaked, uint32_t synthetic)
{
    return leaked->nodes && bits_have(leaked->nodes, synthetic);
}

#endif
