/*
 * memory: allocates and sorts arrays, and prepares malloc(); see memory.h. There are three kinds of
 * arrays:
 *
 *   block_alloc(), zeroed_alloc()  from malloc(), for free(); large ones on huge pages
 *   array_grow()                   one that grows; a large one is copied to a new block, because
 *                                  realloc() would split its huge pages
 *   large_alloc()                  a large one is a mapping of its own on huge pages; large_free()
 *                                  returns it to the system at once
 *
 * Sorting merges lists that are in order already. memory_prepare() puts small blocks on huge pages.
 */
#include "base/bytes.h"
#include "base/contract.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__

#include <malloc.h>

#endif

enum {
    HUGE_PAGE = 2 << 20, /* the size of a huge page on amd64, and on arm64 with pages of 4 KB */
    LARGE = HUGE_PAGE,   /* blocks of this size and above get huge pages */
    DOUBLED = 64 << 10,  /* arrays of this size and above double when they grow: less is copied, and
                            pages that were never written cost nothing */
};

/* Rounds a size up to whole huge pages. */
static size_t whole_huge_pages(size_t size)
{
    return (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

/* Requests huge pages (MADV_HUGEPAGE) for the whole huge pages that a block of LARGE or more bytes
 * spans; nothing for a smaller one. */
static void want_huge_pages(void *data, size_t size)
{
#ifdef MADV_HUGEPAGE
    const size_t before = -(uintptr_t)data % HUGE_PAGE;
    if (size >= LARGE)
        (void)madvise((char *)data + before, (size - before) / HUGE_PAGE * HUGE_PAGE,
                      MADV_HUGEPAGE);
#else
    (void)data;
    (void)size;
#endif
}

/* Returns whether an array can have this size. Larger ones do not fit any memory, and sanitizers
 * abort a program whose product overflows. */
static bool is_possible(size_t count, size_t entry_size)
{
    return count <= SIZE_MAX / 2 / entry_size;
}

/* Allocates an array that grows with the heap, not zeroed. Large blocks are aligned to huge pages,
 * so that all of their memory can be on such pages. */
void *block_alloc(size_t count, size_t entry_size)
{
    if (!is_possible(count, entry_size))
        return NULL;
    const size_t size = count * entry_size;
    if (size < LARGE)
        return malloc(size > 0 ? size : 1);
    void *data;
    if (posix_memalign(&data, HUGE_PAGE, size) != 0)
        return NULL;
    want_huge_pages(data, size);
    return data;
}

/* Allocates an array of zeros that may be large. NULL if memory runs out, or the size is too large
 * to be counted. The kernel is asked for huge pages. */
void *zeroed_alloc(size_t count, size_t entry_size)
{
    if (!is_possible(count, entry_size))
        return NULL;
    void *data = calloc(count > 0 ? count : 1, entry_size);
    if (data)
        want_huge_pages(data, count * entry_size);
    return data;
}

/* Moves a block to one of size bytes, LARGE or more, and copies the used ones. Returns NULL, and
 * frees nothing, if memory runs out. realloc() would have the system move the pages, and for that
 * split huge ones. */
static void *grow_large(void *data, size_t used, size_t size)
{
    void *grown = block_alloc(size, 1);
    if (!grown)
        return NULL;
    if (used > 0)
        memcpy(grown, data, used);
    free(data);
    return grown;
}

/* Returns by how many entries an array grows: by half, or by as much again if it is large. */
static size_t array_usual_growth(size_t count, size_t entry_size)
{
    enum { FIRST = 16 };
    if (count < FIRST / 2)
        return FIRST - count;
    return count * entry_size >= DOUBLED ? count : count / 2;
}

/* Makes space for more entries. Grows as usual, or by what is wanted if that is more. Returns the
 * array, which may have moved; if memory runs out, *capacity and the array stay as they are. */
void *array_grow(void *data, size_t *capacity, size_t count, size_t more, size_t entry_size)
{
    const size_t usual = array_usual_growth(count, entry_size);
    const size_t extra = MAX(more, usual);
    if (extra > SIZE_MAX - count || !is_possible(count + extra, entry_size))
        return data;
    const size_t size = (count + extra) * entry_size;
    void *grown = size >= LARGE ? grow_large(data, count * entry_size, size) : realloc(data, size);
    if (!grown)
        return data;
    *capacity = count + extra;
    return grown;
}

/* Copies count entries to memory from malloc(). Returns NULL if memory runs out, or count is 0. */
void *memory_copy(const void *data, size_t count, size_t entry_size)
{
    void *copy = count > 0 ? malloc(count * entry_size) : NULL;
    if (copy)
        memcpy(copy, data, count * entry_size);
    return copy;
}

/* ---- sorting ---- */

enum { RUN = 64 /* entries that a list in order has on average, at least, to be merged */ };

struct merger {
    char *data, *spare; /* spare has room for all entries */
    size_t entry_size;
    int (*compare)(const void *one, const void *other);
};

/* Returns the end of the entries, which are in order, that come before another one: compare() gives
 * less than most for them (0: only lesser ones; 1: equal ones, too). First looks 1, 2, 4 … entries
 * further, then bisects, because often very few or very many come before it. */
static const char *find_before(const struct merger *merger, struct g2h_bytes entries,
                               const char *other, int most)
{
    const size_t size = merger->entry_size;
    const char *at = (const char *)entries.data;
    const size_t count = entries.size / size;
    size_t known = 0;
    size_t step = 1;
    for (; step <= count - known; known += step, step *= 2)
        if (merger->compare(at + (known + step - 1) * size, other) >= most)
            break;
    const size_t end = MIN(count, known + step - 1);
    size_t before;
    BISECT_FROM(before, known, end, merger->compare(at + before * size, other) < most);
    return at + before * size;
}

/* Merges the entries from begin to middle with those from there to end; both are in order. Of equal
 * ones, those before middle come first. Copies the left ones away, then fills their space from both
 * sides, in runs. */
static void merge_two(const struct merger *merger, size_t begin, size_t middle, size_t end)
{
    const size_t size = merger->entry_size;
    const char *right = merger->data + middle * size;
    const char *const right_end = merger->data + end * size;
    char *to = merger->data + begin * size;
    if (merger->compare(right - size, right) <= 0)
        return;
    const char *left = merger->spare;
    const char *const left_end = left + (middle - begin) * size;
    memcpy(merger->spare, to, as_size(left_end - left));
    for (;;) {
        const char *next = find_before(merger, bytes_between(left, left_end), right, 1);
        memcpy(to, left, as_size(next - left));
        to += next - left;
        left = next;
        if (left == left_end) /* what is left of the others is in place */
            return;
        next = find_before(merger, bytes_between(right, right_end), left, 0);
        memmove(to, right, as_size(next - right));
        to += next - right;
        right = next;
        if (right == right_end)
            break;
    }
    memcpy(to, left, as_size(left_end - left));
}

/* Finds the lists in order that the count entries consist of: ends, of most indexes, gets the end
 * of each. Returns their number, or 0 if there are more than most. */
static size_t find_runs(const struct merger *merger, size_t count, size_t *ends, size_t most)
{
    const size_t size = merger->entry_size;
    size_t runs = 0;
    for (size_t i = 1; i <= count; i++) {
        const char *at = merger->data + i * size;
        if (i < count && merger->compare(at - size, at) <= 0)
            continue;
        if (runs == most)
            return 0;
        ends[runs++] = i;
    }
    return runs;
}

/* Sorts entries by merging the lists in order that they consist of, two neighbors at a time, until
 * one is left. Returns false if these are too many (RUN), or if memory runs out. */
static bool sort_runs(struct merger *merger, size_t count)
{
    const size_t most = count / RUN;
    size_t *ends = most > 0 ? malloc(most * sizeof(*ends)) : NULL;
    size_t runs = ends ? find_runs(merger, count, ends, most) : 0;
    merger->spare = runs > 0 ? malloc(count * merger->entry_size) : NULL;
    const bool good = merger->spare != NULL;
    for (; good && runs > 1; runs = (runs + 1) / 2)
        for (size_t i = 0; i < runs;
             i += 2) { /* ends: by list, where it ends; those merged first */
            if (i + 1 < runs)
                merge_two(merger, i > 0 ? ends[i / 2 - 1] : 0, ends[i], ends[i + 1]);
            ends[i / 2] = ends[i + 1 < runs ? i + 1 : i];
        }
    free(merger->spare);
    free(ends);
    return good;
}

/* Sorts by merging runs that are in order or, if memory for that runs out, by qsort(). The order of
 * equal entries is not kept. */
void array_sort_unordered(void *data, size_t count, size_t entry_size,
                          int (*compare)(const void *one, const void *other))
{
    struct merger merger = {.data = data, .entry_size = entry_size, .compare = compare};
    if (!sort_runs(&merger, count))
        qsort(data, count, entry_size, compare);
    assert(count < 2 || compare(data, (const char *)data + entry_size) <= 0);
}

/* ---- large arrays as mappings of their own ---- */

/* Maps whole huge pages: maps one more than needed, and unmaps the memory before and after the
 * aligned range. NULL: memory runs out. */
static void *map_huge_pages(size_t size)
{
    char *data =
        mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)data % HUGE_PAGE;
    if (before > 0)
        munmap(data, before);
    munmap(data + before + size, HUGE_PAGE - before);
    want_huge_pages(data + before, size);
    return data + before;
}

/* Allocates an array of zeros, for large_free(). Blocks of LARGE bytes and more come from mmap(),
 * which zeroes them, in whole huge pages. NULL if memory runs out, or the size is too large to be
 * counted. */
void *large_alloc(size_t count, size_t entry_size)
{
    if (!is_possible(count, entry_size))
        return NULL;
    const size_t size = count * entry_size;
    if (size >= LARGE)
        return map_huge_pages(whole_huge_pages(size));
    return calloc(1, size > 0 ? size : 1);
}

/* Frees an array of large_alloc(). Memory of less than LARGE bytes is from malloc(), more is a
 * mapping of its own of whole huge pages. */
void large_free(void *data, size_t count, size_t entry_size)
{
    const size_t size = count * entry_size;
    if (size < LARGE)
        free(data);
    else if (data)
        munmap(data, whole_huge_pages(size));
}

/* Frees the end of an array of size bytes, of which kept stay. Returns the array, or NULL if memory
 * runs out. An array that becomes a small one is copied, because malloc() frees those; a small one
 * stays as it is. */
void *large_shrink(void *data, size_t size, size_t kept)
{
    assert(data && kept <= size);
    if (size < LARGE)
        return data;
    if (kept >= LARGE) {
        const size_t before = whole_huge_pages(size);
        const size_t after = whole_huge_pages(kept);
        if (after < before)
            munmap((char *)data + after, before - after);
        return data;
    }
    void *small = memory_copy(data, kept, 1);
    if (small)
        munmap(data, whole_huge_pages(size));
    return small;
}

/* ---- malloc() ---- */

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)

/* Returns whether the process has a limit on its address space (ulimit -v or -d), which counts what
 * is only reserved. */
static bool is_limited(void)
{
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY;
}

/* Makes the data segment, from which small blocks come, grow by MORE bytes at a time. The first
 * range is on huge pages, and is larger than most heaps need. */
static void reserve_data_segment(void)
{
    enum {
        MORE = 256 << 20,
        NOT_THERE_YET = 256 << 10 /* more than the segment has: it must grow */
    };
    char *begin = sbrk(0);
    mallopt(M_TOP_PAD, MORE);
    void *volatile block = malloc(NOT_THERE_YET); /* volatile keeps both calls */
    free(block);
    char *end = sbrk(0);
    if (end > begin)
        want_huge_pages(begin, as_size(end - begin));
}

#endif

/* Prepares malloc() for this program: has it map large blocks one by one, so that they go back to
 * the system, use one arena for all threads, and take small blocks from huge pages, unless the
 * process has a limit. */
void memory_prepare(void)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_ARENA_MAX, 1);
    if (!is_limited())
        reserve_data_segment();
#endif
}

/* Writes to each page, so that the system provides it, and frees the block. */
void memory_touch(size_t size)
{
    enum { PAGE = 4096 }; /* or larger */
    volatile char *const block = malloc(size);
    for (size_t at = 0; block && at < size; at += PAGE)
        block[at] = 1;
    free((void *)block);
}

void memory_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
