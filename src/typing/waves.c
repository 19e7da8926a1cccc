/*
 * waves: follows claims on several threads, with a result that does not depend on the threads.
 *
 * New claims are followed in waves, and a wave in rounds, each on all threads. A round does at once
 * the work whose result is the same in any order: the first claim on an object's start, references
 * that repeat it, and references that add nothing to what was known before the round. All other
 * references wait until the round is over: those to parts of objects, those that make other claims
 * on a start, and those that read the fields of a large object, since parts and such reads are
 * limited in number. Then they are proposed object by object, sorted, by one thread for each shard.
 * The first claim of the round is proposed again with them: it is withdrawn if references to its
 * object have waited.
 *
 * A wave of few items is not worth a second thread: one thread follows it, without rounds.
 *
 * A claim is a candidate for an object's type; to follow it is to propose types for what its
 * pointers lead to. An item is a claim that is to be followed, a shard the objects whose waiting
 * references one thread proposes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "typing/typer.h"

/* The most items of a task; the number of tasks of a round that has too few items for tasks of that
 * size; and the number of items below which one thread follows a wave. */
enum { ITEMS_PER_TASK = 1 << 8, TASKS_OF_ROUND = 64, ALONE = 8 * ITEMS_PER_TASK };

/* The most bytes of values that a round follows, since a reference may have to wait for each of
 * their words: ROUND_BYTES plus 1/ROUND_PART of the dump's size. */
enum { ROUND_BYTES = 1 << 24, ROUND_PART = 16 };

/* If fewer references than this wait, one thread proposes them. */
enum { WAITING_ALONE = 1 << 10 };

/* Makes a typer for each thread. */
struct g2h_error *waves_init(struct waves *waves, struct typing *typing)
{
    *waves = (struct waves){.typing = typing};
    waves->typers = calloc(typing->threads, sizeof(*waves->typers));
    if (!waves->typers)
        return &error_no_memory;
    for (unsigned i = 0; i < typing->threads; i++)
        waves->typers[i].typing = typing;
    return NULL;
}

void waves_deinit(struct waves *waves)
{
    for (unsigned i = 0; waves->typers && i < waves->typing->threads; i++) {
        struct typer *typer = &waves->typers[i];
        free(typer->items.data);
        free(typer->fresh.data);
        for (size_t j = 0; j < SHARDS; j++)
            free(typer->waiting[j].data);
        free(typer->outside.data);
        map_deinit(&typer->outside_known);
    }
    free(waves->typers);
    free(waves->wave.data);
}

/* ---- waiting references ---- */

/* Compares waiting references to the same offset of the same object by the order in which they are
 * proposed. */
static int compare_details(const struct typing *typing, const struct typer_waiting *one,
                           const struct typer_waiting *other)
{
    const uint64_t size = typer_type_of(typing, one->type)->size,
                   other_size = typer_type_of(typing, other->type)->size;
    if (size != other_size)
        return COMPARE(other_size, size); /* the outer type: it contains the others */
    if (one->type != other->type)
        return COMPARE(one->type, other->type);
    if (one->is_array !=
        other->is_array) /* it contains the single value, as more values do fewer */
        return one->is_array ? -1 : 1;
    if (one->is_claim != other->is_claim)
        return one->is_claim ? -1 : 1;
    if (one->count != other->count)
        return COMPARE(other->count, one->count);
    return COMPARE(one->source, other->source);
}

/* Returns whether one waiting reference is proposed before the other: by object, offset and
 * compare_details(). */
static inline bool is_earlier(const struct typing *typing, const struct typer_waiting *one,
                              const struct typer_waiting *other)
{
    if (one->object != other->object)
        return one->object < other->object;
    if (one->offset != other->offset)
        return one->offset < other->offset;
    return compare_details(typing, one, other) < 0;
}

typedef VECTOR(struct typer_waiting) waiting_vector;

/* Withdraws the claim on an object's start that was made in this round, and adds it to the
 * references that have waited, so that it gets no precedence over them. Returns false if memory
 * runs out. */
static bool withdraw_fresh_claim(struct typing *typing, uint32_t object, waiting_vector *all)
{
    uint32_t *claim = &typing->claims[object];
    if ((*claim & CLAIM_FRESH) == 0)
        return true;
    const struct typer_waiting waiting = {
        .offset = heap_object_base(typing->heap, object),
        .object = object,
        .type = ((*claim & CLAIM_TYPE) - 1) & CLAIM_TYPE,
        .source = (*claim & CLAIM_SOURCE) >> CLAIM_SOURCE_SHIFT & 7,
        .is_array = (*claim & CLAIM_ARRAY) != 0,
        .is_claim = true,
        .is_exact = (*claim & CLAIM_EXACT) != 0,
    };
    *claim = 0;
    return vector_push(all, waiting);
}

/* Runs of this length are sorted by insertion, then merged. */
enum { RUN = 8 };

/* Sorts a few references by insertion. */
static void sort_run(const struct typing *typing, struct typer_waiting *run, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct typer_waiting waiting = run[i];
        size_t at = i;
        for (; at > 0 && is_earlier(typing, &waiting, &run[at - 1]); at--)
            run[at] = run[at - 1];
        run[at] = waiting;
    }
}

/* Sorts references by merging runs, from scratch to data and back. Nearly all lists are short, and
 * partly sorted. */
static void sort_merging(const struct typing *typing, struct typer_waiting *data,
                         struct typer_waiting *scratch, size_t count)
{
    struct typer_waiting *from = data;
    struct typer_waiting *to = scratch;
    for (size_t i = 0; i < count; i += RUN)
        sort_run(typing, from + i, MIN(count - i, RUN));
    for (size_t size = RUN; size < count; size *= 2) {
        for (size_t i = 0; i < count; i += 2 * size) {
            size_t one = i;
            size_t other = MIN(i + size, count);
            size_t at = i;
            const size_t middle = other;
            const size_t end = count - other < size ? count : other + size;
            while (one < middle && other < end)
                to[at++] =
                    is_earlier(typing, &from[other], &from[one]) ? from[other++] : from[one++];
            memcpy(to + at, from + one, (middle - one) * sizeof(*to));
            memcpy(to + at + (middle - one), from + other, (end - other) * sizeof(*to));
        }
        struct typer_waiting *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != data)
        memcpy(data, from, count * sizeof(*data));
}

/* MANY or more references are first sorted by object and offset, DIGIT bits at a time, as items
 * are. */
enum { MANY = 1 << 12, DIGIT = 11, BUCKETS = 1 << DIGIT };

/* Returns a part of the sort key: the offset (part 0), which is sorted first, or the object. */
static inline uint64_t key_part(const struct typer_waiting *waiting, unsigned part)
{
    return part == 0 ? waiting->offset : waiting->object;
}

/* Sorts references by object and then offset: a radix sort, DIGIT bits at a time, from the lowest
 * digit on. */
static void sort_by_offset_and_object(struct typer_waiting *data, struct typer_waiting *scratch,
                                      size_t count)
{
    struct typer_waiting *from = data;
    struct typer_waiting *to = scratch;
    for (unsigned part = 0; part < 2; part++) {
        /* some ^ all has the bits in which the keys differ; the other digits need no pass. */
        uint64_t some = 0, all = UINT64_MAX;
        for (size_t i = 0; i < count; i++) {
            some |= key_part(&from[i], part);
            all &= key_part(&from[i], part);
        }
        for (unsigned shift = 0; shift < 64 && (some ^ all) >> shift != 0; shift += DIGIT) {
            size_t starts[BUCKETS + 1] = {0};
            if (((some ^ all) >> shift & (BUCKETS - 1)) == 0)
                continue; /* all have the same digit here */
            for (size_t i = 0; i < count; i++)
                starts[(key_part(&from[i], part) >> shift & (BUCKETS - 1)) + 1]++;
            for (size_t i = 0; i < BUCKETS; i++)
                starts[i + 1] += starts[i];
            for (size_t i = 0; i < count; i++)
                to[starts[key_part(&from[i], part) >> shift & (BUCKETS - 1)]++] = from[i];
            struct typer_waiting *sorted = to;
            to = from;
            from = sorted;
        }
    }
    if (from != data)
        memcpy(data, from, count * sizeof(*data));
}

/* Sorts waiting references into the order in which they are proposed, by the fastest method for
 * their number. Returns false if memory runs out. */
static bool sort_waiting(const struct typing *typing, waiting_vector *all)
{
    struct typer_waiting *scratch;
    struct typer_waiting *data = all->data;
    size_t end;
    if (all->count <= RUN) {
        sort_run(typing, data, all->count);
        return true;
    }
    scratch = block_alloc(all->count, sizeof(*scratch));
    if (!scratch)
        return false;
    if (all->count < MANY) {
        sort_merging(typing, data, scratch, all->count);
    } else {
        sort_by_offset_and_object(data, scratch, all->count);
        for (size_t i = 0; i < all->count; i = end) {
            end = i + 1;
            while (end < all->count && data[end].object == data[i].object &&
                   data[end].offset == data[i].offset)
                end++;
            sort_merging(typing, data + i, scratch, end - i);
        }
    }
    free(scratch);
    return true;
}

/* Gathers the references that wait for the objects of a shard, with the claims on these objects
 * that were made in this round, and sorts them all. Returns false if memory runs out. */
static bool waves_gather(struct waves *waves, size_t shard, waiting_vector *all)
{
    for (unsigned i = 0; i < waves->typing->threads; i++) {
        struct typer *typer = &waves->typers[i];
        VECTOR_EACH(const struct typer_waiting, waiting, typer->waiting[shard])
            if (!vector_push(all, *waiting) ||
                !withdraw_fresh_claim(waves->typing, waiting->object, all))
                return false;
        typer->waiting[shard].count = 0;
    }
    return sort_waiting(waves->typing, all);
}

/* Proposes the references that wait for the objects of a shard, in an order that does not depend on
 * the threads. No other thread has these objects. */
static struct g2h_error *settle_shard(void *context, size_t task, unsigned worker)
{
    struct waves *waves = context;
    struct typer *typer = &waves->typers[worker];
    waiting_vector all = {0};
    if (!waves_gather(waves, task, &all))
        typer->no_memory = true;
    for (size_t i = 0; i < all.count && !typer->no_memory; i++) {
        const struct typer_waiting *waiting = &all.data[i];
        if (i + OBJECTS_AHEAD < all.count)
            typer_prefetch_target(waves->typing, REFERENCE_VALUE,
                                  all.data[i + OBJECTS_AHEAD].object);
        const struct reference reference = {.count = waiting->count,
                                            .type = waiting->type,
                                            .target = waiting->object,
                                            .source = waiting->source,
                                            .form = waiting->is_array ? REFERENCE_ARRAY
                                                                      : REFERENCE_VALUE};
        if (waiting->is_claim) {
            typer_claim_again(typer, waiting);
            /* In another order a claim with pointers may have been first, and would have added this
             * item. */
            if (!vector_push(&typer->items, ((struct item){waiting->object, ITEM_START})))
                typer->no_memory = true;
        } else
            typer_propose(typer, waiting->object, waiting->offset, &reference);
    }
    free(all.data);
    return typer->no_memory ? &error_no_memory : NULL;
}

/* Clears CLAIM_FRESH of a thread's claims without pointers to follow. Other claims stay fresh until
 * they are followed. */
static void forget_fresh(struct waves *waves, struct typer *typer)
{
    VECTOR_EACH(const uint32_t, object, typer->fresh)
        waves->typing->claims[*object] &= ~CLAIM_FRESH;
    typer->fresh.count = 0;
}

/* Moves a thread's new claims to the first thread's list, which waves_follow() follows. Returns
 * false if memory runs out. */
static bool take_items(struct waves *waves, struct typer *typer)
{
    item_vector *items = &waves->typers[0].items;
    if (!vector_grow(items, typer->items.count))
        return false;
    VECTOR_EACH(const struct item, item, typer->items)
        items->data[items->count++] = *item;
    typer->items.count = 0;
    return true;
}

/* Ends a round: proposes the references that have waited, one thread per shard, and gathers the new
 * claims of all threads. Few references are left to one thread. */
static struct g2h_error *waves_settle(struct waves *waves)
{
    const unsigned threads = waves->typing->threads;
    size_t waiting = 0;
    for (unsigned i = 0; i < threads; i++)
        for (size_t j = 0; j < SHARDS; j++)
            waiting += waves->typers[i].waiting[j].count;
    struct g2h_error *error = NULL;
    if (waiting > 0)
        error = workers_run(waiting < WAITING_ALONE ? 1 : threads, SHARDS, settle_shard, waves);
    for (unsigned i = 0; i < threads && !error; i++) {
        forget_fresh(waves, &waves->typers[i]);
        if (i > 0 && !take_items(waves, &waves->typers[i]))
            error = &error_no_memory;
    }
    return error;
}

/* Runs tasks on all threads, then settles what had to wait. While `shared` is set, claims are
 * marked as fresh and references whose order matters are deferred. */
static struct g2h_error *run_round(struct waves *waves, size_t tasks, workers_task *run,
                                   void *context)
{
    const unsigned threads = waves->typing->threads;
    for (unsigned i = 0; i < threads; i++)
        waves->typers[i].shared = CLAIM_FRESH;
    struct g2h_error *error = workers_run(threads, tasks, run, context);
    for (unsigned i = 0; i < threads; i++)
        waves->typers[i].shared = 0;
    return error ? error : waves_settle(waves);
}

/* Runs tasks that propose types. Claims are marked as fresh while the tasks run (CLAIM_FRESH), so
 * that no task relies on another's; that ends here. */
struct g2h_error *waves_run(struct waves *waves, size_t tasks, workers_task *run, void *context)
{
    const item_vector *items = &waves->typers[0].items;
    struct g2h_error *error = run_round(waves, tasks, run, context);
    VECTOR_EACH(const struct item, item, *items)
        waves->typing->claims[item->object] &= ~CLAIM_FRESH;
    return error;
}

/* ---- rounds ---- */

struct round {
    struct waves *waves;
    size_t first, end; /* items of the wave */
    size_t per_task;
};

/* Prefetches the memory of items that follow item i: of the object FAR items ahead the entry in
 * heap->objects, of that NEAR items ahead the record, whose offset is in the entry. */
static void prefetch_item(const struct waves *waves, size_t i)
{
    const struct g2h_heap *heap = waves->typing->heap;
    enum { FAR = 16, NEAR = 8 };
    if (i + FAR >= waves->wave.count)
        return;
    __builtin_prefetch(&heap->objects[waves->wave.data[i + FAR].object]);
    const uint8_t *record =
        heap->input->data + heap_offset(heap, waves->wave.data[i + NEAR].object);
    __builtin_prefetch(record);
    __builtin_prefetch(record + 64);
}

/* Follows a task's items of the round. */
static struct g2h_error *follow_task(void *context, size_t task, unsigned worker)
{
    const struct round *round = context;
    struct waves *waves = round->waves;
    struct typer *typer = &waves->typers[worker];
    const size_t first = round->first + task * round->per_task;
    for (size_t i = first; i < round->end && i < first + round->per_task; i++) {
        prefetch_item(waves, i);
        typer_follow_item(typer, &waves->wave.data[i]);
    }
    typer_flush(typer);
    return typer->no_memory ? &error_no_memory : NULL;
}

/* Returns the number of bytes of an item's values. */
static uint64_t item_bytes(const struct typing *typing, const struct item *item)
{
    const uint64_t size = heap_object_size(typing->heap, item->object);
    if (item->part == ITEM_START)
        return size;
    const struct shard *shard = &typing->shards[shard_number(item->object)];
    const struct typed_part *part = &shard->parts.data[item->part];
    const uint64_t value = typer_type_of(typing, part->type)->size,
                   count = !part->is_array ? 1 : part->count;
    return count == 0 || value > size / count ? size : count * value;
}

/* Follows an item on one thread. Its references are proposed one after the other, and none of them
 * waits. */
static struct g2h_error *follow_alone(struct typer *alone, const struct item *item)
{
    typer_follow_item(alone, item);
    typer_flush(alone);
    return alone->no_memory ? &error_no_memory : NULL;
}

/* Follows a wave. Its rounds are limited in size, so that there is memory for the references that
 * wait; an item that is larger than a round is followed alone. */
static struct g2h_error *follow_wave(struct waves *waves)
{
    const uint64_t most = ROUND_BYTES + waves->typing->heap->input->size / ROUND_PART;
    const item_vector *wave = &waves->wave;
    struct round round = {.waves = waves};
    struct g2h_error *error = NULL;
    while (round.first < wave->count && !error) {
        uint64_t bytes = item_bytes(waves->typing, &wave->data[round.first]);
        for (round.end = round.first + 1; round.end < wave->count; round.end++) {
            bytes += item_bytes(waves->typing, &wave->data[round.end]);
            if (bytes > most)
                break;
        }
        const size_t items = round.end - round.first;
        round.per_task = items / TASKS_OF_ROUND + 1;
        if (round.per_task > ITEMS_PER_TASK)
            round.per_task = ITEMS_PER_TASK;
        if (items == 1)
            error = follow_alone(&waves->typers[0], &wave->data[round.first]);
        else
            error = run_round(waves, (items + round.per_task - 1) / round.per_task, follow_task,
                              &round);
        round.first = round.end;
    }
    return error;
}

/* ---- waves ---- */

/* Returns whether an item comes before another item of the same object. The claim on the start
 * comes first: its part is ITEM_START, which becomes 0 when 1 is added. */
static bool waves_is_before(const struct item *one, const struct item *other)
{
    return one->part + 1 < other->part + 1;
}

/* Inserts an item among the last items, which are of the same object, in order. Returns false if
 * the item is there already. */
static bool insert_item(struct item *data, size_t count, struct item item)
{
    size_t at = count;
    while (at > 0 && data[at - 1].object == item.object && waves_is_before(&item, &data[at - 1]))
        at--;
    if (at > 0 && data[at - 1].object == item.object && data[at - 1].part == item.part)
        return false;
    memmove(&data[at + 1], &data[at], (count - at) * sizeof(*data));
    data[at] = item;
    return true;
}

/* Sorts the items of each object, and drops duplicates. The items of an object are few, or sorted,
 * and rarely equal. Clears CLAIM_FRESH of the claims, which are about to be followed. */
static void waves_order_parts(struct typing *typing, item_vector *items)
{
    struct item *data = items->data;
    uint32_t *claims = typing->claims;
    size_t kept = 0;
    for (const struct item *item = data, *end = data + items->count; item < end; item++) {
        claims[item->object] &= ~CLAIM_FRESH;
        if (kept == 0 || data[kept - 1].object != item->object)
            data[kept++] = *item;
        else
            kept += insert_item(data, kept, *item);
    }
    items->count = kept;
}

/* Sorts a few items by object, by insertion. */
static void sort_few(const item_vector *items)
{
    for (size_t i = 1; i < items->count; i++) {
        const struct item item = items->data[i];
        size_t at = i;
        for (; at > 0 && items->data[at - 1].object > item.object; at--)
            items->data[at] = items->data[at - 1];
        items->data[at] = item;
    }
}

/* Sorts items by object, so that the dump is read, and its targets are looked up, in the order of
 * addresses rather than at random. This is a radix sort, 11 bits at a time. Returns false if memory
 * runs out. */
static bool sort_items(struct typing *typing, item_vector *items, item_vector *scratch)
{
    enum { DIGITS = 3, FEW = 64 };
    if (items->count < FEW) {
        sort_few(items);
        waves_order_parts(typing, items);
        return true;
    }
    const uint32_t last = typing->heap->object_count - 1;
    uint32_t starts[DIGITS][BUCKETS] = {0};
    scratch->count = 0;
    if (!vector_grow(scratch, items->count))
        return false;
    VECTOR_EACH(const struct item, item, *items)
        for (unsigned digit = 0; digit < DIGITS; digit++)
            starts[digit][item->object >> digit * DIGIT & (BUCKETS - 1)]++;
    for (unsigned digit = 0; digit < DIGITS && last >> digit * DIGIT != 0; digit++) {
        const struct item *from = items->data;
        const struct item *end = from + items->count;
        struct item *to = scratch->data;
        uint32_t *start = starts[digit];
        uint32_t sum = 0;
        for (size_t i = 0; i < BUCKETS; i++) {
            const uint32_t count = start[i];
            start[i] = sum;
            sum += count;
        }
        for (; from < end; from++)
            to[start[from->object >> digit * DIGIT & (BUCKETS - 1)]++] = *from;
        scratch->count = items->count;
        const item_vector sorted = *scratch;
        *scratch = *items;
        *items = sorted;
    }
    waves_order_parts(typing, items);
    return true;
}

/* Follows a wave that is not worth a second thread, without rounds. */
static struct g2h_error *follow_few(struct waves *waves)
{
    struct typer *alone = &waves->typers[0];
    for (size_t i = 0; i < waves->wave.count; i++) {
        prefetch_item(waves, i);
        typer_follow_item(alone, &waves->wave.data[i]);
    }
    typer_flush(alone);
    return alone->no_memory ? &error_no_memory : NULL;
}

/* Follows new claims on objects of the heap until there are no more. */
static struct g2h_error *follow_objects(struct waves *waves)
{
    item_vector *items = &waves->typers[0].items;
    while (items->count > 0) {
        if (!sort_items(waves->typing, items, &waves->wave))
            return &error_no_memory;
        /* The claims that this wave leads to are gathered in the memory of the previous one. */
        const item_vector empty = waves->wave;
        waves->wave = *items;
        *items = empty;
        items->count = 0;
        TRY(waves->wave.count < ALONE ? follow_few(waves) : follow_wave(waves));
    }
    return NULL;
}

/* Follows the new claims on objects, then the pointers out of the heap that they have led to, until
 * there are no more of either. */
struct g2h_error *waves_follow(struct waves *waves)
{
    struct typing *typing = waves->typing;
    struct typer *alone = &waves->typers[0];
    for (;;) {
        struct g2h_error *error = follow_objects(waves);
        if (error)
            return error;
        for (unsigned i = 0; i < typing->threads; i++)
            if (!typer_take_outside(alone, &waves->typers[i]))
                return &error_no_memory;
        if (typing->outside.pointers.count == 0)
            return NULL;
        typer_sort_outside(typing);
        typer_follow_outside(alone);
        typer_flush(alone);
        if (alone->no_memory)
            return &error_no_memory;
    }
}
