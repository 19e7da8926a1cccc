/* mapped; see mapped.h. */
#include "process/attach/mapped.h"

#include <string.h>

#include "process/attach/process.h"
#include "process/attach/procfs.h"

/* Parses a line of maps: start-end perms offset device inode path. Returns whether it maps a
 * file. */
static bool mapped_parse_line(const char *at, struct mapped_file *ret)
{
    uint64_t start, end, offset, inode;
    if (!procfs_take_number(&at, 16, &start) || *at++ != '-' ||
        !procfs_take_number(&at, 16, &end) || start >= end)
        return false;
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    if (!procfs_take_number(&at, 16, &offset))
        return false;
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    if (!procfs_take_number(&at, 10, &inode) || *at != '/')
        return false;
    *ret = (struct mapped_file){
        start, end - start, offset, {(const uint8_t *)at, (uint64_t)strcspn(at, "\n")}};
    return true;
}

bool mapped_parse_maps(const char *maps, struct mapped_files *ret)
{
    for (const char *line = maps; line && *line;) {
        struct mapped_file file;
        if (mapped_parse_line(line, &file) && !vector_push(ret, file))
            return false;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return true;
}

/* NT_FILE has a count and the size of a page, three words for each mapping, the last of which
 * counts pages, and then all names. */
bool mapped_parse_note(struct g2h_bytes note, struct mapped_files *ret)
{
    enum { HEADER = 16, ENTRY = 24 };
    const uint64_t count = note.size >= HEADER ? memory_number(note.data, 8) : 0;
    if (count == 0 || count > (note.size - HEADER) / ENTRY)
        return true;
    const uint64_t page = memory_number(note.data + 8, 8);
    uint64_t name = HEADER + count * ENTRY;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *mapping = note.data + HEADER + i * ENTRY, *path = note.data + name;
        const uint8_t *path_end =
            name < note.size ? memchr(path, 0, (size_t)(note.size - name)) : NULL;
        const uint64_t start = memory_number(mapping, 8), end = memory_number(mapping + 8, 8);
        if (!path_end)
            return true;
        const struct mapped_file file = {start,
                                         end - start,
                                         memory_number(mapping + 16, 8) * page,
                                         {path, (uint64_t)(path_end - path)}};
        if (start < end && !vector_push(ret, file))
            return false;
        name = (uint64_t)(path_end - note.data) + 1;
    }
    return true;
}

const struct mapped_file *mapped_at(const struct mapped_files *files, uint64_t address)
{
    for (size_t i = 0; i < files->count; i++)
        if (address - files->data[i].address < files->data[i].size)
            return &files->data[i];
    return NULL;
}
