/*
 * image: the sections and symbols of an executable: ELF, Mach-O or PE.
 *
 * The bytes of the file are untrusted. All ranges that are given have been checked against the
 * file, and together they are at most twice as large, so going through all sections takes bounded
 * time. The other formats are given in the terms of ELF: a section has ELF's name (__gopclntab is
 * .gopclntab, __zdebug_info and .zdebug_info are .debug_info), type and flags; a symbol has ELF's
 * type. The words of a position-independent executable are as if it had been loaded at the
 * addresses of the file: relocations are applied to copies.
 */
#ifndef EXE_IMAGE_H
#define EXE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

#include "base/error.h"

struct image_section {
    struct g2h_bytes name;
    /* Empty where the file has no data for the section (.bss). Shorter than size where the rest is
     * zeros: .data of PE ends with what is .bss elsewhere. */
    struct g2h_bytes data;
    uint32_t type, link; /* other than in ELF: SHT_PROGBITS and SHT_NOBITS only */
    uint64_t flags;      /* SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED */
    uint64_t address, size;
    bool gnu_compressed; /* data is that of a .zdebug_ section */
    uint8_t *relocated;  /* the copy that data is, where words of it have been relocated */
    uint8_t *inflated;   /* by image_section_contents() */
    uint64_t inflated_size;
};

enum image_format { IMAGE_ELF, IMAGE_MACHO, IMAGE_PE };

struct image_range; /* addresses that have the data of a section */

struct image {
    const char *path; /* for messages */
    struct g2h_bytes file;
    /* The size of the file as it was given, which may have been gzipped; the caller may set it. */
    uint64_t stored;
    enum image_format format;
    uint16_t machine; /* EM_… */
    bool is_64, big_endian;
    struct image_section *sections;
    size_t section_count;
    struct image_range *ranges; /* ascending; no two overlap */
    size_t range_count;
    size_t symbol_table;          /* of ELF: its section; section_count where there is none */
    struct image_symbol *symbols; /* of other formats: ascending by address */
    size_t symbol_count;
    char (*names)[32]; /* of sections that have other names in the file */
    uint64_t inflated; /* bytes that all sections together have been uncompressed to */
};

struct image_symbol {
    struct g2h_bytes name;
    uint64_t address, size; /* other than in ELF, size is the distance to the next symbol */
    uint8_t type;           /* STT_… */
    uint16_t section;       /* index */
};

/* Reads the sections and symbols of a file, which must outlive the image. Error: G2H_ERROR_NOT_EXE,
 * G2H_ERROR_MEMORY; image_deinit() then, too. */
struct g2h_error *image_init(struct image *image, const char *path, struct g2h_bytes file);
void image_deinit(struct image *image);

/*
 * The most bytes that debug sections may have together, in proportion to the file that was given.
 * In practice they have less than three times as many as a gzipped file of nothing but compressed
 * debug sections; a single section may be six times as large as compressed.
 */
static inline uint64_t image_debug_most(const struct image *image)
{
    return 16 * image->stored + (1 << 16);
}

/* A section by its name, NULL if there is none. */
const struct image_section *image_section(const struct image *image, const char *name);

/*
 * What a section holds, without compression (SHF_COMPRESSED by zlib, .zdebug_); valid until
 * image_deinit(). Error: G2H_ERROR_MEMORY; G2H_ERROR_DAMAGED, also where the section is out of
 * proportion, or compressed by something else than zlib.
 */
struct g2h_error *image_section_contents(struct image *image, const struct image_section *section,
                                         struct g2h_bytes *ret);

/* So many bytes at an address; NULL where no section that is loaded has them in the file. */
const uint8_t *image_at(const struct image *image, uint64_t address, uint64_t size);

/* Numbers in the image's byte order, of 2, 4, and 4 or 8 bytes by the image's class. The caller
 * sees to it that they are there. */
uint16_t image_u16(const struct image *image, const uint8_t *at);
uint32_t image_u32(const struct image *image, const uint8_t *at);
uint64_t image_word(const struct image *image, const uint8_t *at);

/* The number of symbols; the one of an index below that, false where it is damaged. */
size_t image_symbol_count(const struct image *image);
bool image_symbol(const struct image *image, size_t index, struct image_symbol *ret);

/* A symbol by its name; false where there is none. */
bool image_symbol_named(const struct image *image, const char *name, struct image_symbol *ret);

#endif
