/* stale; see stale.h. */
#include "findings/stale.h"

#include <stdlib.h>

#include "base/scope.h"
#include "findings/findings.h"

struct stale_finder {
    const struct g2h_view *view;
    struct g2h_edges *edges;
    struct stale *stale;
    uint32_t numbers;
};

static void stale_finder_deinit(struct stale_finder *finder)
{
    g2h_edges_destroy(finder->edges);
}

/* Marks the objects that the array node alone holds in stale slots (is_stale), or unmarks those
 * that it also has in slots in use. array is the number it will have. Returns whether there are
 * any. */
static bool mark_targets(struct stale_finder *finder, uint32_t node,
                         const struct g2h_window *window, uint32_t array, bool is_stale)
{
    struct stale *stale = finder->stale;
    struct g2h_edge edge;
    bool any = false;
    g2h_edges_begin(finder->edges, node, node + 1);
    while (g2h_edges_next(finder->edges, &edge)) {
        if ((edge.flags & G2H_EDGE_WEAK) != 0 || ((edge.flags & G2H_EDGE_STALE) != 0) != is_stale ||
            edge.target == node || g2h_dominators_of(stale->dominators, edge.target) != node)
            continue;
        stale->of[g2h_dominators_number(stale->dominators, edge.target)] =
            is_stale ? 1 + 2 * array + (edge.offset < window->begin) : 0;
        any = true;
    }
    return any;
}

/* Marks the stale objects of an array with a window, and adds the array if it has any. */
static struct g2h_error *mark_array(struct stale_finder *finder, uint32_t number)
{
    struct stale *stale = finder->stale;
    struct g2h_window window;
    struct g2h_node read;
    g2h_windows_get(stale->windows, number, &window);
    const uint32_t node = g2h_view_object(finder->view, window.object),
                   array = (uint32_t)stale->arrays.count;
    if (node == UINT32_MAX)
        return NULL;
    g2h_view_node(finder->view, node, &read);
    if (read.edges == 0 || read.members > 0 || !mark_targets(finder, node, &window, array, true))
        return NULL;
    /* An object that is in a slot in use as well is not stale. */
    mark_targets(finder, node, &window, array, false);
    TRY_MEMORY(vector_push(&stale->arrays, ((struct stale_array){.window = number, .node = node})));
    return NULL;
}

/* Spreads each mark to all nodes that the stale object dominates, and sums up by array. Numbers
 * ascend from dominators to what they dominate, so one pass does. */
static void spread_staleness(struct stale_finder *finder)
{
    struct stale *stale = finder->stale;
    for (uint32_t number = 1; number < finder->numbers; number++) {
        const uint32_t node = g2h_dominators_node(stale->dominators, number);
        if (node == UINT32_MAX)
            continue;
        const uint32_t over = stale->of[g2h_dominators_above(stale->dominators, number)];
        struct stale_reason reason;
        if (over == 0 && stale_of(stale, number, &reason)) {
            struct stale_array *array = &stale->arrays.data[reason.array];
            array->before += reason.is_before;
            array->beyond += !reason.is_before;
            array->retained += g2h_dominators_retained_size(stale->dominators, node);
        } else if (over != 0) {
            stale->of[number] = over;
        }
    }
}

/* Frees the marks if nothing is stale, as in most heaps: ret->of NULL then answers all
 * questions. */
struct g2h_error *stale_find(const struct g2h_view *view, const struct g2h_dominators *dominators,
                             const struct g2h_windows *windows, struct stale *ret)
{
    _cleanup_(stale_finder_deinit) struct stale_finder finder = {
        .view = view, .stale = ret, .numbers = g2h_dominators_numbers(dominators)};
    ret->dominators = dominators;
    ret->windows = windows;
    if (g2h_windows_count(windows) == 0)
        return NULL;
    ret->of = calloc(finder.numbers, sizeof(*ret->of));
    TRY_MEMORY(ret->of);
    TRY(g2h_edges_create(view, &finder.edges));
    for (uint32_t i = 0; i < g2h_windows_count(windows); i++)
        TRY(mark_array(&finder, i));
    if (ret->arrays.count > 0) {
        spread_staleness(&finder);
        return NULL;
    }
    free(ret->of);
    ret->of = NULL;
    return NULL;
}

void stale_deinit(struct stale *stale)
{
    free(stale->arrays.data);
    free(stale->of);
}

bool stale_has_node(const struct stale *stale, uint32_t node)
{
    struct stale_reason reason;
    return stale->of && stale_of(stale, g2h_dominators_number(stale->dominators, node), &reason);
}

bool stale_has(const struct stale *stale, const struct g2h_view *view, uint32_t object)
{
    const uint32_t node = stale->of ? g2h_view_object(view, object) : UINT32_MAX;
    return node != UINT32_MAX && stale_has_node(stale, node);
}

/* ---- the stale part of a suspect ---- */

/* Sets a flag for each node of merged that is item or below it, and for each of these nodes that
 * has objects of the suspect: those of item's name. */
static void stale_part_find_items(const struct findings *findings, uint32_t item, bool *is_below,
                                  bool *is_item)
{
    const struct merged_node *node = findings_node(findings, item);
    merged_mark_below(&findings->merged, item, is_below);
    for (uint32_t i = item; i < findings->merged.nodes.count; i++) {
        const struct merged_node *other = findings_node(findings, i);
        is_item[i] = is_below[i] && other->kind == node->kind && other->name == node->name;
    }
}

/* Returns whether a node of the view is an object of the node that it is merged in, and not memory
 * of such an object. */
static bool stale_part_is_object(const struct findings *findings, uint32_t node, uint32_t merged)
{
    struct g2h_node read;
    g2h_view_brief(findings->view, node, &read);
    return read.kind == G2H_NODE_TEXT || read.name == findings_node(findings, merged)->name;
}

/* Counts the objects of the suspect that are stale themselves. */
static void count_items(const struct findings *findings, const bool *is_item, uint64_t *counts,
                        struct stale_part *ret)
{
    const struct stale *stale = &findings->stale;
    for (uint32_t number = 1; number < findings->merged.of_count; number++) {
        const uint32_t node = g2h_dominators_node(stale->dominators, number);
        struct stale_reason reason;
        if (node == UINT32_MAX || !is_item[findings->merged.of[number]] ||
            !stale_of(stale, number, &reason) ||
            !stale_part_is_object(findings, node, findings->merged.of[number]))
            continue;
        ret->before += reason.is_before;
        ret->beyond += !reason.is_before;
        ret->arrays += counts[reason.array]++ == 0;
    }
    for (uint32_t i = 0; i < stale->arrays.count; i++)
        if (counts[i] > counts[ret->most])
            ret->most = i;
}

/* Sums up the stale objects in the arrays that the suspect holds. */
static void sum_held(const struct findings *findings, const bool *is_below, struct stale_part *ret)
{
    const struct stale *stale = &findings->stale;
    for (uint32_t i = 0; i < stale->arrays.count; i++) {
        const struct stale_array *array = &stale->arrays.data[i];
        const uint32_t number = g2h_dominators_number(stale->dominators, array->node);
        if (array->beyond + array->before == 0 || !is_below[findings->merged.of[number]])
            continue;
        ret->before += array->before;
        ret->beyond += array->beyond;
        ret->retained += array->retained;
        if (ret->arrays++ == 0 || array->retained > stale->arrays.data[ret->most].retained)
            ret->most = i;
    }
}

/* Reports stale items of the suspect or, if they are too few, what is stale in arrays that it
 * holds. */
struct g2h_error *stale_find_part(const struct findings *findings, uint32_t item, uint64_t count,
                                  struct stale_part *ret)
{
    enum { LEAST = 20 /* one in LEAST must be stale to be reported */ };
    const size_t nodes = findings->merged.nodes.count;
    const uint64_t retained = findings_node(findings, item)->retained;
    struct stale_part held = {0};
    struct g2h_window window;
    *ret = (struct stale_part){.is_of_items = true};
    if (!findings->stale.of)
        return NULL;
    _cleanup_free_ bool *is_below = calloc(nodes, sizeof(*is_below));
    _cleanup_free_ bool *is_item = calloc(nodes, sizeof(*is_item));
    _cleanup_free_ uint64_t *counts = calloc(findings->stale.arrays.count, sizeof(*counts));
    TRY_MEMORY(is_below && is_item && counts);
    stale_part_find_items(findings, item, is_below, is_item);
    count_items(findings, is_item, counts, ret);
    sum_held(findings, is_below, &held);
    const uint64_t stale = ret->beyond + ret->before;
    if (stale == 0 || stale < count / LEAST)
        *ret = held.retained < retained / LEAST ? (struct stale_part){0} : held;
    if (ret->arrays == 0)
        return NULL;
    g2h_windows_get(findings->windows, findings->stale.arrays.data[ret->most].window, &window);
    ret->length = (window.end - window.begin) / window.size;
    return NULL;
}
