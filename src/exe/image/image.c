/* image; see image.h. This file detects the format. */
#include "exe/image/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/scope.h"
#include "exe/image/image_file.h"

const struct image_section *image_section(const struct image *image, const char *name)
{
    for (size_t i = 0; i < image->section_count; i++)
        if (bytes_are(image->sections[i].name, name))
            return &image->sections[i];
    return NULL;
}

/* ---- symbols ---- */

size_t image_symbol_count(const struct image *image)
{
    return image->format == IMAGE_ELF ? elf_symbol_count(image) : image->symbol_count;
}

bool image_symbol(const struct image *image, size_t index, struct image_symbol *ret)
{
    assert(index < image_symbol_count(image));
    if (image->format == IMAGE_ELF)
        return elf_symbol(image, index, ret);
    *ret = image->symbols[index];
    return ret->name.size > 0;
}

bool image_symbol_named(const struct image *image, const char *name, struct image_symbol *ret)
{
    const size_t count = image_symbol_count(image);
    for (size_t i = 0; i < count; i++)
        if (image_symbol(image, i, ret) && bytes_are(ret->name, name))
            return true;
    return false;
}

/* ---- opening ---- */

/* Recognizes the format by the file's first bytes, and reads sections and symbols. 64 bytes are the
 * smallest ELF header. */
static struct g2h_error *read_format(struct image *image)
{
    static const uint8_t macho_32[] = {0xce, 0xfa, 0xed, 0xfe},
                         macho_64[] = {0xcf, 0xfa, 0xed, 0xfe},
                         macho_fat[] = {0xca, 0xfe, 0xba, 0xbe};
    const struct g2h_bytes *file = &image->file;
    if (file->size < 64)
        return image_file_refuse(image, "is not an executable (ELF, Mach-O or PE)");
    if (memcmp(file->data, ELFMAG, SELFMAG) == 0)
        return elf_read(image);
    if (memcmp(file->data, macho_32, 4) == 0 || memcmp(file->data, macho_64, 4) == 0)
        return macho_read(image);
    if (memcmp(file->data, macho_fat, 4) == 0)
        return image_file_refuse(image, "is a universal binary: take the part of the dump's "
                                        "architecture out of it with lipo -thin");
    if (memcmp(file->data, "MZ", 2) == 0)
        return pe_read(image);
    return image_file_refuse(image, "is not an executable (ELF, Mach-O or PE)");
}

/* Relocations need addresses: pointers in data are 0 in the file if the loader sets them. */
struct g2h_error *image_init(struct image *image, const char *path, struct g2h_bytes file)
{
    *image = (struct image){.path = path, .file = file, .stored = file.size};
    TRY(read_format(image));
    TRY(image_file_find_addresses(image));
    switch (image->format) {
    case IMAGE_ELF:
        return elf_relocate(image);
    case IMAGE_MACHO:
        return macho_relocate(image);
    default:
        return NULL;
    }
}

void image_deinit(struct image *image)
{
    for (size_t i = 0; i < image->section_count; i++) {
        free(image->sections[i].relocated);
        free(image->sections[i].inflated);
    }
    free(image->sections);
    free(image->names);
    free(image->ranges);
    free(image->symbols);
    *image = (struct image){0};
}
