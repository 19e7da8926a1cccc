/*
 * process: the memory of a process, wherever it comes from; see process.h. struct memory is the
 * list of address ranges that the rest of the program reads, sorted by address: bytes of a core, of
 * a copy, or of the executable for read-only data. The first part, window, is memory that is read
 * from the child of a fork only when it is used, page by page, and dropped again.
 */
#include "process/attach/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/memory.h"
#include "process/attach/pages.h"

/* ==== the memory of the child of a fork, which is read on demand, page by page ==== */

enum {
    BITS = 64, /* of a word of there, kept, … */
    LOCKS = 64 /* in turn for blocks of LEAST bytes of the space */
};

/* The least that is read at once: much of a heap's description is adjacent. A lock guards the pages
 * of this many bytes of the space. */
enum { LEAST = 32 << 10 };

struct window {
    int file;                  /* /proc/PID/mem */
    struct attach_space space; /* with areas of its own */
    uint8_t *data;
    uint64_t page, size;    /* of a page, and of the space */
    uint64_t *there, *kept; /* a bit for each page of the space */
    uint64_t *mapped;       /* pages other than zeros, which may be dropped */
    uint64_t *ahead;        /* those that were not dropped, which may be read ahead */
    pthread_mutex_t locks[LOCKS];
    uint64_t bytes; /* that were read from the process */
    int error;      /* an errno value: the first reason why bytes were not read; 0: none */
#ifdef WINDOW_CHECKS
    struct window_check *checks;
    size_t check_count;
    uint64_t compared; /* pages */
#endif
};

/* ---- bits ---- */

static bool has_page_bit(const uint64_t *bits, uint64_t page)
{
    return (__atomic_load_n(&bits[page / BITS], __ATOMIC_ACQUIRE) >> (page % BITS) & 1) != 0;
}

static void set_page_bit(uint64_t *bits, uint64_t page)
{
    __atomic_fetch_or(&bits[page / BITS], UINT64_C(1) << (page % BITS), __ATOMIC_RELEASE);
}

static void clear_page_bit(uint64_t *bits, uint64_t page)
{
    __atomic_fetch_and(&bits[page / BITS], ~(UINT64_C(1) << (page % BITS)), __ATOMIC_RELEASE);
}

/* Returns how many pages one lock guards. */
static uint64_t pages_per_block(const struct window *window)
{
    return LEAST / window->page > 0 ? LEAST / window->page : 1;
}

/* ---- checks ---- */

#ifdef WINDOW_CHECKS

/* Consecutive pages, from the process's data rather than from areas. */
struct window_check {
    uint64_t address, first, count;
};

/* Notes where the process has the pages of the window, for check_page(). Returns false if memory
 * runs out. */
static bool prepare_checks(struct window *window, const struct attach_pages *pages)
{
    window->checks = calloc(pages->runs.count + 1, sizeof(*window->checks));
    for (size_t i = 0; window->checks && i < pages->runs.count; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        if (attach_run_is_read(run))
            window->checks[window->check_count++] = (struct window_check){
                run->address,
                as_size(attach_space_at(&window->space, run) - window->data) / window->page,
                run->size / window->page};
    }
    return window->checks != NULL;
}

/* Aborts the program if a page is present, and differs from the process's at its address. */
static void check_page(struct window *window, uint64_t page, uint64_t address)
{
    uint8_t truth[1 << 16]; /* no machine that Go runs on has larger pages */
    if (!has_page_bit(window->there, page) ||
        pread(window->file, truth, as_size(window->page), (off_t)address) != (ssize_t)window->page)
        return;
    __atomic_fetch_add(&window->compared, 1, __ATOMIC_RELAXED);
    if (memcmp(truth, window->data + page * window->page, as_size(window->page)) == 0)
        return;
    fprintf(stderr, "window: page 0x%llx is not what the process has\n",
            (unsigned long long)address);
    abort();
}

/* Compares the pages of a range that the window has read. */
static void check_pages(struct window *window, uint64_t first, uint64_t end)
{
    for (size_t i = 0; i < window->check_count; i++) {
        const struct window_check *check = &window->checks[i];
        const struct range checked = {check->first, check->first + check->count},
                           both = range_intersect(checked, (struct range){first, end});
        for (uint64_t page = both.begin; page < both.end; page++)
            check_page(window, page, check->address + (page - check->first) * window->page);
    }
}

void window_check(struct window *window)
{
    check_pages(window, 0, window->size / window->page);
    fprintf(stderr, "window: %llu pages compared\n", (unsigned long long)window->compared);
}

static void end_checks(struct window *window)
{
    free(window->checks);
}

#else

static bool prepare_checks(struct window *window, const struct attach_pages *pages)
{
    (void)window, (void)pages;
    return true;
}

static void check_pages(struct window *window, uint64_t first, uint64_t end)
{
    (void)window, (void)first, (void)end;
}

static void end_checks(struct window *window)
{
    (void)window;
}

void window_check(struct window *window)
{
    (void)window;
}

#endif

/* ---- making it ---- */

/* Copies the areas of a space, whose bytes both have then. Returns false if memory runs out. */
static bool copy_space(const struct attach_space *space, struct attach_space *ret)
{
    *ret = (struct attach_space){.data = space->data, .size = space->size};
    VECTOR_EACH(const struct attach_area, area, space->areas)
        if (!vector_push(&ret->areas, *area))
            return false;
    return true;
}

/* Sets the bits of all pages: those that are read from the process are mapped, and may be read
 * ahead; pages of zeros, and those that were given (attach_pages_give()), count as read. */
static void mark_pages(struct window *window, const struct attach_pages *pages,
                       const struct attach_space *space)
{
    VECTOR_EACH(const struct attach_run, run, pages->runs) {
        const uint64_t first = as_size(attach_space_at(space, run) - space->data) / window->page;
        for (uint64_t at = first; at < first + run->size / window->page; at++) {
            set_page_bit(attach_run_is_read(run) ? window->mapped : window->there, at);
            if (attach_run_is_read(run))
                set_page_bit(window->ahead, at);
        }
    }
}

/* Opens a window, by which a process's memory is read when it is needed, to its place in the space.
 * Returns NULL if memory or descriptors run out or the process cannot be read. */
struct window *window_create(uint64_t pid, const struct attach_pages *pages,
                             const struct attach_space *space)
{
    struct window *window = calloc(1, sizeof(*window));
    if (!window)
        return NULL;
    window->page = procfs_page_size();
    const bool has_areas = copy_space(space, &window->space);
    window->data = space->data;
    window->size = space->size;
    window->file = open(procfs_path(pid, "mem").text, O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_init(&window->locks[i], NULL);
    const size_t words = (size_t)(space->size / window->page / BITS + 1);
    window->there = calloc(words, sizeof(*window->there));
    window->kept = calloc(words, sizeof(*window->kept));
    window->mapped = calloc(words, sizeof(*window->mapped));
    window->ahead = calloc(words, sizeof(*window->ahead));
    if (!has_areas || window->file < 0 || !window->there || !window->kept || !window->mapped ||
        !window->ahead || !prepare_checks(window, pages)) {
        window_destroy(window);
        return NULL;
    }
    mark_pages(window, pages, space);
    return window;
}

void window_destroy(struct window *window)
{
    if (!window)
        return;
    if (window->file >= 0)
        close(window->file);
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&window->locks[i]);
    free(window->there);
    free(window->kept);
    free(window->mapped);
    free(window->ahead);
    free(window->space.areas.data);
    end_checks(window);
    free(window);
}

/* ---- reading ---- */

/* Returns whether a signal is ignored; while blocked it becomes pending nevertheless. */
static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN;
}

/* Returns whether a signal is pending that would end this program, and that the caller has
 * blocked. */
static bool is_asked_to_end(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (sigismember(&pending, numbers[i]) == 1 && !is_ignored(numbers[i]))
            return true;
    return false;
}

/* Reads bytes of the process to their position, by its file: see copy.h. Returns false if some
 * cannot be read. */
static bool read_window_bytes(struct window *window, uint64_t address, uint64_t size, uint8_t *data)
{
    uint64_t done = 0;
    while (done < size) {
        const ssize_t count =
            pread(window->file, data + done, (size_t)(size - done), (off_t)(address + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0 || (count < 0 && errno != EIO)) /* 0: it has no memory any more */
            __atomic_store_n(&window->error, count == 0 ? ESRCH : errno, __ATOMIC_RELAXED);
        if (count <= 0)
            return false;
        done += (uint64_t)count;
    }
    return true;
}

/* Consecutive pages of the space. */
struct window_pages {
    uint64_t first, end;
};

/* Reads the missing pages of one area that one lock guards, which the caller holds. Returns false
 * if some of them cannot be read. */
static bool fill_pages(struct window *window, const struct attach_area *area,
                       struct window_pages pages)
{
    bool good = true;
    for (uint64_t page = pages.first, next; page < pages.end; page = next) {
        next = page + 1;
        if (has_page_bit(window->there, page))
            continue;
        while (next < pages.end && !has_page_bit(window->there, next))
            next++;
        const uint64_t offset = page * window->page;
        const uint64_t size = (next - page) * window->page;
        if (!read_window_bytes(window, area->address + (offset - area->offset), size,
                               window->data + offset)) {
            good = false;
            continue;
        }
        __atomic_fetch_add(&window->bytes, size, __ATOMIC_RELAXED);
        for (uint64_t i = page; i < next; i++)
            set_page_bit(window->there, i);
    }
    return good;
}

/* Adds the pages of a block around the needed ones that may be read ahead: a page that was dropped
 * would stay in vain. Only pages of one area have consecutive addresses, although areas adjoin in
 * the space. */
static struct window_pages add_pages_ahead(const struct window *window, struct window_pages block,
                                           struct window_pages area, struct window_pages needed)
{
    while (needed.first > block.first && needed.first > area.first &&
           has_page_bit(window->ahead, needed.first - 1))
        needed.first--;
    while (needed.end < block.end && needed.end < area.end &&
           has_page_bit(window->ahead, needed.end))
        needed.end++;
    return needed;
}

/* Returns whether all of these pages have been read. */
static bool are_there(const struct window *window, uint64_t first, uint64_t end)
{
    while (first < end && has_page_bit(window->there, first))
        first++;
    return first >= end;
}

/* Reads needed pages of one block, under its lock, with all pages around them, if these can be
 * read. Returns false if some of the needed ones cannot. */
static bool fill_block(struct window *window, const struct attach_area *area, uint64_t block,
                       struct window_pages needed, struct window_pages all)
{
    pthread_mutex_t *const lock = &window->locks[block % LOCKS];
    pthread_mutex_lock(lock);
    bool good = fill_pages(window, area, all);
    if (!good && (all.first < needed.first || all.end > needed.end))
        good = fill_pages(window, area, needed);
    pthread_mutex_unlock(lock);
    return good;
}

/* Reads the pages of a range of addresses that the window lacks, to their place, data. Small reads
 * get more pages around them, since each read is a system call. Returns false if they cannot be
 * read, or a signal asks this program to end: window_error() says why. */
bool window_fill(struct window *window, uint64_t address, uint64_t size, const uint8_t *data)
{
    const struct attach_area *area = attach_space_area(&window->space, address, size);
    const uint64_t offset = as_size(data - window->data);
    if (!area || offset != area->offset + (address - area->address)) {
        __atomic_store_n(&window->error, EINVAL, __ATOMIC_RELAXED);
        return false;
    }
    const uint64_t first = offset / window->page,
                   end = (offset + size + window->page - 1) / window->page,
                   per_block = pages_per_block(window);
    const struct window_pages of_area = {area->offset / window->page,
                                         (area->offset + area->size) / window->page};
    const bool is_small = end - first < per_block;
    if (are_there(window, first, end))
        return true;
    if (window_error(window) != 0)
        return false;
    if (is_asked_to_end())
        __atomic_store_n(&window->error, EINTR, __ATOMIC_RELAXED);
    bool good = true;
    for (uint64_t page = first, next; page < end && good; page = next) {
        const uint64_t block = page / per_block;
        const struct window_pages of_block = {block * per_block, (block + 1) * per_block};
        next = MIN(of_block.end, end);
        const struct window_pages needed = {page, next},
                                  all = is_small
                                            ? add_pages_ahead(window, of_block, of_area, needed)
                                            : needed;
        good = fill_block(window, area, block, needed, all);
    }
    return good;
}

/* ---- dropping pages ---- */

static bool is_droppable(const struct window *window, uint64_t page)
{
    return has_page_bit(window->mapped, page) && !has_page_bit(window->kept, page);
}

static void forget_page(struct window *window, uint64_t page)
{
    clear_page_bit(window->there, page);
    clear_page_bit(window->ahead, page);
}

/* Gives the mapped pages that lie wholly in [from, end) of the space, and need not be kept, back to
 * the system, in runs. A run ends with its block at the latest, whose lock is held meanwhile. */
void window_drop(struct window *window, uint64_t from, uint64_t end)
{
    const uint64_t per_block = pages_per_block(window);
    const uint64_t last = end / window->page;
    uint64_t next;
    for (uint64_t page = (from + window->page - 1) / window->page; page < last; page = next) {
        const uint64_t block = page / per_block;
        const uint64_t end_of_block = (block + 1) * per_block;
        next = page + 1;
        if (!is_droppable(window, page))
            continue;
        while (next < last && next < end_of_block && is_droppable(window, next))
            next++;
        pthread_mutex_lock(&window->locks[block % LOCKS]);
        check_pages(window, page, next);
        for (uint64_t i = page; i < next; i++)
            forget_page(window, i);
        (void)madvise(window->data + page * window->page, (size_t)((next - page) * window->page),
                      MADV_DONTNEED);
        pthread_mutex_unlock(&window->locks[block % LOCKS]);
    }
}

/* Drops the pages of size bytes from a position on, so that their memory is free again. */
static void window_drop_at(struct window *window, const uint8_t *place, uint64_t size)
{
    const uint64_t from = as_size(place - window->data);
    window_drop(window, from, from + size);
}

/* Keeps the pages of [from, end). */
void window_keep(struct window *window, uint64_t from, uint64_t end)
{
    for (uint64_t page = from / window->page; page * window->page < end; page++)
        set_page_bit(window->kept, page);
}

uint64_t window_read(const struct window *window)
{
    return __atomic_load_n(&window->bytes, __ATOMIC_RELAXED);
}

int window_error(const struct window *window)
{
    return __atomic_load_n(&window->error, __ATOMIC_RELAXED);
}

/* ==== bytes from a core, a copy, a window or the executable ==== */

/* ---- memory ---- */

/* Adds a range, cut so that its end is at most UINT64_MAX. memory_sort() must follow before it is
 * used. Returns false if memory runs out. */
bool memory_add(struct memory *memory, uint64_t address, uint64_t size, const uint8_t *data)
{
    const uint64_t most = UINT64_MAX - address;
    const struct memory_range range = {address, MIN(size, most), data};
    return range.size == 0 || vector_push(&memory->ranges, range);
}

/* Orders ranges by address; of those that begin together the largest comes first. */
static int compare_ranges(const void *a, const void *b)
{
    const struct memory_range *one = a;
    const struct memory_range *other = b;
    if (one->address != other->address)
        return COMPARE(one->address, other->address);
    return (one->size < other->size) - (one->size > other->size);
}

/* Returns the part of a range from an address on, which may be empty. */
static struct memory_range range_from(struct memory_range range, uint64_t address)
{
    const uint64_t less = range.address < address ? address - range.address : 0;
    return less >= range.size
               ? (struct memory_range){0}
               : (struct memory_range){range.address + less, range.size - less, range.data + less};
}

/* Sorts and joins the ranges of memory. Of overlapping ranges the lowest one counts; adjacent
 * ranges with adjacent bytes become one. */
void memory_sort(struct memory *memory)
{
    struct memory_range *ranges = memory->ranges.data;
    size_t kept = 0;
    memory->bytes = 0;
    vector_sort(&memory->ranges, compare_ranges);
    for (size_t i = 0; i < memory->ranges.count; i++) {
        struct memory_range *last = kept > 0 ? &ranges[kept - 1] : NULL;
        const uint64_t end = last ? last->address + last->size : 0;
        const struct memory_range range = range_from(ranges[i], end);
        if (range.size == 0)
            continue;
        if (last && range.address == end && range.data == last->data + last->size)
            last->size += range.size;
        else
            ranges[kept++] = range;
        memory->bytes += range.size;
    }
    memory->ranges.count = kept;
    assert(IS_ORDERED(i, kept, ranges[i].address - ranges[i - 1].address >= ranges[i - 1].size));
}

/* Adds the read-only sections of an executable to the memory, at their addresses and slide, by
 * which the system has moved it. Cores mostly leave out what the executable has: its read-only
 * sections take the place of that. Returns false if memory runs out. */
bool memory_add_image(struct memory *memory, const struct image *image, uint64_t slide)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const struct image_section *section = &image->sections[i];
        const struct memory_range range = {section->address + slide, section->data.size,
                                           section->data.data};
        if ((section->flags & SHF_ALLOC) == 0 || (section->flags & SHF_WRITE) != 0 ||
            range.size == 0 || range.size > UINT64_MAX - range.address)
            continue;
        if (!vector_push(&memory->read_only, range))
            return false;
    }
    vector_sort(&memory->read_only, compare_ranges);
    return true;
}

void memory_deinit(struct memory *memory)
{
    free(memory->ranges.data);
    free(memory->read_only.data);
    ranges_deinit(&memory->untouched);
    window_destroy(memory->window);
    *memory = (struct memory){0};
}

/* Returns the range that contains an address, or NULL. */
static const struct memory_range *range_at(const struct memory_range *ranges, size_t count,
                                           uint64_t address)
{
    size_t after;
    BISECT(after, count, ranges[after].address <= address);
    return after > 0 && address - ranges[after - 1].address < ranges[after - 1].size
               ? &ranges[after - 1]
               : NULL;
}

const struct memory_range *memory_range_at(const struct memory *memory, uint64_t address)
{
    return range_at(memory->ranges.data, memory->ranges.count, address);
}

/* Returns the bytes at an address, or NULL. *ret_is_own: they are the process's; otherwise those of
 * the executable, for read-only data that a core does not contain. */
static const uint8_t *find_place(const struct memory *memory, uint64_t address, uint64_t size,
                                 bool *ret_is_own)
{
    const struct memory_range *range = memory_range_at(memory, address);
    *ret_is_own = range != NULL;
    if (!range)
        range = range_at(memory->read_only.data, memory->read_only.count, address);
    if (!range || size > range->size - (address - range->address))
        return NULL;
    return range->data + (address - range->address);
}

/* Returns the position of these bytes, like memory_at(), but if there is a window they need not be
 * present yet: memory_fill() reads them, and memory_drop() drops them. */
const uint8_t *memory_place(const struct memory *memory, uint64_t address, uint64_t size)
{
    bool is_own;
    return find_place(memory, address, size, &is_own);
}

/* Returns size bytes at an address, which are valid as long as their source is, or NULL if they are
 * not all available in one piece. */
const uint8_t *memory_at(const struct memory *memory, uint64_t address, uint64_t size)
{
    bool is_own;
    const uint8_t *place = find_place(memory, address, size, &is_own);
    return !place || !is_own || memory_fill(memory, address, size, place) ? place : NULL;
}

/* Has the window read bytes; false if they cannot be read. Other memory is there already. */
bool memory_fill(const struct memory *memory, uint64_t address, uint64_t size, const uint8_t *place)
{
    return !memory->window || window_fill(memory->window, address, size, place);
}

/* Lets the window forget bytes that are not needed any more. */
void memory_drop(const struct memory *memory, uint64_t size, const uint8_t *place)
{
    if (memory->window)
        window_drop_at(memory->window, place, size);
}

/* ---- all of it ---- */

void process_deinit(struct process *process)
{
    if (process->held)
        process->end_held(process->held);
    memory_deinit(&process->memory);
    free(process->threads.data);
    free(process->executable);
    free(process->files.data);
    free(process->maps);
    free(process->smaps);
    free(process->resident.data);
    if (process->copy)
        munmap(process->copy, process->copy_size);
    *process = (struct process){0};
}
