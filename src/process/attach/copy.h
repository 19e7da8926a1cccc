/* copy: copies pages of another process. */
#ifndef PROCESS_ATTACH_COPY_H
#define PROCESS_ATTACH_COPY_H

#include <go2heapsnapshot/progress.h>

#include "process/attach/space.h"
#include "process/attach/memory.h"

struct attach_copied {
    uint64_t bytes, reads; /* bytes that were copied, and the system calls for them */
    uint64_t unreadable;   /* bytes of pages that cannot be read, for example beyond a file's end */
};

/*
 * Copies pages to their places in space, by threads that are as urgent as urgent.h makes them if
 * somebody waits for that, and adds those that could be read to memory. Returns 0 or
 * an errno value, such as ESRCH if the process has ended; after an error memory must not be used.
 */
int attach_copy_pages(uint64_t pid, const struct attach_pages *pages,
                      const struct attach_space *space, bool is_urgent,
                      const struct g2h_progress *progress, struct memory *memory,
                      struct attach_copied *ret);

#endif
