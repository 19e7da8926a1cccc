/* json_write; see json_write.h. */
#include "inspect/json_write.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"

/* Returns how many bytes at the beginning of a string are ASCII that needs no escape. */
static size_t plain_run(const char *data, size_t size)
{
    size_t count = 0;
    while (count < size && data[count] >= ' ' && data[count] != '"' && data[count] != '\\' &&
           (unsigned char)data[count] < 0x80)
        count++;
    return count;
}

/* Appends an ASCII character that does not go into a string as it is. */
static void put_escape(struct text *text, char character)
{
    if (character == '\n')
        text_append_string(text, "\\n");
    else if (character == '"' || character == '\\')
        text_append(text, (char[]){'\\', character}, 2);
    else
        text_printf(text, "\\u%04x", (unsigned)character);
}

void json_write(struct text *text, const char *data, size_t size)
{
    static const char unknown[] = "\xef\xbf\xbd";
    uint32_t character;
    text_append_string(text, "\"");
    for (size_t at = 0; at < size;) {
        const size_t run = plain_run(data + at, size - at);
        text_append(text, data + at, run);
        at += run;
        if (at == size)
            break;
        const size_t read = utf8_read((const uint8_t *)data + at, size - at, &character);
        if (read == 1)
            put_escape(text, data[at]);
        else if (read > 1)
            text_append(text, data + at, read);
        else
            text_append(text, unknown, sizeof(unknown) - 1);
        at += read > 0 ? read : 1;
    }
    text_append_string(text, "\"");
}

void json_write_string(struct text *text, const char *string)
{
    json_write(text, string, strlen(string));
}

void json_write_console(struct text *text, const char *type, const char *line)
{
    text_printf(text,
                "{\"method\":\"Runtime.consoleAPICalled\",\"params\":{\"type\":\"%s\",\"args\":[{"
                "\"type\":\"string\",\"value\":",
                type);
    json_write_string(text, line);
    text_printf(text, "}],\"executionContextId\":1,\"timestamp\":%" PRId64 "}}",
                clock_since_1970());
}
