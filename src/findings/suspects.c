/* suspects; see suspects.h. */
#include "findings/suspects.h"

#include <string.h>

#include "base/scope.h"

enum {
    THRESHOLD = 5,   /* percent of the reachable bytes that a suspect has at least; */
    OF_RUNTIME = 25, /* the same for memory that only the runtime holds: each heap has some */
    HEAVY = 60, /* percent of what a node holds that its heaviest child must have to be followed */
    MANY = 4,   /* least objects per holder that count as multiplied */
};

/* The least bytes of a suspect that only the runtime holds: such memory is half of a small heap. */
#define LEAST_OF_RUNTIME 1000000u

/* The least bytes of a stack that is a suspect: a small heap consists of stacks. */
#define LEAST_OF_STACK 1000000u

struct suspects_finder {
    const struct merged *merged;
    const struct g2h_base *base; /* NULL: no base; then growth is NULL, too */
    const growth_vector *growth;
    uint64_t reachable, untouched, threshold, threshold_of_runtime;
    VECTOR(uint32_t) left; /* nodes that have yet to be examined */
    bool *is_below;        /* by node: used by count_all() */
    suspect_vector *found;
};

static bool suspects_begins_with(const struct merged *merged, uint32_t node, const char *prefix)
{
    size_t size;
    const char *name = merged_name(merged, node, &size);
    return size >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* Returns whether a synthetic node is one that may belong to the runtime as a whole. */
static bool is_package_or_goroutines(const struct merged *merged, uint32_t node)
{
    const enum g2h_node_kind kind = merged_kind_of(merged, node);
    return kind == G2H_NODE_PACKAGE || kind == G2H_NODE_GOROUTINE ||
           kind == G2H_NODE_GOROUTINES_IN_PLACE;
}

/* Returns whether only the runtime holds a node: its own types, objects below its own variables,
 * its goroutines. Timers are an exception: the runtime keeps them, but the program makes them by
 * package time. */
static bool suspects_is_of_runtime(const struct merged *merged, uint32_t node)
{
    const struct merged_node *nodes = merged->nodes.data;
    if (merged_runtime_class(merged, node) == G2H_RUNTIME_TIMER)
        return false;
    if (nodes[node].kind == MERGED_CLASS && merged_is_runtime(merged, node))
        return true;
    for (uint32_t i = node; i != MERGED_NONE; i = nodes[i].parent)
        if ((nodes[i].kind == MERGED_SYNTHETIC && is_package_or_goroutines(merged, i) &&
             merged_is_runtime(merged, i)) ||
            (nodes[i].kind == MERGED_VARIABLE && suspects_begins_with(merged, i, "runtime and ")))
            return true;
    return false;
}

bool suspects_are_timers(const struct merged *merged, uint32_t node)
{
    return node != MERGED_NONE && merged_runtime_class(merged, node) == G2H_RUNTIME_TIMERS;
}

/* ---- the weight of a node ---- */

static uint64_t positive(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* Returns what a node is ranked by: the bytes it retains or, with a base, by how much they have
 * grown. */
static uint64_t suspects_weight_of(const struct suspects_finder *finder, uint32_t node)
{
    return finder->growth ? finder->growth->data[node].weight
                          : finder->merged->nodes.data[node].retained;
}

static uint64_t own_of(const struct suspects_finder *finder, uint32_t node)
{
    return finder->growth ? positive(finder->growth->data[node].bytes)
                          : finder->merged->nodes.data[node].bytes;
}

static uint64_t suspects_count_of(const struct suspects_finder *finder, uint32_t node)
{
    return finder->growth ? positive(finder->growth->data[node].count)
                          : finder->merged->nodes.data[node].count;
}

/* Returns by how many objects the class of a node has grown in the heap as a whole, without
 * garbage. */
static uint64_t class_growth(const struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint64_t count = 0;
    size_t size;
    const char *name = merged_name(finder->merged, node, &size);
    const uint64_t before = growth_class_before(finder->base, name, size).count;
    for (size_t i = 0; i < finder->merged->nodes.count; i++)
        if (nodes[i].kind == MERGED_CLASS && !nodes[i].is_garbage &&
            nodes[i].name == nodes[node].name)
            count += nodes[i].count;
    return count > before ? count - before : 0;
}

/* Counts the objects of a suspect and of its class below it. */
static void count_all(const struct suspects_finder *finder, struct suspect *suspect)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    int64_t grown = 0;
    suspect->count = suspect->own = 0;
    merged_mark_below(finder->merged, suspect->item, finder->is_below);
    for (uint32_t i = suspect->item; i < finder->merged->nodes.count; i++) {
        if (!finder->is_below[i] || nodes[i].kind != nodes[suspect->item].kind ||
            nodes[i].name != nodes[suspect->item].name)
            continue;
        suspect->count += nodes[i].count;
        suspect->own += nodes[i].bytes;
        grown += finder->growth ? finder->growth->data[i].count : 0;
    }
    suspect->grown = positive(grown);
}

/* Sets the bytes and the growth of a suspect. An object that the base has in another place has not
 * grown, so no more objects of a class count than the class has grown by. A single object may have
 * become larger. */
static void weigh(const struct suspects_finder *finder, struct suspect *suspect)
{
    const struct merged_node *node = &finder->merged->nodes.data[suspect->item];
    count_all(finder, suspect);
    if (!finder->growth) {
        suspect->bytes = node->retained;
        return;
    }
    suspect->bytes = positive(finder->growth->data[suspect->item].within);
    if (suspect->is_goroutines || suspect->is_deferred || suspect->count == 1)
        return;
    const uint64_t more = class_growth(finder, suspect->item);
    if (more >= suspect->grown)
        return;
    const uint64_t each = node->retained / suspect->count;
    suspect->grown = more;
    suspect->bytes = more * each < suspect->bytes ? more * each : suspect->bytes;
}

/* Adds a suspect if it is large enough for its kind. */
static bool suspects_add(struct suspects_finder *finder, struct suspect suspect)
{
    enum { LONE = 100 }; /* a new or larger single object must have a hundredth of the heap */
    weigh(finder, &suspect);
    const bool is_lone =
        finder->growth && !suspect.is_goroutines && !suspect.is_deferred && suspect.count == 1;
    if (suspect.bytes < finder->threshold ||
        (is_lone && suspect.bytes < finder->reachable / LONE) ||
        (suspect.bytes < finder->threshold_of_runtime &&
         suspects_is_of_runtime(finder->merged, suspect.item)))
        return true;
    return vector_push(finder->found, suspect);
}

/* Returns the child of a node with the greatest weight, or MERGED_NONE if it has no children. */
static uint32_t heaviest_child(const struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint32_t best = MERGED_NONE;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (best == MERGED_NONE || suspects_weight_of(finder, i) > suspects_weight_of(finder, best))
            best = i;
    return best;
}

/* Queues the children of a node that retain much, except one child. Returns how many it queues, or
 * UINT32_MAX if memory runs out. */
static uint32_t push_others(struct suspects_finder *finder, uint32_t node, uint32_t child)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint32_t count = 0;
    for (uint32_t i = nodes[node].child; i != MERGED_NONE; i = nodes[i].sibling)
        if (i != child && suspects_weight_of(finder, i) >= finder->threshold) {
            if (!vector_push(&finder->left, i))
                return UINT32_MAX;
            count++;
        }
    return count;
}

static uint32_t push_children(struct suspects_finder *finder, uint32_t node)
{
    return push_others(finder, node, MERGED_NONE);
}

/* Returns how many objects a node has per object that holds them. */
static uint64_t ratio_of(const struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    const uint32_t above = nodes[node].parent;
    const bool has_holder = above != MERGED_NONE && nodes[above].kind == MERGED_CLASS;
    const uint64_t holders = has_holder ? suspects_count_of(finder, above) : 1;
    return suspects_count_of(finder, node) / (holders > 0 ? holders : 1);
}

/* Returns the child that has HEAVY percent of what a node holds, or MERGED_NONE if no child does,
 * or if most of what the node retains is its own bytes. */
static uint32_t heavy_child(const struct suspects_finder *finder, uint32_t node)
{
    const uint64_t all = suspects_weight_of(finder, node), own = own_of(finder, node),
                   held = all > own ? all - own : 0;
    const uint32_t child = heaviest_child(finder, node);
    return child != MERGED_NONE && held >= all / 100 * (100 - HEAVY) &&
                   suspects_weight_of(finder, child) >= held / 100 * HEAVY
               ? child
               : MERGED_NONE;
}

static bool is_of(const struct merged *merged, uint32_t node, enum g2h_runtime_class class)
{
    return node != MERGED_NONE && merged_runtime_class(merged, node) == class;
}

/* Returns whether a class is a map, a slice or the like, whose name says little about its
 * objects. */
static bool is_container(const struct merged *merged, uint32_t node)
{
    const enum g2h_class_form form = merged_form(merged, node);
    return form == G2H_FORM_MAP || form == G2H_FORM_SLICE || form == G2H_FORM_POINTER ||
           form == G2H_FORM_INTERFACE || form == G2H_FORM_CLOSURE ||
           is_of(merged, node, G2H_RUNTIME_ENTRY);
}

/* Returns whether a class is a type that a program or a library has named: "main.Session". */
static bool is_named(const struct merged *merged, uint32_t node)
{
    return merged_form(merged, node) == G2H_FORM_DECLARED && !merged_is_runtime(merged, node) &&
           !is_of(merged, node, G2H_RUNTIME_ENTRY);
}

/* Returns the entries that a tree of sync.Map holds, for a node of that tree. */
static uint32_t below_trie(const struct suspects_finder *finder, uint32_t node)
{
    uint32_t at = node;
    while (is_of(finder->merged, at, G2H_RUNTIME_TRIE))
        at = heavy_child(finder, at);
    return at != MERGED_NONE ? at : node;
}

/* Sets the holder of a suspect: the node above it and, if that is a tree of sync.Map, the one above
 * that. held_at becomes the tree, or the list with the entries: the way from there to an item leads
 * through other items' entries, which says nothing. */
static void set_holder(const struct merged *merged, struct suspect *suspect)
{
    const struct merged_node *nodes = merged->nodes.data;
    uint32_t at = nodes[suspect->item].parent, above = at, entries = MERGED_NONE;
    for (; at != MERGED_NONE &&
           (is_of(merged, at, G2H_RUNTIME_ENTRY) || merged_form(merged, at) == G2H_FORM_INTERFACE);
         at = nodes[at].parent)
        if (is_of(merged, at, G2H_RUNTIME_ENTRY))
            entries = at;
    suspect->held_at =
        entries != MERGED_NONE && nodes[at].kind != MERGED_SYNTHETIC ? at : MERGED_NONE;
    for (; is_of(merged, at, G2H_RUNTIME_TRIE); at = above = nodes[at].parent)
        suspect->held_at = at;
    while (above != MERGED_NONE && merged_form(merged, above) == G2H_FORM_INTERFACE)
        above = nodes[above].parent;
    suspect->holder =
        above != MERGED_NONE && nodes[above].kind == MERGED_CLASS ? above : MERGED_NONE;
}

/* Returns the objects to name instead of some that are multiplied: if these are maps or the like,
 * and each holds about one object of a named type, that type says more ("main.Session" instead of
 * "map[string]string"). */
static uint32_t named_content(const struct suspects_finder *finder, uint32_t node)
{
    const uint64_t count = suspects_count_of(finder, node);
    for (uint32_t at = node; at != MERGED_NONE; at = heavy_child(finder, at)) {
        const uint64_t is = suspects_count_of(finder, at);
        if (is < count / 2 || is > count * 2)
            break;
        if (is_named(finder->merged, at))
            return at;
        if (!is_container(finder->merged, at))
            break;
    }
    return node;
}

/* Returns the uppermost node that a recursive structure, such as a tree, begins with: the objects
 * of the same class that contain this one, so that what is below them counts, too. Looks no further
 * up than top. */
static uint32_t top_of_tree(const struct suspects_finder *finder, uint32_t node, uint32_t top)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint32_t at = node;
    while (at != top && !nodes[at].is_cyclic)
        at = nodes[at].parent;
    const uint32_t above = nodes[at].parent;
    return at != top && nodes[above].kind == MERGED_CLASS && nodes[above].name == nodes[node].name
               ? above
               : node;
}

/* Follows objects down the tree as long as one child has most, to the node where they are
 * multiplied most; *ret_last becomes the last node, where the path parts. Returns MERGED_NONE if
 * they are not multiplied anywhere. */
static uint32_t find_multiplied(const struct suspects_finder *finder, uint32_t node,
                                uint32_t *ret_last)
{
    uint32_t best = node;
    *ret_last = node;
    for (uint32_t at = node; at != MERGED_NONE; at = heavy_child(finder, at)) {
        *ret_last = at;
        if (ratio_of(finder, at) > ratio_of(finder, best))
            best = at;
    }
    if (ratio_of(finder, best) < MANY)
        return MERGED_NONE;
    const uint32_t entries = below_trie(finder, best);
    return top_of_tree(finder, entries != best ? entries : named_content(finder, best), node);
}

/* Adds the objects below a node that are multiplied as a suspect; or else queues the children of
 * the node where the path parts. */
static bool suspects_follow(struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint32_t last, item = find_multiplied(finder, node, &last);
    if (item == MERGED_NONE) {
        const bool is_most =
            own_of(finder, last) >= suspects_weight_of(finder, last) / 100 * (100 - HEAVY);
        const uint32_t parts = is_most ? 0 : push_children(finder, last);
        if (parts > 0)
            return parts != UINT32_MAX;
        item = last;
    }
    for (uint32_t at = item; at != node; at = nodes[at].parent) /* look at siblings, too */
        if (push_others(finder, nodes[at].parent, at) == UINT32_MAX)
            return false;
    struct suspect suspect = {.item = item};
    set_holder(finder->merged, &suspect);
    return suspects_add(finder, suspect);
}

/* Sets suspect->inside to the objects that make up most of what goroutines in one place hold, if
 * these are many: the goroutines may be only a few that each hold a lot. */
static void set_inside(const struct suspects_finder *finder, struct suspect *suspect)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    uint32_t last, at = suspect->item;
    while (at != MERGED_NONE && nodes[at].kind != MERGED_CLASS)
        at = heavy_child(finder, at);
    const uint32_t item = at == MERGED_NONE ? at : find_multiplied(finder, at, &last);
    if (item == MERGED_NONE ||
        suspects_count_of(finder, item) < MANY * suspects_count_of(finder, at) ||
        suspects_weight_of(finder, item) < suspects_weight_of(finder, suspect->item) / 100 * HEAVY)
        return;
    struct suspect inside = {.item = item};
    count_all(finder, &inside);
    suspect->inside = item;
    suspect->inside_count = inside.count;
}

static bool add_goroutines(struct suspects_finder *finder, uint32_t place)
{
    struct suspect suspect = {
        .item = place, .holder = MERGED_NONE, .held_at = MERGED_NONE, .is_goroutines = true};
    set_inside(finder, &suspect);
    return suspects_add(finder, suspect);
}

/* Examines a node: it is a suspect, or leads to one, or its children are queued. */
static bool suspects_examine(struct suspects_finder *finder, uint32_t node)
{
    const struct merged_node *nodes = finder->merged->nodes.data;
    if (nodes[node].kind == MERGED_CLASS)
        return suspects_follow(finder, node);
    if (nodes[node].kind == MERGED_SYNTHETIC) {
        const enum g2h_node_kind kind = merged_kind_of(finder->merged, node);
        if (kind == G2H_NODE_UNREACHABLE)
            return true;
        if (kind == G2H_NODE_GOROUTINES_IN_PLACE)
            return add_goroutines(finder, node);
        if (kind == G2H_NODE_STACK) /* of a goroutine that is alone in its place */
            return suspects_weight_of(finder, node) < LEAST_OF_STACK ||
                   suspects_add(finder, (struct suspect){.item = node,
                                                         .holder = MERGED_NONE,
                                                         .held_at = MERGED_NONE});
        if (kind == G2H_NODE_DEFERRED_CALLS)
            return suspects_add(finder, (struct suspect){.item = node,
                                                         .holder = MERGED_NONE,
                                                         .held_at = MERGED_NONE,
                                                         .is_deferred = true});
    }
    return push_children(finder, node) != UINT32_MAX;
}

static int suspects_compare(const void *a, const void *b)
{
    const struct suspect *one = a, *other = b;
    if (one->bytes != other->bytes)
        return one->bytes > other->bytes ? -1 : 1;
    return one->item < other->item ? -1 : one->item > other->item;
}

/* Returns this percentage of the reachable bytes that take memory. In a heap that is mostly
 * untouched, the few other bytes are not worth a suspect. */
static uint64_t share_of_resident(const struct suspects_finder *finder, uint64_t percent)
{
    enum { LEAST_BESIDE = 1 << 20 };
    const uint64_t resident = finder->reachable - finder->untouched;
    return (finder->untouched > 0 && resident < LEAST_BESIDE ? LEAST_BESIDE : resident) / 100 *
           percent;
}

/* Returns the least bytes of a suspect: without a base a share of the heap; with a base a share of
 * its growth, but not less than another share of the heap. */
static uint64_t threshold_of(const struct suspects_finder *finder)
{
    enum { OF_GROWTH = 3, PERMILLE = 1, LEAST = 4096 };
    if (!finder->base)
        return share_of_resident(finder, THRESHOLD) + 1;
    const uint64_t before = growth_totals(finder->base)->reachable,
                   grown = finder->reachable > before ? finder->reachable - before : 0,
                   of_growth = grown / 100 * OF_GROWTH,
                   of_heap = finder->reachable / 1000 * PERMILLE,
                   more = of_growth > of_heap ? of_growth : of_heap;
    return more > LEAST ? more : LEAST;
}

/* Drops the timers of a class that an earlier suspect has, too: a timer points to its processor's
 * heap, so whatever holds one of them holds that heap as well, which is then reported
 * separately. */
static void drop_timers(const struct merged *merged, suspect_vector *suspects)
{
    const struct merged_node *nodes = merged->nodes.data;
    uint32_t first = MERGED_NONE; /* timers are of one class */
    size_t count = 0;
    for (size_t i = 0; i < suspects->count; i++) {
        const struct suspect suspect = suspects->data[i];
        if (suspects_are_timers(merged, suspect.holder)) {
            if (first != MERGED_NONE && nodes[first].name == nodes[suspect.item].name)
                continue;
            first = suspect.item;
        }
        suspects->data[count++] = suspect;
    }
    suspects->count = count;
}

/* ---- arrays that are pinned ---- */

/* Returns whether a node is above or below it in the merged tree. */
static bool is_below(const struct merged *merged, uint32_t node, uint32_t above)
{
    while (node != MERGED_NONE && node != above)
        node = merged->nodes.data[node].parent;
    return node == above;
}

/* Replaces all suspects that are in pinned arrays by one suspect, the arrays. */
static void replace_by(const struct suspects_finder *finder, size_t number, uint32_t arrays,
                       const struct pinned *pinned)
{
    suspect_vector *found = finder->found;
    size_t kept = number + 1;
    for (size_t i = number + 1; i < found->count; i++)
        if (!is_below(finder->merged, found->data[i].item, arrays))
            found->data[kept++] = found->data[i];
    found->count = kept;
    struct suspect *suspect = &found->data[number];
    *suspect = (struct suspect){.item = arrays, .pinned = *pinned};
    set_holder(finder->merged, suspect);
    weigh(finder, suspect);
}

/* Finds out of the first suspects whether they are, or are in, arrays that pointers to elements
 * keep. */
static struct g2h_error *find_pinned(const struct suspects_finder *finder,
                                     const struct findings *findings)
{
    enum { MOST = 3 };
    uint32_t last = MERGED_NONE;
    for (size_t i = 0; i < finder->found->count && i < MOST; i++) {
        const struct suspect *suspect = &finder->found->data[i];
        const uint32_t arrays = suspect->is_goroutines || suspect->is_deferred
                                    ? MERGED_NONE
                                    : pinned_arrays_of(finder->merged, suspect->item);
        struct pinned pinned;
        if (arrays == MERGED_NONE || arrays == last)
            continue;
        TRY(pinned_find(findings, last = arrays, &pinned));
        if (pinned.arrays > 0)
            replace_by(finder, i, arrays, &pinned);
    }
    return NULL;
}

/* Examines nodes from a work list, from the root on, until no node is left that is large enough.
 * Suspects are sorted twice, because arrays may replace some of them. */
struct g2h_error *suspects_find(const struct findings *findings, suspect_vector *ret)
{
    const struct merged *merged = &findings->merged;
    struct suspects_finder finder = {.merged = merged,
                                     .base = findings->base,
                                     .growth = findings->base ? &findings->growth : NULL,
                                     .reachable = findings->reachable,
                                     .untouched = findings->untouched,
                                     .found = ret};
    const uint64_t of_runtime = share_of_resident(&finder, OF_RUNTIME);
    finder.threshold = threshold_of(&finder);
    finder.threshold_of_runtime = of_runtime > LEAST_OF_RUNTIME ? of_runtime : LEAST_OF_RUNTIME;
    finder.is_below = calloc(merged->nodes.count, sizeof(*finder.is_below));
    bool good = finder.is_below && vector_push(&finder.left, 0);
    while (good && finder.left.count > 0)
        good = suspects_examine(&finder, finder.left.data[--finder.left.count]);
    vector_sort(ret, suspects_compare);
    struct g2h_error *error = good ? find_pinned(&finder, findings) : &error_no_memory;
    vector_sort(ret, suspects_compare);
    free(finder.left.data);
    free(finder.is_below);
    if (!findings->base)
        drop_timers(merged, ret);
    return error;
}
