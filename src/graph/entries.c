/*
 * entries: which map entries have a key with a text, and which string it is.
 *
 * All objects that are buckets or groups are gone through in the order of the edges, so that the
 * walk that writes them takes one name after the other. Keys are read and hashed on all threads;
 * their texts get numbers in that order, by one thread at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "graph/fold.h"
#include "graph/keys.h"
#include "graph/walk.h"

typedef VECTOR(uint32_t) number_vector;

/*
 * DevTools reads all strings as one, which must be shorter than 2^29. What entries lead to has room
 * for some ten million names. Pointers to the keys themselves, whose nodes mostly have the same
 * name, have less: behind it they are called by their slots, [#3] (key).
 */
static const uint64_t elem_room = (uint64_t)192 << 20, key_room = (uint64_t)16 << 20;

enum { OBJECTS_PER_TASK = 1 << 13, ENOUGH = 1 << 20, NUMBERS_AHEAD = 16 };

/* What a thread makes of a pointer of an entry; the text's bytes stand behind. */
struct entry {
    struct text_entry text;
    enum key_form form;
    bool is_key;
    uint32_t integer; /* KEY_INTEGER */
    uint32_t hash, size;
};

/* What a thread goes through: the pointers of one bucket or group, or of an array of them. */
struct reading {
    struct object_walk walk;
    struct key_reader key;
    struct key_memo memo[SLOTS];
    uint32_t key_targets[SLOTS]; /* by slot: what the pointer to its key last hit */
    struct text text;
    uint64_t value;    /* the bucket or group */
    unsigned textless; /* a bit per slot of it whose key has no text: its elem need not ask again */
    uint32_t list[OBJECTS_PER_TASK]; /* the task's objects with entries */
};

struct naming {
    struct g2h_graph *graph;
    struct reading *readings; /* by thread */
    uint64_t elem_room, key_room;
    size_t block;
    number_vector names; /* of the block */
};

/* ---- on all threads ---- */

static bool put_entry(struct worker_buffer *buffer, const struct entry *entry, const char *text)
{
    char *at = worker_buffer_reserve(buffer, sizeof(*entry) + entry->size);
    if (!at)
        return false;
    memcpy(at, entry, sizeof(*entry));
    if (entry->size > 0)
        memcpy(at + sizeof(*entry), text, entry->size);
    buffer->size += sizeof(*entry) + entry->size;
    return true;
}

static bool read_entry(struct reading *reading, uint64_t offset, unsigned slot, uint32_t target,
                       struct worker_buffer *buffer)
{
    const struct namer *namer = &reading->walk.namer;
    struct entry entry = {.text = {namer->object, (uint32_t)(TEXT_KEY | offset / 4)}};
    entry.is_key =
        (namer->entries->place_of_word[(offset - namer->value) >> namer->names->word_shift] &
         PLACE_KEY) != 0;
    if (entry.is_key)
        reading->key_targets[slot] = target;
    reading->key.hint = reading->key_targets[slot];
    if (reading->value != namer->value)
        reading->textless = 0;
    reading->value = namer->value;
    reading->text.size = 0;
    if ((reading->textless >> slot & 1) == 0 && offset / 4 < TEXT_KEY)
        entry.form = key_append(&reading->key, namer->entries, namer->contents.data + namer->value,
                                offset - namer->value, &reading->text, &entry.integer);
    if (entry.form == KEY_NONE)
        reading->textless |= 1u << slot;
    if (entry.form == KEY_TEXT) {
        entry.size = (uint32_t)reading->text.size;
        entry.hash = (uint32_t)map_hash_text(reading->text.data, reading->text.size);
    }
    return !reading->text.failed && put_entry(buffer, &entry, reading->text.data);
}

/*
 * Keys lie behind pointers, and a bucket has a few: what later objects of a task need is brought to
 * the cache in three steps, each of which has what the one before it asked for.
 */
enum { CONTENTS_AHEAD = 12, TARGETS_AHEAD = 8, KEYS_AHEAD = 4, POINTERS_AHEAD = 2 * SLOTS };

static void prefetch_contents(const struct g2h_heap *heap, uint32_t object)
{
    enum { LINE = 64, LINES = 4 };
    const uint8_t *contents = heap->input->data + heap_offset(heap, object);
    for (unsigned i = 0; i < LINES; i++)
        __builtin_prefetch(contents + (size_t)i * LINE);
}

/* keys: the contents of what its pointers hit, else where these are. */
static void prefetch_targets(const struct g2h_graph *graph, uint32_t object, bool keys)
{
    const struct g2h_heap *heap = graph->heap;
    const uint32_t *end, *target = object_targets(graph, object, &end);
    if (end - target > POINTERS_AHEAD)
        end = target + POINTERS_AHEAD;
    for (; target < end; target++)
        if (*target != NO_TARGET)
            __builtin_prefetch(keys ? (const void *)(heap->input->data + heap_offset(heap, *target))
                                    : &heap->objects[*target]);
}

/* The same for the pointers of one object that has many. */
static inline void prefetch_later(const struct object_walk *walk)
{
    const struct g2h_heap *heap = walk->heap;
    const uint32_t *target = walk->target;
    if (walk->end - target > POINTERS_AHEAD && target[POINTERS_AHEAD] != NO_TARGET)
        __builtin_prefetch(&heap->objects[target[POINTERS_AHEAD]]);
    if (walk->end - target > POINTERS_AHEAD / 2 && target[POINTERS_AHEAD / 2] != NO_TARGET)
        __builtin_prefetch(heap->input->data + heap_offset(heap, target[POINTERS_AHEAD / 2]));
}

static struct g2h_error *read_object(struct reading *reading, const struct g2h_graph *graph,
                                     uint32_t object, struct worker_buffer *buffer)
{
    struct object_walk *walk = &reading->walk;
    uint64_t offset;
    uint32_t target;
    unsigned slot;
    object_walk_begin(walk, graph, object);
    reading->value = UINT64_MAX;
    while (object_walk_next(walk, &offset, &target)) {
        prefetch_later(walk);
        if (!namer_finds_entry(&walk->namer, offset, &slot))
            continue;
        if (!read_entry(reading, offset, slot, target, buffer))
            return &error_no_memory;
        struct g2h_error *error = buffer->size > ENOUGH ? worker_buffer_flush(buffer) : NULL;
        if (error)
            return error;
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

/* Gives their number. */
static size_t list_objects(const struct g2h_graph *graph, size_t task, uint32_t *list)
{
    const uint32_t first = (uint32_t)task * OBJECTS_PER_TASK, count = graph->heap->object_count;
    size_t listed = 0;
    for (uint32_t object = first; object < count && object - first < OBJECTS_PER_TASK; object++)
        if (has_entries(graph, object) && !fold_hides(graph->fold, object))
            list[listed++] = object;
    return listed;
}

static struct g2h_error *read_objects(void *context, size_t task, unsigned worker,
                                      struct worker_buffer *buffer)
{
    struct naming *naming = context;
    const struct g2h_graph *graph = naming->graph;
    struct reading *reading = &naming->readings[worker];
    const uint32_t *list = reading->list;
    const size_t count = list_objects(graph, task, reading->list);
    struct g2h_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        if (i + CONTENTS_AHEAD < count)
            prefetch_contents(graph->heap, list[i + CONTENTS_AHEAD]);
        if (i + TARGETS_AHEAD < count)
            prefetch_targets(graph, list[i + TARGETS_AHEAD], false);
        if (i + KEYS_AHEAD < count)
            prefetch_targets(graph, list[i + KEYS_AHEAD], true);
        error = read_object(reading, graph, list[i], buffer);
    }
    return error;
}

/* ---- in order ---- */

static bool number_entry(struct naming *naming, const struct entry *entry, const char *text,
                         uint32_t *ret)
{
    struct texts *texts = &naming->graph->texts;
    uint64_t *room = entry->is_key ? &naming->key_room : &naming->elem_room;
    *ret = NAME_NONE;
    if (entry->form == KEY_NONE || (entry->is_key && *room == 0))
        return true;
    if (entry->form == KEY_INTEGER) {
        *ret = ENTRY_ELEMENT | entry->integer;
        return true;
    }
    texts->text.size = 0;
    text_append(&texts->text, text, entry->size);
    texts->room = *room;
    if (!texts_number(texts, &entry->text, entry->hash, ret))
        return false;
    *room = texts->room;
    return true;
}

/* The names up to here are the block's. */
static bool end_block(struct naming *naming)
{
    uint32_t *names = realloc(naming->names.data, (naming->names.count + 1) * sizeof(*names));
    if (!names)
        return false;
    names[naming->names.count] = ENTRY_NAMES_END;
    naming->graph->entry_names[naming->block] = names;
    naming->names.data = NULL;
    naming->names.count = naming->names.capacity = 0;
    return true;
}

/* Asks for where the table has an entry that comes later; the place of the one behind it. */
static size_t prefetch_number(const struct texts *texts, const struct worker_buffer *buffer,
                              size_t at)
{
    struct entry entry;
    if (at >= buffer->size)
        return at;
    memcpy(&entry, buffer->data + at, sizeof(entry));
    if (entry.form == KEY_TEXT)
        texts_prefetch_number(texts, entry.hash);
    return at + sizeof(entry) + entry.size;
}

static struct g2h_error *number_entries(void *context, const struct worker_buffer *buffer)
{
    struct naming *naming = context;
    const struct texts *texts = &naming->graph->texts;
    size_t later = 0;
    for (unsigned i = 0; i < NUMBERS_AHEAD; i++)
        later = prefetch_number(texts, buffer, later);
    for (size_t at = 0; at < buffer->size;) {
        struct entry entry;
        later = prefetch_number(texts, buffer, later);
        uint32_t name;
        memcpy(&entry, buffer->data + at, sizeof(entry));
        const char *text = buffer->data + at + sizeof(entry);
        const size_t block = entry.text.object >> BLOCK_SHIFT;
        if (block != naming->block && !end_block(naming))
            return &error_no_memory;
        naming->block = block;
        if (!number_entry(naming, &entry, text, &name) || !vector_push(&naming->names, name))
            return &error_no_memory;
        at += sizeof(entry) + entry.size;
    }
    return NULL;
}

struct g2h_error *graph_name_entries(struct g2h_graph *graph)
{
    struct naming naming = {.graph = graph, .elem_room = elem_room, .key_room = key_room};
    const size_t tasks =
        ((size_t)graph->heap->object_count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK;
    struct g2h_error *error = &error_no_memory;
    graph->entry_names = calloc(graph->targets.block_count + 1, sizeof(*graph->entry_names));
    naming.readings = calloc(graph->threads, sizeof(*naming.readings));
    if (graph->entry_names && naming.readings) {
        for (unsigned i = 0; i < graph->threads; i++) {
            struct reading *reading = &naming.readings[i];
            reading->key = (struct key_reader){&graph->names, reading->memo, UINT32_MAX};
        }
        error =
            workers_run_ordered(graph->threads, tasks, read_objects, NULL, number_entries, &naming);
    }
    if (!error && naming.names.count > 0 && !end_block(&naming))
        error = &error_no_memory;
    for (unsigned i = 0; naming.readings && i < graph->threads; i++)
        text_deinit(&naming.readings[i].text);
    free(naming.readings);
    free(naming.names.data);
    return error;
}
