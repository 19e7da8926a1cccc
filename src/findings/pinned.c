/* pinned; see pinned.h. */
#include "findings/pinned.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/bytes.h"
#include "base/scope.h"

enum {
    LEAST = 4,   /* least elements per array, on average */
    MOST_UP = 4, /* nodes of merged that are searched for an array */
    EDGES = 64   /* edges that are read at a time */
};

struct array {
    uint32_t node, object;
    bool is_known; /* only pointers of objects that are not slices lead to it */
    uint64_t address, begin, element, elements;
};

struct pinned_finder {
    const struct findings *findings;
    const struct g2h_heap *heap;
    struct g2h_edges *edges;
    struct g2h_capacities *capacities;
    struct g2h_layouts *layouts;
    VECTOR(struct array) arrays;
    struct map by_node;             /* node of the view → index in arrays */
    VECTOR(uint64_t) referred;      /* addresses of elements that are pointed to */
    const struct array *looked_for; /* by see_slice(); NULL: any */
    bool has_slice;                 /* see_slice() has found one */
};

static void pinned_finder_deinit(struct pinned_finder *finder)
{
    g2h_edges_destroy(finder->edges);
    g2h_capacities_destroy(finder->capacities);
    g2h_layouts_destroy(finder->layouts);
    free(finder->arrays.data);
    map_deinit(&finder->by_node);
    free(finder->referred.data);
}

/* Returns whether arrays are "[]main.T": pointers to those of "[8]main.T" lead to the whole
 * array. */
static bool is_made_as_slice(const struct merged *merged, uint32_t node)
{
    size_t size;
    const char *name = merged_name(merged, node, &size);
    return size > 2 && name[0] == '[' && name[1] == ']';
}

/* Objects may be in an array directly or, as fields of elements, some levels below it. */
uint32_t pinned_arrays_of(const struct merged *merged, uint32_t node)
{
    for (int i = 0; i < MOST_UP && node != MERGED_NONE; i++, node = merged->nodes.data[node].parent)
        if (merged->nodes.data[node].kind != MERGED_CLASS)
            return MERGED_NONE;
        else if (merged_form(merged, node) == G2H_FORM_SLICE)
            return is_made_as_slice(merged, node) ? node : MERGED_NONE;
    return MERGED_NONE;
}

/* ---- the arrays ---- */

/* Describes an object if it is an array of two or more elements that are larger than a pointer. */
static bool read_array(const struct pinned_finder *finder, uint32_t node, struct array *ret)
{
    const struct g2h_view *view = finder->findings->view;
    struct g2h_node read;
    struct g2h_layout layout;
    g2h_view_brief(view, node, &read);
    if (read.object == UINT32_MAX || !g2h_layouts_find(finder->layouts, read.object, &layout))
        return false;
    const struct g2h_layout_class class = g2h_layouts_class(finder->layouts, layout.number);
    if (!class.is_array || class.size <= 2 * sizeof(uint64_t))
        return false;
    *ret = (struct array){.node = node,
                          .object = read.object,
                          .is_known = true,
                          .address = g2h_heap_address(finder->heap, read.object),
                          .begin = layout.header,
                          .element = class.size,
                          .elements = (layout.slot - layout.header) / class.size};
    return ret->elements > 1;
}

/* Adds the arrays among the objects of a node of merged. */
static struct g2h_error *add_arrays(struct pinned_finder *finder, uint32_t item)
{
    const struct findings *findings = finder->findings;
    for (uint32_t number = 0; number < findings->merged.of_count; number++) {
        const uint32_t node = findings->merged.of[number] == item
                                  ? g2h_dominators_node(findings->dominators, number)
                                  : UINT32_MAX;
        struct array array;
        uint32_t index = (uint32_t)finder->arrays.count;
        if (node == UINT32_MAX || !read_array(finder, node, &array))
            continue;
        TRY_MEMORY(vector_push(&finder->arrays, array) &&
                   map_put(&finder->by_node, node, index, &index));
    }
    return NULL;
}

/* ---- pointers to the arrays ---- */

static bool is_alive(const struct pinned_finder *finder, uint32_t object)
{
    const uint32_t node = g2h_view_object(finder->findings->view, object);
    return node != UINT32_MAX && !findings_is_dead(finder->findings->view, node);
}

/* Records a slice in an array, which then is not pinned. */
static bool see_slice(void *context, const struct g2h_capacity *capacity)
{
    struct pinned_finder *finder = context;
    uint32_t object;
    if (capacity->kind != G2H_CAPACITY_SLICE || capacity->object == UINT32_MAX ||
        !g2h_heap_find(finder->heap, capacity->address, &object))
        return true;
    const uint32_t node = g2h_view_object(finder->findings->view, object),
                   index = node == UINT32_MAX ? MAP_NONE : map_get(&finder->by_node, node);
    if (index == MAP_NONE || !is_alive(finder, capacity->object))
        return true;
    finder->arrays.data[index].is_known = false;
    finder->has_slice |= finder->looked_for == &finder->arrays.data[index];
    return true;
}

/* Reads a pointer as the process has it. */
static uint64_t word_at(const struct g2h_params *params, const uint8_t *bytes)
{
    uint64_t word = 0;
    for (uint64_t i = 0; i < params->pointer_size; i++)
        word = word << 8 | bytes[params->big_endian ? i : params->pointer_size - 1 - i];
    return word;
}

/* Sets *ret to whether an object has a pointer to the whole array: a *[8]main.T, which points to
 * its begin like a pointer to the first element, but whose type says that it may use all. */
static struct g2h_error *has_array_pointer(const struct pinned_finder *finder, uint32_t holder,
                                           const struct array *array, bool *ret)
{
    enum { MOST_VALUES = 1 << 20 };
    const struct g2h_params *params = g2h_heap_params(finder->heap);
    struct g2h_values *values;
    struct g2h_value value;
    TRY(g2h_values_create(finder->findings->view, &values));
    g2h_values_begin(values, holder);
    *ret = false;
    for (int i = 0; i < MOST_VALUES && !*ret && g2h_values_next(values, &value); i++)
        *ret = value.kind == G2H_VALUE_POINTER && value.type_size > 2 &&
               memcmp(value.type, "*[", 2) == 0 && value.size == params->pointer_size &&
               word_at(params, value.data) == array->address + array->begin;
    g2h_values_destroy(values);
    return NULL;
}

/* Returns the array with the lowest node: a sample that decides whether the rest is worth
 * reading. */
static const struct array *first_array(const struct pinned_finder *finder)
{
    const struct array *first = &finder->arrays.data[0];
    for (size_t i = 1; i < finder->arrays.count; i++)
        if (finder->arrays.data[i].node < first->node)
            first = &finder->arrays.data[i];
    return first;
}

/* Sets *ret to whether the holder of the first array has it by a pointer to an element, not by a
 * slice. That is asked first, since most arrays belong to slices. */
static struct g2h_error *may_be_pinned(struct pinned_finder *finder, bool *ret)
{
    bool has_all;
    struct g2h_node holder;
    const struct array *array = first_array(finder);
    const uint32_t above = g2h_dominators_of(finder->findings->dominators, array->node);
    g2h_view_brief(finder->findings->view, above, &holder);
    *ret = false;
    if (holder.object == UINT32_MAX)
        return NULL;
    finder->looked_for = array;
    g2h_capacities_of_objects(finder->capacities, holder.object, holder.object + 1, see_slice,
                              finder);
    TRY(has_array_pointer(finder, above, array, &has_all));
    *ret = !finder->has_slice && !has_all;
    return NULL;
}

/* Returns whether an object's pointer may be one to a whole array: that of a channel to its buffer,
 * or of a sync.Pool to its data per processor; or any pointer of an object without a type, which
 * may be a slice's. */
static bool may_have_all(const struct pinned_finder *finder, const struct g2h_node *source)
{
    static const char library[] = "sync.";
    size_t size;
    const char *name = g2h_view_name(finder->findings->view, source->name, &size);
    const enum g2h_class_form form = g2h_view_class_form(finder->findings->view, source->name);
    return form == G2H_FORM_CHAN || form == G2H_FORM_OTHER ||
           g2h_view_runtime_class(finder->findings->view, source->name) != G2H_RUNTIME_NONE ||
           (size >= sizeof(library) - 1 && memcmp(name, library, sizeof(library) - 1) == 0);
}

/* Records the element that an edge leads to. */
static struct g2h_error *see_edge(struct pinned_finder *finder, const struct g2h_edge *edge)
{
    const uint32_t index = map_get(&finder->by_node, edge->target);
    struct g2h_node source;
    if (index == MAP_NONE || (edge->flags & G2H_EDGE_WEAK) != 0)
        return NULL;
    struct array *array = &finder->arrays.data[index];
    g2h_view_brief(finder->findings->view, edge->source, &source);
    if (source.object != UINT32_MAX && findings_is_dead(finder->findings->view, edge->source))
        return NULL;
    const struct g2h_bytes contents = source.object != UINT32_MAX
                                          ? g2h_heap_object(finder->heap, source.object).contents
                                          : (struct g2h_bytes){NULL, 0};
    const struct g2h_params *params = g2h_heap_params(finder->heap);
    if (source.name == G2H_NAME_NONE || may_have_all(finder, &source) ||
        contents.size < params->pointer_size ||
        edge->offset > contents.size - params->pointer_size) {
        array->is_known = false; /* not a pointer of an object, or maybe one to the whole array */
        return NULL;
    }
    const uint64_t address = word_at(params, contents.data + edge->offset),
                   at = address - array->address - array->begin;
    if (address < array->address + array->begin || at / array->element >= array->elements)
        return NULL;
    TRY_MEMORY(vector_push(&finder->referred, address - at % array->element));
    return NULL;
}

/* Records all pointers into the arrays: reads all edges of the view, in blocks. */
static struct g2h_error *see_edges(struct pinned_finder *finder)
{
    struct g2h_edge read[EDGES];
    g2h_edges_begin(finder->edges, 0, g2h_view_node_count(finder->findings->view));
    for (size_t count; (count = g2h_edges_read(finder->edges, read, EDGES)) > 0;)
        for (size_t i = 0; i < count; i++)
            TRY(see_edge(finder, &read[i]));
    return NULL;
}

/* ---- sums ---- */

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return *one < *other ? -1 : *one > *other;
}

/* Counts an element that is pointed to, if it is of an array that counts. */
static void count_referred(const struct pinned_finder *finder, uint64_t address,
                           struct pinned *sums)
{
    uint32_t object;
    if (!g2h_heap_find(finder->heap, address, &object))
        return;
    const uint32_t index =
        map_get(&finder->by_node, g2h_view_object(finder->findings->view, object));
    if (index == MAP_NONE || !finder->arrays.data[index].is_known)
        return;
    sums->referred++;
    sums->wasted -= finder->arrays.data[index].element;
}

/* Sums up the arrays that no slice leads to. Each element that is pointed to counts once, however
 * many pointers it has. */
static void pinned_sum_up(struct pinned_finder *finder, struct pinned *ret)
{
    for (size_t i = 0; i < finder->arrays.count; i++) {
        const struct array *array = &finder->arrays.data[i];
        if (!array->is_known)
            continue;
        ret->arrays++;
        ret->elements += array->elements;
        ret->bytes += g2h_heap_object(finder->heap, array->object).size;
        ret->wasted += array->elements * array->element;
    }
    vector_sort(&finder->referred, compare_addresses);
    for (size_t i = 0; i < finder->referred.count; i++)
        if (i == 0 || finder->referred.data[i] != finder->referred.data[i - 1])
            count_referred(finder, finder->referred.data[i], ret);
}

/* The steps go from cheap to expensive: most suspects are not arrays, and most arrays have a slice,
 * which may_be_pinned() finds out from one of them before all edges are read. */
struct g2h_error *pinned_find(const struct findings *findings, uint32_t item, struct pinned *ret)
{
    _cleanup_(pinned_finder_deinit) struct pinned_finder finder = {
        .findings = findings, .heap = g2h_view_heap(findings->view)};
    const uint64_t count = findings_node(findings, item)->count;
    bool is_possible;
    *ret = (struct pinned){0};
    if (!g2h_view_is_typed(findings->view))
        return NULL;
    TRY(g2h_layouts_create(findings->view, &finder.layouts));
    TRY(add_arrays(&finder, item));
    if (finder.arrays.count == 0)
        return NULL;
    TRY(g2h_capacities_create(findings->view, &finder.capacities));
    TRY(may_be_pinned(&finder, &is_possible));
    if (!is_possible)
        return NULL;
    g2h_capacities_of_objects(finder.capacities, 0, UINT32_MAX, see_slice, &finder);
    TRY(g2h_edges_create(findings->view, &finder.edges));
    TRY(see_edges(&finder));
    pinned_sum_up(&finder, ret);
    if (ret->arrays <= count / 2 || ret->elements < LEAST * ret->arrays ||
        ret->referred > ret->elements / 2)
        *ret = (struct pinned){0};
    return NULL;
}
