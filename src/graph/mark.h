/*
 * mark: finds which objects are reached from others; or who owns them, which is who alone reaches
 * them.
 *
 * Objects are pushed, and then all that they reach is marked: by the caller's thread as long as it
 * is little, then by several. What is marked depends on what was pushed only, not on which thread
 * comes first.
 */
#ifndef GRAPH_MARK_H
#define GRAPH_MARK_H

#include "graph/owner_numbers.h"
#include "heap/targets.h"

/* How many objects one thread visits alone; only then is it worth it to start others. */
enum { MARK_ALONE = 1 << 14 };

enum { MARK_QUEUE = 32 };

/* Objects that are marked and not visited yet. */
struct mark_stack {
    VECTOR(uint32_t) objects;
};

struct marker {
    const struct targets *targets;
    uint64_t *marks;      /* a bit per object */
    owner_number *owners; /* by object; not NULL: it finds these, and there are no marks */
    owner_number owner;   /* then: of what is pushed next */
    uint64_t *met;        /* then: not NULL: a bit per owner, of those that hold what has several */
    bool is_crossing;     /* then: whether crossings are wanted */
    struct crossings crossings; /* from owners to objects whose owner is fixed */
    unsigned threads;
    struct mark_stack stack;
    uint32_t queue[MARK_QUEUE]; /* see next_object() */
    unsigned queue_begin, queue_count;
};

static inline bool is_marked(const uint64_t *marks, uint32_t object)
{
    return (marks[object / 64] >> (object % 64) & 1) != 0;
}

/* The first object from one on that is not marked; end where all are. It looks at 64 at a time, for
 * most are marked. */
static inline uint32_t next_unmarked(const uint64_t *marks, uint32_t from, uint32_t end)
{
    for (uint64_t object = from; object < end; object = (object | 63) + 1) {
        const uint64_t unmarked = ~marks[object / 64] >> (object % 64);
        if (unmarked != 0) {
            object += (unsigned)__builtin_ctzll(unmarked);
            return object < end ? (uint32_t)object : end;
        }
    }
    return end;
}

static inline bool marker_has(const struct marker *marker, uint32_t object)
{
    return marker->owners ? marker->owners[object] != OWNER_NONE : is_marked(marker->marks, object);
}

/* Marks an object. What it reaches, marker_drain() marks. False where there is no memory. */
bool marker_push(struct marker *marker, uint32_t object);

/* Marks all that the pushed objects reach. Error: G2H_ERROR_MEMORY. */
struct g2h_error *marker_drain(struct marker *marker);

/* Frees all but the marks, which are the caller's. */
void marker_deinit(struct marker *marker);

#endif
