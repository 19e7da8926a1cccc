/* stale; see stale.h. */
#include "findings/stale.h"

#include <stdlib.h>

#include "base/scope.h"

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

/* Marks the objects that an array alone holds in stale slots (is_stale), or unmarks those that it
 * holds in others. Returns whether it holds any. */
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
    mark_targets(finder, node, &window, array, false);
    TRY_MEMORY(vector_push(&stale->arrays, ((struct stale_array){.window = number, .node = node})));
    return NULL;
}

/* Marks what stale objects retain, and sums it up. */
static void spread(struct stale_finder *finder)
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
        spread(&finder);
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
