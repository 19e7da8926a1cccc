/*
 * entries: which map entries have a key with a text, and which string it is.
 *
 * All objects that are buckets or groups are gone through in the order of the edges, so that the
 * walk that writes them takes one name after the other.
 */
#include <stdlib.h>

#include "graph/graph.h"
#include "graph/keys.h"
#include "heap/pointers.h"

typedef VECTOR(uint32_t) number_vector;

/* The name of the pointer at offset of the bucket or group at value. */
static bool name_entry(struct texts *texts, const struct key_reader *key,
                       const struct map_entries *entries, const struct text_entry *entry,
                       const uint8_t *value, uint64_t offset, uint32_t *ret)
{
    uint32_t integer;
    texts->text.size = 0;
    switch (key_append(key, entries, value, offset, &texts->text, &integer)) {
    case KEY_INTEGER:
        *ret = ENTRY_ELEMENT | integer;
        return true;
    case KEY_TEXT:
        return texts_number(texts, entry, ret);
    default:
        *ret = NAME_NONE;
        return true;
    }
}

static struct g2h_error *name_object(struct g2h_graph *graph, uint32_t number,
                                     const struct map_entries *entries, number_vector *names)
{
    const struct g2h_heap *heap = graph->heap;
    const struct key_reader key = {&graph->names, &graph->texts.reader, graph->redact};
    const struct shape *shape = &heap->shapes.list.data[heap->shape_of[number]];
    const uint32_t *end, *target = object_targets(graph, number, &end);
    struct g2h_reader copy = *heap->reader;
    struct g2h_object object;
    struct pointers pointers;
    struct typed_place place;
    uint64_t offset, value;
    reader_seek(&copy, heap->offsets[number]);
    reader_object_again(&copy, &object);
    pointers_of_object(heap, &object, shape, &pointers);
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        uint32_t name = NAME_NONE;
        if (!in_heap_range(heap, value) || *target++ == NO_TARGET ||
            !names_entry_at(&graph->names, number, &object.contents, offset, &place))
            continue;
        const struct text_entry entry = {number, (uint32_t)(TEXT_KEY | offset / 4)};
        if (offset / 4 < TEXT_KEY &&
            !name_entry(&graph->texts, &key, entries, &entry,
                        object.contents.data + (offset - place.offset), place.offset, &name))
            return &error_no_memory;
        if (!vector_push(names, name))
            return &error_no_memory;
    }
    return NULL;
}

/* Whether the keys of the object, which is a map's, may have texts; NULL where not. */
static const struct map_entries *entries_of(const struct g2h_graph *graph, uint32_t object)
{
    const uint32_t claim = graph->typing->claims[object];
    const struct map_entries *entries =
        claim == 0 ? NULL : graph->names.of_type[(claim & CLAIM_TYPE) - 1].entries;
    return entries && entries->kind != KEYS_PLAIN ? entries : NULL;
}

struct g2h_error *graph_name_entries(struct g2h_graph *graph)
{
    for (size_t i = 0; i < graph->block_count; i++) {
        struct block *block = &graph->blocks[i];
        number_vector names = {0};
        struct g2h_error *error = NULL;
        for (uint32_t j = 0; j < block->objects && !error; j++) {
            const uint32_t object = (uint32_t)(i << BLOCK_SHIFT) + j;
            const struct map_entries *entries =
                block->starts[j] < block->starts[j + 1] ? entries_of(graph, object) : NULL;
            if (entries)
                error = name_object(graph, object, entries, &names);
        }
        block->entry_names = realloc(names.data, (names.count + 1) * sizeof(*names.data));
        if (!block->entry_names) {
            free(names.data);
            return &error_no_memory;
        }
        if (error)
            return error;
    }
    return NULL;
}
