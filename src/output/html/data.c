/*
 * data: appends words, numbers and strings to the JSON that the page's script reads; see data.h.
 * Names are in one table, each once, and elsewhere by their numbers (data_name). Strings are cut to
 * a number of characters, and data counts how many were.
 */
#include "base/contract.h"
#include "output/html/data.h"

#include <stddef.h>
#include <string.h>

#include "output/json.h"
#include "output/report/page.h"

void data_words(struct data *data, const char *words)
{
    text_append_string(&data->out.text, words);
}

void data_number(struct data *data, uint64_t number)
{
    text_append_number(&data->out.text, number);
}

/* Adds the key of an object's member, and the colon after it. */
void data_key(struct data *data, const char *key)
{
    data_words(data, "\"");
    data_words(data, key);
    data_words(data, "\":");
}

/* Adds a string of UTF-8. If memory runs out, json->text.failed is set. */
static void data_put_string(struct data_json *json, const struct text *text)
{
    struct text *out = &json->text;
    if (!text_grow(out, json_string_limit(text->size)))
        return;
    out->size = as_size(json_string(out->data + out->size, text->data, text->size) - out->data);
    json->markup += json_markup(text->data, text->size);
}

/* Makes a string UTF-8, and cuts it if it has more than limit characters. Returns whether it
 * had. */
static bool make_short(struct data *data, const char *text, size_t size, size_t limit,
                       struct text *ret)
{
    static const char ellipsis[] = "…";
    const bool is_long = page_characters(text, size) > limit;
    text_append_utf8(ret, text, size, limit - (is_long ? 1 : 0));
    if (is_long)
        text_append(ret, ellipsis, sizeof(ellipsis) - 1);
    data->out.text.failed |= ret->failed;
    return is_long;
}

/* Adds a string of at most limit characters, and counts it if it was cut. */
static void data_put_short(struct data *data, const char *text, size_t size, size_t limit)
{
    struct text made = {0};
    data->cut_names += make_short(data, text, size, limit, &made);
    data_put_string(&data->out, &made);
    text_deinit(&made);
}

void data_string(struct data *data, const char *text, size_t size)
{
    data_put_short(data, text, size, DATA_CHARACTERS);
}

void data_path(struct data *data, const struct text *path)
{
    data_put_short(data, path->data, path->size, DATA_PATH);
}

/* Returns the number of a name, shortened to DATA_CHARACTERS. A new one is also added to the list
 * of names. */
uint32_t data_name(struct data *data, const char *name, size_t size)
{
    struct text made = {0};
    const uint32_t before = data->names.count;
    uint32_t number = 0;
    const bool is_long = make_short(data, name, size, DATA_CHARACTERS, &made);
    if (!made.failed && !string_pool_intern(&data->names, made.data, made.size, &number))
        data->out.text.failed = true;
    if (data->names.count > before) { /* it is new */
        if (before > 0)
            text_append_string(&data->names_json.text, ",");
        data_put_string(&data->names_json, &made);
        data->out.text.failed |= data->names_json.text.failed;
        data->cut_names += is_long;
    }
    text_deinit(&made);
    return number;
}

void data_deinit(struct data *data)
{
    text_deinit(&data->out.text);
    text_deinit(&data->names_json.text);
    string_pool_deinit(&data->names);
}
