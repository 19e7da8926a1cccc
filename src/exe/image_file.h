/* format: what the readers of ELF, Mach-O and PE share; the rest of the program uses image.h. */
#ifndef EXE_IMAGE_FILE_H
#define EXE_IMAGE_FILE_H

#include "exe/image.h"

/* Each fills format, machine, is_64, big_endian, sections and (not of ELF) symbols; image.c then
 * makes the ranges. Error: G2H_ERROR_NOT_EXE, G2H_ERROR_MEMORY. */
struct g2h_error *elf_read(struct image *image);
struct g2h_error *macho_read(struct image *image);
struct g2h_error *pe_read(struct image *image);

/* What image_init() does once there are ranges: the words as if loaded where the file says. */
struct g2h_error *elf_relocate(struct image *image);
struct g2h_error *macho_relocate(struct image *image);

/* Symbols of ELF stay in the file; of the others an array is made, to give them sizes. */
size_t elf_symbol_count(const struct image *image);
bool elf_symbol(const struct image *image, size_t index, struct image_symbol *ret);

struct g2h_error *image_file_refuse(const struct image *image, const char *why);

/* size bytes at offset; empty where the file has not as many. */
struct g2h_bytes image_file_range(const struct image *image, uint64_t offset, uint64_t size);

/* The text that starts at offset of a string table, cut where it is long; empty where it does not
 * end in it. */
struct g2h_bytes image_file_text(struct g2h_bytes table, uint64_t offset);

/* Makes room for sections. */
struct g2h_error *image_file_add_sections(struct image *image, size_t count);

/* Gives a section a name that the file has not: prefix and text, cut to what there is room for. */
void image_file_name_section(struct image *image, size_t index, const char *prefix,
                             struct g2h_bytes text);

/* Names .zdebug_info as .debug_info, and marks it; leaves others alone. */
void image_file_name_dwarf(struct image *image, size_t index);

/* Sorts image->symbols and gives each the size up to the next one, or to its section's end; marks
 * of the linker (runtime.data) get none. */
void image_file_size_symbols(struct image *image);

/* Writes a word at an address, into a copy of the section. Nothing where the file has none there.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *image_file_put_word(struct image *image, uint64_t address, uint64_t value);

static inline bool image_file_is_compressed(const struct image_section *section)
{
    const uint64_t compressed = 1 << 11; /* SHF_COMPRESSED */
    return section->gnu_compressed || (section->flags & compressed) != 0;
}

#endif
