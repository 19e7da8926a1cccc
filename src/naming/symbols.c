/* symbols; see symbols.h. */
#include "naming/symbols.h"

#include <string.h>

static int symbols_hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte whose escape is at data, or -1 if there is no escape. */
static int unescaped(const uint8_t *data, uint64_t size)
{
    if (size < 3 || data[0] != '%' || symbols_hex_digit(data[1]) < 0 ||
        symbols_hex_digit(data[2]) < 0)
        return -1;
    const int c = symbols_hex_digit(data[1]) << 4 | symbols_hex_digit(data[2]);
    return c <= ' ' || c == '.' || c == '%' || c == '"' || c >= 0x7f ? c : -1;
}

/* Copies up to each escape at once; a % that begins none is copied as it is. */
void text_append_unescaped(struct text *text, const uint8_t *data, uint64_t size)
{
    while (size > 0) {
        const uint8_t *escape = memchr(data, '%', (size_t)size);
        const uint64_t before = escape ? (uint64_t)(escape - data) : size;
        const int c = unescaped(data + before, size - before);
        const char byte = (char)c;
        text_append(text, (const char *)data, (size_t)before + (escape && c < 0));
        if (c >= 0)
            text_append(text, &byte, 1);
        const uint64_t done = before + (c >= 0 ? 3 : escape != NULL);
        data += done;
        size -= done;
    }
}

size_t text_append_symbol(struct text *text, const uint8_t *data, uint64_t size, size_t limit)
{
    struct text name = {0};
    if (size == 0 || !memchr(data, '%', (size_t)size))
        return text_append_utf8(text, data, size, limit);
    text_append_unescaped(&name, data, size);
    const size_t characters = text_append_utf8(text, (const uint8_t *)name.data, name.size, limit);
    text->failed = text->failed || name.failed;
    text_deinit(&name);
    return characters;
}

void text_append_redacted(struct text *text, const struct g2h_redaction *redaction,
                          const uint8_t *data, uint64_t size)
{
    char redacted[REDACTED_MOST];
    text_append(text, redacted, redaction_write(redaction, data, (size_t)size, redacted));
}
