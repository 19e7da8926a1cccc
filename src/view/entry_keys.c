/*
 * entry_keys: the names of the edges of maps' entries, ["alice"], made when an edge is read; see
 * entry_keys.h. For an edge it finds the bucket or group that the edge begins in and the slot in
 * there, formats the slot's key, and appends the path that follows in the entry. The last bucket is
 * kept with its keys, since its edges follow each other.
 */
#include "view/entry_keys.h"

#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/error.h"

/* Allocates the buffers. Returns false if memory runs out. */
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
    map_entries_destroy(keys->own);
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

/* Finds the bucket or group that an edge begins in. Returns false if it is in none. */
static inline bool entry_keys_find(struct entry_keys *keys, const struct g2h_view *view,
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
static void entry_keys_read(struct entry_keys *keys, unsigned slot, uint32_t hint)
{
    const struct namer *namer = &keys->namer;
    const struct key_reader reader = {namer->names, hint};
    keys->texts[slot].size = 0;
    key_read(&reader, namer->entries, namer->contents.data + keys->value, slot, &keys->texts[slot],
             &keys->keys[slot]);
    keys->known |= 1u << slot;
}

/* Names an edge by the key of its map entry. Keys are formatted once per slot. A path into a struct
 * value (".Name") is appended behind the key, returned, and cut off again. */
enum g2h_key entry_keys_name(struct entry_keys *keys, const struct g2h_view *view,
                             const struct g2h_edge *edge, struct g2h_key_name *ret)
{
    if ((edge->flags & (G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0 || edge->offset > UINT32_MAX ||
        !entry_keys_find(keys, view, edge))
        return G2H_KEY_NONE;
    const struct map_entries *entries = keys->namer.entries;
    const uint64_t word = (edge->offset - keys->value) >> keys->namer.names->word_shift;
    const unsigned slot = entries->slot_of_word[word] & (SLOTS - 1);
    const uint32_t path = entries->path_of_word[word];
    if ((keys->known >> slot & 1) == 0)
        entry_keys_read(keys, slot, hint_of(view, edge));
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

/* Returns what follows the elem itself in the path of a value: ".Count" of
 * "[2].slots[3].elem.Count" or "[2].elems[3].Count". */
static struct g2h_bytes behind_elem(const struct map_entries *entries,
                                    const struct g2h_value *value)
{
    const char *path = value->path;
    const char *end = path + value->path_size;
    const char *name = entries->is_swiss ? "].elem" : "elems[";
    const char *at = memmem(path, value->path_size, name, strlen(name));
    if (at && entries->is_swiss)
        at += strlen(name);
    else if (at && (at = memchr(at, ']', as_size(end - at))) != NULL)
        at++;
    if (!at)
        at = end;
    return bytes_between(at, end);
}

/* Gets the entries of the source. Names do not have those of types without pointers. */
static struct g2h_error *entry_keys_find_entries(struct entry_keys *keys)
{
    struct namer *namer = &keys->namer;
    const struct typing *typing = namer->names->typing;
    if (namer->entries || typing->claims[namer->object] == 0)
        return NULL;
    if (!keys->own || keys->own_type != namer->type) {
        map_entries_destroy(keys->own);
        keys->own = NULL;
        keys->own_type = namer->type;
        TRY_MEMORY(map_entries_create(typing->types, namer->type, &keys->own));
    }
    namer->entries = keys->own;
    return NULL;
}

/* Returns whether a group is the rest of a slot that is larger than its groups: no real one has
 * eight entries in use whose hashes are all 0. */
static bool is_rest(const struct map_entries *entries, const uint8_t *value)
{
    static const uint8_t zeros[SLOTS];
    return entries->is_swiss && memcmp(value, zeros, sizeof(zeros)) == 0;
}

/* Gets the slot of the entry in whose elem a value is. Returns false if it is in none in use. */
static bool entry_keys_slot_of(const struct entry_keys *keys, uint64_t offset, unsigned *ret)
{
    const struct namer *namer = &keys->namer;
    const struct map_entries *entries = namer->entries;
    const uint8_t *at = namer->contents.data + keys->value;
    const uint64_t inner = offset - keys->value;
    if (inner < entries->elems || entries->elem_stride == 0)
        return false;
    const uint64_t slot = (inner - entries->elems) / entries->elem_stride,
                   size = types_size(namer->names->typing->types, entries->elem);
    *ret = (unsigned)slot;
    return slot < SLOTS && (inner - entries->elems) % entries->elem_stride < size &&
           (map_entries_used(namer->names, entries, at) >> slot & 1) != 0 && !is_rest(entries, at);
}

/* Completes the text of a slot's key, which has the key already if it can be shown, else appends
 * "[#9]", by the slot's position; then appends the path. */
static void entry_keys_append(struct entry_keys *keys, unsigned slot, const struct g2h_bytes *path)
{
    struct text *text = &keys->texts[slot];
    const struct namer *namer = &keys->namer;
    const uint64_t group = (keys->value - namer->base) / namer->size;
    if (keys->keys[slot].form == KEY_NONE)
        text_printf(text, "[#%llu]", (unsigned long long)(group * SLOTS + slot));
    text_append(text, path->data, path->size);
}

/* Reads the key of a slot, unless that has been done. It has no form if it cannot be shown. */
static void entry_keys_know(struct entry_keys *keys, unsigned slot)
{
    if ((keys->known >> slot & 1) != 0)
        return;
    keys->texts[slot].size = 0;
    keys->keys[slot].form = KEY_NONE;
    if (keys->namer.entries->kind != KEYS_WITHOUT_TEXT)
        entry_keys_read(keys, slot, UINT32_MAX /* no hint */);
}

/* Names the key of the entry that a value is in. In three steps: finds the slot of the entry that
 * the value is in, reads the slot's key, and names it. A key that cannot be shown becomes "[#3]",
 * by the slot's position. */
struct g2h_error *entry_keys_of_value(struct entry_keys *keys, const struct g2h_view *view,
                                      uint32_t node, const struct g2h_value *value,
                                      enum g2h_key *ret_form, struct g2h_key_name *ret)
{
    const struct g2h_edge edge = {.source = node, .offset = value->offset};
    unsigned slot;
    *ret_form = G2H_KEY_NONE;
    if (keys->source != node) {
        begin_source(keys, view, node);
        TRY(entry_keys_find_entries(keys));
    }
    if (value->offset > UINT32_MAX || !entry_keys_find(keys, view, &edge) ||
        !entry_keys_slot_of(keys, value->offset, &slot))
        return NULL;
    const struct g2h_bytes path = behind_elem(keys->namer.entries, value);
    if (path.size > 0 && path.data[path.size - 1] == ']')
        return NULL;

    entry_keys_know(keys, slot);
    if (keys->keys[slot].form == KEY_INTEGER && path.size == 0) {
        *ret_form = G2H_KEY_INDEX;
        ret->index = keys->keys[slot].integer;
        return NULL;
    }

    struct text *text = &keys->texts[slot];
    const size_t size = text->size;
    entry_keys_append(keys, slot, &path);
    TRY_MEMORY(!text->failed);
    *ret_form = G2H_KEY_TEXT;
    ret->text = text->data;
    ret->size = text->size;
    text->size = size;
    return NULL;
}

/* Prefetches what naming edges by keys will need. Keys may be pointers: this first prefetches the
 * targets' entries of heap->objects, then the targets' contents. */
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

/* Appends a key again by the number that the view gave for it. */
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
