/* collapse; see collapse.h. */
#include "process/attach/collapse.h"

#ifdef __linux__

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/scope.h"
#include "process/attach/pages.h"

/* Not all C libraries have these. */
enum { CALL_PIDFD_OPEN = 434, CALL_PROCESS_MADVISE = 440, ADVICE_COLLAPSE = 25 };

#define HUGE_PAGE (2ull << 20)

/* How much of a huge page has to be resident. */
#define ENOUGH (HUGE_PAGE / 8 * 7)

enum { BLOCKS_BETWEEN_LOOKS = 16 };

struct collapse {
    struct attach_fork *fork;
    const struct g2h_progress *progress;
    int process;                     /* a descriptor */
    uint64_t done, collapsed, total; /* bytes */
    uint64_t blocks;
    int error; /* of the last block that could not be collapsed */
    bool is_over;
};

/* Asks the kernel to make one huge page of its small pages. Checks now and then whether there still
 * is memory. */
static void collapse_block(struct collapse *collapse, uint64_t address)
{
    const struct iovec range = {(void *)(uintptr_t)address, (size_t)HUGE_PAGE};
    if (collapse->blocks++ % BLOCKS_BETWEEN_LOOKS == 0) {
        collapse->is_over = !attach_fork_may_stay(collapse->fork);
        if (collapse->progress)
            collapse->progress->update(collapse->progress->context, "collapsing", collapse->done,
                                       collapse->total, 0);
    }
    if (collapse->is_over)
        return;
    if (syscall(CALL_PROCESS_MADVISE, collapse->process, &range, 1, ADVICE_COLLAPSE, 0) > 0) {
        collapse->collapsed += HUGE_PAGE;
        return;
    }
    collapse->error = errno;
    collapse->is_over = errno == EPERM || errno == ENOSYS || errno == ESRCH;
}

/* Collapses the huge pages that are resident enough. Runs of pages ascend, and one huge page may
 * consist of several: `there` adds up its resident bytes. */
static void collapse_pages(struct collapse *collapse, const struct attach_pages *pages)
{
    uint64_t block = 0, there = 0;
    for (size_t i = 0; i < pages->runs.count && !collapse->is_over; i++) {
        const struct attach_run *run = &pages->runs.data[i];
        if (run->kind != ATTACH_WRITTEN)
            continue;
        collapse->done += run->size;
        for (uint64_t at = run->address, next; at < run->address + run->size; at = next) {
            const uint64_t end = run->address + run->size, limit = (at / HUGE_PAGE + 1) * HUGE_PAGE;
            next = end < limit ? end : limit;
            there = at / HUGE_PAGE == block ? there : 0;
            block = at / HUGE_PAGE;
            const uint64_t before = there;
            there += next - at;
            if (before < ENOUGH && there >= ENOUGH && !collapse->is_over)
                collapse_block(collapse, block * HUGE_PAGE);
        }
    }
}

uint64_t attach_collapse(struct attach_fork *fork, const struct g2h_progress *progress,
                         int *ret_error)
{
    _cleanup_(attach_pages_deinit) struct attach_pages pages = {0};
    struct collapse collapse = {.fork = fork, .progress = progress};
    collapse.error = attach_pages_find(fork->pid, &pages);
    collapse.process = (int)syscall(CALL_PIDFD_OPEN, (pid_t)fork->pid, 0);
    if (collapse.process < 0)
        collapse.error = errno;
    else if (collapse.error == 0) {
        collapse.total = pages.resident;
        collapse_pages(&collapse, &pages);
    }
    if (collapse.process >= 0)
        close(collapse.process);
    fork->left = 0; /* attach_fork_may_stay() starts anew for the fork */
    fork->was_short = false;
    *ret_error = collapse.error;
    return collapse.collapsed;
}

#endif
