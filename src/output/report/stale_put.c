/* stale_put: what of a suspect lies in slots that no slice uses; see sections.h and stale.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/scope.h"
#include "output/report/sections.h"
#include "output/report/way.h"

/* What of a suspect is stale. */
struct found {
    uint64_t beyond, before; /* objects */
    uint64_t retained;       /* of what the suspect holds: the bytes that these retain */
    uint32_t arrays;         /* how many arrays these are in */
    uint32_t most;           /* the one that has most: number in stale->arrays */
};

/* Sets a flag for each node of merged that is item or below it, and for each of them that has
 * objects of the suspect: those of item's name. */
static void find_items(const struct report *report, uint32_t item, bool *is_below, bool *is_item)
{
    const struct merged_node *node = report_node(report, item);
    merged_mark_below(&report->merged, item, is_below);
    for (uint32_t i = item; i < report->merged.nodes.count; i++) {
        const struct merged_node *other = report_node(report, i);
        is_item[i] = is_below[i] && other->kind == node->kind && other->name == node->name;
    }
}

/* Returns whether a node of the view is an object of the node that it is merged in, and not memory
 * of such an object. */
static bool is_object(const struct report *report, uint32_t node, uint32_t merged)
{
    struct g2h_node read;
    g2h_view_brief(report->view, node, &read);
    return read.kind == G2H_NODE_TEXT || read.name == report_node(report, merged)->name;
}

/* Counts the objects of the suspect that are stale themselves. */
static void count_items(const struct report *report, const bool *is_item, uint64_t *counts,
                        struct found *ret)
{
    const struct stale *stale = &report->stale;
    for (uint32_t number = 1; number < report->merged.of_count; number++) {
        const uint32_t node = g2h_dominators_node(stale->dominators, number);
        struct stale_reason reason;
        if (node == UINT32_MAX || !is_item[report->merged.of[number]] ||
            !stale_of(stale, number, &reason) ||
            !is_object(report, node, report->merged.of[number]))
            continue;
        ret->before += reason.is_before;
        ret->beyond += !reason.is_before;
        ret->arrays += counts[reason.array]++ == 0;
        if (ret->arrays == 1 || counts[reason.array] > counts[ret->most])
            ret->most = reason.array;
    }
}

/* Sums up what is stale in the arrays that the suspect holds. */
static void sum_held(const struct report *report, const bool *is_below, struct found *ret)
{
    const struct stale *stale = &report->stale;
    for (uint32_t i = 0; i < stale->arrays.count; i++) {
        const struct stale_array *array = &stale->arrays.data[i];
        const uint32_t number = g2h_dominators_number(stale->dominators, array->node);
        if (array->beyond + array->before == 0 || !is_below[report->merged.of[number]])
            continue;
        ret->before += array->before;
        ret->beyond += array->beyond;
        ret->retained += array->retained;
        if (ret->arrays++ == 0 || array->retained > stale->arrays.data[ret->most].retained)
            ret->most = i;
    }
}

/* Puts which slices leave out what was found, and how long the one is that is named. */
static struct g2h_error *put_slices(const struct report *report, const struct found *found)
{
    _cleanup_(text_deinit) struct text way = {0};
    struct page *page = report->page;
    struct g2h_window window;
    uint32_t end;
    const struct stale_array *array = &report->stale.arrays.data[found->most];
    TRY(way_append(report, array->node, &way, &end));
    TRY_MEMORY(!way.failed);
    g2h_windows_get(report->windows, array->window, &window);
    page_say(page, found->before == 0   ? "beyond the length of "
                   : found->beyond == 0 ? "before the start of "
                                        : "beyond the length or before the start of ");
    if (found->arrays > 1)
        PAGE_PUT(page, "% slices, such as ", page_count(NULL, found->arrays));
    PAGE_PUT(page, way.size > 0 ? "%" : "a slice",
             page_clipped(page_made("of", &way), 2 * page->columns));
    PAGE_PUT(page, " (length %)\n",
             page_count("length", (window.end - window.begin) / window.size));
    PAGE_DATA(page, page_count("beyond", found->beyond), page_count("before", found->before),
              page_count("slices", found->arrays));
    return NULL;
}

struct g2h_error *report_put_stale(const struct report *report, uint32_t item, uint64_t count)
{
    enum { LEAST = 20 /* of what a twentieth is stale is said to be so */ };
    const size_t nodes = report->merged.nodes.count;
    struct found items = {0}, held = {0};
    if (!report->stale.of)
        return NULL;
    _cleanup_free_ bool *is_below = calloc(nodes, sizeof(*is_below));
    _cleanup_free_ bool *is_item = calloc(nodes, sizeof(*is_item));
    _cleanup_free_ uint64_t *counts = calloc(report->stale.arrays.count, sizeof(*counts));
    TRY_MEMORY(is_below && is_item && counts);
    find_items(report, item, is_below, is_item);
    count_items(report, is_item, counts, &items);
    sum_held(report, is_below, &held);
    const uint64_t stale = items.beyond + items.before;
    const bool is_of_items = stale > 0 && stale >= count / LEAST;
    if (!is_of_items &&
        (held.arrays == 0 || held.retained < report_node(report, item)->retained / LEAST))
        return NULL;
    page_open(report->page, "stale");
    if (is_of_items)
        PAGE_PUT(report->page, "      stale       % of them ", page_count("count", stale));
    else
        PAGE_PUT(report->page, "      stale       %: % objects ",
                 page_bytes("retained", held.retained),
                 page_count("count", held.beyond + held.before));
    TRY(put_slices(report, is_of_items ? &items : &held));
    page_close(report->page);
    return NULL;
}
