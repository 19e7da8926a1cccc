/*
 * equal_strings: duplicate strings; see waste.h. A long string is read to its end only if another
 * one has the same length and the same beginning.
 */
#include <stdlib.h>

#include "base/scope.h"
#include "findings/waste_parts.h"

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
    const struct equal *one = a, *other = b;
    if (equal_waste(one) != equal_waste(other))
        return equal_waste(one) > equal_waste(other) ? -1 : 1;
    return one->node < other->node ? -1 : one->node > other->node;
}

/* Returns whether the dump lacks a part of a string: it may differ there from others. */
static bool is_shortened(const struct g2h_view *view, const struct g2h_node *node)
{
    const struct g2h_object object = g2h_heap_object(g2h_view_heap(view), node->object);
    return object.contents.size < object.size;
}

/* Hashes the beginning of each string, and for long ones its length. Left out are long objects that
 * are less than half string, which substrings.c reports, strings that share an object, and garbage.
 * A shortened string gets a unique hash, since its missing bytes may differ. Prefetches, because
 * strings are scattered over memory. */
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
        if ((node.size >= WASTE_LEAST_TEXT && g2h_view_text_size(view, i) < node.size / 2) ||
            g2h_view_text_is_shared(view, i) || g2h_view_is_garbage(view, node.object))
            continue;
        const char *data = g2h_view_text(view, i, &text, &size);
        uint64_t hash = map_hash_text(data, size);
        if (node.size > LONG)
            hash = map_hash_pair(hash, is_shortened(view, &node) ? ((uint64_t)1 << 63) + i
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
    for (size_t i = 0; i < equals->nodes.count && findings->stale.of; i++) {
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
    if (findings->stale.of)
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
    for (size_t i = 0; times && i < texts->hashes.count; i++) {
        uint8_t *bucket = &times[texts->hashes.data[i] & (buckets - 1)];
        *bucket = *bucket == 0 ? 1 : 2;
    }
    *ret_mask = buckets - 1;
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
    uint32_t number = (uint32_t)equals->list.count;
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
    equals->list.data[number].count++;
    equals->list.data[number].bytes += node.size;
    if (equals->list.data[number].count > 1) {
        waste_set_bit(equals->objects, node.object);
        g2h_view_brief(view, equals->list.data[number].node, &node);
        waste_set_bit(equals->objects, node.object);
    }
    return NULL;
}

/* Keeps the strings that waste most. */
static void equals_cut(struct equals *equals)
{
    vector_sort(&equals->list, equals_compare);
    if (equals->list.count <= MOST_TEXTS)
        return;
    struct equal *less = realloc(equals->list.data, MOST_TEXTS * sizeof(*less));
    equals->list.data = less ? less : equals->list.data;
    equals->list.count = MOST_TEXTS;
}

/* Two passes: a table of hashes sorts out most strings, which are unique, cheaply; only the rest
 * are hashed as a whole and grouped. */
struct g2h_error *equals_find(const struct findings *findings, struct equals *equals)
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
    for (size_t i = 0; i < equals->list.count; i++)
        equals->wasted += equal_waste(&equals->list.data[i]);
    equals_cut(equals);
    return NULL;
}

void equals_deinit(struct equals *equals)
{
    free(equals->hashes.data);
    free(equals->nodes.data);
    free(equals->list.data);
    free(equals->objects);
}
