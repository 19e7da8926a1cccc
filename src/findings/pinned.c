/*
 * pinned: memory of arrays and strings that lives although no program can reach it, or hardly uses
 * it; see pinned.h. Three parts, one per reason:
 *
 * stale   objects that only slots of arrays beyond the length of each slice hold
 * pinned  arrays that only pointers to single elements keep ("&list[i]" of a long list)
 * views   arrays and strings that slices or substrings of less than a quarter keep
 *
 * A node of the merged tree is all objects of one class that one holder has. A number is the
 * position of a node of the view in the order of dominators: greater than its dominator's.
 */
#include "findings/pinned.h"

#include <stdlib.h>
#include <string.h>

#include <go2heapsnapshot/heap.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/contract.h"
#include "base/error.h"
#include "findings/findings.h"

/* ==== stale ==== */

/* Why a node is stale: an array, and whether the slot is before the start of its slices. */
struct stale_reason {
    uint32_t array; /* number in arrays */
    bool is_before;
};

/* Finds in which array, and on which side of what slices use, a stale node is. Returns false if the
 * node with a number in the order of dominators is not stale. */
static inline bool stale_of(const struct stale *stale, uint32_t number, struct stale_reason *ret)
{
    if (!stale->of || stale->of[number] == 0)
        return false;
    *ret = (struct stale_reason){(stale->of[number] - 1) / 2, (stale->of[number] - 1) % 2 != 0};
    return true;
}

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

/* Marks the objects that the array node alone holds in stale slots (is_stale), or unmarks those
 * that it also has in slots in use. array is the number it will have: a mark, an entry of
 * stale->of, is 1 + 2 * array for an object beyond what slices use, and 1 more for one before.
 * Returns whether there are any. */
static bool mark_stale_targets(struct stale_finder *finder, uint32_t node,
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
    const uint32_t node = g2h_view_object(finder->view, window.object);
    const uint32_t array = as_u32(stale->arrays.count); /* the number it will have */
    if (node == UINT32_MAX)
        return NULL;
    g2h_view_node(finder->view, node, &read);
    if (read.edges == 0 || read.members > 0 ||
        !mark_stale_targets(finder, node, &window, array, true))
        return NULL;
    /* An object that is in a slot in use as well is not stale. */
    mark_stale_targets(finder, node, &window, array, false);
    TRY_MEMORY(vector_push(&stale->arrays, ((struct stale_array){.window = number, .node = node})));
    return NULL;
}

/* Spreads each mark to all nodes that the stale object dominates, and sums up by array. Numbers
 * ascend from dominators to what they dominate, so one pass does. */
static void spread_staleness(struct stale_finder *finder)
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

/* Finds the stale objects: marks what only slots outside of windows lead to, and then what that
 * holds. Frees the marks if nothing is stale, as in most heaps: ret->of NULL then answers all
 * questions. */
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
    assert(
        IS_ORDERED(i, ret->arrays.count, ret->arrays.data[i - 1].node < ret->arrays.data[i].node));
    if (ret->arrays.count > 0) {
        spread_staleness(&finder);
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

/* Returns whether a node is stale: in a part of an array that no slice uses. */
bool stale_has_node(const struct stale *stale, uint32_t node)
{
    struct stale_reason reason;
    return stale->of && stale_of(stale, g2h_dominators_number(stale->dominators, node), &reason);
}

/* Returns whether an object is stale. */
bool stale_has(const struct stale *stale, const struct g2h_view *view, uint32_t object)
{
    const uint32_t node = stale->of ? g2h_view_object(view, object) : UINT32_MAX;
    return node != UINT32_MAX && stale_has_node(stale, node);
}

/* ---- the stale part of a suspect ---- */

/* Sets a flag for each node of merged that is item or below it, and for each of these nodes that
 * has objects of the suspect: those of item's name. */
static void stale_part_find_items(const struct findings *findings, uint32_t item, bool *is_below,
                                  bool *is_item)
{
    const struct merged_node *node = findings_node(findings, item);
    merged_mark_below(&findings->merged, item, is_below);
    for (uint32_t i = item; i < findings->merged.nodes.count; i++) {
        const struct merged_node *other = findings_node(findings, i);
        is_item[i] = is_below[i] && other->kind == node->kind && other->name == node->name;
    }
}

/* Returns whether a node of the view is an object of the node that it is merged in, and not memory
 * of such an object. */
static bool stale_part_is_object(const struct findings *findings, uint32_t node, uint32_t merged)
{
    struct g2h_node read;
    g2h_view_brief(findings->view, node, &read);
    return read.kind == G2H_NODE_TEXT || read.name == findings_node(findings, merged)->name;
}

/* Counts the objects of the suspect that are stale themselves: in ret by where in their array they
 * are, and in counts by array. Then ret->most is the array with most of them. */
static void count_items(const struct findings *findings, const bool *is_item, uint64_t *counts,
                        struct stale_part *ret)
{
    const struct stale *stale = &findings->stale;
    for (uint32_t number = 1; number < findings->merged.of_count; number++) {
        const uint32_t node = g2h_dominators_node(stale->dominators, number);
        struct stale_reason reason;
        if (node == UINT32_MAX || !is_item[findings->merged.of[number]] ||
            !stale_of(stale, number, &reason) ||
            !stale_part_is_object(findings, node, findings->merged.of[number]))
            continue;
        ret->before += reason.is_before;
        ret->beyond += !reason.is_before;
        ret->arrays += counts[reason.array]++ == 0;
    }
    for (uint32_t i = 0; i < stale->arrays.count; i++)
        if (counts[i] > counts[ret->most])
            ret->most = i;
}

/* Sums up the stale objects in the arrays that the suspect holds, those before the slices and those
 * beyond; ret->most becomes the array that retains most by them. */
static void sum_held(const struct findings *findings, const bool *is_below, struct stale_part *ret)
{
    const struct stale *stale = &findings->stale;
    for (uint32_t i = 0; i < stale->arrays.count; i++) {
        const struct stale_array *array = &stale->arrays.data[i];
        const uint32_t number = g2h_dominators_number(stale->dominators, array->node);
        if (array->beyond + array->before == 0 || !is_below[findings->merged.of[number]])
            continue;
        ret->before += array->before;
        ret->beyond += array->beyond;
        ret->retained += array->retained;
        if (ret->arrays++ == 0 || array->retained > stale->arrays.data[ret->most].retained)
            ret->most = i;
    }
}

/* Finds stale items of the suspect or, if they are too few, what is stale in arrays that it holds;
 * nothing if that is little of it, too: ret->arrays is 0. */
struct g2h_error *stale_find_part(const struct findings *findings, uint32_t item, uint64_t count,
                                  struct stale_part *ret)
{
    enum { LEAST = 20 /* one in LEAST must be stale to be reported */ };
    const size_t nodes = findings->merged.nodes.count;
    const uint64_t retained = findings_node(findings, item)->retained;
    struct stale_part held = {0};
    struct g2h_window window;
    *ret = (struct stale_part){.is_of_items = true};
    if (!findings->stale.of)
        return NULL;
    _cleanup_free_ bool *is_below = calloc(nodes, sizeof(*is_below));
    _cleanup_free_ bool *is_item = calloc(nodes, sizeof(*is_item));
    _cleanup_free_ uint64_t *counts = calloc(findings->stale.arrays.count, sizeof(*counts));
    TRY_MEMORY(is_below && is_item && counts);
    stale_part_find_items(findings, item, is_below, is_item);
    count_items(findings, is_item, counts, ret);
    sum_held(findings, is_below, &held);
    const uint64_t stale = ret->beyond + ret->before;
    if (stale == 0 || stale < count / LEAST)
        *ret = held.retained < retained / LEAST ? (struct stale_part){0} : held;
    if (ret->arrays == 0)
        return NULL;
    g2h_windows_get(findings->windows, findings->stale.arrays.data[ret->most].window, &window);
    ret->length = (window.end - window.begin) / window.size;
    return NULL;
}

/* ==== pinned ==== */

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

/* Returns the node of the arrays that contain some objects, or MERGED_NONE. Objects may be in an
 * array directly or, as fields of elements, some levels below it. */
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

/* Describes an object if it is an array of two or more elements that are larger than a pointer.
 * Returns false if it is none, or that is not known. */
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

/* Adds the arrays among the objects of a node of merged, and their index by node. Objects that
 * read_array() does not take for an array are left out. */
static struct g2h_error *add_arrays(struct pinned_finder *finder, uint32_t item)
{
    const struct findings *findings = finder->findings;
    for (uint32_t number = 0; number < findings->merged.of_count; number++) {
        const uint32_t node = findings->merged.of[number] == item
                                  ? g2h_dominators_node(findings->dominators, number)
                                  : UINT32_MAX;
        struct array array;
        uint32_t index = as_u32(finder->arrays.count);
        if (node == UINT32_MAX || !read_array(finder, node, &array))
            continue;
        TRY_MEMORY(vector_push(&finder->arrays, array) &&
                   map_put(&finder->by_node, node, index, &index));
    }
    return NULL;
}

/* Returns whether an object is in the view and not garbage. */
static bool is_alive(const struct pinned_finder *finder, uint32_t object)
{
    const uint32_t node = g2h_view_object(finder->findings->view, object);
    return node != UINT32_MAX && !findings_is_dead(finder->findings->view, node);
}

/* Records a slice in an array, which then is not pinned. Always returns true: the visit goes on.
 * Slices in garbage do not count. */
static bool see_slice(void *context, const struct g2h_capacity *capacity)
{
    struct pinned_finder *finder = context;
    uint32_t object;
    if (capacity->kind != G2H_CAPACITY_SLICE || capacity->object == UINT32_MAX ||
        !g2h_heap_find(finder->heap, capacity->address, &object))
        return true;
    const uint32_t node = g2h_view_object(finder->findings->view, object);
    const uint32_t index = node == UINT32_MAX ? MAP_NONE : map_get(&finder->by_node, node);
    if (index == MAP_NONE || !is_alive(finder, capacity->object))
        return true;
    finder->arrays.data[index].is_known = false;
    finder->has_slice |= finder->looked_for == &finder->arrays.data[index];
    return true;
}

/* Reads a pointer as the process has it. */
uint64_t pinned_word(const struct g2h_params *params, const uint8_t *bytes)
{
    uint64_t word = 0;
    for (uint64_t i = 0; i < params->pointer_size; i++)
        word = word << 8 | bytes[params->big_endian ? i : params->pointer_size - 1 - i];
    return word;
}

/* Drops the arrays to which a pointer leads that may use all of them: a *[8]main.T, which points to
 * the begin like a pointer to the first element, but whose type says that it may use all. */
static struct g2h_error *drop_whole(struct pinned_finder *finder)
{
    const size_t words = g2h_heap_object_count(finder->heap) / 64 + 1;
    _cleanup_free_ uint64_t *asked = calloc(words, sizeof(*asked));
    _cleanup_free_ uint64_t *whole = calloc(words, sizeof(*whole));
    TRY_MEMORY(asked && whole);
    VECTOR_EACH(const struct array, array, finder->arrays)
        bits_add(asked, array->object);
    TRY(g2h_view_find_whole(finder->findings->view, asked, finder->findings->threads, whole));
    VECTOR_EACH(struct array, array, finder->arrays)
        array->is_known = array->is_known && !bits_have(whole, array->object);
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

/* Returns whether the holder of the first array has it by a pointer to an element, not by a
 * slice. That is asked first, since most arrays belong to slices. */
static bool may_be_pinned(struct pinned_finder *finder)
{
    struct g2h_node holder;
    const struct array *array = first_array(finder);
    const uint32_t above = g2h_dominators_of(finder->findings->dominators, array->node);
    g2h_view_brief(finder->findings->view, above, &holder);
    if (holder.object == UINT32_MAX)
        return false;
    finder->looked_for = array;
    g2h_capacities_of_objects(finder->capacities, holder.object, holder.object + 1, see_slice,
                              finder);
    return !finder->has_slice;
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

/* Records the element of an array that an edge leads to, as referred to: its address, if the edge
 * is a pointer within the elements. Nothing for weak edges, other targets than the arrays, and
 * garbage. If the source is no object, or may point to the whole array, it is not known any more
 * which elements are referred to (is_known). */
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
    const uint64_t address = pinned_word(params, contents.data + edge->offset),
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
    const uint64_t *one = a;
    const uint64_t *other = b;
    return COMPARE(*one, *other);
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
    VECTOR_EACH(const struct array, array, finder->arrays) {
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

/* Finds out whether slices keep arrays of which nothing refers to most elements. The steps go from
 * cheap to expensive: most suspects are not arrays, and most arrays have a slice, which
 * may_be_pinned() finds out from one of them before all edges are read. */
struct g2h_error *pinned_find(const struct findings *findings, uint32_t item, struct pinned *ret)
{
    _cleanup_(pinned_finder_deinit) struct pinned_finder finder = {
        .findings = findings, .heap = g2h_view_heap(findings->view)};
    const uint64_t count = findings_node(findings, item)->count;
    *ret = (struct pinned){0};
    if (!g2h_view_is_typed(findings->view))
        return NULL;
    TRY(g2h_layouts_create(findings->view, &finder.layouts));
    TRY(add_arrays(&finder, item));
    if (finder.arrays.count == 0)
        return NULL;
    TRY(g2h_capacities_create(findings->view, &finder.capacities));
    if (!may_be_pinned(&finder))
        return NULL;
    TRY(drop_whole(&finder));
    g2h_capacities_of_objects(finder.capacities, 0, UINT32_MAX, see_slice, &finder);
    TRY(g2h_edges_create(findings->view, &finder.edges));
    TRY(see_edges(&finder));
    pinned_sum_up(&finder, ret);
    if (ret->arrays <= count / 2 || ret->elements < LEAST * ret->arrays ||
        ret->referred > ret->elements / 2)
        *ret = (struct pinned){0};
    return NULL;
}

/* ==== views ==== */

/* Marks the objects that frames and other roots point to: a variable of a frame may be a slice, or
 * a string, of any length. */
struct g2h_error *pinned_mark_rooted(const struct g2h_view *view, uint64_t *bits)
{
    const uint32_t synthetics = as_u32(g2h_view_account(view)->first_object);
    struct g2h_edges *edges;
    struct g2h_edge read[EDGES];
    struct g2h_node source, target;
    TRY(g2h_edges_create(view, &edges));
    g2h_edges_begin(edges, 0, synthetics);
    for (size_t count; (count = g2h_edges_read(edges, read, EDGES)) > 0;)
        for (size_t i = 0; i < count; i++) {
            if (read[i].target < synthetics)
                continue;
            g2h_view_brief(view, read[i].source, &source);
            g2h_view_brief(view, read[i].target, &target);
            if (source.kind != G2H_NODE_PACKAGE && source.kind != G2H_NODE_VARIABLE &&
                source.kind != G2H_NODE_SEVERAL && target.object != UINT32_MAX)
                bits_add(bits, target.object);
        }
    g2h_edges_destroy(edges);
    return NULL;
}

enum {
    VIEW_LEAST = 512,   /* bytes of an array or string that is looked at; */
    VIEW_FIRST = 16,    /* of so many it is looked at first whether they are kept by short slices */
    VIEW_USED = 4,      /* divisor: the share in use of what is kept by short ones */
    VIEW_MOST = 1 << 20 /* arrays */
};

/* An array or a string, and the part that is in use: offsets in the object. */
struct viewed {
    uint64_t address, size, begin, end, used;
    uint32_t object;
    uint32_t above; /* the object that holds it alone; UINT32_MAX: no object */
};

struct views_finder {
    const struct g2h_heap *heap;
    struct g2h_capacities *capacities;
    struct map by_object; /* object → index */
    VECTOR(struct viewed) list;
};

static void views_finder_deinit(struct views_finder *finder)
{
    g2h_capacities_destroy(finder->capacities);
    map_deinit(&finder->by_object);
    free(finder->list.data);
}

/* Lists the large arrays or strings of a node of merged: those of VIEW_LEAST or more bytes,
 * VIEW_MOST at most, with the object that dominates each. */
static struct g2h_error *views_list(const struct findings *findings, uint32_t item,
                                    struct views_finder *finder)
{
    const struct g2h_dominators *dominators = findings->dominators;
    struct g2h_node read, above;
    for (uint32_t i = 1; i < findings->merged.of_count && finder->list.count < VIEW_MOST; i++) {
        uint32_t index = as_u32(finder->list.count);
        const uint32_t node =
            findings->merged.of[i] == item ? g2h_dominators_node(dominators, i) : UINT32_MAX;
        if (node == UINT32_MAX)
            continue;
        g2h_view_brief(findings->view, node, &read);
        if (read.object == UINT32_MAX || read.size < VIEW_LEAST)
            continue;
        g2h_view_brief(findings->view, g2h_dominators_of(dominators, node), &above);
        TRY_MEMORY(map_put(&finder->by_object, read.object, index, &index));
        TRY_MEMORY(vector_push(
            &finder->list, ((struct viewed){.address = g2h_heap_address(finder->heap, read.object),
                                            .size = read.size,
                                            .begin = UINT64_MAX,
                                            .object = read.object,
                                            .above = above.object})));
    }
    return NULL;
}

/* Notes which part of an array a slice uses, or of a string: the bytes from the first that one uses
 * to the last, and the sum of all. Maps, and what is not in the list, change nothing. Always
 * returns true: the visit goes on. */
static bool see_view(void *context, const struct g2h_capacity *capacity)
{
    struct views_finder *finder = context;
    uint32_t object;
    if ((capacity->kind != G2H_CAPACITY_SLICE && capacity->kind != G2H_CAPACITY_STRING) ||
        capacity->used == 0 || !g2h_heap_find(finder->heap, capacity->address, &object))
        return true;
    const uint32_t index = map_get(&finder->by_object, object);
    if (index == MAP_NONE)
        return true;
    struct viewed *viewed = &finder->list.data[index];
    const uint64_t begin = capacity->address - viewed->address;
    const uint64_t space = viewed->size - begin;
    const bool is_beyond = capacity->size > 0 && capacity->used > space / capacity->size;
    const uint64_t used = is_beyond ? space : capacity->used * capacity->size;
    viewed->begin = MIN(begin, viewed->begin);
    viewed->end = MAX(begin + used, viewed->end);
    viewed->used += used;
    return true;
}

/* Returns whether less than a quarter of an array is in use, by slices that lead to it. Parts that
 * several use count for each, but no more than from the first byte in use to the last. */
static bool is_barely_used(struct viewed *viewed)
{
    if (viewed->end == 0)
        return false;
    if (viewed->used > viewed->end - viewed->begin)
        viewed->used = viewed->end - viewed->begin;
    return viewed->used < viewed->size / VIEW_USED;
}

/* Returns whether one of the first arrays is kept by a short slice of the object that holds it. */
static bool views_may_be(struct views_finder *finder)
{
    bool is_any = false;
    const size_t count = MIN(finder->list.count, VIEW_FIRST);
    for (size_t i = 0; i < count; i++) {
        const uint32_t above = finder->list.data[i].above;
        if (above != UINT32_MAX)
            g2h_capacities_of_objects(finder->capacities, above, above + 1, see_view, finder);
    }
    VECTOR_EACH(struct viewed, viewed, finder->list) {
        is_any = is_any || is_barely_used(viewed);
        viewed->begin = UINT64_MAX;
        viewed->end = viewed->used = 0;
    }
    return is_any;
}

/* Finds out whether short slices or substrings keep large arrays or strings. Only slices and
 * strings of which the holders are known by type; what another pointer may use as a whole is not
 * barely used. They count if those that are have half of the bytes of the node or more. */
struct g2h_error *views_find(const struct findings *findings, uint32_t item, struct views *ret)
{
    _cleanup_(views_finder_deinit) struct views_finder finder = {.heap =
                                                                     g2h_view_heap(findings->view)};
    const struct merged_node *node = findings_node(findings, item);
    *ret =
        (struct views){.is_text = findings_kind_of(findings->view, node->example) == G2H_NODE_TEXT};
    if (!g2h_view_is_typed(findings->view) || node->kind != MERGED_CLASS ||
        (!ret->is_text && merged_form(&findings->merged, item) != G2H_FORM_SLICE))
        return NULL;
    TRY(views_list(findings, item, &finder));
    if (finder.list.count == 0)
        return NULL;
    TRY(g2h_capacities_create(findings->view, &finder.capacities));
    if (!views_may_be(&finder))
        return NULL;
    g2h_capacities_of_objects(finder.capacities, 0, UINT32_MAX, see_view, &finder);
    const size_t words = g2h_heap_object_count(finder.heap) / 64 + 1;
    _cleanup_free_ uint64_t *asked = calloc(words, sizeof(*asked));
    _cleanup_free_ uint64_t *used = calloc(words, sizeof(*used));
    TRY_MEMORY(asked && used);
    VECTOR_EACH(const struct viewed, viewed, finder.list)
        bits_add(asked, viewed->object);
    TRY(g2h_view_find_whole(findings->view, asked, findings->threads, used));
    TRY(pinned_mark_rooted(findings->view, used));
    VECTOR_EACH(struct viewed, viewed, finder.list) {
        if (!is_barely_used(viewed) || bits_have(used, viewed->object))
            continue;
        ret->count++;
        ret->bytes += viewed->size;
        ret->used += viewed->used;
    }
    if (ret->bytes < node->bytes / 2)
        ret->count = 0;
    return NULL;
}
