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

/* What is being gone through: the pointers of one bucket or group, or of an array of them. */
struct walk {
    struct g2h_graph *graph;
    struct key_reader key;
    struct namer namer;
    uint64_t value;    /* the bucket or group */
    unsigned textless; /* a bit per slot of it whose key has no text: its elem need not ask again */
};

static bool name_entry(struct walk *walk, uint64_t offset, unsigned slot, uint32_t *ret)
{
    struct texts *texts = &walk->graph->texts;
    const struct namer *namer = &walk->namer;
    const struct text_entry entry = {namer->object, (uint32_t)(TEXT_KEY | offset / 4)};
    uint32_t integer;
    *ret = NAME_NONE;
    if (walk->value != namer->value)
        walk->textless = 0;
    walk->value = namer->value;
    if ((walk->textless >> slot & 1) != 0 || offset / 4 >= TEXT_KEY)
        return true;
    texts->text.size = 0;
    switch (key_append(&walk->key, namer->entries, namer->contents.data + namer->value,
                       offset - namer->value, &texts->text, &integer)) {
    case KEY_INTEGER:
        *ret = ENTRY_ELEMENT | integer;
        return true;
    case KEY_TEXT:
        return texts_number(texts, &entry, ret);
    default:
        walk->textless |= 1u << slot;
        return true;
    }
}

static struct g2h_error *name_object(struct g2h_graph *graph, uint32_t number, number_vector *names)
{
    const struct g2h_heap *heap = graph->heap;
    const struct shape *shape = &heap->shapes.list.data[heap->shape_of[number]];
    const uint32_t *end, *target = object_targets(graph, number, &end);
    struct g2h_reader copy = *heap->reader;
    struct g2h_object object;
    struct pointers pointers;
    uint64_t offset, value;
    unsigned slot;
    struct walk walk = {.graph = graph,
                        .key = {&graph->names, &graph->texts.reader, graph->redact}};
    reader_seek(&copy, heap->offsets[number]);
    reader_object_again(&copy, &object);
    pointers_of_object(heap, &object, shape, &pointers);
    namer_init(&walk.namer, &graph->names, number, shape, &object.contents);
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        uint32_t name;
        if (!in_heap_range(heap, value) || *target++ == NO_TARGET ||
            !namer_finds_entry(&walk.namer, offset, &slot))
            continue;
        if (!name_entry(&walk, offset, slot, &name) || !vector_push(names, name))
            return &error_no_memory;
    }
    return NULL;
}

/* Whether the object is a map's and its keys may have texts. */
static bool has_entries(const struct g2h_graph *graph, uint32_t object)
{
    const uint32_t claim = graph->typing->claims[object];
    const struct map_entries *entries =
        claim == 0 ? NULL : graph->names.of_type[(claim & CLAIM_TYPE) - 1].entries;
    return entries && entries->kind != KEYS_PLAIN;
}

struct g2h_error *graph_name_entries(struct g2h_graph *graph)
{
    for (size_t i = 0; i < graph->block_count; i++) {
        struct block *block = &graph->blocks[i];
        number_vector names = {0};
        struct g2h_error *error = NULL;
        for (uint32_t j = 0; j < block->objects && !error; j++) {
            const uint32_t object = (uint32_t)(i << BLOCK_SHIFT) + j;
            if (block->starts[j] < block->starts[j + 1] && has_entries(graph, object))
                error = name_object(graph, object, &names);
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
