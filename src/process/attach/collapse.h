/*
 * collapse: makes the memory of another process huge pages, while it runs.
 *
 * A fork copies the tables of pages, of which huge ones have 512 times fewer. The kernel copies 2
 * MB at a time to a new page (MADV_COLLAPSE, since Linux 6.1), on this program's processor time;
 * the process has to wait only when it wants memory from the system, or touches these 2 MB, at that
 * moment.
 */
#ifndef PROCESS_ATTACH_COLLAPSE_H
#define PROCESS_ATTACH_COLLAPSE_H

#include <go2heapsnapshot/progress.h>

#include "process/attach/fork.h"

/*
 * Collapses what is nearly all resident already, so that the process takes hardly more memory than
 * before, and ends when memory becomes short. Returns how many bytes are huge pages now; if there
 * are none, *ret_error is an errno value that says why: EPERM: it takes CAP_SYS_NICE; ENOSYS,
 * EINVAL: the kernel cannot do it.
 */
uint64_t attach_collapse(struct attach_fork *fork, const struct g2h_progress *progress,
                         int *ret_error);

#endif
