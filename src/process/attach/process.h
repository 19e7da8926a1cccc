/*
 * process: the memory of a process, stopped or gone, and its threads' registers, before its heap is
 * found. read.h and attach.h fill it in. Where there is no memory for a copy, this also reads it on
 * demand, from the child of a fork.
 */
#ifndef ATTACH_PROCESS_H
#define ATTACH_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/elf_format.h"
#include "base/ranges.h"
#include "exe/image/image.h"
#include "process/attach/procfs.h"

/* ==== the memory of the child of a fork, which is read on demand, page by page ====
 *
 * If there is no memory for a copy of a process, only the pages that are accessed are read
 * (memory_at()), and pages that are no longer needed are returned to the system while the dump is
 * written (process/give_back.h). They have positions in a space like copied pages, so the code that
 * reads the memory need not know.
 */

struct attach_pages;

struct attach_space;

struct window;

/* Makes a window for pages of a process, with positions in the mapping of space, which must outlive
 * it. Returns NULL if memory or descriptors run out or the process cannot be read. */
struct window *window_create(uint64_t pid, const struct attach_pages *pages,
                             const struct attach_space *space);

/* Frees a window; it may be NULL. */
void window_destroy(struct window *window);

/*
 * Reads the missing pages of [address, address + size); data is the position of the first byte.
 * Returns false if one of them cannot be read. Several threads may call this and the next
 * functions; pages that one thread drops must not be needed by another.
 */
bool window_fill(struct window *window, uint64_t address, uint64_t size, const uint8_t *data);

/* Drops the pages in [from, end) of the space as a whole, except those that are kept. */
void window_drop(struct window *window, uint64_t from, uint64_t end);

/* Keeps the pages of [from, end). */
void window_keep(struct window *window, uint64_t from, uint64_t end);

/*
 * With -DWINDOW_CHECKS, for tests: every fork is read through a window; each page that is dropped,
 * or is present when this is called, is compared with the process's page at its address, and the
 * program calls abort() if they differ. Then prints how many were compared. Otherwise does nothing.
 * The process must still exist. With -DWINDOW_ALWAYS=1 every fork is read through a window, without
 * these checks.
 */
void window_check(struct window *window);

#ifndef WINDOW_ALWAYS
#ifdef WINDOW_CHECKS
#define WINDOW_ALWAYS 1
#else
#define WINDOW_ALWAYS 0
#endif
#endif

/* Returns how many bytes were read, and an errno value if some could not be read: ESRCH if the
 * process has ended, EINTR if a signal is pending that would end this program. */
uint64_t window_read(const struct window *window);

int window_error(const struct window *window);

/* ==== bytes from a core, a copy, a window or the executable ====
 *
 * The memory of a process, stopped or gone, and its threads' registers, before its heap is found.
 * read.h and attach.h fill it in.
 *
 * Bytes come from an ELF core or from the copy of a live process, and, if that does not have them,
 * from the executable. Bytes that none of these has are missing: they are never read as zeros.
 */

/* ---- memory ---- */

/* Bytes that are consecutive both in the process and here. */
struct memory_range {
    uint64_t address, size;
    const uint8_t *data;
};

struct memory {
    /* Of the process. After memory_sort() they are ascending, and no two overlap, or adjoin both in
     * the process and here. */
    VECTOR(struct memory_range) ranges;
    VECTOR(struct memory_range) read_only; /* of the executable; ascending */
    uint64_t bytes;                        /* in ranges, once they are sorted */
    struct window *window;   /* reads the process's pages on demand; NULL: all are present */
    struct ranges untouched; /* parts of ranges that the process has never written to: zeros that
                                need not be read */
};

/* Adds a range, cut so that its end is at most UINT64_MAX. Returns false if memory runs out. */
bool memory_add(struct memory *memory, uint64_t address, uint64_t size, const uint8_t *data);

/* Sorts the ranges, and joins those that adjoin; call it once all ranges are added, and again if
 * more are added. If two overlap, the one that begins first counts. */
void memory_sort(struct memory *memory);

/* Adds the sections of an executable that are not writable, for bytes that are not in ranges; slide
 * is the distance from its addresses to those of the process. Returns false if memory runs out. */
bool memory_add_image(struct memory *memory, const struct image *image, uint64_t slide);

void memory_deinit(struct memory *memory);

/* Returns size bytes at an address, which are valid as long as their source is, or NULL if they are
 * not all available in one piece. */
const uint8_t *memory_at(const struct memory *memory, uint64_t address, uint64_t size);

/* Returns the position of these bytes, like memory_at(), but if there is a window they need not be
 * present yet: memory_fill() reads them, and memory_drop() drops them. Without a window both do
 * nothing. memory_fill() returns false if they cannot be read. */
const uint8_t *memory_place(const struct memory *memory, uint64_t address, uint64_t size);

bool memory_fill(const struct memory *memory, uint64_t address, uint64_t size,
                 const uint8_t *place);

void memory_drop(const struct memory *memory, uint64_t size, const uint8_t *place);

/* Returns the range of the process, not of the executable, that contains an address, or NULL. */
const struct memory_range *memory_range_at(const struct memory *memory, uint64_t address);

/* Returns a little-endian number of at most 8 bytes. */
static inline uint64_t memory_number(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    assert(size <= sizeof(value));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, bytes, size);
#else
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
#endif
    return value;
}

/* Reads such a number at an address. Returns false if its bytes are missing. */
static inline bool memory_read(const struct memory *memory, uint64_t address, unsigned size,
                               uint64_t *ret)
{
    const uint8_t *bytes = memory_at(memory, address, size);
    if (bytes)
        *ret = memory_number(bytes, size);
    return bytes != NULL;
}

/* ---- all of it ---- */

enum { PROCESS_MOST_REGISTERS = 40 };

/* A thread's registers, in words, in the order of NT_PRSTATUS (elf_gregset_t of the machine). */
struct process_thread {
    uint64_t id;
    unsigned count;
    uint64_t registers[PROCESS_MOST_REGISTERS];
};

/* Consecutive pages. */
struct process_pages {
    uint64_t address, size;
};

struct process {
    const char *name; /* for messages: a path, or "process 1234" */
    uint64_t pid;     /* of a live process; 0: it is a core */
    uint16_t machine; /* EM_… */
    uint64_t entry;   /* AT_ENTRY, the executable's entry point; 0: unknown */
    char *executable; /* its path at run time; NULL: unknown */
    struct mapped_files files;
    char *maps; /* /proc/PID/maps of a live process, which files refers to */
    struct memory memory;
    VECTOR(struct process_thread) threads;
    bool is_new;  /* a live process that has only just started its program */
    bool is_dead; /* it was copied at its end (death.h), with the registers of one thread */
    void *copy;   /* the mapping with the copy of a live process; NULL: it is a core */
    size_t copy_size;
    void *held; /* the data that attach_finish() ends, by end_held(); NULL: none */
    void (*end_held)(void *held);
    char *smaps;                           /* /proc/PID/smaps of a live process; NULL: not known */
    VECTOR(struct process_pages) resident; /* resident pages of a live process; ascending */
};

/* Frees everything except the core's file, which ranges of memory may point to. */
void process_deinit(struct process *process);

#endif
