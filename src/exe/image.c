/* image; see image.h. Names of constants and fields are those of the System V ABI (elf.h). */
#include "exe/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number(const struct image *image, const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * (image->big_endian ? size - 1 - i : i);
    return value;
}

uint16_t image_u16(const struct image *image, const uint8_t *at)
{
    return (uint16_t)number(image, at, 2);
}

uint32_t image_u32(const struct image *image, const uint8_t *at)
{
    return (uint32_t)number(image, at, 4);
}

uint64_t image_word(const struct image *image, const uint8_t *at)
{
    return number(image, at, image->is_64 ? 8 : 4);
}

/* size bytes at offset; empty where the file has not as many. */
static struct g2h_bytes range(const struct image *image, uint64_t offset, uint64_t size)
{
    struct g2h_bytes none = {(const uint8_t *)"", 0};
    if (offset > image->file.size || size > image->file.size - offset)
        return none;
    return (struct g2h_bytes){image->file.data + offset, size};
}

/* The text that starts at offset of a string table; empty where it does not end in it. */
static struct g2h_bytes text_at(struct g2h_bytes table, uint64_t offset)
{
    struct g2h_bytes none = {(const uint8_t *)"", 0};
    if (offset >= table.size)
        return none;
    const uint8_t *start = table.data + offset,
                  *end = memchr(start, 0, (size_t)(table.size - offset));
    return end ? (struct g2h_bytes){start, (uint64_t)(end - start)} : none;
}

static void read_section(const struct image *image, const uint8_t *at, struct image_section *ret,
                         uint32_t *ret_name)
{
    const bool wide = image->is_64;
    *ret_name = image_u32(image, at);
    ret->type = image_u32(image, at + 4);
    ret->flags = image_word(image, at + 8);
    ret->address = image_word(image, at + (wide ? 16 : 12));
    uint64_t offset = image_word(image, at + (wide ? 24 : 16));
    ret->size = image_word(image, at + (wide ? 32 : 20));
    ret->link = image_u32(image, at + (wide ? 40 : 24));
    ret->data = ret->type == SHT_NOBITS ? range(image, 0, 0) : range(image, offset, ret->size);
}

static struct g2h_error *refuse(const struct image *image, const char *why)
{
    return error_create(G2H_ERROR_NOT_EXE, "%s: %s", image->path, why);
}

static struct g2h_error *read_sections(struct image *image)
{
    const bool wide = image->is_64;
    const uint8_t *header = image->file.data;
    const uint64_t offset = image_word(image, header + (wide ? 40 : 32));
    const uint16_t entry = image_u16(image, header + (wide ? 58 : 46));
    const uint16_t count = image_u16(image, header + (wide ? 60 : 48));
    const uint16_t names = image_u16(image, header + (wide ? 62 : 50));
    struct g2h_bytes table = range(image, offset, (uint64_t)entry * count);
    if (count == 0 || table.size == 0 || entry < (wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)))
        return refuse(image, "has no section headers");
    image->sections = calloc(count, sizeof(*image->sections));
    uint32_t *name_offsets = calloc(count, sizeof(*name_offsets));
    if (!image->sections || !name_offsets) {
        free(name_offsets);
        return &error_no_memory;
    }
    image->section_count = count;
    for (size_t i = 0; i < count; i++)
        read_section(image, table.data + i * entry, &image->sections[i], &name_offsets[i]);
    struct g2h_bytes none = {(const uint8_t *)"", 0};
    for (size_t i = 0; i < count; i++)
        image->sections[i].name =
            text_at(names < count ? image->sections[names].data : none, name_offsets[i]);
    free(name_offsets);
    return NULL;
}

struct g2h_error *image_init(struct image *image, const char *path, struct g2h_bytes file)
{
    *image = (struct image){.path = path, .file = file};
    if (file.size < sizeof(Elf64_Ehdr) || memcmp(file.data, ELFMAG, SELFMAG) != 0)
        return refuse(image, "is no ELF executable");
    const uint8_t class = file.data[EI_CLASS], order = file.data[EI_DATA];
    if ((class != ELFCLASS32 && class != ELFCLASS64) ||
        (order != ELFDATA2LSB && order != ELFDATA2MSB))
        return refuse(image, "is an ELF file of an unknown class or byte order");
    image->is_64 = class == ELFCLASS64;
    image->big_endian = order == ELFDATA2MSB;
    return read_sections(image);
}

void image_deinit(struct image *image)
{
    free(image->sections);
    *image = (struct image){0};
}

const struct image_section *image_section(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const struct g2h_bytes *own = &image->sections[i].name;
        if (own->size == strlen(name) && memcmp(own->data, name, own->size) == 0)
            return &image->sections[i];
    }
    return NULL;
}

/* ---- symbols ---- */

static const struct image_section *symbol_section(const struct image *image)
{
    for (size_t i = 0; i < image->section_count; i++)
        if (image->sections[i].type == SHT_SYMTAB)
            return &image->sections[i];
    return NULL;
}

static size_t symbol_size(const struct image *image)
{
    return image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

size_t image_symbol_count(const struct image *image)
{
    const struct image_section *section = symbol_section(image);
    return section ? (size_t)(section->data.size / symbol_size(image)) : 0;
}

bool image_symbol(const struct image *image, size_t index, struct image_symbol *ret)
{
    const struct image_section *section = symbol_section(image);
    if (!section || section->link >= image->section_count)
        return false;
    const uint8_t *at = section->data.data + index * symbol_size(image);
    ret->name = text_at(image->sections[section->link].data, image_u32(image, at));
    if (image->is_64) {
        ret->type = ELF64_ST_TYPE(at[4]);
        ret->section = image_u16(image, at + 6);
        ret->address = image_word(image, at + 8);
        ret->size = image_word(image, at + 16);
    } else {
        ret->address = image_word(image, at + 4);
        ret->size = image_word(image, at + 8);
        ret->type = ELF32_ST_TYPE(at[12]);
        ret->section = image_u16(image, at + 14);
    }
    return ret->name.size > 0;
}
