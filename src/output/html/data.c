/* data; see data.h. */
#include "output/html/data.h"

#include <string.h>

#include "output/json.h"
#include "output/report/page.h"

void data_words(struct data *data, const char *words)
{
    text_append(&data->out, words, strlen(words));
}

void data_number(struct data *data, uint64_t number)
{
    text_append_number(&data->out, number);
}

void data_key(struct data *data, const char *key)
{
    data_words(data, "\"");
    data_words(data, key);
    data_words(data, "\":");
}

/* Puts a text of UTF-8 as a string. */
static void put_string(struct text *out, const char *text, size_t size)
{
    if (!text_grow(out, json_string_limit(size)))
        return;
    out->size = (size_t)(json_string(out->data + out->size, text, size) - out->data);
}

/* Makes a text UTF-8, and cuts it if it is long. Returns whether it was. */
static bool make_short(struct data *data, const char *text, size_t size, struct text *ret)
{
    static const char ellipsis[] = "…";
    const bool is_long = page_characters(text, size) > DATA_CHARACTERS;
    text_append_utf8(ret, (const uint8_t *)text, size, DATA_CHARACTERS - (is_long ? 1 : 0));
    if (is_long)
        text_append(ret, ellipsis, sizeof(ellipsis) - 1);
    data->out.failed |= ret->failed;
    return is_long;
}

void data_string(struct data *data, const char *text, size_t size)
{
    struct text made = {0};
    data->cut_names += make_short(data, text, size, &made);
    put_string(&data->out, made.data, made.size);
    text_deinit(&made);
}

uint32_t data_name(struct data *data, const char *name, size_t size)
{
    struct text made = {0};
    const uint32_t before = data->names.count;
    uint32_t number = 0;
    const bool is_long = make_short(data, name, size, &made);
    if (!made.failed && !string_pool_intern(&data->names, made.data, made.size, &number))
        data->out.failed = true;
    data->cut_names += is_long && data->names.count > before; /* each name counts once */
    text_deinit(&made);
    return number;
}

size_t data_string_size(const char *text, size_t size)
{
    enum { SIGN = 2, ESCAPE = 6 /* \u003c */, ESCAPE_BYTE = 3 /* of a character of two bytes */ };
    size_t all = 2;
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        all += byte >= 0x80                                                ? ESCAPE_BYTE
               : byte < ' ' || byte == 0x7f || strchr("<>&", byte) != NULL ? ESCAPE
               : byte == '"' || byte == '\\'                               ? SIGN
                                                                           : 1;
    }
    return all;
}

void data_deinit(struct data *data)
{
    text_deinit(&data->out);
    string_pool_deinit(&data->names);
}
