/* java_string; see java_string.h. */
#include "output/hprof/java_string.h"

#include "base/text.h"
#include "base/utf8.h"
#include "output/hprof/hprof_classes.h"

/* Returns the next character; U+FFFD for a byte that is not UTF-8. */
static uint32_t next_character(const struct java_string *string, size_t *at)
{
    const uint8_t *text = (const uint8_t *)string->text;
    uint32_t character = 0xfffd;
    const size_t size = utf8_read(text + *at, string->size - *at, &character);
    *at += size > 0 ? size : 1;
    return character;
}

struct java_string java_string_of(const char *text, size_t size)
{
    struct java_string string = {.text = text, .size = size < PIECE ? size : (size_t)PIECE};
    uint32_t count = 0, wide = 0;
    string.is_ascii = text_is_ascii((const uint8_t *)text, string.size);
    if (string.is_ascii) {
        string.bytes = (uint32_t)string.size;
        return string;
    }
    for (size_t at = 0; at < string.size; count++) {
        const uint32_t character = next_character(&string, &at);
        string.is_wide = string.is_wide || character > 0xff;
        wide += character > 0xffff ? 4 : 2;
    }
    string.bytes = string.is_wide ? wide : count;
    return string;
}

static char *put_wide(char *at, uint32_t character)
{
    if (character <= 0xffff)
        return put_u2(at, character);
    character -= 0x10000;
    return put_u2(put_u2(at, 0xd800 | character >> 10), 0xdc00 | (character & 0x3ff));
}

char *java_string_put(char *at, const struct java_string *string)
{
    if (string->is_ascii) {
        if (string->size > 0)
            memcpy(at, string->text, string->size);
        return at + string->size;
    }
    for (size_t from = 0; from < string->size;) {
        const uint32_t character = next_character(string, &from);
        at = string->is_wide ? put_wide(at, character) : put_u1(at, character);
    }
    return at;
}

char *java_string_put_instance(char *at, uint32_t id, uint32_t bytes, bool is_wide)
{
    at = put_instance(at, id, class_id(CLASS_STRING), STRING_FIELDS);
    return put_u1(put_u4(at, bytes), is_wide);
}

struct g2h_error *java_string_write(struct hprof_segment *segment, uint32_t id, uint32_t bytes,
                                    const char *text, size_t size)
{
    const struct java_string string = java_string_of(text, size);
    char *at;
    TRY(segment_reserve(segment, STRING_RECORD + NUMBERS_HEADER + string.bytes, &at));
    at = java_string_put_instance(at, id, bytes, string.is_wide);
    java_string_put(hprof_put_byte_array(at, bytes, string.bytes), &string);
    return NULL;
}
