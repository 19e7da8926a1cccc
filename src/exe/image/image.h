/*
 * image: the sections and symbols of an executable: ELF, Mach-O or PE.
 *
 * The bytes of the file are untrusted. All ranges of an image have been checked against the file,
 * and together they are at most twice as large as the file, so visiting all sections takes bounded
 * time. Mach-O and PE are described in the terms of ELF: a section has ELF's name (__gopclntab is
 * .gopclntab, __zdebug_info and .zdebug_info are .debug_info), type and flags; a symbol has ELF's
 * type. The words of a position-independent executable are as if it had been loaded at the
 * addresses of the file: relocations are applied to copies.
 *
 *   image, image_file, elf, macho, pe
 *                       sections and symbols of any format, compressed or not
 *   debugfile           the file, and the separate debug file
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

#include "base/error.h"

struct image_section {
    struct g2h_bytes name;
    /* Empty if the file has no data for the section (.bss). Shorter than size if the rest is zeros:
     * .data of PE ends with the equivalent of .bss in the other formats. */
    struct g2h_bytes data;
    uint32_t type, link; /* in Mach-O and PE, type is SHT_PROGBITS or SHT_NOBITS */
    uint64_t flags;      /* SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED */
    uint64_t address, size;
    bool gnu_compressed; /* data is that of a .zdebug_ section of the file */
    uint8_t *relocated;  /* a copy that data refers to, if relocations change words */
    uint8_t *inflated;   /* the uncompressed data, from image_section_contents() */
    uint64_t inflated_size;
};

enum image_format { IMAGE_ELF, IMAGE_MACHO, IMAGE_PE };

struct image_range; /* a range of addresses that contains the data of a section */

struct image {
    const char *path; /* for messages */
    struct g2h_bytes file;
    /* The original size of the file, which may have been gzipped. image_init() sets it to the size
     * of file; the caller may change it. */
    uint64_t stored;
    enum image_format format;
    uint16_t machine; /* EM_… */
    bool is_64, big_endian;
    struct image_section *sections;
    size_t section_count;
    struct image_range *ranges; /* ascending; no two overlap */
    size_t range_count;
    size_t symbol_table;          /* in ELF: index of its section; section_count if there is none */
    struct image_symbol *symbols; /* in Mach-O and PE: ascending by address */
    size_t symbol_count;
    char (*names)[32]; /* by section: its name, if it differs from the file's */
    uint64_t inflated; /* uncompressed size of all sections that have been uncompressed */
};

struct image_symbol {
    struct g2h_bytes name;
    uint64_t address, size; /* in Mach-O and PE, size is the distance to the next symbol */
    uint8_t type;           /* STT_… */
    uint16_t section;       /* index of the section */
};

/* Reads the sections and symbols of a file, which must outlive the image. Error: G2H_ERROR_NOT_EXE,
 * G2H_ERROR_MEMORY. The caller calls image_deinit() even after an error. */
struct g2h_error *image_init(struct image *image, const char *path, struct g2h_bytes file);

void image_deinit(struct image *image);

/*
 * Returns the most bytes that debug sections may have together, in proportion to the original file.
 * In practice they have less than three times as many bytes as a gzipped file that consists of
 * compressed debug sections only; a single section may be six times as large as its compressed
 * form.
 */
static inline uint64_t image_debug_most(const struct image *image)
{
    return 16 * image->stored + (1 << 16);
}

/* Returns the section with a name, or NULL if there is none. */
const struct image_section *image_section(const struct image *image, const char *name);

/*
 * Returns the uncompressed contents of a section (SHF_COMPRESSED by zlib, .zdebug_). They are valid
 * until image_deinit(). Error: G2H_ERROR_MEMORY; G2H_ERROR_DAMAGED, also if the uncompressed size
 * is out of proportion, or another method than zlib compressed the section.
 */
struct g2h_error *image_section_contents(struct image *image, const struct image_section *section,
                                         struct g2h_bytes *ret);

/*
 * Uncompresses sections by their names, which must be distinct, on several threads, so that
 * image_section_contents() has them at once. A damaged section stays compressed. Error:
 * G2H_ERROR_MEMORY.
 */
struct g2h_error *image_inflate(struct image *image, const char *const *names, size_t count,
                                unsigned threads);

/* Returns size bytes at an address, or NULL if no loaded section has them in the file. */
const uint8_t *image_at(const struct image *image, uint64_t address, uint64_t size);

/* Return a number of 2 bytes, of 4 bytes, and of 4 or 8 bytes by the image's class, in the image's
 * byte order. The caller ensures that the bytes exist. */
uint16_t image_u16(const struct image *image, const uint8_t *at);

uint32_t image_u32(const struct image *image, const uint8_t *at);

uint64_t image_word(const struct image *image, const uint8_t *at);

/* Return the number of symbols, and the symbol with an index less than that; image_symbol() returns
 * false if the symbol is damaged. */
size_t image_symbol_count(const struct image *image);

bool image_symbol(const struct image *image, size_t index, struct image_symbol *ret);

/* Finds a symbol by its name. Returns false if there is none. */
bool image_symbol_named(const struct image *image, const char *name, struct image_symbol *ret);

#endif
