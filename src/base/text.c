/* text; see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_append(struct text *text, const char *data, size_t size)
{
    if (text->capacity - text->size < size) {
        size_t wanted = text->size + size + text->capacity / 2 + 256;
        char *grown = realloc(text->data, wanted);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->data = grown;
        text->capacity = wanted;
    }
    if (size > 0)
        memcpy(text->data + text->size, data, size);
    text->size += size;
}

void text_printf(struct text *text, const char *format, ...)
{
    char buffer[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(buffer, sizeof(buffer), format, arguments);
    va_end(arguments);
    text_append(text, buffer, (size_t)size < sizeof(buffer) ? (size_t)size : sizeof(buffer) - 1);
}

void text_append_number(struct text *text, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    text_append(text, digits + at, sizeof(digits) - at);
}

void text_deinit(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

/* The length of the UTF-8 sequence at data, 0 where it is none (RFC 3629: no surrogates, shortest
 * form only). */
static size_t utf8_length(const uint8_t *data, uint64_t size)
{
    uint8_t first = data[0];
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || size < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((data[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && data[1] < 0xa0) || (first == 0xed && data[1] > 0x9f) ||
        (first == 0xf0 && data[1] < 0x90) || (first == 0xf4 && data[1] > 0x8f))
        return 0;
    return length;
}

uint64_t text_ascii_run(const uint8_t *data, uint64_t size)
{
    uint64_t run = 0, eight;
    for (; size - run >= 8; run += 8) {
        memcpy(&eight, data + run, 8);
        if ((eight & 0x8080808080808080u) != 0)
            break;
    }
    while (run < size && data[run] < 0x80)
        run++;
    return run;
}

size_t text_append_utf8(struct text *text, const uint8_t *data, uint64_t size, size_t limit)
{
    size_t characters = 0;
    for (uint64_t at = 0; at < size && characters < limit;) {
        const uint64_t left = size - at < limit - characters ? size - at : limit - characters,
                       run = text_ascii_run(data + at, left);
        text_append(text, (const char *)data + at, (size_t)run);
        at += run;
        characters += (size_t)run;
        if (run == left)
            continue;
        const size_t length = utf8_length(data + at, size - at);
        if (length == 0)
            text_append(text, "\xef\xbf\xbd", 3);
        else
            text_append(text, (const char *)data + at, length);
        at += length ? length : 1;
        characters++;
    }
    return characters;
}
