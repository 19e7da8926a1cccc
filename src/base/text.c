/*
 * text: strings that grow by appending, numbers for people, and what is safe to show; see text.h.
 * An error (no memory) is kept in text->failed, so that callers check once at the end. The parts:
 * appending, also Go's shortest form of a float; quoting for a shell; and printable text, since
 * names from a dump may contain control characters.
 */
#include "base/contract.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ==== a string that grows by appending; most of them are names ==== */

/* Makes room for size more bytes, and for half as much again as there was, so that many small
 * appends are cheap. Returns false, and sets text->failed, if memory runs out. */
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

/* Appends what printf() would print. Short pieces, as most are, are formatted once, in buffer;
 * longer ones again in the text itself, when their size is known. */
void text_printf(struct text *text, const char *format, ...)
{
    char buffer[256];
    va_list arguments;
    va_start(arguments, format);
    const size_t size = (size_t)vsnprintf(buffer, sizeof(buffer), format, arguments);
    va_end(arguments);
    if (size < sizeof(buffer)) {
        text_append(text, buffer, size);
    } else if (text_grow(text, size + 1)) {
        va_start(arguments, format);
        text->size += as_size(vsnprintf(text->data + text->size, size + 1, format, arguments));
        va_end(arguments);
    }
}

/* Appends the digits of a number; this is faster than text_printf(). */
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

/* Appends the digits of a number in groups of three: 1,234. */
void text_append_grouped(struct text *text, uint64_t number)
{
    if (number >= 1000)
        text_append_grouped(text, number / 1000);
    text_printf(text, number >= 1000 ? ",%03u" : "%u", (unsigned)(number % 1000));
}

/* Returns how many decimals a number below 999.5 has when three of its digits are shown. 9.995 and
 * 99.95 would be rounded to 10.0 and 100, so they have one decimal less. */
static int decimals_of_three_digits(double value)
{
    if (value < 9.995)
        return 2;
    return value < 99.95 ? 1 : 0;
}

/* Appends a number of bytes: "1.25 kB". Three significant digits, in decimal units; 999.5 kB would
 * be rounded to 1000, so it is 1.00 MB. */
void text_append_bytes(struct text *text, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes / 1000;
    size_t unit = 0;
    if (bytes < 1000) {
        text_printf(text, "%u B", (unsigned)bytes);
        return;
    }
    for (; value >= 999.5 && unit + 1 < COUNT_OF(units); unit++)
        value /= 1000;
    text_printf(text, "%.*f %s", decimals_of_three_digits(value), value, units[unit]);
}

/* Returns whether a decimal number is read as the same float: of 32 bits if is_narrow, else of
 * 64. */
static bool is_read_as(const char *text, double value, bool is_narrow)
{
    return is_narrow ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Replaces a number, as "%e" prints it, by the next larger one with as many digits before its
 * exponent. If all digits are nines they become zeros, so the result is not larger. */
static void increment_digits(char *text)
{
    for (char *at = strchr(text, 'e') - 1; at >= text; at--) {
        if (*at < '0' || *at > '9')
            continue; /* the decimal point, in any locale */
        if (*at < '9') {
            ++*at;
            return;
        }
        *at = '0';
    }
}

/* Finds the fewest digits that are read as the same number. Returns where the decimal point stands:
 * value is 0.d1 d2 … × 10^result. For a power of two, the next larger number of as many digits may
 * round-trip when the nearest does not, because the floats below a power of two are closer
 * together. If is_narrow, the number is a float of 32 bits, which needs fewer digits.
 */
static int shortest_digits(double value, bool is_narrow, char digits[static 18])
{
    enum { ALL = 16 /* with the first digit 17: enough for any number */ };
    char text[64];
    size_t count = 0;
    for (int precision = 0;; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, value);
        if (precision == ALL || is_read_as(text, value, is_narrow))
            break;
        increment_digits(text);
        if (is_read_as(text, value, is_narrow))
            break;
    }
    const char *exponent = strchr(text, 'e');
    for (const char *at = text; at < exponent; at++)
        if (*at >= '0' && *at <= '9')
            digits[count++] = *at;
    digits[count] = 0;
    return atoi(exponent + 1) + 1;
}

/* Appends digits with the point after the given number of them, padded with zeros: for numbers that
 * Go does not write with an exponent. */
static void append_decimal(struct text *text, const char *digits, int point)
{
    const int count = (int)strlen(digits);
    text_append(text, "0", point <= 0 ? 1 : 0);
    for (int i = 0; i < point; i++)
        text_append(text, i < count ? &digits[i] : "0", 1);
    if (count <= point)
        return;
    text_append_string(text, ".");
    for (int i = point; i < count; i++)
        text_append(text, i >= 0 ? &digits[i] : "0", 1);
}

/* Appends a number. Formats as Go's strconv does: as few digits as are read as the same number. */
void text_append_float(struct text *text, double value, bool is_narrow)
{
    enum { LEAST_POINT = -3, MOST_POINT = 6 /* Go's strconv: otherwise with an exponent */ };
    char digits[18];
    if (isnan(value)) {
        text_append_string(text, "NaN");
        return;
    }
    if (isinf(value)) {
        text_append_string(text, signbit(value) ? "-Inf" : "+Inf");
        return;
    }
    if (signbit(value))
        text_append_string(text, "-");
    const int point = shortest_digits(fabs(value), is_narrow, digits);
    if (point >= LEAST_POINT && point <= MOST_POINT) {
        append_decimal(text, digits, point);
        return;
    }
    text_append(text, digits, 1);
    text_append(text, ".", digits[1] ? 1 : 0);
    text_append_string(text, digits + 1);
    text_printf(text, "e%+03d", point - 1);
}

void text_deinit(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

/* Returns how many bytes at the beginning are ASCII. Looks at the top bits of eight bytes at a
 * time. */
size_t text_ascii_run(const void *bytes, size_t size)
{
    const uint8_t *data = bytes;
    size_t run = 0;
    uint64_t eight;
    for (; size - run >= 8; run += 8) {
        memcpy(&eight, data + run, 8);
        if ((eight & 0x8080808080808080u) != 0)
            break;
    }
    while (run < size && data[run] < 0x80)
        run++;
    return run;
}

/* Appends at most limit characters, and returns their number. Copies runs of ASCII at once; each
 * invalid byte becomes U+FFFD. */
size_t text_append_utf8(struct text *text, const void *bytes, size_t size, size_t limit)
{
    const uint8_t *data = bytes;
    size_t characters = 0;
    for (size_t at = 0; at < size && characters < limit;) {
        const size_t most = MIN(size - at, limit - characters);
        const size_t run = text_ascii_run(data + at, most);
        text_append(text, data + at, run);
        at += run;
        characters += run;
        if (run == most) /* the end, or the limit */
            continue;
        uint32_t character;
        const size_t length = utf8_read(data + at, size - at, &character);
        if (length == 0)
            text_append_string(text, "\xef\xbf\xbd");
        else
            text_append(text, data + at, length);
        at += length ? length : 1;
        characters++;
    }
    return characters;
}

/* Appends at most limit characters; returns whether there are more. Appends one more than wanted,
 * and removes it: its bytes that continue a character (10xxxxxx), then its first one. */
bool text_append_clipped(struct text *text, const void *data, size_t size, size_t limit)
{
    const size_t before = text->size;
    if (text_append_utf8(text, data, size, limit + 1) <= limit)
        return false;
    while (text->size > before && ((uint8_t)text->data[text->size - 1] & 0xc0) == 0x80)
        text->size--;
    text->size -= text->size > before;
    return true;
}

/* ==== quotes the words of commands that messages suggest ==== */

/* Returns whether a word needs no quoting. */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    return *word && word[strspn(word, plain)] == '\0';
}

/* Appends a word in single quotes; a quote inside closes them, and is escaped. */
static void append_quoted(struct text *command, const char *word)
{
    text_append_string(command, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_append_string(command, "'\\''");
        else
            text_append(command, word, 1);
    text_append_string(command, "'");
}

/* Appends a word quoted for a POSIX shell: in single quotes if it has characters that are special
 * to the shell. */
void shell_append(struct text *command, const char *word)
{
    if (is_plain(word))
        text_append_string(command, word);
    else
        append_quoted(command, word);
}

/* ==== which outside text is safe to show to people; g2h_printable() makes it so ====
 *
 * Names of functions, types and files, versions and error messages may contain anything. All text
 * that shows them passes through here, so that no dump can write arbitrary bytes to the user's
 * terminal.
 */

/* Returns whether a character may be shown as it is. All of ASCII but its controls is shown; of the
 * rest, characters that are invisible or change the direction of text are not. */
bool printable_is_shown(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } unseen[] = {
        {0, 0x1f},          {0x7f, 0x9f},     /* C0, DEL, C1 */
        {0x61c, 0x61c},                       /* Arabic letter mark */
        {0x200b, 0x200f},                     /* zero width, direction marks */
        {0x2028, 0x202e},                     /* line ends; embeddings, overrides */
        {0x2060, 0x206f},                     /* isolates */
        {0xfeff, 0xfeff},   {0xfff9, 0xfffb}, /* byte order mark, annotations */
        {0xe0000, 0xe0fff},                   /* tags */
    };
    if (character >= ' ' && character < 0x7f)
        return true;
    for (size_t i = 0; i < COUNT_OF(unseen); i++)
        if (character >= unseen[i].first && character <= unseen[i].last)
            return false;
    return true;
}

/* Returns whether a string is valid UTF-8 that g2h_printable() would not change. */
bool printable_is(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        const size_t count = utf8_read(text + at, size - at, &character);
        if (count == 0 || !printable_is_shown(character))
            return false;
        at += count;
    }
    return true;
}

/* Makes text safe to show, in place; returns its new size. Moves what stays to the front; each
 * other character or invalid byte becomes one "?", so the text never grows. */
size_t g2h_printable(char *text, size_t size)
{
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        const size_t count = utf8_read(text + at, size - at, &character);
        if (count > 0 && printable_is_shown(character)) {
            memmove(text + kept, text + at, count);
            kept += count;
        } else {
            text[kept++] = '?';
        }
        at += count > 0 ? count : 1;
    }
    return kept;
}
