/*
 * ages: judges by the ages of a suspect's objects whether they leak; see ages.h. The thresholds are
 * explained in docs/ages.md.
 *
 * An age is a look: the number of the collection, of those that were watched, that saw an object
 * first. ages_find() counts the suspect's objects by look (age_counts), and judge() compares them:
 * are they spread evenly over the four quarters of the watch, and does what is as old as the oldest
 * ones end? The end of the file has two other questions: bytes by age, for each node of the merged
 * tree, and the objects of a class that are older than a time.
 */
#include "findings/ages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/map.h"
#include "findings/findings.h"

enum {
    LEAST_SEEN = 8,  /* collections */
    LEAST_SINCE = 4, /* of these, after the birth of the oldest: what survives two and then ends is
                        counted */
    LEAST_SECONDS = 4,
    LEAST_COUNT = 20, /* objects */
    QUARTERS = 4,
    HUNDRED = 100,
    FEW_PERCENT = 1,     /* so few of the objects do not count */
    MOMENT_PERCENT = 90, /* so many are of one moment, if it takes at most this part */
    MOMENT_PART = 10,    /* of the watch: a tenth */
    OLD_PERCENT = 75,    /* what is bounded has none older than so much of the watch */
    HELD_PERCENT = 25,   /* of an item, retained by objects below it that stand for it */
    CLASSES = 256,
};

/* A quarter is even if it has at least so much of the mean; deaths do not matter up to LITTLE of
 * the births, and balance them from MUCH on. */
static const double EVEN = 0.5, LITTLE = 0.2, MUCH = 0.5;

/* What is counted of an item's objects. */
struct age_counts {
    uint64_t looks[G2H_AGE_UNKNOWN + 1];
    uint64_t classes[CLASSES];
};

const char *ages_word(enum ages_verdict verdict)
{
    static const char *const words[] = {
        [AGES_UNKNOWN] = "unknown",     [AGES_ONE_LOOK] = "not watched",
        [AGES_FEW_LOOKS] = "too short", [AGES_FEW] = "few",
        [AGES_LEAKS] = "leaks",         [AGES_REPLACED] = "bounded",
        [AGES_UNCLEAR] = "unclear",     [AGES_BOUNDED] = "bounded",
        [AGES_OTHERS] = "unclear",      [AGES_BEGUN] = "leaks",
        [AGES_SHORT] = "unclear",       [AGES_MOMENT] = "of one moment",
        [AGES_START] = "of the start",  [AGES_YOUNG] = "young",
        [AGES_MIXED] = "mixed"};
    return words[verdict];
}

/* ---- single objects ---- */

/* Returns the ages of a heap whose process was watched; NULL: it was not. */
const struct g2h_ages_known *ages_watched(const struct g2h_heap *heap)
{
    const struct g2h_ages_known *known = g2h_heap_ages(heap);
    return known && known->look_count > 1 ? known : NULL;
}

/* Returns an error if the ages are missing because the dump is cut; none if the heap is whole and
 * was just not watched. */
struct g2h_error *ages_check_cut(const struct g2h_heap *heap)
{
    return g2h_heap_ages(heap) || !g2h_heap_damage(heap)
               ? NULL
               : error_create(G2H_ERROR_NOT_FOUND,
                              "it is not known since when objects live: that is at the end of a "
                              "dump, where this one is cut or damaged");
}

/* Returns the look since which the object lives, or NULL if that is not known, or the object has
 * not survived a collection yet. */
const struct g2h_age_look *ages_look(const struct g2h_heap *heap, uint32_t object)
{
    const struct g2h_ages_known *known = g2h_heap_ages(heap);
    const unsigned age = object != UINT32_MAX ? g2h_heap_age(heap, object) : G2H_AGE_UNKNOWN;
    return known && age > 0 && age <= known->look_count ? &known->looks[age] : NULL;
}

/* ---- counting ---- */

/* Counts the objects of an item, and those of its class below it, which are marked, by their ages;
 * but not the memory of maps, which a map at its limit, too, gets more of until it replaces all of
 * it at once. */
static void count_below(const struct findings *findings, uint32_t item, const bool *is_below,
                        struct age_counts *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const struct merged *merged = &findings->merged;
    const uint32_t name = findings_node(findings, item)->name;
    for (uint32_t i = 0; i < merged->of_count; i++) {
        const uint32_t line = merged->of[i];
        struct g2h_node node;
        if (line == MERGED_NONE || !is_below[line] || findings_node(findings, line)->name != name)
            continue;
        g2h_view_brief(findings->view, g2h_dominators_node(findings->dominators, i), &node);
        if (node.object == UINT32_MAX || findings_is_entries(findings->view, node.name))
            continue;
        ret->looks[g2h_heap_age(heap, node.object)]++;
        ret->classes[g2h_heap_age_class(heap, node.object) % CLASSES]++;
    }
}

/* Returns the node whose objects stand for an item of few objects: of the classes below it, which
 * are marked, with LEAST_COUNT objects or more, the one that retains most; or the item, if none of
 * them retains more than HELD_PERCENT of it. Entries of maps never stand for it, since
 * count_below() would count none of them. */
static uint32_t ages_find_held(const struct findings *findings, uint32_t item, const bool *is_below)
{
    uint64_t most = findings_node(findings, item)->retained / HUNDRED * HELD_PERCENT;
    uint32_t found = item;
    for (uint32_t i = item + 1; i < findings->merged.nodes.count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        if (!is_below[i] || node->kind != MERGED_CLASS || node->count < LEAST_COUNT ||
            node->retained <= most || findings_is_entries(findings->view, node->name))
            continue;
        most = node->retained;
        found = i;
    }
    return found;
}

/* Spreads the objects of each look over the time since the look before: adds their shares to count
 * equal parts of the time from begin to end. */
static void spread(const struct g2h_ages_known *known, const struct age_counts *counts,
                   int64_t begin, double *parts, unsigned count)
{
    const int64_t end = known->looks[known->look_count].time;
    const double part = (double)(end - begin) / count;
    for (unsigned look = 2; look <= known->look_count && part > 0; look++) {
        const double to = (double)(known->looks[look].time - begin) / part;
        double from = (double)(known->looks[look - 1].time - begin) / part;
        if (from > to - 0.001) /* both looks are at one time: (to - from) must not be 0 */
            from = to - 0.001;
        for (unsigned i = 0; i < count; i++) {
            const double low = fmax(from, i);
            const double high = fmin(to, i + 1);
            if (high > low)
                parts[i] += (double)counts->looks[look] * (high - low) / (to - from);
        }
    }
}

/* Returns the class of spans that most objects are in. */
static unsigned main_class(const struct age_counts *counts)
{
    unsigned most = 0;
    for (unsigned i = 1; i < CLASSES; i++)
        if (counts->classes[i] > counts->classes[most])
            most = i;
    return most;
}

/* Adds up how many objects of a class of spans ended since a moment; *ret_first: of those that the
 * first look found. */
static uint64_t ended_since(const struct g2h_heap *heap, const struct g2h_ages_known *known,
                            unsigned class, int64_t since, uint64_t *ret_first)
{
    uint64_t sum = 0, first;
    *ret_first = 0;
    for (unsigned look = 2; look <= known->look_count; look++) {
        if (known->looks[look].time <= since)
            continue;
        sum += g2h_heap_ended(heap, class, look, &first);
        *ret_first += first;
    }
    return sum;
}

/* Returns how many objects of a class of spans are as old as the watch. */
static uint64_t old_of_class(const struct g2h_heap *heap, unsigned class)
{
    const uint32_t count = g2h_heap_object_count(heap);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += g2h_heap_age(heap, i) == 1 && g2h_heap_age_class(heap, i) == class;
    return sum;
}

/* Returns how many objects of a class of spans have survived a collection. */
static uint64_t survivors_of_class(const struct g2h_heap *heap, const struct g2h_ages_known *known,
                                   unsigned class)
{
    const uint32_t count = g2h_heap_object_count(heap);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum +=
            g2h_heap_age(heap, i) - 1u < known->look_count && g2h_heap_age_class(heap, i) == class;
    return sum;
}

/* ---- the rule ---- */

/* Returns whether a part is at most FEW_PERCENT of the whole: so few objects do not count. */
static bool is_few(uint64_t part, uint64_t of)
{
    return part * HUNDRED <= of * FEW_PERCENT;
}

/* Returns whether numbers of births are even: each quarter has EVEN of their mean or more, and all
 * together LEAST_COUNT. */
static bool is_even(const double *quarters)
{
    const double mean = (quarters[0] + quarters[1] + quarters[2] + quarters[3]) / QUARTERS;
    for (unsigned i = 0; i < QUARTERS; i++)
        if (quarters[i] < EVEN * mean)
            return false;
    return mean * QUARTERS >= LEAST_COUNT;
}

/* Returns whether nearly all objects (MOMENT_PERCENT) were born in one short part of the watch:
 * 1/MOMENT_PART of it, and not the last such part, which all objects of load are of, as they live
 * shortly. */
static bool is_moment(const struct g2h_ages_known *known, const struct age_counts *counts,
                      const struct ages_found *found)
{
    const int64_t end = known->looks[known->look_count].time;
    const int64_t part = (end - known->begin) / MOMENT_PART;
    /* From 2 on, counts->looks[look] were born between the look before and this one. */
    for (unsigned from = 2; from <= known->look_count; from++) {
        const int64_t begin = known->looks[from - 1].time;
        const int64_t last = MIN(begin + part, end - part);
        uint64_t sum = 0;
        for (unsigned look = from; look <= known->look_count && known->looks[look].time <= last;
             look++)
            sum += counts->looks[look];
        if (sum * HUNDRED >= found->count * MOMENT_PERCENT)
            return true;
    }
    return false;
}

/* Returns when the oldest objects of the watch were born, at the earliest: the time of the look
 * before the first one that found some of them new. If is_strict, one object is enough for that;
 * otherwise few do not count. */
static int64_t oldest_birth(const struct g2h_ages_known *known, const struct age_counts *counts,
                            uint64_t count, bool is_strict)
{
    uint64_t sum = 0;
    for (unsigned look = 2; look <= known->look_count; look++) {
        sum += counts->looks[look];
        if (is_strict ? sum > 0 : !is_few(sum, count))
            return known->looks[look - 1].time;
    }
    return known->looks[known->look_count].time;
}

/* Judges objects that are evenly spread, some of them older than the watch. What ends of their size
 * at that age may be theirs: AGES_LEAKS if that is LITTLE of what is born, AGES_REPLACED if it is
 * MUCH of it and they are half or more of the old objects of this size; AGES_UNCLEAR otherwise. */
static enum ages_verdict judge_even(const struct findings *findings,
                                    const struct age_counts *counts,
                                    const struct g2h_ages_known *known,
                                    const struct ages_found *found)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const int64_t end = known->looks[known->look_count].time,
                  half = known->begin + (end - known->begin) / 2;
    const unsigned class = main_class(counts);
    uint64_t first;
    (void)ended_since(heap, known, class, half, &first);
    const double births = (double)found->born / 2;
    if ((double)first <= LITTLE * births)
        return AGES_LEAKS;
    if ((double)first >= MUCH * births && found->before > 0 &&
        2 * found->before >= old_of_class(heap, class))
        return AGES_REPLACED;
    return AGES_UNCLEAR;
}

/* Returns how many looks there were after a moment. */
static unsigned looks_since(const struct g2h_ages_known *known, int64_t moment)
{
    unsigned count = 0;
    for (unsigned look = 2; look <= known->look_count; look++)
        count += known->looks[look].time > moment;
    return count;
}

/* Judges objects of which none is as old as the watch, by how many were born and how many of their
 * size ended. The first that applies: the oldest are nearly as old as the watch: mixed. In its last
 * quarter about as many ended as were born: bounded; but if most that survive of this size are not
 * the suspect's, those that ended may have been these: others. Too few looks since the first birth:
 * too short. Births were uneven, or more than a few ended in the last quarter: mixed. More than a
 * few ended before: others. Otherwise the class has begun to grow. */
static enum ages_verdict judge_cut(const struct findings *findings, const struct age_counts *counts,
                                   const struct g2h_ages_known *known, struct ages_found *found)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const int64_t end = known->looks[known->look_count].time,
                  birth = oldest_birth(known, counts, found->count, false);
    double quarters[QUARTERS] = {0};
    uint64_t first;
    const int64_t since = end - (end - known->begin) / QUARTERS;
    const unsigned class = main_class(counts);
    const uint64_t ended = ended_since(heap, known, class, since, &first);
    if ((end - birth) * HUNDRED > (end - known->begin) * OLD_PERCENT)
        return AGES_MIXED;
    spread(known, counts, birth, quarters, QUARTERS);
    const double births = (double)found->born * (double)(end - since) / (double)(end - birth + 1);
    if ((double)ended >= MUCH * births)
        return 2 * (found->before + found->born) >= survivors_of_class(heap, known, class)
                   ? AGES_BOUNDED
                   : AGES_OTHERS;
    if (looks_since(known, birth) < LEAST_SINCE)
        return AGES_SHORT;
    if (!is_even(quarters) || (double)ended > LITTLE * births)
        return AGES_MIXED;
    if ((double)ended_since(heap, known, class, known->begin, &first) >
        LITTLE * (double)found->born)
        return AGES_OTHERS; /* those before them have perhaps ended all at once */
    found->per_second = as_ratio(found->born * 1000, as_size(end - birth + 1));
    return AGES_BEGUN;
}

/* Returns the first verdict whose condition holds: too little was seen; nearly all objects are of
 * the start, have survived no collection, or are of one moment; they are spread evenly; or none is
 * as old as the watch. AGES_MIXED: none of these. */
static enum ages_verdict judge(const struct findings *findings, const struct age_counts *counts,
                               const struct g2h_ages_known *known, struct ages_found *found)
{
    const int64_t end = known->looks[known->look_count].time;
    const int64_t time = end - known->begin;
    double quarters[QUARTERS] = {0};
    if (known->look_count < 2)
        return AGES_ONE_LOOK;
    if (known->seen < LEAST_SEEN || time < LEAST_SECONDS * 1000)
        return AGES_FEW_LOOKS;
    if (found->count < LEAST_COUNT)
        return AGES_FEW;
    if (is_few(found->born + found->young, found->count))
        return AGES_START;
    if (is_few(found->born + found->before, found->count))
        return AGES_YOUNG;
    if (is_moment(known, counts, found))
        return AGES_MOMENT;
    spread(known, counts, known->begin, quarters, QUARTERS);
    if (is_even(quarters)) {
        found->per_second = as_ratio(found->born * 1000, as_size(time));
        return judge_even(findings, counts, known, found);
    }
    return is_few(found->before, found->count) ? judge_cut(findings, counts, known, found)
                                               : AGES_MIXED;
}

/* ---- all of it ---- */

/* Divides the objects by the look that saw them first: none did, the first one, or a later one. */
static void divide_by_look(const struct g2h_ages_known *known, const struct age_counts *counts,
                           struct ages_found *ret)
{
    ret->young = counts->looks[0];
    ret->before = counts->looks[1];
    ret->born = 0;
    for (unsigned look = 2; look <= known->look_count; look++)
        ret->born += counts->looks[look];
    ret->count = ret->before + ret->born + ret->young;
}

/* Counts the objects of ret->node, which is an item, or of those that stand for it, and makes
 * ret->node these. */
static struct g2h_error *ages_count(const struct findings *findings,
                                    const struct g2h_ages_known *known, struct age_counts *counts,
                                    struct ages_found *ret)
{
    const struct merged *merged = &findings->merged;
    _cleanup_free_ bool *is_below = calloc(merged->nodes.count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    for (uint32_t node = ret->node, before = MERGED_NONE; node != before;) {
        ret->node = before = node;
        *counts = (struct age_counts){.looks = {0}};
        merged_mark_below(merged, node, is_below);
        count_below(findings, node, is_below, counts);
        divide_by_look(known, counts, ret);
        if (ret->count < LEAST_COUNT)
            node = ages_find_held(findings, node, is_below);
    }
    return NULL;
}

/* Counts the objects by age and judges them. The verdict stays AGES_UNKNOWN if the heap has no
 * ages, the item is not of objects, or more than a few of them have no known age. Ages are in
 * seconds before the last look; bins are the spread of births over the watch. */
struct g2h_error *ages_find(const struct findings *findings, uint32_t item, struct ages_found *ret)
{
    const struct g2h_ages_known *known = g2h_heap_ages(g2h_view_heap(findings->view));
    struct age_counts counts = {.looks = {0}};
    double bins[AGES_BINS] = {0};
    *ret = (struct ages_found){.verdict = AGES_UNKNOWN, .node = item};
    if (!known || findings_node(findings, item)->kind != MERGED_CLASS)
        return NULL;
    TRY(ages_count(findings, known, &counts, ret));
    ret->seen = known->seen;
    ret->missed = known->missed;
    if (ret->count == 0 || !is_few(counts.looks[G2H_AGE_UNKNOWN], ret->count))
        return NULL;
    const int64_t end = known->looks[known->look_count].time;
    ret->seconds = (uint64_t)(end - known->begin + 500) / 1000;
    if (ret->born > 0) { /* rounded up, since 0 says that there is none */
        const int64_t birth = oldest_birth(known, &counts, ret->count, true);
        ret->oldest = (uint64_t)(end - birth + 999) / 1000;
    }
    spread(known, &counts, known->begin, bins, AGES_BINS);
    for (unsigned i = 0; i < AGES_BINS; i++)
        ret->bins[i] = (uint64_t)llround(bins[i]);
    ret->verdict = judge(findings, &counts, known, ret);
    return NULL;
}

/* ---- bytes by age ---- */

/* Sets ret[look] to the group of ages of the objects that a look saw first: ret[0], that no look
 * has seen, is AGES_NEW, and the first look is AGES_BEFORE. Each later look is of the quarter of
 * the watch in which it was made; one at the end of a quarter is of that, not of the next one. */
static void find_groups_of_looks(const struct g2h_ages_known *known,
                                 uint8_t ret[G2H_AGE_UNKNOWN + 1])
{
    const int64_t begin = known->looks[1].time;
    const int64_t time = known->looks[known->look_count].time - begin;
    ret[0] = AGES_NEW;
    ret[1] = AGES_BEFORE;
    for (unsigned look = 2; look <= known->look_count; look++) {
        const int64_t since = known->looks[look].time - begin;
        const int64_t quarter = time > 0 && since > 0 ? (since - 1) * QUARTERS / time : 0;
        assert(quarter < QUARTERS);
        ret[look] = (uint8_t)(AGES_BEFORE + 1 + quarter);
    }
}

/* Adds the size of each object to the group of its age, at the node of merged that it is part of.
 * *ret stays NULL if no ages are known. */
struct g2h_error *ages_find_groups(const struct findings *findings, struct ages_groups **ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const struct g2h_ages_known *known = ages_watched(heap);
    uint8_t groups[G2H_AGE_UNKNOWN + 1];
    *ret = NULL;
    if (!known)
        return NULL;
    struct ages_groups *sums = *ret = calloc(findings->merged.nodes.count + 1, sizeof(*sums));
    TRY_MEMORY(sums);
    memset(groups, AGES_GROUPS, sizeof(groups));
    find_groups_of_looks(known, groups);
    for (uint32_t i = 0; i < findings->merged.of_count; i++) {
        struct g2h_node node;
        if (findings->merged.of[i] == MERGED_NONE)
            continue;
        g2h_view_brief(findings->view, g2h_dominators_node(findings->dominators, i), &node);
        const uint8_t group =
            node.object == UINT32_MAX ? AGES_GROUPS : groups[g2h_heap_age(heap, node.object)];
        if (group < AGES_GROUPS)
            sums[findings->merged.of[i]].bytes[group] += node.size;
    }
    return NULL;
}

/* ---- objects that are older than a time ---- */

struct older_finder {
    const struct findings *findings;
    uint32_t name;
    unsigned last;      /* an object that this look saw, or one before, is old enough */
    uint8_t *old;       /* by number of a node in the order of dominators: enum older_kind */
    struct map by_node; /* node of merged → its line */
    struct ages_older *found;
};

enum older_kind { OLDER_ITSELF = 1, OLDER_BELOW = 2 /* an old object of the class holds it */ };

static void older_finder_deinit(struct older_finder *finder)
{
    free(finder->old);
    map_deinit(&finder->by_node);
}

void ages_older_deinit(struct ages_older *older)
{
    free(older->lines.data);
}

/* Returns the last look whose objects are old enough; 0: there is none. */
static unsigned last_old_look(const struct g2h_ages_known *known, uint64_t seconds)
{
    const int64_t end = known->looks[known->look_count].time;
    unsigned last = 0;
    for (unsigned look = 1; look <= known->look_count; look++)
        if ((uint64_t)(end - known->looks[look].time) / 1000 >= seconds)
            last = look;
    return last;
}

/* Sets *ret to the last look whose objects are at least this old. Errors, with the reason for the
 * user: the dump is cut, nothing was watched, or not for so long. */
static struct g2h_error *find_last_old_look(const struct g2h_heap *heap, uint64_t seconds,
                                            unsigned *ret)
{
    const struct g2h_ages_known *known = ages_watched(heap);
    TRY(ages_check_cut(heap));
    if (!known)
        return error_create(G2H_ERROR_NOT_FOUND,
                            "it is not known how old objects are: no collection of the process "
                            "was watched; --ages %llus watches first, longer if there are few",
                            (unsigned long long)seconds * 2);
    *ret = last_old_look(known, seconds);
    const int64_t watched = known->looks[known->look_count].time - known->looks[1].time;
    return *ret > 0 ? NULL
                    : error_create(G2H_ERROR_NOT_FOUND,
                                   "it is not known which objects are older than %llu s: the "
                                   "process was watched for %lld s between collections",
                                   (unsigned long long)seconds, (long long)(watched / 1000));
}

/* Adds an old object to the row of the report that it belongs to (its line). If is_below, an old
 * object that is counted already holds it: then it adds to the number of objects only, as the bytes
 * that it retains are part of the other's. Returns false if memory runs out. */
static bool older_add(struct older_finder *finder, uint32_t number, uint32_t node, bool is_below)
{
    const uint32_t line = finder->findings->merged.of[number];
    const uint64_t retained = g2h_dominators_retained_size(finder->findings->dominators, node);
    uint32_t index = as_u32(finder->found->lines.count);
    if (!map_put(&finder->by_node, line, index, &index) ||
        (index == finder->found->lines.count &&
         !vector_push(&finder->found->lines, ((struct ages_older_line){line, 0, 0, UINT32_MAX}))))
        return false;
    struct ages_older_line *to = &finder->found->lines.data[index];
    to->count++;
    finder->found->count++;
    if (is_below)
        return true;
    to->retained += retained;
    finder->found->retained += retained;
    if (to->largest == UINT32_MAX ||
        g2h_dominators_retained_size(finder->findings->dominators, to->largest) < retained)
        to->largest = node;
    return true;
}

/* Returns whether a node of the view is an old object of the class: its age is known, and is of the
 * last look that counts (finder->last) or before; and it is not garbage. */
static bool is_old(const struct older_finder *finder, uint32_t number, uint32_t node)
{
    const struct findings *findings = finder->findings;
    const uint32_t line = findings->merged.of[number];
    const struct merged_node *merged = line == MERGED_NONE ? NULL : findings_node(findings, line);
    struct g2h_node read;
    if (!merged || merged->kind != MERGED_CLASS || merged->name != finder->name ||
        merged->is_garbage)
        return false;
    g2h_view_brief(findings->view, node, &read);
    const unsigned age = read.object == UINT32_MAX
                             ? G2H_AGE_UNKNOWN
                             : g2h_heap_age(g2h_view_heap(findings->view), read.object);
    return age > 0 && age <= finder->last;
}

/* Orders lines by what their objects retain, the most first. */
static int compare_lines(const void *a, const void *b)
{
    const struct ages_older_line *one = a;
    const struct ages_older_line *other = b;
    if (one->retained != other->retained)
        return COMPARE(other->retained, one->retained);
    return COMPARE(one->node, other->node);
}

/* Finds the objects of a class that are at least so old. An old object below another old one is
 * counted, but what it retains is part of the other's. */
struct g2h_error *ages_find_older(const struct findings *findings, uint32_t name, uint64_t seconds,
                                  struct ages_older *ret)
{
    const struct g2h_dominators *dominators = findings->dominators;
    const uint32_t count = findings->merged.of_count;
    _cleanup_(older_finder_deinit) struct older_finder finder = {
        .findings = findings, .name = name, .found = ret};
    *ret = (struct ages_older){.count = 0};
    TRY(find_last_old_look(g2h_view_heap(findings->view), seconds, &finder.last));
    finder.old = calloc(count_and_end(count), sizeof(*finder.old));
    TRY_MEMORY(finder.old);
    for (uint32_t i = 1; i < count; i++) { /* parents come first */
        const bool is_below = finder.old[g2h_dominators_above(dominators, i)] != 0;
        const uint32_t node = g2h_dominators_node(dominators, i);
        finder.old[i] = is_below ? OLDER_BELOW : 0;
        if (!is_old(&finder, i, node))
            continue;
        finder.old[i] |= OLDER_ITSELF;
        TRY_MEMORY(older_add(&finder, i, node, is_below));
    }
    vector_sort(&ret->lines, compare_lines);
    return NULL;
}
