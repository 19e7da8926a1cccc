/* image_file: functions that the readers of ELF, Mach-O and PE share with image.c; the rest of the
 * program uses image.h. */
#ifndef EXE_IMAGE_IMAGE_FILE_H
#define EXE_IMAGE_IMAGE_FILE_H

#include "exe/image/image.h"

/* Each parses the file into format, machine, is_64, big_endian, sections and, except for ELF,
 * symbols. Error: G2H_ERROR_NOT_EXE, G2H_ERROR_MEMORY. */
struct g2h_error *elf_read(struct image *image);
struct g2h_error *macho_read(struct image *image);
struct g2h_error *pe_read(struct image *image);

/* Apply relocations: words get the values that they have if the file is loaded at its own
 * addresses. Error: G2H_ERROR_MEMORY. */
struct g2h_error *elf_relocate(struct image *image);
struct g2h_error *macho_relocate(struct image *image);

/* Return the symbols of ELF, which stay in the file. The readers of the other formats make an array
 * of symbols, since their symbols have no sizes. */
size_t elf_symbol_count(const struct image *image);
bool elf_symbol(const struct image *image, size_t index, struct image_symbol *ret);

/* Returns an error with the reason why the file cannot be read: "is …", "has no …". */
struct g2h_error *image_file_refuse(const struct image *image, const char *why);

/* Returns size bytes at an offset of the file; they are empty if the file does not have them. */
struct g2h_bytes image_file_range(const struct image *image, uint64_t offset, uint64_t size);

/* Returns the string at an offset of a string table, cut if it is long; it is empty if it does not
 * end in the table. */
struct g2h_bytes image_file_text(struct g2h_bytes table, uint64_t offset);

/* Returns a string of most bytes, or of fewer bytes if a NUL ends it. */
struct g2h_bytes image_file_short_text(const uint8_t *at, size_t most);

/* Makes space for count sections. Error: G2H_ERROR_MEMORY. */
struct g2h_error *image_file_add_sections(struct image *image, size_t count);

/* Sets the name of a section that is not in the file: prefix and text, cut if it is too long. */
void image_file_name_section(struct image *image, size_t index, const char *prefix,
                             struct g2h_bytes text);

/* Renames a section .zdebug_info or the like to .debug_info and marks it as compressed. */
void image_file_name_dwarf(struct image *image, size_t index);

/* Maps addresses to sections. Error: G2H_ERROR_NOT_EXE, G2H_ERROR_MEMORY. */
struct g2h_error *image_file_find_addresses(struct image *image);

/* Sorts image->symbols by address, and sets the size of each to the distance to the next address of
 * a symbol, or to its section's end. Symbols that only mark the start or end of something
 * (runtime.data) have no size. */
void image_file_size_symbols(struct image *image);

/* Writes a word at an address into a copy of the section. Does nothing if the file has no word
 * there. Error: G2H_ERROR_MEMORY. */
struct g2h_error *image_file_put_word(struct image *image, uint64_t address, uint64_t value);

static inline bool image_file_is_compressed(const struct image_section *section)
{
    const uint64_t compressed = 1 << 11; /* SHF_COMPRESSED */
    return section->gnu_compressed || (section->flags & compressed) != 0;
}

#endif
