/* texts; see texts.h. */
#include "graph/texts.h"

#include <stdlib.h>
#include <string.h>

#include "graph/keys.h"

/* Between the strings that share a block of 16 bytes. */
static const char separator[] = " | ";

static bool is_key(const struct text_entry *entry)
{
    return (entry->extent & (TEXT_TINY | TEXT_KEY)) == TEXT_KEY;
}

/* Bytes of the object that the text consists of: [*ret_data, + result). */
static uint64_t read_bytes(const struct texts *texts, struct g2h_reader *reader,
                           const struct text_entry *entry, const uint8_t **ret_data)
{
    struct g2h_object object;
    reader_seek(reader, texts->names->heap->offsets[entry->object]);
    reader_object_again(reader, &object);
    *ret_data = object.contents.data;
    uint64_t end =
        (entry->extent & TEXT_TINY) != 0 ? entry->extent >> TEXT_TINY_END & 31 : entry->extent;
    return end < object.contents.size ? end : object.contents.size;
}

static void append_part(const struct texts *texts, const uint8_t *data, uint64_t size,
                        struct text *text)
{
    if (texts->redact)
        text_printf(text, "(%llu bytes, #%08x)", (unsigned long long)size,
                    (unsigned)(map_hash(map_hash_bytes(data, (size_t)size)) >> 32));
    else if (text->size < NAME_LIMIT)
        text_append_utf8(text, data, size, NAME_LIMIT - text->size);
}

void texts_append(const struct texts *texts, struct g2h_reader *reader,
                  const struct text_entry *entry, struct text *text)
{
    const uint8_t *data;
    if (is_key(entry)) {
        const struct key_reader key = {texts->names, reader, texts->redact};
        key_append_again(&key, entry->object, (uint64_t)(entry->extent & ~(uint32_t)TEXT_KEY) * 4,
                         text);
        return;
    }
    const uint64_t size = read_bytes(texts, reader, entry, &data);
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
            append_part(texts, data + begin, at - begin, text);
            if (at < size)
                text_append(text, separator, sizeof(separator) - 1);
        }
        begin = at;
        any = true;
    }
}

static bool grow(struct texts *texts)
{
    const size_t count = texts->slots ? (texts->mask + 1) * 2 : 1024;
    uint32_t *slots = malloc(count * sizeof(*slots));
    if (!slots)
        return false;
    memset(slots, 0xff, count * sizeof(*slots));
    free(texts->slots);
    texts->slots = slots;
    texts->mask = count - 1;
    for (uint32_t i = 0; i < texts->entries.count; i++) {
        size_t slot = texts->hashes.data[i] & texts->mask;
        while (slots[slot] != UINT32_MAX)
            slot = (slot + 1) & texts->mask;
        slots[slot] = i;
    }
    return true;
}

bool texts_number(struct texts *texts, const struct text_entry *entry, uint32_t *ret)
{
    static const uint64_t key_bytes_limit = (uint64_t)192 << 20;
    const struct text *text = &texts->text;
    struct text *other = &texts->other;
    if (text->failed ||
        ((!texts->slots || texts->entries.count / 3 * 4 >= texts->mask) && !grow(texts)))
        return false;
    if (string_pool_find(texts->strings, text->data ? text->data : "", text->size, ret))
        return true;
    const uint32_t hash = (uint32_t)map_hash(map_hash_bytes(text->data, text->size));
    for (size_t slot = hash & texts->mask;; slot = (slot + 1) & texts->mask) {
        const uint32_t number = texts->slots[slot];
        if (number == UINT32_MAX) {
            *ret = NAME_NONE;
            if (is_key(entry) && (texts->key_bytes += text->size) > key_bytes_limit)
                return true;
            texts->slots[slot] = (uint32_t)texts->entries.count;
            *ret = texts->first + texts->slots[slot];
            return vector_push(&texts->hashes, hash) && vector_push(&texts->entries, *entry);
        }
        if (texts->hashes.data[number] != hash)
            continue;
        other->size = 0;
        texts_append(texts, &texts->reader, &texts->entries.data[number], other);
        if (other->size == text->size && memcmp(other->data, text->data, text->size) == 0) {
            *ret = texts->first + number;
            return true;
        }
    }
}

void texts_init(struct texts *texts, const struct names *names, const struct string_pool *strings,
                bool redact)
{
    *texts = (struct texts){.names = names,
                            .redact = redact,
                            .first = strings->count,
                            .strings = strings,
                            .reader = *names->heap->reader};
}

struct g2h_error *texts_number_objects(struct texts *texts, struct typing *typing)
{
    for (uint32_t object = 0; object < typing->heap->object_count; object++) {
        const struct text_entry entry = {object, typing->texts[object]};
        if (entry.extent == 0 || typing_object(typing, object).form != OBJECT_TEXT)
            continue;
        texts->text.size = 0;
        texts_append(texts, &texts->reader, &entry, &texts->text);
        if (!texts_number(texts, &entry, &typing->texts[object]))
            return &error_no_memory;
    }
    return NULL;
}

void texts_finish(struct texts *texts)
{
    text_deinit(&texts->text);
    text_deinit(&texts->other);
    free(texts->hashes.data);
    free(texts->slots);
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
