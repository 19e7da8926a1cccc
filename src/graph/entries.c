/*
 * entries: which map entries have a key with a text, and which string it is.
 *
 * All objects that are buckets or groups are gone through in the order of the edges, so that the
 * walk that writes them takes one name after the other.
 */
#include <stdlib.h>

#include "graph/fold.h"
#include "graph/graph.h"
#include "graph/keys.h"
#include "heap/pointers.h"

typedef VECTOR(uint32_t) number_vector;

/*
 * DevTools reads all strings as one, which must be shorter than 2^29. What entries lead to has room
 * for some ten million names. Pointers to the keys themselves, whose nodes mostly have the same
 * name, have less: behind it they are called by their slots, [#3] (key).
 */
static const uint64_t elem_room = (uint64_t)192 << 20, key_room = (uint64_t)16 << 20;

/* What is being gone through: the pointers of one bucket or group, or of an array of them. */
struct walk {
    struct g2h_graph *graph;
    struct key_reader key;
    struct key_memo memo[SLOTS];
    uint32_t key_targets[SLOTS]; /* by slot: what the pointer to its key last hit */
    uint64_t elem_room, key_room;
    struct namer namer;
    uint64_t value;    /* the bucket or group */
    unsigned textless; /* a bit per slot of it whose key has no text: its elem need not ask again */
};

static bool name_entry(struct walk *walk, uint64_t offset, unsigned slot, uint32_t target,
                       uint32_t *ret)
{
    struct texts *texts = &walk->graph->texts;
    const struct namer *namer = &walk->namer;
    const struct text_entry entry = {namer->object, (uint32_t)(TEXT_KEY | offset / 4)};
    const bool is_key =
        (namer->entries->place_of_word[(offset - namer->value) >> namer->names->word_shift] &
         PLACE_KEY) != 0;
    uint64_t *room = is_key ? &walk->key_room : &walk->elem_room;
    uint32_t integer;
    *ret = NAME_NONE;
    if (is_key)
        walk->key_targets[slot] = target;
    walk->key.hint = walk->key_targets[slot];
    if (walk->value != namer->value)
        walk->textless = 0;
    walk->value = namer->value;
    if ((walk->textless >> slot & 1) != 0 || offset / 4 >= TEXT_KEY || (is_key && *room == 0))
        return true;
    texts->text.size = 0;
    switch (key_append(&walk->key, namer->entries, namer->contents.data + namer->value,
                       offset - namer->value, &texts->text, &integer)) {
    case KEY_INTEGER:
        *ret = ENTRY_ELEMENT | integer;
        return true;
    case KEY_TEXT:
        texts->room = *room;
        if (!texts_number(texts, &entry, ret))
            return false;
        *room = texts->room;
        return true;
    default:
        walk->textless |= 1u << slot;
        return true;
    }
}

/* Brings to the cache what keys that come later are read from. */
static inline void prefetch(const struct g2h_heap *heap, const uint32_t *target,
                            const uint32_t *end)
{
    enum { NEAR = 8, FAR = 16 };
    if (end - target > FAR && target[FAR] != NO_TARGET)
        __builtin_prefetch(&heap->objects[target[FAR]]);
    if (end - target > NEAR && target[NEAR] != NO_TARGET)
        __builtin_prefetch(heap->input->data + heap_offset(heap, target[NEAR]));
}

static struct g2h_error *name_object(struct walk *walk, uint32_t number, number_vector *names)
{
    struct g2h_graph *graph = walk->graph;
    const struct g2h_heap *heap = graph->heap;
    const struct shape *shape = heap_shape(heap, number);
    const uint32_t *end, *target = object_targets(graph, number, &end);
    struct g2h_object object;
    struct pointers pointers;
    uint64_t offset, value;
    unsigned slot;
    heap_object(heap, number, &object);
    pointers_of_object(heap, &object, shape, &pointers);
    namer_init(&walk->namer, &graph->names, number, shape, &object.contents);
    walk->value = UINT64_MAX;
    while (target < end && pointers_next(&pointers, &offset, &value)) {
        uint32_t name;
        if (!in_heap_range(heap, value))
            continue;
        prefetch(heap, target, end);
        const uint32_t hit = *target++;
        if (hit == NO_TARGET || !namer_finds_entry(&walk->namer, offset, &slot))
            continue;
        if (!name_entry(walk, offset, slot, hit, &name) || !vector_push(names, name))
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
    struct walk walk = {.graph = graph, .elem_room = elem_room, .key_room = key_room};
    walk.key = (struct key_reader){&graph->names, graph->redact, walk.memo, UINT32_MAX};
    graph->entry_names = calloc(graph->targets.block_count + 1, sizeof(*graph->entry_names));
    if (!graph->entry_names)
        return &error_no_memory;
    for (size_t i = 0; i < graph->targets.block_count; i++) {
        const struct target_block *block = &graph->targets.blocks[i];
        number_vector names = {0};
        struct g2h_error *error = NULL;
        for (uint32_t j = 0; j < block->objects && !error; j++) {
            const uint32_t object = (uint32_t)(i << BLOCK_SHIFT) + j;
            if (block->starts[j] < block->starts[j + 1] && !fold_hides(graph->fold, object) &&
                has_entries(graph, object))
                error = name_object(&walk, object, &names);
        }
        graph->entry_names[i] = realloc(names.data, (names.count + 1) * sizeof(*names.data));
        if (!graph->entry_names[i]) {
            free(names.data);
            return &error_no_memory;
        }
        if (error)
            return error;
    }
    return NULL;
}
