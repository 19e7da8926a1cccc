/*
 * array_windows: lists the arrays that slices use only in part, for outputs and findings:
 * g2h_windows_find() in include/go2heapsnapshot/view.h. Names of edges need the windows of arrays
 * with pointers, so these are known; here those of other arrays are found and joined with them.
 */
#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/workers.h"
#include "graph/whole.h"
#include "graph/windows.h"
#include "typing/fit.h"
#include "view/view.h"

struct g2h_windows {
    const struct typing *typing;
    struct windows windows;
};

CLEANUP_POINTER(windows_destroy, struct g2h_windows, g2h_windows_destroy);

/* Merges the windows that names have with others, some of which may be the same. */
static struct g2h_error *windows_join(const struct windows *known, const struct windows *noscan,
                                      uint32_t objects, struct windows *ret)
{
    const window_vector *a = &known->list, *b = &noscan->list;
    TRY_MEMORY(vector_grow(&ret->list, a->count + b->count));
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        const bool both = i < a->count && j < b->count,
                   is_known = both ? a->data[i].object <= b->data[j].object : i < a->count;
        j += both && a->data[i].object == b->data[j].object;
        ret->list.data[ret->list.count++] = is_known ? a->data[i++] : b->data[j++];
    }
    return windows_set_bits(ret, objects);
}

/* Finds the windows of all arrays. The windows of arrays with pointers are known already, because
 * names depend on them; those of other arrays are found now. */
struct g2h_error *g2h_windows_find(const struct g2h_view *view, unsigned threads,
                                   struct g2h_windows **ret)
{
    const struct g2h_graph *graph = view->graph;
    _cleanup_(windows_deinit) struct windows noscan = {.has = NULL};
    _cleanup_(windows_destroy) struct g2h_windows *windows = calloc(1, sizeof(*windows));
    TRY_MEMORY(windows);
    windows->typing = graph->typing;
    TRY(windows_find(graph, OF_NOSCAN_SLICES, threads > 0 ? threads : workers_available(),
                     &noscan));
    TRY(windows_join(&graph->names.windows, &noscan, graph->heap->object_count, &windows->windows));
    *ret = take_pointer(windows);
    return NULL;
}

void g2h_windows_destroy(struct g2h_windows *windows)
{
    if (windows)
        windows_deinit(&windows->windows);
    free(windows);
}

uint32_t g2h_windows_count(const struct g2h_windows *windows)
{
    return as_u32(windows->windows.list.count);
}

/* Gets a window: which part of an array slices can reach. If no slot fits the capacity exactly, the
 * capacity was cut off (s[:n:n]), and the array may reach to the end of its slot. */
void g2h_windows_get(const struct g2h_windows *windows, uint32_t number, struct g2h_window *ret)
{
    const struct slice_window *window = &windows->windows.list.data[number];
    const struct g2h_heap *heap = windows->typing->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, window->object);
    *ret = (struct g2h_window){
        .object = window->object,
        .size = window->size,
        .begin = window->begin,
        .end = window->end,
        .capacity_end = window->capacity_end,
        .first = heap_value_base(heap, slot_class),
        .last = fits_class(windows->typing, window->capacity_end, slot_class->size)
                    ? window->capacity_end
                    : slot_class->size};
}

/* Returns the number of an object's window, or UINT32_MAX. */
uint32_t g2h_windows_of(const struct g2h_windows *windows, uint32_t object)
{
    const struct slice_window *window = windows_of(&windows->windows, object);
    return window ? (uint32_t)(window - windows->windows.list.data) : UINT32_MAX;
}

/* Finds the objects of which a pointer may use more than slices and strings say. */
struct g2h_error *g2h_view_find_whole(const struct g2h_view *view, const uint64_t *asked,
                                      unsigned threads, uint64_t *ret)
{
    return whole_find(view->graph, asked, threads > 0 ? threads : workers_available(), ret);
}
