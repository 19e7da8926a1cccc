/*
 * debugfile: opens an executable's bytes, and finds the separate debug file of a stripped one; see
 * debugfile.h. It is searched where gdb does: by build id below the directory of debug files, and
 * by the name in .gnu_debuglink beside the file. A file that is found must belong to the
 * executable, by build id or checksum.
 */
#include "exe/image/debugfile.h"

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/error.h"
#include "base/process_root.h"
#include "input/input.h"
#include "input/magic.h"
#include "input/unpack.h"

/* ==== the bytes of an executable, or of its debug file ====
 *
 * An executable that is compressed, or comes through a pipe, has to be copied. A file that does not
 * begin like an executable is not copied. Code and debug information are 2 to 5 times as large as
 * their compressed form; if a file unpacks to a much larger multiple of its size, only the bytes up
 * to a limit are copied.
 */

enum { UNSUSPICIOUS = 1 << 24, UNPACKED_RATIO = 64 };

static const uint64_t LARGEST = UINT64_C(1) << 33;

/* Returns up to how many bytes are to be copied, given the bytes so far and how many of the file
 * they took: 0 for what is not an executable, and less than a bomb unpacks to. */
static uint64_t image_source_look(void *context, const struct g2h_input *so_far, uint64_t taken)
{
    bool *is_too_large = context;
    uint64_t limit = UNSUSPICIOUS + MIN(taken, LARGEST) * UNPACKED_RATIO;
    if (!magic_is_executable(so_far->data, so_far->size))
        return 0;
    limit = MIN(limit, LARGEST);
    *is_too_large = limit <= so_far->size;
    return limit;
}

CLEANUP_POINTER(close_source, struct g2h_input, g2h_input_close);

/* Opens the file of an executable. Packed files are unpacked while they are read. Those whose
 * method was not built in stay packed, and are refused with the command that unpacks them. */
struct g2h_error *source_open(const char *path, struct g2h_input **ret)
{
    bool is_too_large = false;
    const struct input_watcher watcher = {image_source_look, &is_too_large};
    _cleanup_(close_source) struct g2h_input *input = NULL;
    *ret = NULL;
    TRY(input_open(path, NULL, &watcher, &input));
    const struct unpack_method *packed = unpack_method_of(input->data, input->size);
    if (packed)
        return error_create(G2H_ERROR_NOT_EXE, "%s: is packed by %s; unpack it first: %s",
                            input->name, packed->name, packed->command);
    if (is_too_large)
        return error_create(G2H_ERROR_NOT_EXE, "%s: unpacks to more than an executable does",
                            input->name);
    *ret = take_pointer(input);
    return NULL;
}

/* ==== the separate debug file ====
 *
 * Https://sourceware.org/gdb/current/onlinedocs/gdb/Separate-Debug-Files.html
 */

struct debugfile_search {
    const struct image *image;
    bool has_crc; /* the search is by .gnu_debuglink, which has the debug file's CRC */
    uint32_t crc;
    struct g2h_input **ret_input;
    struct image *ret;
};

/* ---- does it belong to the executable? ---- */

enum { NT_GO_BUILD_ID = 4, LONGEST_ID = 1024 };

/* Returns the contents of the note with an owner and a type; they are empty if there is none. A
 * note is an Elf64_Nhdr, the same in both classes, the owner and the contents, each padded to 4
 * bytes. */
static struct g2h_bytes find_note(const struct image *image, const char *owner, uint32_t type)
{
    const uint64_t owner_size = strlen(owner) + 1;
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        if (section->type != SHT_NOTE)
            continue;
        const uint8_t *at = section->data.data;
        for (uint64_t left = section->data.size; left >= sizeof(Elf64_Nhdr);) {
            const uint64_t name_size = image_u32(image, at + offsetof(Elf64_Nhdr, n_namesz));
            const uint64_t size = image_u32(image, at + offsetof(Elf64_Nhdr, n_descsz));
            const uint32_t own_type = image_u32(image, at + offsetof(Elf64_Nhdr, n_type));
            const uint64_t start = sizeof(Elf64_Nhdr) + (name_size + 3) / 4 * 4;
            const uint64_t whole = start + (size + 3) / 4 * 4;
            if (start + size > left)
                break;
            if (own_type == type && name_size == owner_size &&
                memcmp(at + sizeof(Elf64_Nhdr), owner, (size_t)owner_size) == 0)
                return bytes_at(at + start, size);
            if (whole > left)
                break;
            at += whole;
            left -= whole;
        }
    }
    return bytes_none;
}

/* Returns whether search->ret is the debug file of search->image: by the build ids that linkers
 * write or, without them, by the CRC. A file of another build would give plausible but wrong
 * names. */
static bool is_debug_file_of(const struct debugfile_search *search)
{
    const struct image *image = search->image;
    const struct image *debug = search->ret;
    const struct g2h_bytes gnu[] = {find_note(image, "GNU", NT_GNU_BUILD_ID),
                                    find_note(debug, "GNU", NT_GNU_BUILD_ID)};
    const struct g2h_bytes go[] = {find_note(image, "Go", NT_GO_BUILD_ID),
                                   find_note(debug, "Go", NT_GO_BUILD_ID)};
    if (debug->format != IMAGE_ELF || debug->machine != image->machine ||
        debug->is_64 != image->is_64 || debug->big_endian != image->big_endian ||
        (image_symbol_count(debug) == 0 && !image_section(debug, ".debug_info")))
        return false;
    if (gnu[0].size > 0 && gnu[1].size > 0)
        return bytes_same(gnu[0], gnu[1]);
    if (go[0].size > 0 && go[1].size > 0)
        return bytes_same(go[0], go[1]);
    return search->has_crc && crc32_z(0, debug->file.data, debug->file.size) == search->crc;
}

/* ---- locations ---- */

/* Closes a file that was opened but is not the debug file. */
static void close_image(struct g2h_input **input, struct image *image)
{
    image_deinit(image);
    g2h_input_close(*input);
    *input = NULL;
}

/* Opens a file as an image. If that fails, both the file and the image are closed again. */
static struct g2h_error *open_image(const char *path, struct g2h_input **ret_input,
                                    struct image *ret)
{
    TRY(source_open(path, ret_input));
    const struct g2h_input *input = *ret_input;
    struct g2h_error *error = image_init(ret, input->name, bytes_at(input->data, input->size));
    ret->stored = input->stored;
    if (error)
        close_image(ret_input, ret);
    return error;
}

/* Accepts the file at a path if it is the debug file, unless one has been accepted before. */
static struct g2h_error *try_file(const struct debugfile_search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tries the file at a path, unless one has been found. Only a regular file that belongs to the
 * executable counts; error: no memory. */
static struct g2h_error *try_file(const struct debugfile_search *search, const char *format, ...)
{
    _cleanup_free_ char *path = NULL;
    struct stat status;
    va_list arguments;
    if (*search->ret_input)
        return NULL;
    va_start(arguments, format);
    const int size = vasprintf(&path, format, arguments);
    va_end(arguments);
    if (size < 0) {
        path = NULL;
        return &error_no_memory;
    }
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) /* reading a pipe might not end */
        return NULL;
    struct g2h_error *error = open_image(path, search->ret_input, search->ret);
    if (error && error->code == G2H_ERROR_MEMORY)
        return error;
    if (!error && !is_debug_file_of(search))
        close_image(search->ret_input, search->ret);
    g2h_error_destroy(error);
    return NULL;
}

/* The path of a file of a live process, in the process's own root directory. */
struct file_location {
    char *path; /* "/proc/1234/root/opt/app"; NULL: not such a file */
    int root;   /* the length of "/proc/1234/root" */
};

static void file_location_deinit(struct file_location *location)
{
    free(location->path);
}

/* Finds the location of a file by a path below /proc/PID: exe and map_files have links that lead to
 * a path of the process, also if the file there was removed or replaced. Returns false if memory
 * runs out. */
static bool find_location(const char *path, struct file_location *ret)
{
    const char *pid = strncmp(path, "/proc/", 6) == 0 ? path + 6 : "";
    const char *end = strchr(pid, '/');
    char process[32], target[PATH_MAX];
    *ret = (struct file_location){0};
    if (!end || as_size(end - path) >= sizeof(process))
        return true;
    snprintf(process, sizeof(process), "%.*s", as_width(as_size(end - path)), path);
    ret->root = as_width(strlen(process) + strlen("/root"));
    if (strncmp(end, "/root/", 6) == 0)
        ret->path = strdup(path);
    else if (strcmp(end, "/exe") == 0 || strncmp(end, "/map_files/", 11) == 0) {
        const ssize_t size = readlink(path, target, sizeof(target));
        if (size <= 0 || as_size(size) >= sizeof(target))
            return true;
        ret->path = process_root_path(process, bytes_at(target, as_size(size)));
    } else
        return true;
    return ret->path != NULL;
}

/* Searches the directory of debug files for the build id, ".build-id/ab/cdef.debug", first in the
 * root directory of the process. */
static struct g2h_error *search_by_id(const struct debugfile_search *search,
                                      const struct file_location *location, const char *directory)
{
    const struct g2h_bytes id = find_note(search->image, "GNU", NT_GNU_BUILD_ID);
    char digits[2 * LONGEST_ID + 1];
    if (id.size < 2 || id.size > LONGEST_ID)
        return NULL;
    for (size_t i = 0; i < id.size; i++)
        snprintf(digits + 2 * i, 3, "%02x", id.data[i]);
    if (location->path)
        TRY(try_file(search, "%.*s%s/.build-id/%.2s/%s.debug", location->root, location->path,
                     directory, digits, digits + 2));
    return try_file(search, "%s/.build-id/%.2s/%s.debug", directory, digits, digits + 2);
}

/* Finds the NUL-terminated name in .gnu_debuglink, and after it, aligned to four bytes, the file's
 * CRC. Returns NULL if there is none. */
static const char *find_link(struct debugfile_search *search)
{
    const struct image_section *section = image_section(search->image, ".gnu_debuglink");
    if (!section)
        return NULL;
    const struct g2h_bytes link = section->data;
    const uint8_t *end = memchr(link.data, 0, link.size);
    const uint64_t size = end ? as_size(end - link.data) : 0;
    const uint64_t crc_at = (size + 4) / 4 * 4;
    if (size == 0 || size > NAME_MAX || memchr(link.data, '/', (size_t)size) ||
        link.size < crc_at + 4)
        return NULL;
    search->has_crc = true;
    search->crc = image_u32(search->image, link.data + crc_at);
    return (const char *)link.data;
}

/* Searches beside a file, and below the directory of debug files as if that were the root. root is
 * the length of the root directory's path. */
static struct g2h_error *search_beside(const struct debugfile_search *search, const char *path,
                                       int root, const char *name, const char *directory)
{
    const char *inner = path + root;
    const char *slash = strrchr(inner, '/');
    const int size = slash ? as_width(as_size(slash + 1 - inner)) : 0;
    TRY(try_file(search, "%.*s%s", root + size, path, name));
    TRY(try_file(search, "%.*s.debug/%s", root + size, path, name));
    if (inner[0] != '/')
        return NULL;
    if (root > 0)
        TRY(try_file(search, "%.*s%s%.*s%s", root, path, directory, size, inner, name));
    return try_file(search, "%s%.*s%s", directory, size, inner, name);
}

/* Searches for the file of debug information that .gnu_debuglink names, beside the file, and beside
 * the target of its links, as gdb does; or beside the path that location has. Nothing if there is
 * no such link. */
static struct g2h_error *search_by_link(struct debugfile_search *search,
                                        const struct file_location *location, const char *directory)
{
    const char *name = find_link(search);
    const char *path = search->image->path;
    if (!name)
        return NULL;
    if (location->path)
        return search_beside(search, location->path, location->root, name, directory);
    _cleanup_free_ char *whole = realpath(path, NULL);
    TRY(search_beside(search, path, 0, name, directory));
    return whole ? search_beside(search, whole, 0, name, directory) : NULL;
}

/* Finds the separate debug file of an executable. The build id is searched first, since it names
 * exactly one build; .gnu_debuglink is only a file name. */
struct g2h_error *image_find_debug_file(const struct image *image, const char *directory,
                                        struct g2h_input **ret_input, struct image *ret)
{
    struct debugfile_search search = {.image = image, .ret_input = ret_input, .ret = ret};
    _cleanup_(file_location_deinit) struct file_location location = {0};
    *ret_input = NULL;
    *ret = (struct image){0};
    if (image->format != IMAGE_ELF)
        return NULL;
    TRY_MEMORY(find_location(image->path, &location));
    TRY(search_by_id(&search, &location, directory));
    return *ret_input ? NULL : search_by_link(&search, &location, directory);
}
