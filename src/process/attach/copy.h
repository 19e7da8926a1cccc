/* copy: copies pages of another process. */
#ifndef PROCESS_ATTACH_COPY_H
#define PROCESS_ATTACH_COPY_H

#include <go2heapsnapshot/progress.h>

#include "process/attach/space.h"
#include "process/attach/process.h"

struct attach_copied {
    uint64_t bytes, reads; /* bytes that were copied, and the system calls for them */
    uint64_t unreadable;   /* bytes of pages that cannot be read, for example beyond a file's end */
};

/*
 * Whose pages are copied: those of a stopped process, which waits, so that the threads are as
 * urgent as urgent.h makes them; or of the child of a fork, which nothing waits for.
 */
struct attach_source {
    uint64_t pid;
    bool is_child;
};

/*
 * Copies pages to their positions in space, and adds those that could be read to memory. A child is
 * read through /proc/PID/mem: for process_vm_readv(2), which pins pages, the kernel would first
 * copy each page that the child shares with its parent (FOLL_PIN, since Linux 5.19), and charge the
 * parent's control group for it. Returns 0 or an errno value, such as ESRCH if the process has
 * ended; after an error memory must not be used. It may be called for one part of the pages after
 * the other.
 */
int attach_copy_pages(struct attach_source source, const struct attach_pages *pages,
                      const struct attach_space *space, const struct g2h_progress *progress,
                      struct memory *memory, struct attach_copied *ret);

#endif
