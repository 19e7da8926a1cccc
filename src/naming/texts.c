/* texts; see texts.h. */
#include "naming/texts.h"

#include "naming/symbols.h"

/* Separates the strings that share a block of 16 bytes. */
static const char separator[] = " | ";

uint64_t names_text_size(const struct names *names, uint32_t object)
{
    const uint32_t extent = names->typing->texts[object];
    const uint64_t size = heap_object_size(names->heap, object),
                   end = (extent & TEXT_TINY) != 0 ? extent >> TEXT_TINY_END & 31 : extent;
    return end < size ? end : size;
}

/* Sets *ret_data to the object's contents and returns how many bytes of its string the dump has. */
static uint64_t text_names_read_bytes(const struct names *names, uint32_t number,
                                      const uint8_t **ret_data)
{
    const struct g2h_bytes contents = heap_contents(names->heap, number);
    const uint64_t size = names_text_size(names, number);
    *ret_data = contents.data;
    return size < contents.size ? size : contents.size;
}

/* Appends a string, or a part of a block, redacted if strings are. */
static void append_part(const struct names *names, const uint8_t *data, uint64_t size,
                        struct text *text)
{
    if (names->redaction)
        text_append_redacted(text, names->redaction, data, size);
    else if (text->size < NAME_LIMIT)
        text_append_utf8(text, data, size, NAME_LIMIT - text->size);
}

/* Appends the contents of a block that several strings share. */
static void append_tiny(const struct names *names, uint32_t extent, const uint8_t *data,
                        uint64_t size, struct text *text)
{
    uint64_t begin = 0;
    bool any = false;
    for (uint64_t at = 0; at <= size; at++) {
        const bool starts = at < 16 && (extent >> at & 1) != 0;
        if (at < size && !starts)
            continue;
        if (at > begin && any) {
            uint64_t end = at;
            while (at < size && end > begin + 1 && data[end - 1] == 0)
                end--; /* padding before the next string */
            append_part(names, data + begin, end - begin, text);
            if (at < size)
                text_append(text, separator, sizeof(separator) - 1);
        }
        begin = at;
        any = true;
    }
}

void names_append_text(const struct names *names, uint32_t object, struct text *text)
{
    const uint32_t extent = names->typing->texts[object];
    const uint8_t *data;
    const uint64_t size = text_names_read_bytes(names, object, &data);
    if ((extent & TEXT_TINY) != 0)
        append_tiny(names, extent, data, size, text);
    else
        append_part(names, data, size, text);
}

bool names_text_is_shared(const struct names *names, uint32_t object)
{
    const uint32_t extent = names->typing->texts[object], starts = extent & UINT16_MAX;
    return (extent & TEXT_TINY) != 0 && (starts & (starts - 1)) != 0;
}

/* Anything that needs conversion, cutting or redaction is left to names_append_text(). */
bool names_text_bytes(const struct names *names, uint32_t object, const uint8_t **ret,
                      uint64_t *ret_size)
{
    const uint32_t extent = names->typing->texts[object], starts = extent & UINT16_MAX;
    if (names->redaction || ((extent & TEXT_TINY) == 0 && extent > NAME_LIMIT) ||
        names_text_is_shared(names, object))
        return false;
    *ret_size = text_names_read_bytes(names, object, ret);
    if ((extent & TEXT_TINY) != 0) { /* a single string */
        const uint64_t begin = (uint64_t)__builtin_ctz(starts | 1u << 16);
        *ret += begin < *ret_size ? begin : *ret_size;
        *ret_size -= begin < *ret_size ? begin : *ret_size;
    }
    return text_is_ascii(*ret, *ret_size);
}
