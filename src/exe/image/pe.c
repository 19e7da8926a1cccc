/*
 * pe: images from PE files, 32 and 64 bit. Names of constants and fields are those of Microsoft's
 * PE Format. The words of a PE file are right for its preferred base, so no relocations are
 * applied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "exe/image/image_file.h"

enum {
    IMAGE_FILE_MACHINE_I386 = 0x14c,
    IMAGE_FILE_MACHINE_ARMNT = 0x1c4,
    IMAGE_FILE_MACHINE_AMD64 = 0x8664,
    IMAGE_FILE_MACHINE_ARM64 = 0xaa64,
    PE32 = 0x10b,
    PE32_PLUS = 0x20b,
    COFF_HEADER_SIZE = 20,
    SECTION_SIZE = 40,
    SYMBOL_SIZE = 18,
    IMAGE_SYM_CLASS_EXTERNAL = 2,
    IMAGE_SYM_CLASS_STATIC = 3,
};

/* Offsets of members of structures. */
enum {
    E_LFANEW = 0x3c, /* of the MS-DOS header */
    /* the COFF header; Machine is the first */
    COFF_NUMBER_OF_SECTIONS = 2,
    COFF_POINTER_TO_SYMBOL_TABLE = 8,
    COFF_NUMBER_OF_SYMBOLS = 12,
    COFF_SIZE_OF_OPTIONAL_HEADER = 16,
    /* the optional header; Magic is the first */
    OPTIONAL_IMAGE_BASE = 28,
    OPTIONAL_IMAGE_BASE_PLUS = 24, /* of PE32+ */
    OPTIONAL_SIZE_READ = 32,
    /* a section's header; Name is the first */
    NAME_SIZE = 8,
    SECTION_VIRTUAL_SIZE = 8,
    SECTION_VIRTUAL_ADDRESS = 12,
    SECTION_SIZE_OF_RAW_DATA = 16,
    SECTION_POINTER_TO_RAW_DATA = 20,
    SECTION_CHARACTERISTICS = 36,
    /* a symbol; its name, or four zeros and its offset, is the first */
    SYMBOL_NAME_OFFSET = 4,
    SYMBOL_VALUE = 8,
    SYMBOL_SECTION_NUMBER = 12, /* from 1 on */
    SYMBOL_STORAGE_CLASS = 16,
    SYMBOL_NUMBER_OF_AUX = 17,
};

static const uint32_t IMAGE_SCN_MEM_DISCARDABLE = 0x02000000, IMAGE_SCN_MEM_EXECUTE = 0x20000000,
                      IMAGE_SCN_MEM_WRITE = 0x80000000;

struct pe {
    struct image *image;
    const uint8_t *header;           /* the COFF header */
    struct g2h_bytes symbols, texts; /* the symbol table, and the string table that follows it */
    uint64_t base;
};

/* Returns the name of a section: the string in its 8 bytes or, if these are / and a decimal offset,
 * the longer name at that offset. */
static struct g2h_bytes section_name(const struct pe *pe, const uint8_t *at)
{
    const struct g2h_bytes name = image_file_short_text(at, NAME_SIZE);
    uint64_t offset = 0;
    if (name.size < 2 || name.data[0] != '/')
        return name;
    for (size_t i = 1; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9')
            return name;
        offset = offset * 10 + name.data[i] - '0';
    }
    return image_file_text(pe->texts, offset);
}

/* Reads a section's header; addresses are relative to the preferred base. */
static void pe_read_section(const struct pe *pe, size_t index, const uint8_t *at)
{
    struct image *image = pe->image;
    struct image_section *section = &image->sections[index];
    const uint32_t virtual_size = image_u32(image, at + SECTION_VIRTUAL_SIZE);
    const uint32_t raw_size = image_u32(image, at + SECTION_SIZE_OF_RAW_DATA);
    const uint32_t characteristics = image_u32(image, at + SECTION_CHARACTERISTICS);
    section->name = section_name(pe, at);
    section->address = pe->base + image_u32(image, at + SECTION_VIRTUAL_ADDRESS);
    section->size = virtual_size > 0 ? virtual_size : raw_size;
    /* The section's part of the file is padded to FileAlignment. */
    section->data = image_file_range(image, image_u32(image, at + SECTION_POINTER_TO_RAW_DATA),
                                     MIN(raw_size, section->size));
    section->type = raw_size > 0 ? SHT_PROGBITS : SHT_NOBITS;
    if ((characteristics & IMAGE_SCN_MEM_DISCARDABLE) == 0)
        section->flags |= SHF_ALLOC;
    if ((characteristics & IMAGE_SCN_MEM_WRITE) != 0)
        section->flags |= SHF_WRITE;
    if ((characteristics & IMAGE_SCN_MEM_EXECUTE) != 0)
        section->flags |= SHF_EXECINSTR;
    image_file_name_dwarf(image, index);
}

/* Reads the external and static symbols that are in a section, and have a name; their values are
 * offsets in it. Those in code are functions, others objects. None if the file has no table of
 * them. */
static struct g2h_error *pe_read_symbols(const struct pe *pe)
{
    struct image *image = pe->image;
    const size_t count = (size_t)(pe->symbols.size / SYMBOL_SIZE);
    if (count == 0)
        return NULL;
    image->symbols = calloc(count, sizeof(*image->symbols));
    if (!image->symbols)
        return &error_no_memory;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = pe->symbols.data + i * SYMBOL_SIZE;
        const uint16_t section = image_u16(image, at + SYMBOL_SECTION_NUMBER);
        const uint8_t class = at[SYMBOL_STORAGE_CLASS];
        i += at[SYMBOL_NUMBER_OF_AUX]; /* skips auxiliary records */
        if (section == 0 || section > image->section_count ||
            (class != IMAGE_SYM_CLASS_EXTERNAL && class != IMAGE_SYM_CLASS_STATIC))
            continue;
        const bool in_table = image_u32(image, at) == 0,
                   code = (image->sections[section - 1].flags & SHF_EXECINSTR) != 0;
        struct image_symbol symbol = {.address = image->sections[section - 1].address +
                                                 image_u32(image, at + SYMBOL_VALUE),
                                      .type = code ? STT_FUNC : STT_OBJECT,
                                      .section = (uint16_t)(section - 1)};
        if (in_table)
            symbol.name = image_file_text(pe->texts, image_u32(image, at + SYMBOL_NAME_OFFSET));
        else
            symbol.name = image_file_short_text(at, NAME_SIZE);
        if (symbol.name.size > 0)
            image->symbols[image->symbol_count++] = symbol;
    }
    image_file_size_symbols(image);
    return NULL;
}

/* Finds the symbol table and the string table; both are empty if there are none. */
static void pe_find_symbols(struct pe *pe)
{
    const struct image *image = pe->image;
    const uint64_t offset = image_u32(image, pe->header + COFF_POINTER_TO_SYMBOL_TABLE),
                   size = (uint64_t)image_u32(image, pe->header + COFF_NUMBER_OF_SYMBOLS) *
                          SYMBOL_SIZE;
    pe->symbols = pe->texts = image_file_range(image, 0, 0);
    if (offset == 0)
        return;
    const struct g2h_bytes texts_size = image_file_range(image, offset + size, 4);
    if (texts_size.size == 0)
        return;
    pe->symbols = image_file_range(image, offset, size);
    pe->texts = image_file_range(image, offset + size, image_u32(image, texts_size.data));
}

/* Reads the sections and symbols of a PE file. A PE file begins with a program for MS-DOS, whose
 * header says where the real header is. Errors: there is none, or it has no headers of sections. */
struct g2h_error *pe_read(struct image *image)
{
    static const uint16_t machines[][2] = {{IMAGE_FILE_MACHINE_I386, EM_386},
                                           {IMAGE_FILE_MACHINE_AMD64, EM_X86_64},
                                           {IMAGE_FILE_MACHINE_ARMNT, EM_ARM},
                                           {IMAGE_FILE_MACHINE_ARM64, EM_AARCH64}};
    struct pe pe = {.image = image};
    image->format = IMAGE_PE;
    /* e_lfanew leads to the signature, the COFF header and the start of the optional header. */
    const uint64_t start = image_u32(image, image->file.data + E_LFANEW);
    const struct g2h_bytes head =
        image_file_range(image, start, 4 + COFF_HEADER_SIZE + OPTIONAL_SIZE_READ);
    if (head.size == 0 || memcmp(head.data, "PE\0", 4) != 0)
        return image_file_refuse(image, "is not an executable (ELF, Mach-O or PE)");
    pe.header = head.data + 4;
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (image_u16(image, pe.header) == machines[i][0])
            image->machine = machines[i][1];
    const uint8_t *optional = pe.header + COFF_HEADER_SIZE;
    const uint16_t magic = image_u16(image, optional);
    image->is_64 = magic == PE32_PLUS;
    pe.base = image_word(
        image, optional + (image->is_64 ? OPTIONAL_IMAGE_BASE_PLUS : OPTIONAL_IMAGE_BASE));
    const uint16_t count = image_u16(image, pe.header + COFF_NUMBER_OF_SECTIONS);
    /* The headers of the sections follow the optional header. */
    const struct g2h_bytes table = image_file_range(
        image,
        start + 4 + COFF_HEADER_SIZE + image_u16(image, pe.header + COFF_SIZE_OF_OPTIONAL_HEADER),
        (uint64_t)count * SECTION_SIZE);
    if ((magic != PE32 && magic != PE32_PLUS) || table.size == 0)
        return image_file_refuse(image, "has no section headers");
    pe_find_symbols(&pe);
    TRY(image_file_add_sections(image, count));
    for (size_t i = 0; i < count; i++)
        pe_read_section(&pe, i, table.data + i * SECTION_SIZE);
    return pe_read_symbols(&pe);
}
