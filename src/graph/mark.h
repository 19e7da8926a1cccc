/*
 * mark: finds the objects that are reached from other objects; or finds their owners: an object's
 * owner is the only one that reaches it.
 *
 * The caller pushes objects, and marker_drain() then marks all objects that they reach: on the
 * caller's thread as long as there are few, then on several threads. Which objects are marked
 * depends only on the pushed objects, not on which thread comes first.
 */
#ifndef GRAPH_MARK_H
#define GRAPH_MARK_H

#include "base/contract.h"
#include "base/memory.h"
#include "graph/owner_numbers.h"
#include "graph/tiers.h"
#include "heap/targets.h"

/* How many objects one thread visits alone; after that it is worth starting other threads. */
enum { MARK_ALONE = 1 << 14 };

enum { MARK_QUEUE = 32 };

/* Objects that are marked but not visited yet. */
struct mark_stack {
    VECTOR(uint32_t) objects;
};

struct marker {
    const struct targets *targets;
    const uint64_t *waiters;   /* of tiers.h: these lead only to each other; may be NULL */
    const struct tiers *tiers; /* with met: the tier of each object */
    uint64_t *marks;           /* a bit per object */
    owner_number *owners;      /* by object; not NULL: the marker finds owners, and no marks */
    owner_number owner;        /* with owners: the owner that holds the next pushed objects */
    uint64_t *met; /* with owners, may be NULL: a bit per owner, set if it holds objects that have
                      several owners */
    struct crossings crossings; /* with met: from owners to objects whose owner is fixed */
    unsigned threads;
    struct mark_stack stack;
    uint32_t queue[MARK_QUEUE]; /* see mark_next_object() */
    unsigned queue_begin, queue_count;
};

static inline bool is_marked(const uint64_t *marks, uint32_t object)
{
    return bits_have(marks, object);
}

/* Returns the first unmarked object in [from, end), or end if all are marked. It looks at 64
 * objects at a time, because most are marked. */
static inline uint32_t next_unmarked(const uint64_t *marks, uint32_t from, uint32_t end)
{
    for (uint64_t object = from; object < end; object = (object | 63) + 1) {
        const uint64_t unmarked = ~marks[object / 64] >> (object % 64);
        if (unmarked != 0) {
            object += lowest_bit(unmarked);
            return object < end ? (uint32_t)object : end;
        }
    }
    return end;
}

static inline bool marker_has(const struct marker *marker, uint32_t object)
{
    return marker->owners ? marker->owners[object] != OWNER_NONE : is_marked(marker->marks, object);
}

/* Marks an object; marker_drain() marks what it reaches. Returns false if memory runs out. */
bool marker_push(struct marker *marker, uint32_t object);

/* Marks all objects that the pushed objects reach. Error: G2H_ERROR_MEMORY. */
struct g2h_error *marker_drain(struct marker *marker);

/* Frees everything but the marks, which are the caller's. */
void marker_deinit(struct marker *marker);

#endif
