/* rtype; see rtype.h. Layouts: internal/abi/type.go, and runtime/type.go before Go 1.21. */
#include "exe/rtype.h"

#include <string.h>

#include "base/cursor.h"

enum { TFLAG_EXTRA_STAR = 2 }; /* the name in the file has a * before it that is not part of it */

/* A name: a byte of flags, its length, its text. */
static bool read_name(const struct rtypes *rtypes, uint64_t address, struct g2h_bytes *ret)
{
    const uint8_t *head = image_at(rtypes->image, address, 3);
    uint64_t size, prefix;
    if (!head)
        return false;
    if (rtypes->varint_lengths) {
        struct cursor cursor = {head + 1, head + 3}; /* names are shorter than 2^14 */
        if (!cursor_uvarint(&cursor, &size))
            return false;
        prefix = (uint64_t)(cursor.at - head);
    } else {
        size = (uint64_t)head[1] << 8 | head[2];
        prefix = 3;
    }
    ret->data = image_at(rtypes->image, address + prefix, size);
    ret->size = size;
    return size > 0 && ret->data != NULL;
}

bool rtypes_name(const struct rtypes *rtypes, uint64_t address, struct g2h_bytes *ret)
{
    /* Size_, PtrBytes, Hash, TFlag, Align_, FieldAlign_, Kind_, Equal, GCData, Str */
    const uint64_t word = rtypes->image->is_64 ? 8 : 4, flags = 2 * word + 4, name = 4 * word + 8;
    const uint8_t *type = image_at(rtypes->image, address - rtypes->slide, name + 8);
    if (!rtypes->found || !type ||
        !read_name(rtypes, rtypes->start + image_u32(rtypes->image, type + name), ret))
        return false;
    if ((type[flags] & TFLAG_EXTRA_STAR) != 0) {
        if (ret->data[0] != '*')
            return false;
        ret->data++;
        ret->size--;
    }
    return ret->size > 0;
}

/* Whether the text ends with another one's part behind the last slash: "*http.conn" names the
 * package of "net/http." */
static bool fits(const struct g2h_bytes *name, const struct g2h_bytes *record)
{
    uint64_t from = record->size;
    bool nameless = record->size > 0 && record->data[record->size - 1] == '.';
    while (from > 0 && record->data[from - 1] != '/')
        from--;
    const uint8_t *tail = record->data + from;
    uint64_t size = record->size - from;
    if (nameless) /* a pointer to a type of that package */
        return name->size > size && name->data[0] == '*' && memcmp(name->data + 1, tail, size) == 0;
    return name->size >= size && memcmp(name->data + name->size - size, tail, size) == 0;
}

/* How many of the dump's first type records have the name that the executable says. */
enum { WITNESSES = 256 };

static size_t count_fitting(const struct rtypes *rtypes, const struct g2h_heap *heap)
{
    size_t count = 0;
    for (size_t i = 0; i < heap->types.count && i < WITNESSES; i++) {
        struct g2h_bytes name;
        if (rtypes_name(rtypes, heap->types.data[i].address, &name) &&
            fits(&name, &heap->types.data[i].name))
            count++;
    }
    return count;
}

void rtypes_init(struct rtypes *rtypes, const struct image *image, uint64_t slide,
                 const struct g2h_heap *heap)
{
    *rtypes = (struct rtypes){.image = image, .slide = slide};
    const size_t most_sections = 256; /* a Go executable has a few dozen; each is tried */
    size_t best = 0;
    struct rtypes trial = *rtypes;
    if (image->section_count > most_sections)
        return;
    trial.found = true;
    /* The types begin a section, or stand behind a few words of one. */
    for (size_t i = 0; i < image->section_count; i++) {
        if (image->sections[i].address == 0 || image->sections[i].data.size == 0)
            continue;
        for (int varint = 0; varint < 2; varint++)
            for (uint64_t offset = 0; offset <= 64; offset += 32) {
                trial.start = image->sections[i].address + offset;
                trial.varint_lengths = varint != 0;
                size_t count = count_fitting(&trial, heap);
                if (count > best) {
                    best = count;
                    *rtypes = trial;
                }
            }
    }
    /* A wrong start may fit a name or two by chance. */
    const size_t witnesses = heap->types.count < WITNESSES ? heap->types.count : WITNESSES;
    rtypes->found = best > 0 && best >= witnesses - witnesses / 20;
}
