/* entry_keys; see entry_keys.h. */
#include "view/entry_keys.h"

bool entry_keys_init(struct entry_keys *keys)
{
    keys->source = UINT32_MAX;
    for (unsigned i = 0; i < SLOTS; i++)
        if (!text_grow(&keys->texts[i], KEY_BYTES))
            return false;
    return true;
}

void entry_keys_deinit(struct entry_keys *keys)
{
    for (unsigned i = 0; i < SLOTS; i++)
        text_deinit(&keys->texts[i]);
}

/* Returns the object that an edge of a key leads to, which may hold the key's string; or UINT32_MAX
 * if that object would have to be searched for. */
static inline uint32_t hint_of(const struct g2h_view *view, const struct g2h_edge *edge)
{
    return (edge->flags & G2H_EDGE_OF_KEY) != 0 && !view->is_folded
               ? edge->target - graph_synthetics(view->graph)
               : UINT32_MAX;
}

/* Prepares the object that contains the entries. */
static void begin_source(struct entry_keys *keys, const struct g2h_view *view, uint32_t source)
{
    const struct g2h_graph *graph = view->graph;
    const uint32_t object = view_object_of(view, source);
    const struct g2h_bytes contents = heap_contents(graph->heap, object);
    keys->source = source;
    keys->value = UINT64_MAX;
    namer_init(&keys->namer, &graph->names, object, heap_slot_class(graph->heap, object),
               &contents);
}

/* Finds the bucket or group that an edge begins in. Returns false if there is none. */
static inline bool find_entry(struct entry_keys *keys, const struct g2h_view *view,
                              const struct g2h_edge *edge)
{
    if (keys->source != edge->source)
        begin_source(keys, view, edge->source);
    if (keys->value != UINT64_MAX && edge->offset - keys->value < keys->namer.size)
        return true;
    keys->known = 0;
    keys->value = keys->namer.entries ? namer_value(&keys->namer, edge->offset) : UINT64_MAX;
    return keys->value != UINT64_MAX;
}

/* Reads the key of a slot. */
static void read_key(struct entry_keys *keys, unsigned slot, uint32_t hint)
{
    const struct namer *namer = &keys->namer;
    const struct key_reader reader = {namer->names, hint};
    keys->texts[slot].size = 0;
    key_read(&reader, namer->entries, namer->contents.data + keys->value, slot, &keys->texts[slot],
             &keys->keys[slot]);
    keys->known |= 1u << slot;
}

enum g2h_key entry_keys_name(struct entry_keys *keys, const struct g2h_view *view,
                             const struct g2h_edge *edge, struct g2h_key_name *ret)
{
    if ((edge->flags & (G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0 || edge->offset > UINT32_MAX ||
        !find_entry(keys, view, edge))
        return G2H_KEY_NONE;
    const struct map_entries *entries = keys->namer.entries;
    const uint64_t word = (edge->offset - keys->value) >> keys->namer.names->word_shift;
    const unsigned slot = entries->slot_of_word[word] & (SLOTS - 1);
    const uint32_t path = entries->path_of_word[word];
    if ((keys->known >> slot & 1) == 0)
        read_key(keys, slot, hint_of(view, edge));
    const struct slot_key *key = &keys->keys[slot];
    if (key->form == KEY_NONE)
        return G2H_KEY_NONE;
    if (key->form == KEY_INTEGER && path == PATH_EMPTY) {
        ret->index = key->integer;
        return G2H_KEY_INDEX;
    }
    struct text *text = &keys->texts[slot];
    const size_t size = text->size;
    if (path != PATH_EMPTY)
        key_append_path(keys->namer.names, path, text);
    ret->text = text->data;
    ret->size = text->size;
    ret->again = key_origin(key, path, keys->namer.object, edge->offset);
    text->size = size;
    return G2H_KEY_TEXT;
}

/* The keys are behind pointers: this prefetches first the targets' entries of heap->objects, then
 * the targets' contents. */
void entry_keys_prefetch(const struct g2h_view *view, const struct g2h_edge *given, size_t count)
{
    const struct g2h_heap *heap = view->graph->heap;
    for (size_t i = 0; i < count; i++) {
        const uint32_t object = hint_of(view, &given[i]);
        if (object != UINT32_MAX)
            __builtin_prefetch(&heap->objects[object]);
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t object = hint_of(view, &given[i]);
        if (object != UINT32_MAX)
            __builtin_prefetch(heap->input->data + heap_offset(heap, object));
    }
}

void g2h_view_key(const struct g2h_view *view, uint64_t again, struct g2h_text *text)
{
    struct text made = view_borrow(text);
    key_append_again(&view->graph->names, again, &made);
    view_give_back(text, &made);
}

void g2h_view_prefetch_key(const struct g2h_view *view, uint64_t again, enum g2h_soon soon)
{
    key_prefetch(&view->graph->names, again, soon != G2H_SOON_NODE);
}
