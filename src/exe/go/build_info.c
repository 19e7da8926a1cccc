/* build_info; see build_info.h. */
#include "exe/go/build_info.h"

#include <string.h>

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/elf_format.h"

/* ---- finding ---- */

enum { HEADER = 32, INLINE = 2 }; /* its size, and the flag of byte 15: the strings follow it */

/* In two halves, so that this program's own executable does not contain it. */
static const char magic[] = "\xff Go ", rest[] = "buildinf:";

static bool has_header(const uint8_t *at)
{
    const size_t half = sizeof(magic) - 1;
    return memcmp(at, magic, half) == 0 && memcmp(at + half, rest, sizeof(rest) - 1) == 0;
}

/* Finds the build information in the first bytes of a section, from its header on. It is empty if
 * there is none. */
static struct g2h_bytes build_info_find_in(const struct image_section *section, uint64_t searched,
                                           uint64_t *ret_address)
{
    const uint64_t aligned = 16;
    for (uint64_t at = 0;
         section && at < searched && section->data.size > at && section->data.size - at >= HEADER;
         at += aligned)
        if (has_header(section->data.data + at)) {
            *ret_address = section->address + at;
            return (struct g2h_bytes){section->data.data + at, section->data.size - at};
        }
    return bytes_none;
}

/* It is at the start of its own section or, in PE, which has no such section, somewhere near the
 * start of .data; without section headers, somewhere in the data. */
struct g2h_bytes build_info_find(const struct image *image, uint64_t *ret_address)
{
    struct g2h_bytes info = bytes_none;
    *ret_address = 0;
    if (image->format == IMAGE_PE)
        return build_info_find_in(image_section(image, ".data"), 65536, ret_address);
    if (image_section(image, ".go.buildinfo"))
        return build_info_find_in(image_section(image, ".go.buildinfo"), 1, ret_address);
    for (size_t i = 0; i < image->section_count && info.size == 0; i++)
        if (image->sections[i].name.size == 0 && (image->sections[i].flags & SHF_WRITE) != 0)
            info = build_info_find_in(&image->sections[i], UINT64_MAX, ret_address);
    return info;
}

/* ---- reading ---- */

/* Takes a string that follows its length. Returns false if there are fewer bytes. */
static bool take_text(struct cursor *cursor, struct g2h_bytes *ret)
{
    uint64_t size;
    if (!cursor_uvarint(cursor, &size) || size > cursor_left(cursor))
        return false;
    *ret = (struct g2h_bytes){cursor->at, size};
    cursor->at += size;
    return true;
}

bool build_info_read(struct g2h_bytes info, struct g2h_bytes *ret_version,
                     struct g2h_bytes *ret_lines)
{
    *ret_version = *ret_lines = bytes_none;
    if (info.size < HEADER || !has_header(info.data) || (info.data[15] & INLINE) == 0)
        return false;
    struct cursor cursor = {info.data + HEADER, info.data + info.size};
    if (take_text(&cursor, ret_version))
        take_text(&cursor, ret_lines);
    return true;
}

/* ---- comparing ---- */

/* Iterates over the lines of a string. */
static bool build_info_next_line(struct g2h_bytes *left, struct g2h_bytes *ret)
{
    if (left->size == 0)
        return false;
    const uint8_t *end = memchr(left->data, '\n', (size_t)left->size);
    const uint64_t size = end ? (uint64_t)(end - left->data) : left->size,
                   next = size + (end != NULL);
    *ret = (struct g2h_bytes){left->data, size};
    *left = (struct g2h_bytes){left->data + next, left->size - next};
    return true;
}

/* Returns the value of a setting, "build", a tab, the key, '=' and the value; it is empty if there
 * is none. */
static struct g2h_bytes setting_of(struct g2h_bytes lines, const char *key)
{
    static const char begin[] = "build\t";
    const size_t skipped = sizeof(begin) - 1, size = strlen(key);
    struct g2h_bytes line;
    while (build_info_next_line(&lines, &line)) {
        if (!bytes_begin(line, begin))
            continue;
        const struct g2h_bytes setting = {line.data + skipped, line.size - skipped};
        if (bytes_begin(setting, key) && setting.size > size && setting.data[size] == '=')
            return (struct g2h_bytes){setting.data + size + 1, setting.size - size - 1};
    }
    return bytes_none;
}

static bool has_line(struct g2h_bytes lines, struct g2h_bytes wanted)
{
    struct g2h_bytes line;
    while (build_info_next_line(&lines, &line))
        if (bytes_same(line, wanted))
            return true;
    return false;
}

/* Appends a string as messages show it: the beginning, in printable ASCII. */
static void build_info_append(struct text *text, struct g2h_bytes value)
{
    enum { MOST = 80 };
    for (uint64_t i = 0; i < value.size && i < MOST; i++) {
        const uint8_t byte = value.data[i];
        const char shown = byte >= ' ' && byte < 0x7f ? (char)byte : byte == '\t' ? ' ' : '?';
        text_append(text, &shown, 1);
    }
    if (value.size == 0)
        text_printf(text, "not known");
    else if (value.size > MOST)
        text_printf(text, "...");
}

static void append_pair(struct text *text, const char *what, struct g2h_bytes file,
                        struct g2h_bytes process)
{
    text_printf(text, "its %s is ", what);
    build_info_append(text, file);
    text_printf(text, ", the process's ");
    build_info_append(text, process);
}

/* Appends the first line that only one of the two has. Each line is searched in all others, so
 * their number is limited. */
static bool build_info_append_line(struct text *text, struct g2h_bytes lines,
                                   struct g2h_bytes others, const char *whose)
{
    enum { MOST = 1000 };
    struct g2h_bytes left = lines, line;
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
static struct g2h_bytes compared(struct g2h_bytes lines)
{
    enum { MARK = 16, MOST = 1 << 18 };
    if (lines.size > 2 * MARK && lines.data[lines.size - MARK - 1] == '\n')
        lines = (struct g2h_bytes){lines.data + MARK, lines.size - 2 * MARK};
    lines.size = lines.size < MOST ? lines.size : MOST;
    return lines;
}

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
        lines[i] = compared(lines[i]);
    if (!bytes_same(versions[0], versions[1])) {
        append_pair(text, "version of Go", versions[0], versions[1]);
        return;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct g2h_bytes one = setting_of(lines[0], keys[i]),
                               other = setting_of(lines[1], keys[i]);
        if (!bytes_same(one, other)) {
            append_pair(text, keys[i], one, other);
            return;
        }
    }
    if (!build_info_append_line(text, lines[0], lines[1], "it") &&
        !build_info_append_line(text, lines[1], lines[0], "the process"))
        text_printf(text, "its build information differs");
}
