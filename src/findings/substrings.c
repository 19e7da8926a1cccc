/*
 * substrings: strings that substrings keep alive for a small part of them; see waste.h.
 *
 * A substring keeps the whole string alive; strings.Clone() would make a copy. The bytes of
 * substrings are in use; bytes shared by several count for each, but no more than from the first
 * byte in use to the last. A string is reported if less than half is in use, which no size class
 * explains. It is not reported if a slice is in it, or if roots other than packages' variables
 * point to it, because their use is not known; nor if another string is equal, which
 * equal_strings.c reports.
 */
#include <stdlib.h>

#include "base/scope.h"
#include "findings/waste_parts.h"

enum { EDGES = 64 /* edges that are read at a time */ };

static inline bool bit_of(const uint64_t *bits, uint32_t object)
{
    return (__atomic_load_n(&bits[object / 64], __ATOMIC_RELAXED) >> object % 64 & 1) != 0;
}

/* Merges two parts of one string. */
static void substrings_merge(struct waste_part *part, const struct waste_part *other)
{
    part->begin = other->begin < part->begin ? other->begin : part->begin;
    part->end = other->end > part->end ? other->end : part->end;
    part->bytes += other->bytes;
    if (other->longest > part->longest) {
        part->longest = other->longest;
        part->declaration = other->declaration;
    }
}

/* Adds a part, or merges it with the last one if both are of one string: substrings of one string
 * are mostly adjacent. */
static bool substrings_add_part(part_vector *parts, const struct waste_part *part)
{
    struct waste_part *last = parts->count > 0 ? &parts->data[parts->count - 1] : NULL;
    if (!last || last->text != part->text)
        return vector_push(parts, *part);
    substrings_merge(last, part);
    return true;
}

/* Adds a substring that uses less than half of a long string. One that uses more marks the string
 * as used, so that it is never reported. Returns false if memory runs out. */
bool substrings_add(const struct findings *findings, const struct g2h_capacity *capacity,
                    part_vector *parts, uint64_t *used)
{
    const struct g2h_heap *heap = g2h_view_heap(findings->view);
    const uint64_t slot = g2h_heap_slot_size(heap, capacity->address);
    uint32_t text;
    if ((slot > 0 && slot < WASTE_LEAST_TEXT) || /* most strings */
        !g2h_heap_find(heap, capacity->address, &text))
        return true;
    const uint64_t all = slot > 0 ? slot : g2h_heap_object(heap, text).size,
                   begin = capacity->address - g2h_heap_address(heap, text),
                   size = capacity->used < all - begin ? capacity->used : all - begin;
    if (all >= WASTE_LEAST_TEXT && size >= all / 2)
        waste_set_bit(used, text);
    return all < WASTE_LEAST_TEXT || size >= all / 2 || bit_of(used, text) ||
           substrings_add_part(parts, &(struct waste_part){text, capacity->declaration, begin,
                                                           begin + size, size, size});
}

/* ---- roots ---- */

/* Marks the strings that frames and other roots point to as used, because their use is not
 * known. */
static struct g2h_error *see_roots(const struct g2h_view *view, uint64_t *used)
{
    const uint32_t synthetics = (uint32_t)g2h_view_account(view)->first_object;
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
            if (source.kind != G2H_NODE_PACKAGE && source.kind != G2H_NODE_SEVERAL &&
                target.object != UINT32_MAX)
                waste_set_bit(used, target.object);
        }
    g2h_edges_destroy(edges);
    return NULL;
}

/* ---- sums ---- */

/* Merges all parts of each string into one. */
static struct g2h_error *merge_by_string(const part_vector *lists, size_t count,
                                         const uint64_t *used, part_vector *ret)
{
    _cleanup_(map_deinit) struct map by_text = {0};
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < lists[i].count; j++) {
            const struct waste_part *part = &lists[i].data[j];
            uint32_t index = (uint32_t)ret->count;
            if (bit_of(used, part->text))
                continue;
            TRY_MEMORY(map_put(&by_text, part->text, index, &index));
            if (index == ret->count)
                TRY_MEMORY(vector_push(ret, *part));
            else
                substrings_merge(&ret->data[index], part);
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
static struct g2h_error *substrings_sum_up(const struct g2h_view *view, const part_vector *parts,
                                           struct waste_rows *ret)
{
    _cleanup_(map_deinit) struct map by_declaration = {0};
    for (size_t i = 0; i < parts->count; i++) {
        const struct waste_part *part = &parts->data[i];
        const uint64_t size = g2h_heap_object(g2h_view_heap(view), part->text).size,
                       extent = part->end - part->begin,
                       used = part->bytes < extent ? part->bytes : extent;
        if (used < size / 2 && is_text(view, part->text))
            TRY_MEMORY(waste_add(ret, &by_declaration, part->declaration, size - used, size));
    }
    return NULL;
}

struct g2h_error *substrings_sum(const struct findings *findings, const part_vector *lists,
                                 size_t count, uint64_t *used, struct waste_rows *ret)
{
    part_vector parts = {0};
    struct g2h_error *error = see_roots(findings->view, used);
    if (!error)
        error = merge_by_string(lists, count, used, &parts);
    if (!error)
        error = substrings_sum_up(findings->view, &parts, ret);
    free(parts.data);
    return error;
}
