/*
 * image: the sections, segments and symbols of an ELF file.
 *
 * Takes untrusted bytes; gives ranges that have been checked against the file.
 */
#ifndef EXE_IMAGE_H
#define EXE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/dump.h>

#include "base/error.h"

struct image_section {
    struct g2h_bytes name,
        data; /* data is empty where the file has none (.bss), or is not in the file */
    uint32_t type, link;
    uint64_t flags, address, size;
};

struct image {
    const char *path; /* for messages */
    struct g2h_bytes file;
    bool is_64, big_endian;
    struct image_section *sections;
    size_t section_count;
};

struct image_symbol {
    struct g2h_bytes name;
    uint64_t address, size;
    uint8_t type;     /* STT_… */
    uint16_t section; /* index */
};

/* file must outlive the image. Error: G2H_ERROR_NOT_EXE, G2H_ERROR_MEMORY. */
struct g2h_error *image_init(struct image *image, const char *path, struct g2h_bytes file);
void image_deinit(struct image *image);

/* A section by its name, NULL if there is none. */
const struct image_section *image_section(const struct image *image, const char *name);

/* Numbers in the image's byte order. at must have that many bytes; word is 4 or 8 by the image's
 * class. */
uint16_t image_u16(const struct image *image, const uint8_t *at);
uint32_t image_u32(const struct image *image, const uint8_t *at);
uint64_t image_word(const struct image *image, const uint8_t *at);

/* The number of symbols, and symbol index < count; false where it is damaged. */
size_t image_symbol_count(const struct image *image);
bool image_symbol(const struct image *image, size_t index, struct image_symbol *ret);

#endif
