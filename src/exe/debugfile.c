/* debugfile; see debugfile.h.
 * https://sourceware.org/gdb/current/onlinedocs/gdb/Separate-Debug-Files.html */
#include "exe/debugfile.h"

#include <elf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "exe/source.h"

/* ---- does it belong to the executable? ---- */

enum { NT_GO_BUILD_ID = 4, LONGEST_ID = 1024 };

/* What a note of that owner and type says; empty where there is none. */
static struct g2h_bytes find_note(const struct image *image, const char *owner, uint32_t type)
{
    const uint64_t owner_size = strlen(owner) + 1;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if (section->type != SHT_NOTE)
            continue;
        const uint8_t *at = section->data.data;
        for (uint64_t left = section->data.size; left >= 12;) {
            const uint64_t name_size = image_u32(image, at), size = image_u32(image, at + 4);
            const uint64_t place = 12 + (name_size + 3) / 4 * 4, whole = place + (size + 3) / 4 * 4;
            if (place + size > left)
                break;
            if (image_u32(image, at + 8) == type && name_size == owner_size &&
                memcmp(at + 12, owner, (size_t)owner_size) == 0)
                return (struct g2h_bytes){at + place, size};
            if (whole > left)
                break;
            at += whole;
            left -= whole;
        }
    }
    return (struct g2h_bytes){(const uint8_t *)"", 0};
}

static bool is_same(struct g2h_bytes one, struct g2h_bytes other)
{
    return one.size == other.size && memcmp(one.data, other.data, (size_t)one.size) == 0;
}

/* crc: what .gnu_debuglink says, NULL if it was not by that. */
static bool belongs(const struct image *image, const struct image *debug, const uint32_t *crc)
{
    const struct g2h_bytes gnu[] = {find_note(image, "GNU", NT_GNU_BUILD_ID),
                                    find_note(debug, "GNU", NT_GNU_BUILD_ID)};
    const struct g2h_bytes go[] = {find_note(image, "Go", NT_GO_BUILD_ID),
                                   find_note(debug, "Go", NT_GO_BUILD_ID)};
    if (debug->format != IMAGE_ELF || debug->machine != image->machine ||
        debug->is_64 != image->is_64 || debug->big_endian != image->big_endian ||
        (image_symbol_count(debug) == 0 && !image_section(debug, ".debug_info")))
        return false;
    if (gnu[0].size > 0 && gnu[1].size > 0)
        return is_same(gnu[0], gnu[1]);
    if (go[0].size > 0 && go[1].size > 0)
        return is_same(go[0], go[1]);
    return crc && crc32_z(0, debug->file.data, (size_t)debug->file.size) == *crc;
}

/* ---- where it may be ---- */

struct search {
    const struct image *image;
    const uint32_t *crc;
    struct g2h_input **ret_input;
    struct image *ret;
};

/* Takes the file at path, which it frees, if it is the one. */
static struct g2h_error *try_file(const struct search *search, char *path)
{
    struct stat status;
    struct g2h_error *error = NULL;
    if (!path)
        return &error_no_memory;
    /* No pipe, which would not end. */
    if (!*search->ret_input && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        error = source_open(path, search->ret_input);
        if (!error)
            error = image_init(
                search->ret, (*search->ret_input)->name,
                (struct g2h_bytes){(*search->ret_input)->data, (*search->ret_input)->size});
        if (!error)
            search->ret->stored = (*search->ret_input)->stored;
        if (*search->ret_input && (error || !belongs(search->image, search->ret, search->crc))) {
            image_deinit(search->ret);
            g2h_input_close(*search->ret_input);
            *search->ret_input = NULL;
        }
    }
    free(path);
    if (error && error->code != G2H_ERROR_MEMORY) {
        g2h_error_destroy(error);
        error = NULL;
    }
    return error;
}

static char *format_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *format_path(const char *format, ...)
{
    char *path;
    va_list arguments;
    va_start(arguments, format);
    int size = vasprintf(&path, format, arguments);
    va_end(arguments);
    return size < 0 ? NULL : path;
}

static struct g2h_error *search_by_id(const struct search *search, const char *directory)
{
    const struct g2h_bytes id = find_note(search->image, "GNU", NT_GNU_BUILD_ID);
    char digits[2 * LONGEST_ID + 1];
    if (id.size < 2 || id.size > LONGEST_ID)
        return NULL;
    for (size_t i = 0; i < id.size; i++)
        snprintf(digits + 2 * i, 3, "%02x", id.data[i]);
    return try_file(search,
                    format_path("%s/.build-id/%.2s/%s.debug", directory, digits, digits + 2));
}

/* A file's name, ended by 0; then, aligned to four bytes, its CRC. */
static struct g2h_error *search_by_link(struct search *search, const char *directory)
{
    const struct image *image = search->image;
    const struct image_section *section = image_section(image, ".gnu_debuglink");
    if (!section)
        return NULL;
    const struct g2h_bytes link = section->data;
    const uint8_t *end = memchr(link.data, 0, (size_t)link.size);
    const uint64_t size = end ? (uint64_t)(end - link.data) : 0, place = (size + 4) / 4 * 4;
    if (size == 0 || size > NAME_MAX || memchr(link.data, '/', (size_t)size) ||
        link.size < place + 4)
        return NULL;
    const uint32_t crc = image_u32(image, link.data + place);
    const char *name = (const char *)link.data, *slash = strrchr(image->path, '/');
    char *folder = slash ? strndup(image->path, (size_t)(slash - image->path) + 1) : strdup("./");
    if (!folder)
        return &error_no_memory;
    char *whole = realpath(folder, NULL);
    search->crc = &crc;
    struct g2h_error *error = try_file(search, format_path("%s%s", folder, name));
    if (!error)
        error = try_file(search, format_path("%s.debug/%s", folder, name));
    if (!error && whole)
        error = try_file(search, format_path("%s%s/%s", directory, whole, name));
    search->crc = NULL;
    free(whole);
    free(folder);
    return error;
}

struct g2h_error *image_find_debug_file(const struct image *image, const char *directory,
                                        struct g2h_input **ret_input, struct image *ret)
{
    struct search search = {.image = image, .ret_input = ret_input, .ret = ret};
    *ret_input = NULL;
    *ret = (struct image){0};
    if (image->format != IMAGE_ELF)
        return NULL;
    struct g2h_error *error = search_by_id(&search, directory);
    if (!error && !*ret_input)
        error = search_by_link(&search, directory);
    return error;
}
