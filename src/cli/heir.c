/* heir; see heir.h. */
#include "cli/heir.h"

#ifdef __linux__ /* as at_death.c */

#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <go2heapsnapshot/process.h>

#include "library/origin.h"
#include "process/attach/child_processes.h"

void heir_begin(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L); /* without it they are not found */
}

/* Returns whether a process was found before to run no Go program. It may run another one since:
 * then its image is another one, too. */
static bool is_other(const struct heirs *heirs, uint64_t image)
{
    for (unsigned i = 0; i < HEIR_KNOWN && i < heirs->count; i++)
        if (heirs->others[i] == image)
            return true;
    return false;
}

/* An executable is opened once, because this is called several times a second. A child that a shell
 * has just forked is the shell until it calls execve(). */
uint64_t heir_find(struct heirs *heirs, uint64_t except, bool is_quick, bool *ret_others)
{
    enum { MOST = HEIR_KNOWN };
    uint64_t children[MOST];
    const uint64_t own = (uint64_t)getpid();
    const size_t count =
        is_quick ? children_find_quickly(own, children, MOST) : children_find(own, children, MOST);
    *ret_others = false;
    for (size_t i = 0; i < count; i++) {
        const uint64_t image = children[i] != except ? g2h_process_image(children[i]) : 0;
        if (image == 0) /* it has ended */
            continue;
        *ret_others = true;
        if (is_other(heirs, image))
            continue;
        if (origin_is_go(children[i]) && !origin_is_go_command(children[i]))
            return children[i];
        heirs->others[heirs->count++ % HEIR_KNOWN] = image;
    }
    return 0;
}

#endif
