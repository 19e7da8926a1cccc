/*
 * macho: images from Mach-O files, 32 and 64 bit, little-endian, as are all that Go has ever
 * written. Names of constants and fields are those of Apple's mach-o/loader.h, mach-o/nlist.h and
 * mach-o/fixup-chains.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "exe/image/image_file.h"

enum {
    CPU_TYPE_I386 = 7,
    CPU_TYPE_ARM = 12,
    CPU_ARCH_ABI64 = 0x01000000,
    LC_SEGMENT = 1,
    LC_SYMTAB = 2,
    LC_SEGMENT_64 = 0x19,
    VM_PROT_WRITE = 2,
    SECTION_TYPE = 0xff,
    S_ZEROFILL = 1,
    S_GB_ZEROFILL = 0xc,
    S_THREAD_LOCAL_ZEROFILL = 0x12,
    S_ATTR_SOME_INSTRUCTIONS = 0x400,
    N_STAB = 0xe0,
    N_TYPE = 0x0e,
    N_SECT = 0x0e,
};

static const uint32_t LC_DYLD_CHAINED_FIXUPS = 0x80000034, MH_MAGIC_64 = 0xfeedfacf;

/* ---- load commands ---- */

struct macho_command {
    const uint8_t *at; /* size bytes, at least 8 */
    uint32_t type, size;
};

/* Goes on to the next load command, or to the first if command->at is NULL. Returns false if there
 * is none, or it is damaged. */
static bool next_command(const struct image *image, struct macho_command *command)
{
    const uint8_t *header = image->file.data;
    const struct g2h_bytes commands =
        image_file_range(image, image->is_64 ? 32 : 28, image_u32(image, header + 20));
    const uint8_t *at = command->at ? command->at + command->size : commands.data;
    const uint64_t left = commands.size - as_size(at - commands.data);
    if (left < 8)
        return false;
    *command = (struct macho_command){at, image_u32(image, at), image_u32(image, at + 4)};
    return command->size >= 8 && command->size <= left;
}

/* Returns whether a command is a segment. *ret_head is the size of the part before its sections,
 * *ret_section the size of each section's header. */
static bool is_segment(const struct image *image, const struct macho_command *command,
                       uint32_t *ret_head, uint32_t *ret_section)
{
    *ret_head = image->is_64 ? 72 : 56;
    *ret_section = image->is_64 ? 80 : 68;
    return command->type == (image->is_64 ? LC_SEGMENT_64 : LC_SEGMENT) &&
           command->size >= *ret_head;
}

/* Returns how many sections a load command has: 0 unless it is a segment. */
static uint32_t command_section_count(const struct image *image,
                                      const struct macho_command *command)
{
    uint32_t head, size;
    if (!is_segment(image, command, &head, &size))
        return 0;
    const uint32_t count = image_u32(image, command->at + (image->is_64 ? 64 : 48));
    return MIN(count, (command->size - head) / size);
}

/* ---- sections ---- */

/* Returns the name of a section or segment. */
static struct g2h_bytes macho_name_at(const uint8_t *at)
{
    return image_file_short_text(at, 16);
}

/* Sets a section's name to ELF's equivalent. Names of DWARF sections that were cut to 16 characters
 * are completed. */
static void name_section(struct image *image, size_t index, struct g2h_bytes segment,
                         struct g2h_bytes name)
{
    static const char *const elf_names[][2] = {
        {"__rodata", ".rodata"},
        {"__const", ".rodata"},
        {"__go_buildinfo", ".go.buildinfo"},
        {"__go_fipsinfo", ".go.fipsinfo"},
        {"__go_module", ".go.module"},
        {"__go_type", ".go.type"},
        {"__go_func", ".go.func"},
        {"__debug_str_offs", ".debug_str_offsets"},
        {"__debug_gdb_scri", ".debug_gdb_scripts"},
        {"__zdebug_str_off", ".zdebug_str_offsets"},
        {"__zdebug_line_st", ".zdebug_line_str"},
        {"__zdebug_loclist", ".zdebug_loclists"},
        {"__zdebug_rnglist", ".zdebug_rnglists"},
        {"__zdebug_pubname", ".zdebug_pubnames"},
        {"__zdebug_pubtype", ".zdebug_pubtypes"},
    };
    const char *known = NULL;
    for (size_t i = 0; i < COUNT_OF(elf_names); i++)
        if (bytes_are(name, elf_names[i][0]))
            known = elf_names[i][1];
    /* The loader relocates this section, and then protects it. */
    if (known && strcmp(known, ".rodata") == 0 && !bytes_are(segment, "__TEXT"))
        known = ".data.rel.ro";
    if (known)
        image_file_name_section(image, index, known, (struct g2h_bytes){name.data, 0});
    else if (name.size > 2 && memcmp(name.data, "__", 2) == 0)
        image_file_name_section(image, index, ".", bytes_from(name, 2));
    else
        image_file_name_section(image, index, "", name);
    image_file_name_dwarf(image, index);
}

/* Reads a section's header. That it is writable follows from the segment that it is in, that it is
 * loaded from the segment's name (not __DWARF), and that it is code from its own flags. */
static void macho_read_section(struct image *image, size_t index, const uint8_t *at,
                               const struct macho_command *segment)
{
    const bool wide = image->is_64;
    struct image_section *section = &image->sections[index];
    const uint32_t flags = image_u32(image, at + (wide ? 64 : 56));
    const uint32_t type = flags & SECTION_TYPE;
    const struct g2h_bytes segment_name = macho_name_at(segment->at + 8);
    section->address = image_word(image, at + 32);
    section->size = image_word(image, at + (wide ? 40 : 36));
    section->type = type == S_ZEROFILL || type == S_GB_ZEROFILL || type == S_THREAD_LOCAL_ZEROFILL
                        ? SHT_NOBITS
                        : SHT_PROGBITS;
    if (section->type != SHT_NOBITS)
        section->data =
            image_file_range(image, image_u32(image, at + (wide ? 48 : 40)), section->size);
    if (!bytes_are(segment_name, "__DWARF"))
        section->flags |= SHF_ALLOC;
    if ((image_u32(image, segment->at + (wide ? 60 : 44)) & VM_PROT_WRITE) != 0)
        section->flags |= SHF_WRITE;
    if ((flags & S_ATTR_SOME_INSTRUCTIONS) != 0)
        section->flags |= SHF_EXECINSTR;
    name_section(image, index, segment_name, macho_name_at(at));
}

/* Reads the sections of all segments, in the order in which symbols number them. */
static struct g2h_error *macho_read_sections(struct image *image)
{
    size_t count = 0, index = 0;
    for (struct macho_command command = {0}; next_command(image, &command);)
        count += command_section_count(image, &command);
    if (count == 0 || count > UINT16_MAX)
        return image_file_refuse(image, "has no sections");
    TRY(image_file_add_sections(image, count));
    for (struct macho_command command = {0}; next_command(image, &command);) {
        uint32_t head, size;
        is_segment(image, &command, &head, &size);
        for (uint32_t i = 0, own = command_section_count(image, &command); i < own; i++)
            macho_read_section(image, index++, command.at + head + (size_t)i * size, &command);
    }
    return NULL;
}

/* ---- symbols ---- */

/* Reads the symbols that are defined in a section, except those for debuggers (stabs) and those
 * without name, and drops the underscore that names begin with. Those in code are functions, others
 * objects. None if there is no table, or it is not in the file. */
static struct g2h_error *macho_read_symbols(struct image *image)
{
    struct macho_command command = {0};
    bool found = false;
    while (!found && next_command(image, &command))
        found = command.type == LC_SYMTAB && command.size >= 24;
    if (!found)
        return NULL;
    const uint64_t entry = image->is_64 ? 16 : 12;
    const uint32_t count = image_u32(image, command.at + 12);
    const struct g2h_bytes table =
        image_file_range(image, image_u32(image, command.at + 8), count * entry);
    const struct g2h_bytes texts = image_file_range(image, image_u32(image, command.at + 16),
                                                    image_u32(image, command.at + 20));
    if (table.size == 0)
        return NULL;
    image->symbols = calloc(count, sizeof(*image->symbols));
    if (!image->symbols)
        return &error_no_memory;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = table.data + i * entry;
        if ((at[4] & N_STAB) != 0 || (at[4] & N_TYPE) != N_SECT || at[5] == 0 ||
            at[5] > image->section_count)
            continue;
        struct image_symbol symbol = {.name = image_file_text(texts, image_u32(image, at)),
                                      .address = image_word(image, at + 8),
                                      .section = (uint16_t)(at[5] - 1)};
        const bool code = (image->sections[symbol.section].flags & SHF_EXECINSTR) != 0;
        symbol.type = code ? STT_FUNC : STT_OBJECT;
        if (symbol.name.size > 0 && symbol.name.data[0] == '_') { /* all symbols begin with it */
            symbol.name.data++;
            symbol.name.size--;
        }
        if (symbol.name.size > 0)
            image->symbols[image->symbol_count++] = symbol;
    }
    image_file_size_symbols(image);
    return NULL;
}

/* Reads the machine, the sections and then the symbols. */
struct g2h_error *macho_read(struct image *image)
{
    static const struct {
        uint32_t type;
        uint16_t machine;
    } machines[] = {{CPU_TYPE_I386, EM_386},
                    {CPU_TYPE_I386 | CPU_ARCH_ABI64, EM_X86_64},
                    {CPU_TYPE_ARM, EM_ARM},
                    {CPU_TYPE_ARM | CPU_ARCH_ABI64, EM_AARCH64}};
    image->format = IMAGE_MACHO;
    image->is_64 = image_u32(image, image->file.data) == MH_MAGIC_64;
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (image_u32(image, image->file.data + 4) == machines[i].type)
            image->machine = machines[i].machine;
    TRY(macho_read_sections(image));
    return macho_read_symbols(image);
}

/* ---- fixups ---- */

/* Formats of the pointers in a chain, before the loader has relocated them. */
enum {
    DYLD_CHAINED_PTR_64 = 2,
    DYLD_CHAINED_PTR_64_OFFSET = 6, /* target is an offset from the header */
    DYLD_CHAINED_PTR_START_NONE = 0xffff,
};

struct chains {
    struct image *image;
    uint64_t base; /* address of the header */
    /* How many more pointers and pages may be followed: chains may meet, and segments may share
     * their lists of pages, so following all of them could take forever. */
    uint64_t left, pages;
};

/* Follows a chain, in which each pointer has the distance to the next one. */
static struct g2h_error *follow_chain(struct chains *chains, uint64_t address, uint16_t format)
{
    for (;; chains->left--) {
        const uint8_t *at = image_at(chains->image, address, 8);
        if (!at || chains->left == 0)
            return NULL;
        /* target: 36 bits, high8: 8, reserved: 7, next: 12, bind: 1 */
        const uint64_t pointer = image_word(chains->image, at);
        const uint64_t next = pointer >> 51 & 0xfff;
        uint64_t target = pointer & 0xfffffffff;
        if (format == DYLD_CHAINED_PTR_64_OFFSET)
            target += chains->base;
        if (pointer >> 63 == 0)
            TRY(image_file_put_word(chains->image, address, target | (pointer >> 36 & 0xff) << 56));
        if (next == 0)
            return NULL;
        address += next * 4;
    }
}

/* Follows the chains of all pages of a segment; starts begins with its
 * dyld_chained_starts_in_segment. Follows none if that is cut, has another format than 64-bit
 * pointers, or has more pages than the file may have. */
static struct g2h_error *fix_segment(struct chains *chains, struct g2h_bytes starts)
{
    const struct image *image = chains->image;
    if (starts.size < 22)
        return NULL;
    const uint16_t page_size = image_u16(image, starts.data + 4),
                   format = image_u16(image, starts.data + 6),
                   page_count = image_u16(image, starts.data + 20);
    const uint64_t address = chains->base + image_word(image, starts.data + 8);
    if ((format != DYLD_CHAINED_PTR_64 && format != DYLD_CHAINED_PTR_64_OFFSET) ||
        (starts.size - 22) / 2 < page_count || chains->pages < page_count)
        return NULL;
    chains->pages -= page_count;
    for (uint32_t i = 0; i < page_count; i++) {
        const uint16_t start = image_u16(image, starts.data + 22 + 2 * (size_t)i);
        if (start != DYLD_CHAINED_PTR_START_NONE)
            TRY(follow_chain(chains, address + (uint64_t)i * page_size + start, format));
    }
    return NULL;
}

/*
 * Applies the relocations of a Mach-O file. The words of Mach-O are right for the file's addresses,
 * except where Apple's linker has chained them (LC_DYLD_CHAINED_FIXUPS), as it does with cgo.
 */
struct g2h_error *macho_relocate(struct image *image)
{
    struct macho_command command = {0};
    struct chains chains = {
        .image = image, .left = image->file.size / 4, .pages = image->file.size / 2};
    struct g2h_bytes fixups = bytes_none;
    uint32_t head, size;
    if (!image->is_64)
        return NULL;
    while (next_command(image, &command)) {
        if (command.type == LC_DYLD_CHAINED_FIXUPS && command.size >= 16)
            fixups = image_file_range(image, image_u32(image, command.at + 8),
                                      image_u32(image, command.at + 12));
        else if (is_segment(image, &command, &head, &size) &&
                 bytes_are(macho_name_at(command.at + 8), "__TEXT"))
            chains.base = image_word(image, command.at + 24);
    }
    /* dyld_chained_fixups_header.starts_offset leads to dyld_chained_starts_in_image */
    if (fixups.size < 8)
        return NULL;
    const uint64_t offset = image_u32(image, fixups.data + 4);
    if (offset > fixups.size || fixups.size - offset < 4)
        return NULL;
    const struct g2h_bytes starts = bytes_from(fixups, offset);
    const uint32_t segments = image_u32(image, starts.data);
    for (uint32_t i = 0; i < segments && (starts.size - 4) / 4 > i; i++) {
        const uint32_t of_segment = image_u32(image, starts.data + 4 + 4 * (size_t)i);
        if (of_segment != 0 && of_segment <= starts.size)
            TRY(fix_segment(&chains, bytes_from(starts, of_segment)));
    }
    return NULL;
}
