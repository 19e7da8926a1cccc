/* attach_copy: copies pages of another process. */
#ifndef PROCESS_ATTACH_COPY_H
#define PROCESS_ATTACH_COPY_H

#include <go2heapsnapshot/progress.h>

#include "process/attach_space.h"
#include "process/memory.h"

struct attach_copied {
    uint64_t bytes, reads; /* that were copied, and in how many system calls */
    uint64_t unreadable;   /* bytes of pages that cannot be read: beyond a file's end … */
};

/*
 * Copies pages to their places in space, and adds those that could be read to memory. Gives 0, or
 * the number of the system's error, as ESRCH: the process has ended; then memory is not to be used.
 */
int attach_copy_pages(uint64_t pid, const struct attach_pages *pages,
                      const struct attach_space *space, const struct g2h_progress *progress,
                      struct memory *memory, struct attach_copied *ret);

#endif
