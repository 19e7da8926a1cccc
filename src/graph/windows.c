/*
 * windows: finds which part of each array slices can reach; see windows.h.
 *
 * An array gets a window if each pointer to it is that of a slice whose length and capacity are
 * known: then nothing of the program can reach its other elements. Slices of garbage do not count.
 *
 * Few arrays have elements that are not in use and yet not nil, or slices that begin after their
 * start. They are found by a first pass over the slices, which records only those that leave
 * something out: if one slice of an array leaves nothing out, all of them together do not, either.
 * A second pass counts the pointers to these arrays. If there are others than those slices, the
 * array gets no window. Many slices may begin an array with a long empty rest, so that rest is
 * searched only after both passes.
 */
#include "graph/windows.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workers.h"
#include "graph/graph.h"
#include "heap/pointers.h"
#include "typing/fit.h"

/*
 * ---- slices among the words outside of the heap ----
 *
 * The three words of a slice are contiguous in variables of packages, and in values that these
 * point to. A frame's variable may have its words in different places, and only some of these in
 * the frame: then the slice is not known.
 */

/* A slice, as its three words say, and the size of its elements. */
struct slice {
    uint64_t address, length, capacity;
    uint64_t size;
};

/* Gets a slice, and the array that its pointer hits. Returns false to stop. */
typedef bool (*slice_word_visit)(void *context, uint32_t array, const struct slice *slice);

enum { DEPTH = 64 /* of nested structs and arrays */ };

struct slice_words_visitor {
    const struct g2h_graph *graph;
    slice_word_visit visit;
    void *context;
};

/* Returns the slice type that begins at an offset of a value, or TYPE_NONE. */
static uint32_t slice_type_at(const struct types *types, uint32_t number, uint64_t offset)
{
    for (unsigned depth = 0; depth < DEPTH && number < types->list.count; depth++) {
        if (types_get(types, number)->kind == TYPE_SLICE)
            return offset == 0 ? number : TYPE_NONE;
        if (!types_step_into(types, &number, &offset))
            return TYPE_NONE;
    }
    return TYPE_NONE;
}

/* Returns the size of the elements of the slice that begins at an offset of a value of a type, or
 * 0. */
static uint64_t element_size_at(const struct g2h_graph *graph, uint32_t type, uint64_t offset)
{
    const struct types *types = graph->typing->types;
    const uint32_t slice = slice_type_at(types, type, offset),
                   elem = slice == TYPE_NONE ? TYPE_NONE : types_get(types, slice)->elem;
    return elem < types->list.count ? types_size(types, elem) : 0;
}

/* Returns the object that a word hits if it is an array, or UINT32_MAX. */
static uint32_t find_array(const struct g2h_graph *graph, uint64_t word)
{
    const uint32_t object = heap_find(graph->heap, word);
    return object != UINT32_MAX && (graph->typing->claims[object] & CLAIM_ARRAY) != 0 ? object
                                                                                      : UINT32_MAX;
}

/* Passes a slice on, unless its type is not known (size 0) or its words contradict each other: then
 * the pointer counts, but no slice, so that keep_known() drops the array. Returns false to stop. */
static bool visit_word(const struct slice_words_visitor *visitor, uint32_t array,
                       const struct slice *slice)
{
    return slice->size == 0 || slice->length > slice->capacity ||
           visitor->visit(visitor->context, array, slice);
}

/* ---- data and bss ---- */

/* Returns the size of the elements of the slice at an address, or 0. */
static uint64_t static_element_size(const struct g2h_graph *graph, uint64_t address)
{
    const struct typing *typing = graph->typing;
    uint64_t offset;
    const struct dwarf_global *global = typing_global(typing, address, &offset);
    if (global)
        return element_size_at(graph, global->type, offset);
    const struct outside_value *value =
        outside_value_at(&typing->outside, graph->heap, address, &offset);
    if (!value || value->type >= typing->types->list.count ||
        types_size(typing->types, value->type) == 0)
        return 0;
    return element_size_at(graph, value->type, offset % types_size(typing->types, value->type));
}

/* Visits the pointers of data or bss that hit arrays. Words beside a pointer count as length and
 * capacity only if the variable there is known to be a slice. Returns false to stop. */
static bool visit_segment(const struct slice_words_visitor *visitor,
                          const struct g2h_segment *segment)
{
    const struct g2h_heap *heap = visitor->graph->heap;
    const uint64_t word = heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value;
    pointers_of_fields(heap, segment->contents, segment->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t array = find_array(visitor->graph, value);
        struct slice slice = {.address = value};
        if (array == UINT32_MAX)
            continue;
        if (segment->contents.size >= 3 * word && offset <= segment->contents.size - 3 * word) {
            const uint8_t *at = segment->contents.data + offset;
            slice.size = static_element_size(visitor->graph, segment->address + offset);
            slice.length = heap_word(heap, at + word);
            slice.capacity = heap_word(heap, at + 2 * word);
        }
        if (!visit_word(visitor, array, &slice))
            return false;
    }
    return true;
}

/* ---- frames ---- */

/* Reads the word at an offset of a frame's variable. Returns false if it is not in the frame. */
static bool read_local(const struct g2h_graph *graph, const struct heap_stack_frame *frame,
                       const struct dwarf_local *local, uint64_t offset, uint64_t *ret)
{
    const uint64_t word = graph->heap->params.pointer_size;
    for (uint32_t i = 0; i < local->piece_count; i++) {
        const struct dwarf_piece *piece =
            &graph->typing->scopes->pieces.data[local->first_piece + i];
        const uint64_t inside = offset - piece->offset,
                       at = frame->contents.size + (uint64_t)piece->cfa_offset + inside;
        if (offset < piece->offset || piece->size < word || inside > piece->size - word)
            continue;
        if (frame->contents.size < word || at > frame->contents.size - word)
            return false;
        *ret = heap_word(graph->heap, frame->contents.data + at);
        return true;
    }
    return false;
}

/* Visits the pointers of a frame that hit arrays, and reads the lengths that belong to them where
 * DWARF says that the variable's other words are. Returns false to stop. */
static bool visit_frame(const struct slice_words_visitor *visitor,
                        const struct heap_stack_frame *frame)
{
    const struct g2h_graph *graph = visitor->graph;
    const uint64_t word = graph->heap->params.pointer_size;
    struct pointers pointers;
    uint64_t offset, value, within;
    pointers_of_fields(graph->heap, frame->contents, frame->fields, &pointers);
    while (pointers_next(&pointers, &offset, &value)) {
        const uint32_t array = find_array(graph, value);
        struct slice slice = {.address = value};
        if (array == UINT32_MAX)
            continue;
        const struct dwarf_local *local =
            typing_local_at(graph->typing, frame, offset, false, &within);
        if (local && read_local(graph, frame, local, within + word, &slice.length) &&
            read_local(graph, frame, local, within + 2 * word, &slice.capacity))
            slice.size = element_size_at(graph, local->type, within);
        if (!visit_word(visitor, array, &slice))
            return false;
    }
    return true;
}

/* ---- all slices ---- */

/* Visits all pointers in data, bss and frames that point to arrays. Returns false if the visit was
 * stopped. */
static bool visit_slice_words(const struct g2h_graph *graph, slice_word_visit visit, void *context)
{
    static const enum g2h_record_kind kinds[] = {G2H_RECORD_DATA, G2H_RECORD_BSS};
    const struct slice_words_visitor visitor = {graph, visit, context};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (size_t j = 0; j < graph->heap->records[kinds[i]].count; j++) {
            struct g2h_record record;
            g2h_heap_record(graph->heap, kinds[i], j, &record);
            if (!visit_segment(&visitor, &record.segment))
                return false;
        }
    VECTOR_EACH(const struct root_frame, root, graph->roots.frames) {
        const struct heap_stack_frame frame = heap_frame(graph->heap, root->frame);
        if (!visit_frame(&visitor, &frame))
            return false;
    }
    return true;
}

enum {
    OBJECTS = BLOCK_OBJECTS, /* in a task */
    SHORT = 1024             /* bytes after a slice that the first pass searches */
};

struct windows_finder {
    const struct g2h_graph *graph;
    struct g2h_capacities *capacities;
    unsigned threads;
    size_t tasks;
    window_vector *lists;        /* by task; the last one is of the words outside of the heap */
    struct windows found;        /* each array once */
    uint32_t *slices, *pointers; /* by index in found.list: how many lead to the array */
};

/* ---- slices ---- */

/* Finds the part of an array that a slice uses. Returns false if the object is not an array of such
 * elements, or cannot have this slice. */
static bool windows_locate(const struct windows_finder *finder, uint32_t object,
                           const struct slice *slice, struct slice_window *ret)
{
    const struct g2h_graph *graph = finder->graph;
    const struct g2h_heap *heap = graph->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, object);
    const uint32_t claim = graph->typing->claims[object];
    const uint64_t base = heap_value_base(heap, slot_class),
                   begin = slice->address - heap_address(heap, object);
    /* An array that may be larger or of other values has no window; text has no elements. */
    if ((claim & (CLAIM_ARRAY | CLAIM_EXACT)) != (CLAIM_ARRAY | CLAIM_EXACT) ||
        typing_is_text(graph->typing, object) ||
        types_size(graph->typing->types, (claim & CLAIM_TYPE) - 1) != slice->size || begin < base ||
        begin >= slot_class->size || (begin - base) % slice->size != 0 ||
        slice->capacity > (slot_class->size - begin) / slice->size)
        return false;
    *ret = (struct slice_window){.begin = begin,
                                 .end = begin + slice->length * slice->size,
                                 .capacity_end = begin + slice->capacity * slice->size,
                                 .size = slice->size,
                                 .object = object};
    return true;
}

/* Extends a window to include another one of the same array. */
static void windows_widen(struct slice_window *window, const struct slice_window *by)
{
    window->begin = MIN(by->begin, window->begin);
    window->end = MAX(by->end, window->end);
    window->capacity_end = MAX(by->capacity_end, window->capacity_end);
}

/* Returns whether a range of an object, in bytes, has words that may be pointers into the heap;
 * those beyond the bytes that the dump has do not count. */
static bool has_pointers_in(const struct windows_finder *finder, uint32_t object, uint64_t begin,
                            uint64_t end)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const struct g2h_bytes contents = heap_contents(heap, object);
    const uint64_t word = heap->params.pointer_size;
    if (!object_has_pointers(heap, object))
        return false;
    for (uint64_t at = begin; at < end && at + word <= contents.size; at += word)
        if (in_heap_range(heap, heap_word(heap, contents.data + at)))
            return true;
    return false;
}

/* Returns whether a window leaves something out: elements before it, which changes their indices;
 * elements after it that are not nil; or memory beyond a capacity that was cut. Reads the whole
 * rest of the array: the first pass asks only if that is SHORT, the end of the search asks for all.
 * window->size is that of one element. */
static bool leaves_out(const struct windows_finder *finder, const struct slice_window *window)
{
    const struct g2h_heap *heap = finder->graph->heap;
    const struct slot_class *slot_class = heap_slot_class(heap, window->object);
    if (window->begin > heap_value_base(heap, slot_class)) /* elements before it */
        return true;
    if (slot_class->size - window->end < window->size)
        return false; /* no space for another element */
    /* An array that ended at this capacity would be in a slot of another size: it was cut. */
    return !fits_class(finder->graph->typing, window->capacity_end, slot_class->size) ||
           has_pointers_in(finder, window->object, window->end, slot_class->size);
}

/* ---- the first pass ---- */

struct windows_visit {
    struct windows_finder *finder;
    window_vector *list;
};

/* Records a slice that leaves a part of its array out. If its rest is long, that is not checked
 * here: see the top of this file. Returns false if memory runs out. */
static bool note_slice(const struct windows_visit *visit, uint32_t object,
                       const struct slice *slice)
{
    const struct windows_finder *finder = visit->finder;
    struct slice_window window;
    return !windows_locate(finder, object, slice, &window) ||
           (heap_slot_class(finder->graph->heap, object)->size - window.end <= SHORT &&
            !leaves_out(finder, &window)) ||
           vector_push(visit->list, window);
}

/* Records a slice of a heap object, unless that is garbage. Returns false if memory runs out. */
static bool note_capacity(void *context, const struct g2h_capacity *capacity)
{
    const struct windows_visit *visit = context;
    const struct g2h_graph *graph = visit->finder->graph;
    const struct slice slice = {capacity->address, capacity->used, capacity->all, capacity->size};
    if (graph_is_garbage(graph, capacity->object))
        return true;
    const uint32_t object = heap_find(graph->heap, capacity->address);
    return object == UINT32_MAX || note_slice(visit, object, &slice);
}

/* Notes a slice that is outside of the heap. Returns false if memory runs out. */
static bool note_word(void *context, uint32_t object, const struct slice *slice)
{
    return note_slice(context, object, slice);
}

/* First pass: records the slices in a task's objects; the last task those outside of the heap. */
static struct g2h_error *note_task(void *context, size_t task, unsigned worker)
{
    struct windows_finder *finder = context;
    const uint32_t first = as_u32(task) * OBJECTS;
    struct windows_visit visit = {finder, &finder->lists[task]};
    (void)worker;
    if (task == finder->tasks) {
        TRY_MEMORY(visit_slice_words(finder->graph, note_word, &visit));
        return NULL;
    }
    const uint32_t end =
        first < UINT32_MAX - OBJECTS ? first + OBJECTS : UINT32_MAX; /* no overflow */
    TRY_MEMORY(g2h_capacities_of_objects(finder->capacities, first, end, note_capacity, &visit));
    return NULL;
}

/* Orders windows by the array. */
static int compare_windows(const void *a, const void *b)
{
    const struct slice_window *one = a;
    const struct slice_window *other = b;
    return COMPARE(one->object, other->object);
}

/* Merges the slices that the first pass has found, and counts those of each array. Then there is
 * one entry for each array, ascending, and finder->slices has the counts. */
static struct g2h_error *windows_merge(struct windows_finder *finder)
{
    window_vector *all = &finder->found.list;
    size_t merged = 0;
    for (size_t i = 0; i <= finder->tasks; i++) {
        TRY_MEMORY(vector_grow(all, finder->lists[i].count));
        VECTOR_EACH(const struct slice_window, window, finder->lists[i])
            all->data[all->count++] = *window;
    }
    if (all->count == 0)
        return NULL;
    vector_sort(all, compare_windows);
    finder->slices = calloc(all->count, sizeof(*finder->slices));
    finder->pointers = calloc(all->count, sizeof(*finder->pointers));
    TRY_MEMORY(finder->slices && finder->pointers);
    VECTOR_EACH(const struct slice_window, window, *all) {
        if (merged > 0 && all->data[merged - 1].object == window->object)
            windows_widen(&all->data[merged - 1], window);
        else
            all->data[merged++] = *window;
        finder->slices[merged - 1]++;
    }
    all->count = merged;
    return NULL;
}

/* ---- the second pass ---- */

/* Counts a pointer to an array that may get a window; several threads count. */
static void count_pointer(struct windows_finder *finder, uint32_t object)
{
    const struct windows *found = &finder->found;
    const size_t index = as_size(windows_of(found, object) - found->list.data);
    __atomic_fetch_add(&finder->pointers[index], 1, __ATOMIC_RELAXED);
}

/* Counts the edges of roots, but weak ones, that lead to arrays that may have windows. */
static void count_roots(struct windows_finder *finder)
{
    const struct g2h_graph *graph = finder->graph;
    const struct edge *edges = graph->children ? graph->children : graph->roots.edges.data;
    const uint64_t count = graph->children ? graph->child_count : graph->roots.edges.count;
    for (uint64_t i = 0; i < count; i++) {
        const struct edge *edge = &edges[i];
        if (edge->source.of == OF_SYNTHETIC && edge->target.of == OF_OBJECT &&
            edge->type != EDGE_WEAK && windows_has(&finder->found, edge->target.index))
            count_pointer(finder, edge->target.index);
    }
}

/* Counts the pointers of objects of one block; those of garbage do not count. */
static void count_objects(struct windows_finder *finder, uint32_t object, uint32_t end)
{
    const struct g2h_graph *graph = finder->graph;
    const struct windows *found = &finder->found;
    const uint32_t *object_end, *last;
    const uint32_t *target = object_targets(graph, object, &object_end);
    object_targets(graph, end - 1, &last);
    for (; target < last; target++) {
        if (*target == NO_TARGET || !windows_has(found, *target))
            continue;
        /* Which object a target belongs to is only needed for hits. */
        while (target >= object_end)
            object_targets(graph, ++object, &object_end);
        if (!graph_is_garbage(graph, object))
            count_pointer(finder, *target);
    }
}

/* Second pass: counts the pointers of a task's objects; the last task those of roots. */
static struct g2h_error *count_task(void *context, size_t task, unsigned worker)
{
    struct windows_finder *finder = context;
    const uint32_t objects = finder->graph->heap->object_count;
    const uint32_t first = as_u32(task) * OBJECTS;
    (void)worker;
    if (task == finder->tasks)
        count_roots(finder);
    else if (first < objects)
        count_objects(finder, first, objects - first < OBJECTS ? objects : first + OBJECTS);
    return NULL;
}

/* Keeps the windows of the arrays that only slices lead to: as many pointers as slices. Another
 * pointer might reach any element. leaves_out() asks again, with the union of all slices. */
static void keep_known(struct windows_finder *finder)
{
    window_vector *list = &finder->found.list;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (finder->slices[i] == finder->pointers[i] && leaves_out(finder, &list->data[i]))
            list->data[kept++] = list->data[i];
    list->count = kept;
}

/* ---- the whole search ---- */

static void windows_finder_deinit(struct windows_finder *finder)
{
    for (size_t i = 0; finder->lists && i <= finder->tasks; i++)
        free(finder->lists[i].data);
    free(finder->lists);
    windows_deinit(&finder->found);
    free(finder->slices);
    free(finder->pointers);
    g2h_capacities_destroy(finder->capacities);
}

/* Sets a bit for each object that has a window. The windows are in the order of their objects. */
struct g2h_error *windows_set_bits(struct windows *windows, uint32_t objects)
{
    const window_vector *list = &windows->list;
    free(windows->has);
    windows->has = list->count > 0 ? calloc(objects / 64 + 1, sizeof(*windows->has)) : NULL;
    TRY_MEMORY(windows->has || list->count == 0);
    for (size_t i = 0; i < list->count; i++) {
        assert(list->data[i].object < objects);
        assert(i == 0 || list->data[i - 1].object < list->data[i].object);
        bits_add(windows->has, list->data[i].object);
    }
    return NULL;
}

/* Finds which parts of arrays slices can reach. Bits are set twice: first for the arrays whose
 * pointers are counted, then for those that are left. */
struct g2h_error *windows_find(const struct g2h_graph *graph, enum capacities_of of,
                               unsigned threads, struct windows *ret)
{
    const uint32_t objects = graph->heap->object_count;
    _cleanup_(windows_finder_deinit) struct windows_finder finder = {
        .graph = graph, .threads = threads, .tasks = objects / OBJECTS + 1};
    *ret = (struct windows){.has = NULL};
    if (!graph->typing)
        return NULL;
    TRY(capacities_create(graph, of, &finder.capacities));
    finder.lists = calloc(finder.tasks + 1, sizeof(*finder.lists));
    TRY_MEMORY(finder.lists);
    TRY(workers_run(threads, finder.tasks + 1, note_task, &finder));
    TRY(windows_merge(&finder));
    TRY(windows_set_bits(&finder.found, objects));
    if (finder.found.has)
        TRY(workers_run(threads, finder.tasks + 1, count_task, &finder));
    keep_known(&finder);
    TRY(windows_set_bits(&finder.found, objects));
    *ret = finder.found;
    finder.found = (struct windows){.has = NULL};
    return NULL;
}
