/*
 * build_info: the build information of an executable and of a process, and how they differ; see
 * build_info.h. It is found by its magic number. An executable without it, of before Go 1.13 or
 * obfuscated, has its release guessed by functions and structures that only some releases have.
 */
#include "exe/go/build_info.h"

#include <string.h>

#include "base/contract.h"
#include "base/bytes.h"
#include "base/elf_format.h"
#include "base/releases.h"

/* ---- finding ---- */

/* The header (debug/buildinfo): its size, and the offsets, after the magic, of the size of a
 * pointer, the flags, and, unless they have INLINE, two pointers to strings. */
enum { HEADER = 32, POINTER_SIZE_AT = 14, FLAGS_AT = 15, STRINGS_AT = 16 };
enum { INLINE = 2 /* flag: the strings follow the header */ };

/* In two halves, so that this program's own executable does not contain it. */
static const char magic[] = "\xff Go ", rest[] = "buildinf:";

/* Returns whether build information begins here, by its magic number. */
static bool has_build_info_magic(const uint8_t *at)
{
    const size_t half = sizeof(magic) - 1;
    return memcmp(at, magic, half) == 0 && memcmp(at + half, rest, sizeof(rest) - 1) == 0;
}

/* Finds the build information in a section, from its header on: it is aligned to 16 bytes, and
 * begins within the first bytes that are searched. It is empty if there is none. */
static struct g2h_bytes build_info_find_in(const struct image_section *section, uint64_t searched,
                                           uint64_t *ret_address)
{
    const uint64_t aligned = 16;
    for (uint64_t at = 0;
         section && at < searched && section->data.size > at && section->data.size - at >= HEADER;
         at += aligned)
        if (has_build_info_magic(section->data.data + at)) {
            *ret_address = section->address + at;
            return bytes_from(section->data, at);
        }
    return bytes_none;
}

/* Finds the build information in the file. It is at the start of its own section or, in PE, which
 * has no such section, somewhere near the start of .data; without section headers, somewhere in the
 * data. */
struct g2h_bytes build_info_find(const struct image *image, uint64_t *ret_address)
{
    struct g2h_bytes info = bytes_none;
    enum { SEARCHED_IN_PE = 1 << 16 };
    *ret_address = 0;
    if (image->format == IMAGE_PE)
        return build_info_find_in(image_section(image, ".data"), SEARCHED_IN_PE, ret_address);
    if (image_section(image, ".go.buildinfo"))
        return build_info_find_in(image_section(image, ".go.buildinfo"), 1, ret_address);
    for (size_t i = 0; i < image->section_count && info.size == 0; i++)
        if (image->sections[i].name.size == 0 && (image->sections[i].flags & SHF_WRITE) != 0)
            info = build_info_find_in(&image->sections[i], UINT64_MAX, ret_address);
    return info;
}

/* ---- reading ---- */

/* Reads a string that follows its length. Returns false if there are fewer bytes. */
static bool read_counted_string(struct cursor *cursor, struct g2h_bytes *ret)
{
    uint64_t size;
    if (!cursor_uvarint(cursor, &size) || size > cursor_left(cursor))
        return false;
    *ret = bytes_at(cursor->at, size);
    cursor->at += size;
    return true;
}

/* Reads the version and the lines of information that are inline, as since Go 1.18. Returns false
 * for other forms. */
bool build_info_read(struct g2h_bytes info, struct g2h_bytes *ret_version,
                     struct g2h_bytes *ret_lines)
{
    *ret_version = *ret_lines = bytes_none;
    if (info.size < HEADER || !has_build_info_magic(info.data) ||
        (info.data[FLAGS_AT] & INLINE) == 0)
        return false;
    struct cursor cursor = {info.data + HEADER, info.data + info.size};
    if (read_counted_string(&cursor, ret_version))
        read_counted_string(&cursor, ret_lines);
    return true;
}

/* ---- comparing ---- */

/* Iterates over the lines of a string. Returns false at the end. */
static bool build_info_next_line(struct g2h_bytes *left, struct g2h_bytes *ret)
{
    if (left->size == 0)
        return false;
    const uint8_t *end = memchr(left->data, '\n', left->size);
    const uint64_t size = end ? as_size(end - left->data) : left->size;
    const uint64_t next = size + (end != NULL);
    *ret = bytes_before(*left, size);
    *left = bytes_from(*left, next);
    return true;
}

/* Returns the value of a setting, "build", a tab, the key, '=' and the value; it is empty if there
 * is none. */
static struct g2h_bytes setting_value(struct g2h_bytes lines, const char *key)
{
    static const char begin[] = "build\t";
    const size_t skipped = sizeof(begin) - 1;
    const size_t size = strlen(key);
    struct g2h_bytes line;
    while (build_info_next_line(&lines, &line)) {
        if (!bytes_begin(line, begin))
            continue;
        const struct g2h_bytes setting = bytes_from(line, skipped);
        if (bytes_begin(setting, key) && setting.size > size && setting.data[size] == '=')
            return (struct g2h_bytes){setting.data + size + 1, setting.size - size - 1};
    }
    return bytes_none;
}

/* Returns whether one of the lines is the wanted one. */
static bool has_line(struct g2h_bytes lines, struct g2h_bytes wanted)
{
    struct g2h_bytes line;
    while (build_info_next_line(&lines, &line))
        if (bytes_same(line, wanted))
            return true;
    return false;
}

/* Appends a string as messages show it: at most 80 characters, in printable ASCII, "?" for others;
 * "not known" if it is empty. */
static void build_info_append(struct text *text, struct g2h_bytes value)
{
    enum { MOST = 80 };
    for (uint64_t i = 0; i < value.size && i < MOST; i++) {
        const char byte = (char)value.data[i];
        const bool is_printable = byte >= ' ' && byte < 0x7f;
        if (is_printable)
            text_append(text, &byte, 1);
        else
            text_append(text, byte == '\t' ? " " : "?", 1);
    }
    if (value.size == 0)
        text_printf(text, "not known");
    else if (value.size > MOST)
        text_printf(text, "...");
}

/* Appends that the file and the process have different values of something. */
static void append_pair(struct text *text, const char *what, struct g2h_bytes file,
                        struct g2h_bytes process)
{
    text_printf(text, "its %s is ", what);
    build_info_append(text, file);
    text_printf(text, ", the process's ");
    build_info_append(text, process);
}

/* Appends the first line that only one of the two has. Each line is searched in all others, so
 * their number is limited. Returns false if there is none. */
static bool build_info_append_line(struct text *text, struct g2h_bytes lines,
                                   struct g2h_bytes others, const char *whose)
{
    enum { MOST = 1000 };
    struct g2h_bytes line;
    struct g2h_bytes left = lines;
    for (int i = 0; i < MOST && build_info_next_line(&left, &line); i++)
        if (!has_line(others, line)) {
            text_printf(text, "only %s has \"", whose);
            build_info_append(text, line);
            text_printf(text, "\" in its build information");
            return true;
        }
    return false;
}

/* Returns the lines to compare: without the 16 bytes before and after them by which the runtime
 * finds them, and limited in size, since each may be compared with all others. */
static struct g2h_bytes lines_to_compare(struct g2h_bytes lines)
{
    enum { MARK = 16, MOST = 1 << 18 };
    if (lines.size > 2 * MARK && lines.data[lines.size - MARK - 1] == '\n')
        lines = (struct g2h_bytes){lines.data + MARK, lines.size - 2 * MARK};
    lines.size = MIN(lines.size, MOST);
    return lines;
}

/* Appends a difference of two builds. Names one difference, the one that says most: the version of
 * Go, the commit, or else the first line that only one of them has. */
void build_info_describe(struct g2h_bytes file, struct g2h_bytes process, struct text *text)
{
    static const char *const keys[] = {"vcs.revision", "vcs.time", "vcs.modified"};
    struct g2h_bytes versions[2], lines[2];
    if (!build_info_read(file, &versions[0], &lines[0]) ||
        !build_info_read(process, &versions[1], &lines[1])) {
        text_printf(text, "its build information differs");
        return;
    }
    for (size_t i = 0; i < 2; i++)
        lines[i] = lines_to_compare(lines[i]);
    if (!bytes_same(versions[0], versions[1])) {
        append_pair(text, "version of Go", versions[0], versions[1]);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct g2h_bytes one = setting_value(lines[0], keys[i]),
                               other = setting_value(lines[1], keys[i]);
        if (!bytes_same(one, other)) {
            append_pair(text, keys[i], one, other);
            return;
        }
    }
    if (!build_info_append_line(text, lines[0], lines[1], "it") &&
        !build_info_append_line(text, lines[1], lines[0], "the process"))
        text_printf(text, "its build information differs");
}

/* ---- what built the executable, as recorded in the file ---- */

/* Returns the Go string whose pointer and length are at an address; it is empty if the file does
 * not have it. */
static struct g2h_bytes string_at(const struct image *image, uint64_t address)
{
    const uint64_t word = image->is_64 ? 8 : 4;
    const uint8_t *at = image_at(image, address, 2 * word);
    if (!at)
        return bytes_none;
    const uint64_t size = image_word(image, at + word);
    const uint8_t *data = image_at(image, image_word(image, at), size);
    return data ? bytes_at(data, size) : bytes_none;
}

/* Finds the version and the modules; each is empty if it is not found. Between Go 1.13 and 1.17 the
 * header of the build information has pointers to strings; before, only a variable of the runtime
 * has the version. */
static void read_build_info(const struct image *image, struct g2h_bytes *ret_version,
                            struct g2h_bytes *ret_modules)
{
    uint64_t address;
    const struct g2h_bytes info = build_info_find(image, &address);
    if (build_info_read(info, ret_version, ret_modules) || info.size == 0)
        return;
    const uint64_t word = info.data[POINTER_SIZE_AT] == 4 ? 4 : 8;
    *ret_version = string_at(image, image_word(image, info.data + STRINGS_AT));
    *ret_modules = string_at(image, image_word(image, info.data + STRINGS_AT + word));
}

/* Returns the path of the main module: "mod", a tab, the path, a tab and more on a line of the text
 * that debug.ReadBuildInfo() parses. */
static struct g2h_bytes main_module(struct g2h_bytes modules)
{
    static const char begin[] = "\nmod\t";
    const size_t size = sizeof(begin) - 1;
    const uint8_t *at = memmem(modules.data, modules.size, begin, size);
    if (!at)
        return bytes_none;
    at += size;
    const uint8_t *tab = memchr(at, '\t', as_size(modules.data + modules.size - at));
    return tab ? bytes_between(at, tab) : bytes_none;
}

/* Returns the N of go1.N in a version, or 0 if it has none. */
static int minor_of(struct g2h_bytes version)
{
    char text[256];
    const size_t size = version.size < sizeof(text) ? version.size : sizeof(text) - 1;
    if (size > 0)
        memcpy(text, version.data, size);
    text[size] = '\0';
    return go_release_parse(text).minor;
}

/* ---- what built the executable, as inferred ---- */

/* Functions that every program has from a release on, on any machine, and none before it. They were
 * looked up in the sources of each release; none is small enough to be inlined away. */
static const struct {
    int minor;
    const char *name;
} functions[] = {
    {27, "runtime.addModuleItabs"},
    {26, "runtime.findGoroutineLeaks"},
    {25, "runtime.(*cleanupQueue).enqueue"},
    {24, "runtime.getGCMaskOnDemand"},
    {23, "runtime.(*timers).check"},
    {22, "runtime.mrandinit"},
    {21, "runtime.(*unwinder).next"},
    {20, "runtime.(*mspan).setUserArenaChunkToFault"},
    {19, "runtime.(*gcCPULimiterState).update"},
};

/* Returns the release of Go since which a function of the table exists, or 0 for other
 * functions. */
static int release_of_function(struct g2h_bytes name)
{
    if (bytes_begin(name, "runtime."))
        for (size_t i = 0; i < COUNT_OF(functions); i++)
            if (bytes_are(name, functions[i].name))
                return functions[i].minor;
    return 0;
}

/* Returns the newest release that a function of the executable belongs to; 0: none is in the
 * table. */
static int release_of_functions(const struct pclntab *pclntab)
{
    int newest = 0;
    for (uint64_t i = 0; i < pclntab->count; i++) {
        const int minor = release_of_function(pclntab_name(pclntab, i));
        newest = MAX(minor, newest);
    }
    return newest;
}

/* Returns whether the descriptors contain a string, which is part of a type's name. */
static bool has_type_text(const struct image *image, const struct moduledata *moduledata,
                          const char *text)
{
    const uint64_t size = moduledata->etypes - moduledata->types;
    const uint8_t *types = image_at(image, moduledata->types, size);
    return types && memmem(types, (size_t)size, text, strlen(text)) != NULL;
}

/* Finds the oldest and the newest release that have the structures of the executable: its function
 * table, its moduledata, and whether it has Swiss maps (since Go 1.24). ANY: no limit is known. */
static void guess_by_structures(const struct image *image, const struct pclntab *pclntab,
                                const struct moduledata *moduledata, struct built_by *ret)
{
    enum { NEW_MODULEDATA = 27, SWISS_MAPS = 24, ANY = 1000 };
    const int by_table = pclntab_since(pclntab);
    ret->minor = MAX(moduledata->since, by_table);
    ret->newest =
        moduledata->since == 0 || moduledata->since == NEW_MODULEDATA ? ANY : NEW_MODULEDATA - 1;
    if (ret->newest == ANY)
        return;
    if (has_type_text(image, moduledata, "map.group["))
        ret->minor = MAX(ret->minor, SWISS_MAPS);
    else if (has_type_text(image, moduledata, "map.bucket["))
        ret->newest = SWISS_MAPS - 1;
}

/* Finds which release of Go built the executable. The build information comes first, then the
 * variable runtime.buildVersion; without both (garble and others remove them) the release is
 * inferred from functions or structures. */
void built_by_find(const struct image *image, const struct image *symbols,
                   const struct pclntab *pclntab, const struct moduledata *moduledata,
                   struct built_by *ret)
{
    struct g2h_bytes modules;
    struct image_symbol symbol;
    *ret = (struct built_by){.version = bytes_none};
    read_build_info(image, &ret->version, &modules);
    ret->module = main_module(modules);
    ret->is_plugin = bytes_contain(modules, "\nbuild\t-buildmode=plugin\n");
    ret->is_asan = bytes_contain(modules, "\nbuild\t-asan=true\n");
    ret->minor = minor_of(ret->version);
    if (ret->minor == 0 && image_symbol_named(symbols, "runtime.buildVersion", &symbol)) {
        const struct g2h_bytes own = string_at(image, symbol.address);
        ret->minor = minor_of(own);
        if (ret->minor > 0)
            ret->version = own;
    }
    ret->newest = ret->minor;
    if (ret->minor > 0)
        return;
    ret->is_guess = true;
    ret->minor = release_of_functions(pclntab);
    ret->newest = ret->minor;
    if (ret->minor == 0)
        guess_by_structures(image, pclntab, moduledata, ret);
}
