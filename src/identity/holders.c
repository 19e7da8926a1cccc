/* holders: finds, for each object, the only object that points to it. Globals and frames do not
 * count, because the object that they read the pointer from also holds it. */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/workers.h"
#include "identity/identity.h"

struct holders_finding {
    const struct g2h_graph *graph;
    uint32_t *holders;
};

/* Records an object as a holder: HOLDER_NONE becomes the object, and another object becomes
 * HOLDER_MANY, whatever the threads' order. */
static void add_holder(uint32_t *holder, uint32_t object)
{
    uint32_t old = HOLDER_NONE;
    if (!__atomic_compare_exchange_n(holder, &old, object, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        old != object && old != HOLDER_MANY)
        __atomic_store_n(holder, HOLDER_MANY, __ATOMIC_RELAXED);
}

/* Records the objects of a task as holders of what they point to, except of themselves. */
static struct g2h_error *holders_find_task(void *context, size_t task, unsigned worker)
{
    const struct holders_finding *finding = context;
    const uint32_t end = identity_task_end(finding->graph->heap, task);
    (void)worker;
    for (uint32_t object = (uint32_t)(task * OBJECTS_PER_TASK); object < end; object++) {
        const uint32_t *last, *target = object_targets(finding->graph, object, &last);
        for (; target < last; target++)
            if (*target != NO_TARGET && *target != object)
                add_holder(&finding->holders[*target], object);
    }
    return NULL;
}

struct g2h_error *holders_find(const struct g2h_graph *graph, unsigned threads, uint32_t **ret)
{
    const size_t count = graph->heap->object_count, size = (count + 1) * sizeof(**ret);
    _cleanup_free_ uint32_t *holders = malloc(size);
    struct holders_finding finding = {graph, holders};
    TRY_MEMORY(holders);
    memset(holders, 0xff, size);
    TRY(workers_run(threads, object_tasks(graph->heap), holders_find_task, &finding));
    *ret = take_pointer(holders);
    return NULL;
}
