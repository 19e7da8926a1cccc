/*
 * image: the sections and symbols of an executable: ELF, Mach-O or PE.
 *
 * Takes untrusted bytes; gives ranges that have been checked against the file, and no more of them
 * than twice the file's size, so that whoever goes through all sections is done in time. The other
 * formats are told in the terms of ELF: a section has ELF's name (__gopclntab is .gopclntab,
 * __zdebug_info and .zdebug_info are .debug_info), type and flags; a symbol has ELF's type. The
 * words of a position-independent executable are as if it had been loaded at the addresses that the
 * file has (relocations are applied to copies).
 */
#ifndef EXE_IMAGE_H
#define EXE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

#include "base/error.h"

struct image_section {
    /* data is empty where the file has none (.bss), or is not in the file. It is shorter than size
     * where the rest is zeros (.data of PE, which ends with what is .bss elsewhere). */
    struct g2h_bytes name, data;
    uint32_t type, link;           /* SHT_PROGBITS and SHT_NOBITS only, unless it is ELF */
    uint64_t flags, address, size; /* SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED */
    bool gnu_compressed;           /* data is that of a .zdebug_ section */
    uint8_t *relocated;            /* what data is, where it is a copy */
    uint8_t *inflated;             /* by image_section_contents() */
    uint64_t inflated_size;
};

enum image_format { IMAGE_ELF, IMAGE_MACHO, IMAGE_PE };

struct image_range; /* the place of a section's data in memory */

struct image {
    const char *path; /* for messages */
    struct g2h_bytes file;
    /* Bytes of the file that was given, less than file.size where that was gzipped: for the caller
     * to set. */
    uint64_t stored;
    enum image_format format;
    uint16_t machine; /* EM_… */
    bool is_64, big_endian;
    struct image_section *sections;
    size_t section_count;
    struct image_range *ranges; /* ascending, apart from each other */
    size_t range_count;
    size_t symbol_table;          /* ELF: the section; section_count: there is none */
    struct image_symbol *symbols; /* the others: ascending by address */
    size_t symbol_count;
    char (*names)[32]; /* of sections, where the file has them otherwise */
    uint64_t inflated; /* bytes, of all sections */
};

struct image_symbol {
    struct g2h_bytes name;
    uint64_t address, size; /* where not ELF: up to the next symbol */
    uint8_t type;           /* STT_… */
    uint16_t section;       /* index */
};

/* file must outlive the image. Error: G2H_ERROR_NOT_EXE, G2H_ERROR_MEMORY. */
struct g2h_error *image_init(struct image *image, const char *path, struct g2h_bytes file);
void image_deinit(struct image *image);

/*
 * The most bytes that debug sections are believed to have together, in proportion to what was
 * given. In practice they have less than three times as many as a file that has nothing but them,
 * compressed, and was gzipped; a single section has six times as many as it is compressed to.
 */
static inline uint64_t image_debug_most(const struct image *image)
{
    return 16 * image->stored + (1 << 16);
}

/* A section by its name, NULL if there is none. */
const struct image_section *image_section(const struct image *image, const char *name);

/*
 * What a section holds, without compression (SHF_COMPRESSED by zlib, .zdebug_). Kept until
 * image_deinit(). Error: G2H_ERROR_MEMORY; G2H_ERROR_DAMAGED, also where it is out of proportion or
 * compressed by something else.
 */
struct g2h_error *image_section_contents(struct image *image, const struct image_section *section,
                                         struct g2h_bytes *ret);

/* size bytes at an address of the file; NULL where no allocated section has them in the file. */
const uint8_t *image_at(const struct image *image, uint64_t address, uint64_t size);

/* Numbers in the image's byte order. at must have that many bytes; word is 4 or 8 by the image's
 * class. */
uint16_t image_u16(const struct image *image, const uint8_t *at);
uint32_t image_u32(const struct image *image, const uint8_t *at);
uint64_t image_word(const struct image *image, const uint8_t *at);

/* The number of symbols, and symbol index < count; false where it is damaged. */
size_t image_symbol_count(const struct image *image);
bool image_symbol(const struct image *image, size_t index, struct image_symbol *ret);

/* A symbol by its name. */
bool image_symbol_named(const struct image *image, const char *name, struct image_symbol *ret);

#endif
