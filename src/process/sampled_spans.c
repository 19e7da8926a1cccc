/*
 * sampled_spans: which objects are read of a heap that is too large to be read as a whole.
 *
 * The sample is spans, chosen at random for each class of spans, so that the number of objects of
 * each size is known exactly, and only how they divide into types is estimated
 * (findings/estimates.c). Spans of one large object are all chosen.
 *
 * The sample alone has neither types nor holders, since both come along pointers from the roots. So
 * more objects are read: those that a bounded search finds from the roots downwards, and those that
 * three passes over all memory find upwards: a pass reads the objects that point to those of the
 * pass before. tools/bench/sampling.md has what each pass is worth.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "dump/dump_facts.h"
#include "process/records.h"
#include "process/spans.h"

enum {
    LEAST_SPANS = 50,       /* of a class that are chosen: fewer do not show how much they differ */
    PASSES = 3,             /* upwards */
    MOST_REFERRERS = 64,    /* of an object that a pass reads: the sample has some of the others */
    DEPTH = 8,              /* of the search downwards, */
    MOST_CHILDREN = 256,    /* pointers of an object that it follows, */
    MOST_DOWN = 1 << 20,    /* objects that it finds, */
    HEAD = 1 << 16,         /* bytes of an object that it looks at */
    MOST_SEGMENT = 1 << 28, /* bytes of a module's variables that it looks at */
    SPANS_PER_PASS_TASK = 64,
};

/* The bytes of objects that the search downwards may add to what is chosen. */
static const uint64_t MOST_DOWN_BYTES = UINT64_C(1) << 28;

struct sampling {
    struct records *records;
    struct sampled_spans *sampled;
    struct heap_bits *bits; /* by worker */
    uint64_t slots;         /* of all spans */
    uint64_t *frontier;     /* a bit per slot: the objects whose referrers are looked for */
    uint64_t *found;        /* a bit per slot: these referrers */
    struct map referrers;   /* slot of the frontier → how many of its referrers have been found */
    uint64_t *filter;       /* a bit per hash of a page: the frontier has an object there */
    uint64_t filter_mask;
    uint64_t lowest, highest; /* addresses of the spans */
    VECTOR(uint64_t) queue;   /* of the search downwards: slots */
    uint64_t down_bytes;
};

static void sampling_deinit(struct sampling *sampling)
{
    for (unsigned i = 0; sampling->bits && i < sampling->records->threads; i++)
        heap_bits_deinit(&sampling->bits[i]);
    free(sampling->bits);
    free(sampling->frontier);
    free(sampling->found);
    free(sampling->filter);
    map_deinit(&sampling->referrers);
    free(sampling->queue.data);
}

void sampled_spans_deinit(struct sampled_spans *sampled)
{
    free(sampled->spans.data);
    free(sampled->read);
    *sampled = (struct sampled_spans){0};
}

/* ---- all spans ---- */

static int compare_starts(const void *a, const void *b)
{
    const struct sampled_span *one = a;
    const struct sampled_span *other = b;
    return COMPARE(one->start, other->start);
}

/* Returns whether a span is a single object, of no size class. */
static bool is_single(const struct sampled_span *span)
{
    return span->spanclass >> 1 == 0;
}

/* Returns whether the objects of a span have no pointers: the last bit of its class (noscan). */
static bool has_no_pointers(const struct sampled_span *span)
{
    return span->spanclass % 2 == 1;
}

/* Drops the pages of a span, if they are read through a window. */
static void drop_span(const struct runtime *runtime, const struct span *span)
{
    if (runtime->memory->window)
        memory_drop(runtime->memory, span->size,
                    memory_place(runtime->memory, span->start, span->size));
}

/* Lists the spans in use, by address, and numbers their slots on and on. Those that cannot be read,
 * and those that overlap, which are invalid, are left out. */
static struct g2h_error *list_spans(struct sampling *sampling)
{
    struct runtime *runtime = sampling->records->runtime;
    struct sampled_spans *sampled = sampling->sampled;
    struct span span;
    size_t kept = 0;
    for (uint64_t i = 0; i < runtime->allspans.count && i < UINT32_MAX; i++) { /* index: 32 bits */
        uint64_t address;
        if (!memory_read(runtime->memory, runtime->allspans.data + 8 * i, 8, &address))
            continue;
        if (span_read(runtime, address, &span) != SPAN_IN_USE)
            continue;
        TRY_MEMORY(vector_push(
            &sampled->spans,
            ((struct sampled_span){.start = span.start,
                                   .size = span.size,
                                   .elemsize = span.elemsize,
                                   .index = as_u32(i),
                                   .slots = (uint16_t)span.nelems,
                                   .living = (uint16_t)bits_count(span.live, 0, span.nelems),
                                   .spanclass = span.spanclass})));
        drop_span(runtime, &span);
    }
    vector_sort(&sampled->spans, compare_starts);
    VECTOR_EACH(struct sampled_span, one, sampled->spans) {
        if (kept > 0 &&
            one->start < sampled->spans.data[kept - 1].start + sampled->spans.data[kept - 1].size)
            continue;
        one->first_slot = sampling->slots;
        sampling->slots += one->slots;
        sampled->spans.data[kept++] = *one;
    }
    sampled->spans.count = kept;
    return NULL;
}

/* Returns the span with this start, or NULL if it is not known. */
const struct sampled_span *sampled_spans_find(const struct sampled_spans *sampled, uint64_t start)
{
    const struct sampled_span *spans = sampled->spans.data;
    size_t at;
    BISECT(at, sampled->spans.count, spans[at].start < start);
    return at < sampled->spans.count && spans[at].start == start ? &spans[at] : NULL;
}

/* Finds the slot that an address is in. Returns false if it is in none. */
static bool find_slot(const struct sampling *sampling, uint64_t address, uint64_t *ret,
                      const struct sampled_span **ret_span)
{
    const struct sampled_span *spans = sampling->sampled->spans.data;
    size_t after;
    if (address < sampling->lowest || address >= sampling->highest)
        return false;
    BISECT(after, sampling->sampled->spans.count, spans[after].start <= address);
    if (after == 0)
        return false;
    const struct sampled_span *span = &spans[after - 1];
    const uint64_t slot = (address - span->start) / span->elemsize;
    *ret = span->first_slot + slot;
    *ret_span = span;
    return slot < span->slots;
}

/* ---- the sample ---- */

/* A span that may be chosen: those of a class with the lowest hashes are. */
struct sampled_draw {
    uint64_t hash;
    uint32_t span; /* its index in struct sampled_spans */
    uint8_t spanclass;
};

/* Orders spans by class, and within one by hash: the first ones are chosen. */
static int compare_draws(const void *a, const void *b)
{
    const struct sampled_draw *one = a;
    const struct sampled_draw *other = b;
    if (one->spanclass != other->spanclass)
        return COMPARE(one->spanclass, other->spanclass);
    if (one->hash != other->hash)
        return COMPARE(one->hash, other->hash);
    return COMPARE(one->span, other->span);
}

/* Returns how many of a class's count spans are chosen: one of every so many, but LEAST_SPANS at
 * least, if there are as many; all if it is_single_class. */
static size_t size_of_sample(size_t count, bool is_single_class, uint64_t every)
{
    const size_t wanted = (size_t)((count + every - 1) / every);
    const size_t least = MIN(count, LEAST_SPANS);
    if (is_single_class)
        return count;
    return MAX(wanted, least);
}

/* Chooses the spans of each class: those whose addresses have the lowest hashes, so that two
 * samples of one process have mostly the same. */
static struct g2h_error *choose_spans(struct sampling *sampling)
{
    const struct records *records = sampling->records;
    struct sampled_spans *sampled = sampling->sampled;
    const size_t count = sampled->spans.count;
    _cleanup_free_ struct sampled_draw *draws = malloc((count + 1) * sizeof(*draws));
    TRY_MEMORY(draws);
    for (uint32_t i = 0; i < count; i++) {
        const struct sampled_span *span = &sampled->spans.data[i];
        draws[i] = (struct sampled_draw){
            id_hash(span->start / RUNTIME_PAGE_SIZE + id_hash(records->sample_seed)), i,
            span->spanclass};
    }
    if (count > 0)
        qsort(draws, count, sizeof(*draws), compare_draws);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && draws[end].spanclass == draws[first].spanclass;)
            end++;
        const size_t chosen =
            size_of_sample(end - first, draws[first].spanclass >> 1 == 0, records->sample);
        for (size_t i = first; i < first + chosen; i++)
            sampled->spans.data[draws[i].span].is_chosen = true;
    }
    VECTOR_EACH(const struct sampled_span, span, sampled->spans)
        for (uint64_t slot = 0; span->is_chosen && slot < span->slots; slot++)
            bits_add(sampled->read, span->first_slot + slot);
    return NULL;
}

/* ---- the pointers of an object ---- */

/* A visit of the pointers in a part of an object, whose mask is read 64 words at a time. */
struct sampled_visit {
    struct heap_mask mask;
    const uint8_t *contents;
    uint64_t words; /* of the contents */
    uint64_t first; /* the word at which the present repetition of the mask begins */
    uint64_t in;    /* how many words of the mask have been read of it */
    uint64_t bits,
        base; /* of the words read last: those that are left, and the first one's index */
};

/* Finds the next pointer. Returns false if there is none. Pointers are the words whose bits are set
 * in the object's mask, which repeats after mask.period words; *ret is the word's value. */
static bool next_pointer(struct sampled_visit *visit, uint64_t *ret)
{
    const struct heap_mask *mask = &visit->mask;
    while (visit->bits == 0) {
        const uint64_t left = visit->first < visit->words ? visit->words - visit->first : 0;
        const uint64_t end = MIN(mask->words, left);
        if (visit->in >= end) { /* on to the next repetition, unless the contents end before it */
            if (mask->period == 0 || left <= mask->period)
                return false;
            visit->first += mask->period;
            visit->in = 0;
            continue;
        }
        const uint64_t count = MIN(end - visit->in, 64);
        visit->bits = heap_mask_bits(mask, visit->in, count);
        visit->base = visit->first + visit->in;
        visit->in += count;
    }
    *ret = memory_number(visit->contents + 8 * (visit->base + lowest_bit(visit->bits)), 8);
    visit->bits &= visit->bits - 1; /* clears the lowest one */
    return true;
}

/* Begins to visit the pointers in the first HEAD bytes of an object. The visit has none if there
 * are none, or they are missing. Returns false if memory runs out. */
static bool begin_visit(struct sampling *sampling, unsigned worker, const struct span *span,
                        uint64_t address, struct sampled_visit *visit)
{
    const struct memory *memory = sampling->records->runtime->memory;
    const uint64_t size = MIN(span->elemsize, HEAD);
    *visit = (struct sampled_visit){.contents = NULL};
    if (!heap_bits_of(&sampling->bits[worker], span, address, size, &visit->mask))
        return false;
    if (visit->mask.words > 0)
        visit->contents = span_bytes(span, memory, address - span->start, size);
    visit->words = visit->contents ? size / 8 : 0;
    visit->first = visit->mask.offset;
    return true;
}

/* ---- downwards, from the roots ---- */

/* Adds the object that a word points to to those that are read, and to the queue; nothing if the
 * word points to none, the object is in the queue already, or the limits of the search are reached.
 * Returns false if memory runs out. */
static bool go_down(struct sampling *sampling, uint64_t address)
{
    const struct sampled_span *span;
    uint64_t slot;
    if (!find_slot(sampling, address, &slot, &span))
        return true;
    const bool is_read = bits_have(sampling->sampled->read, slot);
    /* found: it is in the queue. What is read anyway costs nothing more. */
    if (bits_have(sampling->found, slot) || sampling->queue.count >= MOST_DOWN ||
        (!is_read && sampling->down_bytes + span->elemsize > MOST_DOWN_BYTES))
        return true;
    bits_add(sampling->found, slot);
    if (!is_read)
        sampling->down_bytes += span->elemsize;
    bits_add(sampling->sampled->read, slot);
    return vector_push(&sampling->queue, slot);
}

/* Follows the words of memory of the process in [begin, end), MOST_SEGMENT bytes at most; words
 * that cannot be read are left out. Returns false if memory runs out. */
static bool go_down_from(struct sampling *sampling, uint64_t begin, uint64_t end)
{
    const struct memory *memory = sampling->records->runtime->memory;
    const uint64_t most = begin + MOST_SEGMENT;
    uint64_t value;
    for (uint64_t at = begin; at < end && at < most; at += 8)
        if (memory_read(memory, at, 8, &value) && !go_down(sampling, value))
            return false;
    return true;
}

/* Follows the goroutines, and the used parts of their stacks. Returns false if memory runs out.
 * Where the stack pointer is not valid, the whole stack counts. */
static bool go_down_from_goroutines(struct sampling *sampling)
{
    const struct runtime *runtime = sampling->records->runtime;
    struct runtime_slice allgs;
    if (!runtime_slice_at(runtime, runtime->allgs, &allgs))
        return true;
    for (uint64_t i = 0; i < allgs.count; i++) {
        uint64_t g, low, high, sp;
        if (!memory_read(runtime->memory, allgs.data + 8 * i, 8, &g))
            break;
        if (g == 0 || !runtime_peek(runtime, g, LAYOUT_G_STACK_LO, &low) ||
            !runtime_peek(runtime, g, LAYOUT_G_STACK_HI, &high) ||
            !runtime_peek(runtime, g, LAYOUT_G_SCHED_SP, &sp))
            continue;
        if (sp < low || sp >= high || sp % 8 != 0)
            sp = low;
        if (!go_down(sampling, g) || !go_down_from(sampling, sp, high))
            return false;
    }
    return true;
}

/* Follows the variables of all modules. Returns false if memory runs out. */
static bool go_down_from_variables(struct sampling *sampling)
{
    enum { MOST = 1000 }; /* they may be linked in a cycle */
    struct runtime *runtime = sampling->records->runtime;
    struct runtime_segments other;
    uint64_t module = 0;
    if (!go_down_from(sampling, runtime->data, runtime->edata) ||
        !go_down_from(sampling, runtime->bss, runtime->ebss))
        return false;
    for (int i = 0; i < MOST && runtime_next_module(runtime, &module, &other); i++)
        if (!go_down_from(sampling, other.data, other.edata) ||
            !go_down_from(sampling, other.bss, other.ebss))
            return false;
    return true;
}

/* Follows the first MOST_CHILDREN pointers of the object in a slot. Returns false if memory runs
 * out. */
static bool go_down_from_slot(struct sampling *sampling, uint64_t slot)
{
    const struct sampled_span *spans = sampling->sampled->spans.data;
    struct sampled_visit visit;
    struct span span;
    size_t after;
    uint64_t value;
    BISECT(after, sampling->sampled->spans.count, spans[after].first_slot <= slot);
    assert(after > 0);
    const struct sampled_span *listed = &spans[after - 1];
    /* The list does not keep what a mask takes of the span, which would be much for all spans. */
    if (has_no_pointers(listed) ||
        span_read_fields_of(sampling->records->runtime, listed->index, &span) != SPAN_IN_USE)
        return true;
    const uint64_t address = listed->start + (slot - listed->first_slot) * listed->elemsize;
    if (!begin_visit(sampling, 0, &span, address, &visit))
        return false;
    for (int i = 0; i < MOST_CHILDREN && next_pointer(&visit, &value); i++)
        if (!go_down(sampling, value))
            return false;
    return true;
}

/* Reads the objects next to the roots: those at most DEPTH pointers away. Each turn follows the
 * objects that the one before has appended to the queue. */
static struct g2h_error *search_down(struct sampling *sampling)
{
    size_t at = 0;
    TRY_MEMORY(go_down_from_goroutines(sampling) && go_down_from_variables(sampling));
    for (int depth = 0; depth < DEPTH; depth++)
        for (const size_t end = sampling->queue.count; at < end; at++)
            TRY_MEMORY(go_down_from_slot(sampling, sampling->queue.data[at]));
    return NULL;
}

/* ---- upwards ---- */

static uint64_t hash_of_page(const struct sampling *sampling, uint64_t address)
{
    return id_hash(address / RUNTIME_PAGE_SIZE) & sampling->filter_mask;
}

/* Notes the pages of a slot of the frontier. */
static void filter_add(struct sampling *sampling, const struct sampled_span *span, uint64_t slot)
{
    const uint64_t begin = span->start + slot * span->elemsize;
    const uint64_t end = begin + span->elemsize;
    for (uint64_t page = begin / RUNTIME_PAGE_SIZE; page * RUNTIME_PAGE_SIZE < end; page++)
        bits_add(sampling->filter, hash_of_page(sampling, page * RUNTIME_PAGE_SIZE));
}

/* Makes the filter of the frontier. It may have pages that the frontier does not: look_at_span()
 * looks closely at what passes. */
static void filter_make(struct sampling *sampling)
{
    const struct sampled_spans *sampled = sampling->sampled;
    memset(sampling->filter, 0, (size_t)(sampling->filter_mask + 1) / 8);
    VECTOR_EACH(const struct sampled_span, span, sampled->spans) {
        for (uint64_t slot = 0; slot < span->slots; slot++)
            if (bits_have(sampling->frontier, span->first_slot + slot))
                filter_add(sampling, span, slot);
    }
}

/* A referrer: the slot of the frontier that the object in another slot points to. */
struct sampled_referrer {
    uint64_t target, source;
};

/* Looks for pointers to the frontier, the slots whose referrers are wanted, in the objects of a
 * span that are not read. Writes each to the buffer, with its slot and that of its target. */
static struct g2h_error *look_at_span(struct sampling *sampling, unsigned worker,
                                      const struct sampled_span *listed, const struct span *span,
                                      struct worker_buffer *buffer)
{
    const struct sampled_span *target;
    struct sampled_visit visit;
    struct sampled_referrer found;
    uint64_t value;
    for (uint64_t slot = 0; slot < listed->slots; slot++) {
        const uint64_t address = listed->start + slot * listed->elemsize;
        found.source = listed->first_slot + slot;
        if (!span_is_live(span, slot) || bits_have(sampling->sampled->read, found.source))
            continue;
        TRY_MEMORY(begin_visit(sampling, worker, span, address, &visit));
        while (next_pointer(&visit, &value)) /* the filter first: the search takes longer */
            if (bits_have(sampling->filter, hash_of_page(sampling, value)) &&
                find_slot(sampling, value, &found.target, &target) &&
                bits_have(sampling->frontier, found.target))
                TRY_MEMORY(worker_buffer_put(buffer, &found, sizeof(found)));
    }
    return NULL;
}

/* Looks for referrers in the spans of a task. Spans that were read already, have no pointers, or
 * are not what they were when they were listed, are passed over. */
static struct g2h_error *look_at_spans(void *context, size_t task, unsigned worker,
                                       struct worker_buffer *buffer)
{
    struct sampling *sampling = context;
    struct runtime *runtime = sampling->records->runtime;
    const struct sampled_spans *sampled = sampling->sampled;
    const size_t first = task * SPANS_PER_PASS_TASK;
    const size_t last = first + SPANS_PER_PASS_TASK;
    struct span span;
    for (size_t i = first; i < last && i < sampled->spans.count; i++) {
        const struct sampled_span *listed = &sampled->spans.data[i];
        uint64_t address;
        if (listed->is_chosen || has_no_pointers(listed) ||
            !memory_read(runtime->memory, runtime->allspans.data + 8 * (uint64_t)listed->index, 8,
                         &address) ||
            span_read(runtime, address, &span) != SPAN_IN_USE || span.start != listed->start)
            continue;
        TRY(look_at_span(sampling, worker, listed, &span, buffer));
        drop_span(runtime, &span);
    }
    return NULL;
}

/* Takes the referrers of a task: of each target the first MOST_REFERRERS. One that was found for
 * another target needs no place among them. */
static struct g2h_error *take_referrers(void *context, const struct worker_buffer *buffer)
{
    struct sampling *sampling = context;
    struct sampled_referrer referrer;
    uint32_t count;
    for (size_t at = 0; at + sizeof(referrer) <= buffer->size; at += sizeof(referrer)) {
        memcpy(&referrer, buffer->data + at, sizeof(referrer));
        if (bits_have(sampling->found, referrer.source))
            continue;
        TRY_MEMORY(map_put(&sampling->referrers, referrer.target, 0, &count));
        if (count == MOST_REFERRERS)
            continue;
        map_set(&sampling->referrers, referrer.target, count + 1);
        bits_add(sampling->found, referrer.source);
    }
    return NULL;
}

/* A pass: reads the objects that point to the frontier, which become the next one. */
static struct g2h_error *search_up(struct sampling *sampling)
{
    struct sampled_spans *sampled = sampling->sampled;
    const size_t tasks = sampled->spans.count / SPANS_PER_PASS_TASK + 1;
    const size_t words = (size_t)(sampling->slots / 64 + 1);
    filter_make(sampling);
    memset(sampling->found, 0, words * sizeof(*sampling->found));
    map_deinit(&sampling->referrers);
    TRY(workers_run_ordered(sampling->records->threads, tasks, look_at_spans, NULL, take_referrers,
                            sampling));
    for (size_t i = 0; i < words; i++) {
        sampling->frontier[i] = sampling->found[i] & ~sampled->read[i];
        sampled->read[i] |= sampling->found[i];
    }
    return NULL;
}

/* ---- all of it ---- */

/* Allocates the bits by slot, and a filter of at least 16 bits per span. */
static struct g2h_error *allocate(struct sampling *sampling)
{
    const struct sampled_spans *sampled = sampling->sampled;
    const size_t words = (size_t)(sampling->slots / 64 + 1);
    uint64_t bits = 1 << 16;
    while (bits < 16 * (uint64_t)sampled->spans.count)
        bits *= 2;
    sampling->filter_mask = bits - 1;
    sampling->filter = calloc((size_t)bits / 64, sizeof(*sampling->filter));
    sampling->sampled->read = calloc(words, sizeof(*sampled->read));
    sampling->frontier = calloc(words, sizeof(*sampling->frontier));
    sampling->found = calloc(words, sizeof(*sampling->found));
    sampling->bits = calloc(sampling->records->threads, sizeof(*sampling->bits));
    TRY_MEMORY(sampling->filter && sampled->read && sampling->frontier && sampling->found &&
               sampling->bits);
    for (unsigned i = 0; i < sampling->records->threads; i++) {
        sampling->bits[i].runtime = sampling->records->runtime;
        sampling->bits[i].masks = &sampling->records->masks;
    }
    return NULL;
}

/* Chooses what a sample reads. Lists the spans, chooses some per class by the hashes of their
 * addresses, then follows pointers down from what is read, and PASSES times up to what refers to
 * it. The runtime's count of specials is restored, since each pass reads them anew. */
struct g2h_error *sampled_spans_choose(struct records *records, struct sampled_spans *ret)
{
    _cleanup_(sampling_deinit) struct sampling sampling = {.records = records, .sampled = ret};
    assert(records->sample > 0);
    /* Each pass reads the specials anew, and writing the objects will do so once more. */
    const uint64_t specials = records->runtime->specials;
    TRY(list_spans(&sampling));
    TRY(allocate(&sampling));
    if (ret->spans.count > 0) {
        const struct sampled_span *last = &ret->spans.data[ret->spans.count - 1];
        sampling.lowest = ret->spans.data[0].start;
        sampling.highest = last->start + last->size;
    }
    TRY(choose_spans(&sampling));
    memcpy(sampling.frontier, ret->read, (size_t)(sampling.slots / 64 + 1) * sizeof(*ret->read));
    TRY(search_down(&sampling));
    for (int pass = 0; pass < PASSES; pass++) {
        records->runtime->specials = specials;
        TRY(search_up(&sampling));
    }
    records->runtime->specials = specials;
    return NULL;
}

/* ---- the fact ---- */

enum { SPANCLASSES = 256 };

/* The counts of a class of spans; number: among the classes that have any. */
struct sampled_kind {
    uint64_t number, elemsize, spans, chosen, objects;
};

/* Sums up the spans of each class, and numbers the classes that have any in their order, from 0 on:
 * kinds[].number. Returns how many these are. kinds has SPANCLASSES elements, all 0. */
static uint64_t sum_up_kinds(const struct sampled_spans *sampled, struct sampled_kind *kinds)
{
    uint64_t count = 0;
    VECTOR_EACH(const struct sampled_span, span, sampled->spans) {
        struct sampled_kind *kind = &kinds[span->spanclass];
        kind->elemsize = is_single(span) ? 0 : span->elemsize;
        kind->spans++;
        kind->chosen += span->is_chosen;
        kind->objects += span->living;
    }
    for (size_t i = 0; i < SPANCLASSES; i++)
        if (kinds[i].spans > 0)
            kinds[i].number = count++;
    return count;
}

/* Writes a fact: the kinds of spans with their counts, and then the chosen spans, each by its
 * distance from the one before. */
struct g2h_error *sampled_spans_put(struct records *records)
{
    const struct sampled_spans *sampled = records->sampled;
    struct sampled_kind kinds[SPANCLASSES] = {{0}};
    const uint64_t count = sum_up_kinds(sampled, kinds);
    uint64_t before = 0;
    TRY_MEMORY(PUT_NUMBERS(&records->buffer, FACT_SAMPLE, records->sample, count));
    for (uint64_t i = 0; i < SPANCLASSES; i++)
        if (kinds[i].spans > 0)
            TRY_MEMORY(PUT_NUMBERS(&records->buffer, i, kinds[i].elemsize, kinds[i].spans,
                                   kinds[i].chosen, kinds[i].objects));
    VECTOR_EACH(const struct sampled_span, span, sampled->spans) {
        if (!span->is_chosen)
            continue;
        TRY_MEMORY(PUT_NUMBERS(&records->buffer, span->size, kinds[span->spanclass].number,
                               span->start - before));
        before = span->start;
        if (records->buffer.size >= RECORDS_FLUSHED_AT)
            TRY(records_flush(records));
    }
    TRY_MEMORY(put_number(&records->buffer, 0));
    return NULL;
}
