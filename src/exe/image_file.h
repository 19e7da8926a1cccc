/* image_file: what the readers of ELF, Mach-O and PE share with image.c; the rest of the program
 * uses image.h. */
#ifndef EXE_IMAGE_FILE_H
#define EXE_IMAGE_FILE_H

#include "exe/image.h"

/* Each reads the file into format, machine, is_64, big_endian, sections and, but for ELF, symbols.
 * Error: G2H_ERROR_NOT_EXE, G2H_ERROR_MEMORY. */
struct g2h_error *elf_read(struct image *image);
struct g2h_error *macho_read(struct image *image);
struct g2h_error *pe_read(struct image *image);

/* Applies relocations: words become what they are if the file is loaded at its own addresses.
 * Error: G2H_ERROR_MEMORY. */
struct g2h_error *elf_relocate(struct image *image);
struct g2h_error *macho_relocate(struct image *image);

/* The symbols of ELF, which stay in the file. Of other formats an array is made, since they have no
 * sizes. */
size_t elf_symbol_count(const struct image *image);
bool elf_symbol(const struct image *image, size_t index, struct image_symbol *ret);

/* The error that the file is not what it should be: "is …", "has no …". */
struct g2h_error *image_file_refuse(const struct image *image, const char *why);

/* So many bytes at an offset of the file; empty where it does not have them. */
struct g2h_bytes image_file_range(const struct image *image, uint64_t offset, uint64_t size);

/* The text at an offset of a string table, cut where it is long; empty where it does not end in the
 * table. */
struct g2h_bytes image_file_text(struct g2h_bytes table, uint64_t offset);

/* A text of at most so many bytes; if it has less, a 0 ends it. */
struct g2h_bytes image_file_short_text(const uint8_t *at, size_t most);

/* Makes room for so many sections. Error: G2H_ERROR_MEMORY. */
struct g2h_error *image_file_add_sections(struct image *image, size_t count);

/* Gives a section a name that is not in the file: prefix and text, cut where that is long. */
void image_file_name_section(struct image *image, size_t index, const char *prefix,
                             struct g2h_bytes text);

/* If a section is named .zdebug_info or the like, names it .debug_info and marks it as
 * compressed. */
void image_file_name_dwarf(struct image *image, size_t index);

/* Sorts image->symbols, and makes the size of each the distance to the next one, or to its
 * section's end. Those that only mark where something begins or ends (runtime.data) have no size.
 */
void image_file_size_symbols(struct image *image);

/* Writes a word at an address, into a copy of the section. Nothing happens where the file has no
 * word there. Error: G2H_ERROR_MEMORY. */
struct g2h_error *image_file_put_word(struct image *image, uint64_t address, uint64_t value);

static inline bool image_file_is_compressed(const struct image_section *section)
{
    const uint64_t compressed = 1 << 11; /* SHF_COMPRESSED */
    return section->gnu_compressed || (section->flags & compressed) != 0;
}

#endif
