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

/* Offsets of members of structures, and sizes of these: where two follow each other, the second is
 * that of 64-bit files. */
enum {
    /* mach_header */
    MH_CPUTYPE = 4,
    MH_SIZEOFCMDS = 20,
    MH_SIZE = 28,
    MH_SIZE_64 = 32,
    /* load_command */
    COMMAND_CMDSIZE = 4,
    COMMAND_SIZE = 8,
    /* segment_command */
    SEGMENT_SEGNAME = 8,
    SEGMENT_VMADDR = 24,
    SEGMENT_INITPROT = 44,
    SEGMENT_INITPROT_64 = 60,
    SEGMENT_NSECTS = 48,
    SEGMENT_NSECTS_64 = 64,
    SEGMENT_SIZE = 56,
    SEGMENT_SIZE_64 = 72,
    /* section */
    SECTION_NAME_SIZE = 16,
    SECTION_ADDR = 32,
    SECTION_SIZE = 36,
    SECTION_SIZE_64 = 40,
    SECTION_OFFSET = 40,
    SECTION_OFFSET_64 = 48,
    SECTION_FLAGS = 56,
    SECTION_FLAGS_64 = 64,
    SECTION_WHOLE = 68,
    SECTION_WHOLE_64 = 80,
    /* symtab_command */
    SYMTAB_SYMOFF = 8,
    SYMTAB_NSYMS = 12,
    SYMTAB_STROFF = 16,
    SYMTAB_STRSIZE = 20,
    SYMTAB_WHOLE = 24,
    /* nlist; n_strx is the first */
    NLIST_TYPE = 4,
    NLIST_SECT = 5,
    NLIST_VALUE = 8,
    NLIST_WHOLE = 12,
    NLIST_WHOLE_64 = 16,
    /* linkedit_data_command, of LC_DYLD_CHAINED_FIXUPS */
    LINKEDIT_DATAOFF = 8,
    LINKEDIT_DATASIZE = 12,
    LINKEDIT_WHOLE = 16,
    /* dyld_chained_fixups_header */
    FIXUPS_STARTS_OFFSET = 4,
    /* dyld_chained_starts_in_segment */
    STARTS_PAGE_SIZE = 4,
    STARTS_POINTER_FORMAT = 6,
    STARTS_SEGMENT_OFFSET = 8,
    STARTS_PAGE_COUNT = 20,
    STARTS_PAGE_START = 22,
};

static const uint32_t LC_DYLD_CHAINED_FIXUPS = 0x80000034, MH_MAGIC_64 = 0xfeedfacf;

/* ---- load commands ---- */

struct macho_command {
    const uint8_t *at; /* size bytes, at least COMMAND_SIZE */
    uint32_t type, size;
};

/* Goes on to the next load command, or to the first if command->at is NULL. Returns false if there
 * is none, or it is damaged. */
static bool next_command(const struct image *image, struct macho_command *command)
{
    const uint8_t *header = image->file.data;
    const struct g2h_bytes commands = image_file_range(image, image->is_64 ? MH_SIZE_64 : MH_SIZE,
                                                       image_u32(image, header + MH_SIZEOFCMDS));
    const uint8_t *at = command->at ? command->at + command->size : commands.data;
    const uint64_t left = commands.size - as_size(at - commands.data);
    if (left < COMMAND_SIZE)
        return false;
    *command =
        (struct macho_command){at, image_u32(image, at), image_u32(image, at + COMMAND_CMDSIZE)};
    return command->size >= COMMAND_SIZE && command->size <= left;
}

/* Returns whether a command is a segment. *ret_head is the size of the part before its sections,
 * *ret_section the size of each section's header. */
static bool is_segment(const struct image *image, const struct macho_command *command,
                       uint32_t *ret_head, uint32_t *ret_section)
{
    *ret_head = image->is_64 ? SEGMENT_SIZE_64 : SEGMENT_SIZE;
    *ret_section = image->is_64 ? SECTION_WHOLE_64 : SECTION_WHOLE;
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
    const uint32_t count =
        image_u32(image, command->at + (image->is_64 ? SEGMENT_NSECTS_64 : SEGMENT_NSECTS));
    return MIN(count, (command->size - head) / size);
}

/* ---- sections ---- */

/* Returns the name of a section or segment. */
static struct g2h_bytes macho_name_at(const uint8_t *at)
{
    return image_file_short_text(at, SECTION_NAME_SIZE);
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
    const uint32_t flags = image_u32(image, at + (wide ? SECTION_FLAGS_64 : SECTION_FLAGS));
    const uint32_t type = flags & SECTION_TYPE;
    const struct g2h_bytes segment_name = macho_name_at(segment->at + SEGMENT_SEGNAME);
    section->address = image_word(image, at + SECTION_ADDR);
    section->size = image_word(image, at + (wide ? SECTION_SIZE_64 : SECTION_SIZE));
    section->type = type == S_ZEROFILL || type == S_GB_ZEROFILL || type == S_THREAD_LOCAL_ZEROFILL
                        ? SHT_NOBITS
                        : SHT_PROGBITS;
    if (section->type != SHT_NOBITS)
        section->data = image_file_range(
            image, image_u32(image, at + (wide ? SECTION_OFFSET_64 : SECTION_OFFSET)),
            section->size);
    if (!bytes_are(segment_name, "__DWARF"))
        section->flags |= SHF_ALLOC;
    if ((image_u32(image, segment->at + (wide ? SEGMENT_INITPROT_64 : SEGMENT_INITPROT)) &
         VM_PROT_WRITE) != 0)
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
        found = command.type == LC_SYMTAB && command.size >= SYMTAB_WHOLE;
    if (!found)
        return NULL;
    const uint64_t entry = image->is_64 ? NLIST_WHOLE_64 : NLIST_WHOLE;
    const uint32_t count = image_u32(image, command.at + SYMTAB_NSYMS);
    const struct g2h_bytes table =
        image_file_range(image, image_u32(image, command.at + SYMTAB_SYMOFF), count * entry);
    const struct g2h_bytes texts =
        image_file_range(image, image_u32(image, command.at + SYMTAB_STROFF),
                         image_u32(image, command.at + SYMTAB_STRSIZE));
    if (table.size == 0)
        return NULL;
    image->symbols = calloc(count, sizeof(*image->symbols));
    if (!image->symbols)
        return &error_no_memory;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = table.data + i * entry;
        const uint8_t type = at[NLIST_TYPE];
        const uint8_t section = at[NLIST_SECT]; /* from 1 on; 0: none */
        if ((type & N_STAB) != 0 || (type & N_TYPE) != N_SECT || section == 0 ||
            section > image->section_count)
            continue;
        struct image_symbol symbol = {.name = image_file_text(texts, image_u32(image, at)),
                                      .address = image_word(image, at + NLIST_VALUE),
                                      .section = (uint16_t)(section - 1)};
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
        if (image_u32(image, image->file.data + MH_CPUTYPE) == machines[i].type)
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

/* Follows a chain: puts into each of its words the address that it stands for, unless the loader
 * would find another file's symbol for it (bind). Ends at a word whose next is 0, one outside of
 * the file, or after left words. */
static struct g2h_error *follow_chain(struct chains *chains, uint64_t address, uint16_t format)
{
    for (;; chains->left--) {
        const uint8_t *at = image_at(chains->image, address, 8);
        if (!at || chains->left == 0)
            return NULL;
        /* dyld_chained_ptr_64_rebase, from bit 0 on: target has 36 bits, high8 8, reserved 7, next
         * 12, in units of 4 bytes, and bind 1 */
        const uint64_t pointer = image_word(chains->image, at);
        const uint64_t next = pointer >> 51 & 0xfff, high8 = pointer >> 36 & 0xff;
        const bool is_bind = pointer >> 63 != 0;
        uint64_t target = pointer & 0xfffffffff;
        if (format == DYLD_CHAINED_PTR_64_OFFSET)
            target += chains->base;
        if (!is_bind)
            TRY(image_file_put_word(chains->image, address, target | high8 << 56));
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
    if (starts.size < STARTS_PAGE_START)
        return NULL;
    const uint16_t page_size = image_u16(image, starts.data + STARTS_PAGE_SIZE),
                   format = image_u16(image, starts.data + STARTS_POINTER_FORMAT),
                   page_count = image_u16(image, starts.data + STARTS_PAGE_COUNT);
    const uint64_t address = chains->base + image_word(image, starts.data + STARTS_SEGMENT_OFFSET);
    if ((format != DYLD_CHAINED_PTR_64 && format != DYLD_CHAINED_PTR_64_OFFSET) ||
        (starts.size - STARTS_PAGE_START) / 2 < page_count || chains->pages < page_count)
        return NULL;
    chains->pages -= page_count;
    for (uint32_t i = 0; i < page_count; i++) {
        const uint16_t start = image_u16(image, starts.data + STARTS_PAGE_START + 2 * (size_t)i);
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
        if (command.type == LC_DYLD_CHAINED_FIXUPS && command.size >= LINKEDIT_WHOLE)
            fixups = image_file_range(image, image_u32(image, command.at + LINKEDIT_DATAOFF),
                                      image_u32(image, command.at + LINKEDIT_DATASIZE));
        else if (is_segment(image, &command, &head, &size) &&
                 bytes_are(macho_name_at(command.at + SEGMENT_SEGNAME), "__TEXT"))
            chains.base = image_word(image, command.at + SEGMENT_VMADDR);
    }
    /* starts_offset leads to dyld_chained_starts_in_image: a count, and an offset for each segment
     */
    if (fixups.size < FIXUPS_STARTS_OFFSET + 4)
        return NULL;
    const uint64_t offset = image_u32(image, fixups.data + FIXUPS_STARTS_OFFSET);
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
