/*
 * collapse: makes the memory of another process huge pages, while it runs.
 *
 * A fork copies the page tables, and huge pages have 512 times fewer entries. The kernel copies 2
 * MB at a time to a new page (MADV_COLLAPSE, since Linux 6.1), on this program's processor time;
 * the process has to wait only when it requests memory from the system, or touches these 2 MB, at
 * that moment.
 */
#ifndef PROCESS_ATTACH_COLLAPSE_H
#define PROCESS_ATTACH_COLLAPSE_H

#include <go2heapsnapshot/progress.h>

#include "process/attach/fork.h"

/*
 * Collapses memory that is nearly all resident already, so that the process takes hardly more
 * memory than before, and stops when memory becomes short. Returns how many bytes are huge pages
 * now; if there are none, *ret_error is the errno value of the reason: EPERM: it takes
 * CAP_SYS_NICE; ENOSYS, EINVAL: the kernel does not support it.
 */
uint64_t attach_collapse(struct attach_fork *fork, const struct g2h_progress *progress,
                         int *ret_error);

#endif
