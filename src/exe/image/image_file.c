/*
 * image_file: what the readers of ELF, Mach-O and PE share; see image_file.h: numbers and strings
 * of the file in its byte order, sections and the ranges of addresses that they have, symbols, and
 * the words that relocations change.
 */
#include "exe/image/image_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/memory.h"

struct image_range {
    uint64_t address, size; /* size > 0 */
    size_t section;
};

/* ---- numbers and strings ---- */

enum { HOST_IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

uint16_t image_u16(const struct image *image, const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return image->big_endian == HOST_IS_BIG_ENDIAN ? value : __builtin_bswap16(value);
}

uint32_t image_u32(const struct image *image, const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return image->big_endian == HOST_IS_BIG_ENDIAN ? value : __builtin_bswap32(value);
}

/* Reads a word of 4 or 8 bytes in the image's byte order. */
uint64_t image_word(const struct image *image, const uint8_t *at)
{
    uint64_t value;
    if (!image->is_64)
        return image_u32(image, at);
    memcpy(&value, at, sizeof(value));
    return image->big_endian == HOST_IS_BIG_ENDIAN ? value : __builtin_bswap64(value);
}

/* Returns size bytes at an offset of the file; they are empty if the file does not have them. */
struct g2h_bytes image_file_range(const struct image *image, uint64_t offset, uint64_t size)
{
    if (offset > image->file.size || size > image->file.size - offset)
        return bytes_none;
    return bytes_part(image->file, offset, size);
}

/* The most bytes of a string. Many symbols may share one long string, and the search for its end
 * would be repeated for each. No class name is as long. */
enum { NAME_MOST = 4096 };

/* Returns the string at an offset of a table, cut to NAME_MOST bytes; empty if it has no end. */
struct g2h_bytes image_file_text(struct g2h_bytes table, uint64_t offset)
{
    if (offset >= table.size)
        return bytes_none;
    const uint64_t left = table.size - offset;
    const size_t most = left < NAME_MOST ? (size_t)left : NAME_MOST;
    const uint8_t *start = table.data + offset;
    const uint8_t *end = memchr(start, 0, most);
    if (end)
        return bytes_between(start, end);
    return left > most ? bytes_at(start, most) : bytes_none;
}

/* Returns a string of most bytes, or of fewer bytes if a NUL ends it. */
struct g2h_bytes image_file_short_text(const uint8_t *at, size_t most)
{
    const uint8_t *end = memchr(at, 0, most);
    return (struct g2h_bytes){at, end ? as_size(end - at) : most};
}

struct g2h_error *image_file_refuse(const struct image *image, const char *why)
{
    return error_create(G2H_ERROR_NOT_EXE, "%s: %s", image->path, why);
}

/* ---- sections ---- */

/* Makes space for count sections. */
struct g2h_error *image_file_add_sections(struct image *image, size_t count)
{
    image->sections = calloc(count, sizeof(*image->sections));
    image->names = calloc(count, sizeof(*image->names));
    if (!image->sections || !image->names)
        return &error_no_memory;
    image->section_count = count;
    for (size_t i = 0; i < count; i++)
        image->sections[i].name = image->sections[i].data = bytes_none;
    return NULL;
}

/* Names a section. The name is composed in memory of the image, since the file does not have it. */
void image_file_name_section(struct image *image, size_t index, const char *prefix,
                             struct g2h_bytes text)
{
    char *name = image->names[index];
    const size_t head = strlen(prefix);
    const size_t space = sizeof(image->names[index]) - head;
    const size_t tail = MIN(text.size, space);
    memmove(name + head, text.data, tail); /* text may be the old name itself */
    memcpy(name, prefix, head);
    image->sections[index].name = bytes_at(name, head + tail);
}

/* Renames a section .zdebug_info or the like to .debug_info, and marks it as compressed in GNU's
 * old form. Sections with other names, or too long ones, stay as they are. */
void image_file_name_dwarf(struct image *image, size_t index)
{
    static const char prefix[] = ".zdebug_";
    const size_t size = sizeof(prefix) - 1;
    const struct g2h_bytes name = image->sections[index].name;
    if (!bytes_begin(name, prefix) || name.size > sizeof(image->names[index]))
        return;
    image_file_name_section(image, index, ".debug_", bytes_from(name, size));
    image->sections[index].gnu_compressed = true;
}

/* ---- addresses ---- */

/* Orders ranges by address, then by section. */
static int image_compare_ranges(const void *a, const void *b)
{
    const struct image_range *one = a;
    const struct image_range *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    return COMPARE(one->section, other->section);
}

/* Makes a sorted list of the address ranges of sections for image_at(). The sum of sizes is
 * limited: in sound files, sections do not share bytes. */
struct g2h_error *image_file_find_addresses(struct image *image)
{
    uint64_t total = 0;
    image->ranges = calloc(image->section_count + 1, sizeof(*image->ranges));
    if (!image->ranges)
        return &error_no_memory;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        total += section->data.size; /* no overflow: each has at most the file's size, and there are
                                        at most 2^16 */
        if ((section->flags & SHF_ALLOC) == 0 || section->address == 0 || section->data.size == 0 ||
            section->data.size - 1 > UINT64_MAX - section->address)
            continue;
        image->ranges[image->range_count++] =
            (struct image_range){section->address, section->data.size, i};
    }
    if (total / 2 > image->file.size)
        return image_file_refuse(image, "its sections are larger than the file");
    qsort(image->ranges, image->range_count, sizeof(*image->ranges), image_compare_ranges);
    /* If two ranges overlap, the later one gets the common addresses, so that each address is in
     * one range. */
    size_t count = 0;
    for (size_t i = 0; i < image->range_count; i++) {
        struct image_range range = image->ranges[i];
        if (i + 1 < image->range_count && range.size > image->ranges[i + 1].address - range.address)
            range.size = image->ranges[i + 1].address - range.address;
        if (range.size > 0)
            image->ranges[count++] = range;
    }
    image->range_count = count;
    assert(IS_ORDERED(i, count,
                      image->ranges[i].address - image->ranges[i - 1].address >=
                          image->ranges[i - 1].size));
    return NULL;
}

/* Returns the range that contains size bytes at an address, or NULL. */
static const struct image_range *find_range(const struct image *image, uint64_t address,
                                            uint64_t size)
{
    size_t after;
    BISECT(after, image->range_count, image->ranges[after].address <= address);
    if (after == 0)
        return NULL;
    const struct image_range *range = &image->ranges[after - 1];
    const uint64_t offset = address - range->address;
    return offset < range->size && size <= range->size - offset ? range : NULL;
}

/* Returns size bytes at an address, or NULL if no loaded section has them in the file. */
const uint8_t *image_at(const struct image *image, uint64_t address, uint64_t size)
{
    const struct image_range *range = find_range(image, address, size);
    return range ? image->sections[range->section].data.data + (address - range->address) : NULL;
}

/* Changes a word of the image. The file is mapped read-only, so a section is copied when its first
 * word changes. */
struct g2h_error *image_file_put_word(struct image *image, uint64_t address, uint64_t value)
{
    const size_t size = image->is_64 ? 8 : 4;
    const struct image_range *range = find_range(image, address, size);
    if (!range)
        return NULL;
    struct image_section *section = &image->sections[range->section];
    if (!section->relocated) {
        section->relocated = malloc(section->data.size);
        if (!section->relocated)
            return &error_no_memory;
        memcpy(section->relocated, section->data.data, section->data.size);
        section->data.data = section->relocated;
    }
    uint8_t *at = section->relocated + (address - range->address);
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * (image->big_endian ? size - 1 - i : i));
    return NULL;
}

/* ---- symbols ---- */

/* Orders symbols by address. */
static int compare_symbols(const void *a, const void *b)
{
    const struct image_symbol *one = a;
    const struct image_symbol *other = b;
    return COMPARE(one->address, other->address);
}

/* Returns whether a symbol is one of those with which the linker marks a start or an end
 * (cmd/link/internal/ld/data.go). A variable may have the same address. */
static bool is_mark(struct g2h_bytes name)
{
    static const char *const marks[] = {
        "runtime.data",      "runtime.edata",      "runtime.bss",       "runtime.ebss",
        "runtime.noptrdata", "runtime.enoptrdata", "runtime.noptrbss",  "runtime.enoptrbss",
        "runtime.covctrs",   "runtime.ecovctrs",   "runtime.end",       "runtime.types",
        "runtime.etypes",    "runtime.rodata",     "runtime.erodata",   "runtime.text",
        "runtime.etext",     "runtime.itablink",   "runtime.eitablink", "runtime.gcdata",
        "runtime.gcbss",     "runtime.typelink",   "runtime.etypelink",
    };
    if (!bytes_begin(name, "runtime."))
        return false;
    for (size_t i = 0; i < COUNT_OF(marks); i++)
        if (bytes_are(name, marks[i]))
            return true;
    return false;
}

/* Finds the sizes of symbols. Mach-O and PE do not record the sizes of symbols: a symbol reaches to
 * the next higher address with a symbol, or to its section's end. */
void image_file_size_symbols(struct image *image)
{
    struct image_symbol *symbols = image->symbols;
    const size_t count = image->symbol_count;
    if (count == 0)
        return;
    qsort(symbols, count, sizeof(*symbols), compare_symbols);
    for (size_t i = count, next = count; i-- > 0;) {
        /* next: the first symbol that has a higher address */
        if (i + 1 < count && symbols[i + 1].address != symbols[i].address)
            next = i + 1;
        const struct image_section *section = &image->sections[symbols[i].section];
        const uint64_t left = section->size - (symbols[i].address - section->address);
        const uint64_t gap = next < count ? symbols[next].address - symbols[i].address : left;
        const bool is_sized = !is_mark(symbols[i].name) && left <= section->size;
        const uint64_t size = MIN(gap, left);
        symbols[i].size = is_sized ? size : 0;
    }
}
