/*
 * printable; see printable.h.
 *
 * Names of functions, types and files, versions and the words of errors may hold anything: what is
 * said of them passes through here, so that a dump cannot write to the terminal of who reads it.
 */
#include "base/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The size of the character of UTF-8 at text, and the character; 0 where there is none. */
static size_t character_at(const uint8_t *text, size_t left, uint32_t *ret)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t first = text[0];
    const size_t size = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
    if (size == 0 || size > left)
        return 0;
    *ret = size == 1 ? first : first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *ret = *ret << 6 | (text[i] & 0x3f);
    }
    const bool is_surrogate = *ret >= 0xd800 && *ret < 0xe000;
    return *ret < lowest[size] || *ret > 0x10ffff || is_surrogate ? 0 : size;
}

static bool is_shown(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } unseen[] = {
        {0, 0x1f},          {0x7f, 0x9f},     /* C0, DEL, C1 */
        {0x61c, 0x61c},                       /* Arabic letter mark */
        {0x200b, 0x200f},                     /* of no width, of a direction */
        {0x2028, 0x202e},                     /* ends of lines; embeddings, overrides */
        {0x2060, 0x206f},                     /* isolates */
        {0xfeff, 0xfeff},   {0xfff9, 0xfffb}, /* byte order mark, annotations */
        {0xe0000, 0xe0fff},                   /* tags */
    };
    for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
        if (character >= unseen[i].first && character <= unseen[i].last)
            return false;
    return true;
}

size_t printable(char *text, size_t size)
{
    size_t kept = 0;
    for (size_t at = 0; at < size;) {
        uint32_t character = 0;
        const size_t count = character_at((const uint8_t *)text + at, size - at, &character);
        if (count > 0 && is_shown(character)) {
            memmove(text + kept, text + at, count);
            kept += count;
        } else {
            text[kept++] = '?';
        }
        at += count > 0 ? count : 1;
    }
    return kept;
}
