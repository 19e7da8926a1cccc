/*
 * image: sections and symbols of an executable of any format; see image.h. The first part
 * recognizes the format and has it read (elf.c, macho.c, pe.c); the second uncompresses sections,
 * several at once on threads of their own. A damaged section has no contents.
 */
#define ZLIB_CONST

#include "exe/image/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef WITH_DEFLATE
#include <libdeflate.h>
#endif

#include "base/bytes.h"
#include "base/contract.h"
#include "base/elf_format.h"
#include "base/workers.h"
#include "exe/image/image_file.h"

/* ==== any format ====
 *
 * This file detects the format.
 */

/* Returns the section with a name, or NULL if there is none. */
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

/* Reads the symbol with this number; false if it has no name, or cannot be read. ELF's are read
 * from the file each time. */
bool image_symbol(const struct image *image, size_t index, struct image_symbol *ret)
{
    assert(index < image_symbol_count(image));
    if (image->format == IMAGE_ELF)
        return elf_symbol(image, index, ret);
    *ret = image->symbols[index];
    return ret->name.size > 0;
}

/* Finds a symbol by its name. Returns false if there is none. */
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

/* Reads sections and symbols of a file. Relocations need addresses: pointers in data are 0 in the
 * file if the loader sets them. */
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

/* ==== uncompresses sections ====
 *
 * They are compressed by zlib, and begin either with an Elf32_Chdr or Elf64_Chdr (SHF_COMPRESSED)
 * or, in GNU's older format (.zdebug_), with "ZLIB" and the uncompressed size, big-endian.
 *
 * A section is refused if it claims more than 1,032 bytes for each compressed byte, which is the
 * most that zlib can reach, or if all sections together would exceed image_debug_most().
 */

enum { ZLIB_RATIO = 1032 };

/* Returns the error that a section is damaged. */
static struct g2h_error *refuse_compressed(const struct image *image,
                                           const struct image_section *section, const char *why)
{
    return error_create(G2H_ERROR_DAMAGED, "%s: section %.*s %s", image->path,
                        as_width(bytes_at_most(section->name, 100).size), section->name.data, why);
}

/* Returns the size of what precedes the compressed data of a section. */
static uint64_t header_size(const struct image *image, const struct image_section *section)
{
    enum { GNU_HEADER = 12 }; /* "ZLIB" and the size */
    if (section->gnu_compressed)
        return GNU_HEADER;
    return image->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
}

/* Finds the uncompressed size of a section, and adds it to image->inflated. Error: it is not
 * compressed by zlib, or claims a size that zlib cannot reach, or that is beyond the limit of all
 * sections. */
static struct g2h_error *inflated_size(struct image *image, const struct image_section *section,
                                       uint64_t *ret)
{
    const uint64_t header = header_size(image, section);
    const uint8_t *at = section->data.data;
    uint64_t size = 0;
    if (section->data.size < header)
        return refuse_compressed(image, section, "is too short to be compressed");
    if (section->gnu_compressed) {
        if (memcmp(at, "ZLIB", 4) != 0)
            return refuse_compressed(image, section, "is not compressed as its name says");
        for (size_t i = 4; i < 12; i++)
            size = size << 8 | at[i];
    } else {
        if (image_u32(image, at) != ELFCOMPRESS_ZLIB)
            return refuse_compressed(image, section, "is compressed by something else than zlib");
        size = image_word(image, at + (image->is_64 ? 8 : 4));
    }
    if (size / ZLIB_RATIO > section->data.size || size > SIZE_MAX ||
        size > image_debug_most(image) - image->inflated)
        return refuse_compressed(image, section, "claims to hold more than it can");
    image->inflated += size;
    *ret = size;
    return NULL;
}

/* Uncompresses a section that is sound by libdeflate, which takes a third of zlib's instructions.
 * Returns false if the library is not there or does not do it: zlib says what is wrong. */
static bool inflate_at_once(const uint8_t *input, uint64_t input_size, uint8_t *ret, uint64_t size)
{
#ifdef WITH_DEFLATE
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    const bool is_done =
        decompressor && libdeflate_zlib_decompress(decompressor, input, (size_t)input_size, ret,
                                                   (size_t)size, NULL) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(decompressor);
    return is_done;
#else
    (void)input, (void)input_size, (void)ret, (void)size;
    return false;
#endif
}

/* Uncompresses a section into ret, which has space for its size bytes; in one call if possible,
 * else in pieces of 1 GiB at most. Errors: memory has run out, or the section is damaged. */
static struct g2h_error *inflate_section(const struct image *image,
                                         const struct image_section *section, uint8_t *ret,
                                         uint64_t size)
{
    const uint64_t header = header_size(image, section);
    const uint8_t *input = section->data.data + header;
    uint64_t input_left = section->data.size - header;
    uint64_t left = size;
    z_stream stream = {0};
    if (inflate_at_once(input, input_left, ret, size))
        return NULL;
    int status = inflateInit(&stream);
    if (status != Z_OK)
        return &error_no_memory;
    stream.next_out = ret;
    do { /* zlib counts in 32 bits */
        const uInt most = 1u << 30;
        uInt given = input_left < most ? (uInt)input_left : most;
        uInt space = left < most ? (uInt)left : most;
        stream.next_in = input;
        stream.avail_in = given;
        stream.avail_out = space;
        status = inflate(&stream, Z_NO_FLUSH);
        input += given - stream.avail_in;
        input_left -= given - stream.avail_in;
        left -= space - stream.avail_out;
    } while (status == Z_OK && (left > 0 || input_left > 0));
    inflateEnd(&stream);
    if (status == Z_MEM_ERROR)
        return &error_no_memory;
    return status == Z_STREAM_END && left == 0
               ? NULL
               : refuse_compressed(image, section, "cannot be uncompressed: it is damaged");
}

/* A section that is being uncompressed. */
struct inflation {
    const struct image *image;
    struct image_section *section;
    uint8_t *data;
    uint64_t size;
    struct g2h_error *error;
    bool is_done;
};

/* Uncompresses a section on one of the threads. An error is kept, so that the others go on. */
static struct g2h_error *inflation_run(void *context, size_t task, unsigned worker)
{
    struct inflation *own = (struct inflation *)context + task;
    (void)worker;
    own->error = inflate_section(own->image, own->section, own->data, own->size);
    own->is_done = !own->error;
    return NULL;
}

/* Begins to uncompress a section; own->data stays NULL if there is nothing to uncompress, or the
 * section's header is invalid. Error: G2H_ERROR_MEMORY. */
static struct g2h_error *inflation_begin(struct image *image, const char *name,
                                         struct inflation *own)
{
    const struct image_section *section = image_section(image, name);
    assert(own->section == NULL); /* names are distinct: each section is uncompressed once */
    *own = (struct inflation){.image = image};
    if (!section || !image_file_is_compressed(section) || section->data.size == 0 ||
        section->inflated)
        return NULL;
    struct g2h_error *error = inflated_size(image, section, &own->size);
    if (error) {
        g2h_error_destroy(error);
        return NULL;
    }
    own->section = &image->sections[section - image->sections];
    own->data = malloc(count_and_end(own->size));
    if (!own->data)
        image->inflated -= own->size;
    TRY_MEMORY(own->data);
    return NULL;
}

/* Keeps the uncompressed data; damaged sections are left to image_section_contents(). */
static void inflation_end(struct image *image, struct inflation *own)
{
    if (!own->data)
        return;
    if (!own->is_done) {
        image->inflated -= own->size;
        free(own->data);
    } else {
        own->section->inflated = own->data;
        own->section->inflated_size = own->size;
    }
    g2h_error_destroy(own->error);
}

/* The sections that are being uncompressed. */
struct inflations {
    struct image *image;
    struct inflation *all;
    size_t begun;
};

/* Waits for all threads that uncompress, and keeps what they have done. */
static void inflations_end(struct inflations *inflations)
{
    for (size_t i = 0; i < inflations->begun; i++)
        inflation_end(inflations->image, &inflations->all[i]);
    free(inflations->all);
}

/* Uncompresses some sections on several threads. All sizes are known before threads start, so the
 * limit does not depend on their order. */
struct g2h_error *image_inflate(struct image *image, const char *const *names, size_t count,
                                unsigned threads)
{
    _cleanup_(inflations_end) struct inflations inflations = {
        image, calloc(count + 1, sizeof(*inflations.all)), 0};
    TRY_MEMORY(inflations.all);
    for (size_t i = 0; i < count; i++) {
        struct inflation *next = &inflations.all[inflations.begun];
        TRY(inflation_begin(image, names[i], next));
        inflations.begun += next->data != NULL;
    }
    return workers_run(threads, inflations.begun, inflation_run, inflations.all);
}

/* Returns the uncompressed contents of a section. A section is uncompressed when it is first read,
 * and kept. */
struct g2h_error *image_section_contents(struct image *image, const struct image_section *section,
                                         struct g2h_bytes *ret)
{
    struct image_section *own = &image->sections[section - image->sections];
    uint64_t size = 0;
    if (!image_file_is_compressed(own) || own->data.size == 0) {
        *ret = own->data;
        return NULL;
    }
    if (!own->inflated) {
        TRY(inflated_size(image, own, &size));
        uint8_t *data = malloc(count_and_end(size));
        struct g2h_error *error = data ? inflate_section(image, own, data, size) : &error_no_memory;
        if (error) {
            image->inflated -= size;
            free(data);
            return error;
        }
        own->inflated = data;
        own->inflated_size = size;
    }
    *ret = bytes_at(own->inflated, own->inflated_size);
    return NULL;
}
