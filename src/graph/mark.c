/*
 * mark: marks what can be reached from some objects, on several threads; see mark.h.
 *
 * Each thread has its own stack. A thread whose stack is empty waits. A thread that has more than
 * enough objects checks now and then whether another thread waits, and passes on the older half of
 * its stack, from which most objects are reached. Marking ends when no thread has any objects.
 * Threads are counted as they arrive, because their number is not known in advance.
 */
#include "graph/mark.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/workers.h"

/* How many objects a thread visits before it looks again whether other threads wait; visiting them
 * takes about as long as waking a thread. */
enum { BETWEEN_LOOKS = 1024 };

/* The most objects that a thread passes on at a time while other threads wait for the lock. */
enum { MOST_GIVEN = 1 << 14 };

/*
 * Marks an object. Returns whether it was not marked before. Most objects were, so it reads the
 * mark first: a locked operation would wait for the memory, and for all other memory accesses under
 * way. A thread that is alone needs no locked operation.
 */
static inline bool set_mark(uint64_t *marks, uint32_t object, bool is_alone)
{
    const uint64_t bit = UINT64_C(1) << (object % 64);
    uint64_t *word = &marks[object / 64];
    const uint64_t known = __atomic_load_n(word, __ATOMIC_RELAXED);
    if ((known & bit) != 0)
        return false;
    if (!is_alone)
        return (__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) == 0;
    *word = known | bit;
    return true;
}

/*
 * Records that owner holds an object. Returns whether the object's owner has changed. If so, the
 * object is visited again, at most twice: after one owner it has OWNER_SEVERAL, which does not
 * change any more. *ret_known is the owner known before. If is_alone, no other thread changes
 * owners.
 */
static inline bool set_owner(owner_number *owners, uint32_t object, owner_number owner,
                             bool is_alone, owner_number *ret_known)
{
    owner_number *at = &owners[object], *known = ret_known;
    *known = __atomic_load_n(at, __ATOMIC_RELAXED);
    for (;;) {
        const owner_number merged = owner_merge(*known, owner);
        if (merged == *known)
            return false;
        if (is_alone) {
            *at = merged;
            return true;
        }
        if (__atomic_compare_exchange_n(at, known, merged, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
    }
}

/* Sets the bit of an owner that holds an object which another owner holds, too. */
static void set_met_bit(const struct marker *marker, owner_number owner)
{
    uint64_t *word = &marker->met[owner / 64];
    uint64_t bit = UINT64_C(1) << (owner % 64);
    if (owner >= OWNER_FIRST && (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

/* Records that owner holds an object; known is the object's owner so far. If known is fixed, it
 * records a crossing, else it sets the bits of both owners. Returns false if memory runs out. */
static inline bool note_holder(struct marker *marker, owner_number known, owner_number owner)
{
    if (known == OWNER_NONE || known == owner)
        return true;
    if (known > OWNER_FIXED)
        return crossings_look(&marker->crossings, owner, known);
    set_met_bit(marker, known);
    set_met_bit(marker, owner);
    return true;
}

/* Marks in marks, or, with owners, with the current owner. With met, notes also that an object
 * which another owner has is met by this one. Returns false if memory runs out. */
bool marker_push(struct marker *marker, uint32_t object)
{
    assert(marker->owners ? marker->owner != OWNER_NONE : marker->marks != NULL);
    assert(!marker->met || (marker->owners && marker->tiers));
    const bool is_alone = true; /* objects are pushed between walks, not by the threads of one */
    owner_number known = OWNER_NONE;
    const bool is_new = marker->owners
                            ? set_owner(marker->owners, object, marker->owner, is_alone, &known)
                            : set_mark(marker->marks, object, is_alone);
    return (!marker->met || note_holder(marker, known, marker->owner)) &&
           (!is_new || vector_push(&marker->stack.objects, object));
}

/* Returns whether a marker has no object left to visit. */
static bool is_drained(const struct marker *marker)
{
    return marker->queue_count == 0 && marker->stack.objects.count == 0;
}

/* Prefetches the index of an object's first target. */
static inline void prefetch_start(const struct target_block *blocks, uint32_t object)
{
    __builtin_prefetch(&blocks[object >> BLOCK_SHIFT].starts[object & (BLOCK_OBJECTS - 1)]);
}

/* Prefetches an object's first targets; the index of these must be in the cache
 * (prefetch_start()). */
static inline void mark_prefetch_targets(const struct target_block *blocks, uint32_t object)
{
    const struct target_block *block = &blocks[object >> BLOCK_SHIFT];
    __builtin_prefetch(&block->targets[block->starts[object & (BLOCK_OBJECTS - 1)]]);
}

/*
 * Returns the next object to visit. Objects pass from the stack through a short queue, so that the
 * memory of each has been prefetched when its turn comes; when an object is half way through the
 * queue, it is known where its targets are.
 */
static inline uint32_t mark_next_object(struct marker *marker)
{
    const struct target_block *blocks = marker->targets->blocks;
    const unsigned begin = marker->queue_begin;
    while (marker->queue_count < MARK_QUEUE && marker->stack.objects.count > 0) {
        const uint32_t object = marker->stack.objects.data[--marker->stack.objects.count];
        marker->queue[(begin + marker->queue_count++) % MARK_QUEUE] = object;
        prefetch_start(blocks, object);
    }
    if (marker->queue_count > MARK_QUEUE / 2)
        mark_prefetch_targets(blocks, marker->queue[(begin + MARK_QUEUE / 2) % MARK_QUEUE]);
    marker->queue_begin = (begin + 1) % MARK_QUEUE;
    marker->queue_count--;
    return marker->queue[begin];
}

/* What a walk finds for each object: a mark (a bit), its owner, or its owner and where two owners
 * meet; for the last only targets that an object holds across tiers count. */
enum wanted { WANTED_MARKS, WANTED_OWNERS, WANTED_MEETINGS };

/* Returns what a marker looks for: see struct marker. */
static inline enum wanted wanted(const struct marker *marker)
{
    if (marker->met)
        return WANTED_MEETINGS;
    return marker->owners ? WANTED_OWNERS : WANTED_MARKS;
}

/* Returns whether a walk follows a pointer of an object, the source, to a target. only: the
 * waiters, if the source is one, since it marks other waiters only; else NULL. */
static inline bool is_followed(const struct marker *marker, struct tier_source source,
                               const uint64_t *only, uint32_t target, enum wanted wanted)
{
    return target != NO_TARGET && (!only || tiers_waits(only, target)) &&
           (wanted != WANTED_MEETINGS || tiers_hold(marker->tiers, source, target));
}

/* Marks the targets of an object, and pushes those that were not marked before and have targets of
 * their own. is_alone: no other thread marks now. A newly marked target is always written to the
 * stack's end, which moves only if the target leads on: a test would often be mispredicted. Returns
 * false if memory runs out. */
static inline bool mark_targets(struct marker *marker, uint32_t object, bool is_alone,
                                enum wanted wanted)
{
    owner_number *owners = marker->owners, known = OWNER_NONE;
    const owner_number owner =
        owners ? __atomic_load_n(&owners[object], __ATOMIC_RELAXED) & ~OWNER_FIXED : OWNER_NONE;
    const uint64_t *only = tiers_waits(marker->waiters, object) ? marker->waiters : NULL;
    const struct tier_source source = wanted == WANTED_MEETINGS
                                          ? tiers_source(marker->tiers, object)
                                          : (struct tier_source){TIER_GARBAGE, false};
    const uint32_t *end;
    const uint32_t *target = targets_of(marker->targets, object, &end);
    const size_t count = as_size(end - target);
    if (!vector_grow(&marker->stack.objects, count))
        return false;
    uint32_t *next = &marker->stack.objects.data[marker->stack.objects.count];
    const uint32_t *begin = next;
    for (; target < end; target++) {
        if (!is_followed(marker, source, only, *target, wanted))
            continue;
        const bool is_new = wanted == WANTED_MARKS
                                ? set_mark(marker->marks, *target, is_alone)
                                : set_owner(owners, *target, owner, is_alone, &known);
        if (is_new) {
            *next = *target;
            next += targets_lead(marker->targets, *target);
        }
        if (wanted == WANTED_MEETINGS && !note_holder(marker, known, owner))
            return false;
    }
    marker->stack.objects.count += as_size(next - begin);
    return true;
}

/* Visits at most `most` objects. is_alone: no other thread marks, so that no locked operation is
 * needed. Returns false if memory runs out. */
static inline __attribute__((always_inline)) bool visit_all(struct marker *marker, size_t most,
                                                            bool is_alone, enum wanted wanted)
{
    for (; most > 0 && !is_drained(marker); most--)
        if (!mark_targets(marker, mark_next_object(marker), is_alone, wanted))
            return false;
    return true;
}

/* Calls visit_all() with constants, so that the compiler makes a loop for each case. Returns false
 * if memory runs out. is_alone: no other thread marks. */
static inline bool mark_visit(struct marker *marker, size_t most, bool is_alone)
{
    /* Constants let the compiler make one loop for each, without these tests. */
    switch (wanted(marker)) {
    case WANTED_MEETINGS:
        return visit_all(marker, most, is_alone, WANTED_MEETINGS);
    case WANTED_OWNERS:
        return visit_all(marker, most, is_alone, WANTED_OWNERS);
    default:
        return visit_all(marker, most, is_alone, WANTED_MARKS);
    }
}

/* ---- several threads ---- */

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct marker *first;     /* the marker that began alone */
    struct mark_stack *given; /* given_count stacks for waiting threads, at most one per thread */
    unsigned given_count;
    unsigned active;  /* threads that have objects to visit */
    unsigned waiting; /* threads that have none */
    bool failed;
    bool is_wanted; /* more threads wait than stacks are given, or all must end; read without the
                       lock */
};

/* Updates is_wanted after a change. The caller has the lock. */
static void mark_update(struct pool *pool)
{
    const bool is_wanted = pool->failed || pool->waiting > pool->given_count;
    __atomic_store_n(&pool->is_wanted, is_wanted, __ATOMIC_RELAXED);
}

/* Waits for a stack, which replaces the thread's empty one. Returns false at the end, or if a
 * thread has failed. */
static bool mark_take(struct pool *pool, struct mark_stack *stack)
{
    pthread_mutex_lock(&pool->lock);
    pool->waiting++;
    mark_update(pool);
    while (!pool->failed && pool->given_count == 0 && pool->active > 0)
        pthread_cond_wait(&pool->change, &pool->lock);
    const bool more = !pool->failed && pool->given_count > 0;
    pool->waiting--;
    if (more) {
        free(stack->objects.data);
        *stack = pool->given[--pool->given_count];
        pool->active++;
    }
    mark_update(pool);
    pthread_mutex_unlock(&pool->lock);
    return more;
}

/* Ends what mark_take() began: the thread has no objects left, or has failed. */
static void mark_finish(struct pool *pool, bool failed)
{
    pthread_mutex_lock(&pool->lock);
    pool->active--;
    pool->failed = pool->failed || failed;
    mark_update(pool);
    if (pool->active == 0 || pool->failed)
        pthread_cond_broadcast(&pool->change);
    pthread_mutex_unlock(&pool->lock);
}

/* Moves the older half of a stack, or a part of that half, to ret; as many of the newest objects
 * take its place. Returns false if memory runs out. */
static bool split_stack(struct mark_stack *stack, struct mark_stack *ret)
{
    assert(stack->objects.count > 1);
    const size_t half = stack->objects.count / 2;
    const size_t count = MIN(half, MOST_GIVEN);
    uint32_t *data = malloc(count * sizeof(*data));
    if (!data)
        return false;
    memcpy(data, stack->objects.data, count * sizeof(*data));
    stack->objects.count -= count;
    memcpy(stack->objects.data, stack->objects.data + stack->objects.count, count * sizeof(*data));
    ret->objects.data = data;
    ret->objects.count = ret->objects.capacity = count;
    return true;
}

/* Moves a part of a stack to a waiting thread, if there is one. Returns false after an error. */
static bool give_part(struct pool *pool, struct mark_stack *stack)
{
    pthread_mutex_lock(&pool->lock);
    bool good = !pool->failed;
    if (good && pool->waiting > pool->given_count && stack->objects.count > 1) {
        good = split_stack(stack, &pool->given[pool->given_count]);
        pool->given_count += good;
        mark_update(pool);
        pthread_cond_signal(&pool->change);
    }
    pthread_mutex_unlock(&pool->lock);
    return good;
}

/* One thread's part: visits the objects of stacks as long as there are any. When another thread
 * waits for work, gives it a part of its own. */
static struct g2h_error *drain_shared(void *context, size_t task, unsigned worker)
{
    struct pool *pool = context;
    struct marker marker = {.targets = pool->first->targets,
                            .waiters = pool->first->waiters,
                            .tiers = pool->first->tiers,
                            .marks = pool->first->marks,
                            .owners = pool->first->owners,
                            .met = pool->first->met};
    bool good = true;
    (void)task;
    (void)worker;
    while (good && mark_take(pool, &marker.stack)) {
        while (good && !is_drained(&marker)) {
            good = mark_visit(&marker, BETWEEN_LOOKS, false);
            if (good && __atomic_load_n(&pool->is_wanted, __ATOMIC_RELAXED))
                good = give_part(pool, &marker.stack);
        }
        mark_finish(pool, !good);
    }
    pthread_mutex_lock(&pool->lock);
    good = good && crossings_move(&marker.crossings, &pool->first->crossings);
    pthread_mutex_unlock(&pool->lock);
    marker_deinit(&marker);
    return good ? NULL : &error_no_memory;
}

/* Continues with all threads the work of a marker that has been alone so far. */
static struct g2h_error *drain_together(struct marker *marker)
{
    struct pool pool = {.first = marker, .given_count = 1};
    while (marker->queue_count > 0)
        if (!vector_push(&marker->stack.objects,
                         marker->queue[(marker->queue_begin + --marker->queue_count) % MARK_QUEUE]))
            return &error_no_memory;
    pool.given = calloc(marker->threads, sizeof(*pool.given));
    if (!pool.given)
        return &error_no_memory;
    pool.given[0] = marker->stack;
    marker->stack = (struct mark_stack){0};
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.change, NULL);
    struct g2h_error *error = workers_run(marker->threads, marker->threads, drain_shared, &pool);
    pthread_cond_destroy(&pool.change);
    pthread_mutex_destroy(&pool.lock);
    for (unsigned i = 0; i < pool.given_count; i++) /* after an error */
        free(pool.given[i].objects.data);
    free(pool.given);
    return error;
}

/* Visits some objects alone first: other threads start only if there are more than MARK_ALONE. */
struct g2h_error *marker_drain(struct marker *marker)
{
    assert(marker->threads > 0);
    if (!mark_visit(marker, marker->threads > 1 ? MARK_ALONE : SIZE_MAX, true))
        return &error_no_memory;
    struct g2h_error *error = is_drained(marker) ? NULL : drain_together(marker);
    assert(error || is_drained(marker));
    return error;
}

void marker_deinit(struct marker *marker)
{
    free(marker->stack.objects.data);
    crossings_deinit(&marker->crossings);
    marker->stack = (struct mark_stack){0};
}
