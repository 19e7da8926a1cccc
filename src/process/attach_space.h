/*
 * attach_space: where the copy of a process goes.
 *
 * It keeps the distances between addresses that are near each other, so what is side by side in the
 * process is so in the copy, and leaves out the deserts. It is made while the process still runs,
 * and with some room around what there is then: to get memory from the system takes three times as
 * long as to copy, and far longer where others have to give it up first. What is not used of it
 * reads as zeros and takes no memory.
 */
#ifndef PROCESS_ATTACH_SPACE_H
#define PROCESS_ATTACH_SPACE_H

#include <go2heapsnapshot/progress.h>

#include "process/attach_pages.h"

/* Addresses of the process that are one range here. */
struct attach_area {
    uint64_t address, size, offset;
};

struct attach_space {
    uint8_t *data; /* a mapping; NULL: none */
    uint64_t size;
    VECTOR(struct attach_area) areas; /* ascending */
};

/* Reserves addresses for pages and for so many bytes around them. False where the system does not
 * give as many. *ret goes to attach_space_deinit(). */
bool attach_space_make(const struct attach_pages *pages, uint64_t around, struct attach_space *ret);

/* Gets the memory for those pages from the system. */
void attach_space_fill(const struct attach_space *space, const struct attach_pages *pages,
                       const struct g2h_progress *progress);

/* Whether there is a place for all pages. */
bool attach_space_holds(const struct attach_space *space, const struct attach_pages *pages);

/* The place of a run, which must have one. */
uint8_t *attach_space_at(const struct attach_space *space, const struct attach_run *run);
void attach_space_deinit(struct attach_space *space);

#endif
