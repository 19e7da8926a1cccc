/*
 * death_copy: copies the memory of a process that has stopped at its end (death.h).
 *
 * When the kernel ends a process for lack of memory, it reclaims the pages about two seconds later,
 * even if they are still being read (oom_reaper). So memory for the copy is allocated while the
 * process lives, and the most useful memory is copied first: memory outside the Go heap, which has
 * the runtime's tables and the global variables; then stacks, spans with pointers, other spans.
 * Memory that the kernel reclaimed, that exceeds a limit, or for which there is no memory here, is
 * missing in the copy, and counted.
 */
#ifndef PROCESS_ATTACH_DEATH_COPY_H
#define PROCESS_ATTACH_DEATH_COPY_H

#include "process/attach/attach.h"
#include "process/attach/death.h"
#include "process/attach/death_reserve.h"

/* What a copy of a dying process lacks. */
struct death_loss {
    uint64_t lost;    /* bytes that could not be read any more */
    uint64_t limited; /* bytes beyond reserve->most */
    uint64_t refused; /* bytes for which there was no memory */
    bool is_late;     /* the kernel had begun to reclaim pages before they were listed: more may be
                         lost than is counted */
};

/*
 * Copies the memory of a process that has stopped at its end and the registers of its one thread,
 * into the reserve, which *ret then owns. Does not let it continue. *account->name is the name of
 * the process. Returns 0 or an errno value. *ret goes to process_deinit() in any case.
 */
int death_copy(const struct death_watch *watch, const struct death_order *order,
               struct death_reserve *reserve, struct process *ret, struct attach_account *account,
               struct death_loss *loss);

#endif
