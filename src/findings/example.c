/* example; see example.h. */
#include "findings/example.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/scope.h"

#define NONE UINT32_MAX

enum {
    MANY = 4,        /* least objects below one of their own class that count as multiplied */
    MOST_LINES = 16, /* nodes above a suspect whose objects are tried as holders */
};

struct example_finder {
    const struct findings *findings;
    uint32_t item;
    bool *is_item, *is_map; /* by node of merged: its objects are the suspect's, or maps */
    uint32_t *near;         /* by number: that of the nearest holder from here upwards, or NONE; */
    bool *is_inside; /* an object of the suspect is between it and that holder, or is the holder */
    bool *is_branch; /* see mark_branches() */
    bool *is_seen;   /* by number, for example_sum_up() and list_items(): all false between calls */
    bool has_branches;        /* only branches may be named */
    bool is_outermost;        /* an object that another one of the same node holds is no holder */
    uint32_t count;           /* of numbers */
    VECTOR(uint32_t) items;   /* the numbers of the suspect's objects */
    VECTOR(uint32_t) upwards; /* the same, and all above them, ascending */
    uint64_t holders; /* that example_find_holders() has found, whether they hold any or not */
    uint64_t objects, retained; /* of the suspect */
    uint64_t uppermost;         /* of its objects: those that no other one holds */
    int64_t above;              /* the node of merged above it */
};

static uint32_t line_of(const struct example_finder *finder, uint32_t number)
{
    return finder->findings->merged.of[number];
}

static uint32_t node_of(const struct example_finder *finder, uint32_t number)
{
    return g2h_dominators_node(finder->findings->dominators, number);
}

static uint32_t above(const struct example_finder *finder, uint32_t number)
{
    return g2h_dominators_above(finder->findings->dominators, number);
}

static uint64_t retained_by(const struct example_finder *finder, uint32_t number)
{
    return g2h_dominators_retained_size(finder->findings->dominators, node_of(finder, number));
}

/* Returns whether the node with this number is memory of a map that is merged with it, and so not
 * an object of its own. */
static bool example_is_of_map(const struct example_finder *finder, uint32_t number)
{
    const struct findings *findings = finder->findings;
    const uint32_t line = line_of(finder, number);
    struct g2h_node node;
    if (!finder->is_map[line] || line != line_of(finder, above(finder, number)))
        return false;
    g2h_view_brief(findings->view, node_of(finder, number), &node);
    return node.name != findings_node(findings, line)->name;
}

static bool example_is_object(const struct example_finder *finder, uint32_t number)
{
    return node_of(finder, number) != NONE && finder->is_item[line_of(finder, number)] &&
           !example_is_of_map(finder, number);
}

/* ---- holders ---- */

/* The holders by which objects are grouped: the uppermost objects of the suspect, each with those
 * that it holds; the objects of a node of merged above the suspect; or for each object the nearest
 * one of the suspect above it. */
enum holders { UPPERMOST = -1, NEAREST = -2 };

/* Sets near and is_inside. line is a node of merged, or one of enum holders. */
static void example_find_holders(struct example_finder *finder, int64_t line)
{
    finder->near[0] = NONE;
    finder->is_inside[0] = false;
    finder->holders = 0;
    for (size_t i = 0; i < finder->upwards.count; i++) {
        const uint32_t number = finder->upwards.data[i], over = above(finder, number);
        const bool is_holder =
            (line >= 0 ? line_of(finder, number) == line &&
                             (!finder->is_outermost || finder->near[over] == NONE)
                       : finder->is_item[line_of(finder, number)] &&
                             (line == NEAREST || finder->near[over] == NONE)) &&
            !example_is_of_map(finder, number);
        finder->holders += is_holder;
        finder->near[number] = is_holder ? number : finder->near[over];
        finder->is_inside[number] =
            !is_holder && finder->near[over] != NONE &&
            (finder->is_inside[over] || finder->is_item[line_of(finder, over)]);
    }
    if (line >= 0 && !finder->is_outermost)
        finder->holders = findings_node(finder->findings, (uint32_t)line)->count;
}

/* Returns an object's contribution to its holder: what it retains, unless another object of the
 * suspect, with the same holder, retains it. */
static uint64_t example_weight_of(const struct example_finder *finder, uint32_t number)
{
    return finder->is_inside[number] ? 0 : retained_by(finder, number);
}

static uint32_t holder_of(const struct example_finder *finder, uint32_t number)
{
    return finder->near[number];
}

/* Returns the nearest holder that is not the object itself. */
static uint32_t holder_above(const struct example_finder *finder, uint32_t number)
{
    return finder->near[above(finder, number)];
}

static uint64_t one(const struct example_finder *finder, uint32_t number)
{
    (void)finder, (void)number;
    return 1;
}

/* Returns the only candidate for the holder that has more than half of the total weight, or NONE
 * (Boyer–Moore majority vote: weights of different holders annul each other, and a majority is
 * never annulled entirely). The caller checks whether it has a majority. of gives an object's
 * holder, weigh its weight. */
static uint32_t
majority_holder(const struct example_finder *finder,
                uint32_t (*of)(const struct example_finder *finder, uint32_t number),
                uint64_t (*weigh)(const struct example_finder *finder, uint32_t number))
{
    uint32_t best = NONE;
    uint64_t votes = 0;
    for (size_t i = 0; i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i], holder = of(finder, number);
        if (holder == NONE)
            continue;
        const uint64_t weight = weigh(finder, number);
        if (holder == best) {
            votes += weight;
        } else if (votes >= weight) {
            votes -= weight;
        } else {
            votes = weight - votes;
            best = holder;
        }
    }
    return best;
}

/* Sums up what the given holder has, and counts in ret->holders how many holders have any object of
 * the suspect. Uses is_seen to count each once, and resets it afterwards. */
static void example_sum_up(struct example_finder *finder, uint32_t holder, struct example *ret)
{
    uint32_t last = NONE;
    *ret = (struct example){.node = NONE, .most = NONE};
    for (size_t i = 0; i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i], near = finder->near[number];
        if (near == NONE)
            continue;
        ret->holders += !finder->is_seen[near];
        finder->is_seen[near] = true;
        if (near != holder)
            continue;
        ret->count++;
        ret->retained += example_weight_of(finder, number);
        last = number;
    }
    if (last != NONE)
        ret->most = node_of(finder, holder);
    for (size_t i = 0; i < finder->items.count; i++)
        if (finder->near[finder->items.data[i]] != NONE)
            finder->is_seen[finder->near[finder->items.data[i]]] = false;
}

/* Returns whether a holder of several has most of the suspect's bytes, or all; sets *ret if it
 * does. */
static bool has_most(struct example_finder *finder, int64_t line, struct example *ret)
{
    example_find_holders(finder, line);
    const uint32_t holder = majority_holder(finder, holder_of, example_weight_of);
    if (holder == NONE)
        return false;
    const uint64_t above = ret->above;
    struct example found;
    example_sum_up(finder, holder, &found);
    ret->above = found.above =
        line == finder->above && !finder->is_outermost ? found.holders : above;
    if (finder->holders < 2 || found.retained <= finder->retained / 2 ||
        (found.holders > 1 && found.retained / 3 * found.holders <= finder->retained / 2))
        return false;
    *ret = found;
    return true;
}

/* Finds a holder that has most: among the objects themselves, then among those that hold them, the
 * nearest first. Leaves near as it is for that holder. */
static bool find_most(struct example_finder *finder, struct example *ret)
{
    const struct findings *findings = finder->findings;
    uint32_t line = findings_node(findings, finder->item)->parent;
    const bool is_found = has_most(finder, UPPERMOST, ret);
    finder->uppermost = finder->holders;
    if (is_found)
        return true;
    for (int i = 0; i < MOST_LINES && line != MERGED_NONE;
         i++, line = findings_node(findings, line)->parent) {
        const struct merged_node *node = findings_node(findings, line);
        const bool is_holder = node->kind == MERGED_CLASS ||
                               findings_is_kind(findings, line, G2H_NODE_GOROUTINE) ||
                               findings_is_kind(findings, line, G2H_NODE_FRAME);
        if (!is_holder || node->count < 2 || finder->is_item[line])
            continue;
        if (has_most(finder, line, ret))
            return true;
        /* The objects of a tree hold each other, and each has few of the suspect's itself. */
        finder->is_outermost = true;
        const bool has_outermost = has_most(finder, line, ret);
        finder->is_outermost = false;
        if (has_outermost)
            return true;
    }
    return false;
}

/* ---- the object ---- */

/* Marks the objects directly below the one of the suspect's objects that holds most of the others,
 * as the root of a wide tree holds its branches. Marks nothing if no object does. */
static void mark_branches(struct example_finder *finder)
{
    uint64_t count = 0;
    example_find_holders(finder, NEAREST);
    const uint32_t root = majority_holder(finder, holder_above, one);
    for (size_t i = 0; root != NONE && i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i];
        finder->is_branch[number] = holder_above(finder, number) == root;
        count += finder->is_branch[number];
    }
    finder->has_branches = count >= MANY && count > finder->objects / 2;
}

/* Returns the heaviest of the objects that may be named; of equal ones the one with the lowest
 * address. */
static uint32_t heaviest(const struct example_finder *finder, uint32_t most)
{
    const uint32_t holder =
        most == NONE ? NONE : g2h_dominators_number(finder->findings->dominators, most);
    uint32_t best = NONE;
    uint64_t bytes = 0;
    for (size_t i = 0; i < finder->items.count; i++) {
        const uint32_t number = finder->items.data[i];
        if ((holder != NONE && finder->near[number] != holder) ||
            (finder->has_branches && !finder->is_branch[number]))
            continue;
        const uint32_t node = node_of(finder, number);
        const uint64_t retained = retained_by(finder, number);
        if (best == NONE || retained > bytes || (retained == bytes && node < best)) {
            best = node;
            bytes = retained;
        }
    }
    return best;
}

/* ---- the whole search ---- */

static void example_finder_deinit(struct example_finder *finder)
{
    free(finder->is_item);
    free(finder->is_map);
    free(finder->items.data);
    free(finder->upwards.data);
    large_free(finder->near, finder->count, sizeof(*finder->near));
    large_free(finder->is_inside, finder->count, sizeof(*finder->is_inside));
    large_free(finder->is_branch, finder->count, sizeof(*finder->is_branch));
    large_free(finder->is_seen, finder->count, sizeof(*finder->is_seen));
}

static void example_find_maps(struct example_finder *finder)
{
    const struct merged *merged = &finder->findings->merged;
    for (uint32_t i = 0; i < merged->nodes.count; i++)
        finder->is_map[i] = merged_form(merged, i) == G2H_FORM_MAP;
}

/* Finds which nodes of merged have objects of the suspect: item, and those of its name below it. Of
 * goroutines in one place these are the goroutines. */
static struct g2h_error *example_find_items(struct example_finder *finder)
{
    const struct findings *findings = finder->findings;
    const uint32_t count = (uint32_t)findings->merged.nodes.count;
    const bool is_place = findings_is_kind(findings, finder->item, G2H_NODE_GOROUTINES_IN_PLACE);
    _cleanup_free_ bool *is_below = calloc(count, sizeof(*is_below));
    TRY_MEMORY(is_below);
    merged_mark_below(&findings->merged, finder->item, is_below);
    finder->retained = findings_node(findings, finder->item)->retained;
    for (uint32_t i = finder->item; i < count; i++) {
        const struct merged_node *node = findings_node(findings, i);
        finder->is_item[i] =
            is_below[i] &&
            (is_place ? findings_is_kind(findings, i, G2H_NODE_GOROUTINE)
                      : node->kind == findings_node(findings, finder->item)->kind &&
                            node->name == findings_node(findings, finder->item)->name);
        finder->objects += finder->is_item[i] ? node->count : 0;
    }
    return NULL;
}

/* Lists the suspect's objects, and the nodes above these, where their holders are. */
static struct g2h_error *list_items(struct example_finder *finder)
{
    bool *is_wanted = finder->is_seen;
    for (uint32_t number = finder->count; number-- > 1;) {
        if (example_is_object(finder, number))
            is_wanted[number] = true;
        if (is_wanted[number])
            is_wanted[above(finder, number)] = true;
    }
    for (uint32_t number = 1; number < finder->count; number++) {
        if (!is_wanted[number])
            continue;
        is_wanted[number] = false;
        TRY_MEMORY(vector_push(&finder->upwards, number));
        if (example_is_object(finder, number))
            TRY_MEMORY(vector_push(&finder->items, number));
    }
    is_wanted[0] = false;
    return NULL;
}

/* Counts the holders right above the suspect, if find_most() has not come to them. */
static void count_above(struct example_finder *finder, struct example *ret)
{
    const uint32_t above = (uint32_t)finder->above;
    struct example sums;
    if (ret->above > 0 || above == MERGED_NONE ||
        findings_node(finder->findings, above)->kind != MERGED_CLASS ||
        findings_node(finder->findings, above)->count < 2)
        return;
    example_find_holders(finder, finder->above);
    example_sum_up(finder, NONE, &sums);
    ret->above = sums.holders;
}

/* The order of the steps matters: heaviest() needs near as find_most() left it, and count_above()
 * changes near. */
struct g2h_error *example_find(const struct findings *findings, uint32_t item, struct example *ret)
{
    _cleanup_(example_finder_deinit) struct example_finder finder = {
        .findings = findings,
        .item = item,
        .count = findings->merged.of_count,
        .above = findings_node(findings, item)->parent};
    finder.is_item = calloc(findings->merged.nodes.count, sizeof(*finder.is_item));
    finder.is_map = calloc(findings->merged.nodes.count, sizeof(*finder.is_map));
    finder.near = large_alloc(finder.count, sizeof(*finder.near));
    finder.is_inside = large_alloc(finder.count, sizeof(*finder.is_inside));
    finder.is_branch = large_alloc(finder.count, sizeof(*finder.is_branch));
    finder.is_seen = large_alloc(finder.count, sizeof(*finder.is_seen));
    TRY_MEMORY(finder.is_item && finder.is_map && finder.near && finder.is_inside &&
               finder.is_branch && finder.is_seen);
    *ret = (struct example){.node = findings_node(findings, item)->example, .most = NONE};
    example_find_maps(&finder);
    TRY(example_find_items(&finder));
    TRY(list_items(&finder));
    mark_branches(&finder);
    if (!find_most(&finder, ret))
        ret->most = NONE;
    const uint32_t node = heaviest(&finder, ret->most);
    count_above(&finder, ret); /* the last: it changes near */
    ret->node = node != NONE ? node : findings_node(findings, item)->example;
    ret->uppermost = finder.uppermost;
    return NULL;
}
