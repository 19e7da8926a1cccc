/* wrap: the debug sections of any image as an ELF file in memory, for libdw, which reads nothing
 * else. Uncompressed on the way, within the bounds of compress.c, so it is of use for ELF too. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "exe/format.h"

/* Those that dwarf.c asks libdw for. Lines and frames would be half of all. */
static const char *const wanted[] = {
    ".debug_abbrev",   ".debug_addr",   ".debug_info",     ".debug_line_str",    ".debug_loc",
    ".debug_loclists", ".debug_ranges", ".debug_rnglists", ".debug_str_offsets", ".debug_str",
};
enum { WANTED = sizeof(wanted) / sizeof(*wanted) };

/* Zeros behind each section: libdw looks for the end of a text, and reads some numbers, without a
 * bound. */
enum { PADDING = 64 };

struct part {
    const struct image_section *section;
    uint64_t size, offset;
};

/* Writes numbers in the image's byte order and class. */
struct writer {
    const struct image *image;
    uint8_t *at;
};

static void put(struct writer *writer, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *writer->at++ = (uint8_t)(value >> 8 * (writer->image->big_endian ? size - 1 - i : i));
}

static void put_word(struct writer *writer, uint64_t value)
{
    put(writer, value, writer->image->is_64 ? 8 : 4);
}

static void put_header(struct writer *writer, uint64_t section_headers, size_t count)
{
    const struct image *image = writer->image;
    const uint8_t ident[EI_NIDENT] = {
        ELFMAG0,
        ELFMAG1,
        ELFMAG2,
        ELFMAG3,
        image->is_64 ? ELFCLASS64 : ELFCLASS32,
        image->big_endian ? ELFDATA2MSB : ELFDATA2LSB,
        EV_CURRENT,
    };
    memcpy(writer->at, ident, sizeof(ident));
    writer->at += sizeof(ident);
    put(writer, ET_EXEC, 2);
    put(writer, image->machine, 2);
    put(writer, EV_CURRENT, 4);
    put_word(writer, 0); /* e_entry */
    put_word(writer, 0); /* e_phoff */
    put_word(writer, section_headers);
    put(writer, 0, 4); /* e_flags */
    put(writer, image->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
    put(writer, 0, 2); /* e_phentsize */
    put(writer, 0, 2); /* e_phnum */
    put(writer, image->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
    put(writer, count, 2);
    put(writer, count - 1, 2); /* e_shstrndx: the last one */
}

static void put_section(struct writer *writer, uint64_t name, uint32_t type, uint64_t flags,
                        uint64_t address, uint64_t offset, uint64_t size)
{
    put(writer, name, 4);
    put(writer, type, 4);
    put_word(writer, flags);
    put_word(writer, address);
    put_word(writer, offset);
    put_word(writer, size);
    put(writer, 0, 4); /* sh_link */
    put(writer, 0, 4); /* sh_info */
    put_word(writer, 1);
    put_word(writer, 0); /* sh_entsize */
}

/* The sections that can be had, and the sizes that they will have. */
static size_t choose_parts(struct image *image, struct part *parts)
{
    size_t count = 0;
    for (size_t i = 0; i < WANTED; i++) {
        struct part part = {.section = image_section(image, wanted[i])};
        if (!part.section || part.section->data.size == 0)
            continue;
        part.size = part.section->data.size;
        if (format_is_compressed(part.section)) {
            struct g2h_error *error = format_inflated_size(image, part.section, &part.size);
            if (error) {
                g2h_error_destroy(error);
                continue;
            }
        }
        parts[count++] = part;
    }
    return count;
}

static struct g2h_error *put_contents(const struct image *image, struct part *part, uint8_t *at)
{
    if (!format_is_compressed(part->section)) {
        memcpy(at, part->section->data.data, (size_t)part->size);
        return NULL;
    }
    struct g2h_error *error = format_inflate(image, part->section, at, part->size);
    if (error && error->code != G2H_ERROR_MEMORY) {
        g2h_error_destroy(error);
        error = NULL;
        part->size = 0;
    }
    return error;
}

struct g2h_error *image_as_elf(struct image *image, struct g2h_bytes *ret)
{
    struct part parts[WANTED];
    const uint64_t header = image->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr),
                   entry = image->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    static const char names_name[] = ".shstrtab";
    if (image->elf.size > 0) {
        *ret = image->elf;
        return NULL;
    }
    /* The header, the section headers, the names, the sections. */
    const size_t part_count = choose_parts(image, parts), count = part_count + 2;
    const uint64_t names = header + entry * count;
    uint64_t size = names + 1 + sizeof(names_name);
    for (size_t i = 0; i < part_count; i++)
        size += parts[i].section->name.size + 1;
    const uint64_t names_size = size - names;
    for (size_t i = 0; i < part_count; i++) {
        parts[i].offset = size = (size + 7) / 8 * 8;
        size += parts[i].size + PADDING;
    }
    uint8_t *data = calloc(1, (size_t)size + 1);
    if (!data)
        return &error_no_memory;
    for (size_t i = 0; i < part_count; i++) {
        struct g2h_error *error = put_contents(image, &parts[i], data + parts[i].offset);
        if (error) {
            free(data);
            return error;
        }
    }
    struct writer writer = {image, data};
    put_header(&writer, header, count);
    put_section(&writer, 0, SHT_NULL, 0, 0, 0, 0);
    uint64_t name = 1;
    for (size_t i = 0; i < part_count; i++) {
        const struct image_section *section = parts[i].section;
        memcpy(data + names + name, section->name.data, (size_t)section->name.size);
        const bool loaded = (section->flags & SHF_ALLOC) != 0; /* .eh_frame counts from itself */
        put_section(&writer, name, SHT_PROGBITS, loaded ? SHF_ALLOC : 0,
                    loaded ? section->address : 0, parts[i].offset, parts[i].size);
        name += section->name.size + 1;
    }
    memcpy(data + names + name, names_name, sizeof(names_name));
    put_section(&writer, name, SHT_STRTAB, 0, 0, names, names_size);
    image->elf = *ret = (struct g2h_bytes){data, size};
    return NULL;
}
