/* waste; see waste.h, and sections.h. */
#include "output/report/waste.h"

#include <stdlib.h>

#include "base/scope.h"
#include "base/workers.h"

enum { OBJECTS = 1 << 16 /* in a task */ };

/* ---- going over slices, strings and maps ---- */

struct finder {
    const struct report *report;
    const struct g2h_capacities *capacities;
    const struct layout *layout;
    uint32_t places;
    size_t tasks;              /* tasks over objects; one more task goes over variables */
    open_slice_vector *slices; /* by task */
    part_vector *parts;        /* by task */
    struct waste_row **maps;   /* by worker, by place; NULL: the worker has met no map */
    uint64_t *full;            /* a bit for each object that full slices are in */
    uint64_t *used;            /* a bit for each text that substrings.c does not report */
    uint32_t *windows;         /* by window: the lowest place of its slices, or PLACE_OF_LOCAL */
};

struct visit {
    const struct finder *finder;
    open_slice_vector *slices;
    part_vector *parts;
    struct waste_row **maps;
};

/* Notes the place of a slice whose array has a window. */
static void note_window(const struct finder *finder, uint32_t array, uint32_t place)
{
    const uint32_t window = g2h_windows_of(finder->report->windows, array);
    if (window == UINT32_MAX)
        return;
    uint32_t now = __atomic_load_n(&finder->windows[window], __ATOMIC_RELAXED);
    while (now > place && !__atomic_compare_exchange_n(&finder->windows[window], &now, place, true,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Returns whether a slice, string or map is in an object of which all counts as waste. */
static bool is_stale(const struct report *report, const struct g2h_capacity *capacity)
{
    return capacity->object != UINT32_MAX &&
           stale_has(&report->stale, report->view, capacity->object);
}

static bool visit_slice(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct report *report = visit->finder->report;
    struct open_slice slice;
    uint32_t object;
    if (capacity->object != UINT32_MAX && g2h_view_is_garbage(report->view, capacity->object))
        return true;
    layout_see_slice(report, visit->finder->layout, capacity);
    if (is_stale(report, capacity) ||
        !g2h_heap_find(g2h_view_heap(report->view), capacity->address, &object))
        return true;
    note_window(visit->finder, object, capacity->place);
    if (capacity->used < capacity->all)
        return !slices_locate(report, capacity, &slice) || vector_push(visit->slices, slice);
    waste_set_bit(visit->finder->full, object);
    return true;
}

static bool visit_string(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct report *report = visit->finder->report;
    return (capacity->object != UINT32_MAX &&
            g2h_view_is_garbage(report->view, capacity->object)) ||
           substrings_add(report, capacity, visit->parts, visit->finder->used);
}

/* Counts a map. If it has no entries, all that it retains is of no use, for all of that is its own
 * memory. */
static void add_map(const struct report *report, uint32_t node, const struct g2h_capacity *capacity,
                    struct waste_row *row)
{
    struct g2h_node read;
    row->count++;
    if (capacity->used > 0)
        return;
    g2h_view_brief(report->view, node, &read);
    row->empty++;
    row->empty_size += read.members > 0
                           ? g2h_heap_object(g2h_view_heap(report->view), capacity->object).size
                           : g2h_dominators_retained_size(report->dominators, node);
}

static bool visit_map(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct report *report = visit->finder->report;
    const uint32_t node = g2h_view_object(report->view, capacity->object);
    if (g2h_view_is_garbage(report->view, capacity->object))
        return true;
    if (!*visit->maps)
        *visit->maps = calloc(visit->finder->places, sizeof(**visit->maps));
    if (!*visit->maps)
        return false;
    struct waste_row *row = &(*visit->maps)[capacity->place];
    if (capacity->kind == G2H_CAPACITY_MAP) {
        add_map(report, node, capacity, row);
        return true;
    }
    row->used += capacity->used;
    row->all += capacity->all;
    row->wasted += (capacity->all - capacity->used) * capacity->size;
    row->bytes += g2h_heap_object(g2h_view_heap(report->view), capacity->object).size;
    return true;
}

static bool visit_one(void *context, const struct g2h_capacity *capacity)
{
    const struct visit *visit = context;
    if (capacity->kind == G2H_CAPACITY_SLICE)
        return visit_slice(visit, capacity);
    if (is_stale(visit->finder->report, capacity))
        return true;
    return capacity->kind == G2H_CAPACITY_STRING ? visit_string(visit, capacity)
                                                 : visit_map(visit, capacity);
}

static struct g2h_error *find_task(void *context, size_t task, unsigned worker)
{
    const struct finder *finder = context;
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

static void add_row(struct waste_row *to, const struct waste_row *row)
{
    to->wasted += row->wasted;
    to->count += row->count;
    to->bytes += row->bytes;
    to->used += row->used;
    to->all += row->all;
    to->elements += row->elements;
    to->outside += row->outside;
    to->empty += row->empty;
    to->empty_size += row->empty_size;
}

struct waste_row *waste_add(struct waste_rows *rows, struct map *by_place, uint32_t place,
                            uint64_t wasted, uint64_t bytes)
{
    uint32_t index = (uint32_t)rows->list.count;
    if (!map_put(by_place, place, index, &index) ||
        (index == rows->list.count &&
         !vector_push(&rows->list, ((struct waste_row){.place = place}))))
        return NULL;
    struct waste_row *row = &rows->list.data[index];
    row->count++;
    row->wasted += wasted;
    row->bytes += bytes;
    return row;
}

static struct g2h_error *sum_maps(const struct finder *finder, struct waste_rows *ret)
{
    for (uint32_t i = 0; i < finder->places; i++) {
        struct waste_row row = {.place = i};
        for (unsigned j = 0; j < finder->report->threads; j++)
            if (finder->maps[j])
                add_row(&row, &finder->maps[j][i]);
        if (row.count > 0 || row.all > 0)
            TRY_MEMORY(vector_push(&ret->list, row));
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct waste_row *one = a, *other = b;
    if (one->wasted != other->wasted)
        return one->wasted > other->wasted ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

static void finish(struct waste_rows *rows)
{
    for (size_t i = 0; i < rows->list.count; i++)
        add_row(&rows->sums, &rows->list.data[i]);
    vector_sort(&rows->list, compare);
}

static void finder_deinit(struct finder *finder)
{
    for (size_t i = 0; finder->slices && i <= finder->tasks; i++)
        free(finder->slices[i].data);
    for (size_t i = 0; finder->parts && i <= finder->tasks; i++)
        free(finder->parts[i].data);
    for (unsigned i = 0; finder->maps && i < finder->report->threads; i++)
        free(finder->maps[i]);
    free(finder->slices);
    free(finder->parts);
    free(finder->maps);
    free(finder->full);
    free(finder->used);
    free(finder->windows);
}

/* Sums up substrings, except those of texts that a slice is in or that are reported as equal ones.
 */
static struct g2h_error *sum_substrings(const struct finder *finder, const struct equals *texts,
                                        struct waste_rows *ret)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(finder->report->view));
    for (size_t i = 0; i <= objects / 64; i++)
        finder->used[i] |= finder->full[i] | texts->objects[i];
    for (size_t i = 0; i <= finder->tasks; i++)
        for (size_t j = 0; j < finder->slices[i].count; j++)
            waste_set_bit(finder->used, finder->slices[i].data[j].array);
    return substrings_sum(finder->report, finder->parts, finder->tasks + 1, finder->used, ret);
}

struct g2h_error *waste_find(const struct report *report, struct waste *ret)
{
    TRY(g2h_capacities_create(report->view, &ret->capacities));
    _cleanup_(finder_deinit) struct finder finder = {
        .report = report,
        .capacities = ret->capacities,
        .layout = &ret->layout,
        .places = g2h_capacities_place_count(ret->capacities),
        .tasks = g2h_heap_object_count(g2h_view_heap(report->view)) / OBJECTS + 1};
    TRY(layout_init(report, &ret->layout));
    TRY(fragmentation_find(report, &ret->fragmentation));
    TRY(equals_find(report, &ret->texts));
    if (finder.places == 0)
        return layout_find(report, &ret->layout);
    finder.slices = calloc(finder.tasks + 1, sizeof(*finder.slices));
    finder.parts = calloc(finder.tasks + 1, sizeof(*finder.parts));
    finder.maps = calloc(report->threads, sizeof(*finder.maps));
    finder.full = calloc(finder.tasks * OBJECTS / 64, sizeof(*finder.full));
    finder.used = calloc(finder.tasks * OBJECTS / 64, sizeof(*finder.used));
    const uint32_t windows = g2h_windows_count(report->windows);
    finder.windows = malloc((windows + 1) * sizeof(*finder.windows));
    TRY_MEMORY(finder.slices && finder.parts && finder.maps && finder.full && finder.used &&
               finder.windows);
    for (uint32_t i = 0; i < windows; i++)
        finder.windows[i] = PLACE_OF_LOCAL;
    TRY(workers_run(report->threads, finder.tasks + 1, find_task, &finder));
    TRY(layout_find(report, &ret->layout));
    TRY(slices_sum(report, ret->capacities, finder.slices, finder.tasks + 1, finder.full,
                   finder.windows, &ret->slices));
    TRY(slices_sum_stale(report, finder.windows, &ret->stale));
    TRY(sum_maps(&finder, &ret->maps));
    TRY(sum_substrings(&finder, &ret->texts, &ret->substrings));
    finish(&ret->slices);
    finish(&ret->stale);
    finish(&ret->maps);
    finish(&ret->substrings);
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

/* ---- as text ---- */

/* Returns the name of a place; of PLACE_OF_LOCAL, that it is a variable of a function. */
static struct page_field name_place(const struct g2h_capacities *capacities, uint32_t place,
                                    struct g2h_text *name)
{
    if (place == PLACE_OF_LOCAL)
        return page_words("place", "(local variables)");
    g2h_capacities_place(capacities, place, name);
    return page_text("place", name->data, name->size);
}

/* Puts the size of a row's arrays or texts, if any; or, if slices use small parts of large arrays,
 * how much they use of each. */
static void put_each(struct page *page, const struct waste_row *row)
{
    if (row->bytes == 0) {
        page_say(page, "\n");
        return;
    }
    if (row->outside > row->wasted / 2)
        PAGE_PUT(page, ", which uses % of each %\n", page_bytes(NULL, row->elements / row->count),
                 page_bytes(NULL, row->bytes / row->count));
    else
        PAGE_PUT(page, ", of %\n", page_bytes(NULL, row->bytes));
    PAGE_DATA(page, page_bytes("bytes", row->bytes));
    if (row->outside > 0)
        PAGE_DATA(page, page_bytes("outside", row->outside), page_bytes("used", row->elements));
}

void waste_put_places(const struct report *report, const struct g2h_capacities *capacities,
                      struct g2h_text *name, const struct waste_rows *rows, const char *counted)
{
    struct page *page = report->page;
    page_open_list(page, "places");
    for (size_t i = 0; i < rows->list.count; i++) {
        const struct waste_row *row = &rows->list.data[i];
        if (!waste_is_shown(report, i, row->wasted, rows->sums.wasted))
            break;
        const struct page_field place = name_place(capacities, row->place, name);
        page_open(page, NULL);
        PAGE_PUT(page, "  %% × %", page_wide(page_bytes("wasted", row->wasted), 9),
                 page_wide(page_count(counted, row->count), 9), place);
        put_each(page, row);
        page_close(page);
    }
    page_close(page);
}

static void put_slices(const struct report *report, const struct g2h_capacities *capacities,
                       struct g2h_text *name, const struct waste_rows *slices)
{
    struct page *page = report->page;
    if (slices->list.count == 0)
        return;
    page_open(page, "slices");
    const bool is_cut = slices->sums.outside > slices->sums.wasted / 2;
    PAGE_PUT(page,
             !waste_is_much(report, slices->sums.wasted) ? NULL
             : is_cut ? "  slices   % outside of what slices use, in % arrays of %\n"
                      : "  slices   % beyond their length, in % arrays of %\n",
             page_bytes("wasted", slices->sums.wasted), page_count("arrays", slices->sums.count),
             page_bytes("bytes", slices->sums.bytes));
    waste_put_places(report, capacities, name, slices, "arrays");
    page_close(page);
}

static void put_stale(const struct report *report, const struct g2h_capacities *capacities,
                      struct g2h_text *name, const struct waste_rows *stale)
{
    struct page *page = report->page;
    if (stale->list.count == 0)
        return;
    page_open(page, "stale");
    PAGE_PUT(
        page,
        waste_is_much(report, stale->sums.wasted)
            ? "  stale    % only in slots that no slice uses, in % objects and what they retain\n"
            : NULL,
        page_bytes("wasted", stale->sums.wasted), page_count("objects", stale->sums.count));
    waste_put_places(report, capacities, name, stale, "objects");
    page_close(page);
}

static void put_map(const struct report *report, const struct waste_row *row,
                    const struct g2h_text *name)
{
    struct page *page = report->page;
    page_open(page, NULL);
    PAGE_PUT(page, "  %% × %, % of % slots used", page_wide(page_bytes("wasted", row->wasted), 9),
             page_wide(page_count("maps", row->count), 9),
             page_text("type", name->data, name->size), page_count("used", row->used),
             page_count("slots", row->all));
    if (row->empty > 0)
        PAGE_PUT(page, ", % empty", page_count(NULL, row->empty));
    PAGE_DATA(page, page_bytes("bytes", row->bytes), page_count("empty", row->empty),
              page_bytes("empty_bytes", row->empty_size));
    page_close(page);
    page_say(page, "\n");
}

static void put_maps(const struct report *report, const struct g2h_capacities *capacities,
                     struct g2h_text *name, const struct waste_rows *maps)
{
    struct page *page = report->page;
    const struct waste_row *sums = &maps->sums;
    const bool is_much = waste_is_much(report, sums->wasted + sums->empty_size);
    if (maps->list.count == 0)
        return;
    page_open(page, "maps");
    PAGE_PUT(page, is_much ? "  maps     % in free slots: % maps use % of %" : NULL,
             page_bytes("wasted", sums->wasted), page_count("maps", sums->count),
             page_count("used", sums->used), page_count("slots", sums->all));
    PAGE_PUT(page, is_much && sums->empty > 0 ? "; % are empty, of %" : NULL,
             page_count("empty", sums->empty), page_bytes("empty_bytes", sums->empty_size));
    PAGE_DATA(page, page_bytes("bytes", sums->bytes));
    page_say(page, is_much ? "\n" : "");
    page_open_list(page, "types");
    for (size_t i = 0; i < maps->list.count; i++) {
        const struct waste_row *row = &maps->list.data[i];
        if (!report->page->is_json && !waste_is_shown(report, i, row->wasted, sums->wasted))
            break;
        g2h_capacities_place(capacities, row->place, name);
        put_map(report, row, name);
    }
    page_close(page);
    page_close(page);
}

struct g2h_error *report_put_waste(const struct report *report, const struct waste *waste)
{
    _cleanup_(g2h_text_deinit) struct g2h_text text = {0};
    const uint64_t wasted = waste->slices.sums.wasted + waste->stale.sums.wasted +
                            waste->maps.sums.wasted + waste->substrings.sums.wasted +
                            waste->texts.wasted;
    page_open(report->page, "waste");
    page_head(report->page, "WASTE");
    PAGE_PUT(report->page, "   %, % of what is reachable\n", page_bytes("wasted", wasted),
             page_tenths(page_percent(wasted, report->reachable)));
    put_stale(report, waste->capacities, &text, &waste->stale);
    put_slices(report, waste->capacities, &text, &waste->slices);
    put_maps(report, waste->capacities, &text, &waste->maps);
    substrings_put(report, waste->capacities, &text, &waste->substrings);
    equals_put(report, &text, &waste->texts);
    fragmentation_put(report, &waste->fragmentation);
    layout_put(report, &waste->layout);
    page_close(report->page);
    TRY_MEMORY(!text.failed);
    return NULL;
}
