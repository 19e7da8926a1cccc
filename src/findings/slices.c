/*
 * slices: space in slices beyond their length, and memory outside of their capacity; see waste.h.
 *
 * Memory before the start of all slices of an array, or after their capacities, counts if nothing
 * else leads there: the array has a window then.
 *
 * Several slices may share an array. The part that none of them uses counts as wasted once, at the
 * declaration of the slice that uses most. Full slices matter only if another slice of the same
 * array is not full. Such arrays are few, so full slices are not recorded; if there is such an
 * array, the objects are visited a second time.
 */
#include <stdlib.h>

#include "base/bits.h"
#include "base/scope.h"
#include "base/workers.h"
#include "findings/waste_parts.h"

enum { OBJECTS = 1 << 16 /* in a task */ };

struct arrays {
    const struct findings *findings;
    const struct g2h_capacities *capacities;
    open_slice_vector list;
    struct map by_object;
    uint64_t *has; /* a bit for each array in the list that full slices are in, too */
    bool has_any;
};

/* Converts a slice's address and capacity to offsets in its array. Lengths that the array has no
 * space for are cut: a damaged dump may claim anything. */
bool slices_locate(const struct findings *findings, const struct g2h_capacity *capacity,
                   struct open_slice *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    struct g2h_node node;
    if (!g2h_heap_find(heap, capacity->address, &ret->array))
        return false;
    const uint32_t number = g2h_view_object(findings->view, ret->array);
    if (number == UINT32_MAX)
        return false;
    g2h_view_brief(findings->view, number, &node);
    const uint64_t begin = capacity->address - g2h_heap_address(heap, ret->array),
                   size = node.object == ret->array ? node.size
                                                    : g2h_heap_object(heap, ret->array).size,
                   space = begin < size ? (size - begin) / capacity->size : 0;
    ret->declaration = capacity->declaration;
    ret->used_end = begin + (capacity->used < space ? capacity->used : space) * capacity->size;
    ret->end = begin + (capacity->all < space ? capacity->all : space) * capacity->size;
    return true;
}

/* Merges a slice into those of its array. */
static struct g2h_error *slices_add(struct arrays *arrays, const struct open_slice *slice,
                                    const uint64_t *full)
{
    const uint64_t bit = full[slice->array / 64] & (uint64_t)1 << slice->array % 64;
    uint32_t index = (uint32_t)arrays->list.count;
    TRY_MEMORY(map_put(&arrays->by_object, slice->array, index, &index));
    if (index == arrays->list.count) {
        TRY_MEMORY(vector_push(&arrays->list, *slice));
        arrays->has[slice->array / 64] |= bit;
        arrays->has_any = arrays->has_any || bit != 0;
        return NULL;
    }
    struct open_slice *known = &arrays->list.data[index];
    if (slice->used_end > known->used_end) {
        known->used_end = slice->used_end;
        known->declaration = slice->declaration;
    }
    known->end = slice->end > known->end ? slice->end : known->end;
    return NULL;
}

/* ---- full slices ---- */

/* Extends the used part of an array in the list by a full slice. */
static bool visit_full(void *context, const struct g2h_capacity *capacity)
{
    struct arrays *arrays = context;
    const struct findings *findings = arrays->findings;
    struct open_slice slice;
    uint32_t object;
    if (capacity->kind != G2H_CAPACITY_SLICE || capacity->used < capacity->all ||
        !g2h_heap_find(g2h_view_heap(findings->view), capacity->address, &object) ||
        !bits_have(arrays->has, object) ||
        (capacity->object != UINT32_MAX && g2h_view_is_garbage(findings->view, capacity->object)) ||
        !slices_locate(findings, capacity, &slice))
        return true;
    workers_raise(&arrays->list.data[map_get(&arrays->by_object, object)].used_end, slice.used_end);
    return true;
}

/* Visits a task's objects again, for the full slices in arrays that have one that is not full. */
static struct g2h_error *full_task(void *context, size_t task, unsigned worker)
{
    struct arrays *arrays = context;
    const uint32_t first = (uint32_t)task * OBJECTS;
    (void)worker;
    g2h_capacities_of_objects(arrays->capacities, first,
                              first < UINT32_MAX - OBJECTS ? first + OBJECTS : UINT32_MAX,
                              visit_full, arrays);
    return NULL;
}

/* ---- sums ---- */

/* Adds the arrays that have windows. */
static struct g2h_error *sum_windows(const struct findings *findings, const uint32_t *declarations,
                                     struct map *by_declaration, struct waste_rows *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    for (uint32_t i = 0; i < g2h_windows_count(findings->windows); i++) {
        struct g2h_window window;
        g2h_windows_get(findings->windows, i, &window);
        const uint64_t outside = window.begin - window.first + window.last - window.capacity_end,
                       wasted = outside + window.capacity_end - window.end;
        if (wasted == 0 || g2h_view_object(findings->view, window.object) == UINT32_MAX ||
            stale_has(&findings->stale, findings->view, window.object))
            continue;
        struct waste_row *row = waste_add(ret, by_declaration, declarations[i], wasted,
                                          g2h_heap_object(heap, window.object).size);
        TRY_MEMORY(row);
        row->elements += window.end - window.begin;
        row->outside += outside;
    }
    return NULL;
}

/* Adds for each array without a window the bytes beyond what any slice uses to its declaration. */
static struct g2h_error *slices_sum_up(const struct arrays *arrays, const uint32_t *declarations,
                                       struct waste_rows *ret)
{
    const struct findings *findings = arrays->findings;
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    _cleanup_(map_deinit) struct map by_declaration = {0};
    for (size_t i = 0; i < arrays->list.count; i++) {
        const struct open_slice *array = &arrays->list.data[i];
        if (array->used_end >= array->end ||
            g2h_windows_of(findings->windows, array->array) != UINT32_MAX)
            continue;
        struct waste_row *row =
            waste_add(ret, &by_declaration, array->declaration, array->end - array->used_end,
                      g2h_heap_object(heap, array->array).size);
        TRY_MEMORY(row);
        row->elements += array->used_end;
    }
    return sum_windows(findings, declarations, &by_declaration, ret);
}

/* Adds what is stale in each array to the declaration that the array's window is counted for.
 * waste_add() counts one object, so the others are added here. */
struct g2h_error *slices_sum_stale(const struct findings *findings, const uint32_t *declarations,
                                   struct waste_rows *ret)
{
    _cleanup_(map_deinit) struct map by_declaration = {0};
    for (size_t i = 0; i < findings->stale.arrays.count; i++) {
        const struct stale_array *array = &findings->stale.arrays.data[i];
        const uint64_t objects = array->beyond + array->before;
        if (objects == 0)
            continue;
        struct waste_row *row =
            waste_add(ret, &by_declaration, declarations[array->window], array->retained, 0);
        TRY_MEMORY(row);
        row->count += objects - 1;
    }
    return NULL;
}

static void arrays_deinit(struct arrays *arrays)
{
    free(arrays->list.data);
    free(arrays->has);
    map_deinit(&arrays->by_object);
}

/* Merges the lists of all tasks by array first, because slices of one array may be seen by several
 * tasks. */
struct g2h_error *slices_sum(const struct findings *findings,
                             const struct g2h_capacities *capacities,
                             const open_slice_vector *lists, size_t count, const uint64_t *full,
                             const uint32_t *declarations, struct waste_rows *ret)
{
    _cleanup_(arrays_deinit) struct arrays arrays = {.findings = findings,
                                                     .capacities = capacities};
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(findings->view));
    arrays.has = calloc(objects / 64 + 1, sizeof(*arrays.has));
    TRY_MEMORY(arrays.has);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < lists[i].count; j++)
            TRY(slices_add(&arrays, &lists[i].data[j], full));
    if (arrays.has_any) {
        g2h_capacities_of_variables(capacities, visit_full, &arrays);
        TRY(workers_run(findings->threads, objects / OBJECTS + 1, full_task, &arrays));
    }
    return slices_sum_up(&arrays, declarations, ret);
}
