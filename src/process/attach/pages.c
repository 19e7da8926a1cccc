/*
 * pages: which pages of a process to copy, and addresses for the copy; see pages.h. The mappings
 * come from /proc/PID/maps; which of their pages exist, from the ioctl PAGEMAP_SCAN or
 * /proc/PID/pagemap, else all do. Adjacent pages of a kind are one run (struct attach_run). The
 * second part reserves one mapping with an area for each part of the process's address space, and
 * fills it with memory piece by piece, so that a guard can stop that if memory becomes short.
 */
#include "process/attach/pages.h"

#include <sys/mman.h>

#include "base/contract.h"
#include "base/memory.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#endif

#ifdef __linux__

/* ==== which pages of a process are worth copying ==== */

/* Bits of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGEMAP_PRESENT (1ull << 63)

#define PAGEMAP_SWAPPED (1ull << 62)

#define PAGEMAP_OF_FILE (1ull << 61) /* or shared: the process has not written to it */

#define PAGEMAP_ALONE (1ull << 56) /* no other process has it, nor is it the page of zeros */

/* The ioctl PAGEMAP_SCAN, since Linux 6.7, and its bits (same document). */
struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages, inverted, all_of,
        any_of, wanted;
};

struct scan_region {
    uint64_t start, end, bits;
};

#define SCAN _IOWR('f', 16, struct scan)

#define SCAN_FILE (1u << 2)

#define SCAN_PRESENT (1u << 3)

#define SCAN_SWAPPED (1u << 4)

#define SCAN_ZERO (1u << 5)

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

#define MOST_OF_GUESS (64ull << 30) /* without a pagemap: all of it has to be read */

enum { ENTRIES = 1 << 13, REGIONS = 1 << 11 }; /* of a pagemap, and of a scan, read at once */

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
 * wanted. These are readable and private, but not those of the kernel or of code in files. Returns
 * false, too, if the line has another form. */
static bool pages_parse_line(const char *at, struct attach_mapping *ret)
{
    enum { PERMISSIONS = sizeof("rwxp ") - 1, HEX = 16, DECIMAL = 10 };
    uint64_t start, end, offset, inode;
    if (!procfs_take_number(&at, HEX, &start) || *at++ != '-' ||
        !procfs_take_number(&at, HEX, &end) || strnlen(at, PERMISSIONS) < PERMISSIONS)
        return false;
    const char *permissions = at; /* blanks after a number are taken with it */
    at += PERMISSIONS;
    if (!procfs_take_number(&at, HEX, &offset))
        return false;
    at += strcspn(at, " \n");
    at += strspn(at, " ");
    if (!procfs_take_number(&at, DECIMAL, &inode) || start >= end)
        return false;
    const bool is_file = inode != 0 && !is_zeros(at);
    const bool is_code = permissions[1] != 'w' && permissions[2] == 'x';
    *ret = (struct attach_mapping){start, end - start, is_file, permissions[1] == 'w'};
    return permissions[0] == 'r' && permissions[3] == 'p' && !is_of_kernel(at) &&
           !(is_file && is_code);
}

/* Lists the mappings of /proc/PID/maps whose pages are wanted. Returns false if memory runs out. */
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

/* Adds the pages of count entries of the pagemap, the first of which is for address. Adds adjacent
 * pages of one kind together, because reserved address space may be a terabyte that is mostly
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

/* Adds the pages of a mapping that are in the pagemap, which it reads into entries, space for
 * ENTRIES. Returns 0 or an errno value. */
static int add_by_pagemap(struct attach_pages *pages, const struct attach_mapping *mapping,
                          int pagemap, uint64_t *entries)
{
    const uint64_t page = procfs_page_size();
    const uint64_t end = mapping->address + mapping->size;
    for (uint64_t address = mapping->address; address < end;) {
        const uint64_t left = (end - address) / page;
        const uint64_t most = MIN(left, ENTRIES);
        const ssize_t count = pread(pagemap, entries, (size_t)most * sizeof(*entries),
                                    (off_t)(address / page * sizeof(*entries)));
        if (count < (ssize_t)sizeof(*entries))
            return count < 0 ? errno : 0; /* the end of the pagemap: nothing is mapped beyond it */
        const size_t read = as_size(count) / sizeof(*entries);
        if (!add_entries(pages, mapping, address, page, entries, read))
            return ENOMEM;
        address += read * page;
    }
    return 0;
}

/* Adds a region that was scanned, and the untouched pages before it, from *at on. Pages of a file
 * that the process has not changed are left out, and those that are slow to read are listed apart
 * if that was requested. Returns false if memory runs out. */
static bool add_region(struct attach_pages *pages, const struct attach_mapping *mapping,
                       const struct scan_region *region, uint64_t *at)
{
    const uint64_t start = MAX(region->start, *at);
    const bool is_zero = (region->bits & SCAN_ZERO) != 0;
    const bool is_file = mapping->is_file;
    if (region->end <= start)
        return true;
    if (!is_file && !pages_add(pages, *at, start - *at, ATTACH_ZERO))
        return false;
    *at = region->end;
    if (pages->is_apart && (region->bits & SCAN_PRESENT) == 0) /* it is in swap */
        return add_slow(pages, start, region->end - start);
    if (is_file && (region->bits & SCAN_FILE) != 0) /* the process has not changed it */
        return true;
    return pages_add(pages, start, region->end - start, is_zero ? ATTACH_ZERO : ATTACH_WRITTEN);
}

/* Adds the pages of a mapping by one scan after the other, until one has fewer regions than it
 * might have. Each begins after the last region: the end of a scan that the kernel returns is wrong
 * up to Linux 6.18. Behind the last region of all, anonymous memory is untouched. Returns 0 or an
 * errno value: ENOTTY if the first scan fails, as on a system that has none, so that nothing was
 * added. */
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

/* Adds a mapping of a file to the slow pages if it is writable and not too large to be a program's
 * data (MOST_OF_FILE). Returns false if memory runs out. */
static bool add_slow_file(struct attach_pages *pages, const struct attach_mapping *mapping)
{
    const struct attach_run run = {mapping->address, mapping->size, ATTACH_FILE};
    return !mapping->is_writable || mapping->size > MOST_OF_FILE || vector_push(&pages->slow, run);
}

/* Adds the pages of a mapping: all of it, or those that exist, by the system's scan or, if it has
 * none, by pagemap. Of a file of more than MOST_OF_FILE bytes only those are copied that were
 * written to, and none by a guess; a larger anonymous mapping than MOST_OF_ANONYMOUS, or by a guess
 * than MOST_OF_GUESS, is left out. Returns 0 or an errno value. */
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

/* Finds the pages of a process. Returns 0 or an errno value. is_apart: pages that are slow to read,
 * which are in swap or in files, are listed apart. */
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

/* Finds the pages of a process in these ranges: makes a mapping of each, as if from /proc/PID/maps.
 * Returns 0 or an errno value. */
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
        uint64_t from = part && part->address < end ? part->address : end;
        uint64_t to = end;
        if (part && part->address + part->size < end)
            to = part->address + part->size;
        from = MAX(from, at);
        if (!pages_add(pages, at, from - at, run->kind) ||
            (from < end && !pages_add(pages, from, to - from, ATTACH_GIVEN)))
            return false;
        at = from < end ? to : end;
    }
    return true;
}

/* Makes the pages of the runs of given ATTACH_GIVEN, as far as pages has them: runs are split where
 * they begin or end. Returns false, with pages as they were, if memory runs out. */
bool attach_pages_give(struct attach_pages *pages, const struct attach_pages *given)
{
    struct attach_pages all = {.is_apart = pages->is_apart, .is_guess = pages->is_guess};
    size_t next = 0;
    VECTOR_EACH(const struct attach_run, run, pages->runs)
        if (!give_run(&all, run, given, &next)) {
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

/* ==== address space for the copy of a process ==== */

/* The amount populated at once: the guard is called between the pieces, so that it can react within
 * about a tenth of a second, even if memory is tight. */
#define FILL_AT_ONCE (16ull << 20)

/* Runs of at least this size get huge pages, all of which they need: the system provides these
 * faster, and scattered reads through them are faster. */
#define HUGE_RUN (32ull << 20)
/* Runs with no more bytes between them are near each other: see allow_runs(). */
#define NEAR (128ull << 10)

/* Adds an address range to the areas, which ascend; overlapping ones are merged. Returns false if
 * memory runs out. */
static bool space_add_area(struct attach_space *space, uint64_t from, uint64_t to)
{
    struct attach_area *last =
        space->areas.count > 0 ? &space->areas.data[space->areas.count - 1] : NULL;
    if (last && to <= last->address + last->size)
        return true;
    if (last && from <= last->address + last->size) {
        space->size += to - (last->address + last->size);
        last->size = to - last->address;
        return true;
    }
    const struct attach_area area = {from, to - from, space->size};
    space->size += area.size;
    return vector_push(&space->areas, area);
}

/* Returns the area that has all bytes of a range, or NULL. */
const struct attach_area *attach_space_area(const struct attach_space *space, uint64_t address,
                                            uint64_t size)
{
    const struct attach_area *areas = space->areas.data;
    size_t after;
    BISECT(after, space->areas.count, areas[after].address <= address);
    const struct attach_area *area = after > 0 ? &areas[after - 1] : NULL;
    const uint64_t from = area ? address - area->address : 0;
    return area && from <= area->size && size <= area->size - from ? area : NULL;
}

static const struct attach_area *area_of_run(const struct attach_space *space,
                                             const struct attach_run *run)
{
    return attach_space_area(space, run->address, run->size);
}

/* Returns where the copy of a run goes; the space must have an area for it. */
uint8_t *attach_space_at(const struct attach_space *space, const struct attach_run *run)
{
    const struct attach_area *area = area_of_run(space, run);
    assert(area);
    return space->data + area->offset + (run->address - area->address);
}

/* Makes the runs that have something to copy writable. There may be more of them than the system
 * allows mappings, so the gaps between near ones may become writable too. Returns false if the
 * system refuses. */
static bool allow_runs(const struct attach_space *space, const struct attach_pages *pages)
{
    for (size_t i = 0; i < pages->runs.count;) {
        const struct attach_run *run = &pages->runs.data[i++];
        if (run->kind == ATTACH_ZERO)
            continue;
        uint8_t *const from = attach_space_at(space, run);
        uint8_t *to = from + run->size;
        for (; i < pages->runs.count; i++) {
            const struct attach_run *next = &pages->runs.data[i];
            const uint8_t *at = attach_space_at(space, next);
            if (at < to || as_size(at - to) > NEAR)
                break;
            if (next->kind != ATTACH_ZERO)
                to = from + (at - from) + next->size;
        }
        if (mprotect(from, as_size(to - from), PROT_READ | PROT_WRITE) != 0)
            return false;
    }
    return true;
}

/* Reserves addresses for all areas, without memory. Returns false if the system does not provide
 * that many. */
static bool space_reserve(struct attach_space *space, int protection)
{
    void *data = space->size > 0 && space->size <= SIZE_MAX
                     ? mmap(NULL, space->size, protection,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : MAP_FAILED;
    space->data = data != MAP_FAILED ? data : NULL;
    return space->data != NULL;
}

/* Reserves addresses for pages, and for `around` bytes on both sides of each run. All areas are in
 * one mapping, so that it takes one call, and one number of bytes counts. If the system refuses a
 * writable mapping and around is 0, the mapping can only be read, and then only the runs that have
 * something to copy become writable (is_lean). Returns false if there are not that many addresses,
 * or memory runs out. */
bool attach_space_make(const struct attach_pages *pages, uint64_t around, struct attach_space *ret)
{
    VECTOR_EACH(const struct attach_run, run, pages->runs) {
        const uint64_t from = run->address > around ? run->address - around : 0;
        if (!space_add_area(ret, from, run->address + run->size + around))
            return false;
    }
    if (space_reserve(ret, PROT_READ | PROT_WRITE))
        return true;
    /* Some systems count writable memory as used: overcommit_memory 2, ulimit -d. */
    if (around > 0 || !space_reserve(ret, PROT_READ))
        return false;
    ret->is_lean = true;
    if (allow_runs(ret, pages))
        return true;
    munmap(ret->data, ret->size);
    ret->data = NULL;
    return false;
}

/* Returns whether the space has writable positions for all pages. */
bool attach_space_holds(const struct attach_space *space, const struct attach_pages *pages)
{
    VECTOR_EACH(const struct attach_run, run, pages->runs)
        if (!area_of_run(space, run))
            return false;
    return space->data && (!space->is_lean || allow_runs(space, pages));
}

#ifdef MADV_POPULATE_WRITE /* since Linux 5.14; before that, the memory comes with the copy */

/* Gets the memory for the pages that will be written from the system, in small parts, so that the
 * guard can stop this before memory is short. Returns false if the guard did. */
bool attach_space_fill(const struct attach_space *space, const struct attach_pages *pages,
                       const struct attach_guard *guard, const struct g2h_progress *progress)
{
    uint64_t done = 0, next_look = 0; /* calling the guard costs as much as a few hundred pages */
    VECTOR_EACH(const struct attach_run, run, pages->runs) {
        uint8_t *data = attach_space_at(space, run);
        if (run->kind == ATTACH_WRITTEN && run->size >= HUGE_RUN)
            (void)madvise(data, (size_t)run->size, MADV_HUGEPAGE);
        for (uint64_t at = 0, size; at < run->size && run->kind == ATTACH_WRITTEN; at += size) {
            size = MIN(run->size - at, FILL_AT_ONCE);
            if (guard && done >= next_look) {
                if (!guard->may_go_on(guard->context, pages->resident - done))
                    return false;
                next_look = done + FILL_AT_ONCE;
            }
            (void)madvise(data + at, (size_t)size, MADV_POPULATE_WRITE);
            done += size;
            if (progress)
                progress->update(progress->context, "preparing", done, pages->resident, 0);
        }
    }
    return !guard || guard->may_go_on(guard->context, pages->resident - done);
}

#else

bool attach_space_fill(const struct attach_space *space, const struct attach_pages *pages,
                       const struct attach_guard *guard, const struct g2h_progress *progress)
{
    (void)space, (void)pages, (void)guard, (void)progress;
    return true;
}

#endif

void attach_space_deinit(struct attach_space *space)
{
    if (space->data)
        munmap(space->data, space->size);
    free(space->areas.data);
    *space = (struct attach_space){0};
}
