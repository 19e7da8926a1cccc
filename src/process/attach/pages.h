/*
 * pages: which pages of a process are worth copying, and the address space for their copy.
 */
#ifndef ATTACH_PAGES_H
#define ATTACH_PAGES_H

#include <go2heapsnapshot/progress.h>

#include "base/ranges.h"
#include "process/attach/procfs.h"

/* ==== which pages of a process are worth copying ====
 *
 * They are in the private, readable mappings of /proc/PID/maps. Mappings of files are copied whole,
 * because a page that is not in memory is in the file; except code, which is left out, and files
 * too large for a program, whose pages are only copied if they were written to. Most anonymous
 * mappings are reserved but never touched: /proc/PID/pagemap shows which of their pages exist, and
 * all others are zeros. Since Linux 6.7 the system also reports which pages are the shared zero
 * page.
 */

struct attach_mapping {
    uint64_t address, size;
    bool is_file, is_writable;
};

struct attach_mappings {
    struct attach_mapping *data;
    size_t count, capacity;
};

/* Consecutive pages of one kind. */
struct attach_run {
    uint64_t address, size;
    enum attach_kind {
        ATTACH_WRITTEN,
        ATTACH_ZERO,  /* the pages were never written to: they need not be read */
        ATTACH_MAYBE, /* they may be zero, as pages that were read but never written to are: the
                         collector reads the words of all pointers */
        ATTACH_FILE,  /* in slow only: a whole mapping of a file that may be written to */
        ATTACH_GIVEN, /* attach_pages_give(): the bytes come from another process */
    } kind;
};

/* Returns whether the pages of a run are read from the process whose pages they are. */
static inline bool attach_run_is_read(const struct attach_run *run)
{
    return run->kind != ATTACH_ZERO && run->kind != ATTACH_GIVEN;
}

struct attach_pages {
    VECTOR(struct attach_run) runs; /* ascending */
    uint64_t size, resident;        /* bytes of all runs, and of those that are not zero */
    VECTOR(struct attach_run) slow; /* see attach_pages_find_apart() */
    char *maps;                     /* the contents of /proc/PID/maps */
    bool is_apart;                  /* slow was requested */
    bool is_guess; /* the system has no pagemap: many pages that count as resident may be zero */
};

/* Adds the mappings in the contents of /proc/PID/maps whose pages are wanted. Returns false if
 * memory runs out. */
bool attach_mappings_parse(const char *maps, struct attach_mappings *ret);

/* Finds the pages of a process, which should be stopped. Returns 0 or an errno value. *ret goes to
 * attach_pages_deinit() in any case. */
int attach_pages_find(uint64_t pid, struct attach_pages *ret);

/* Does the same, but puts the pages that may have to be read from a disk into ret->slow, in any
 * order: swapped pages, and mapped files that may be written to, whole. Pages of files that were
 * written to are among the runs; other pages of files are left out. */
int attach_pages_find_apart(uint64_t pid, struct attach_pages *ret);

/* Does the same as attach_pages_find() for these ranges of anonymous memory alone. */
int attach_pages_find_in(uint64_t pid, const struct ranges *ranges, struct attach_pages *ret);

/* Makes the pages of the runs of given that are not zeros ATTACH_GIVEN, as far as pages has them.
 * Returns false if memory runs out. */
bool attach_pages_give(struct attach_pages *pages, const struct attach_pages *given);

void attach_pages_deinit(struct attach_pages *pages);

/* ==== address space for the copy of a process ====
 *
 * It keeps the distances between nearby addresses, so that neighbors in the process are neighbors
 * in the copy, and leaves out large gaps. It is made while the process still runs, with some gaps
 * around the process's present pages, because getting memory from the system takes three times as
 * long as copying, and far longer when it has to be reclaimed from other programs first. Unused
 * parts of it read as zeros and take no memory.
 */

/* A range of the process's addresses that is also one range of the space, from offset on. */
struct attach_area {
    uint64_t address, size, offset;
};

struct attach_space {
    uint8_t *data; /* a mapping; NULL: none */
    size_t size;
    bool is_lean;                     /* only the parts with something to copy are writable */
    VECTOR(struct attach_area) areas; /* ascending */
};

/*
 * Reserves addresses for pages and for around bytes on each side of them; around is 0 for as few as
 * possible. Returns false if the system does not provide that much address space, of which
 * ret->size are needed, or memory runs out. *ret goes to attach_space_deinit().
 */
bool attach_space_make(const struct attach_pages *pages, uint64_t around, struct attach_space *ret);

/* Decides whether memory for left more bytes may still be allocated. */
struct attach_guard {
    bool (*may_go_on)(void *context, uint64_t left);
    void *context;
};

/* Gets the memory for pages from the system in advance; calls guard before each piece of 16 MiB,
 * unless it is NULL. Returns false if the guard returned false. */
bool attach_space_fill(const struct attach_space *space, const struct attach_pages *pages,
                       const struct attach_guard *guard, const struct g2h_progress *progress);

/* Returns whether the space has writable positions for all pages. */
bool attach_space_holds(const struct attach_space *space, const struct attach_pages *pages);

/* Returns the area that contains all of [address, address + size), or NULL. Consecutive positions
 * have consecutive addresses only inside an area: the next area may have any address. */
const struct attach_area *attach_space_area(const struct attach_space *space, uint64_t address,
                                            uint64_t size);

/* Returns the position of a run, which must have one. */
uint8_t *attach_space_at(const struct attach_space *space, const struct attach_run *run);

void attach_space_deinit(struct attach_space *space);

#endif
