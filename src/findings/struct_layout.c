/* struct_layout; see struct_layout.h. */
#include "findings/waste_parts.h"

#include <stdlib.h>

#include "base/scope.h"
#include "base/workers.h"

enum { OBJECTS = 1 << 16 /* in a task */ };

/* The objects of one layout that a worker has met. Most have equal sizes, so that the slots of the
 * last one are those of the next. */
struct struct_layout_found {
    struct layout_row row;
    uint64_t size, header;    /* of the last object; size 0: none yet */
    uint64_t slot, reordered; /* which slots Go takes for it, as it is and if its fields were in the
                                 best order */
};

struct struct_layout_finder {
    const struct findings *findings;
    const struct layout_findings *layout;
    const struct g2h_layout_class *classes;
    struct struct_layout_found *
        *found; /* by worker, by class; NULL: the worker has met no object */
};

/* ---- arrays ---- */

struct g2h_error *layout_init(const struct findings *findings, struct layout_findings *ret)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(findings->view));
    ret->ends = calloc((size_t)objects + 1, sizeof(*ret->ends));
    TRY_MEMORY(ret->ends);
    return g2h_layouts_create(findings->view, &ret->layouts);
}

/* Notes where a slice ends in its array, if no other one reaches further. Atomically, since several
 * workers may see slices of one array. */
void layout_see_slice(const struct findings *findings, const struct layout_findings *layout,
                      const struct g2h_capacity *capacity)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    uint32_t array;
    if (!g2h_heap_find(heap, capacity->address, &array))
        return;
    const uint64_t begin = capacity->address - g2h_heap_address(heap, array),
                   space = g2h_heap_size(heap, array) - begin;
    if (capacity->all > space / capacity->size)
        return; /* not a slice that Go has made */
    const uint64_t end = begin + capacity->all * capacity->size;
    uint64_t now = __atomic_load_n(&layout->ends[array], __ATOMIC_RELAXED);
    while (now < end && !__atomic_compare_exchange_n(&layout->ends[array], &now, end, true,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* ---- objects ---- */

/* Computes the slot that Go takes for an object of this size, and for one whose fields are in the
 * best order. */
static void find_slots(const struct struct_layout_finder *finder,
                       const struct g2h_layout_class *class, uint64_t header, uint64_t size,
                       struct struct_layout_found *found)
{
    const struct g2h_layouts *layouts = finder->layout->layouts;
    found->size = size;
    found->header = header;
    found->slot = found->reordered = g2h_layouts_slot(layouts, header, size);
    if (class->reordered < class->size)
        found->reordered = g2h_layouts_slot(layouts, header, size / class->size * class->reordered);
}

/* Adds an object to the row of its class, if its slot is the one that Go takes for its value. */
static void struct_layout_add_object(const struct struct_layout_finder *finder, uint32_t object,
                                     const struct g2h_layout *layout,
                                     struct struct_layout_found *found)
{
    const struct g2h_layout_class *class = &finder->classes[layout->number];
    const uint64_t end = class->is_array ? finder->layout->ends[object] : 0,
                   size = !class->is_array       ? layout->size
                          : end > layout->header ? end - layout->header
                                                 : 0,
                   values = class->is_array ? size / class->size : 1;
    struct layout_row *row = &found->row;
    if (size != found->size || layout->header != found->header)
        find_slots(finder, class, layout->header, size, found);
    if (size == 0 || found->slot != layout->slot || (class->is_array && size % class->size != 0))
        return;
    row->objects++;
    row->values += values;
    row->slots += layout->slot;
    row->needed += layout->header + size;
    row->headers += layout->header;
    row->padding += values * class->padding;
    row->saved += layout->slot - found->reordered;
    if (row->smallest == 0 || layout->slot < row->smallest) {
        row->smallest = layout->slot;
        row->reordered = found->reordered;
    }
}

/* Adds the live objects of a task that have a known layout to the worker's sums by class. */
static struct g2h_error *struct_layout_find_task(void *context, size_t task, unsigned worker)
{
    const struct struct_layout_finder *finder = context;
    const struct g2h_view *view = finder->findings->view;
    const uint32_t count = g2h_heap_object_count(g2h_view_heap(view)),
                   first = (uint32_t)task * OBJECTS,
                   end = count - first > OBJECTS ? first + OBJECTS : count;
    struct struct_layout_found **found = &finder->found[worker];
    if (!*found)
        *found = calloc(g2h_layouts_count(finder->layout->layouts), sizeof(**found));
    TRY_MEMORY(*found);
    for (uint32_t i = first; i < end; i++) {
        struct g2h_layout layout;
        if (!g2h_view_is_garbage(view, i) && g2h_layouts_find(finder->layout->layouts, i, &layout))
            struct_layout_add_object(finder, i, &layout, &(*found)[layout.number]);
    }
    return NULL;
}

/* ---- sums ---- */

/* Adds sums; the example is that of the smallest slot. */
static void struct_layout_add_row(struct layout_row *to, const struct layout_row *from)
{
    to->objects += from->objects;
    to->values += from->values;
    to->slots += from->slots;
    to->needed += from->needed;
    to->headers += from->headers;
    to->padding += from->padding;
    to->saved += from->saved;
    if (from->smallest > 0 && (to->smallest == 0 || from->smallest < to->smallest)) {
        to->smallest = from->smallest;
        to->reordered = from->reordered;
    }
}

static int struct_layout_compare(const struct layout_row *one, const struct layout_row *other,
                                 uint64_t weight, uint64_t other_weight)
{
    if (weight != other_weight)
        return weight > other_weight ? -1 : 1;
    return one->class < other->class ? -1 : one->class > other->class;
}

static int compare_rounding(const void *a, const void *b)
{
    return struct_layout_compare(a, b, layout_rounding(a), layout_rounding(b));
}

static int compare_padding(const void *a, const void *b)
{
    return struct_layout_compare(a, b, layout_weight(a), layout_weight(b));
}

/* Adds up the workers' sums of each class, and lists the classes that lose bytes to rounding or
 * padding. */
static struct g2h_error *struct_layout_sum_up(const struct struct_layout_finder *finder,
                                              uint32_t classes, struct layout_findings *ret)
{
    for (uint32_t i = 0; i < classes; i++) {
        struct layout_row row = {.class = i};
        for (unsigned j = 0; j < finder->findings->threads; j++)
            if (finder->found[j])
                struct_layout_add_row(&row, &finder->found[j][i].row);
        struct_layout_add_row(&ret->sums, &row);
        TRY_MEMORY(layout_rounding(&row) == 0 || vector_push(&ret->rounding, row));
        TRY_MEMORY(row.padding == 0 || vector_push(&ret->padding, row));
    }
    vector_sort(&ret->rounding, compare_rounding);
    vector_sort(&ret->padding, compare_padding);
    return NULL;
}

static void struct_layout_finder_deinit(struct struct_layout_finder *finder)
{
    for (unsigned i = 0; finder->found && i < finder->findings->threads; i++)
        free(finder->found[i]);
    free(finder->found);
}

/* Classes are read into one table before the workers begin, since they ask for them for each
 * object. */
struct g2h_error *layout_find(const struct findings *findings, struct layout_findings *ret)
{
    const uint32_t classes = g2h_layouts_count(ret->layouts),
                   objects = g2h_heap_object_count(g2h_view_heap(findings->view));
    _cleanup_free_ struct g2h_layout_class *all = calloc((size_t)classes + 1, sizeof(*all));
    _cleanup_(struct_layout_finder_deinit) struct struct_layout_finder finder = {
        .findings = findings, .layout = ret, .classes = all};
    finder.found = calloc(findings->threads, sizeof(*finder.found));
    TRY_MEMORY(all && finder.found);
    for (uint32_t i = 0; i < classes; i++)
        all[i] = g2h_layouts_class(ret->layouts, i);
    TRY(workers_run(findings->threads, objects / OBJECTS + 1, struct_layout_find_task, &finder));
    return struct_layout_sum_up(&finder, classes, ret);
}

void layout_deinit(struct layout_findings *layout)
{
    g2h_layouts_destroy(layout->layouts);
    free(layout->ends);
    free(layout->rounding.data);
    free(layout->padding.data);
}
