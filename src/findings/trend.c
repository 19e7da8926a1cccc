/*
 * trend: which places of one process's heap grow over a series of snapshots; see
 * include/go2heapsnapshot/trend.h.
 *
 * A place is a path of names from the root of the merged tree, numbers left out, so that it is the
 * same in each heap. g2h_trend_add() makes the merged tree of a heap, adds each node's bytes and
 * objects to its place, and drops the heap. trend_classify() looks at the series of one place: does
 * it grow steadily, has it stopped, does it go up and down? trend_find() classifies all places and
 * chooses those to name: a place stands for what grows below it, or for its container. find_held()
 * finds paths to these while the last heap is open.
 */
#include "findings/trend.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "findings/findings.h"
#include "findings/goroutines.h"
#include "findings/patterns.h"
#include "findings/suspects.h"

/* How many growing places of either kind, steady or uneven, get a path in the last heap. */
enum { TREND_HELD = 10 };

/*
 * Places, and places that sum up others. While a goroutine runs a method of an object that a global
 * holds, both hold the object together, and all below it has another place in this one heap. So
 * objects of a class below objects of another are also summed up, whatever holds them: below
 * TREND_ANYWHERE, a place of its own below the root.
 */
enum { TREND_ANYWHERE = 1 };

/* A heap has some thousand places. If a program keeps making new ones, with ever different names,
 * no more than this many are kept. */
enum { MOST_PLACES = 1 << 16 };

/* ---- classifying a series of numbers ---- */

static uint64_t trend_distance(uint64_t one, uint64_t other)
{
    return one > other ? one - other : other - one;
}

/* Returns how linear a series is, from 0 to 100 percent: by the largest distance of a number from
 * the line between the first and the last one, relative to the growth from first to last. 0 if it
 * has not grown, or the distance is as large as the growth. */
static unsigned straightness_of(const uint64_t *numbers, size_t count)
{
    const double first = (double)numbers[0];
    const double growth = (double)numbers[count - 1] - first;
    double farthest = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        const double line = first + growth * (double)i / (double)(count - 1);
        farthest = fmax(farthest, fabs((double)numbers[i] - line));
    }
    if (growth <= 0 || farthest >= growth)
        return 0;
    return (unsigned)(100 * (1 - farthest / growth) + 0.5);
}

/* Returns the index from which on all numbers are away from the last one by at most a tenth of
 * range, which is that of all numbers. */
static size_t settled_since(const uint64_t *numbers, size_t count, uint64_t range)
{
    size_t since = count - 1;
    assert(count > 0);
    while (since > 0 && trend_distance(numbers[since - 1], numbers[count - 1]) <= range / 10)
        since--;
    return since;
}

/* Returns how many intervals the last third of the time has. */
static unsigned trend_third(unsigned intervals)
{
    return (intervals + 2) / 3;
}

/* Returns whether a series has grown by four fifths of its range, up to the index since, and then
 * has stayed there (settled_since()) for a quarter of the time and for two intervals at least. */
static bool has_stopped(const uint64_t *numbers, size_t count, uint64_t range, size_t since)
{
    assert(since < count);
    const size_t stayed = count - 1 - since; /* intervals, as the two others */
    const size_t quarter = (count - 1) / 4;
    return since > 0 && numbers[since] > numbers[0] && stayed >= 2 && stayed >= quarter &&
           numbers[since] - numbers[0] >= range - range / 5;
}

/* Returns whether each number is greater than the one step before it, from the last number back. */
static bool ascends(const uint64_t *numbers, size_t count, size_t step)
{
    for (size_t i = count - 1; i >= step; i -= step)
        if (numbers[i] <= numbers[i - step])
            return false;
    return true;
}

/* Returns whether it still grows: in nine of ten intervals, and hardly shrinks in any; or, if it
 * never shrinks, in each of five longer intervals. And in the last third of the time as well. */
static bool still_grows(const uint64_t *numbers, size_t count, const struct trend_course *course,
                        uint64_t fallen)
{
    enum { LONGER = TREND_LEAST - 1 };
    const unsigned intervals = course->intervals;
    if (course->grown <= 0 || course->tail <= 0)
        return false;
    if (course->ups >= intervals - intervals / 10 && fallen <= (uint64_t)course->grown / 20)
        return true;
    for (size_t step = 2; fallen == 0 && intervals / step >= LONGER; step++)
        if (ascends(numbers, count, step))
            return true;
    return false;
}

/* Returns whether the growth becomes less all the time, from the first interval to the last, as
 * that of a cache that fills with random keys does: in each sixth of the time by a tenth or more.
 * The load of a leak that falls once does not look like that, since its growth is about the same
 * before that, and after. */
static bool is_converging(const uint64_t *numbers, size_t count)
{
    enum { PARTS = 6 };
    const size_t part = count - 1 >= PARTS ? (count - 1) / PARTS : 1;
    for (size_t i = count - 1; i >= 2 * part; i -= part) {
        const int64_t later = as_growth(numbers[i - part], numbers[i]),
                      earlier = (int64_t)(numbers[i - part] - numbers[i - 2 * part]);
        if (earlier <= 0 || later > earlier - earlier / 10)
            return false;
    }
    return true;
}

/* Classifies a series that still grows: steadily, if in the last third of the time the growth is a
 * tenth of the average or more, or less without any interval in which it has not grown. The more
 * intervals these are, the less can chance do that, such as the changes of a full cache. Returns
 * whether it is. A series that has settled, and comes nearer and nearer to a limit, does not grow
 * steadily. */
static bool is_steady(const uint64_t *numbers, size_t count, const struct trend_course *course,
                      bool has_settled)
{
    enum { MANY = 5 }; /* intervals in which chance does not do that at any rate */
    static const double least[MANY] = {0.1, 0.1, 0.05, 0.025, 0.01}; /* by intervals */
    const unsigned third = trend_third(course->intervals);
    const double rate = (double)course->tail / third,
                 average = (double)course->grown / course->intervals;
    bool is_regular = true;
    if (has_settled && is_converging(numbers, count))
        return false;
    for (size_t i = count - third; i < count; i++)
        is_regular = is_regular && numbers[i] > numbers[i - 1];
    return rate >= average / 10 ||
           (is_regular && (third >= MANY || rate >= average * least[third]));
}

/* Classifies a series whose range, growth and settling are known. What still grows has not stopped,
 * even if it is near to the last number for long. Waves have risen and fallen by a quarter of the
 * range or more. */
static enum trend_kind trend_kind_of(const uint64_t *numbers, size_t count,
                                     const struct trend_course *course, uint64_t risen,
                                     uint64_t fallen)
{
    const uint64_t range = course->most - course->least;
    const bool is_much = range >= course->most / 10; /* a full cache changes by less */
    const bool has_settled = is_much && has_stopped(numbers, count, range, course->since);
    const bool grows = still_grows(numbers, count, course, fallen);
    if (grows && is_steady(numbers, count, course, has_settled)) /* a slow leak counts, too */
        return TREND_STEADY;
    if (!is_much)
        return TREND_LEVEL;
    if (grows)
        return TREND_SLOWING;
    if (has_settled)
        return TREND_STOPPED;
    if (risen >= range / 4 && fallen >= range / 4)
        return TREND_WAVES;
    return course->grown > 0 && (uint64_t)course->grown >= range / 2 && /* and not all at once */
                   course->ups >= 2 && course->ups >= course->intervals / 8
               ? TREND_UNEVEN
               : TREND_LEVEL;
}

/* Returns how a series of numbers goes on. Sums up rises and falls, and then classifies the series;
 * fewer than three numbers, or equal ones, are level. */
void trend_classify(const uint64_t *numbers, size_t count, struct trend_course *ret)
{
    uint64_t risen = 0, fallen = 0;
    *ret = (struct trend_course){.kind = TREND_LEVEL};
    if (count == 0)
        return;
    ret->least = ret->most = numbers[0];
    ret->intervals = (unsigned)(count - 1);
    for (size_t i = 1; i < count; i++) {
        const bool is_up = numbers[i] > numbers[i - 1];
        ret->ups += is_up;
        *(is_up ? &risen : &fallen) += trend_distance(numbers[i], numbers[i - 1]);
        ret->least = MIN(numbers[i], ret->least);
        ret->most = MAX(numbers[i], ret->most);
    }
    ret->grown = as_growth(numbers[0], numbers[count - 1]);
    ret->tail = (int64_t)(numbers[count - 1] - numbers[count - 1 - trend_third(ret->intervals)]);
    ret->straightness = straightness_of(numbers, count);
    if (ret->most == ret->least || count < 3)
        return;
    ret->since = settled_since(numbers, count, ret->most - ret->least);
    ret->kind = trend_kind_of(numbers, count, ret, risen, fallen);
}

/* ---- places ---- */

/* Appends a name without the words that are numbers, for "main and 20 goroutines" may become "main
 * and 80 goroutines"; "goroutines in 2 places" becomes "goroutines in several places". The names of
 * classes stay as they are. */
static void append_place_name(struct text *text, const char *name, size_t size,
                              enum merged_kind kind)
{
    const size_t begin = text->size;
    bool is_after_in = false;
    const char *word;
    size_t at = 0, length;
    if (kind == MERGED_CLASS) {
        text_append(text, name, size);
        return;
    }
    while (merged_next_word(name, size, &at, &word, &length)) {
        text_append(text, " ", text->size > begin);
        if (is_after_in && bytes_are(bytes_at(word, length), "place"))
            text_append_string(text, "one ");
        if (is_after_in && bytes_are(bytes_at(word, length), "places"))
            text_append_string(text, "several ");
        is_after_in = bytes_are(bytes_at(word, length), "in");
        text_append(text, word, length);
    }
}

/* Returns whether a node is a goroutine, or a group in one place. */
static bool is_goroutines(const struct merged *merged, uint32_t node)
{
    const bool is_synthetic = merged->nodes.data[node].kind == MERGED_SYNTHETIC;
    const enum g2h_node_kind kind = is_synthetic ? merged_kind_of(merged, node) : G2H_NODE_ROOT;
    return kind == G2H_NODE_GOROUTINE || kind == G2H_NODE_GOROUTINES_IN_PLACE;
}

/* Returns whether a node is internal memory of sync.Map or container/list, which users do not
 * know. */
static bool is_plumbing(const struct merged *merged, uint32_t node)
{
    const enum g2h_runtime_class class = merged_runtime_class(merged, node);
    return class == G2H_RUNTIME_TRIE || class == G2H_RUNTIME_ENTRY ||
           class == G2H_RUNTIME_TRIE_ENTRY;
}

/* Returns whether the runtime keeps what it reuses in objects of this node's class: runtime.p,
 * []*runtime.p (allp) and []*runtime.g (allgs). */
static bool holds_pooled(const struct merged *merged, uint32_t node)
{
    static const char lists[] = "[]*runtime.";
    size_t size;
    const char *name = merged_name(merged, node, &size);
    return merged_runtime_class(merged, node) == G2H_RUNTIME_P ||
           (size >= sizeof(lists) && memcmp(name, lists, sizeof(lists) - 1) == 0);
}

/* Returns whether a node is of calls that are deferred: their records are in use. */
static bool is_of_deferred(const struct merged *merged, uint32_t node)
{
    return merged->nodes.data[node].kind == MERGED_SYNTHETIC &&
           merged_kind_of(merged, node) == G2H_NODE_DEFERS_AND_PANICS;
}

/* Returns whether a node is what the runtime keeps for reuse and no goroutine or channel holds: the
 * runtime.g of goroutines that have ended (allgs), sudogs (p.sudogcache, sched.sudogcache), and
 * records of calls that are not deferred any more (p.deferpool, sched.deferpool). Their number is
 * the largest that was in use at once, and each P fills its own list: they can grow for a while in
 * a program that does not leak. */
static bool is_pooled(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    const enum g2h_runtime_class class = merged_runtime_class(merged, node);
    if (class != G2H_RUNTIME_G && class != G2H_RUNTIME_SUDOG && class != G2H_RUNTIME_DEFER)
        return false;
    for (uint32_t i = nodes[node].parent; i != MERGED_NONE; i = nodes[i].parent)
        if (is_goroutines(merged, i) || is_of_deferred(merged, i) ||
            (nodes[i].kind == MERGED_CLASS && merged_runtime_class(merged, i) != class &&
             !holds_pooled(merged, i)))
            return false;
    return true;
}

/* Finds a place below a place by its name, or adds it. *ret becomes MERGED_NONE if there are too
 * many. */
static struct g2h_error *find_named(struct g2h_trend *trend, const struct trend_place *place,
                                    const char *name, size_t size, uint32_t *ret)
{
    const uint32_t number = as_u32(trend->places.count);
    const uint32_t parent = place->parent;
    uint32_t known;
    *ret = MERGED_NONE;
    if (!string_pool_find(&trend->names, name, size, &known)) {
        if (number >= MOST_PLACES) /* a new name would be of a new place */
            return NULL;
        TRY_MEMORY(string_pool_intern(&trend->names, name, size, &known));
    }
    const uint64_t key = map_hash_pair((uint64_t)parent << 2 | place->kind, known);
    *ret = map_get(&trend->numbers, key);
    if (*ret != MAP_NONE || number >= MOST_PLACES)
        return NULL;
    TRY_MEMORY(map_put(&trend->numbers, key, number, ret));
    TRY_MEMORY(vector_push(&trend->places, *place));
    struct trend_place *made = &trend->places.data[number];
    made->name = known;
    made->child = made->sibling = made->anywhere = MERGED_NONE;
    if (parent != MERGED_NONE) {
        made->sibling = trend->places.data[parent].child;
        trend->places.data[parent].child = number;
    }
    return NULL;
}

/* Finds the place of a node below a place, or adds it. *ret becomes MERGED_NONE if there are too
 * many. */
static struct g2h_error *find_place(struct g2h_trend *trend, const struct merged *merged,
                                    uint32_t node, uint32_t parent, uint32_t *ret)
{
    const struct trend_place place = {.parent = parent,
                                      .kind = merged->nodes.data[node].kind,
                                      .is_goroutines = is_goroutines(merged, node),
                                      .is_plumbing = is_plumbing(merged, node),
                                      .is_pooled = is_pooled(merged, node)};
    _cleanup_(text_deinit) struct text text = {0};
    size_t size;
    const char *name = merged_name(merged, node, &size);
    append_place_name(&text, name, size, place.kind);
    TRY_MEMORY(!text.failed);
    return find_named(trend, &place, text.data ? text.data : "", text.size, ret);
}

/* Finds the place that sums up a class below another one, wherever they are, and notes it in the
 * place of the node. */
static struct g2h_error *find_anywhere(struct g2h_trend *trend, const struct merged *merged,
                                       uint32_t node, uint32_t place)
{
    const struct merged_node *nodes = merged->nodes.data;
    struct trend_place sum = {.parent = TREND_ANYWHERE, .kind = MERGED_CLASS};
    uint32_t found = TREND_ANYWHERE;
    size_t size;
    if (nodes[nodes[node].parent].kind == MERGED_CLASS) {
        const char *above = merged_name(merged, nodes[node].parent, &size);
        sum.is_plumbing = is_plumbing(merged, nodes[node].parent);
        TRY(find_named(trend, &sum, above, size, &found));
        if (found == MERGED_NONE)
            return NULL;
    }
    sum.parent = found;
    sum.is_plumbing = is_plumbing(merged, node);
    const char *name = merged_name(merged, node, &size);
    TRY(find_named(trend, &sum, name, size, &found));
    trend->places.data[place].anywhere = found;
    return NULL;
}

/* Creates the places of the root and of sums, unless there are places already. */
static struct g2h_error *create_first_places(struct g2h_trend *trend, const struct merged *merged)
{
    static const char name[] = "(held by different roots over time)";
    const struct trend_place anywhere = {.parent = 0, .kind = MERGED_SYNTHETIC};
    uint32_t found;
    if (trend->places.count > 0)
        return NULL;
    TRY(find_place(trend, merged, 0, MERGED_NONE, &found));
    return find_named(trend, &anywhere, name, sizeof(name) - 1, &found);
}

/* Adds what a node retains and counts to its place; several nodes may have one place, whose entries
 * are known if those of all of them are. */
static struct g2h_error *trend_add_value(struct trend_heap *heap, uint32_t place,
                                         const struct merged *merged, uint32_t node)
{
    while (heap->values.count <= place)
        TRY_MEMORY(vector_push(&heap->values, ((struct trend_value){0})));
    struct trend_value *value = &heap->values.data[place];
    const uint64_t entries = merged->nodes.data[node].entries;
    const bool is_known = entries > 0 && (value->count == 0 || value->entries > 0);
    value->entries = is_known ? value->entries + entries : 0;
    value->retained += merged_held(merged, node);
    value->count += merged->nodes.data[node].count;
    return NULL;
}

/* Finds the place of each node, parents first, and adds the node's values to it and to the place
 * that sums up its class wherever it is held (anywhere). places[] gets the place of each, or
 * MERGED_NONE: garbage has no place, nor has a node whose parent has none, nor one for which there
 * are too many: these are counted in left_out. */
static struct g2h_error *add_nodes(struct g2h_trend *trend, struct trend_heap *heap,
                                   const struct merged *merged, uint32_t *places)
{
    TRY(create_first_places(trend, merged));
    for (uint32_t i = 0; i < merged->nodes.count; i++) {
        const struct merged_node *node = &merged->nodes.data[i];
        const uint32_t above = node->parent == MERGED_NONE ? MERGED_NONE : places[node->parent];
        places[i] = MERGED_NONE;
        if (node->is_garbage || (node->parent != MERGED_NONE && above == MERGED_NONE))
            continue;
        TRY(find_place(trend, merged, i, above, &places[i]));
        if (places[i] == MERGED_NONE) {
            trend->left_out++;
            continue;
        }
        TRY(trend_add_value(heap, places[i], merged, i));
        const struct trend_place *place = &trend->places.data[places[i]];
        if (node->kind == MERGED_CLASS && place->anywhere == MERGED_NONE && !place->is_pooled)
            TRY(find_anywhere(trend, merged, i, places[i])); /* may move the list of places */
        if (trend->places.data[places[i]].anywhere != MERGED_NONE)
            TRY(trend_add_value(heap, trend->places.data[places[i]].anywhere, merged, i));
    }
    return NULL;
}

static void heap_deinit(struct trend_heap *heap)
{
    free(heap->name);
    free(heap->values.data);
}

/* A heap that is being added. */
struct addition {
    struct findings findings;
    struct trend_heap heap; /* empty once the trend has it */
    uint32_t *places;       /* by node of the merged tree, or MERGED_NONE */
};

static void addition_deinit(struct addition *addition)
{
    findings_deinit(&addition->findings);
    heap_deinit(&addition->heap);
    free(addition->places);
}

/* Builds the merged tree of a heap, and finds the places of its nodes. Of the first heap, notes
 * what its single large objects retain (growth_holders_fill()); the findings of later heaps get
 * these notes, as of a base. */
static struct g2h_error *trend_fill(struct g2h_trend *trend, struct addition *addition)
{
    struct trend_heap *heap = &addition->heap;
    const struct merged *merged = &addition->findings.merged;
    TRY(findings_begin(&addition->findings, false));
    TRY(findings_merge(&addition->findings));
    heap->reachable = merged_held(merged, 0);
    heap->objects = growth_count_held(merged->view);
    heap->goroutines = g2h_view_goroutine_count(merged->view);
    addition->places = malloc((merged->nodes.count + 1) * sizeof(*addition->places));
    TRY_MEMORY(addition->places);
    if (trend->added == 0)
        TRY(growth_holders_fill(addition->findings.dominators, merged, &trend->holders));
    addition->findings.holders = trend->added > 0 ? &trend->holders : NULL;
    return add_nodes(trend, heap, merged, addition->places);
}

/* Forgets the last heap if another one comes and it is not to be kept. */
static void forget_last(struct g2h_trend *trend)
{
    /* Every stride-th heap is kept, counted from the first one, number 0. */
    if (trend->heaps.count > 0 && (trend->added - 1) % trend->stride != 0)
        heap_deinit(&trend->heaps.data[--trend->heaps.count]);
}

/* If there are too many heaps, drops every second one and doubles the stride, so that the rest are
 * at equal distances again. */
static void drop_every_second_heap(struct g2h_trend *trend)
{
    size_t kept = 0;
    if (trend->heaps.count <= TREND_MOST)
        return;
    for (size_t i = 0; i < trend->heaps.count; i++)
        if (i % 2 == 0)
            trend->heaps.data[kept++] = trend->heaps.data[i];
        else
            heap_deinit(&trend->heaps.data[i]);
    trend->heaps.count = kept;
    trend->stride *= 2;
}

static void trend_held_deinit(struct trend_held *held)
{
    text_deinit(&held->path);
    text_deinit(&held->example);
    text_deinit(&held->waits_at);
    text_deinit(&held->wait_on);
    text_deinit(&held->started_by);
    text_deinit(&held->reason);
    text_deinit(&held->aged);
}

/* Forgets what the last heap has told of growing places: their paths, containers and parts. */
static void forget_held(struct g2h_trend *trend)
{
    VECTOR_EACH(struct trend_held, held, trend->held)
        trend_held_deinit(held);
    trend->held.count = trend->contained.count = trend->parts.count = 0;
}

/* Returns whether the entries of a place are known, by its own count, in all heaps that have it,
 * and there are some in the last one. */
static bool knows_entries(const struct g2h_trend *trend, uint32_t place)
{
    bool has_entries = false; /* in the heap that was looked at last */
    for (size_t i = 0; i < trend->heaps.count; i++) {
        const struct trend_value value = trend_value_of(trend, i, place);
        if (value.count > 0 && value.entries == 0)
            return false;
        has_entries = value.entries > 0;
    }
    return has_entries;
}

/* Returns whether a place is one map or the like, of which entries are known and nothing below it:
 * it grows by its entries. */
static bool grows_by_entries(const struct g2h_trend *trend, uint32_t place)
{
    return trend->places.data[place].child == MERGED_NONE && knows_entries(trend, place);
}

/* ---- containers of the last heap ---- */

/* The search for the containers of the places that were found. */
struct container_search {
    struct g2h_trend *trend;
    const struct findings *findings;
    const uint32_t *places; /* by node of merged */
    growth_vector growth;   /* by node, from the first heap to the last */
    struct containers containers;
    uint32_t *nodes; /* by place: its node that retains most, or MERGED_NONE */
    uint32_t *owner; /* by node: the place whose container it is in, or MERGED_NONE */
    bool *is_in;     /* by node: it is a part of the container that was found last */
};

static void container_search_deinit(struct container_search *search)
{
    free(search->growth.data);
    containers_deinit(&search->containers);
    free(search->nodes);
    free(search->owner);
    free(search->is_in);
}

/* Returns what a place retains in a heap besides the places below it. */
static uint64_t own_of(const struct g2h_trend *trend, size_t heap, uint32_t place)
{
    uint64_t own = trend_value_of(trend, heap, place).retained;
    for (uint32_t i = trend->places.data[place].child; i != MERGED_NONE;
         i = trend->places.data[i].sibling) {
        const uint64_t below = trend_value_of(trend, heap, i).retained;
        own = own > below ? own - below : 0;
    }
    return own;
}

/* Finds the growth of each node since the first heap. Of several nodes in one place, one has the
 * growth of the place. */
static struct g2h_error *find_growth(struct container_search *search)
{
    const struct g2h_trend *trend = search->trend;
    const struct merged_node *nodes = search->findings->merged.nodes.data;
    const size_t count = search->findings->merged.nodes.count;
    const size_t last = trend->heaps.count - 1;
    TRY_MEMORY(vector_grow(&search->growth, count));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = search->places[i];
        struct growth growth = {.before = MERGED_NONE};
        if (place != MERGED_NONE && search->nodes[place] == i) {
            const struct trend_value before = trend_value_of(trend, 0, place),
                                     now = trend_value_of(trend, last, place);
            growth.retained = growth.within = as_growth(before.retained, now.retained);
            growth.bytes = growth.own =
                as_growth(own_of(trend, 0, place), own_of(trend, last, place));
            growth.count = growth.more = as_growth(before.count, now.count);
            growth.weight = growth.within > 0 ? (uint64_t)growth.within : 0;
        }
        search->growth.data[search->growth.count++] = growth;
    }
    for (size_t i = count; i-- > 1;) { /* children come after their parents */
        struct growth *above = &search->growth.data[nodes[i].parent];
        const uint64_t weight = search->growth.data[i].weight;
        above->weight = MAX(weight, above->weight);
    }
    return containers_init(search->findings, &search->growth, &search->containers);
}

/* Prepares a search in the last heap: finds for each place of the trend the node of merged that
 * retains most there (MERGED_NONE: none), and then the growth of all nodes. */
static struct g2h_error *container_search_begin(struct container_search *search)
{
    const struct merged_node *nodes = search->findings->merged.nodes.data;
    const size_t count = search->findings->merged.nodes.count;
    const size_t places = search->trend->places.count;
    search->nodes = malloc((places + 1) * sizeof(*search->nodes));
    search->owner = malloc((count + 1) * sizeof(*search->owner));
    search->is_in = calloc(count + 1, sizeof(*search->is_in));
    TRY_MEMORY(search->nodes && search->owner && search->is_in);
    for (size_t i = 0; i < places; i++)
        search->nodes[i] = MERGED_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t place = search->places[i];
        search->owner[i] = MERGED_NONE;
        if (place != MERGED_NONE && (search->nodes[place] == MERGED_NONE ||
                                     nodes[i].retained > nodes[search->nodes[place]].retained))
            search->nodes[place] = i;
    }
    return find_growth(search);
}

/* Returns whether a container may be below a node, as suspects have it: objects, the node of a
 * variable, or the pointer of a variable that leads to a single object. */
static bool may_begin(const struct merged *merged, uint32_t node)
{
    const struct merged_node *at = &merged->nodes.data[node];
    if (at->kind == MERGED_SYNTHETIC)
        return merged_kind_of(merged, node) == G2H_NODE_VARIABLE;
    return at->kind == MERGED_CLASS || at->count == 1;
}

/* Finds the container that a node is in, and marks what it consists of: the uppermost one, as
 * suspects have it. Returns false if the node is in none. */
static bool find_container_of(const struct container_search *search, uint32_t node,
                              struct container *ret)
{
    const struct merged *merged = &search->findings->merged;
    enum { MOST_ABOVE = 64 };
    uint32_t above[MOST_ABOVE], count = 0, last;
    for (uint32_t i = node; i != MERGED_NONE && count < MOST_ABOVE;
         i = merged->nodes.data[i].parent)
        above[count++] = i;
    while (count-- > 0) {
        if (!may_begin(merged, above[count]) ||
            !containers_find(&search->containers, above[count], ret, &last))
            continue;
        container_mark(&search->containers, ret, search->is_in);
        if (search->is_in[node])
            return true;
    }
    return false;
}

/* Adds the numbers of a place, of the kind counted, to the container found; MERGED_NONE has none.
 */
static struct g2h_error *add_part(struct g2h_trend *trend, uint32_t found, uint32_t place,
                                  enum trend_counted counted)
{
    if (place != MERGED_NONE)
        TRY_MEMORY(vector_push(&trend->parts, ((struct trend_part){found, place, counted})));
    return NULL;
}

/* Notes which places' numbers add up to a container's. Its bytes: all that its node retains, or, if
 * it has more than entries, its own and what the children of its entries retain. Its length: the
 * entries of a map or slice if all heaps have them, else the objects of the item's class. */
static struct g2h_error *add_parts(const struct container_search *search, uint32_t found,
                                   const struct suspect *suspect)
{
    struct g2h_trend *trend = search->trend;
    const struct container *container = &suspect->container;
    const struct merged_node *nodes = search->findings->merged.nodes.data;
    const uint32_t *places = search->places;
    const uint32_t node = container->node;
    const uint32_t item = container->item;
    if (node == MERGED_NONE || container->is_all) {
        TRY(add_part(trend, found, places[node == MERGED_NONE ? item : node], TREND_RETAINED));
    } else {
        TRY(add_part(trend, found, places[node], TREND_OWN));
        for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
            if (container_has(&search->containers, container, i))
                TRY(add_part(trend, found, places[i], TREND_RETAINED));
    }
    const uint32_t counted = suspect_node_of_entries(&search->findings->merged, suspect);
    if (counted != MERGED_NONE && places[counted] != MERGED_NONE &&
        knows_entries(trend, places[counted]))
        return add_part(trend, found, places[counted], TREND_ENTRIES);
    for (uint32_t i = item; i < search->findings->merged.nodes.count; i++)
        if (search->is_in[i] && nodes[i].kind == MERGED_CLASS && nodes[i].name == nodes[item].name)
            TRY(add_part(trend, found, places[i], TREND_OBJECTS));
    return NULL;
}

/* Returns the node of a place that was found, if it may be in a container: objects that have become
 * more, or larger. */
static uint32_t node_of_found(const struct container_search *search, uint32_t place)
{
    const struct trend_place *found = &search->trend->places.data[place];
    return found->is_goroutines || found->kind == MERGED_SYNTHETIC ? MERGED_NONE
                                                                   : search->nodes[place];
}

/* Returns the container that is marked as a suspect, with the number of its objects. */
static struct suspect suspect_marked(const struct container_search *search,
                                     const struct container *container)
{
    const struct merged_node *nodes = search->findings->merged.nodes.data;
    struct suspect suspect = suspect_of_container(&search->findings->merged, container);
    for (uint32_t i = suspect.item; i < search->findings->merged.nodes.count; i++)
        if (search->is_in[i] && nodes[i].kind == MERGED_CLASS &&
            nodes[i].name == nodes[suspect.item].name)
            suspect.count += nodes[i].count;
    return suspect;
}

/* Gives to a place the nodes of the container that it is or is in, which *ret becomes: they count
 * as this place's from now on. If there is no container, or a part of it is another place's
 * already, gives only the nodes at and below the place that are nobody's, and leaves *ret. */
static struct g2h_error *give_container(struct container_search *search, uint32_t place,
                                        struct suspect *ret)
{
    const struct merged *merged = &search->findings->merged;
    const uint32_t node = node_of_found(search, place);
    struct container container;
    if (node == MERGED_NONE)
        return NULL;
    bool is_free = find_container_of(search, node, &container);
    for (uint32_t i = 0; i < merged->nodes.count && is_free; i++)
        is_free = !search->is_in[i] || search->owner[i] == MERGED_NONE;
    if (is_free) {
        *ret = suspect_marked(search, &container);
    } else { /* merged_mark_below() leaves the nodes before this one as they are */
        memset(search->is_in, 0, node * sizeof(*search->is_in));
        merged_mark_below(merged, node, search->is_in);
    }
    for (uint32_t i = 0; i < merged->nodes.count; i++)
        if (search->is_in[i] && search->owner[i] == MERGED_NONE)
            search->owner[i] = place;
    if (!is_free)
        return NULL;
    TRY_MEMORY(vector_push(&search->trend->contained, ((struct trend_contained){place, place})));
    return add_parts(search, place, ret);
}

/* Finds how old the objects of an item are, if that is known by more than the last collection. */
static struct g2h_error *find_age(const struct findings *findings, uint32_t item,
                                  struct trend_held *held)
{
    size_t size;
    if (!ages_watched(g2h_view_heap(findings->view)))
        return NULL;
    TRY(ages_find(findings, item, &held->age));
    if (held->age.node != item) {
        const char *name = merged_name(&findings->merged, held->age.node, &size);
        text_append_utf8(&held->aged, name, size, SIZE_MAX);
    }
    return held->aged.failed ? &error_no_memory : NULL;
}

/* Returns whether a node of the view is one of the objects of an item, and holds less than half of
 * them: not the uppermost one of a tree. */
static bool is_one_of_many(const struct findings *findings, uint32_t item, uint32_t node)
{
    return node != UINT32_MAX &&
           findings->merged.of[g2h_dominators_number(findings->dominators, node)] == item &&
           g2h_dominators_retained_size(findings->dominators, node) <
               findings_node(findings, item)->retained / 2;
}

/* Finds what the report says of how a container is held: the path to it, its length, an example of
 * its entries, if that is another object, whether it is a single object, and its age; adds this to
 * trend->held. */
static struct g2h_error *hold_container(const struct container_search *search, uint32_t place,
                                        const struct suspect *suspect)
{
    struct g2h_trend *trend = search->trend;
    const struct findings *findings = search->findings;
    struct trend_held held = {.place = place};
    struct who who = {.suspect = *suspect};
    uint32_t end;
    struct g2h_error *error = who_find_path(findings, &who);
    held.path = who.path; /* held owns it, after an error, too */
    held.length = who.length;
    held.containers = suspect->container.node == MERGED_NONE
                          ? 1
                          : findings_node(findings, suspect->container.node)->count;
    held.is_example = is_one_of_many(findings, suspect->item, who.path_end);
    if (!error && suspect->container.node != MERGED_NONE && who.path_end != who.example.node)
        error = path_append(findings->paths, who.example.node, &held.example, &end);
    if (!error)
        error = find_age(findings, suspect->item, &held);
    if (error || held.path.failed || held.example.failed || !vector_push(&trend->held, held)) {
        trend_held_deinit(&held);
        return error ? error : &error_no_memory;
    }
    return NULL;
}

/* Finds the containers that growing places are in, those of a kind after the other, and the path to
 * the first ones. A place in the container of an earlier one is no finding of its own. */
static struct g2h_error *find_containers(struct g2h_trend *trend, const struct addition *addition,
                                         const enum trend_kind *kinds, size_t count,
                                         const struct trend_founds *founds)
{
    _cleanup_(container_search_deinit) struct container_search search = {
        .trend = trend, .findings = &addition->findings, .places = addition->places};
    enum { MOST_FOUND = 64 };
    TRY(container_search_begin(&search));
    for (size_t k = 0; k < count; k++) {
        const trend_found_vector *found = &founds->by_kind[kinds[k]];
        for (size_t i = 0; i < found->count && i < MOST_FOUND; i++) {
            const uint32_t place = found->data[i].place;
            const uint32_t node = node_of_found(&search, place);
            struct suspect suspect = {.item = MERGED_NONE};
            if (node != MERGED_NONE && search.owner[node] != MERGED_NONE) {
                TRY_MEMORY(vector_push(&trend->contained,
                                       ((struct trend_contained){place, search.owner[node]})));
                continue;
            }
            TRY(give_container(&search, place, &suspect));
            if (suspect.item != MERGED_NONE && i < TREND_HELD)
                TRY(hold_container(&search, place, &suspect));
        }
    }
    return NULL;
}

/* ---- one of the objects of a place ---- */

/* Returns in which container a place is, or NULL. */
static const struct trend_contained *contained_of(const struct g2h_trend *trend, uint32_t place)
{
    VECTOR_EACH(const struct trend_contained, contained, trend->contained)
        if (contained->place == place)
            return contained;
    return NULL;
}

/* The object of a place that is named. Of several holders, such as the tenants of a map, that have
 * objects of the place it is one of the holder that has most of their bytes, if one has more than
 * half (Boyer-Moore majority vote), and of these the one that retains most. */
struct trend_example {
    uint32_t place;
    uint32_t item;   /* the node of merged that retains most of the place, or MERGED_NONE */
    uint32_t branch; /* the uppermost node of merged above it that has several objects, or it */
    uint32_t holder, number; /* in the order of dominators: an object of branch; the example */
    uint64_t votes, retained;
};

/* Finds the node of merged that a place is named by, and where its objects branch. ret.item is the
 * node of merged, of several the one that retains most, or MERGED_NONE; ret.branch is the uppermost
 * class above it with several objects. */
static struct trend_example find_branch(const struct g2h_trend *trend,
                                        const struct addition *addition, uint32_t place)
{
    const struct merged *merged = &addition->findings.merged;
    const struct merged_node *nodes = merged->nodes.data;
    const uint32_t summed_up = trend_last_holder(trend, place); /* of a sum: a place with objects */
    const uint32_t with_nodes = summed_up == MERGED_NONE ? place : summed_up;
    struct trend_example ret = {.place = place, .item = MERGED_NONE};
    for (uint32_t i = 0; i < merged->nodes.count; i++)
        if (addition->places[i] == with_nodes &&
            (ret.item == MERGED_NONE || nodes[i].retained > nodes[ret.item].retained))
            ret.item = i;
    ret.branch = ret.item;
    for (uint32_t i = ret.item; i != MERGED_NONE; i = nodes[i].parent)
        if (nodes[i].kind == MERGED_CLASS && nodes[i].count > 1)
            ret.branch = i;
    return ret;
}

/* Counts an object of the place, by its number in the order of dominators, for the holder at which
 * the objects branch. It is the majority vote of Boyer and Moore, weighted by retained bytes: of
 * one holder that has most of the bytes, it is sure to remain. Of that one, example->number is the
 * object that retains most. */
static void vote(const struct findings *findings, uint32_t number, struct trend_example *example)
{
    const struct g2h_dominators *dominators = findings->dominators;
    const uint64_t retained =
        g2h_dominators_retained_size(dominators, g2h_dominators_node(dominators, number));
    uint32_t holder = example->branch == example->item ? 0 : number;
    while (holder > 0 && findings->merged.of[holder] != example->branch)
        holder = g2h_dominators_above(dominators, holder);
    if (holder != example->holder && example->votes >= retained) {
        example->votes -= retained;
        return;
    }
    const bool is_new = holder != example->holder;
    example->votes = is_new ? retained - example->votes : example->votes + retained;
    if (is_new || retained > example->retained) {
        example->holder = holder;
        example->number = number;
        example->retained = retained;
    }
}

/* Finds the examples of count places, in one pass over all objects. Places that are named by the
 * same node of merged, such as a holder and what it holds anywhere, have the same example. */
static struct g2h_error *find_examples(const struct findings *findings,
                                       struct trend_example *examples, uint32_t count)
{
    _cleanup_free_ uint8_t *example_of = calloc(findings->merged.nodes.count + 1, 1); /* 0: none */
    TRY_MEMORY(example_of);
    assert(count < UINT8_MAX);
    for (uint32_t i = 0; i < count; i++)
        if (examples[i].item != MERGED_NONE)
            example_of[examples[i].item] = (uint8_t)(i + 1);
    for (uint32_t number = 1; number < findings->merged.of_count; number++) {
        const uint32_t line = findings->merged.of[number];
        if (line != MERGED_NONE && example_of[line] != 0 &&
            g2h_dominators_node(findings->dominators, number) != UINT32_MAX)
            vote(findings, number, &examples[example_of[line] - 1]);
    }
    for (uint32_t i = 0; i < count; i++)
        if (examples[i].item != MERGED_NONE)
            examples[i].number = examples[example_of[examples[i].item] - 1].number;
    return NULL;
}

/* Finds what is known of the goroutines that a place is, or is below of: where they wait, on what,
 * which go statement has started them, how many are leaked and why. Nothing if it is below no
 * goroutines, or none is there. The caller frees what *held has been given also after an error. */
static struct g2h_error *find_goroutines(const struct findings *findings, const struct leaks *leaks,
                                         uint32_t item, struct trend_held *held)
{
    const uint32_t goroutines = findings_place_of(findings, item); /* node of merged */
    const struct leaks_place *leaked = leaks_at(leaks, findings, item);
    struct stack_place found;
    struct goroutines_waited waited;
    struct g2h_view_goroutine goroutine;
    if (goroutines == MERGED_NONE)
        return NULL;
    TRY(stack_place_find(findings, goroutines, &found));
    if (found.example == UINT32_MAX)
        return NULL;
    g2h_view_goroutine(findings->view, found.example, &goroutine);
    stack_append_frames(findings, found.example, &held->waits_at);
    struct g2h_error *error = goroutines_find_waited(findings, goroutines, &waited);
    held->wait_on = waited.paths; /* held owns them, after an error, too */
    TRY(error);
    held->alike = found.alike;
    held->wait_alike = held->wait_on.size > 0 ? waited.count : 0;
    if (held->wait_on.size == 0) /* no path, or not most on one object: what kind it is, at least */
        goroutines_append_classes(findings, goroutine.node, &held->wait_on);
    findings_append_targets(findings, paths_edges(findings->paths), goroutine.node, NULL,
                            G2H_NODE_CREATION_SITE, &held->started_by);
    held->goroutines = found.of;
    held->leaked = leaked ? leaked->count : 0;
    held->each = found.of > 0 ? findings_node(findings, goroutines)->retained / found.of : 0;
    if (leaked)
        leaks_append_reason(findings, leaked->example, leaked->count > 1, &held->reason);
    TRY_MEMORY(!held->waits_at.failed && !held->wait_on.failed && !held->started_by.failed &&
               !held->reason.failed);
    return NULL;
}

/* Finds the path to the example of a place in the heap that has been added. None if it has no
 * example. */
static struct g2h_error *find_path(struct g2h_trend *trend, const struct findings *findings,
                                   const struct leaks *leaks, const struct trend_example *example)
{
    const size_t last = trend->heaps.count - 1;
    struct trend_held held = {.place = example->place,
                              .is_example = trend_value_of(trend, last, example->place).count > 1};
    uint32_t end;
    if (example->number == 0)
        return NULL;
    TRY_MEMORY(vector_grow(&trend->held, 1));
    struct g2h_error *error =
        path_append(findings->paths, g2h_dominators_node(findings->dominators, example->number),
                    &held.path, &end);
    if (!error && held.path.size > 0 && grows_by_entries(trend, example->place))
        error = length_find(findings, end, &held.path, &held.length);
    if (!error)
        error = find_goroutines(findings, leaks, example->item, &held);
    if (!error)
        error = find_age(findings, example->item, &held);
    trend->held.data[trend->held.count++] = held; /* owned by the list, after an error, too */
    TRY(error);
    TRY_MEMORY(!held.path.failed);
    return NULL;
}

/* Finds paths to the places that grow, steadily or not, while the heap is still open: it may turn
 * out to be the last one. */
static struct g2h_error *find_held(struct g2h_trend *trend, const struct addition *addition)
{
    _cleanup_(trend_founds_deinit) struct trend_founds founds = {0};
    static const enum trend_kind kinds[] = {TREND_STEADY, TREND_SLOWING, TREND_UNEVEN,
                                            TREND_STOPPED};
    enum { KINDS = COUNT_OF(kinds) };
    struct trend_example examples[KINDS * TREND_HELD];
    uint32_t count = 0;
    TRY(trend_find(trend, founds.by_kind));
    TRY(find_containers(trend, addition, kinds, KINDS, &founds));
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < founds.by_kind[kinds[k]].count && i < TREND_HELD; i++)
            if (!contained_of(trend, founds.by_kind[kinds[k]].data[i].place))
                examples[count++] =
                    find_branch(trend, addition, founds.by_kind[kinds[k]].data[i].place);
    TRY(find_examples(&addition->findings, examples, count));
    _cleanup_(leaks_deinit) struct leaks leaks = {0};
    TRY(leaks_find(&addition->findings, &leaks));
    for (uint32_t i = 0; i < count; i++)
        TRY(find_path(trend, &addition->findings, &leaks, &examples[i]));
    return NULL;
}

struct g2h_error *g2h_trend_create(struct g2h_trend **ret)
{
    *ret = calloc(1, sizeof(**ret));
    TRY_MEMORY(*ret);
    (*ret)->stride = 1;
    return NULL;
}

void g2h_trend_destroy(struct g2h_trend *trend)
{
    if (!trend)
        return;
    VECTOR_EACH(struct trend_heap, heap, trend->heaps)
        heap_deinit(heap);
    free(trend->heaps.data);
    free(trend->places.data);
    forget_held(trend);
    free(trend->held.data);
    free(trend->contained.data);
    free(trend->parts.data);
    map_deinit(&trend->numbers);
    growth_holders_deinit(&trend->holders);
    string_pool_deinit(&trend->names);
    free(trend);
}

/* Adds a heap to the trend. The heap is moved into the list last, so that an error leaves the trend
 * as it was. */
struct g2h_error *g2h_trend_add(struct g2h_trend *trend, const struct g2h_view *view,
                                const char *name, int64_t time, unsigned threads)
{
    _cleanup_(addition_deinit) struct addition addition = {
        .findings = {.view = view, .threads = threads, .is_of_series = true},
        .heap = {.name = strdup(name), .time = time}};
    TRY_MEMORY(addition.heap.name);
    TRY(trend_fill(trend, &addition));
    TRY_MEMORY(vector_grow(&trend->heaps, 1));
    forget_last(trend);
    trend->heaps.data[trend->heaps.count++] = addition.heap;
    addition.heap = (struct trend_heap){.name = NULL};
    trend->added++;
    trend->limit = 0;
    drop_every_second_heap(trend);
    forget_held(trend);
    return trend->is_more_expected ? NULL : find_held(trend, &addition);
}

void g2h_trend_expect_more(struct g2h_trend *trend, bool more)
{
    trend->is_more_expected = more;
}

/* Sets the limit of memory of the process, and how much it left. */
void g2h_trend_set_limit(struct g2h_trend *trend, uint64_t limit, uint64_t left)
{
    trend->limit = limit;
    trend->left = left;
}

/* Notes for the last heap how much memory the process had, and how much of it beside the objects.
 * Does nothing without heaps, or if RSS is not known. */
void g2h_trend_set_memory(struct g2h_trend *trend, const struct g2h_memory *memory)
{
    if (trend->heaps.count == 0 || memory->resident == 0)
        return;
    struct trend_heap *last = &trend->heaps.data[trend->heaps.count - 1];
    last->resident = memory->resident;
    last->beside = memory->resident - memory->parts[G2H_MEMORY_OBJECTS];
    last->outside = last->beside - memory->parts[G2H_MEMORY_SLOTS] - memory->parts[G2H_MEMORY_FREE];
}

/* Returns how the memory beside the objects developed. What the process has besides the heap is
 * known only if all heaps tell its resident memory. */
struct g2h_error *trend_beside(const struct g2h_trend *trend, struct trend_course *ret,
                               struct trend_course *ret_outside)
{
    const size_t heaps = trend->heaps.count;
    _cleanup_free_ uint64_t *numbers = calloc(2 * heaps + 1, sizeof(*numbers));
    bool is_known = true;
    TRY_MEMORY(numbers);
    for (size_t i = 0; i < heaps; i++) {
        numbers[i] = trend->heaps.data[i].beside;
        numbers[heaps + i] = trend->heaps.data[i].outside;
        is_known = is_known && trend->heaps.data[i].resident > 0;
    }
    trend_classify(numbers, is_known ? heaps : 0, ret);
    trend_classify(numbers + heaps, is_known ? heaps : 0, ret_outside);
    return NULL;
}

/* Returns the value of a place in a heap. */
struct trend_value trend_value_of(const struct g2h_trend *trend, size_t heap, uint32_t place)
{
    const struct trend_heap *of = &trend->heaps.data[heap];
    return place < of->values.count ? of->values.data[place] : (struct trend_value){0};
}

/* Returns the value in one heap of what was found. A container's value is the sum of its parts, see
 * add_parts(). */
struct trend_value trend_found_value(const struct g2h_trend *trend, size_t heap,
                                     const struct trend_found *found)
{
    struct trend_value sum = {0};
    if (!found->is_container) {
        sum = trend_value_of(trend, heap, found->place);
        sum.count = found->has_entries ? sum.entries : sum.count;
        return sum;
    }
    VECTOR_EACH(const struct trend_part, part, trend->parts) {
        if (part->found != found->place)
            continue;
        const struct trend_value value = trend_value_of(trend, heap, part->place);
        if (part->counted == TREND_OBJECTS)
            sum.count += value.count;
        else if (part->counted == TREND_ENTRIES)
            sum.count += value.entries;
        else
            sum.retained +=
                part->counted == TREND_RETAINED ? value.retained : own_of(trend, heap, part->place);
    }
    return sum;
}

/* Returns the place in the last heap that holds most of what a place sums up. Searches all places,
 * since several may be summed up in one. */
uint32_t trend_last_holder(const struct g2h_trend *trend, uint32_t place)
{
    uint64_t most = 0;
    uint32_t found = MERGED_NONE;
    for (uint32_t i = 0; i < trend->places.count && trend->heaps.count > 0; i++) {
        const uint64_t retained = trend_value_of(trend, trend->heaps.count - 1, i).retained;
        if (trend->places.data[i].anywhere != place || retained <= most)
            continue;
        most = retained;
        found = i;
    }
    return found;
}

/* Returns by how much the reachable bytes grew from the first heap to the last. */
int64_t g2h_trend_growth(const struct g2h_trend *trend)
{
    const size_t count = trend->heaps.count;
    return count == 0
               ? 0
               : as_growth(trend->heaps.data[0].reachable, trend->heaps.data[count - 1].reachable);
}

/* Returns the time from the first heap to the last. The times, in milliseconds, must all be known,
 * ascend, and be LEAST apart on average; else returns 0. */
int64_t trend_times_elapsed(const int64_t *times, size_t count)
{
    enum { LEAST = 500 /* milliseconds from one heap to the next: files are copied faster */ };
    for (size_t i = 0; i < count; i++)
        if (times[i] == 0 || (i > 0 && times[i] <= times[i - 1]))
            return 0;
    const int64_t elapsed = count > 0 ? times[count - 1] - times[0] : 0;
    return elapsed >= (int64_t)(count - 1) * LEAST ? elapsed : 0;
}

/* Returns the milliseconds from the first heap to the last; 0: not known. */
int64_t trend_elapsed(const struct g2h_trend *trend)
{
    int64_t times[TREND_MOST + 1];
    size_t count = 0;
    for (; count < trend->heaps.count && count < TREND_MOST + 1; count++)
        times[count] = trend->heaps.data[count].time;
    return trend_times_elapsed(times, count);
}

/* Returns what is known of how a place is held, or NULL. */
const struct trend_held *trend_held_of(const struct g2h_trend *trend, uint32_t place)
{
    VECTOR_EACH(const struct trend_held, held, trend->held)
        if (held->place == place)
            return held;
    return NULL;
}

/* Returns in how many milliseconds the limit is reached if it goes on like this, or 0: more than a
 * year, no limit, or no growth. */
int64_t trend_full_in(const struct g2h_trend *trend, int64_t grown)
{
    const double year = 365.0 * 24 * 60 * 60 * 1000;
    const double elapsed = (double)trend_elapsed(trend);
    const double times = grown > 0 ? as_ratio(trend->left, as_size(grown)) : 0,
                 time = times * elapsed;
    return trend->limit > 0 && time <= year ? (int64_t)time : 0;
}

const char *trend_name(const struct g2h_trend *trend, uint32_t place, size_t *ret_size)
{
    return string_pool_text(&trend->names, trend->places.data[place].name, ret_size);
}

/* ---- choosing the places to be named ---- */

struct choice {
    const struct g2h_trend *trend;
    struct trend_found *of;           /* by place */
    uint64_t (*covered)[TREND_KINDS]; /* by place: by how much those have changed that were chosen,
                                     at it or below it */
    uint8_t *chosen; /* by place: the kind as which it or a place above it was chosen; 0: neither
                      * was; TREND_KINDS: it is pooled, or see choose_anywhere() */
};

/* Takes the course of a container's bytes from its entries, if these become more: the memory of a
 * map or slice grows by leaps. */
static void follow_entries(struct trend_found *found)
{
    if (found->count.grown <= 0)
        return;
    found->retained.straightness = found->count.straightness;
    if (found->count.ups > found->retained.ups)
        found->retained.ups = found->count.ups;
}

/* Classifies the bytes and the objects of all places. Where the entries of a container are known,
 * they count instead of objects; if they grow steadily, so do the bytes. */
static struct g2h_error *trend_classify_all(struct choice *choice)
{
    const struct g2h_trend *trend = choice->trend;
    const size_t count = trend->heaps.count;
    _cleanup_free_ uint64_t *numbers = calloc(2 * count + 1, sizeof(*numbers));
    TRY_MEMORY(numbers);
    for (uint32_t place = 0; place < trend->places.count; place++) {
        const bool has_entries = grows_by_entries(trend, place);
        for (size_t i = 0; i < count; i++) {
            const struct trend_value value = trend_value_of(trend, i, place);
            numbers[i] = value.retained;
            numbers[count + i] = has_entries ? value.entries : value.count;
        }
        struct trend_found *found = &choice->of[place];
        found->place = place;
        found->has_entries = has_entries;
        trend_classify(numbers, count, &found->retained);
        trend_classify(numbers + count, count, &found->count);
        if (has_entries && found->count.kind == TREND_STEADY && found->retained.grown > 0)
            found->retained.kind = TREND_STEADY;
        if (has_entries)
            follow_entries(found);
    }
    return NULL;
}

/* Returns by how much a place has changed. */
static uint64_t change_of(const struct trend_found *found)
{
    const struct trend_course *course = &found->retained;
    if (course->kind == TREND_WAVES)
        return course->most - course->least;
    return course->grown > 0 ? (uint64_t)course->grown : 0;
}

/* Returns whether a place has changed by enough to be named: a thousandth of the heap if it grows
 * steadily, or anything if it does so over more than twelve heaps; otherwise a hundredth, and more
 * than some stacks. */
static bool is_worth(const struct choice *choice, uint32_t place)
{
    enum { SURE = 12, STACKS = 1 << 15 };
    const struct g2h_trend *trend = choice->trend;
    const uint64_t all = trend->heaps.data[trend->heaps.count - 1].reachable,
                   change = change_of(&choice->of[place]);
    return choice->of[place].retained.kind == TREND_STEADY
               ? change >= all / 1000 || choice->of[place].retained.intervals >= SURE
               : change >= all / 100 && change >= STACKS;
}

/* Returns whether a place has only come from another one, or goes to and fro: the total of this
 * class, wherever its objects are, stays level, or does not go up and down as the place does. */
static bool is_elsewhere(const struct choice *choice, uint32_t place)
{
    const uint32_t anywhere = choice->trend->places.data[place].anywhere;
    const enum trend_kind kind = choice->of[place].retained.kind;
    const enum trend_kind total =
        anywhere == MERGED_NONE ? kind : choice->of[anywhere].retained.kind;
    return total == TREND_LEVEL || ((kind == TREND_WAVES || kind == TREND_UNEVEN) &&
                                    total != TREND_WAVES && total != TREND_UNEVEN);
}

/* Returns whether a place below this one has most of the bytes, and by far most of the objects: the
 * entries of a map, besides the few objects that the map itself consists of. For plumbing, whether
 * a place below it has most of the bytes: the values of a sync.Map. */
static bool is_superseded(const struct choice *choice, uint32_t place)
{
    enum { BY_FAR = 16 };
    const struct trend_found *own = &choice->of[place];
    for (uint32_t i = choice->trend->places.data[place].child; i != MERGED_NONE;
         i = choice->trend->places.data[i].sibling) {
        const struct trend_found *below = &choice->of[i];
        if (choice->trend->places.data[i].kind == MERGED_CLASS &&
            below->retained.kind == own->retained.kind && change_of(below) >= change_of(own) / 2 &&
            (choice->trend->places.data[place].is_plumbing ||
             below->count.grown / BY_FAR >= own->count.grown))
            return true;
    }
    return false;
}

/* Returns whether a place consists of what has become more: objects or goroutines whose number has
 * the same course as their bytes. */
static bool is_item(const struct choice *choice, uint32_t place)
{
    const struct trend_place *at = &choice->trend->places.data[place];
    const struct trend_found *found = &choice->of[place];
    return (at->kind == MERGED_CLASS || at->is_goroutines) &&
           found->count.kind == found->retained.kind && !is_superseded(choice, place);
}

/* Chooses a place: its own change now stands for all that was chosen below it. */
static struct g2h_error *trend_choose(struct choice *choice, uint32_t place,
                                      trend_found_vector *ret)
{
    const enum trend_kind kind = choice->of[place].retained.kind;
    choice->chosen[place] = (uint8_t)kind;
    choice->covered[place][kind] = change_of(&choice->of[place]);
    TRY_MEMORY(vector_push(&ret[kind], choice->of[place]));
    return NULL;
}

/* Chooses, from the root downwards, the places whose objects have become more. What is pooled
 * covers the growth of the places above it without being chosen. */
static struct g2h_error *choose_items(struct choice *choice, trend_found_vector *ret)
{
    for (uint32_t i = 1; i < choice->trend->places.count; i++) {
        const uint32_t parent = choice->trend->places.data[i].parent;
        choice->chosen[i] = i == TREND_ANYWHERE ? TREND_KINDS : choice->chosen[parent];
        if (choice->chosen[i] == 0 && choice->trend->places.data[i].is_pooled) {
            choice->chosen[i] = TREND_KINDS;
            choice->covered[i][choice->of[i].retained.kind] = change_of(&choice->of[i]);
        }
        if (choice->chosen[i] == 0 && choice->of[i].retained.kind != TREND_LEVEL &&
            is_worth(choice, i) && is_item(choice, i) && !is_elsewhere(choice, i))
            TRY(trend_choose(choice, i, ret));
    }
    return NULL;
}

/* Chooses, from below upwards, objects whose bytes change, and variables whose bytes grow steadily,
 * while what was chosen below them makes less than half of that: one object that becomes larger. */
static struct g2h_error *choose_others(struct choice *choice, trend_found_vector *ret)
{
    for (uint32_t i = as_u32(choice->trend->places.count); i-- > 1;) {
        const struct trend_place *place = &choice->trend->places.data[i];
        const enum trend_kind kind = choice->of[i].retained.kind;
        const bool is_whole =
            place->kind == MERGED_CLASS || (place->kind == MERGED_VARIABLE && kind == TREND_STEADY);
        if (choice->chosen[i] == 0 && kind != TREND_LEVEL && is_whole && is_worth(choice, i) &&
            !is_elsewhere(choice, i) && choice->covered[i][kind] < change_of(&choice->of[i]) / 2)
            TRY(trend_choose(choice, i, ret));
        for (int j = 0; j < TREND_KINDS; j++)
            choice->covered[place->parent][j] += choice->covered[i][j];
    }
    return NULL;
}

/* Finds how much of each sum's steady growth is in chosen places, and below them. */
static void sum_chosen(const struct choice *choice, uint64_t *sums)
{
    for (uint32_t i = TREND_ANYWHERE + 1; i < choice->trend->places.count; i++) {
        const uint32_t anywhere = choice->trend->places.data[i].anywhere;
        const struct trend_course *course = &choice->of[i].retained;
        if (anywhere != MERGED_NONE && choice->chosen[i] == TREND_STEADY && course->grown > 0)
            sums[anywhere] += (uint64_t)course->grown;
    }
}

/* Orders places by how much they changed, most first; equal ones by the number of the place. */
static int compare_found(const void *one, const void *other)
{
    const struct trend_found *a = one;
    const struct trend_found *b = other;
    const uint64_t left = change_of(a);
    const uint64_t right = change_of(b);
    return left != right ? (left < right) - (left > right)
                         : (a->place > b->place) - (a->place < b->place);
}

void trend_founds_deinit(struct trend_founds *founds)
{
    for (int i = 0; i < TREND_KINDS; i++)
        free(founds->by_kind[i].data);
}

/*
 * Chooses sums of classes that grow steadily and are mostly not in chosen places: their holders
 * change. The largest come first, so that a class below a chosen one comes later, and can be left
 * out.
 */
static struct g2h_error *choose_anywhere(struct choice *choice, trend_found_vector *ret)
{
    const struct g2h_trend *trend = choice->trend;
    _cleanup_free_ uint64_t *sums = calloc(trend->places.count + 1, sizeof(*sums));
    _cleanup_free_ bool *is_seen = calloc(count_and_end(trend->names.count), sizeof(*is_seen));
    _cleanup_vector_ trend_found_vector steady = {0};
    TRY_MEMORY(sums && is_seen);
    sum_chosen(choice, sums);
    for (uint32_t i = TREND_ANYWHERE + 1; i < trend->places.count; i++) {
        const struct trend_place *place = &trend->places.data[i];
        const bool is_sum =
            place->anywhere == MERGED_NONE && place->kind == MERGED_CLASS && !place->is_pooled;
        const struct trend_found *found = &choice->of[i];
        if (is_sum && found->retained.kind == TREND_STEADY && found->count.kind == TREND_STEADY &&
            is_worth(choice, i))
            TRY_MEMORY(vector_push(&steady, *found));
    }
    vector_sort(&steady, compare_found);
    VECTOR_EACH(const struct trend_found, found, steady) {
        const struct trend_place *place = &trend->places.data[found->place];
        const bool is_below =
            place->parent != TREND_ANYWHERE && is_seen[trend->places.data[place->parent].name];
        if (place->is_plumbing) /* what it holds has its own sum */
            continue;
        is_seen[place->name] = true;
        if (!is_below && sums[found->place] < change_of(found) / 2)
            TRY_MEMORY(vector_push(&ret[TREND_STEADY], *found));
    }
    return NULL;
}

static void choice_deinit(struct choice *choice)
{
    free(choice->of);
    free(choice->covered);
    free(choice->chosen);
}

/* Sets the courses of a container that was found to those of all that it consists of. numbers has
 * memory for two numbers of each heap. */
static void classify_container(const struct g2h_trend *trend, uint64_t *numbers,
                               struct trend_found *found)
{
    const size_t heaps = trend->heaps.count;
    for (size_t i = 0; i < heaps; i++) {
        const struct trend_value value = trend_found_value(trend, i, found);
        numbers[i] = value.retained;
        numbers[heaps + i] = value.count;
    }
    trend_classify(numbers, heaps, &found->retained);
    trend_classify(numbers + heaps, heaps, &found->count);
    follow_entries(found);
}

/* Replaces the places of a kind that are in containers by these: they have the bytes of all that
 * their container consists of, and the numbers of its entries. A place in the container of another
 * one is not named. */
static struct g2h_error *name_containers(const struct g2h_trend *trend, trend_found_vector *founds)
{
    const size_t heaps = trend->heaps.count;
    _cleanup_free_ uint64_t *numbers = calloc(2 * heaps + 1, sizeof(*numbers));
    size_t kept = 0;
    TRY_MEMORY(numbers);
    for (size_t i = 0; i < founds->count; i++) {
        struct trend_found found = founds->data[i];
        const enum trend_kind kind = found.retained.kind;
        const struct trend_contained *contained = contained_of(trend, found.place);
        if (contained && contained->first != found.place)
            continue;
        found.is_container = contained != NULL;
        if (contained) {
            classify_container(trend, numbers, &found);
            found.retained.kind = kind; /* the place has been chosen as one of this list */
        }
        founds->data[kept++] = found;
    }
    founds->count = kept;
    return NULL;
}

/* Finds the places that grew or changed most. Three passes choose places: items from the root down,
 * then larger single objects from below, then classes whose holders change. */
struct g2h_error *trend_find(const struct g2h_trend *trend, trend_found_vector ret[TREND_KINDS])
{
    const size_t count = trend->places.count + 1;
    _cleanup_(choice_deinit) struct choice choice = {trend, calloc(count, sizeof(*choice.of)),
                                                     calloc(count, sizeof(*choice.covered)),
                                                     calloc(count, sizeof(*choice.chosen))};
    TRY_MEMORY(choice.of && choice.covered && choice.chosen);
    if (trend->heaps.count < 3) /* trend_classify() calls all of these level */
        return NULL;
    TRY(trend_classify_all(&choice));
    TRY(choose_items(&choice, ret));
    TRY(choose_others(&choice, ret));
    TRY(choose_anywhere(&choice, ret));
    for (int i = 0; i < TREND_KINDS; i++) {
        TRY(name_containers(trend, &ret[i]));
        vector_sort(&ret[i], compare_found);
    }
    return NULL;
}
