/* waste; see waste.h, and sections.h. */
#include "findings/waste_parts.h"

#include <stdlib.h>

#include "base/scope.h"
#include "base/workers.h"

enum { OBJECTS = 1 << 16 /* in a task */ };

/* ---- visiting slices, strings and maps ---- */

struct waste_finder {
    const struct findings *findings;
    const struct g2h_capacities *capacities;
    const struct layout_findings *layout;
    uint32_t declarations;
    size_t tasks;              /* tasks over objects; one more task goes over variables */
    open_slice_vector *slices; /* by task */
    part_vector *parts;        /* by task */
    struct waste_row **maps;   /* by worker, by declaration; NULL: the worker has met no map */
    uint64_t *full;            /* a bit for each object that full slices are in */
    uint64_t *used;            /* a bit for each string that substrings.c does not report */
    uint32_t
        *windows; /* by window: the lowest declaration of its slices, or DECLARATION_OF_LOCAL */
};

struct visit {
    const struct waste_finder *finder;
    open_slice_vector *slices;
    part_vector *parts;
    struct waste_row **maps;
};

/* Records the declaration of a slice whose array has a window. */
static void note_window(const struct waste_finder *finder, uint32_t array, uint32_t declaration)
{
    const uint32_t window = g2h_windows_of(finder->findings->windows, array);
    if (window == UINT32_MAX)
        return;
    uint32_t now = __atomic_load_n(&finder->windows[window], __ATOMIC_RELAXED);
    while (now > declaration &&
           !__atomic_compare_exchange_n(&finder->windows[window], &now, declaration, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Returns whether a slice, string or map is in an object that counts as waste as a whole. */
static bool is_stale(const struct findings *findings, const struct g2h_capacity *capacity)
{
    return capacity->object != UINT32_MAX &&
           stale_has(&findings->stale, findings->view, capacity->object);
}

/* Adds a slice that is not full, or marks the object of a full one. Garbage does not count. */
static bool visit_slice(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct findings *findings = visit->finder->findings;
    struct open_slice slice;
    uint32_t object;
    if (capacity->object != UINT32_MAX && g2h_view_is_garbage(findings->view, capacity->object))
        return true;
    layout_see_slice(findings, visit->finder->layout, capacity);
    if (is_stale(findings, capacity) ||
        !g2h_heap_find(g2h_view_heap(findings->view), capacity->address, &object))
        return true;
    note_window(visit->finder, object, capacity->declaration);
    if (capacity->used < capacity->all)
        return !slices_locate(findings, capacity, &slice) || vector_push(visit->slices, slice);
    waste_set_bit(visit->finder->full, object);
    return true;
}

/* Records the part of a string that a live substring uses. */
static bool visit_string(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct findings *findings = visit->finder->findings;
    return (capacity->object != UINT32_MAX &&
            g2h_view_is_garbage(findings->view, capacity->object)) ||
           substrings_add(findings, capacity, visit->parts, visit->finder->used);
}

/* Counts a map. If it has no entries, everything that it retains is waste, because it is all the
 * map's own memory. */
static void add_map(const struct findings *findings, uint32_t node,
                    const struct g2h_capacity *capacity, struct waste_row *row)
{
    struct g2h_node read;
    row->count++;
    row->entries += capacity->used;
    if (capacity->used > 0)
        return;
    g2h_view_brief(findings->view, node, &read);
    row->empty++;
    row->empty_size += read.members > 0
                           ? g2h_heap_object(g2h_view_heap(findings->view), capacity->object).size
                           : g2h_dominators_retained_size(findings->dominators, node);
}

/* Counts a map or, for each of its tables, the used and all slots. Rows are by worker, so no locks
 * are needed. Returns false if memory runs out. */
static bool visit_map(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct findings *findings = visit->finder->findings;
    const uint32_t node = g2h_view_object(findings->view, capacity->object);
    if (g2h_view_is_garbage(findings->view, capacity->object))
        return true;
    if (!*visit->maps)
        *visit->maps = calloc(visit->finder->declarations, sizeof(**visit->maps));
    if (!*visit->maps)
        return false;
    struct waste_row *row = &(*visit->maps)[capacity->declaration];
    if (capacity->kind == G2H_CAPACITY_MAP) {
        add_map(findings, node, capacity, row);
        return true;
    }
    row->used += capacity->used;
    row->all += capacity->all;
    row->wasted += (capacity->all - capacity->used) * capacity->size;
    row->bytes += g2h_heap_object(g2h_view_heap(findings->view), capacity->object).size;
    return true;
}

/* Dispatches by kind. What is in a stale object counts there as a whole; but slices in it still use
 * their arrays. */
static bool visit_one(void *context, const struct g2h_capacity *capacity)
{
    const struct visit *visit = context;
    if (capacity->kind == G2H_CAPACITY_SLICE)
        return visit_slice(visit, capacity);
    if (is_stale(visit->finder->findings, capacity))
        return true;
    return capacity->kind == G2H_CAPACITY_STRING ? visit_string(visit, capacity)
                                                 : visit_map(visit, capacity);
}

/* Visits what is in a task's objects; the last task goes over the variables of packages. */
static struct g2h_error *waste_find_task(void *context, size_t task, unsigned worker)
{
    const struct waste_finder *finder = context;
    const uint32_t first = (uint32_t)task * OBJECTS;
    struct visit visit = {finder, &finder->slices[task], &finder->parts[task],
                          &finder->maps[worker]};
    const bool good =
        task == finder->tasks
            ? g2h_capacities_of_variables(finder->capacities, visit_one, &visit)
            : g2h_capacities_of_objects(finder->capacities, first,
                                        first < UINT32_MAX - OBJECTS ? first + OBJECTS : UINT32_MAX,
                                        visit_one, &visit);
    return good ? NULL : &error_no_memory;
}

/* ---- sums ---- */

/* Adds the sums of one row to another. */
static void waste_add_row(struct waste_row *to, const struct waste_row *row)
{
    to->wasted += row->wasted;
    to->count += row->count;
    to->bytes += row->bytes;
    to->used += row->used;
    to->all += row->all;
    to->entries += row->entries;
    to->unknown += row->unknown;
    to->elements += row->elements;
    to->outside += row->outside;
    to->empty += row->empty;
    to->empty_size += row->empty_size;
}

/* The row of a declaration is made when the first waste is found there. */
struct waste_row *waste_add(struct waste_rows *rows, struct map *by_declaration,
                            uint32_t declaration, uint64_t wasted, uint64_t bytes)
{
    uint32_t index = (uint32_t)rows->list.count;
    if (!map_put(by_declaration, declaration, index, &index) ||
        (index == rows->list.count &&
         !vector_push(&rows->list, ((struct waste_row){.declaration = declaration}))))
        return NULL;
    struct waste_row *row = &rows->list.data[index];
    row->count++;
    row->wasted += wasted;
    row->bytes += bytes;
    return row;
}

/* Adds up the workers' rows of each declaration. */
static struct g2h_error *sum_maps(const struct waste_finder *finder, struct waste_rows *ret)
{
    for (uint32_t i = 0; i < finder->declarations; i++) {
        struct waste_row row = {.declaration = i};
        for (unsigned j = 0; j < finder->findings->threads; j++)
            if (finder->maps[j])
                waste_add_row(&row, &finder->maps[j][i]);
        row.unknown = row.entries > row.used ? row.entries - row.used : 0;
        if (row.count > 0 || row.all > 0)
            TRY_MEMORY(vector_push(&ret->list, row));
    }
    return NULL;
}

static int waste_compare(const void *a, const void *b)
{
    const struct waste_row *one = a, *other = b;
    if (one->wasted != other->wasted)
        return one->wasted > other->wasted ? -1 : 1;
    return one->declaration < other->declaration ? -1 : one->declaration > other->declaration;
}

static void waste_finish(struct waste_rows *rows)
{
    for (size_t i = 0; i < rows->list.count; i++)
        waste_add_row(&rows->sums, &rows->list.data[i]);
    vector_sort(&rows->list, waste_compare);
}

static void waste_finder_deinit(struct waste_finder *finder)
{
    for (size_t i = 0; finder->slices && i <= finder->tasks; i++)
        free(finder->slices[i].data);
    for (size_t i = 0; finder->parts && i <= finder->tasks; i++)
        free(finder->parts[i].data);
    for (unsigned i = 0; finder->maps && i < finder->findings->threads; i++)
        free(finder->maps[i]);
    free(finder->slices);
    free(finder->parts);
    free(finder->maps);
    free(finder->full);
    free(finder->used);
    free(finder->windows);
}

/* Sums up substrings, except those of strings that a slice is in or that are reported as
 * duplicates. */
static struct g2h_error *sum_substrings(const struct waste_finder *finder,
                                        const struct equals *texts, struct waste_rows *ret)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(finder->findings->view));
    for (size_t i = 0; i <= objects / 64; i++)
        finder->used[i] |= finder->full[i] | texts->objects[i];
    for (size_t i = 0; i <= finder->tasks; i++)
        for (size_t j = 0; j < finder->slices[i].count; j++)
            waste_set_bit(finder->used, finder->slices[i].data[j].array);
    return substrings_sum(finder->findings, finder->parts, finder->tasks + 1, finder->used, ret);
}

/* Workers first collect slices, substrings and maps by task; the sums come after, since one array
 * or string may be seen by several tasks. */
struct g2h_error *waste_find(const struct findings *findings, struct waste *ret)
{
    TRY(g2h_capacities_create(findings->view, &ret->capacities));
    _cleanup_(waste_finder_deinit) struct waste_finder finder = {
        .findings = findings,
        .capacities = ret->capacities,
        .layout = &ret->layout,
        .declarations = g2h_capacities_declaration_count(ret->capacities),
        .tasks = g2h_heap_object_count(g2h_view_heap(findings->view)) / OBJECTS + 1};
    TRY(layout_init(findings, &ret->layout));
    TRY(fragmentation_find(findings, &ret->fragmentation));
    TRY(equals_find(findings, &ret->texts));
    if (finder.declarations == 0)
        return layout_find(findings, &ret->layout);
    finder.slices = calloc(finder.tasks + 1, sizeof(*finder.slices));
    finder.parts = calloc(finder.tasks + 1, sizeof(*finder.parts));
    finder.maps = calloc(findings->threads, sizeof(*finder.maps));
    finder.full = calloc(finder.tasks * OBJECTS / 64, sizeof(*finder.full));
    finder.used = calloc(finder.tasks * OBJECTS / 64, sizeof(*finder.used));
    const uint32_t windows = g2h_windows_count(findings->windows);
    finder.windows = malloc((windows + 1) * sizeof(*finder.windows));
    TRY_MEMORY(finder.slices && finder.parts && finder.maps && finder.full && finder.used &&
               finder.windows);
    for (uint32_t i = 0; i < windows; i++)
        finder.windows[i] = DECLARATION_OF_LOCAL;
    TRY(workers_run(findings->threads, finder.tasks + 1, waste_find_task, &finder));
    TRY(layout_find(findings, &ret->layout));
    TRY(slices_sum(findings, ret->capacities, finder.slices, finder.tasks + 1, finder.full,
                   finder.windows, &ret->slices));
    TRY(slices_sum_stale(findings, finder.windows, &ret->stale));
    TRY(sum_maps(&finder, &ret->maps));
    TRY(sum_substrings(&finder, &ret->texts, &ret->substrings));
    waste_finish(&ret->slices);
    waste_finish(&ret->stale);
    waste_finish(&ret->maps);
    waste_finish(&ret->substrings);
    return NULL;
}

void waste_deinit(struct waste *waste)
{
    equals_deinit(&waste->texts);
    fragmentation_deinit(&waste->fragmentation);
    layout_deinit(&waste->layout);
    g2h_capacities_destroy(waste->capacities);
    free(waste->slices.list.data);
    free(waste->stale.list.data);
    free(waste->maps.list.data);
    free(waste->substrings.list.data);
}
