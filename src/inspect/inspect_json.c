/*
 * inspect_json: reads JSON from clients without keeping a tree, and writes strings; see
 * inspect_json.h. A struct json_value is the bytes of a value in the message; json_member() finds a
 * member by skipping those before it. json_read() checks the whole message first, so that all other
 * functions may rely on its form.
 */
#include "inspect/inspect_json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/contract.h"
#include "base/port.h"

/* ==== reads JSON (RFC 8259) that a client has sent ==== */

struct reader {
    const char *at, *end;
};

/* Returns whether a character comes next. */
static bool has(const struct reader *reader, char wanted)
{
    return reader->at < reader->end && *reader->at == wanted;
}

/* Skips a character if it comes next. Returns whether it did. */
static bool skip(struct reader *reader, char wanted)
{
    const bool is_there = has(reader, wanted);
    reader->at += is_there ? 1 : 0;
    return is_there;
}

static void skip_space(struct reader *reader)
{
    while (has(reader, ' ') || has(reader, '\t') || has(reader, '\n') || has(reader, '\r'))
        reader->at++;
}

/* Skips a word if it comes next. Returns whether it did. */
static bool skip_word(struct reader *reader, const char *word)
{
    const size_t size = strlen(word);
    if (as_size(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0)
        return false;
    reader->at += size;
    return true;
}

/* Skips digits. Returns whether there were any. */
static bool skip_digits(struct reader *reader)
{
    const char *begin = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return reader->at > begin;
}

/* Skips a number of JSON: an integer, which has no zeros in front, then perhaps a fraction and an
 * exponent. Returns false if it is none. */
static bool skip_number(struct reader *reader)
{
    skip(reader, '-');
    if (!skip(reader, '0') && !skip_digits(reader))
        return false;
    if (skip(reader, '.') && !skip_digits(reader))
        return false;
    if (!skip(reader, 'e') && !skip(reader, 'E'))
        return true;
    if (!skip(reader, '+'))
        skip(reader, '-');
    return skip_digits(reader);
}

/* Returns the value of a hexadecimal digit, or 16. */
static unsigned hex_digit(char character)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = character ? strchr(digits, character) : NULL;
    const unsigned value = at ? (unsigned)(at - digits) : 16;
    return value >= 16 && at ? value - 6 : value;
}

/* Reads four hexadecimal digits. Returns false if these do not come next. */
static bool read_unit(struct reader *reader, uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned digit = reader->at < reader->end ? hex_digit(*reader->at++) : 16;
        if (digit > 15)
            return false;
        *ret = *ret << 4 | digit;
    }
    return true;
}

/*
 * Reads the next byte or escape of a string, whose character then may be half of a surrogate pair.
 * Returns false, and reads nothing, at the end of the string and at characters that no string may
 * have.
 */
static bool read_character(struct reader *reader, uint32_t *ret)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end || *reader->at == '"' || (unsigned char)*reader->at < ' ')
        return false;
    *ret = (unsigned char)*reader->at++;
    if (*ret != '\\')
        return true;
    const char *backslash = reader->at - 1;
    const char name = reader->at < reader->end ? *reader->at++ : '\0';
    const char *found = name ? strchr(names, name) : NULL;
    if (found)
        *ret = (unsigned char)meant[found - names];
    const bool good = found || (name == 'u' && read_unit(reader, ret));
    if (!good)
        reader->at = backslash;
    return good;
}

/* Skips a string. Returns false if it is none, or does not end. */
static bool skip_string(struct reader *reader)
{
    uint32_t character;
    if (!skip(reader, '"'))
        return false;
    while (read_character(reader, &character))
        ;
    return skip(reader, '"');
}

static bool skip_value(struct reader *reader, unsigned depth);

/* Skips the members of an object, or the entries of an array. Returns false if one is invalid. */
static bool skip_members(struct reader *reader, unsigned depth, bool is_object)
{
    const char end = is_object ? '}' : ']';
    reader->at++;
    skip_space(reader);
    if (skip(reader, end))
        return true;
    do {
        skip_space(reader);
        if (is_object) {
            if (!skip_string(reader))
                return false;
            skip_space(reader);
            if (!skip(reader, ':'))
                return false;
        }
        if (!skip_value(reader, depth))
            return false;
        skip_space(reader);
    } while (skip(reader, ','));
    return skip(reader, end);
}

/* Skips a value and the space before it. depth is how many objects and arrays it may have within
 * each other. Returns false if it is invalid or too deep. */
static bool skip_value(struct reader *reader, unsigned depth)
{
    skip_space(reader);
    if (has(reader, '{') || has(reader, '['))
        return depth > 0 && skip_members(reader, depth - 1, *reader->at == '{');
    if (has(reader, '"'))
        return skip_string(reader);
    return skip_word(reader, "true") || skip_word(reader, "false") || skip_word(reader, "null") ||
           skip_number(reader);
}

/* Reads a value and the space around it. Returns false if it is invalid. */
static bool read_value(struct reader *reader, struct json_value *ret)
{
    skip_space(reader);
    ret->data = reader->at;
    const bool good = skip_value(reader, JSON_DEPTH);
    ret->size = as_size(reader->at - ret->data);
    skip_space(reader);
    return good;
}

/* Checks that text is one value of JSON, with space around it, at most JSON_DEPTH deep; *ret is the
 * value in it. Returns false if it is not. */
bool json_read(const char *text, size_t size, struct json_value *ret)
{
    struct reader reader = {text, text + size};
    return read_value(&reader, ret) && reader.at == reader.end;
}

/* Skips a string. Returns whether it equals an ASCII name. */
static bool skip_name(struct reader *reader, const char *name)
{
    uint32_t character;
    bool is_same = true;
    reader->at++;
    while (read_character(reader, &character)) {
        is_same = is_same && *name && character == (unsigned char)*name;
        name += is_same ? 1 : 0;
    }
    reader->at++;
    return is_same && !*name;
}

/* Returns a reader of a value, which is at its end if the value is not present. */
static struct reader json_read_begin(struct json_value value)
{
    static const char none[] = "";
    const char *data = value.size > 0 ? value.data : none;
    return (struct reader){data, data + value.size};
}

/* Returns the value of an object's member, the last one of that name; no bytes if there is none, or
 * the value is not an object. Names are compared as they are after escapes. The form has been
 * checked by json_read(). */
struct json_value json_member(struct json_value object, const char *name)
{
    struct json_value found = {0}, value;
    struct reader reader = json_read_begin(object);
    if (!has(&reader, '{'))
        return found;
    do {
        reader.at++; /* the brace, or a comma */
        skip_space(&reader);
        if (has(&reader, '}'))
            break;
        const bool is_wanted = skip_name(&reader, name);
        skip_space(&reader);
        reader.at++; /* the colon */
        read_value(&reader, &value);
        if (is_wanted)
            found = value;
    } while (has(&reader, ','));
    return found;
}

/* Appends a character as UTF-8. */
static void put_utf8(struct text *ret, uint32_t character)
{
    char bytes[4];
    size_t size = 0;
    if (character < 0x80) {
        bytes[size++] = (char)character;
    } else {
        const unsigned more = 1u + (character >= 0x800) + (character >= 0x10000);
        const uint32_t mark = (0xff00u >> (more + 1)) & 0xff; /* 110…, 1110…, 11110… */
        bytes[size++] = (char)(unsigned char)(mark | character >> 6 * more);
        for (unsigned left = more; left-- > 0;)
            bytes[size++] = (char)(unsigned char)(0x80 | (character >> 6 * left & 0x3f));
    }
    text_append(ret, bytes, size);
}

/* Joins the first half of a surrogate pair with the second, if that comes next, to one character
 * (RFC 8259, 7); a half alone becomes U+FFFD. */
static void join_pair(struct reader *reader, uint32_t *character)
{
    struct reader next = *reader;
    uint32_t low = 0;
    const bool is_pair = *character < 0xdc00 && has(&next, '\\') && read_character(&next, &low) &&
                         low >= 0xdc00 && low < 0xe000;
    if (is_pair)
        *reader = next;
    *character = is_pair ? 0x10000 + ((*character - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
}

/* Appends the characters of a string, with escapes replaced, as UTF-8. Returns false if the value
 * is no string. */
bool json_text(struct json_value value, struct text *ret)
{
    struct reader reader = json_read_begin(value);
    uint32_t character;
    if (!skip(&reader, '"'))
        return false;
    for (;;) {
        const bool is_escape = has(&reader, '\\');
        if (!read_character(&reader, &character))
            return true;
        if (!is_escape) {
            const char byte = (char)(unsigned char)character;
            text_append(ret, &byte, 1);
            continue;
        }
        if (character >= 0xd800 && character < 0xe000)
            join_pair(&reader, &character);
        put_utf8(ret, character);
    }
}

/* Returns whether a value is the word true. */
bool json_is_true(struct json_value value)
{
    return value.size == strlen("true") && memcmp(value.data, "true", value.size) == 0;
}

/* Returns whether a value is a number without a fraction or an exponent. */
bool json_is_integer(struct json_value value)
{
    struct reader reader = json_read_begin(value);
    skip(&reader, '-');
    return skip_digits(&reader) && reader.at == reader.end;
}

/* Gets the next name and value of an object; *left is then what follows. Returns false at its
 * end. */
bool json_next_member(struct json_value *left, struct text *name, struct json_value *ret)
{
    struct reader reader = json_read_begin(*left);
    if (!skip(&reader, '{') && !skip(&reader, ','))
        return false;
    skip_space(&reader);
    if (!has(&reader, '"'))
        return false;
    const char *string = reader.at;
    skip_string(&reader);
    json_text((struct json_value){string, as_size(reader.at - string)}, name);
    skip_space(&reader);
    skip(&reader, ':');
    read_value(&reader, ret);
    *left = (struct json_value){reader.at, as_size(reader.end - reader.at)};
    return true;
}

/* ==== writes a string as JSON for a program to read ==== */

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

/* Appends a string: bytes that are not UTF-8 become U+FFFD. */
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
        const size_t read = utf8_read(data + at, size - at, &character);
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

/* Appends an event Runtime.consoleAPICalled of this moment: a line for DevTools' console, with type
 * "log", "warning" or "error". */
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
