/*
 * heap_ages: reads since which collection each object lives, from a fact of the dump; see
 * heap_ages.h. A look is one reading of the heap's marks while the process was watched, and an age
 * is the number of the look that saw an object first. The fact lists spans with runs of equal ages;
 * heap_ages_find() spreads them over the objects, since both are in the order of addresses.
 */
#include "heap/heap_ages.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "heap/heap.h"

/* A span of the fact. */
struct heap_ages_span {
    uint64_t nelems, start, elemsize, class;
};

/* Reads a span without its ages. A span without slots ends the list and has no more numbers.
 * Returns false if it is cut, has too many slots or no size, or would go beyond the last address.
 */
static bool read_span(struct cursor *cursor, struct heap_ages_span *ret)
{
    if (!cursor_uvarint(cursor, &ret->nelems) || ret->nelems > FACT_AGES_MOST_SLOTS)
        return false;
    return ret->nelems == 0 ||
           (cursor_uvarint(cursor, &ret->start) && cursor_uvarint(cursor, &ret->elemsize) &&
            cursor_uvarint(cursor, &ret->class) && ret->class <= UINT8_MAX && ret->elemsize > 0 &&
            ret->elemsize <= (UINT64_MAX - ret->start) / ret->nelems);
}

/* Reads how many slots in a row have one age: as many as the span still has, at most. Returns false
 * if that is invalid. */
static bool read_run(struct cursor *cursor, uint64_t looks, uint64_t left, uint64_t *ret_age,
                     uint64_t *ret_length)
{
    return cursor_uvarint(cursor, ret_age) && cursor_uvarint(cursor, ret_length) &&
           *ret_age <= looks && *ret_length > 0 && *ret_length <= left;
}

/* Passes over all spans. Returns false if one is invalid, or if they are not ascending; *ret_end is
 * the end of those before it. */
static bool skip_spans(struct cursor *cursor, uint64_t looks, const uint8_t **ret_end)
{
    struct heap_ages_span span;
    uint64_t end = 0, age, length;
    for (*ret_end = cursor->at; read_span(cursor, &span); *ret_end = cursor->at) {
        if (span.nelems == 0)
            return true;
        if (span.start < end)
            return false;
        end = span.start + span.nelems * span.elemsize;
        for (uint64_t left = span.nelems; left > 0; left -= length)
            if (!read_run(cursor, looks, left, &age, &length))
                return false;
    }
    return false;
}

/* Reads a look: the first and last collection, the time, and a list of what had ended, up to a 0.
 * Returns false if it is invalid: collections must increase from look to look. A time before that
 * of the look before is taken for that: the clock was set back. */
static bool read_look(struct cursor *cursor, struct heap_ages *ages, unsigned number)
{
    const uint64_t most_time = UINT64_C(1) << 50; /* 35,000 years */
    struct g2h_age_look *look = &ages->looks[number];
    uint64_t time, count, class, first;
    if (!cursor_uvarint(cursor, &look->first) || !cursor_uvarint(cursor, &look->last) ||
        !cursor_uvarint(cursor, &time) || look->first > look->last || time > most_time ||
        (number > 1 && look->first <= ages->looks[number - 1].last))
        return false;
    look->time = ages->known.begin + (int64_t)time;
    if (number > 1 && look->time < ages->looks[number - 1].time)
        look->time = ages->looks[number - 1].time; /* the clock was set back */
    while (cursor_uvarint(cursor, &count)) {
        if (count == 0)
            return true;
        if (!cursor_uvarint(cursor, &class) || !cursor_uvarint(cursor, &first) ||
            class > UINT8_MAX || first > count || count > UINT32_MAX ||
            !vector_push(&ages->ended,
                         ((struct heap_ended){(uint8_t)number, (uint8_t) class, count, first})))
            return false;
    }
    return false;
}

/* Reads when the watch began, how many collections it saw, missed and could not read, and all
 * looks, of which there are 1 to FACT_AGES_MOST_LOOKS. Returns false if they are cut or invalid. */
static bool read_looks(struct cursor *cursor, struct heap_ages *ages)
{
    const uint64_t most_time = UINT64_C(1) << 50;
    struct g2h_ages_known *known = &ages->known;
    uint64_t begin, looks;
    if (!cursor_uvarint(cursor, &begin) || !cursor_uvarint(cursor, &known->seen) ||
        !cursor_uvarint(cursor, &known->missed) || !cursor_uvarint(cursor, &known->unread) ||
        !cursor_uvarint(cursor, &looks) || begin > most_time || looks == 0 ||
        looks > FACT_AGES_MOST_LOOKS)
        return false;
    known->begin = (int64_t)begin;
    known->looks = ages->looks;
    known->look_count = (unsigned)looks;
    for (unsigned i = 1; i <= looks; i++)
        if (!read_look(cursor, ages, i))
            return false;
    return true;
}

/* Reads the looks now, and only passes over the spans, which are read when they are needed. Returns
 * false if they are invalid, or are there twice. */
bool heap_ages_read(struct cursor *cursor, struct heap_ages **ret)
{
    struct heap_ages *ages = calloc(1, sizeof(*ages));
    if (!ages || *ret || !read_looks(cursor, ages)) {
        heap_ages_destroy(ages);
        return false;
    }
    *ret = ages;
    ages->spans = *cursor;
    return skip_spans(cursor, ages->known.look_count, &ages->spans.end);
}

void heap_ages_destroy(struct heap_ages *ages)
{
    if (!ages)
        return;
    free(ages->ended.data);
    free(ages->of);
    free(ages);
}

/* Sets the ages of the objects in a span, whose first one is at or after *object. Returns false if
 * the span is invalid. */
static bool set_ages(const struct g2h_heap *heap, const struct heap_ages_span *span,
                     struct cursor *cursor, uint32_t *object)
{
    const struct heap_ages *ages = heap->facts.ages;
    uint64_t slot = 0, age, length;
    while (*object < heap->object_count && heap_address(heap, *object) < span->start)
        ++*object;
    for (; slot < span->nelems; slot += length) {
        if (!read_run(cursor, ages->known.look_count, span->nelems - slot, &age, &length))
            return false;
        const uint64_t end = span->start + (slot + length) * span->elemsize;
        for (; *object < heap->object_count && heap_address(heap, *object) < end; ++*object) {
            ages->of[2 * (size_t)*object] = (uint8_t)age;
            ages->of[2 * (size_t)*object + 1] = (uint8_t)span->class;
        }
    }
    return true;
}

/* Finds the age of each object. The class of an object that is in no span of the fact is not known
 * either. */
struct g2h_error *heap_ages_find(struct g2h_heap *heap)
{
    struct heap_ages *ages = heap->facts.ages;
    struct heap_ages_span span;
    uint32_t object = 0;
    if (!ages)
        return NULL;
    const size_t count = heap->object_count;
    ages->of = block_alloc(count + 1, 2);
    TRY_MEMORY(ages->of);
    memset(ages->of, G2H_AGE_UNKNOWN, 2 * count);
    struct cursor cursor = ages->spans;
    while (read_span(&cursor, &span) && span.nelems > 0 && set_ages(heap, &span, &cursor, &object))
        continue;
    return NULL;
}

/* Returns what is known of ages, or NULL if nothing is. */
const struct g2h_ages_known *g2h_heap_ages(const struct g2h_heap *heap)
{
    return heap->facts.ages ? &heap->facts.ages->known : NULL;
}

/* Returns the age of an object. ages->of has two bytes for each object: its age, and its span
 * class. */
unsigned g2h_heap_age(const struct g2h_heap *heap, uint32_t object)
{
    return heap->facts.ages ? heap->facts.ages->of[2 * (size_t)object] : G2H_AGE_UNKNOWN;
}

/* Returns the class of spans that an object is in (mspan.spanclass), the second of the two bytes
 * that ages->of has for each object; 0 without ages. */
unsigned g2h_heap_age_class(const struct g2h_heap *heap, uint32_t object)
{
    return heap->facts.ages ? heap->facts.ages->of[2 * (size_t)object + 1] : 0;
}

/* Sums up how many objects of a span class had ended at a look; *ret_first: of these, those that
 * had been there at the first one. */
uint64_t g2h_heap_ended(const struct g2h_heap *heap, unsigned span_class, unsigned look,
                        uint64_t *ret_first)
{
    const struct heap_ages *ages = heap->facts.ages;
    uint64_t sum = 0;
    *ret_first = 0;
    if (!ages)
        return 0;
    VECTOR_EACH(const struct heap_ended, ended, ages->ended)
        if (ended->class == span_class && ended->look == look) {
            sum += ended->count;
            *ret_first += ended->first;
        }
    return sum;
}
