/* json; see json.h. */
#include "json.h"

#include <string.h>

#include "base/error.h"

static inline void pass_space(struct json *json)
{
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
        json->at++;
}

/* Passes over space, and then over the wanted character if it is there. Returns whether it is. */
static inline bool take(struct json *json, char wanted)
{
    pass_space(json);
    const bool is_there = json->at < json->end && *json->at == (uint8_t)wanted;
    json->at += is_there;
    return is_there;
}

struct g2h_error *json_error(const struct json *json, const char *what)
{
    return error_create(G2H_ERROR_DAMAGED, "%s: byte %llu: %s", json->name,
                        (unsigned long long)(json->at - json->begin),
                        json->at < json->end ? what : "the file ends here");
}

/* ---- lists and objects ---- */

struct g2h_error *json_open(struct json *json, char bracket)
{
    if (take(json, bracket))
        return NULL;
    return json_error(json, bracket == '[' ? "a list was expected" : "an object was expected");
}

struct g2h_error *json_next(struct json *json, char bracket, bool is_first, bool *ret_more)
{
    *ret_more = !take(json, bracket == '[' ? ']' : '}');
    if (!*ret_more || is_first || take(json, ','))
        return NULL;
    return json_error(json, bracket == '[' ? "',' or ']' was expected" : "',' or '}' was expected");
}

bool json_is(const struct text *string, const char *text)
{
    return string->size == strlen(text) && memcmp(string->data, text, string->size) == 0;
}

struct g2h_error *json_object(struct json *json, json_entry *each, void *context)
{
    _cleanup_(text_deinit) struct text key = {0};
    bool more;
    TRY(json_open(json, '{'));
    for (bool is_first = true;; is_first = false) {
        TRY(json_next(json, '{', is_first, &more));
        if (!more)
            return NULL;
        TRY(json_string(json, &key));
        if (!take(json, ':'))
            return json_error(json, "':' was expected");
        TRY(each(context, &key));
    }
}

enum json_kind json_kind(struct json *json)
{
    pass_space(json);
    const uint8_t first = json->at < json->end ? *json->at : 0;
    return first == '['   ? JSON_LIST
           : first == '{' ? JSON_OBJECT
           : first == '"' ? JSON_STRING
                          : JSON_OTHER;
}

struct g2h_error *json_finish(struct json *json)
{
    pass_space(json);
    return json->at == json->end ? NULL : json_error(json, "the end was expected");
}

/* ---- numbers ---- */

static bool is_digit(const struct json *json, const uint8_t *at)
{
    return at < json->end && *at >= '0' && *at <= '9';
}

enum { MOST_EXPONENT = 100000 /* far above that of any number here: larger ones are cut off */ };

/* Reads the exponent at *at, after its letter, and passes over it. Returns false if there is none.
 */
static bool read_exponent(const struct json *json, const uint8_t **at, int64_t *ret)
{
    const bool is_negative = *at < json->end && **at == '-';
    int64_t value = 0;
    if (*at < json->end && (**at == '-' || **at == '+'))
        ++*at;
    if (!is_digit(json, *at))
        return false;
    for (; is_digit(json, *at); ++*at)
        value = value < MOST_EXPONENT ? value * 10 + (**at - '0') : value;
    *ret = is_negative ? -value : value;
    return true;
}

/* Multiplies a value by a power of ten. Returns false if the result is not whole, or above most. */
static bool scale(uint64_t value, int64_t power, uint64_t most, uint64_t *ret)
{
    for (; power < 0 && value != 0; power++, value /= 10)
        if (value % 10 != 0)
            return false;
    for (; power > 0 && value != 0; power--, value *= 10)
        if (value > most / 10)
            return false;
    *ret = value;
    return value <= most;
}

/* Reads a number that has a fraction or an exponent, such as 12.0 or 1e3. value: its digits before
 * these; at: behind them. */
static struct g2h_error *read_fraction(struct json *json, const uint8_t *at, uint64_t value,
                                       uint64_t most, uint64_t *ret)
{
    int64_t power = 0, zeros = 0, exponent = 0;
    if (*at == '.' && !is_digit(json, at + 1))
        return json_error(json, "a whole number was expected");
    if (*at == '.')
        for (at++; is_digit(json, at); at++) {
            zeros++; /* digits that are not in value: zeros, and then this one */
            if (*at == '0')
                continue;
            for (; zeros > 0; zeros--, power--) {
                if (value > UINT64_MAX / 10 - 1)
                    return json_error(json, "a whole number was expected");
                value = value * 10 + (zeros == 1 ? (uint64_t)(*at - '0') : 0);
            }
        }
    if (at < json->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (!read_exponent(json, &at, &exponent))
            return json_error(json, "a whole number was expected");
    }
    if (!scale(value, power + exponent, most, ret))
        return json_error(json, "a whole number was expected, which is not too large");
    json->at = at;
    return NULL;
}

struct g2h_error *json_number(struct json *json, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;
    pass_space(json);
    const uint8_t *first = json->at;
    const uint8_t *at = first;
    for (; is_digit(json, at); at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (value > (most - digit) / 10)
            return json_error(json, "the number is too large");
        value = value * 10 + digit;
    }
    if (at == first)
        return json_error(json, "a whole number was expected");
    if (at < json->end && (*at == '.' || *at == 'e' || *at == 'E'))
        return read_fraction(json, at, value, most, ret);
    json->at = at;
    *ret = value;
    return NULL;
}

/* ---- strings ---- */

enum { REPLACEMENT = 0xfffd };

static void append_character(struct text *text, uint32_t character)
{
    char bytes[4];
    size_t size = 0;
    if (character < 0x80) {
        bytes[size++] = (char)character;
    } else if (character < 0x800) {
        bytes[size++] = (char)(0xc0 | character >> 6);
        bytes[size++] = (char)(0x80 | (character & 0x3f));
    } else if (character < 0x10000) {
        bytes[size++] = (char)(0xe0 | character >> 12);
        bytes[size++] = (char)(0x80 | (character >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (character & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | character >> 18);
        bytes[size++] = (char)(0x80 | (character >> 12 & 0x3f));
        bytes[size++] = (char)(0x80 | (character >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (character & 0x3f));
    }
    text_append(text, bytes, size);
}

/* Reads the four digits behind \u. Returns false if they are not there. */
static bool read_unit(struct json *json, uint32_t *ret)
{
    static const char digits[] = "0123456789abcdef";
    *ret = 0;
    if (json->end - json->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        const int byte = *json->at | (*json->at >= 'A' ? 0x20 : 0);
        const char *digit = byte ? strchr(digits, byte) : NULL;
        if (!digit)
            return false;
        *ret = *ret << 4 | (uint32_t)(digit - digits);
        json->at++;
    }
    return true;
}

/* Reads the character of a \u, and with the first half of a surrogate pair the second half behind
 * it. Returns false if there are no four digits behind a \u. */
static bool read_unicode(struct json *json, struct text *ret)
{
    uint32_t unit, second;
    if (!read_unit(json, &unit))
        return false;
    const uint8_t *behind = json->at;
    const bool is_first = unit >= 0xd800 && unit < 0xdc00;
    if (is_first && json->end - behind >= 6 && behind[0] == '\\' && behind[1] == 'u') {
        json->at += 2;
        if (!read_unit(json, &second))
            return false;
        if (second >= 0xdc00 && second < 0xe000)
            unit = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
        else
            json->at = behind;
    }
    append_character(ret, unit >= 0xd800 && unit < 0xe000 ? REPLACEMENT : unit);
    return true;
}

/* Reads an escape behind its backslash. Returns false if there is no such escape. */
static bool read_escape(struct json *json, struct text *ret)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (json->at == json->end)
        return false;
    const uint8_t byte = *json->at;
    const char *name = byte ? strchr(names, byte) : NULL;
    if (!name && byte != 'u')
        return false;
    json->at++;
    if (!name)
        return read_unicode(json, ret);
    text_append(ret, &values[name - names], 1);
    return true;
}

struct g2h_error *json_string(struct json *json, struct text *ret)
{
    ret->size = 0;
    if (!take(json, '"'))
        return json_error(json, "a string was expected");
    while (json->at < json->end && *json->at != '"') {
        const uint8_t *plain = json->at;
        while (json->at < json->end && *json->at != '"' && *json->at != '\\' && *json->at >= ' ')
            json->at++;
        text_append_utf8(ret, plain, (uint64_t)(json->at - plain), SIZE_MAX);
        if (json->at == json->end || *json->at == '"')
            break;
        if (*json->at != '\\')
            return json_error(json, "a control character in a string");
        json->at++;
        if (!read_escape(json, ret))
            return json_error(json, "there is no such escape");
    }
    TRY_MEMORY(!ret->failed);
    return take(json, '"') ? NULL : json_error(json, "the string does not end");
}

/* ---- passing over ---- */

static void skip_string(struct json *json)
{
    json->at++;
    while (json->at < json->end && *json->at != '"')
        json->at += *json->at == '\\' && json->end - json->at > 1 ? 2 : 1;
    json->at += json->at < json->end;
}

/* Passes over a number, true, false or null, or over other characters in their place. */
static void skip_word(struct json *json)
{
    while (json->at < json->end && !strchr(" \t\r\n,:[]{}\"", *json->at))
        json->at++;
}

struct g2h_error *json_skip(struct json *json)
{
    uint64_t depth = 0;
    do {
        pass_space(json);
        const uint8_t *before = json->at;
        const uint8_t byte = before < json->end ? *before : 0;
        if (byte == '"')
            skip_string(json);
        else if (byte == '[' || byte == '{' || (depth > 0 && strchr("]},:", byte) && byte != 0))
            json->at++;
        else
            skip_word(json);
        if (json->at == before)
            return json_error(json, "a value was expected");
        if (byte == '[' || byte == '{')
            depth++;
        else if (byte == ']' || byte == '}')
            depth--;
    } while (depth > 0);
    return NULL;
}
