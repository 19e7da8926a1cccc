/*
 * age_looks: for each slot of the heap, the number of the look that saw its object first; see
 * age_looks.h. A look is one reading of all marks after a collection; only ages_read.c reads, this
 * file keeps.
 *
 * The table is by span: an aged_span has the last marks of its slots and the ages. ages_put_marks()
 * compares the marks of a new look with the last ones: a slot that is marked now and was not before
 * has a new object, one that was marked and is not has lost its object. Numbers of looks have a
 * byte each, so when they run out pairs of old looks are joined (join_looks). Beside the ages, the
 * objects that have ended are counted, by look and class of spans (ended), and those of them that
 * the first look had found (ended_first), for the present window and for the next one. A window is
 * the time that the table reaches back: once the next one, which begins at a look chosen one window
 * ahead, is as long as wanted, what was before it is forgotten (move_window). The fact is what a
 * dump gets of all this.
 */
#include "process/age_looks.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/port.h"
#include "process/records.h"

/* Objects that survived so many looks before they ended count: others were garbage already, or only
 * in use at the moment of a collection. */
enum { SURVIVED_LEAST = 2 };

/* ---- looks ---- */

/* Returns the ages of a span's slots, which follow its marks in memory. */
static age *ages_of(const struct aged_span *span)
{
    return (age *)(span->marks + (span->shape.nelems + 63) / 64);
}

/* Adds up, by look, how many objects ended, when looks are joined: of[look] is the number, at most
 * its own, that each look from 2 to count gets. */
static void join_ends(uint32_t *ended, const age *of, unsigned count)
{
    for (unsigned from = 2; from <= count; from++) {
        const uint32_t number = ended[from];
        ended[from] = 0;
        ended[of[from]] += number;
    }
}

/* Gives the ages of all slots other numbers of looks: of[look]. */
static void renumber(struct g2h_ages *ages, const age *of)
{
    VECTOR_EACH(struct aged_span, span, ages->spans) {
        age *slots = span->shape.nelems > 0 ? ages_of(span) : NULL;
        for (unsigned slot = 0; slot < span->shape.nelems; slot++)
            slots[slot] = of[slots[slot]];
    }
}

/* Joins pairs of looks, but for the last quarter of them, to make numbers free. So numbers of looks
 * that are long ago stand for more and more collections. The last look of a window stays so. */
static void join_looks(struct g2h_ages *ages)
{
    enum { FIRST = 2 };                     /* look 1, of objects of any age, stays alone */
    age new_number[AGES_MOST + 1] = {0, 1}; /* by look; 0: a slot without an object */
    const unsigned end = ages->look_count / 4 * 3;
    unsigned to = FIRST;
    for (unsigned from = FIRST; from <= ages->look_count; from++) {
        const bool is_second =
            from < end && (from - FIRST) % 2 == 1 && from - 1 != ages->window.next;
        if (is_second) {
            ages->looks[to - 1].last = ages->looks[from].last;
            ages->looks[to - 1].time = ages->looks[from].time;
        } else {
            ages->looks[to++] = ages->looks[from];
        }
        new_number[from] = (age)(to - 1);
    }
    for (unsigned class = 0; class < AGES_CLASSES; class ++) {
        join_ends(ages->ended[class], new_number, ages->look_count);
        join_ends(ages->ended_first[class], new_number, ages->look_count);
        join_ends(ages->window.ended_first[class], new_number, ages->look_count);
    }
    ages->look_count = to - 1;
    ages->window.next = new_number[ages->window.next];
    renumber(ages, new_number);
}

/* Moves the counts of the looks after `first`, which becomes look 1, to those from 2 on, and clears
 * the rest. count: all looks. */
static void move_ends(uint32_t *ended, const uint32_t *from, unsigned first, unsigned count)
{
    memmove(&ended[2], &from[first + 1], (count - first) * sizeof(*ended));
    memset(&ended[count - first + 2], 0, (first - 1) * sizeof(*ended));
}

/* Forgets what was before the next window: its first look becomes look 1. */
static void begin_next_window(struct g2h_ages *ages)
{
    struct ages_window *window = &ages->window;
    const unsigned first = window->next, count = ages->look_count;
    age of[AGES_MOST + 1] = {0};
    assert(first > 1 && first <= count);
    for (unsigned look = 1; look <= count; look++)
        of[look] = look <= first ? 1 : (age)(look - first + 1);
    for (unsigned class = 0; class < AGES_CLASSES; class ++) {
        move_ends(ages->ended[class], ages->ended[class], first, count);
        move_ends(ages->ended_first[class], window->ended_first[class], first, count);
        memset(window->ended_first[class], 0, sizeof(window->ended_first[class]));
    }
    memmove(&ages->looks[1], &ages->looks[first], (count - first + 1) * sizeof(*ages->looks));
    ages->look_count = count - first + 1;
    ages->begin = ages->looks[1].time;
    ages->seen -= window->seen;
    ages->missed -= window->missed;
    window->next = 0;
    renumber(ages, of);
}

/* Keeps the looks to those of the last one or two times length milliseconds; 0: to all. Once they
 * cover length, the look is chosen at which the next window begins; once that covers length as
 * well, with at least LEAST looks, it begins, and the looks before it are dropped. */
static void move_window(struct g2h_ages *ages)
{
    enum { LEAST = 16 /* looks of a window */ };
    struct ages_window *window = &ages->window;
    const int64_t length = (int64_t)window->length;
    const int64_t now = ages->looks[ages->look_count].time;
    if (length == 0)
        return;
    if (window->next > 0 && ages->look_count >= window->next + LEAST &&
        now - ages->looks[window->next].time >= length)
        begin_next_window(ages);
    if (window->next > 0 || ages->look_count < 2 || now - ages->begin < length)
        return;
    window->next = ages->look_count;
    window->seen = ages->seen;
    window->missed = ages->missed;
}

/* Begins the next look, after a collection, at a time in milliseconds since 1970. The first look
 * sees objects of any age. A later one is of a new collection, or goes on with that of the last
 * look; if there are AGES_MOST looks, pairs are joined. Returns false if collections went back. */
bool ages_look_begin(struct g2h_ages *ages, uint64_t collection, int64_t now)
{
    const uint64_t last = ages->looks[ages->look_count].last;
    if (ages->look_count == 0) {
        ages->begin = now;
        ages->look_count = 1;
        ages->looks[1] = (struct ages_look){0, collection, now};
        return true;
    }
    if (collection <= last)
        return collection == last;
    if (ages->look_count == AGES_MOST)
        join_looks(ages);
    ages->looks[++ages->look_count] = (struct ages_look){last + 1, collection, now};
    ages->seen++;
    ages->missed += collection - last - 1;
    move_window(ages);
    return true;
}

/* ---- spans ---- */

/* Returns the entry of the span with an index in allspans; NULL: memory ran out. */
struct aged_span *ages_span(struct g2h_ages *ages, uint64_t index)
{
    while (ages->spans.count <= index)
        if (!vector_push(&ages->spans, (struct aged_span){.bits = 0}))
            return NULL;
    return &ages->spans.data[index];
}

/* Counts the end, since the last look, of an object that was first seen at the look `since`, unless
 * it ended too soon (SURVIVED_LEAST). Those of the first look are counted apart, as their age is
 * not known, and those of the looks that will be before the next window. */
static inline void note_end(struct g2h_ages *ages, uint8_t class, age since)
{
    if ((unsigned)since + SURVIVED_LEAST > ages->look_count)
        return;
    ages->ended[class][ages->look_count]++;
    ages->ended_first[class][ages->look_count] += since == 1;
    ages->window.ended_first[class][ages->look_count] += since <= ages->window.next;
}

/* Records that a span is not in use: if it was before, all of its objects have ended. */
void ages_put_unused(struct g2h_ages *ages, struct aged_span *span)
{
    if (span->shape.nelems == 0)
        return;
    const age *slots = ages_of(span);
    for (unsigned slot = 0; slot < span->shape.nelems; slot++)
        if (slots[slot] > 0)
            note_end(ages, span->shape.class, slots[slot]);
    free(span->marks);
    *span = (struct aged_span){.bits = 0};
}

/* Records which slots of a span a collection marked. A slot that lives now and did not before has
 * the age of this look; one that lives no more has ended. A span of another shape begins anew.
 * Returns false if memory runs out. */
bool ages_put_marks(struct g2h_ages *ages, struct aged_span *span, const struct ages_shape *shape,
                    uint64_t bits, const uint64_t *marks)
{
    const unsigned words = (shape->nelems + 63u) / 64;
    if (!ages_same_shape(&span->shape, shape)) {
        ages_put_unused(ages, span);
        span->marks = calloc(1, words * sizeof(*marks) + shape->nelems);
        if (!span->marks)
            return false;
        span->shape = *shape;
    }
    span->bits = bits;
    age *slots = ages_of(span);
    for (unsigned word = 0; word < words; word++) {
        uint64_t changed = span->marks[word] ^ marks[word];
        span->marks[word] = marks[word];
        for (; changed != 0; changed &= changed - 1) {
            const unsigned bit = lowest_bit(changed);
            const unsigned slot = word * 64 + bit;
            const bool lives = (marks[word] >> bit & 1) != 0;
            if (!lives)
                note_end(ages, shape->class, slots[slot]);
            slots[slot] = lives ? (age)ages->look_count : 0;
        }
    }
    return true;
}

/* ---- a copy ---- */

/* Records which slots of one span of a copy live (their marks). A span without marks in the copy is
 * counted as unread. Returns false if memory runs out. */
static bool look_at_span(struct g2h_ages *ages, struct runtime *runtime, uint64_t index)
{
    struct span span;
    uint64_t marks[SPAN_MOST_SLOTS / 64 + 1], address;
    struct aged_span *aged = ages_span(ages, index);
    if (!aged)
        return false;
    const enum span_state state = span_read_fields_of(runtime, index, &span);
    if (state == SPAN_UNUSED)
        ages_put_unused(ages, aged);
    if (state != SPAN_IN_USE || span.nelems == 0)
        return true;
    if (!span_read_marks(runtime, &span, marks, &address)) {
        ages->unread++;
        return true;
    }
    const struct ages_shape shape = {span.start, span.elemsize, (uint16_t)span.nelems,
                                     span.spanclass};
    return ages_put_marks(ages, aged, &shape, address, marks);
}

/* Returns whether a runtime that was read now may be the one that was looked at. */
bool ages_is_of(const struct g2h_ages *ages, const struct runtime *runtime)
{
    return ages->mheap == runtime->mheap &&
           (ages->look_count == 0 || runtime->sweepgen / 2 >= ages->looks[ages->look_count].last);
}

/* Looks at a process that does not run. A look belongs to a collection, whose number is half the
 * sweepgen. If collections went back, nothing is looked at. Returns false if memory runs out. */
bool ages_look_at_copy(struct g2h_ages *ages, struct runtime *runtime)
{
    if (!ages_look_begin(ages, runtime->sweepgen / 2, clock_since_1970()))
        return true;
    for (uint64_t i = 0; i < runtime->allspans.count; i++)
        if (!look_at_span(ages, runtime, i))
            return false;
    return true;
}

/* ---- the fact ---- */

/* Orders spans by address. */
static int compare_aged(const void *a, const void *b)
{
    const struct aged_span *const *one = a;
    const struct aged_span *const *other = b;
    const uint64_t start = (*one)->shape.start;
    const uint64_t at = (*other)->shape.start;
    return COMPARE(start, at);
}

/* Appends the runs of equal ages of a span, each as the age and how many slots have it. Returns
 * false if memory runs out. */
static bool put_ages(const struct aged_span *span, struct worker_buffer *buffer)
{
    const age *slots = ages_of(span);
    const unsigned count = span->shape.nelems;
    bool good = true;
    for (unsigned slot = 0, next; slot < count && good; slot = next) {
        for (next = slot + 1; next < count && slots[next] == slots[slot];)
            next++;
        good = PUT_NUMBERS(buffer, slots[slot], next - slot);
    }
    return good;
}

/* Appends the looks: the first and the last collection of each, and the milliseconds since the
 * beginning; then, up to a 0, for each class of which objects ended there: how many, the class, and
 * how many of them the first look found. Returns false if memory runs out. */
static bool put_looks(const struct g2h_ages *ages, struct worker_buffer *buffer)
{
    for (unsigned i = 1; i <= ages->look_count; i++) {
        const struct ages_look *look = &ages->looks[i];
        const int64_t after = look->time > ages->begin ? look->time - ages->begin : 0;
        if (!PUT_NUMBERS(buffer, look->first, look->last, (uint64_t)after))
            return false;
        for (unsigned class = 0; class < AGES_CLASSES; class ++)
            if (ages->ended[class][i] > 0 &&
                !PUT_NUMBERS(buffer, ages->ended[class][i], class, ages->ended_first[class][i]))
                return false;
        if (!put_number(buffer, 0))
            return false;
    }
    return true;
}

/* Writes FACT_AGES: times and counts, the looks, then per span, ascending by address, its shape and
 * the ages of its slots; 0 ends them. Spans without objects are left out. Returns false if memory
 * runs out. */
bool ages_put_fact(const struct g2h_ages *ages, struct worker_buffer *buffer)
{
    _cleanup_vector_ VECTOR(const struct aged_span *) sorted = {0};
    VECTOR_EACH(const struct aged_span, span, ages->spans)
        if (span->shape.nelems > 0 && !vector_push(&sorted, span))
            return false;
    vector_sort(&sorted, compare_aged);
    /* A single look has no time: so dumps of one core are equal. */
    const uint64_t begin = ages->look_count > 1 ? (uint64_t)ages->begin : 0;
    if (!PUT_NUMBERS(buffer, FACT_AGES, begin, ages->seen, ages->missed, ages->unread,
                     ages->look_count) ||
        !put_looks(ages, buffer))
        return false;
    for (size_t i = 0; i < sorted.count; i++) {
        const struct aged_span *span = sorted.data[i];
        if (!PUT_NUMBERS(buffer, span->shape.nelems, span->shape.start, span->shape.elemsize,
                         span->shape.class) ||
            !put_ages(span, buffer))
            return false;
    }
    return put_number(buffer, 0);
}
