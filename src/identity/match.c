/*
 * match: finds the survivors, the objects of a dump that were already in the previous dump.
 *
 * Only an object with the address, size and class of an object in the previous dump, its partner,
 * can be a survivor. Such a candidate
 *
 *     1. is a survivor if its contents are unchanged and significant: it points to an object, or is
 *        a string. So are the runtime's own objects that are never freed: goroutines and the like;
 *     2. is a survivor, whatever its contents are, if a word that was there still holds it: a word
 *        of a global variable, of a frame, or of a survivor. A string must have the same contents
 *        too, unless it shares a block with other small values. Arrays and maps that have moved as
 *        they grew are followed to their new address (moved.c);
 *     3. is a survivor if it held a survivor and still does, and no other object did or does: had
 *        it been freed, the survivor would have been freed with it. In a block of small values each
 *        value counts by itself (blocks.c);
 *     4. with unchanged but insignificant contents, a counter or a buffer of zeros, is a survivor
 *        if something that was there holds it now, or nothing holds it;
 *     5. is otherwise new.
 *
 * Steps 2 and 3 run to their end, breadth first; the result does not depend on the order or on
 * threads. Each object is expanded at most twice, so the cost is linear in pointers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/contract.h"
#include "base/scope.h"
#include "identity/match.h"

/* ---- candidates ---- */

/* Returns whether an object has the same bytes as its partner had, which has the same size: of
 * those that both dumps have, because one may lack a part that is in the other. */
static bool has_equal_contents(const struct matches *matches, uint32_t object, uint32_t partner)
{
    const struct g2h_bytes is = heap_contents(matches->after->heap, object),
                           was = heap_contents(matches->before->heap, partner);
    return memcmp(is.data, was.data, (size_t)(is.size < was.size ? is.size : was.size)) == 0;
}

/* Returns whether an object points to any object. */
static bool points_to_object(const struct matches *matches, uint32_t object)
{
    const uint32_t *end, *target = object_targets(matches->graph, object, &end);
    while (target < end && *target == NO_TARGET)
        target++;
    return target < end;
}

/* Returns whether a class is of runtime objects that are never freed. */
static bool match_is_kept(const struct matches *matches, uint32_t class)
{
    for (size_t i = 0; i < matches->kept_class_count; i++)
        if (matches->kept_classes[i] == class)
            return true;
    return false;
}

/* Returns the state of an object that follows from its own contents. */
static enum match match_contents(const struct matches *matches, uint32_t object, uint32_t partner)
{
    const uint32_t class = matches->after->classes[object];
    if (match_is_kept(matches, class))
        return MATCH_SAME;
    if (!has_equal_contents(matches, object, partner))
        return MATCH_CHANGED | MATCH_UNLIKE;
    return class == matches->text_class || points_to_object(matches, object) ? MATCH_SAME
                                                                             : MATCH_EQUAL;
}

/* Returns whether an object may be its partner, the object that was at its address, by size,
 * pointers and class. */
static bool is_candidate(const struct matches *matches, uint32_t object, uint32_t partner)
{
    const struct g2h_heap *before = matches->before->heap, *after = matches->after->heap;
    const struct slot_class *was = heap_slot_class(before, partner),
                            *is = heap_slot_class(after, object);
    return was->size == is->size && was->has_pointers == is->has_pointers &&
           matches->before->classes[partner] == matches->after->classes[object];
}

/* Finds the partners of a task's objects, and the states that follow from their contents. Both
 * dumps are sorted by address, so one pass over both finds all. */
static struct g2h_error *candidates_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    struct matches *matches = matching->matches;
    const struct g2h_heap *before = matches->before->heap, *after = matches->after->heap;
    const uint32_t end = identity_task_end(matches->after->heap, task),
                   first = (uint32_t)(task * OBJECTS_PER_TASK);
    uint32_t partner;
    (void)worker;
    BISECT(partner, before->object_count,
           heap_address(before, partner) < heap_address(after, first));
    for (uint32_t object = first; object < end; object++) {
        const uint64_t address = heap_address(after, object);
        while (partner < before->object_count && heap_address(before, partner) < address)
            partner++;
        if (partner == before->object_count)
            break;
        if (heap_address(before, partner) != address || !is_candidate(matches, object, partner))
            continue;
        matches->partners[object] = partner;
        matches->states[object] = (uint8_t)match_contents(matches, object, partner);
    }
    return NULL;
}

/* ---- holders ---- */

/* Marks the only holder of a survivor as one, if it was the only holder before too: had it been
 * freed, the survivor would have been freed with it. Returns false if memory runs out. */
static bool mark_only_holder(struct matches *matches, uint32_t object, object_vector *found)
{
    const uint32_t holder = matches->after->holders[object];
    assert((match_state_of(matches, object) & MATCH_STATES) == MATCH_SAME);
    if (holder == HOLDER_NONE || holder == HOLDER_MANY ||
        !match_is_open(match_state_of(matches, holder)) ||
        matches->before->holders[matches->partners[object]] != matches->partners[holder])
        return true;
    return !mark_same(matches, holder) || vector_push(found, holder);
}

/* Returns whether a word of a map has changed that pointed to a part of the map before. */
static bool has_moved(const struct matches *matches, uint32_t map)
{
    const struct g2h_heap *after = matches->after->heap, *before = matches->before->heap;
    const struct g2h_bytes is = heap_contents(after, map),
                           was = heap_contents(before, matches->partners[map]);
    const uint64_t word = after->params.pointer_size;
    for (uint64_t at = 0; at + word <= is.size && at + word <= was.size; at += word) {
        const uint64_t now = heap_word(after, is.data + at),
                       then = heap_word(before, was.data + at);
        const uint32_t old =
            now != then && in_heap_range(before, then) ? heap_find(before, then) : NO_TARGET;
        if (old != NO_TARGET && is_map_part(matches, matches->before->classes[old]))
            return true;
    }
    return false;
}

/* Follows the pointers of a survivor, and examines its holder. Skips survivors whose targets are
 * all decided already. Returns false if memory runs out. */
static bool expand(struct matches *matches, uint32_t object, object_vector *found,
                   move_vector *moves)
{
    const bool may_move =
        matches->is_map_part &&
        (__atomic_load_n(&matches->states[object], __ATOMIC_RELAXED) & MATCH_UNLIKE) != 0;
    const struct g2h_heap *heap = matches->after->heap;
    const uint32_t *end, *target = object_targets(matches->graph, object, &end), *any = target;
    struct pointers pointers;
    uint64_t offset, value;
    if (!mark_only_holder(matches, object, found))
        return false;
    /* Everything that a map leads to belongs to the map, and is handled together with it. */
    if (may_move && match_is_map(matches, object) && has_moved(matches, object))
        return vector_push(moves, ((struct move){matches->partners[object], object}));
    while (any < end && (*any == NO_TARGET || !match_is_open(match_state_of(matches, *any))))
        any++;
    if (any == end && !may_move)
        return true;
    const struct g2h_bytes was = heap_contents(matches->before->heap, matches->partners[object]);
    pointers_of(heap, object, heap_slot_class(heap, object), &pointers);
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        if (!in_heap_range(heap, value))
            continue;
        const uint32_t hit = *target++;
        const struct matched_word word = {word_before(matches, was, offset), value, hit};
        if (hit != NO_TARGET && !match_word(matches, &word, found, moves))
            return false;
    }
    return true;
}

/* Expands the survivors of a task: of the wave or, at first, of all objects. */
static struct g2h_error *expand_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    struct matches *matches = matching->matches;
    object_vector *found = &matching->found[worker];
    if (matching->wave) {
        const size_t first = task * OBJECTS_PER_TASK, count = matching->wave->count;
        for (size_t i = first; i < count && i < first + OBJECTS_PER_TASK; i++)
            TRY_MEMORY(expand(matches, matching->wave->data[i], found, &matching->moves[worker]));
        return NULL;
    }
    const uint32_t end = identity_task_end(matches->after->heap, task);
    for (uint32_t object = (uint32_t)(task * OBJECTS_PER_TASK); object < end; object++)
        if (match_state_of(matches, object) == MATCH_SAME)
            TRY_MEMORY(expand(matches, object, found, &matching->moves[worker]));
    return NULL;
}

/* ---- roots ---- */

/* A walk over the pointers of roots. It either finds objects that the same word held before, or
 * notes which objects roots hold. */
struct root_walk {
    struct matches *matches;
    object_vector *found; /* NULL: the walk sets MATCH_HELD and MATCH_HELD_BY_SURVIVOR */
    move_vector *moves;
};

/* Walks the pointers of a segment or frame, whose previous contents are was. was_there: it existed
 * in the previous dump. Returns false if memory runs out. */
static bool walk_root(const struct root_walk *walk, struct g2h_bytes is, struct g2h_fields fields,
                      struct g2h_bytes was, bool was_there)
{
    struct matches *matches = walk->matches;
    const struct g2h_heap *heap = matches->after->heap;
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_fields(heap, is, fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t hit = in_heap_range(heap, value) ? heap_find(heap, value) : NO_TARGET;
        if (hit == NO_TARGET)
            continue;
        const struct matched_word word = {word_before(matches, was, offset), value, hit};
        if (!walk->found)
            matches->states[hit] |= was_there ? MATCH_HELD_BY_SURVIVOR : MATCH_HELD;
        else if (was_there && !match_word(matches, &word, walk->found, walk->moves))
            return false;
    }
    return true;
}

/* Returns the contents of the segment of the previous dump that begins at an address, or no
 * bytes. */
static struct g2h_bytes segment_before(const struct g2h_heap *before, enum g2h_record_kind kind,
                                       uint64_t address)
{
    struct g2h_record record;
    for (size_t i = 0; i < g2h_heap_record_count(before, kind) && i < HEAP_SEGMENTS; i++) {
        g2h_heap_record(before, kind, i, &record);
        if (record.segment.address == address)
            return record.segment.contents;
    }
    return (struct g2h_bytes){NULL, 0};
}

/* Walks the pointers of data and bss. Returns false if memory runs out. */
static bool walk_segments(const struct root_walk *walk)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    const struct g2h_heap *heap = walk->matches->after->heap;
    struct g2h_record record;
    for (size_t i = 0; i < 2; i++) {
        const size_t count = g2h_heap_record_count(heap, kinds[i]);
        for (size_t j = 0; j < count && j < HEAP_SEGMENTS; j++) {
            g2h_heap_record(heap, kinds[i], j, &record);
            const struct g2h_bytes was =
                segment_before(walk->matches->before->heap, kinds[i], record.segment.address);
            if (!walk_root(walk, record.segment.contents, record.segment.fields, was, was.size > 0))
                return false;
        }
    }
    return true;
}

/* Returns the key of a frame. Frames are the same if they have the same goroutine, function and
 * stack pointer. */
static uint64_t frame_key(uint64_t goid, const struct heap_stack_frame *frame)
{
    return map_hash_pair(map_hash_pair(goid, frame->sp), frame->entry);
}

/* Maps the key of each frame to its index. Returns false if memory runs out. */
static bool list_frames(const struct g2h_heap *heap, struct map *ret)
{
    uint32_t number;
    for (size_t i = 0; i < heap->goroutines.count; i++) {
        const struct heap_goroutine *goroutine = &heap->goroutines.data[i];
        for (uint32_t j = 0; j < goroutine->frame_count; j++) {
            const uint32_t at = goroutine->first_frame + j;
            const struct heap_stack_frame frame = heap_frame(heap, at);
            if (!map_put(ret, frame_key(goroutine->record.goid, &frame), at, &number))
                return false;
        }
    }
    return true;
}

/* Walks the pointers of all frames; those that the previous dump has too are the same calls.
 * Returns false if memory runs out. */
static bool match_walk_frames(const struct root_walk *walk, const struct map *frames_before)
{
    const struct g2h_heap *heap = walk->matches->after->heap, *before = walk->matches->before->heap;
    for (size_t i = 0; i < heap->goroutines.count; i++) {
        const struct heap_goroutine *goroutine = &heap->goroutines.data[i];
        for (uint32_t j = 0; j < goroutine->frame_count; j++) {
            const struct heap_stack_frame frame = heap_frame(heap, goroutine->first_frame + j);
            const uint32_t at = map_get(frames_before, frame_key(goroutine->record.goid, &frame));
            struct heap_stack_frame was = {.sp = 0};
            if (at != MAP_NONE)
                was = heap_frame(before, at);
            if (!walk_root(walk, frame.contents, frame.fields, was.contents, at != MAP_NONE))
                return false;
        }
    }
    return true;
}

/* Marks the object at an address as a survivor. Returns false if memory runs out. */
static bool mark_root(struct matches *matches, uint64_t address, object_vector *found)
{
    const uint32_t object = heap_find(matches->after->heap, address);
    return object == NO_TARGET || !mark_same(matches, object) || vector_push(found, object);
}

/* Marks the objects that the runtime never frees, by the records that name them: without types they
 * have no class of their own. Returns false if memory runs out. */
static bool mark_runtime(struct matches *matches, object_vector *found)
{
    const struct g2h_heap *heap = matches->after->heap;
    struct g2h_record record;
    for (size_t i = 0; i < heap->goroutines.count; i++)
        if (!mark_root(matches, heap->goroutines.data[i].record.address, found))
            return false;
    for (size_t i = 0; i < g2h_heap_record_count(heap, G2H_RECORD_OSTHREAD); i++) {
        g2h_heap_record(heap, G2H_RECORD_OSTHREAD, i, &record);
        if (!mark_root(matches, record.osthread.m, found))
            return false;
    }
    return true;
}

/* ---- steps 2 and 3 ---- */

/* Expands the survivors that have been found, until there are no more. */
static struct g2h_error *expand_found(struct matching *matching)
{
    struct matches *matches = matching->matches;
    struct g2h_error *error = NULL;
    _cleanup_free_ uint32_t *data = NULL;
    while (!error) {
        object_vector wave = {0};
        for (unsigned i = 0; i < matches->threads; i++) {
            for (size_t j = 0; j < matching->found[i].count; j++)
                if (!vector_push(&wave, matching->found[i].data[j]))
                    error = &error_no_memory;
            matching->found[i].count = 0;
        }
        free(data);
        data = wave.data;
        if (wave.count == 0 || error)
            break;
        matching->wave = &wave;
        error = workers_run(wave.count < OBJECTS_PER_TASK ? 1 : matches->threads,
                            (wave.count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK, expand_task,
                            matching);
    }
    return error;
}

/* Follows the moves, and expands the survivors that this finds. */
static struct g2h_error *follow_moves(struct matching *matching)
{
    struct matches *matches = matching->matches;
    for (;;) {
        move_vector *all = &matching->moves[0];
        for (unsigned i = 1; i < matches->threads; i++) {
            for (size_t j = 0; j < matching->moves[i].count; j++)
                TRY_MEMORY(vector_push(all, matching->moves[i].data[j]));
            matching->moves[i].count = 0;
        }
        if (all->count == 0)
            return NULL;
        TRY(moves_follow(matches, all, &matching->found[0]));
        TRY(expand_found(matching));
    }
}

/* ---- step 4 ---- */

/* Notes for the undecided objects that an object points to whether a survivor holds them. */
static void note_held(struct matches *matches, uint32_t object)
{
    const uint32_t *end, *target = object_targets(matches->graph, object, &end);
    const uint8_t bit =
        match_state_of(matches, object) == MATCH_SAME ? MATCH_HELD_BY_SURVIVOR : MATCH_HELD;
    for (; target < end; target++)
        if (*target != NO_TARGET && *target != object &&
            match_state_of(matches, *target) == MATCH_EQUAL)
            __atomic_fetch_or(&matches->states[*target], bit, __ATOMIC_RELAXED);
}

/* Notes what the objects of a task hold, for step 4 (see above). */
static struct g2h_error *held_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    const uint32_t end = identity_task_end(matching->matches->after->heap, task);
    (void)worker;
    for (uint32_t object = (uint32_t)(task * OBJECTS_PER_TASK); object < end; object++)
        note_held(matching->matches, object);
    return NULL;
}

/* Decides the objects of a task that are still undecided, as step 4 says, and clears the bits that
 * were needed to find out. */
static struct g2h_error *decide_task(void *context, size_t task, unsigned worker)
{
    const struct matching *matching = context;
    const uint32_t end = identity_task_end(matching->matches->after->heap, task);
    for (uint32_t object = (uint32_t)(task * OBJECTS_PER_TASK); object < end; object++) {
        uint8_t *state = &matching->matches->states[object];
        if ((*state & MATCH_STATES) != MATCH_EQUAL) {
            *state &= MATCH_STATES;
            continue;
        }
        matching->undecided[worker]++;
        *state = (*state & MATCH_HELD_BY_SURVIVOR) != 0 || (*state & MATCH_HELD) == 0 ? MATCH_SAME
                                                                                      : MATCH_EQUAL;
    }
    return NULL;
}

/* ---- all of it ---- */

/* Runs the steps that the comment at the top of this file describes. Each one needs the results of
 * those before. */
static struct g2h_error *match_find_all(struct matching *matching, struct map *frames_before)
{
    struct matches *matches = matching->matches;
    const struct root_walk still = {matches, &matching->found[0], &matching->moves[0]},
                           holding = {matches, NULL, NULL};
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), candidates_task,
                    matching));
    TRY_MEMORY(list_frames(matches->before->heap, frames_before));
    TRY_MEMORY(mark_runtime(matches, &matching->found[0]) && walk_segments(&still) &&
               match_walk_frames(&still, frames_before));
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), expand_task, matching));
    TRY(expand_found(matching));
    TRY(follow_moves(matching));
    TRY(blocks_find(matches, &matching->found[0]));
    TRY(expand_found(matching));
    TRY(follow_moves(matching));
    TRY(workers_run(matches->threads, object_tasks(matches->after->heap), held_task, matching));
    (void)walk_segments(&holding);
    (void)match_walk_frames(&holding, frames_before);
    return workers_run(matches->threads, object_tasks(matches->after->heap), decide_task, matching);
}

/* Allocates what the steps share, runs them, and sums up how many objects were decided by step 4
 * only. */
struct g2h_error *matches_find(struct matches *matches)
{
    const size_t objects = matches->after->heap->object_count;
    _cleanup_(map_deinit) struct map frames_before = {0};
    _cleanup_free_ object_vector *found = calloc(matches->threads, sizeof(*found));
    _cleanup_free_ move_vector *moves = calloc(matches->threads, sizeof(*moves));
    _cleanup_free_ uint64_t *undecided = calloc(matches->threads, sizeof(*undecided));
    matches->partners = block_alloc(objects + 1, sizeof(*matches->partners));
    matches->states = zeroed_alloc(objects + 1, sizeof(*matches->states));
    TRY_MEMORY(found && moves && undecided && matches->partners && matches->states);
    struct matching matching = {
        .matches = matches, .found = found, .moves = moves, .undecided = undecided};
    struct g2h_error *error = match_find_all(&matching, &frames_before);
    for (unsigned i = 0; i < matches->threads; i++) {
        matches->undecided += undecided[i];
        free(found[i].data);
        free(moves[i].data);
    }
    return error;
}

void matches_deinit(struct matches *matches)
{
    free(matches->partners);
    free(matches->states);
    free(matches->seen_before);
    free(matches->seen_after);
}
