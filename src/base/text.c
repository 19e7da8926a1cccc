/* text; see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

bool text_grow(struct text *text, size_t size)
{
    const size_t wanted = text->size + size + text->capacity / 2 + 256;
    char *grown = realloc(text->data, wanted);
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->data = grown;
    text->capacity = wanted;
    return true;
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
        uint32_t character;
        const size_t length = utf8_read(data + at, (size_t)(size - at), &character);
        if (length == 0)
            text_append(text, "\xef\xbf\xbd", 3);
        else
            text_append(text, (const char *)data + at, length);
        at += length ? length : 1;
        characters++;
    }
    return characters;
}
