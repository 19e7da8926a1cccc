/*
 * blocks: recognizes objects by a small value that only they point to.
 *
 * Small values without pointers share blocks of 16 bytes: the name of one object and the counter of
 * another. So the holder of a block is weak evidence, but the holder of a value in it is good
 * evidence. There are many values, and most of them do not matter. So this first lists the values
 * that matter, and then examines all pointers to their blocks at once.
 */
#include <stdlib.h>

#include "base/scope.h"
#include "identity/match.h"

/* A value, and the object that may be recognized by it. */
struct claim {
    uint64_t value;
    uint32_t object;
    bool is_shared; /* others point to the value as well */
};

typedef VECTOR(struct claim) claim_vector;

struct blocks {
    struct matches *matches;
    claim_vector *found; /* by worker */
    claim_vector claims;
    struct map by_value; /* address → index in claims */
};

/* Returns whether an object is a block that small values without pointers share. */
static bool is_block(const struct matches *matches, uint32_t object)
{
    const struct slot_class *slot_class = heap_slot_class(matches->after->heap, object);
    return slot_class->size == TINY_BLOCK && !slot_class->has_pointers;
}

/* ---- which values matter ---- */

/* Lists the values in surviving blocks that a changed object still points to by the same words, and
 * marks the blocks. If nothing else points to such a value, the object survived with it. Returns
 * false if memory runs out. */
static bool list_values(struct matches *matches, uint32_t object, claim_vector *ret)
{
    const struct g2h_heap *heap = matches->after->heap;
    const uint32_t *end, *target = object_targets(matches->graph, object, &end);
    const struct g2h_bytes was = heap_contents(matches->before->heap, matches->partners[object]);
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        if (!in_heap_range(heap, value))
            continue;
        const uint32_t hit = *target++;
        if (hit == NO_TARGET || !is_block(matches, hit) ||
            match_state_of(matches, hit) != MATCH_SAME ||
            word_before(matches, was, offset) != value)
            continue;
        __atomic_fetch_or(&matches->states[hit], MATCH_ASKED, __ATOMIC_RELAXED);
        if (!vector_push(ret, ((struct claim){value, object, false})))
            return false;
    }
    return true;
}

/* Lists the values that matter for the changed objects of a task. */
static struct g2h_error *list_task(void *context, size_t task, unsigned worker)
{
    const struct blocks *blocks = context;
    struct matches *matches = blocks->matches;
    const uint32_t end = identity_task_end(matches->after->heap, task);
    for (uint32_t object = (uint32_t)(task * OBJECTS_PER_TASK); object < end; object++)
        if (match_state_of(matches, object) == MATCH_CHANGED)
            TRY_MEMORY(list_values(matches, object, &blocks->found[worker]));
    return NULL;
}

/* Merges the values of all threads; a value that several objects point to is shared, and no
 * evidence. Returns false if memory runs out. */
static bool blocks_gather(struct blocks *blocks)
{
    for (unsigned i = 0; i < blocks->matches->threads; i++)
        for (size_t j = 0; j < blocks->found[i].count; j++) {
            const struct claim *claim = &blocks->found[i].data[j];
            uint32_t number;
            if (!map_put(&blocks->by_value, claim->value, (uint32_t)blocks->claims.count, &number))
                return false;
            if (number < blocks->claims.count) {
                struct claim *known = &blocks->claims.data[number];
                known->is_shared = known->is_shared || known->object != claim->object;
            } else if (!vector_push(&blocks->claims, *claim)) {
                return false;
            }
        }
    return true;
}

/* ---- other pointers to them ---- */

/* Marks a listed value as shared if a pointer of another object than the listed one leads to it.
 * object: the pointer's holder; NO_TARGET: a root. */
static void note_pointer(struct blocks *blocks, uint64_t value, uint32_t object)
{
    const uint32_t number = map_get(&blocks->by_value, value);
    if (number != MAP_NONE && blocks->claims.data[number].object != object)
        __atomic_store_n(&blocks->claims.data[number].is_shared, true, __ATOMIC_RELAXED);
}

/* Returns whether an object is a block with listed values. */
static bool is_asked(const struct matches *matches, uint32_t object)
{
    return object != NO_TARGET &&
           (__atomic_load_n(&matches->states[object], __ATOMIC_RELAXED) & MATCH_ASKED) != 0;
}

/* Marks the listed values that the objects of a task point to as shared. Objects that point to no
 * such block are skipped without reading them. */
static struct g2h_error *note_pointers_task(void *context, size_t task, unsigned worker)
{
    struct blocks *blocks = context;
    const struct matches *matches = blocks->matches;
    const struct g2h_heap *heap = matches->after->heap;
    const uint32_t last = identity_task_end(matches->after->heap, task);
    struct pointers pointers;
    uint64_t offset, value;
    (void)worker;
    for (uint32_t object = (uint32_t)(task * OBJECTS_PER_TASK); object < last; object++) {
        const uint32_t *end, *target = object_targets(matches->graph, object, &end);
        while (target < end && !is_asked(matches, *target))
            target++;
        if (target == end)
            continue;
        pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
        while (pointers_next(&pointers, &offset, &value))
            note_pointer(blocks, value, object);
    }
    return NULL;
}

/* Notes the objects that a root refers to. */
static void note_root_pointers(void *context, struct pointers *pointers)
{
    uint64_t offset, value;
    while (pointers_next(pointers, &offset, &value))
        note_pointer(context, value, NO_TARGET);
}

/* ---- all of it ---- */

/* Lists the values, finds the shared ones, and marks the holders of all others as survivors. */
static struct g2h_error *blocks_find_all(struct blocks *blocks, object_vector *found)
{
    struct matches *matches = blocks->matches;
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), list_task, blocks));
    TRY_MEMORY(blocks_gather(blocks));
    if (blocks->claims.count == 0)
        return NULL;
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), note_pointers_task,
                    blocks));
    pointers_of_roots(matches->after->heap, note_root_pointers, blocks);
    for (size_t i = 0; i < blocks->claims.count; i++) {
        const struct claim *claim = &blocks->claims.data[i];
        if (!claim->is_shared && mark_same(matches, claim->object))
            TRY_MEMORY(vector_push(found, claim->object));
    }
    return NULL;
}

struct g2h_error *blocks_find(struct matches *matches, object_vector *found)
{
    _cleanup_free_ claim_vector *lists = calloc(matches->threads, sizeof(*lists));
    struct blocks blocks = {.matches = matches, .found = lists};
    TRY_MEMORY(lists);
    struct g2h_error *error = blocks_find_all(&blocks, found);
    for (unsigned i = 0; i < matches->threads; i++)
        free(lists[i].data);
    free(blocks.claims.data);
    map_deinit(&blocks.by_value);
    return error;
}
