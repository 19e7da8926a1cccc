/* pages; see pages.h. */
#include "process/attach/pages.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/scope.h"

/* Bits of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_OF_FILE (1ull << 61) /* or shared: the process has not written to it */
#define PAGEMAP_ALONE   (1ull << 56) /* no other process has it, nor is it the page of zeros */

/* The ioctl PAGEMAP_SCAN, since Linux 6.7, and its bits (same document). */
struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages, inverted, all_of,
        any_of, wanted;
};
struct scan_region {
    uint64_t start, end, bits;
};
#define SCAN         _IOWR('f', 16, struct scan)
#define SCAN_FILE    (1u << 2)
#define SCAN_PRESENT (1u << 3)
#define SCAN_SWAPPED (1u << 4)
#define SCAN_ZERO    (1u << 5)

#ifdef __GLIBC__
typedef unsigned long ioctl_request;
#else
typedef int ioctl_request; /* as in POSIX */
#endif

/* No program is larger. A larger mapping of a file is data, and not part of the heap: only its
 * pages that were written to are copied, as in a core. */
#define MOST_OF_FILE (1ull << 30)

/* A larger anonymous mapping is not a heap either, but a sanitizer's, which has a byte for every
 * byte that a program might use: even querying its pages takes seconds. */
#define MOST_OF_ANONYMOUS (1ull << 40)
#define MOST_OF_GUESS     (64ull << 30) /* without a pagemap: all of it has to be read */

enum { ENTRIES = 1 << 13, REGIONS = 1 << 11 };

/* ---- mappings ---- */

/* Returns whether the path of a mapping begins with a name. */
static bool path_begins(const char *path, const char *name)
{
    return strncmp(path, name, strlen(name)) == 0;
}

/* Returns whether a mapping is the kernel's: memory of devices, whose contents the kernel does not
 * expose, or exposes to all processes alike. */
static bool is_of_kernel(const char *path)
{
    return path_begins(path, "[vvar") || path_begins(path, "[vsyscall]");
}

/* Returns whether a mapping is memory that begins as zeros, although it has a name and an inode. */
static bool is_zeros(const char *path)
{
    return path_begins(path, "/anon_hugepage") || path_begins(path, "/dev/zero");
}

/* Parses a line of maps: start-end perms offset device inode path. Returns whether its pages are
 * wanted. */
static bool pages_parse_line(const char *at, struct attach_mapping *ret)
{
    uint64_t start, end, offset, inode;
    if (!procfs_take_number(&at, 16, &start) || *at++ != '-' || !procfs_take_number(&at, 16, &end))
        return false;
    const char *permissions = at;
    if (strnlen(at, 5) < 5)
        return false;
    at += 5;
    if (!procfs_take_number(&at, 16, &offset))
        return false;
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    if (!procfs_take_number(&at, 10, &inode) || start >= end)
        return false;
    const bool is_file = inode != 0 && !is_zeros(at);
    const bool is_code = permissions[1] != 'w' && permissions[2] == 'x';
    *ret = (struct attach_mapping){start, end - start, is_file, permissions[1] == 'w'};
    return permissions[0] == 'r' && permissions[3] == 'p' && !is_of_kernel(at) &&
           !(is_file && is_code);
}

bool attach_mappings_parse(const char *maps, struct attach_mappings *ret)
{
    for (const char *line = maps; line && *line;) {
        struct attach_mapping mapping;
        if (pages_parse_line(line, &mapping) && !vector_push(ret, mapping))
            return false;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return true;
}

/* ---- pages ---- */

/* Adds pages after the last run, or to that run if they follow it directly and are of the same
 * kind. Returns false if memory runs out. */
static bool pages_add(struct attach_pages *pages, uint64_t address, uint64_t size,
                      enum attach_kind kind)
{
    struct attach_run *last =
        pages->runs.count > 0 ? &pages->runs.data[pages->runs.count - 1] : NULL;
    assert(!last || size == 0 || last->address + last->size <= address);
    if (size == 0)
        return true;
    pages->size += size;
    pages->resident += kind == ATTACH_ZERO ? 0 : size;
    if (last && last->kind == kind && last->address + last->size == address) {
        last->size += size;
        return true;
    }
    const struct attach_run run = {address, size, kind};
    return vector_push(&pages->runs, run);
}

enum { LEFT_OUT = -1, SLOW = -2 };

/* Adds pages that may have to be read from a disk. Returns false if memory runs out. */
static bool add_slow(struct attach_pages *pages, uint64_t address, uint64_t size)
{
    const struct attach_run run = {address, size, ATTACH_WRITTEN};
    return vector_push(&pages->slow, run);
}

/* Returns how the page of an entry of the pagemap is treated: as an attach_kind, LEFT_OUT or SLOW.
 * Of files, only pages that the process has changed matter. */
static inline int pages_kind_of(const struct attach_pages *pages,
                                const struct attach_mapping *mapping, uint64_t entry)
{
    if (pages->is_apart && (entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) == PAGEMAP_SWAPPED)
        return SLOW;
    const bool is_there = (entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) != 0;
    if (mapping->is_file)
        return is_there && (entry & PAGEMAP_OF_FILE) == 0 ? ATTACH_WRITTEN : LEFT_OUT;
    if (!is_there)
        return ATTACH_ZERO;
    return (entry & (PAGEMAP_SWAPPED | PAGEMAP_ALONE)) != 0 ? ATTACH_WRITTEN : ATTACH_MAYBE;
}

/* Adds pages of one kind together, because reserved address space may be a terabyte that is mostly
 * untouched, and the process waits meanwhile. Returns false if memory runs out. */
static bool add_entries(struct attach_pages *pages, const struct attach_mapping *mapping,
                        uint64_t address, uint64_t page, const uint64_t *entries, size_t count)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        const int kind = pages_kind_of(pages, mapping, entries[begin]);
        for (end = begin + 1; end < count && pages_kind_of(pages, mapping, entries[end]) == kind;)
            end++;
        if (kind == SLOW && !add_slow(pages, address + begin * page, (end - begin) * page))
            return false;
        if (kind >= 0 &&
            !pages_add(pages, address + begin * page, (end - begin) * page, (enum attach_kind)kind))
            return false;
    }
    return true;
}

/* Adds the pages of a mapping that are in the pagemap. Returns 0 or an errno value. */
static int add_by_pagemap(struct attach_pages *pages, const struct attach_mapping *mapping,
                          int pagemap, uint64_t *entries)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t end = mapping->address + mapping->size;
    for (uint64_t address = mapping->address; address < end;) {
        const uint64_t left = (end - address) / page, most = left < ENTRIES ? left : ENTRIES;
        const ssize_t count = pread(pagemap, entries, (size_t)most * sizeof(*entries),
                                    (off_t)(address / page * sizeof(*entries)));
        if (count < (ssize_t)sizeof(*entries))
            return count < 0 ? errno : 0; /* the end of the pagemap: nothing is mapped beyond it */
        const size_t read = (size_t)count / sizeof(*entries);
        if (!add_entries(pages, mapping, address, page, entries, read))
            return ENOMEM;
        address += read * page;
    }
    return 0;
}

/* Adds a region that was scanned, and the untouched pages before it, from *at on. Pages of a file
 * that the process has not changed are left out. Returns false if memory runs out. */
static bool add_region(struct attach_pages *pages, const struct attach_mapping *mapping,
                       const struct scan_region *region, uint64_t *at)
{
    const uint64_t start = region->start > *at ? region->start : *at;
    const bool is_zero = (region->bits & SCAN_ZERO) != 0, is_file = mapping->is_file;
    if (region->end <= start)
        return true;
    if (!is_file && !pages_add(pages, *at, start - *at, ATTACH_ZERO))
        return false;
    *at = region->end;
    if (pages->is_apart && (region->bits & SCAN_PRESENT) == 0)
        return add_slow(pages, start, region->end - start);
    return (is_file && (region->bits & SCAN_FILE) != 0) ||
           pages_add(pages, start, region->end - start, is_zero ? ATTACH_ZERO : ATTACH_WRITTEN);
}

/* Adds the pages of a mapping by one scan after the other. Each begins after the last region: the
 * end of a scan that the kernel returns is wrong up to Linux 6.18. Returns 0 or an errno value:
 * ENOTTY if the system has no scans, so that nothing was added. */
static int add_by_scan(struct attach_pages *pages, const struct attach_mapping *mapping,
                       int pagemap, struct scan_region *regions)
{
    const uint64_t end = mapping->address + mapping->size;
    const uint32_t is_there = SCAN_PRESENT | SCAN_SWAPPED;
    uint64_t at = mapping->address;
    for (int count = REGIONS; count == REGIONS && at < end;) {
        struct scan scan = {.size = sizeof(scan),
                            .start = at,
                            .end = end,
                            .regions = (uint64_t)(uintptr_t)regions,
                            .region_count = REGIONS,
                            .any_of = is_there,
                            .wanted = is_there | SCAN_FILE | SCAN_ZERO};
        count = ioctl(pagemap, (ioctl_request)SCAN, &scan);
        if (count < 0)
            return at == mapping->address ? ENOTTY : errno;
        for (int i = 0; i < count; i++)
            if (!add_region(pages, mapping, &regions[i], &at))
                return ENOMEM;
    }
    return mapping->is_file || pages_add(pages, at, end - at, ATTACH_ZERO) ? 0 : ENOMEM;
}

/* Adds a file that may be written to to the slow pages. */
static bool add_slow_file(struct attach_pages *pages, const struct attach_mapping *mapping)
{
    const struct attach_run run = {mapping->address, mapping->size, ATTACH_FILE};
    return !mapping->is_writable || mapping->size > MOST_OF_FILE || vector_push(&pages->slow, run);
}

/* Adds the pages of a mapping: all of it, or those that exist. Returns 0 or an errno value. */
static int add_mapping(struct attach_pages *pages, const struct attach_mapping *mapping,
                       int pagemap, void *entries)
{
    const bool is_guess = pages->is_guess;
    const uint64_t most = is_guess ? MOST_OF_GUESS : MOST_OF_ANONYMOUS;
    bool is_whole = is_guess;
    if (mapping->is_file)
        is_whole = mapping->size <= MOST_OF_FILE && (is_guess || !pages->is_apart);
    else if (mapping->size > most)
        return 0;
    const enum attach_kind kind = is_guess ? ATTACH_MAYBE : ATTACH_WRITTEN;
    if (is_whole)
        return pages_add(pages, mapping->address, mapping->size, kind) ? 0 : ENOMEM;
    if (is_guess)
        return 0;
    if (mapping->is_file && pages->is_apart && !add_slow_file(pages, mapping))
        return ENOMEM;
    const int error = add_by_scan(pages, mapping, pagemap, entries);
    return error == ENOTTY ? add_by_pagemap(pages, mapping, pagemap, entries) : error;
}

/* Adds the pages of all mappings. Returns 0 or an errno value. */
static int add_mappings(struct attach_pages *pages, const struct attach_mappings *mappings,
                        int pagemap)
{
    _Static_assert(ENTRIES * sizeof(uint64_t) >= REGIONS * sizeof(struct scan_region), "space");
    _cleanup_free_ uint64_t *entries = malloc(ENTRIES * sizeof(*entries));
    int error = entries ? 0 : ENOMEM;
    for (size_t i = 0; i < mappings->count && error == 0; i++)
        error = add_mapping(pages, &mappings->data[i], pagemap, entries);
    return error;
}

/* Finds the pages in mappings of a process; without a pagemap, which may be forbidden, all of them
 * are taken. Returns 0 or an errno value. */
static int find_pages_of(uint64_t pid, const struct attach_mappings *mappings,
                         struct attach_pages *ret)
{
    const int pagemap = open(procfs_path(pid, "pagemap").text, O_RDONLY | O_CLOEXEC);
    ret->is_guess = pagemap < 0;
    const int error = add_mappings(ret, mappings, pagemap);
    if (pagemap >= 0)
        close(pagemap);
    return error;
}

/* Finds the pages of a process. Returns 0 or an errno value. */
static int find_pages(uint64_t pid, bool is_apart, struct attach_pages *ret)
{
    _cleanup_(text_deinit) struct text maps = {0};
    const int error = procfs_read_of(pid, "maps", &maps);
    if (error != 0)
        return error;
    struct attach_mappings mappings = {0};
    ret->is_apart = is_apart;
    const int result =
        attach_mappings_parse(maps.data, &mappings) ? find_pages_of(pid, &mappings, ret) : ENOMEM;
    free(mappings.data);
    ret->maps = take_pointer(maps.data);
    return result;
}

int attach_pages_find(uint64_t pid, struct attach_pages *ret)
{
    return find_pages(pid, false, ret);
}

int attach_pages_find_apart(uint64_t pid, struct attach_pages *ret)
{
    return find_pages(pid, true, ret);
}

int attach_pages_find_in(uint64_t pid, const struct ranges *ranges, struct attach_pages *ret)
{
    struct attach_mappings mappings = {0};
    int error = 0;
    for (size_t i = 0; i < ranges->list.count && error == 0; i++) {
        const struct range *range = &ranges->list.data[i];
        const struct attach_mapping mapping = {.address = range->begin,
                                               .size = range->end - range->begin};
        error = vector_push(&mappings, mapping) ? 0 : ENOMEM;
    }
    if (error == 0)
        error = find_pages_of(pid, &mappings, ret);
    free(mappings.data);
    return error;
}

/* Adds a run to pages, with the parts that given has as other runs. *next is the first run of given
 * that may have a part of it, or of a later run. Returns false if memory runs out. */
static bool give_run(struct attach_pages *pages, const struct attach_run *run,
                     const struct attach_pages *given, size_t *next)
{
    const uint64_t end = run->address + run->size;
    for (uint64_t at = run->address; at < end;) {
        const struct attach_run *part = *next < given->runs.count ? &given->runs.data[*next] : NULL;
        if (part && (part->kind == ATTACH_ZERO || part->address + part->size <= at)) {
            ++*next;
            continue;
        }
        uint64_t from = part && part->address < end ? part->address : end, to = end;
        if (part && part->address + part->size < end)
            to = part->address + part->size;
        from = from > at ? from : at;
        if (!pages_add(pages, at, from - at, run->kind) ||
            (from < end && !pages_add(pages, from, to - from, ATTACH_GIVEN)))
            return false;
        at = from < end ? to : end;
    }
    return true;
}

bool attach_pages_give(struct attach_pages *pages, const struct attach_pages *given)
{
    struct attach_pages all = {.is_apart = pages->is_apart, .is_guess = pages->is_guess};
    size_t next = 0;
    for (size_t i = 0; i < pages->runs.count; i++)
        if (!give_run(&all, &pages->runs.data[i], given, &next)) {
            attach_pages_deinit(&all);
            return false;
        }
    free(pages->runs.data);
    pages->runs.data = all.runs.data;
    pages->runs.count = all.runs.count;
    pages->runs.capacity = all.runs.capacity;
    pages->resident = all.resident;
    return true;
}

void attach_pages_deinit(struct attach_pages *pages)
{
    free(pages->runs.data);
    free(pages->slow.data);
    free(pages->maps);
    *pages = (struct attach_pages){0};
}

#endif
