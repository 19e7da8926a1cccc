/*
 * strings; see strings.h.
 *
 * Texts are read and hashed on all threads, and numbered in the order of nodes and edges by one at
 * a time, keys first.
 */
#include "output/heapsnapshot/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/workers.h"
#include "output/heapsnapshot/v8_names.h"

static const char dummy[] = "<dummy>";

enum { TEXT_OF_EDGE = 1u << 30 };

/*
 * DevTools reads all strings as one, which must be shorter than 2^29. What entries lead to has room
 * for some ten million names. Pointers to the keys themselves, whose nodes mostly have the same
 * name, have less: behind it they are called by their slots, [#3] (key).
 */
static const uint64_t elem_room = (uint64_t)192 << 20, key_room = (uint64_t)16 << 20;

typedef VECTOR(uint32_t) number_vector;

/* While texts are numbered. */
struct numbering {
    struct strings *strings;
    struct reader *readers;  /* by thread */
    VECTOR(uint32_t) hashes; /* by string; not of nodes' texts */
    uint32_t *slots;         /* a hash table: a string's number, above it bits of its hash, so that
                                few others need be looked at; UINT32_MAX where free */
    size_t slot_count;
    unsigned number_bits;
    struct recent_text *recent; /* by hash: maps tend to have the same few keys */
    uint64_t elem_room, key_room;
    struct g2h_text text, other;
    size_t block;          /* that is being numbered */
    number_vector numbers; /* of the block */
};

/* ---- texts of strings ---- */

static const char *read_text(const struct strings *strings, const struct text_place *place,
                             struct g2h_text *text, size_t *ret_size)
{
    if ((place->edge & TEXT_OF_EDGE) == 0)
        return g2h_view_text(strings->view, place->node, text, ret_size);
    text->size = 0;
    g2h_view_key(strings->view, place->node, (uint64_t)(place->edge & ~(uint32_t)TEXT_OF_EDGE) * 4,
                 text);
    *ret_size = text->size;
    return text->data ? text->data : "";
}

const char *strings_text(const struct strings *strings, uint32_t number, struct g2h_text *text,
                         size_t *ret_size)
{
    if (number >= strings->first_text)
        return read_text(strings, &strings->texts.data[number - strings->first_text], text,
                         ret_size);
    const uint32_t renamed = map_get(&strings->renamed_by, number);
    *ret_size = sizeof(dummy) - 1;
    return renamed != MAP_NONE ? string_pool_text(&strings->renamed, renamed, ret_size)
           : number > 0        ? g2h_view_name(strings->view, number - 1, ret_size)
                               : dummy;
}

void strings_prefetch(const struct strings *strings, uint64_t number)
{
    if (number >= strings->first_text && number < strings_count(strings))
        g2h_view_prefetch(strings->view, strings->texts.data[number - strings->first_text].node,
                          G2H_SOON_NODE);
}

/* ---- names ---- */

bool strings_add(struct strings *strings, const char *text, size_t size, uint32_t *ret)
{
    uint32_t index;
    if (g2h_view_find_name(strings->view, text, size, ret)) {
        *ret += 1;
        return true;
    }
    const uint32_t known = strings->renamed.count, number = strings->first_text;
    if (!string_pool_intern(&strings->renamed, text, size, &index))
        return false;
    if (index == known) {
        if (!vector_push(&strings->renamed_numbers, number) ||
            !map_put(&strings->renamed_by, number, index, ret))
            return false;
        strings->first_text++;
    }
    *ret = strings->renamed_numbers.data[index];
    return true;
}

/* A node's name that is another one in the snapshot. It takes the place of the name, if no edge is
 * called so. */
static bool rename_node(struct strings *strings, uint32_t name, const struct text *text)
{
    uint32_t *number = &strings->of_node[name], index, value;
    if ((g2h_view_name_uses(strings->view, name) & G2H_NAME_OF_EDGE) != 0 ||
        g2h_view_find_name(strings->view, text->data, text->size, &value) ||
        string_pool_find(&strings->renamed, text->data, text->size, &value))
        return strings_add(strings, text->data, text->size, number);
    return string_pool_intern(&strings->renamed, text->data, text->size, &index) &&
           vector_push(&strings->renamed_numbers, *number) &&
           map_put(&strings->renamed_by, *number, index, &value);
}

static bool number_names(struct strings *strings)
{
    const uint32_t names = g2h_view_name_count(strings->view);
    struct text text = {0};
    bool good = true;
    strings->first_text = names + 1;
    strings->of_node = malloc(((size_t)names + 1) * sizeof(*strings->of_node));
    if (!strings->of_node)
        return false;
    for (uint32_t i = 0; i < names && good; i++) {
        size_t size;
        const char *name = g2h_view_name(strings->view, i, &size);
        strings->of_node[i] = i + 1;
        text.size = 0;
        if ((g2h_view_name_uses(strings->view, i) & G2H_NAME_OF_NODE) != 0 &&
            v8_name_differs(name, size, &text))
            good = !text.failed && rename_node(strings, i, &text);
    }
    text_deinit(&text);
    return good;
}

/* ---- the table ---- */

/* Where a text of this hash is looked for first; then in the slots behind. */
static inline size_t first_slot(const struct numbering *numbering, uint32_t hash)
{
    return (size_t)((uint64_t)hash * numbering->slot_count >> 32);
}

/* A slot's content but for the number. */
static inline uint32_t tag_of(const struct numbering *numbering, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash << numbering->number_bits);
}

static inline uint32_t number_in(const struct numbering *numbering, uint32_t slot)
{
    return slot & (uint32_t)(((uint64_t)1 << numbering->number_bits) - 1);
}

static inline size_t next_slot(const struct numbering *numbering, size_t slot)
{
    return slot + 1 < numbering->slot_count ? slot + 1 : 0;
}

/* At most six of seven slots are used. */
static bool is_full(const struct numbering *numbering, size_t more)
{
    return strings_count(numbering->strings) + more >= numbering->slot_count / 7 * 6;
}

/* Makes room for so many texts more. All so far have their hashes. */
static bool grow(struct numbering *numbering, size_t more)
{
    const size_t old_count = numbering->slot_count,
                 count = ((size_t)strings_count(numbering->strings) + more) / 6 * 7 + 1024;
    uint32_t *slots = large_alloc(count, sizeof(*slots));
    if (!slots)
        return false;
    memset(slots, 0xff, count * sizeof(*slots));
    large_free(numbering->slots, old_count, sizeof(*slots));
    numbering->slots = slots;
    numbering->slot_count = count;
    for (numbering->number_bits = 0;
         numbering->number_bits < 32 && count >> numbering->number_bits != 0;)
        numbering->number_bits++; /* no number has all its bits set */
    for (uint32_t i = 0; i < numbering->hashes.count; i++) {
        size_t slot = first_slot(numbering, numbering->hashes.data[i]);
        while (slots[slot] != UINT32_MAX)
            slot = next_slot(numbering, slot);
        slots[slot] = tag_of(numbering, numbering->hashes.data[i]) | i;
    }
    return true;
}

/* A text that is looked for: at a place; and its bytes, NULL while they have not been needed. */
struct wanted {
    struct text_place place;
    const char *data;
    size_t size;
    uint32_t hash;
};

/* Whether string number number is the text. */
static bool is_same(struct numbering *numbering, uint32_t number, struct wanted *wanted)
{
    size_t size;
    if (!wanted->data)
        wanted->data =
            read_text(numbering->strings, &wanted->place, &numbering->text, &wanted->size);
    const char *other = strings_text(numbering->strings, number, &numbering->other, &size);
    return size == wanted->size && memcmp(other, wanted->data, size) == 0;
}

/* Whether string number number may have this hash. */
static inline bool may_have_hash(const struct numbering *numbering, uint32_t number, uint32_t hash)
{
    return number >= numbering->hashes.count || numbering->hashes.data[number] == hash;
}

/*
 * The number of a text, for which the table has room. A new one takes of *room, if there is any:
 * once that is used up, new ones get KEY_NUMBER_NONE.
 */
static bool number_text(struct numbering *numbering, struct wanted *wanted, uint64_t *room,
                        uint32_t *ret)
{
    struct strings *strings = numbering->strings;
    if (numbering->text.failed || numbering->other.failed)
        return false;
    const uint32_t tag = tag_of(numbering, wanted->hash);
    for (size_t slot = first_slot(numbering, wanted->hash);; slot = next_slot(numbering, slot)) {
        const uint32_t content = numbering->slots[slot], number = number_in(numbering, content);
        if (content == UINT32_MAX) {
            if (room) {
                *ret = KEY_NUMBER_NONE;
                *room -= wanted->size <= *room ? wanted->size : *room;
                if (*room == 0)
                    return true;
            }
            *ret = (uint32_t)strings_count(strings);
            numbering->slots[slot] = tag | *ret;
            return vector_push(&strings->texts, wanted->place);
        }
        if (content - number == tag && may_have_hash(numbering, number, wanted->hash) &&
            is_same(numbering, number, wanted)) {
            *ret = number;
            return true;
        }
    }
}

static void prefetch_number(const struct numbering *numbering, uint32_t hash)
{
    __builtin_prefetch(&numbering->slots[first_slot(numbering, hash)]);
}

static bool hash_names(struct numbering *numbering)
{
    struct strings *strings = numbering->strings;
    for (uint32_t i = 0; i < strings->first_text; i++) {
        size_t size;
        const char *text = strings_text(strings, i, &numbering->text, &size);
        if (!vector_push(&numbering->hashes, (uint32_t)map_hash_text(text, size)))
            return false;
    }
    return grow(numbering, 0);
}

/* ---- blocks ---- */

/* Behind the last node of the block that begins with node first. */
static uint32_t block_end(const struct g2h_view *view, uint32_t first)
{
    const uint32_t left = g2h_view_node_count(view) - first;
    return first + (left < SNAPSHOT_BLOCK ? left : SNAPSHOT_BLOCK);
}

/* The numbers up to here are those of a block. */
static bool end_block(struct numbering *numbering, uint32_t **blocks, size_t *counts)
{
    number_vector *numbers = &numbering->numbers;
    if (numbers->count == 0)
        return true;
    uint32_t *exact = realloc(numbers->data, numbers->count * sizeof(*exact));
    if (!exact)
        return false;
    blocks[numbering->block] = exact;
    if (counts)
        counts[numbering->block] = numbers->count;
    *numbers = (number_vector){0};
    return true;
}

static bool begin_block(struct numbering *numbering, uint32_t node, uint32_t **blocks,
                        size_t *counts)
{
    const size_t block = node >> SNAPSHOT_BLOCK_SHIFT;
    if (block != numbering->block && !end_block(numbering, blocks, counts))
        return false;
    numbering->block = block;
    return true;
}

/* ---- keys of maps' entries ---- */

/* What a thread makes of an edge of an entry; the text's bytes stand behind. */
struct key_record {
    struct text_place place;
    enum g2h_key form;
    bool is_key;    /* the edge is that of the key itself */
    bool repeated;  /* and is not written: the key is a string all the same */
    uint32_t index; /* G2H_KEY_INDEX */
    uint32_t hash, size;
};

/* What a thread reads with. */
struct reader {
    struct g2h_edges *edges;
    struct g2h_text text;
    uint32_t list[SNAPSHOT_BLOCK]; /* the block's nodes that have keys */
};

enum { ENOUGH = 1 << 20, NUMBERS_AHEAD = 16 };

static bool put_key(struct worker_buffer *buffer, const struct key_record *record, const char *text)
{
    char *at = worker_buffer_reserve(buffer, sizeof(*record) + record->size);
    if (!at)
        return false;
    memcpy(at, record, sizeof(*record));
    if (record->size > 0)
        memcpy(at + sizeof(*record), text, record->size);
    buffer->size += sizeof(*record) + record->size;
    return true;
}

static bool read_key(struct reader *reader, const struct g2h_edge *edge,
                     struct worker_buffer *buffer)
{
    struct key_record record = {
        .place = {edge->source, (uint32_t)(TEXT_OF_EDGE | edge->offset / 4)},
        .is_key = (edge->flags & G2H_EDGE_OF_KEY) != 0,
        .repeated = (edge->flags & G2H_EDGE_REPEATED) != 0};
    uint64_t index = 0;
    reader->text.size = 0;
    record.form = g2h_edges_key(reader->edges, &reader->text, &index);
    if (edge->offset / 4 >= TEXT_OF_EDGE)
        record.form = G2H_KEY_NONE;
    record.index = (uint32_t)index;
    if (record.form == G2H_KEY_TEXT) {
        record.size = (uint32_t)reader->text.size;
        record.hash = (uint32_t)map_hash_text(reader->text.data, reader->text.size);
    }
    return !reader->text.failed && put_key(buffer, &record, reader->text.data);
}

static struct g2h_error *read_keys_of(struct reader *reader, uint32_t node,
                                      struct worker_buffer *buffer)
{
    struct g2h_edge edge;
    g2h_edges_begin(reader->edges, node, node + 1);
    while (g2h_edges_next(reader->edges, &edge)) {
        if ((edge.flags & (G2H_EDGE_OF_KEY | G2H_EDGE_OF_ELEM)) == 0)
            continue;
        if (!read_key(reader, &edge, buffer))
            return &error_no_memory;
        struct g2h_error *error = buffer->size > ENOUGH ? worker_buffer_flush(buffer) : NULL;
        if (error)
            return error;
    }
    return NULL;
}

/* Keys lie behind pointers: what later nodes of a block need is brought in three steps. */
static void prefetch_keys(const struct g2h_view *view, const uint32_t *list, size_t at,
                          size_t count)
{
    enum { NODES_AHEAD = 12, TARGETS_AHEAD = 8, KEYS_AHEAD = 4 };
    if (at + NODES_AHEAD < count)
        g2h_view_prefetch(view, list[at + NODES_AHEAD], G2H_SOON_NODE);
    if (at + TARGETS_AHEAD < count)
        g2h_view_prefetch(view, list[at + TARGETS_AHEAD], G2H_SOON_TARGETS);
    if (at + KEYS_AHEAD < count)
        g2h_view_prefetch(view, list[at + KEYS_AHEAD], G2H_SOON_KEYS);
}

static struct g2h_error *read_keys(void *context, size_t task, unsigned worker,
                                   struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    const struct g2h_view *view = numbering->strings->view;
    struct reader *reader = &numbering->readers[worker];
    const uint32_t first = (uint32_t)task << SNAPSHOT_BLOCK_SHIFT, end = block_end(view, first);
    struct g2h_error *error = NULL;
    size_t count = 0;
    for (uint32_t node = first; (node = g2h_view_next_keyed(view, node, end)) < end; node++)
        reader->list[count++] = node;
    for (size_t i = 0; i < count && !error; i++) {
        prefetch_keys(view, reader->list, i, count);
        error = read_keys_of(reader, reader->list[i], buffer);
    }
    return error;
}

/* The last short text of a hash, so that it need not be read again. */
enum { RECENT = 256, RECENT_SIZE = 55 };
struct recent_text {
    uint32_t hash, number;
    uint8_t size;
    char text[RECENT_SIZE];
};

static bool number_key_text(struct numbering *numbering, const struct key_record *record,
                            const char *text, uint64_t *room, uint32_t *ret)
{
    struct recent_text *recent = &numbering->recent[record->hash % RECENT];
    struct wanted wanted = {record->place, text, record->size, record->hash};
    const struct strings *strings = numbering->strings;
    if (recent->hash == record->hash && recent->size == record->size &&
        memcmp(recent->text, text, record->size) == 0) {
        *ret = recent->number;
        return true;
    }
    if ((is_full(numbering, 1) && !grow(numbering, (size_t)strings_count(strings))) ||
        !number_text(numbering, &wanted, room, ret) ||
        (strings_count(strings) > numbering->hashes.count &&
         !vector_push(&numbering->hashes, record->hash)))
        return false;
    if (record->size > 0 && record->size <= RECENT_SIZE) {
        *recent = (struct recent_text){record->hash, *ret, (uint8_t)record->size, {0}};
        memcpy(recent->text, text, record->size);
    }
    return true;
}

static bool number_key(struct numbering *numbering, const struct key_record *record,
                       const char *text, uint32_t *ret)
{
    uint64_t *room = record->is_key ? &numbering->key_room : &numbering->elem_room;
    *ret = KEY_NUMBER_NONE;
    if (record->form == G2H_KEY_NONE || (record->is_key && *room == 0))
        return true;
    if (record->form == G2H_KEY_INDEX) {
        *ret = KEY_NUMBER_ELEMENT | record->index;
        return true;
    }
    return number_key_text(numbering, record, text, room, ret);
}

/* Asks for where the table has an entry that comes later; the place of the one behind it. */
static size_t prefetch_key(const struct numbering *numbering, const struct worker_buffer *buffer,
                           size_t at)
{
    struct key_record record;
    if (at >= buffer->size)
        return at;
    memcpy(&record, buffer->data + at, sizeof(record));
    if (record.form == G2H_KEY_TEXT)
        prefetch_number(numbering, record.hash);
    return at + sizeof(record) + record.size;
}

static struct g2h_error *number_keys(void *context, const struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    struct strings *strings = numbering->strings;
    size_t later = 0;
    for (unsigned i = 0; i < NUMBERS_AHEAD; i++)
        later = prefetch_key(numbering, buffer, later);
    for (size_t at = 0; at < buffer->size;) {
        struct key_record record;
        uint32_t number;
        later = prefetch_key(numbering, buffer, later);
        memcpy(&record, buffer->data + at, sizeof(record));
        if (!begin_block(numbering, record.place.node, strings->edge_keys, strings->key_counts) ||
            !number_key(numbering, &record, buffer->data + at + sizeof(record), &number) ||
            (!record.repeated && !vector_push(&numbering->numbers, number)))
            return &error_no_memory;
        at += sizeof(record) + record.size;
    }
    return NULL;
}

/* ---- texts of nodes ---- */

struct hashed_node {
    uint32_t node, hash;
};

static struct g2h_error *hash_nodes(void *context, size_t task, unsigned worker,
                                    struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    const struct g2h_view *view = numbering->strings->view;
    struct g2h_text *text = &numbering->readers[worker].text;
    const uint32_t first = (uint32_t)task << SNAPSHOT_BLOCK_SHIFT, end = block_end(view, first);
    struct hashed_node *at =
        (struct hashed_node *)(void *)worker_buffer_reserve(buffer, SNAPSHOT_BLOCK * sizeof(*at));
    TRY_MEMORY(at);
    for (uint32_t node = first; (node = g2h_view_next_text(view, node, end)) < end; node++) {
        size_t size;
        const char *data = g2h_view_text(view, node, text, &size);
        TRY_MEMORY(!text->failed);
        *at++ = (struct hashed_node){node, (uint32_t)map_hash_text(data, size)};
    }
    buffer->size = (size_t)((char *)(void *)at - buffer->data);
    return NULL;
}

static struct g2h_error *number_nodes(void *context, const struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    const struct hashed_node *hashed = (const struct hashed_node *)(const void *)buffer->data;
    const size_t count = buffer->size / sizeof(*hashed);
    for (size_t i = 0; i < count; i++) {
        struct wanted wanted = {.place = {hashed[i].node, 0}, .hash = hashed[i].hash};
        uint32_t number;
        if (i + NUMBERS_AHEAD < count)
            prefetch_number(numbering, hashed[i + NUMBERS_AHEAD].hash);
        if (!begin_block(numbering, hashed[i].node, numbering->strings->node_texts, NULL) ||
            !number_text(numbering, &wanted, NULL, &number) ||
            !vector_push(&numbering->numbers, number))
            return &error_no_memory;
    }
    return NULL;
}

/* ---- all of them ---- */

static struct g2h_error *number_texts(struct numbering *numbering, unsigned threads)
{
    struct strings *strings = numbering->strings;
    const size_t most = (size_t)g2h_view_account(strings->view)->texts;
    struct g2h_error *error = NULL;
    if (!hash_names(numbering))
        return &error_no_memory;
    error = workers_run_ordered(threads, strings->blocks, read_keys, NULL, number_keys, numbering);
    if (!error && !end_block(numbering, strings->edge_keys, strings->key_counts))
        error = &error_no_memory;
    /* the table does not grow from here on, so that hashes of nodes' texts need not be kept */
    if (!error && is_full(numbering, most) && !grow(numbering, most))
        error = &error_no_memory;
    if (!error)
        error = workers_run_ordered(threads, strings->blocks, hash_nodes, NULL, number_nodes,
                                    numbering);
    if (!error && !end_block(numbering, strings->node_texts, NULL))
        error = &error_no_memory;
    return error;
}

static struct g2h_error *create_readers(struct numbering *numbering, unsigned threads)
{
    struct g2h_error *error = NULL;
    numbering->recent = calloc(RECENT, sizeof(*numbering->recent));
    numbering->readers = calloc(threads, sizeof(*numbering->readers));
    if (!numbering->recent || !numbering->readers)
        return &error_no_memory;
    for (unsigned i = 0; i < threads && !error; i++)
        error = g2h_edges_create(numbering->strings->view, &numbering->readers[i].edges);
    for (unsigned i = 0; i < threads && !error; i++)
        g2h_edges_repeat(numbering->readers[i].edges, true);
    return error;
}

static void numbering_deinit(struct numbering *numbering, unsigned threads)
{
    for (unsigned i = 0; numbering->readers && i < threads; i++) {
        g2h_edges_destroy(numbering->readers[i].edges);
        g2h_text_deinit(&numbering->readers[i].text);
    }
    free(numbering->readers);
    free(numbering->recent);
    free(numbering->hashes.data);
    free(numbering->numbers.data);
    large_free(numbering->slots, numbering->slot_count, sizeof(*numbering->slots));
    g2h_text_deinit(&numbering->text);
    g2h_text_deinit(&numbering->other);
}

struct g2h_error *strings_init(struct strings *strings, const struct g2h_view *view)
{
    *strings = (struct strings){.view = view};
    strings->blocks =
        ((size_t)g2h_view_node_count(view) + SNAPSHOT_BLOCK - 1) >> SNAPSHOT_BLOCK_SHIFT;
    strings->node_texts = calloc(strings->blocks + 1, sizeof(*strings->node_texts));
    strings->edge_keys = calloc(strings->blocks + 1, sizeof(*strings->edge_keys));
    strings->key_counts = calloc(strings->blocks + 1, sizeof(*strings->key_counts));
    return strings->node_texts && strings->edge_keys && strings->key_counts && number_names(strings)
               ? NULL
               : &error_no_memory;
}

struct g2h_error *strings_number_texts(struct strings *strings, unsigned threads)
{
    struct numbering numbering = {.strings = strings, .elem_room = elem_room, .key_room = key_room};
    if (!g2h_view_is_typed(strings->view))
        return NULL;
    struct g2h_error *error = create_readers(&numbering, threads);
    if (!error)
        error = number_texts(&numbering, threads);
    numbering_deinit(&numbering, threads);
    return error;
}

void strings_deinit(struct strings *strings)
{
    for (size_t i = 0; i < strings->blocks; i++) {
        free(strings->node_texts ? strings->node_texts[i] : NULL);
        free(strings->edge_keys ? strings->edge_keys[i] : NULL);
    }
    free(strings->node_texts);
    free(strings->edge_keys);
    free(strings->key_counts);
    free(strings->of_node);
    free(strings->texts.data);
    string_pool_deinit(&strings->renamed);
    free(strings->renamed_numbers.data);
    map_deinit(&strings->renamed_by);
}
