/*
 * The sections of DWARF, as an ELF file of their own.
 *
 * Uncompressed by us, so that there is a bound on it; without those that nothing is asked of (lines
 * and frames are half of all); each with some bytes behind it that may be read. What libelf sees is
 * thus always well-formed, whatever the executable is.
 */
#include "exe/dwarf.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *const wanted[] = {"info", "abbrev", "str",      "line_str", "str_offsets",
                                     "addr", "loc",    "loclists", "ranges",   "rnglists"};
enum { INFO, ABBREV }; /* that nothing can be read without */
#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

struct section {
    struct g2h_bytes data; /* as it is in the executable, without a header */
    uint64_t size;         /* uncompressed */
    bool compressed;
    uint64_t offset; /* in the ELF file that is made */
};

/* ".debug_info" of ELF and PE, "__debug_info" of Mach-O, which has 16 bytes for it. */
static bool has_name(const struct g2h_bytes *own, const char *name, bool *ret_z)
{
    static const char *const prefixes[] = {".debug_", "__debug_", ".zdebug_", "__zdebug_"};
    for (size_t i = 0; i < 4; i++) {
        char full[32];
        int size = snprintf(full, sizeof(full), "%s%s", prefixes[i], name);
        if (*full == '_' && size > 16)
            size = 16;
        if (own->size == (size_t)size && memcmp(own->data, full, own->size) == 0) {
            *ret_z = i >= 2;
            return true;
        }
    }
    return false;
}

static uint64_t big_endian_64(const uint8_t *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value = value << 8 | at[i];
    return value;
}

/* Finds where the bytes are and how many they become; false where that cannot be known. */
static bool open_section(const struct image *image, const struct image_section *from, bool z,
                         struct section *ret)
{
    *ret = (struct section){.data = from->data, .size = from->data.size};
    uint64_t header = 0;
    if (z && from->data.size >= 12 && memcmp(from->data.data, "ZLIB", 4) == 0) {
        header = 12;
        ret->size = big_endian_64(from->data.data + 4);
    } else if ((from->flags & SHF_COMPRESSED) != 0) {
        header = image->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
        if (from->data.size < header ||
            image_u32(image, from->data.data) != 1) /* ELFCOMPRESS_ZLIB */
            return false;
        ret->size = image_word(image, from->data.data + (image->is_64 ? 8 : 4));
    }
    ret->compressed = header > 0;
    ret->data.data += header;
    ret->data.size -= header;
    /* Zlib makes at most 1032 bytes of one. */
    return !ret->compressed || ret->size / 1032 <= ret->data.size;
}

static bool fill_section(const struct section *section, uint8_t *to)
{
    if (!section->compressed) {
        if (section->size > 0) /* data is NULL else */
            memcpy(to, section->data.data, (size_t)section->size);
        return true;
    }
    z_stream stream = {.next_in = (Bytef *)section->data.data, .next_out = to};
    if (inflateInit(&stream) != Z_OK)
        return false;
    uint64_t in = section->data.size, out = section->size;
    int status = Z_OK;
    while (status == Z_OK) {
        const uInt in_now = in < 1u << 30 ? (uInt)in : 1u << 30;
        const uInt out_now = out < 1u << 30 ? (uInt)out : 1u << 30;
        if (stream.avail_in == 0) {
            stream.avail_in = in_now;
            in -= in_now;
        }
        if (stream.avail_out == 0) {
            stream.avail_out = out_now;
            out -= out_now;
        }
        status = inflate(&stream, Z_NO_FLUSH);
    }
    const bool whole = status == Z_STREAM_END && out == 0 && stream.avail_out == 0;
    inflateEnd(&stream);
    return whole;
}

static void put(uint8_t *at, uint64_t value, unsigned width, bool big_endian)
{
    for (unsigned i = 0; i < width; i++)
        at[big_endian ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

#define PUT(at, type, member, value) \
    put((at) + offsetof(type, member), value, sizeof(((type *)0)->member), big_endian)

static void put_header(uint8_t *file, uint64_t table, bool big_endian)
{
    memcpy(file, ELFMAG, SELFMAG);
    file[EI_CLASS] = ELFCLASS64;
    file[EI_DATA] = big_endian ? ELFDATA2MSB : ELFDATA2LSB;
    file[EI_VERSION] = EV_CURRENT;
    PUT(file, Elf64_Ehdr, e_type, ET_EXEC);
    PUT(file, Elf64_Ehdr, e_version, EV_CURRENT);
    PUT(file, Elf64_Ehdr, e_shoff, table);
    PUT(file, Elf64_Ehdr, e_ehsize, sizeof(Elf64_Ehdr));
    PUT(file, Elf64_Ehdr, e_shentsize, sizeof(Elf64_Shdr));
    PUT(file, Elf64_Ehdr, e_shnum, WANTED + 2);
    PUT(file, Elf64_Ehdr, e_shstrndx, WANTED + 1);
}

static void put_section(uint8_t *at, uint32_t name, uint32_t type, uint64_t offset, uint64_t size,
                        bool big_endian)
{
    PUT(at, Elf64_Shdr, sh_name, name);
    PUT(at, Elf64_Shdr, sh_type, type);
    PUT(at, Elf64_Shdr, sh_offset, offset);
    PUT(at, Elf64_Shdr, sh_size, size);
    PUT(at, Elf64_Shdr, sh_addralign, 1);
}

static bool find_sections(const struct image *image, struct section *sections)
{
    /* Go's DWARF becomes two or three times as large; this is a bound for what is none. */
    uint64_t left = image->file.size * 32 + (16 << 20);
    for (size_t i = 0; i < WANTED; i++) {
        for (size_t s = 0; s < image->section_count && sections[i].size == 0; s++) {
            bool z;
            if (!has_name(&image->sections[s].name, wanted[i], &z))
                continue;
            if (!open_section(image, &image->sections[s], z, &sections[i]) ||
                sections[i].size > left)
                sections[i] = (struct section){.size = 0};
            left -= sections[i].size;
        }
    }
    return sections[INFO].size > 0 && sections[ABBREV].size > 0;
}

struct g2h_error *dwarf_elf_create(const struct image *image, uint8_t **ret, size_t *ret_size,
                                   struct g2h_bytes *ret_info)
{
    struct section sections[WANTED] = {{.size = 0}};
    *ret = NULL;
    if (!find_sections(image, sections))
        return NULL;
    uint64_t end = sizeof(Elf64_Ehdr);
    for (size_t i = 0; i < WANTED; i++) {
        sections[i].offset = end;
        end = (end + sections[i].size + DWARF_PADDING + 7) / 8 * 8;
    }
    char names[256] = "";
    size_t name_size = 1, name_at[WANTED + 1];
    for (size_t i = 0; i <= WANTED; i++) {
        name_at[i] = name_size;
        name_size +=
            (size_t)snprintf(names + name_size, sizeof(names) - name_size, "%s%s",
                             i < WANTED ? ".debug_" : ".shstrtab", i < WANTED ? wanted[i] : "") +
            1;
    }
    const uint64_t names_offset = end, table = names_offset + sizeof(names);
    end = table + (WANTED + 2) * sizeof(Elf64_Shdr);

    uint8_t *file = calloc(1, (size_t)end);
    if (!file)
        return &error_no_memory;
    const bool big_endian = image->big_endian;
    put_header(file, table, big_endian);
    memcpy(file + names_offset, names, sizeof(names));
    for (size_t i = 0; i < WANTED; i++) {
        uint64_t size = sections[i].size;
        if (!fill_section(&sections[i], file + sections[i].offset)) {
            if (i == INFO) {
                free(file);
                return NULL;
            }
            size = 0;
        }
        /* One without bytes is as good as none to libdw. */
        put_section(file + table + (i + 1) * sizeof(Elf64_Shdr), (uint32_t)name_at[i],
                    size ? SHT_PROGBITS : SHT_NULL, sections[i].offset, size, big_endian);
    }
    put_section(file + table + (WANTED + 1) * sizeof(Elf64_Shdr), (uint32_t)name_at[WANTED],
                SHT_STRTAB, names_offset, sizeof(names), big_endian);
    *ret = file;
    *ret_size = (size_t)end;
    *ret_info = (struct g2h_bytes){file + sections[INFO].offset, sections[INFO].size};
    return NULL;
}
