/*
 * space: address space for the copy of a process.
 *
 * It keeps the distances between nearby addresses, so that neighbors in the process are neighbors
 * in the copy, and leaves out large gaps. It is made while the process still runs, with some gaps
 * around the process's present pages, because getting memory from the system takes three times as
 * long as copying, and far longer when it has to be reclaimed from other programs first. Unused
 * parts of it read as zeros and take no memory.
 */
#ifndef PROCESS_ATTACH_SPACE_H
#define PROCESS_ATTACH_SPACE_H

#include <go2heapsnapshot/progress.h>

#include "process/attach/pages.h"

/* A range of the process's addresses that is also one range of the space, from offset on. */
struct attach_area {
    uint64_t address, size, offset;
};

struct attach_space {
    uint8_t *data; /* a mapping; NULL: none */
    uint64_t size;
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
