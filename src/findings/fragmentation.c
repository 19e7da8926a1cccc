/*
 * fragmentation; see fragmentation.h.
 *
 * A dump does not say where spans begin, but an object's address and size do: a span begins at a
 * multiple of SPAN_UNIT, a whole number of slots before the object. There is only one such span,
 * because Go takes the least number of pages that a whole number of slots fills; for it the
 * remainders of all pages of a span by the size of its slots differ. So the span table, which only
 * a live process and a core have, would not say more.
 */
#include "findings/waste_parts.h"

#include <stdlib.h>

#include "base/release.h"
#include "base/scope.h"
#include "base/size_classes.h"
#include "base/workers.h"

enum { OBJECTS = 1 << 16 /* in a task */ };

/* The results of one worker. */
struct fragmentation_found {
    VECTOR(struct span_row) rows;
    VECTOR(struct span_pin) pins;
    struct map row_by_slot, pin_by_class;
};

struct fragmentation_finder {
    const struct findings *findings;
    struct fragmentation_found *found; /* by worker */
};

/* The span that the walk over objects is in. */
struct fragmentation_span {
    uint64_t slot, begin, end; /* end 0: none */
    uint32_t first;            /* of its objects */
    uint64_t objects, live;
};

/* ---- spans ---- */

/* Finds the span that a slot of this size at this address must be in: the only begin, at a multiple
 * of SPAN_UNIT, from which a whole number of slots leads to the address. Returns false if there is
 * none: the object is not in a span of its size class. */
static bool find_span(uint64_t address, uint64_t slot, struct fragmentation_span *ret)
{
    const uint64_t size = size_class_span(slot);
    uint64_t begin = address & ~(uint64_t)(SPAN_UNIT - 1);
    for (; size > 0 && address - begin < size; begin -= SPAN_UNIT)
        if ((address - begin) % slot == 0 && address - begin + slot <= size) {
            *ret = (struct fragmentation_span){.slot = slot, .begin = begin, .end = begin + size};
            return true;
        }
    return false;
}

/* Returns the sums of spans with this slot size, which are added if they are new; NULL if memory
 * runs out. */
static struct span_row *row_of(struct fragmentation_found *found, uint64_t slot)
{
    uint32_t index = (uint32_t)found->rows.count;
    if (!map_put(&found->row_by_slot, slot, index, &index) ||
        (index == found->rows.count &&
         !vector_push(&found->rows, ((struct span_row){.slot = slot}))))
        return NULL;
    return &found->rows.data[index];
}

/* Returns the count of objects of a class in sparse spans with this slot size, which is added if it
 * is new; NULL if memory runs out. */
static struct span_pin *pin_of(struct fragmentation_found *found, uint64_t slot, uint32_t name)
{
    uint32_t index = (uint32_t)found->pins.count;
    if (!map_put(&found->pin_by_class, slot << 32 | name, index, &index) ||
        (index == found->pins.count &&
         !vector_push(&found->pins, ((struct span_pin){.slot = slot, .name = name}))))
        return NULL;
    return &found->pins.data[index];
}

static void fragmentation_add(struct span_sums *sums, const struct fragmentation_span *span)
{
    sums->spans++;
    sums->bytes += span->end - span->begin;
    sums->objects += span->objects;
    sums->live += span->live;
}

/* Counts the objects of a sparse span, which ends before object end, by class. */
static bool add_pins(const struct findings *findings, struct fragmentation_found *found,
                     const struct fragmentation_span *span, uint32_t end)
{
    for (uint32_t i = span->first; i < end; i++) {
        if (g2h_view_is_garbage(findings->view, i))
            continue;
        struct span_pin *pin = pin_of(found, span->slot, g2h_view_class(findings->view, i));
        if (!pin)
            return false;
        pin->objects++;
        pin->spans += pin->last != span->begin;
        pin->last = span->begin;
    }
    return true;
}

/* Adds the span that has been walked over, whose objects end before object end, to the sums of all
 * spans, and of sparse and nearly empty ones if it is one. Spans without live objects are left out:
 * the next collection frees them. */
static bool fragmentation_add_span(const struct findings *findings,
                                   struct fragmentation_found *found,
                                   const struct fragmentation_span *span, uint32_t end)
{
    const uint64_t bytes = span->end - span->begin;
    struct span_row *row = span->objects > 0 ? row_of(found, span->slot) : NULL;
    if (!row)
        return span->objects == 0;
    fragmentation_add(&row->all, span);
    if (span->live >= bytes / SPAN_SPARSE)
        return true;
    fragmentation_add(&row->sparse, span);
    if (span->live < bytes / SPAN_EMPTY)
        fragmentation_add(&row->empty, span);
    return add_pins(findings, found, span, end);
}

/* Walks the spans in which the objects [first, end) begin. A span belongs to the task of its first
 * object. */
static struct g2h_error *fragmentation_find_task(void *context, size_t task, unsigned worker)
{
    const struct fragmentation_finder *finder = context;
    const struct findings *findings = finder->findings;
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    struct fragmentation_found *found = &finder->found[worker];
    const uint32_t count = g2h_heap_object_count(heap), first = (uint32_t)task * OBJECTS,
                   end = count - first > OBJECTS ? first + OBJECTS : count;
    struct fragmentation_span span = {0}, next;
    uint64_t behind = 0; /* the end of the last span that was found */
    uint32_t i = first;
    /* If the span of the object before reaches into this task, the task before walks it to its end:
     * skip its objects here. */
    if (first > 0 &&
        find_span(g2h_heap_address(heap, first - 1), g2h_heap_size(heap, first - 1), &span))
        behind = span.end;
    for (span.end = 0; i < count; i++) {
        const uint64_t address = g2h_heap_address(heap, i);
        if (address >= span.end) {
            TRY_MEMORY(fragmentation_add_span(findings, found, &span, i));
            span = (struct fragmentation_span){0};
            if (i >= end)
                return NULL;
            if (address < behind || !find_span(address, g2h_heap_size(heap, i), &next))
                continue;
            span = next;
            span.first = i;
            behind = span.end;
        }
        if (!g2h_view_is_garbage(findings->view, i)) {
            span.objects++;
            span.live += g2h_heap_size(heap, i);
        }
    }
    TRY_MEMORY(fragmentation_add_span(findings, found, &span, count));
    return NULL;
}

/* ---- sums ---- */

static void add_sums(struct span_sums *to, const struct span_sums *from)
{
    to->spans += from->spans;
    to->bytes += from->bytes;
    to->objects += from->objects;
    to->live += from->live;
}

static void fragmentation_add_row(struct span_row *to, const struct span_row *from)
{
    add_sums(&to->all, &from->all);
    add_sums(&to->sparse, &from->sparse);
    add_sums(&to->empty, &from->empty);
}

/* Adds the results of one worker to those of another. */
static bool fragmentation_merge(struct fragmentation_found *to,
                                const struct fragmentation_found *from)
{
    for (size_t i = 0; i < from->rows.count; i++) {
        struct span_row *row = row_of(to, from->rows.data[i].slot);
        if (!row)
            return false;
        fragmentation_add_row(row, &from->rows.data[i]);
    }
    for (size_t i = 0; i < from->pins.count; i++) {
        struct span_pin *pin = pin_of(to, from->pins.data[i].slot, from->pins.data[i].name);
        if (!pin)
            return false;
        pin->objects += from->pins.data[i].objects;
        pin->spans += from->pins.data[i].spans;
    }
    return true;
}

/* Orders slot sizes by the bytes that are free in sparse spans, the most first. */
static int compare_rows(const void *a, const void *b)
{
    const struct span_row *one = a, *other = b;
    if (span_unused(&one->sparse) != span_unused(&other->sparse))
        return span_unused(&one->sparse) > span_unused(&other->sparse) ? -1 : 1;
    return (one->slot > other->slot) - (one->slot < other->slot);
}

/* Orders by slot size, and within one by how many sparse spans the class pins, the most first. */
static int compare_pins(const void *a, const void *b)
{
    const struct span_pin *one = a, *other = b;
    if (one->slot != other->slot)
        return one->slot < other->slot ? -1 : 1;
    if (one->spans != other->spans)
        return one->spans > other->spans ? -1 : 1;
    if (one->objects != other->objects)
        return one->objects > other->objects ? -1 : 1;
    return one->name < other->name ? -1 : one->name > other->name;
}

static void fragmentation_finder_deinit(struct fragmentation_finder *finder)
{
    for (unsigned i = 0; finder->found && i < finder->findings->threads; i++) {
        free(finder->found[i].rows.data);
        free(finder->found[i].pins.data);
        map_deinit(&finder->found[i].row_by_slot);
        map_deinit(&finder->found[i].pin_by_class);
    }
    free(finder->found);
}

/* Walks the objects in parallel, and adds up the workers' results. Only for versions of Go whose
 * size classes are known. */
struct g2h_error *fragmentation_find(const struct findings *findings, struct fragmentation *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const uint32_t objects = g2h_heap_object_count(heap);
    _cleanup_(fragmentation_finder_deinit) struct fragmentation_finder finder = {.findings =
                                                                                     findings};
    if (go_release_parse(g2h_heap_go_version(heap)).minor < SIZE_CLASSES_SINCE || objects == 0)
        return NULL;
    finder.found = calloc(findings->threads, sizeof(*finder.found));
    TRY_MEMORY(finder.found);
    TRY(workers_run(findings->threads, (objects - 1) / OBJECTS + 1, fragmentation_find_task,
                    &finder));
    struct fragmentation_found *all = &finder.found[0];
    for (unsigned i = 1; i < findings->threads; i++)
        TRY_MEMORY(fragmentation_merge(all, &finder.found[i]));
    for (size_t i = 0; i < all->rows.count; i++) {
        TRY_MEMORY(vector_push(&ret->rows, all->rows.data[i]));
        fragmentation_add_row(&ret->sums, &all->rows.data[i]);
    }
    for (size_t i = 0; i < all->pins.count; i++)
        TRY_MEMORY(vector_push(&ret->pins, all->pins.data[i]));
    vector_sort(&ret->rows, compare_rows);
    vector_sort(&ret->pins, compare_pins);
    return NULL;
}

void fragmentation_deinit(struct fragmentation *fragmentation)
{
    free(fragmentation->rows.data);
    free(fragmentation->pins.data);
}
