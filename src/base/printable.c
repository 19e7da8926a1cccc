/*
 * printable; see printable.h.
 *
 * Names of functions, types and files, versions and error messages may contain anything. All text
 * that shows them passes through here, so that no dump can write arbitrary bytes to the user's
 * terminal.
 */
#include "base/printable.h"

#include <string.h>

#include "base/utf8.h"

/* All of ASCII but its controls is shown; of the rest, characters that are invisible or change the
 * direction of text are not. */
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
    for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
        if (character >= unseen[i].first && character <= unseen[i].last)
            return false;
    return true;
}

/* Returns whether a string is valid UTF-8 that g2h_printable() would not change. */
bool printable_is(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        const size_t count = utf8_read((const uint8_t *)text + at, size - at, &character);
        if (count == 0 || !printable_is_shown(character))
            return false;
        at += count;
    }
    return true;
}

/* Moves what stays to the front; each other character or invalid byte becomes one "?", so the text
 * never grows. */
size_t g2h_printable(char *text, size_t size)
{
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        const size_t count = utf8_read((const uint8_t *)text + at, size - at, &character);
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
