/*
 * waste: reachable memory that is allocated but not used; see waste.h. Each part of the file is one
 * kind of waste, and the last one runs them:
 *
 * equal strings  strings with the same bytes
 * substrings     strings of which only a small part is used
 * slices         capacity beyond the length, and what is outside of all slices of an array
 * struct layout  rounding up to a slot, and padding between fields
 * fragmentation  free slots in spans that few objects keep
 * waste          visits all slices, strings and maps in parallel, and sums up by declaration
 *
 * A declaration is the field, variable or type of map that slices, strings or maps belong to.
 * Workers collect lists of their own; the sums are made after all of them, because several may see
 * one array.
 */
#include "findings/waste.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/releases.h"
#include "base/workers.h"
#include "findings/findings.h"

static struct waste_row *waste_add(struct waste_rows *rows, struct map *by_declaration,
                                   uint32_t declaration, uint64_t wasted, uint64_t bytes);

enum {
    LEAST_TEXT = 64,        /* bytes: size classes cannot explain that less than half of such a
                             * string is in use */
    TASK_OBJECTS = 1 << 16, /* in a task of any of the walks below */
};

/* Sets the bit of an object, which other threads may do, too. Most are set already, so it is read
 * first. */
static inline void set_bit(uint64_t *bits, uint32_t object)
{
    const uint64_t bit = UINT64_C(1) << object % 64;
    if ((__atomic_load_n(&bits[object / 64], __ATOMIC_RELAXED) & bit) == 0)
        __atomic_fetch_or(&bits[object / 64], bit, __ATOMIC_RELAXED);
}

/* ==== equal strings ====
 *
 * A long string is read to its end only if another one has the same length and the same beginning.
 */

enum {
    MOST_TEXTS = 100, /* that are kept */
    LONG = 1024,      /* bytes; a larger object may have a longer string than g2h_view_text()
                       * returns */
    NODES_AHEAD = 32,
    TEXTS_AHEAD = 16
};

/* Orders groups of equal strings by the bytes that duplicates waste, the most first. */
static int equals_compare(const void *a, const void *b)
{
    const struct equal *one = a;
    const struct equal *other = b;
    if (equal_waste(one) != equal_waste(other))
        return COMPARE(equal_waste(other), equal_waste(one));
    return COMPARE(one->node, other->node);
}

/* Returns whether the dump lacks a part of a string: it may differ there from others. */
static bool is_shortened(const struct g2h_view *view, const struct g2h_node *node)
{
    const struct g2h_object object = g2h_heap_object(g2h_view_heap(view), node->object);
    return object.contents.size < object.size;
}

/* Reads all strings, to find equal ones. Hashes the beginning of each string, and for long ones its
 * length. Left out are long objects that are less than half string, which are among the substrings,
 * strings that share an object, and garbage. A long string that the dump has shortened gets a
 * unique hash, since its missing bytes may differ. Prefetches, because strings are scattered over
 * memory. */
struct g2h_error *equals_read(const struct g2h_view *view, struct equals *equals)
{
    _cleanup_(g2h_text_deinit) struct g2h_text text = {0};
    const uint32_t end = g2h_view_node_count(view);
    for (uint32_t i = g2h_view_next_text(view, 0, end); i < end;
         i = g2h_view_next_text(view, i + 1, end)) {
        struct g2h_node node;
        size_t size;
        g2h_view_prefetch(view, i + NODES_AHEAD, G2H_SOON_NODE);
        g2h_view_prefetch(view, i + TEXTS_AHEAD, G2H_SOON_KEYS);
        g2h_view_brief(view, i, &node);
        if ((node.size >= LEAST_TEXT && g2h_view_text_size(view, i) < node.size / 2) ||
            g2h_view_text_is_shared(view, i) || g2h_view_is_garbage(view, node.object))
            continue;
        const char *data = g2h_view_text(view, i, &text, &size);
        uint64_t hash = map_hash_text(data, size);
        if (node.size > LONG)
            hash = map_hash_pair(hash, is_shortened(view, &node) ? (UINT64_C(1) << 63) + i
                                                                 : g2h_view_text_size(view, i));
        TRY_MEMORY(!text.failed && vector_push(&equals->hashes, hash) &&
                   vector_push(&equals->nodes, i));
        equals->bytes += node.size;
    }
    return NULL;
}

/* Removes the strings that are stale: they count as waste already. */
static void drop_stale(const struct findings *findings, struct equals *equals)
{
    size_t kept = 0;
    if (!findings->stale.of) /* there are none */
        return;
    for (size_t i = 0; i < equals->nodes.count; i++) {
        const uint32_t number = equals->nodes.data[i];
        struct g2h_node node;
        if (stale_has_node(&findings->stale, number)) {
            g2h_view_brief(findings->view, number, &node);
            equals->bytes -= node.size;
            continue;
        }
        equals->hashes.data[kept] = equals->hashes.data[i];
        equals->nodes.data[kept++] = number;
    }
    equals->hashes.count = equals->nodes.count = kept;
}

/* Counts, up to 2, the strings in each bucket of a small table. Most strings are unique, as is
 * certain for one that has its bucket for itself. The bucket of a hash is the hash masked by
 * *ret_mask. Returns NULL if memory runs out. */
static uint8_t *find_buckets(const struct equals *texts, size_t *ret_mask)
{
    size_t buckets = 64;
    while (buckets / 4 < texts->hashes.count)
        buckets *= 2;
    uint8_t *times = calloc(buckets, 1);
    *ret_mask = buckets - 1;
    if (!times)
        return NULL;
    for (size_t i = 0; i < texts->hashes.count; i++) {
        uint8_t *bucket = &times[texts->hashes.data[i] & (buckets - 1)];
        *bucket = *bucket == 0 ? 1 : 2;
    }
    return times;
}

/* Returns the hash of an entire long string. */
static uint64_t hash_whole(const struct g2h_view *view, uint32_t number,
                           const struct g2h_node *node)
{
    const struct g2h_bytes contents = g2h_heap_object(g2h_view_heap(view), node->object).contents;
    const uint64_t size = g2h_view_text_size(view, number);
    return map_hash_text(contents.data,
                         size < contents.size ? (size_t)size : (size_t)contents.size);
}

/* Adds a string to the group of those with the same hash; long strings are hashed to their end
 * first. Marks the objects of groups of two or more, so that substrings of them are not reported as
 * well. */
static struct g2h_error *equals_add(const struct g2h_view *view, size_t index, struct map *by_hash,
                                    struct equals *equals)
{
    struct g2h_node node;
    uint32_t number = as_u32(equals->list.count);
    const uint32_t text = equals->nodes.data[index];
    g2h_view_brief(view, text, &node);
    const uint64_t hash = node.size > LONG && !is_shortened(view, &node)
                              ? hash_whole(view, text, &node)
                              : equals->hashes.data[index];
    TRY_MEMORY(map_put(by_hash, hash, number, &number));
    if (number == equals->list.count) {
        TRY_MEMORY(vector_push(&equals->list, ((struct equal){.node = text})));
        equals->different++;
    }
    struct equal *equal = &equals->list.data[number];
    equal->count++;
    equal->bytes += node.size;
    if (equal->count > 1) { /* the first one was alone until now, and has no mark yet */
        set_bit(equals->objects, node.object);
        g2h_view_brief(view, equal->node, &node);
        set_bit(equals->objects, node.object);
    }
    return NULL;
}

/* Keeps the strings that waste most, MOST_TEXTS at most. */
static void equals_cut(struct equals *equals)
{
    vector_sort(&equals->list, equals_compare);
    if (equals->list.count <= MOST_TEXTS)
        return;
    struct equal *less = realloc(equals->list.data, MOST_TEXTS * sizeof(*less));
    equals->list.data = less ? less : equals->list.data; /* else the old block stays */
    equals->list.count = MOST_TEXTS;
}

/*
 * Finds the duplicates among the strings that were read. Stale strings count as waste already, so
 * they are left out. Errors: G2H_ERROR_MEMORY.
 *
 * Two passes: a table of hashes sorts out most strings, which are unique, cheaply; only the rest
 * are hashed as a whole and grouped.
 */
static struct g2h_error *equals_find(const struct findings *findings, struct equals *equals)
{
    const struct g2h_view *view = findings->view;
    _cleanup_(map_deinit) struct map by_hash = {0};
    size_t mask;
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(view));
    drop_stale(findings, equals);
    equals->count = equals->nodes.count;
    equals->objects = calloc(objects / 64 + 1, sizeof(*equals->objects));
    TRY_MEMORY(equals->objects);
    _cleanup_free_ uint8_t *times = find_buckets(equals, &mask);
    TRY_MEMORY(times);
    for (size_t i = 0; i < equals->count; i++)
        if (times[equals->hashes.data[i] & mask] > 1)
            TRY(equals_add(view, i, &by_hash, equals));
        else
            equals->different++;
    VECTOR_EACH(const struct equal, equal, equals->list)
        equals->wasted += equal_waste(equal);
    equals_cut(equals);
    return NULL;
}

static void equals_deinit(struct equals *equals)
{
    free(equals->hashes.data);
    free(equals->nodes.data);
    free(equals->list.data);
    free(equals->objects);
}

/* ==== substrings ====
 *
 * Strings that substrings keep alive for a small part of them. A substring keeps the whole string
 * alive; strings.Clone() would make a copy. The bytes of substrings are in use; bytes shared by
 * several count for each, but no more than from the first byte in use to the last. A string is
 * reported if less than half is in use, which no size class explains. It is not reported if a slice
 * is in it, or if roots other than packages' variables point to it, because their use is not known;
 * nor if another string is equal, which is among the duplicates.
 */

static inline bool bit_of(const uint64_t *bits, uint32_t object)
{
    return (__atomic_load_n(&bits[object / 64], __ATOMIC_RELAXED) >> object % 64 & 1) != 0;
}

/* Merges two parts of one string. */
static void merge_part(struct waste_part *part, const struct waste_part *other)
{
    part->begin = MIN(other->begin, part->begin);
    part->end = MAX(other->end, part->end);
    part->bytes += other->bytes;
    if (other->longest > part->longest) {
        part->longest = other->longest;
        part->declaration = other->declaration;
    }
}

/* Adds a part, or merges it with the last one if both are of one string: substrings of one string
 * are mostly adjacent. Returns false if memory runs out. */
static bool add_part(part_vector *parts, const struct waste_part *part)
{
    struct waste_part *last = parts->count > 0 ? &parts->data[parts->count - 1] : NULL;
    if (!last || last->text != part->text)
        return vector_push(parts, *part);
    merge_part(last, part);
    return true;
}

/* Adds the part of a long string (LEAST_TEXT) that a substring uses, if that is less than half of
 * it. A substring that uses more sets the string's bit in used: it is never reported. Returns false
 * if memory runs out. */
static bool add_substring(const struct findings *findings, const struct g2h_capacity *capacity,
                          part_vector *parts, uint64_t *used)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const uint64_t slot = g2h_heap_slot_size(heap, capacity->address); /* 0: not known */
    uint32_t text;
    /* Most strings are short: sorted out before the search for the object, which takes longer. */
    if ((slot > 0 && slot < LEAST_TEXT) || !g2h_heap_find(heap, capacity->address, &text))
        return true;
    const uint64_t whole = slot > 0 ? slot : g2h_heap_object(heap, text).size;
    const uint64_t begin = capacity->address - g2h_heap_address(heap, text);
    const uint64_t size = MIN(capacity->used, whole - begin); /* a damaged dump may claim more */
    if (whole < LEAST_TEXT)
        return true;
    if (size >= whole / 2) {
        set_bit(used, text);
        return true;
    }
    if (bit_of(used, text)) /* by another substring, and not reported anyway */
        return true;
    return add_part(
        parts, &(struct waste_part){text, capacity->declaration, begin, begin + size, size, size});
}

/* ---- sums ---- */

/* Merges all parts of each string into one. Strings of which more is used than the parts say are
 * left out. */
static struct g2h_error *merge_by_string(const part_vector *lists, size_t count,
                                         const uint64_t *used, part_vector *ret)
{
    _cleanup_(map_deinit) struct map by_text = {0};
    for (size_t i = 0; i < count; i++)
        VECTOR_EACH(const struct waste_part, part, lists[i]) {
            uint32_t index = as_u32(ret->count);
            if (bit_of(used, part->text))
                continue;
            TRY_MEMORY(map_put(&by_text, part->text, index, &index));
            if (index == ret->count)
                TRY_MEMORY(vector_push(ret, *part));
            else
                merge_part(&ret->data[index], part);
        }
    return NULL;
}

/* Returns whether an object is a string: only then are its unused bytes known to be out of
 * reach. */
static bool is_text(const struct g2h_view *view, uint32_t object)
{
    const uint32_t node = g2h_view_object(view, object);
    return node != UINT32_MAX && g2h_view_next_text(view, node, node + 1) == node;
}

/* Adds the unused bytes of each string of which less than half is in use to the declaration of its
 * longest substring. */
static struct g2h_error *add_unused(const struct g2h_view *view, const part_vector *parts,
                                    struct waste_rows *ret)
{
    _cleanup_(map_deinit) struct map by_declaration = {0};
    VECTOR_EACH(const struct waste_part, part, *parts) {
        const uint64_t size = g2h_heap_object(g2h_view_heap(view), part->text).size;
        const uint64_t extent = part->end - part->begin;
        const uint64_t used = MIN(part->bytes, extent); /* substrings may overlap */
        if (used < size / 2 && is_text(view, part->text))
            TRY_MEMORY(waste_add(ret, &by_declaration, part->declaration, size - used, size));
    }
    return NULL;
}

/* Sums up count lists of parts, except those of objects that have a bit in used. Errors:
 * G2H_ERROR_MEMORY. */
static struct g2h_error *sum_parts(const struct findings *findings, const part_vector *lists,
                                   size_t count, const uint64_t *used, struct waste_rows *ret)
{
    _cleanup_vector_ part_vector parts = {0};
    TRY(merge_by_string(lists, count, used, &parts));
    return add_unused(findings->view, &parts, ret);
}

/* ==== slices ====
 *
 * Space in slices beyond their length, and memory outside of their capacity. Memory before the
 * start of all slices of an array, or after their capacities, counts if nothing else leads there:
 * the array has a window then.
 *
 * Several slices may share an array. The part that none of them uses counts as wasted once, at the
 * declaration of the slice that uses most. Full slices matter only if another slice of the same
 * array is not full. Most slices are full, so of these only where the furthest one ends is kept for
 * each array.
 */

/* The arrays that slices which are not full are in. */
struct arrays {
    const struct findings *findings;
    open_slice_vector list; /* by array: what all of its slices use together */
    struct map by_object;   /* array → index in list */
};

/* The bytes of each object behind the slice that reaches furthest in it, plus 1; 0: there is none.
 */
typedef uint32_t *slice_rests;

/* Returns the bytes of an array behind the capacity of a slice, or UINT64_MAX for a slice that is
 * longer than its array: Go has not made that. */
static uint64_t rest_behind(const struct g2h_heap *heap, uint32_t array,
                            const struct g2h_capacity *capacity)
{
    const uint64_t begin = capacity->address - g2h_heap_address(heap, array);
    const uint64_t space = g2h_heap_size(heap, array) - begin;
    return capacity->all <= space / capacity->size ? space - capacity->all * capacity->size
                                                   : UINT64_MAX;
}

/* Notes how many bytes of an array are behind a slice, if no other one reaches further. Several
 * threads may do so at the same time. Returns false if there are too many bytes to note. */
static bool note_rest(slice_rests rests, uint32_t array, uint64_t rest)
{
    uint32_t now = __atomic_load_n(&rests[array], __ATOMIC_RELAXED);
    if (rest >= UINT32_MAX)
        return false;
    const uint32_t noted = as_u32(rest) + 1;
    while ((now == 0 || now > noted) &&
           !__atomic_compare_exchange_n(&rests[array], &now, noted, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
    return true;
}

/* Returns the offset of the end of the slice that reaches furthest in an array; 0: there is none.
 */
static uint64_t end_by_rest(const struct findings *findings, const uint32_t *rests, uint32_t array)
{
    const uint32_t rest = rests[array];
    return rest > 0 ? g2h_heap_size(g2h_view_heap(findings->view), array) - (rest - 1) : 0;
}

/* Gets the part of an array that a slice covers, as offsets in the array. What the array has no
 * space for is cut off: a damaged dump may claim any length. Returns false if the slice is in no
 * object of the view. */
static bool locate_slice(const struct findings *findings, const struct g2h_capacity *capacity,
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
    const uint64_t begin = capacity->address - g2h_heap_address(heap, ret->array);
    const uint64_t size = /* the node of a folded object has the sizes of all its members */
        node.object == ret->array ? node.size : g2h_heap_object(heap, ret->array).size;
    const uint64_t space = begin < size ? (size - begin) / capacity->size : 0; /* elements */
    ret->declaration = capacity->declaration;
    ret->used_end = begin + MIN(capacity->used, space) * capacity->size;
    ret->end = begin + MIN(capacity->all, space) * capacity->size;
    return true;
}

/* Merges a slice into those of its array. */
static struct g2h_error *add_slice(struct arrays *arrays, const struct open_slice *slice)
{
    uint32_t index = as_u32(arrays->list.count);
    TRY_MEMORY(map_put(&arrays->by_object, slice->array, index, &index));
    if (index == arrays->list.count)
        TRY_MEMORY(vector_push(&arrays->list, *slice));
    struct open_slice *known = &arrays->list.data[index];
    if (slice->used_end > known->used_end) {
        known->used_end = slice->used_end;
        known->declaration = slice->declaration;
    }
    known->end = MAX(slice->end, known->end);
    return NULL;
}

/* ---- sums ---- */

/* Adds up, by declaration, the arrays of which slices use only a window (see struct g2h_window):
 * what is before the first and after the last, and within the capacity. Arrays without waste, out
 * of the view, or that stale elements are reported for, do not count. */
static struct g2h_error *sum_windows(const struct findings *findings, const uint32_t *declarations,
                                     struct map *by_declaration, struct waste_rows *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    for (uint32_t i = 0; i < g2h_windows_count(findings->windows); i++) {
        struct g2h_window window;
        g2h_windows_get(findings->windows, i, &window);
        const uint64_t outside = window.begin - window.first + window.last - window.capacity_end;
        const uint64_t wasted = outside + window.capacity_end - window.end;
        if (wasted == 0 || g2h_view_object(findings->view, window.object) == UINT32_MAX ||
            g2h_view_is_else(findings->view, window.object) ||
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

/* Adds for each array without a window the bytes beyond what any slice uses to its declaration.
 * full: as for sum_slices(). */
static struct g2h_error *sum_arrays(const struct arrays *arrays, const uint32_t *full,
                                    const uint32_t *declarations, struct waste_rows *ret)
{
    const struct findings *findings = arrays->findings;
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    _cleanup_(map_deinit) struct map by_declaration = {0};
    VECTOR_EACH(const struct open_slice, array, arrays->list) {
        const uint64_t used_end = MAX(array->used_end, end_by_rest(findings, full, array->array));
        if (used_end >= array->end || g2h_windows_of(findings->windows, array->array) != UINT32_MAX)
            continue;
        struct waste_row *row =
            waste_add(ret, &by_declaration, array->declaration, array->end - used_end,
                      g2h_heap_object(heap, array->array).size);
        TRY_MEMORY(row);
        row->elements += used_end;
    }
    return sum_windows(findings, declarations, &by_declaration, ret);
}

/*
 * Sums up what lives only because it is in slots that no slice uses, at the declarations of the
 * slices. Errors: G2H_ERROR_MEMORY.
 *
 * Adds what is stale in each array to the declaration that the array's window is counted for.
 * waste_add() counts one object, so the others are added here.
 */
static struct g2h_error *sum_stale(const struct findings *findings, const uint32_t *declarations,
                                   struct waste_rows *ret)
{
    _cleanup_(map_deinit) struct map by_declaration = {0};
    VECTOR_EACH(const struct stale_array, array, findings->stale.arrays) {
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
    map_deinit(&arrays->by_object);
}

/*
 * Sums up count lists of slices. Each array counts once, at the declaration of the slice that uses
 * most of it. full has the rests of arrays behind full slices, which use their arrays, too. If an
 * array has a window, everything outside of it counts, at the window's declaration, which is in
 * declarations. Errors: G2H_ERROR_MEMORY.
 *
 * Merges the lists of all tasks by array first, because slices of one array may be seen by several
 * tasks.
 */
static struct g2h_error *sum_slices(const struct findings *findings, const open_slice_vector *lists,
                                    size_t count, const uint32_t *full,
                                    const uint32_t *declarations, struct waste_rows *ret)
{
    _cleanup_(arrays_deinit) struct arrays arrays = {.findings = findings};
    for (size_t i = 0; i < count; i++)
        VECTOR_EACH(const struct open_slice, slice, lists[i])
            TRY(add_slice(&arrays, slice));
    return sum_arrays(&arrays, full, declarations, ret);
}

/* ==== struct layout ==== */

/* The objects of one layout that a worker has met. Most have equal sizes, so that the slots of the
 * last one are those of the next. */
struct layout_found {
    struct layout_row row;
    uint64_t size, header;    /* of the last object; size 0: none yet */
    uint64_t slot, reordered; /* which slots Go takes for it, as it is and if its fields were in the
                                 best order */
};

struct layout_finder {
    const struct findings *findings;
    const struct layout_findings *layout;
    const struct g2h_layout_class *classes;
    struct layout_found **found; /* by worker, by class; NULL: the worker has met no object */
};

/* ---- arrays ---- */

/* Errors: G2H_ERROR_MEMORY. */
static struct g2h_error *layout_init(const struct findings *findings, struct layout_findings *ret)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(findings->view));
    ret->rests = zeroed_alloc(count_and_end(objects), sizeof(*ret->rests));
    TRY_MEMORY(ret->rests);
    return g2h_layouts_create(findings->view, &ret->layouts);
}

/* ---- objects ---- */

/* Computes the slot that Go takes for an object of this size, and for one whose fields are in the
 * best order. */
static void find_slots(const struct layout_finder *finder, const struct g2h_layout_class *class,
                       uint64_t header, uint64_t size, struct layout_found *found)
{
    const struct g2h_layouts *layouts = finder->layout->layouts;
    found->size = size;
    found->header = header;
    found->slot = found->reordered = g2h_layouts_slot(layouts, header, size);
    if (class->reordered < class->size)
        found->reordered = g2h_layouts_slot(layouts, header, size / class->size * class->reordered);
}

/* Returns the bytes of the values in an object, without a malloc header; 0: not known. Those of an
 * array are up to the end of its slices: Go has asked for as much as their capacity. */
static uint64_t size_of_values(const struct layout_finder *finder, uint32_t object,
                               const struct g2h_layout *layout)
{
    if (!finder->classes[layout->number].is_array)
        return layout->size;
    const uint64_t end = end_by_rest(finder->findings, finder->layout->rests, object);
    return end > layout->header ? end - layout->header : 0;
}

/* Adds an object to the row of its class: bytes of its slot, of padding, and those that another
 * order of the fields would save. Nothing is added if its slot is not the one that Go takes for a
 * value of this size, or an array's part in use is no whole number of values. */
static void add_object(const struct layout_finder *finder, uint32_t object,
                       const struct g2h_layout *layout, struct layout_found *found)
{
    const struct g2h_layout_class *class = &finder->classes[layout->number];
    const uint64_t size = size_of_values(finder, object, layout);
    const uint64_t values = class->is_array ? size / class->size : 1;
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
static struct g2h_error *layout_task(void *context, size_t task, unsigned worker)
{
    const struct layout_finder *finder = context;
    const struct g2h_view *view = finder->findings->view;
    const uint32_t count = g2h_heap_object_count(g2h_view_heap(view));
    const uint32_t first = as_u32(task) * TASK_OBJECTS;
    const uint32_t end = count - first > TASK_OBJECTS ? first + TASK_OBJECTS : count;
    struct layout_found **found = &finder->found[worker];
    if (!*found)
        *found = calloc(g2h_layouts_count(finder->layout->layouts), sizeof(**found));
    TRY_MEMORY(*found);
    for (uint32_t i = first; i < end; i++) {
        struct g2h_layout layout;
        if (!findings_leaves_out(view, i) && g2h_layouts_find(finder->layout->layouts, i, &layout))
            add_object(finder, i, &layout, &(*found)[layout.number]);
    }
    return NULL;
}

/* ---- sums ---- */

/* Adds sums; the example is that of the smallest slot. */
static void add_layout_row(struct layout_row *to, const struct layout_row *from)
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

/* Orders rows by a weight of each, most first; equal ones by class. */
static int compare_layouts(const struct layout_row *one, const struct layout_row *other,
                           uint64_t weight, uint64_t other_weight)
{
    if (weight != other_weight)
        return COMPARE(other_weight, weight);
    return COMPARE(one->class, other->class);
}

static int compare_rounding(const void *a, const void *b)
{
    return compare_layouts(a, b, layout_rounding(a), layout_rounding(b));
}

static int compare_padding(const void *a, const void *b)
{
    return compare_layouts(a, b, layout_weight(a), layout_weight(b));
}

/* Adds up the workers' sums of each class, and lists the classes that lose bytes to rounding or
 * padding. */
static struct g2h_error *sum_layouts(const struct layout_finder *finder, uint32_t classes,
                                     struct layout_findings *ret)
{
    for (uint32_t i = 0; i < classes; i++) {
        struct layout_row row = {.class = i};
        for (unsigned j = 0; j < finder->findings->threads; j++)
            if (finder->found[j])
                add_layout_row(&row, &finder->found[j][i].row);
        add_layout_row(&ret->sums, &row);
        TRY_MEMORY(layout_rounding(&row) == 0 || vector_push(&ret->rounding, row));
        TRY_MEMORY(row.padding == 0 || vector_push(&ret->padding, row));
    }
    vector_sort(&ret->rounding, compare_rounding);
    vector_sort(&ret->padding, compare_padding);
    return NULL;
}

static void layout_finder_deinit(struct layout_finder *finder)
{
    for (unsigned i = 0; finder->found && i < finder->findings->threads; i++)
        free(finder->found[i]);
    free(finder->found);
}

/*
 * Sums up all objects, after all slices have been seen. Errors: G2H_ERROR_MEMORY.
 *
 * Classes are read into one table before the workers begin, since they ask for them for each
 * object.
 */
static struct g2h_error *layout_find(const struct findings *findings, struct layout_findings *ret)
{
    const uint32_t classes = g2h_layouts_count(ret->layouts),
                   objects = g2h_heap_object_count(g2h_view_heap(findings->view));
    _cleanup_free_ struct g2h_layout_class *all = calloc(count_and_end(classes), sizeof(*all));
    _cleanup_(layout_finder_deinit) struct layout_finder finder = {
        .findings = findings, .layout = ret, .classes = all};
    finder.found = calloc(findings->threads, sizeof(*finder.found));
    TRY_MEMORY(all && finder.found);
    for (uint32_t i = 0; i < classes; i++)
        all[i] = g2h_layouts_class(ret->layouts, i);
    TRY(workers_run(findings->threads, objects / TASK_OBJECTS + 1, layout_task, &finder));
    return sum_layouts(&finder, classes, ret);
}

static void layout_deinit(struct layout_findings *layout)
{
    g2h_layouts_destroy(layout->layouts);
    free(layout->rests);
    free(layout->rounding.data);
    free(layout->padding.data);
}

/* ==== fragmentation ====
 *
 * Fragmentation of spans, by the walk over spans of retained_pages.h.
 */

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

/* Returns the sums of spans with this slot size, which are added if they are new; NULL if memory
 * runs out. */
static struct span_row *row_of(struct fragmentation_found *found, uint64_t slot)
{
    uint32_t index = as_u32(found->rows.count);
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
    uint32_t index = as_u32(found->pins.count);
    if (!map_put(&found->pin_by_class, slot << 32 | name, index, &index) ||
        (index == found->pins.count &&
         !vector_push(&found->pins, ((struct span_pin){.slot = slot, .name = name}))))
        return NULL;
    return &found->pins.data[index];
}

/* Adds a span to sums. */
static void add_to_sums(struct span_sums *sums, const struct span *span)
{
    sums->spans++;
    sums->bytes += span->end - span->begin;
    sums->objects += span->objects;
    sums->live += span->live;
}

/* Counts the objects of a sparse span by class, and the spans that each class is in; garbage is
 * left out. Returns false if memory runs out. */
static bool add_pins(const struct findings *findings, struct fragmentation_found *found,
                     const struct span *span)
{
    for (uint32_t i = span->first; i < span->after; i++) {
        if (g2h_view_is_garbage(findings->view, i))
            continue;
        struct span_pin *pin = pin_of(found, span->slot, g2h_view_class(findings->view, i));
        if (!pin)
            return false;
        pin->objects++;
        pin->spans += pin->last != span->begin; /* a span counts once for all objects of a class */
        pin->last = span->begin;
    }
    return true;
}

/* Adds the span that has been walked over to the sums of all spans, and of sparse and nearly empty
 * ones if it is one. Spans without live objects are left out: the next collection frees them.
 * Returns false if memory runs out. */
static bool add_span(const struct findings *findings, struct fragmentation_found *found,
                     const struct span *span)
{
    const uint64_t bytes = span->end - span->begin;
    if (span->objects == 0)
        return true;
    struct span_row *row = row_of(found, span->slot);
    if (!row)
        return false;
    add_to_sums(&row->all, span);
    if (span->live >= bytes / SPAN_SPARSE)
        return true;
    add_to_sums(&row->sparse, span);
    if (span->live < bytes / SPAN_EMPTY)
        add_to_sums(&row->empty, span);
    return add_pins(findings, found, span);
}

/* Walks the spans in which the objects [first, end) of a task begin, and adds them to the worker's
 * sums; spans of one large object are left out. A span belongs to the task of its first object. */
static struct g2h_error *fragmentation_task(void *context, size_t task, unsigned worker)
{
    const struct fragmentation_finder *finder = context;
    const struct findings *findings = finder->findings;
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    struct fragmentation_found *found = &finder->found[worker];
    const uint32_t count = g2h_heap_object_count(heap);
    const uint32_t first = as_u32(task) * TASK_OBJECTS;
    const uint32_t end = count - first > TASK_OBJECTS ? first + TASK_OBJECTS : count;
    struct span_walk walk;
    struct span span;
    span_walk_begin(findings->view, first, end, &walk);
    while (span_walk_next(&walk, &span))
        if (!span.is_large)
            TRY_MEMORY(add_span(findings, found, &span));
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

/* Adds the sums of one slot size to another row. */
static void add_span_row(struct span_row *to, const struct span_row *from)
{
    add_sums(&to->all, &from->all);
    add_sums(&to->sparse, &from->sparse);
    add_sums(&to->empty, &from->empty);
}

/* Adds the results of one worker to those of another. Returns false if memory runs out. */
static bool fragmentation_merge(struct fragmentation_found *to,
                                const struct fragmentation_found *from)
{
    VECTOR_EACH(const struct span_row, from_row, from->rows) {
        struct span_row *row = row_of(to, from_row->slot);
        if (!row)
            return false;
        add_span_row(row, from_row);
    }
    VECTOR_EACH(const struct span_pin, from_pin, from->pins) {
        struct span_pin *pin = pin_of(to, from_pin->slot, from_pin->name);
        if (!pin)
            return false;
        pin->objects += from_pin->objects;
        pin->spans += from_pin->spans;
    }
    return true;
}

/* Orders slot sizes by the bytes that are free in sparse spans, the most first. */
static int compare_rows(const void *a, const void *b)
{
    const struct span_row *one = a;
    const struct span_row *other = b;
    if (span_unused(&one->sparse) != span_unused(&other->sparse))
        return COMPARE(span_unused(&other->sparse), span_unused(&one->sparse));
    return COMPARE(one->slot, other->slot);
}

/* Orders by slot size, and within one by how many sparse spans the class pins, the most first. */
static int compare_pins(const void *a, const void *b)
{
    const struct span_pin *one = a;
    const struct span_pin *other = b;
    if (one->slot != other->slot)
        return COMPARE(one->slot, other->slot);
    if (one->spans != other->spans)
        return COMPARE(other->spans, one->spans);
    if (one->objects != other->objects)
        return COMPARE(other->objects, one->objects);
    return COMPARE(one->name, other->name);
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

/* Finds the spans of all objects, on all threads, and adds up what these have found. There are no
 * rows if the span sizes of the release of Go are not known. Errors: G2H_ERROR_MEMORY. */
static struct g2h_error *fragmentation_find(const struct findings *findings,
                                            struct fragmentation *ret)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const uint32_t objects = g2h_heap_object_count(heap);
    _cleanup_(fragmentation_finder_deinit) struct fragmentation_finder finder = {.findings =
                                                                                     findings};
    if (go_release_parse(g2h_heap_go_version(heap)).minor < SIZE_CLASSES_SINCE || objects == 0 ||
        g2h_view_account(findings->view)->is_under) /* spans are of the whole heap */
        return NULL;
    finder.found = calloc(findings->threads, sizeof(*finder.found));
    TRY_MEMORY(finder.found);
    TRY(workers_run(findings->threads, (objects - 1) / TASK_OBJECTS + 1, fragmentation_task,
                    &finder));
    struct fragmentation_found *all = &finder.found[0];
    for (unsigned i = 1; i < findings->threads; i++)
        TRY_MEMORY(fragmentation_merge(all, &finder.found[i]));
    VECTOR_EACH(const struct span_row, row, all->rows) {
        TRY_MEMORY(vector_push(&ret->rows, *row));
        add_span_row(&ret->sums, row);
    }
    VECTOR_EACH(const struct span_pin, pin, all->pins)
        TRY_MEMORY(vector_push(&ret->pins, *pin));
    vector_sort(&ret->rows, compare_rows);
    vector_sort(&ret->pins, compare_pins);
    return NULL;
}

static void fragmentation_deinit(struct fragmentation *fragmentation)
{
    free(fragmentation->rows.data);
    free(fragmentation->pins.data);
}

/* ==== waste ==== */

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
    slice_rests full;          /* of full slices, by object */
    uint64_t *used;            /* a bit for each string that is not among the substrings */
    uint32_t
        *windows; /* by window: the lowest declaration of its slices, or DECLARATION_OF_LOCAL */
};

struct visit {
    const struct waste_finder *finder;
    open_slice_vector *slices;
    part_vector *parts;
    struct waste_row **maps;
};

/* Records, for the window that a slice's array has, the least declaration of the slices that lead
 * there; nothing if the array has none. Several threads may do so at once. */
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

/* Notes where a slice ends in its array, and adds one that is not full. Garbage does not count. One
 * in a stale object counts for the layout only, which asks how large its array was made. Returns
 * false if memory runs out. */
static bool visit_slice(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct waste_finder *finder = visit->finder;
    const struct findings *findings = finder->findings;
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    struct open_slice slice;
    uint32_t object;
    if ((capacity->object != UINT32_MAX && findings_leaves_out(findings->view, capacity->object)) ||
        !g2h_heap_find(heap, capacity->address, &object))
        return true;
    const uint64_t rest = rest_behind(heap, object, capacity);
    if (rest != UINT64_MAX)
        note_rest(finder->layout->rests, object, rest);
    if (is_stale(findings, capacity) || g2h_view_is_else(findings->view, object))
        return true;
    note_window(finder, object, capacity->declaration);
    const bool is_full = capacity->used >= capacity->all;
    if (is_full && note_rest(finder->full, object, rest != UINT64_MAX ? rest : 0))
        return true;
    return !locate_slice(findings, capacity, &slice) || vector_push(visit->slices, slice);
}

/* Records the part of a string that a live substring uses. Returns false if memory runs out. */
static bool visit_string(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct findings *findings = visit->finder->findings;
    if (capacity->object != UINT32_MAX && findings_leaves_out(findings->view, capacity->object))
        return true;
    return add_substring(findings, capacity, visit->parts, visit->finder->used);
}

/* Counts a map. If it has no entries, everything that it retains is waste, because it is all the
 * map's own memory; what one in a frame retains is not known. */
static void add_map(const struct findings *findings, const struct g2h_capacity *capacity,
                    struct waste_row *row)
{
    struct g2h_node read;
    row->count++;
    row->entries += capacity->used;
    if (capacity->used > 0 || capacity->object == UINT32_MAX)
        return;
    const uint32_t node = g2h_view_object(findings->view, capacity->object);
    g2h_view_brief(findings->view, node, &read);
    row->empty++;
    /* A folded node retains what all its members do, so only the map's own bytes are sure. */
    row->empty_size += read.members > 0
                           ? g2h_heap_object(g2h_view_heap(findings->view), capacity->object).size
                           : g2h_dominators_retained_size(findings->dominators, node);
}

/* Counts a map or, for each of its tables, the used and all slots. Rows are by worker, so no locks
 * are needed. Returns false if memory runs out. */
static bool visit_map(const struct visit *visit, const struct g2h_capacity *capacity)
{
    const struct findings *findings = visit->finder->findings;
    uint32_t object = capacity->object;
    if ((object == UINT32_MAX &&
         !g2h_heap_find(g2h_view_heap(findings->view), capacity->address, &object)) ||
        findings_leaves_out(findings->view, object))
        return true;
    if (!*visit->maps)
        *visit->maps = calloc(visit->finder->declarations, sizeof(**visit->maps));
    if (!*visit->maps)
        return false;
    struct waste_row *row = &(*visit->maps)[capacity->declaration];
    if (capacity->kind == G2H_CAPACITY_MAP) {
        add_map(findings, capacity, row);
        return true;
    }
    row->used += capacity->used;
    row->all += capacity->all;
    row->wasted += (capacity->all - capacity->used) * capacity->size;
    row->bytes += g2h_heap_object(g2h_view_heap(findings->view), capacity->object).size;
    return true;
}

/* Counts what a slice, a string or a map wastes, by its kind. What is in a stale object counts
 * there as a whole; but slices in it still use their arrays. Returns false if memory runs out. */
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
static struct g2h_error *waste_task(void *context, size_t task, unsigned worker)
{
    const struct waste_finder *finder = context;
    const uint32_t first = as_u32(task) * TASK_OBJECTS;
    const uint32_t end = first < UINT32_MAX - TASK_OBJECTS ? first + TASK_OBJECTS : UINT32_MAX;
    struct visit visit = {finder, &finder->slices[task], &finder->parts[task],
                          &finder->maps[worker]};
    if (task == finder->tasks)
        TRY_MEMORY(g2h_capacities_of_variables(finder->capacities, visit_one, &visit));
    else
        TRY_MEMORY(g2h_capacities_of_objects(finder->capacities, first, end, visit_one, &visit));
    return NULL;
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

/*
 * Adds one array or string to the row of a declaration; by_declaration leads from a declaration to
 * its row's index. Returns the row, or NULL if memory runs out.
 *
 * The row of a declaration is made when the first waste is found there.
 */
static struct waste_row *waste_add(struct waste_rows *rows, struct map *by_declaration,
                                   uint32_t declaration, uint64_t wasted, uint64_t bytes)
{
    uint32_t index = as_u32(rows->list.count);
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

/* Adds up the workers' rows of each declaration, those without any map or table left out. */
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

/* Orders rows by wasted bytes, most first; equal ones by declaration. */
static int waste_compare(const void *a, const void *b)
{
    const struct waste_row *one = a;
    const struct waste_row *other = b;
    if (one->wasted != other->wasted)
        return COMPARE(other->wasted, one->wasted);
    return COMPARE(one->declaration, other->declaration);
}

/* Sums up the rows, and sorts them by wasted bytes. */
static void waste_finish(struct waste_rows *rows)
{
    VECTOR_EACH(const struct waste_row, row, rows->list)
        waste_add_row(&rows->sums, row);
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

/* Marks the arrays and strings in the lists that something else than slices and strings may use as
 * a whole: frames and other roots, or pointers of other types. */
static struct g2h_error *find_whole(const struct waste_finder *finder, uint64_t *ret)
{
    const struct findings *findings = finder->findings;
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(findings->view));
    _cleanup_free_ uint64_t *asked = calloc(objects / 64 + 1, sizeof(*asked));
    TRY_MEMORY(asked);
    for (size_t i = 0; i <= finder->tasks; i++) {
        VECTOR_EACH(const struct open_slice, slice, finder->slices[i])
            bits_add(asked, slice->array);
        VECTOR_EACH(const struct waste_part, part, finder->parts[i])
            bits_add(asked, part->text);
    }
    TRY(g2h_view_find_whole(findings->view, asked, findings->threads, ret));
    return pinned_mark_rooted(findings->view, ret);
}

/* Drops the slices in arrays that find_whole() marks, and takes such strings for used: all of them
 * may be in use. Arrays with a window are known, and are not in the lists that count. */
static struct g2h_error *drop_whole(struct waste_finder *finder)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(finder->findings->view));
    _cleanup_free_ uint64_t *whole = calloc(objects / 64 + 1, sizeof(*whole));
    TRY_MEMORY(whole);
    TRY(find_whole(finder, whole));
    for (size_t i = 0; i <= finder->tasks; i++) {
        open_slice_vector *slices = &finder->slices[i];
        size_t kept = 0;
        for (size_t j = 0; j < slices->count; j++)
            if (!bits_have(whole, slices->data[j].array))
                slices->data[kept++] = slices->data[j];
        slices->count = kept;
    }
    for (size_t i = 0; i <= objects / 64; i++)
        finder->used[i] |= whole[i];
    return NULL;
}

/* Sums up substrings, except those of strings that a slice is in or that are reported as
 * duplicates. */
static struct g2h_error *sum_substrings(const struct waste_finder *finder,
                                        const struct equals *texts, struct waste_rows *ret)
{
    const uint32_t objects = g2h_heap_object_count(g2h_view_heap(finder->findings->view));
    for (size_t i = 0; i <= objects / 64; i++)
        finder->used[i] |= texts->objects[i];
    for (uint32_t i = 0; i < objects; i++)
        if (finder->full[i] > 0)
            set_bit(finder->used, i);
    for (size_t i = 0; i <= finder->tasks; i++)
        VECTOR_EACH(const struct open_slice, slice, finder->slices[i])
            set_bit(finder->used, slice->array);
    return sum_parts(finder->findings, finder->parts, finder->tasks + 1, finder->used, ret);
}

/* Finds memory that is wasted. Workers first collect slices, substrings and maps by task, of which
 * the last one is for variables; the sums come after, since one array or string may be seen by
 * several tasks. If nothing has slices, strings or maps, only layouts, spans and equal strings are
 * examined. */
struct g2h_error *waste_find(const struct findings *findings, struct waste *ret)
{
    TRY(g2h_capacities_create(findings->view, &ret->capacities));
    _cleanup_(waste_finder_deinit) struct waste_finder finder = {
        .findings = findings,
        .capacities = ret->capacities,
        .layout = &ret->layout,
        .declarations = g2h_capacities_declaration_count(ret->capacities),
        .tasks = g2h_heap_object_count(g2h_view_heap(findings->view)) / TASK_OBJECTS + 1};
    TRY(layout_init(findings, &ret->layout));
    TRY(fragmentation_find(findings, &ret->fragmentation));
    TRY(equals_find(findings, &ret->texts));
    if (finder.declarations == 0)
        return layout_find(findings, &ret->layout);
    finder.slices = calloc(finder.tasks + 1, sizeof(*finder.slices));
    finder.parts = calloc(finder.tasks + 1, sizeof(*finder.parts));
    finder.maps = calloc(findings->threads, sizeof(*finder.maps));
    finder.full = zeroed_alloc(count_and_end(g2h_heap_object_count(g2h_view_heap(findings->view))),
                               sizeof(*finder.full));
    finder.used = calloc(finder.tasks * TASK_OBJECTS / 64, sizeof(*finder.used));
    const uint32_t windows = g2h_windows_count(findings->windows);
    finder.windows = malloc((windows + 1) * sizeof(*finder.windows));
    TRY_MEMORY(finder.slices && finder.parts && finder.maps && finder.full && finder.used &&
               finder.windows);
    for (uint32_t i = 0; i < windows; i++)
        finder.windows[i] = DECLARATION_OF_LOCAL;
    TRY(workers_run(findings->threads, finder.tasks + 1, waste_task, &finder));
    TRY(drop_whole(&finder));
    TRY(layout_find(findings, &ret->layout)); /* needs the ends of all slices */
    TRY(sum_slices(findings, finder.slices, finder.tasks + 1, finder.full, finder.windows,
                   &ret->slices));
    TRY(sum_stale(findings, finder.windows, &ret->stale));
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
