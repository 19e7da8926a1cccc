/* texts; see texts.h. */
#include "graph/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "graph/keys.h"

/* Between the strings that share a block of 16 bytes. */
static const char separator[] = " | ";

static bool is_key(const struct text_entry *entry)
{
    return (entry->extent & (TEXT_TINY | TEXT_KEY)) == TEXT_KEY;
}

/* Bytes of the object that the text consists of: [*ret_data, + result). */
static uint64_t read_bytes(const struct texts *texts, const struct text_entry *entry,
                           const uint8_t **ret_data)
{
    struct g2h_object object;
    heap_object(texts->names->heap, entry->object, &object);
    *ret_data = object.contents.data;
    uint64_t end =
        (entry->extent & TEXT_TINY) != 0 ? entry->extent >> TEXT_TINY_END & 31 : entry->extent;
    return end < object.contents.size ? end : object.contents.size;
}

static void append_part(const struct texts *texts, const uint8_t *data, uint64_t size,
                        struct text *text)
{
    if (texts->names->redaction)
        text_append_redacted(text, texts->names->redaction, data, size);
    else if (text->size < NAME_LIMIT)
        text_append_utf8(text, data, size, NAME_LIMIT - text->size);
}

void texts_append(const struct texts *texts, const struct text_entry *entry, struct text *text)
{
    const uint8_t *data;
    if (is_key(entry)) {
        const struct key_reader key = {texts->names, NULL, UINT32_MAX};
        key_append_again(&key, entry->object, (uint64_t)(entry->extent & ~(uint32_t)TEXT_KEY) * 4,
                         text);
        return;
    }
    const uint64_t size = read_bytes(texts, entry, &data);
    if ((entry->extent & TEXT_TINY) == 0) {
        append_part(texts, data, size, text);
        return;
    }
    uint64_t begin = 0;
    bool any = false;
    for (uint64_t at = 0; at <= size; at++) {
        const bool starts = at < 16 && (entry->extent >> at & 1) != 0;
        if (at < size && !starts)
            continue;
        if (at > begin && any) {
            uint64_t end = at;
            while (at < size && end > begin + 1 && data[end - 1] == 0)
                end--; /* what aligns the next one */
            append_part(texts, data + begin, end - begin, text);
            if (at < size)
                text_append(text, separator, sizeof(separator) - 1);
        }
        begin = at;
        any = true;
    }
}

/* ---- the table ---- */

/* Where a text of this hash is looked for first; then in the slots behind. */
static inline size_t first_slot(const struct texts *texts, uint32_t hash)
{
    return (size_t)((uint64_t)hash * texts->slot_count >> 32);
}

/* A slot's content but for the number. */
static inline uint32_t tag_of(const struct texts *texts, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash << texts->number_bits);
}

static inline uint32_t number_in(const struct texts *texts, uint32_t slot)
{
    return slot & (uint32_t)(((uint64_t)1 << texts->number_bits) - 1);
}

static inline size_t next_slot(const struct texts *texts, size_t slot)
{
    return slot + 1 < texts->slot_count ? slot + 1 : 0;
}

static size_t string_count(const struct texts *texts)
{
    return texts->first + texts->entries.count;
}

/* At most six of seven slots are used. */
static bool is_full(const struct texts *texts, size_t more)
{
    return string_count(texts) + more >= texts->slot_count / 7 * 6;
}

/* Makes room for so many texts more. All so far have their hashes. */
static bool grow(struct texts *texts, size_t more)
{
    const size_t old_count = texts->slot_count, count = (string_count(texts) + more) / 6 * 7 + 1024;
    uint32_t *slots = large_alloc(count, sizeof(*slots));
    if (!slots)
        return false;
    memset(slots, 0xff, count * sizeof(*slots));
    large_free(texts->slots, old_count, sizeof(*slots));
    texts->slots = slots;
    texts->slot_count = count;
    for (texts->number_bits = 0; texts->number_bits < 32 && count >> texts->number_bits != 0;)
        texts->number_bits++; /* no number has all its bits set */
    for (uint32_t i = 0; i < texts->hashes.count; i++) {
        size_t slot = first_slot(texts, texts->hashes.data[i]);
        while (slots[slot] != UINT32_MAX)
            slot = next_slot(texts, slot);
        slots[slot] = tag_of(texts, texts->hashes.data[i]) | i;
    }
    return true;
}

/* The bytes of an object's text where they are the text as it stands: ASCII, and not cut. */
static bool plain_bytes(const struct texts *texts, const struct text_entry *entry,
                        const uint8_t **ret, uint64_t *ret_size)
{
    if (texts->names->redaction || is_key(entry) || (entry->extent & TEXT_TINY) != 0 ||
        entry->extent > NAME_LIMIT)
        return false;
    *ret_size = read_bytes(texts, entry, ret);
    return text_ascii_run(*ret, *ret_size) == *ret_size;
}

/* Whether string number number is the text of entry. texts->text is that text, or not made yet. */
static bool is_same(struct texts *texts, uint32_t number, const struct text_entry *entry,
                    bool *is_made)
{
    struct text *text = &texts->text, *other = &texts->other;
    const uint8_t *one, *another;
    uint64_t size, other_size;
    if (number >= texts->first && !*is_made && plain_bytes(texts, entry, &one, &size) &&
        plain_bytes(texts, &texts->entries.data[number - texts->first], &another, &other_size))
        return size == other_size && memcmp(one, another, (size_t)size) == 0;
    if (!*is_made) {
        text->size = 0;
        texts_append(texts, entry, text);
        *is_made = true;
    }
    if (number < texts->first) {
        size_t own_size;
        const char *own = string_pool_text(texts->strings, number, &own_size);
        return own_size == text->size && memcmp(own, text->data, own_size) == 0;
    }
    other->size = 0;
    texts_append(texts, &texts->entries.data[number - texts->first], other);
    return other->size == text->size && memcmp(other->data, text->data, text->size) == 0;
}

/* Whether string number number may have this hash. */
static inline bool may_have_hash(const struct texts *texts, uint32_t number, uint32_t hash)
{
    return number >= texts->hashes.count || texts->hashes.data[number] == hash;
}

/*
 * The number of the text of entry, which has this hash. is_made: it is in texts->text. The table
 * has room for it.
 */
static bool number_text(struct texts *texts, const struct text_entry *entry, uint32_t hash,
                        bool is_made, uint32_t *ret)
{
    if (texts->text.failed || texts->other.failed)
        return false;
    const uint32_t tag = tag_of(texts, hash);
    for (size_t slot = first_slot(texts, hash);; slot = next_slot(texts, slot)) {
        const uint32_t content = texts->slots[slot], number = number_in(texts, content);
        if (content == UINT32_MAX) {
            if (is_key(entry)) {
                *ret = NAME_NONE;
                texts->room -= texts->text.size <= texts->room ? texts->text.size : texts->room;
                if (texts->room == 0)
                    return true;
            }
            *ret = (uint32_t)string_count(texts);
            texts->slots[slot] = tag | *ret;
            return vector_push(&texts->entries, *entry);
        }
        if (content - number == tag && may_have_hash(texts, number, hash) &&
            is_same(texts, number, entry, &is_made)) {
            *ret = number;
            return true;
        }
    }
}

/* The last short text of a hash, so that it need not be read again. */
enum { RECENT = 256, RECENT_SIZE = 55 };
struct recent_text {
    uint32_t hash, number;
    uint8_t size;
    char text[RECENT_SIZE];
};

bool texts_number(struct texts *texts, const struct text_entry *entry, uint32_t hash, uint32_t *ret)
{
    const struct text *text = &texts->text;
    struct recent_text *recent = &texts->recent[hash % RECENT];
    if (recent->hash == hash && recent->size == text->size &&
        memcmp(recent->text, text->data, text->size) == 0) {
        *ret = recent->number;
        return true;
    }
    if ((is_full(texts, 1) && !grow(texts, string_count(texts))) ||
        !number_text(texts, entry, hash, true, ret) ||
        (string_count(texts) > texts->hashes.count && !vector_push(&texts->hashes, hash)))
        return false;
    if (text->size > 0 && text->size <= RECENT_SIZE) {
        *recent = (struct recent_text){hash, *ret, (uint8_t)text->size, {0}};
        memcpy(recent->text, text->data, text->size);
    }
    return true;
}

void texts_prefetch_number(const struct texts *texts, uint32_t hash)
{
    __builtin_prefetch(&texts->slots[first_slot(texts, hash)]);
}

struct g2h_error *texts_init(struct texts *texts, const struct names *names,
                             const struct string_pool *strings)
{
    *texts = (struct texts){.names = names, .first = strings->count, .strings = strings};
    for (uint32_t i = 0; i < strings->count; i++) {
        size_t size;
        const char *text = string_pool_text(strings, i, &size);
        if (!vector_push(&texts->hashes, (uint32_t)map_hash_text(text, size)))
            return &error_no_memory;
    }
    texts->recent = calloc(RECENT, sizeof(*texts->recent));
    return texts->recent && grow(texts, 0) ? NULL : &error_no_memory;
}

/* ---- objects ---- */

/* Texts are read and hashed on all threads, and numbered in their order by one at a time. */
enum { OBJECTS_PER_TASK = 1 << 14, AHEAD = 16 };

struct numbering {
    struct texts *texts;
    struct typing *typing;
    struct text *own; /* by thread */
};

struct hashed {
    uint32_t object, hash;
};

static struct g2h_error *hash_objects(void *context, size_t task, unsigned worker,
                                      struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    struct typing *typing = numbering->typing;
    struct text *text = &numbering->own[worker];
    const uint32_t first = (uint32_t)task * OBJECTS_PER_TASK, count = typing->heap->object_count;
    struct hashed *at =
        (struct hashed *)(void *)worker_buffer_reserve(buffer, OBJECTS_PER_TASK * sizeof(*at));
    if (!at)
        return &error_no_memory;
    for (uint32_t object = first; object < count && object - first < OBJECTS_PER_TASK; object++) {
        const struct text_entry entry = {object, typing->texts[object]};
        const uint8_t *bytes;
        uint64_t size;
        const uint64_t *hidden = numbering->texts->hidden;
        if ((hidden && (hidden[object / 64] >> (object % 64) & 1) != 0) ||
            !typing_is_text(typing, object))
            continue;
        if (plain_bytes(numbering->texts, &entry, &bytes, &size)) {
            *at++ = (struct hashed){object, (uint32_t)map_hash_text(bytes, (size_t)size)};
            continue;
        }
        text->size = 0;
        texts_append(numbering->texts, &entry, text);
        if (text->failed)
            return &error_no_memory;
        *at++ = (struct hashed){object, (uint32_t)map_hash_text(text->data, text->size)};
    }
    buffer->size = (size_t)((char *)(void *)at - buffer->data);
    return NULL;
}

static struct g2h_error *number_objects(void *context, const struct worker_buffer *buffer)
{
    struct numbering *numbering = context;
    struct texts *texts = numbering->texts;
    const struct hashed *hashed = (const struct hashed *)(const void *)buffer->data;
    const size_t count = buffer->size / sizeof(*hashed);
    for (size_t i = 0; i < count; i++) {
        const uint32_t object = hashed[i].object;
        const struct text_entry entry = {object, numbering->typing->texts[object]};
        uint32_t number;
        if (i + AHEAD < count)
            texts_prefetch_number(texts, hashed[i + AHEAD].hash);
        if (!number_text(texts, &entry, hashed[i].hash, false, &number))
            return &error_no_memory;
        numbering->typing->texts[object] = number + 1; /* that of a text may be 0: "<dummy>" */
    }
    return NULL;
}

struct g2h_error *texts_number_objects(struct texts *texts, struct typing *typing, unsigned threads)
{
    const size_t tasks =
        ((size_t)typing->heap->object_count + OBJECTS_PER_TASK - 1) / OBJECTS_PER_TASK;
    struct numbering numbering = {texts, typing, calloc(threads, sizeof(struct text))};
    size_t most = 0; /* that there may be: so the table need not grow beside an older one, nor any
                        have its hash kept */
    for (uint32_t object = 0; object < typing->heap->object_count; object++)
        most += typing->texts[object] != 0;
    if (!numbering.own || (is_full(texts, most) && !grow(texts, most))) {
        free(numbering.own);
        return &error_no_memory;
    }
    struct g2h_error *error =
        workers_run_ordered(threads, tasks, hash_objects, NULL, number_objects, &numbering);
    for (unsigned i = 0; i < threads; i++)
        text_deinit(&numbering.own[i]);
    free(numbering.own);
    return error;
}

void texts_finish(struct texts *texts)
{
    text_deinit(&texts->text);
    text_deinit(&texts->other);
    free(texts->hashes.data);
    free(texts->recent);
    texts->recent = NULL;
    large_free(texts->slots, texts->slot_count, sizeof(*texts->slots));
    texts->slot_count = 0;
    texts->hashes.data = NULL;
    texts->hashes.count = texts->hashes.capacity = 0;
    texts->slots = NULL;
}

void texts_deinit(struct texts *texts)
{
    texts_finish(texts);
    free(texts->entries.data);
    *texts = (struct texts){0};
}
