/* texts; see texts.h. */
#include "graph/texts.h"

#include <stdlib.h>
#include <string.h>

/* Between the strings that share a block of 16 bytes. */
static const char separator[] = " | ";

/* Bytes of the object that the text consists of: [*ret_data, + result). */
static uint64_t read_bytes(const struct texts *texts, struct g2h_reader *reader,
                           const struct text_entry *entry, const uint8_t **ret_data)
{
    struct g2h_object object;
    reader_seek(reader, texts->heap->offsets[entry->object]);
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

static uint64_t hash_of(const struct text *text)
{
    return map_hash(map_hash_bytes(text->data, text->size));
}

static bool grow(struct texts *texts, struct g2h_reader *reader)
{
    const size_t count = texts->slots ? (texts->mask + 1) * 2 : 1024;
    uint32_t *slots = malloc(count * sizeof(*slots));
    struct text text = {0};
    if (!slots)
        return false;
    memset(slots, 0xff, count * sizeof(*slots));
    free(texts->slots);
    texts->slots = slots;
    texts->mask = count - 1;
    for (uint32_t i = 0; i < texts->entries.count; i++) {
        text.size = 0;
        texts_append(texts, reader, &texts->entries.data[i], &text);
        size_t slot = (size_t)hash_of(&text) & texts->mask;
        while (slots[slot] != UINT32_MAX)
            slot = (slot + 1) & texts->mask;
        slots[slot] = i;
    }
    text_deinit(&text);
    return !text.failed;
}

struct interner {
    struct texts *texts;
    const struct string_pool *strings;
    struct g2h_reader reader;
    struct text text, other;
};

/* The number of an object's text, which is added where it is new. */
static bool intern(struct interner *interner, const struct text_entry *entry, uint32_t *ret)
{
    struct texts *texts = interner->texts;
    struct text *text = &interner->text, *other = &interner->other;
    if ((!texts->slots || texts->entries.count * 2 > texts->mask) &&
        !grow(texts, &interner->reader))
        return false;
    text->size = 0;
    texts_append(texts, &interner->reader, entry, text);
    if (text->failed)
        return false;
    if (string_pool_find(interner->strings, text->data ? text->data : "", text->size, ret))
        return true;
    for (size_t slot = (size_t)hash_of(text) & texts->mask;; slot = (slot + 1) & texts->mask) {
        const uint32_t number = texts->slots[slot];
        if (number == UINT32_MAX) {
            texts->slots[slot] = (uint32_t)texts->entries.count;
            *ret = texts->first + texts->slots[slot];
            return vector_push(&texts->entries, *entry);
        }
        other->size = 0;
        texts_append(texts, &interner->reader, &texts->entries.data[number], other);
        if (other->size == text->size && memcmp(other->data, text->data, text->size) == 0) {
            *ret = texts->first + number;
            return true;
        }
    }
}

struct g2h_error *texts_init(struct texts *texts, struct typing *typing,
                             const struct string_pool *strings, bool redact)
{
    *texts = (struct texts){.heap = typing->heap, .redact = redact, .first = strings->count};
    struct interner interner = {
        .texts = texts, .strings = strings, .reader = *typing->heap->reader};
    bool good = true;
    for (uint32_t object = 0; object < typing->heap->object_count && good; object++) {
        struct text_entry entry = {object, typing->texts[object]};
        if (entry.extent != 0 && typing_object(typing, object).form == OBJECT_TEXT)
            good = intern(&interner, &entry, &typing->texts[object]);
    }
    text_deinit(&interner.text);
    text_deinit(&interner.other);
    return good ? NULL : &error_no_memory;
}

void texts_deinit(struct texts *texts)
{
    free(texts->entries.data);
    free(texts->slots);
    *texts = (struct texts){0};
}
