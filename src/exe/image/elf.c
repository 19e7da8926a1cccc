/*
 * elf: reads images from ELF files, 32 and 64 bit, of either byte order. Names of constants and
 * fields are those of the System V ABI. The parts: files without section headers, whose segments
 * take the place of sections; sections; relocations, which give words of data their values; and
 * symbols, which stay in the file.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "exe/image/image_file.h"

/* Returns where a member of an ELF structure is that begins at `at`: it depends on the class. */
#define ELF_MEMBER(image, at, structure, member) \
    ((at) + \
     ((image)->is_64 ? offsetof(Elf64_##structure, member) : offsetof(Elf32_##structure, member)))

/* Reads a section header. *ret_name is the offset of the section's name: the section of names may
 * come later. Sections without bytes in the file get no data. */
static void elf_read_section(const struct image *image, const uint8_t *at,
                             struct image_section *ret, uint32_t *ret_name)
{
    *ret_name = image_u32(image, ELF_MEMBER(image, at, Shdr, sh_name));
    ret->type = image_u32(image, ELF_MEMBER(image, at, Shdr, sh_type));
    ret->flags = image_word(image, ELF_MEMBER(image, at, Shdr, sh_flags));
    ret->address = image_word(image, ELF_MEMBER(image, at, Shdr, sh_addr));
    const uint64_t offset = image_word(image, ELF_MEMBER(image, at, Shdr, sh_offset));
    ret->size = image_word(image, ELF_MEMBER(image, at, Shdr, sh_size));
    ret->link = image_u32(image, ELF_MEMBER(image, at, Shdr, sh_link));
    if (ret->type != SHT_NOBITS && ret->type != SHT_NULL)
        ret->data = image_file_range(image, offset, ret->size);
}

/* ---- files without section headers ---- */

/* A program header. */
struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, address, file_size, memory_size;
};

/* Reads a program header. */
static struct elf_segment elf_read_segment(const struct image *image, const uint8_t *at)
{
    return (struct elf_segment){
        .type = image_u32(image, ELF_MEMBER(image, at, Phdr, p_type)),
        .flags = image_u32(image, ELF_MEMBER(image, at, Phdr, p_flags)),
        .offset = image_word(image, ELF_MEMBER(image, at, Phdr, p_offset)),
        .address = image_word(image, ELF_MEMBER(image, at, Phdr, p_vaddr)),
        .file_size = image_word(image, ELF_MEMBER(image, at, Phdr, p_filesz)),
        .memory_size = image_word(image, ELF_MEMBER(image, at, Phdr, p_memsz)),
    };
}

/* Makes a section without a name of a loaded segment. */
static struct image_section section_of(const struct image *image, const struct elf_segment *segment)
{
    struct image_section section = {
        .name = bytes_none,
        .data = image_file_range(image, segment->offset, segment->file_size),
        .type = SHT_PROGBITS,
        .flags = SHF_ALLOC,
        .address = segment->address,
        .size = segment->memory_size,
    };
    if ((segment->flags & PF_W) != 0)
        section.flags |= SHF_WRITE;
    if ((segment->flags & PF_X) != 0)
        section.flags |= SHF_EXECINSTR;
    return section;
}

/* Returns the bytes at an address, searched in the first count sections; they are empty if none has
 * them. */
static struct g2h_bytes section_bytes(const struct image *image, size_t count, uint64_t address,
                                      uint64_t size)
{
    for (size_t i = 0; i < count; i++) {
        const struct image_section *section = &image->sections[i];
        const uint64_t offset = address - section->address;
        if (address >= section->address && offset <= section->data.size &&
            size <= section->data.size - offset)
            return bytes_part(section->data, offset, size);
    }
    return bytes_none;
}

/* Makes a section of the relocations that the dynamic segment names. */
static struct image_section named_relocations(const struct image *image, size_t count,
                                              const struct elf_segment *dynamic)
{
    const size_t word = image->is_64 ? 8 : 4;
    const struct g2h_bytes list = image_file_range(image, dynamic->offset, dynamic->file_size);
    uint64_t address = 0, size = 0;
    for (uint64_t at = 0; list.size - at >= 2 * word; at += 2 * word) {
        const uint64_t tag = image_word(image, list.data + at),
                       value = image_word(image, list.data + at + word);
        if (tag == DT_RELA)
            address = value;
        else if (tag == DT_RELASZ)
            size = value;
    }
    return (struct image_section){.name = bytes_none,
                                  .data = section_bytes(image, count, address, size),
                                  .type = SHT_RELA,
                                  .link = UINT32_MAX, /* no section has the symbols */
                                  .flags = SHF_ALLOC};
}

/* A table of headers, and their number; none if it is damaged, or headers are too small. */
struct headers {
    struct g2h_bytes bytes;
    uint16_t entry, count;
};

/* Locates a table of headers by the members of the file's header that have its offset, and the size
 * of its entries, which must be least or more; their number follows the size. Returns an empty
 * table if the file does not have it. */
static struct headers find_headers(const struct image *image, const uint8_t *offset,
                                   const uint8_t *entry_size, size_t least)
{
    const uint16_t entry = image_u16(image, entry_size),
                   count = image_u16(image, entry_size + sizeof(uint16_t));
    const struct g2h_bytes bytes =
        image_file_range(image, image_word(image, offset), (uint64_t)entry * count);
    return (struct headers){entry >= least ? bytes : bytes_none, entry, count};
}

/* Reads the program headers of a file whose section headers have been removed (sstrip, packers). */
static struct g2h_error *elf_read_segments(struct image *image)
{
    const uint8_t *header = image->file.data;
    const struct headers headers =
        find_headers(image, ELF_MEMBER(image, header, Ehdr, e_phoff),
                     ELF_MEMBER(image, header, Ehdr, e_phentsize),
                     image->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
    struct elf_segment dynamic = {0};
    if (headers.bytes.size == 0)
        return image_file_refuse(image, "has neither section headers nor program headers");
    TRY(image_file_add_sections(image, (size_t)headers.count + 1));
    size_t loaded = 0;
    for (size_t i = 0; i < headers.count; i++) {
        const struct elf_segment segment =
            elf_read_segment(image, headers.bytes.data + i * headers.entry);
        if (segment.type == PT_LOAD)
            image->sections[loaded++] = section_of(image, &segment);
        else if (segment.type == PT_DYNAMIC)
            dynamic = segment;
    }
    image->sections[loaded] = named_relocations(image, loaded, &dynamic);
    image->section_count = image->symbol_table = loaded + 1;
    return NULL;
}

/* ---- sections ---- */

/* Reads the section headers, and then their names. The first symbol table is the one that counts.
 * Without sections, segments take their place. Error: the headers are not in the file. */
static struct g2h_error *elf_read_sections(struct image *image)
{
    const uint8_t *header = image->file.data;
    const struct headers headers =
        find_headers(image, ELF_MEMBER(image, header, Ehdr, e_shoff),
                     ELF_MEMBER(image, header, Ehdr, e_shentsize),
                     image->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    const uint16_t count = headers.count,
                   names = image_u16(image, ELF_MEMBER(image, header, Ehdr, e_shstrndx));
    if (count == 0)
        return elf_read_segments(image);
    if (headers.bytes.size == 0)
        return image_file_refuse(image, "has no section headers");
    TRY(image_file_add_sections(image, count));
    _cleanup_free_ uint32_t *name_offsets = calloc(count, sizeof(*name_offsets));
    if (!name_offsets)
        return &error_no_memory;
    image->symbol_table = count;
    for (size_t i = 0; i < count; i++) {
        elf_read_section(image, headers.bytes.data + i * headers.entry, &image->sections[i],
                         &name_offsets[i]);
        if (image->sections[i].type == SHT_SYMTAB && image->symbol_table == count)
            image->symbol_table = i;
    }
    for (size_t i = 0; i < count && names < count; i++) {
        image->sections[i].name = image_file_text(image->sections[names].data, name_offsets[i]);
        image_file_name_dwarf(image, i);
    }
    return NULL;
}

/* Reads the file's identification, and then its sections. Errors: an unknown class or byte
 * order. */
struct g2h_error *elf_read(struct image *image)
{
    const uint8_t class = image->file.data[EI_CLASS];
    const uint8_t order = image->file.data[EI_DATA];
    if ((class != ELFCLASS32 && class != ELFCLASS64) ||
        (order != ELFDATA2LSB && order != ELFDATA2MSB))
        return image_file_refuse(image, "is an ELF file of an unknown class or byte order");
    image->format = IMAGE_ELF;
    image->is_64 = class == ELFCLASS64;
    image->big_endian = order == ELFDATA2MSB;
    image->machine = image_u16(image, ELF_MEMBER(image, image->file.data, Ehdr, e_machine));
    return elf_read_sections(image);
}

/* ---- relocations ---- */

/* The types of the relocations of a machine that set a word: to load address + addend, and to the
 * address of a symbol + addend. */
struct relocations {
    uint16_t machine;
    uint32_t relative, absolute;
};

/* Returns the types for a machine, or NULL if they are not known. */
static const struct relocations *relocations_of(uint16_t machine)
{
    static const struct relocations table[] = {
        {EM_386, R_386_RELATIVE, R_386_32},
        {EM_X86_64, R_X86_64_RELATIVE, R_X86_64_64},
        {EM_ARM, R_ARM_RELATIVE, R_ARM_ABS32},
        {EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_ABS64},
        {EM_PPC, R_PPC_RELATIVE, R_PPC_ADDR32},
        {EM_PPC64, R_PPC64_RELATIVE, R_PPC64_ADDR64},
        {EM_S390, R_390_RELATIVE, R_390_64},
        {EM_RISCV, R_RISCV_RELATIVE, R_RISCV_64},
        {EM_LOONGARCH, R_LARCH_RELATIVE, R_LARCH_64},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].machine == machine)
            return &table[i];
    return NULL;
}

/* Returns the address in the file of symbol number index of the table in a section, or 0 if another
 * file defines it. */
static uint64_t symbol_address(const struct image *image, uint32_t table, uint64_t index)
{
    const size_t size = image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    if (table >= image->section_count || index >= image->sections[table].data.size / size)
        return 0;
    const uint8_t *symbol = image->sections[table].data.data + index * size;
    const uint16_t section = image_u16(image, ELF_MEMBER(image, symbol, Sym, st_shndx));
    return section != SHN_UNDEF ? image_word(image, ELF_MEMBER(image, symbol, Sym, st_value)) : 0;
}

/* Applies a relocation of a section. Other kinds of relocations, and symbols without an address,
 * change nothing. */
static struct g2h_error *relocate(struct image *image, const struct image_section *section,
                                  const struct relocations *types, const uint8_t *rela)
{
    const bool wide = image->is_64;
    const size_t word = wide ? 8 : 4;
    const uint64_t target = image_word(image, rela);
    const uint64_t info = image_word(image, rela + word);
    const uint64_t addend = image_word(image, rela + 2 * word);
    const uint64_t type = wide ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info);
    if (type == types->relative)
        return image_file_put_word(image, target, addend);
    if (type != types->absolute)
        return NULL;
    const uint64_t index = wide ? ELF64_R_SYM(info) : ELF32_R_SYM(info),
                   symbol = symbol_address(image, section->link, index);
    return symbol != 0 ? image_file_put_word(image, target, symbol + addend) : NULL;
}

/*
 * Applies the relocations of an ELF file. Only relocations that have an addend of their own
 * (SHT_RELA) change words of the file. Those of SHT_REL (386, arm, mips) and SHT_RELR have the
 * addend in the word, which is therefore right for the file's addresses. Relocations against
 * symbols, which plugins have, are applied as if no other file had the symbol.
 */
struct g2h_error *elf_relocate(struct image *image)
{
    const size_t entry = image->is_64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
    const struct relocations *types = relocations_of(image->machine);
    if (!types || image_u16(image, ELF_MEMBER(image, image->file.data, Ehdr, e_type)) == ET_REL)
        return NULL;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if (section->type != SHT_RELA || (section->flags & SHF_ALLOC) == 0)
            continue;
        /* Read each relocation only when it is applied: a damaged section may relocate itself. */
        for (uint64_t at = 0; section->data.size - at >= entry; at += entry)
            TRY(relocate(image, section, types, section->data.data + at));
    }
    return NULL;
}

/* ---- symbols ---- */

/* Returns the size of a symbol in the file. */
static size_t symbol_size(const struct image *image)
{
    return image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* Returns the number of symbols, 0 if there is no table. */
size_t elf_symbol_count(const struct image *image)
{
    if (image->symbol_table >= image->section_count)
        return 0;
    return (size_t)(image->sections[image->symbol_table].data.size / symbol_size(image));
}

/* Reads the symbol with a number. Returns false if the symbol has no name. */
bool elf_symbol(const struct image *image, size_t index, struct image_symbol *ret)
{
    const struct image_section *section = &image->sections[image->symbol_table];
    if (section->link >= image->section_count)
        return false;
    const uint8_t *at = section->data.data + index * symbol_size(image);
    ret->name = image_file_text(image->sections[section->link].data, image_u32(image, at));
    const uint8_t info = *ELF_MEMBER(image, at, Sym, st_info);
    ret->type = image->is_64 ? ELF64_ST_TYPE(info) : ELF32_ST_TYPE(info);
    ret->section = image_u16(image, ELF_MEMBER(image, at, Sym, st_shndx));
    ret->address = image_word(image, ELF_MEMBER(image, at, Sym, st_value));
    ret->size = image_word(image, ELF_MEMBER(image, at, Sym, st_size));
    return ret->name.size > 0;
}
