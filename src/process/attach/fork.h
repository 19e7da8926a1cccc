/*
 * fork: a copy of a live Go process that the kernel makes in milliseconds, by a fork from outside;
 * and huge pages for the process, so that its page tables are copied sooner.
 */
#ifndef ATTACH_FORK_H
#define ATTACH_FORK_H

#include <stddef.h>

#include <go2heapsnapshot/progress.h>

#include "base/ranges.h"
#include "process/attach/inject.h"

/* ==== a copy by a fork from outside ====
 *
 * This runs a system call inside a process that belongs to someone else, and these rules come
 * before all else:
 *
 *   R1  Whatever happens to this program at any instruction, even SIGKILL, the process continues
 *       unharmed.
 *   R2  The copy never runs the process's code.
 *   R3  No descriptor, lock or connection lives longer because of the copy.
 *   R4  The process gets no SIGCHLD, and keeps no zombie unless this program is killed; the next
 *       run removes that one.
 *   R5  The copy never brings the process closer to running out of memory than ending the copy
 *       makes up for.
 *
 * All threads of the process are stopped. One that sleeps in runtime.futex is borrowed for a
 * clone(2) (inject.h) with CLONE_FILES and CLONE_FS, so that the copy has no descriptors of its own
 * that would keep connections open (R3), and without an exit signal (R4). The copy, "the child", is
 * a tracee of this program from its first moment on, is stopped before its first instruction, and
 * is killed when its tracer ends, by PTRACE_O_EXITKILL (R2). Between its first moment and that
 * option this program may be killed: then the child does run, for two instructions, for its stack
 * leads from runtime.futex to runtime.exit. It is the OOM killer's first choice (oom_score_adj),
 * and it is ended before memory runs out (R5). At the end it is killed and waited for, and then the
 * process itself has to wait for it: by an injected wait4(2), in one thread, the only one stopped
 * for that. inject.h ensures R1.
 *
 * Whenever one of the rules might not be kept the process is not forked, and *refused says why. It
 * is then copied.
 */

struct attach_fork {
    uint64_t pid;
    struct inject_code code;
    pid_t child;          /* 0: none */
    uint64_t image;       /* g2h_process_image() at the time of the fork */
    uint64_t there;       /* the child's number in the process's own pid namespace */
    char refused[200];    /* why there is no child */
    bool may_come;        /* temporary: no thread sleeps, or a signal came */
    bool is_lost;         /* a thread does not respond, so that the tracer must end */
    uint64_t left;        /* memory that was left at the guard's last check; 0: none yet */
    bool was_short;       /* the child was ended because memory became short */
    struct ranges wiped;  /* memory that the child does not get (MADV_WIPEONFORK); the caller frees
                             it */
    uint64_t wiped_bytes; /* of it, what is resident or swapped */
    bool is_left;         /* the process could not be made to wait for the child */
};

/* Checks whether a running process may be forked, with enough memory for the pages that it will
 * write to meanwhile. If not, fork->refused says why. */
bool attach_fork_check(struct attach_fork *fork);

/* Finds in the contents of /proc/PID/smaps what a fork has to know of the mappings: in fork->wiped
 * those that the child would find empty. Returns false with the reason in fork->refused if one of
 * them forbids it. */
bool attach_fork_check_mappings(struct attach_fork *fork, const char *smaps);

/* Waits at most a second until a thread of the process seems to sleep where it can be borrowed.
 * Returns whether one does. */
bool attach_fork_await(const struct attach_fork *fork);

/*
 * Forks the process, all threads of which are stopped; call it, like all following functions, on
 * the tracer's thread. Returns whether there is a child, which the tracer's thread must pass to
 * attach_fork_end(). Otherwise fork->refused says why there is none.
 */
bool attach_fork_make(struct attach_fork *fork, struct tracee *tracees, size_t count);

/* Returns whether the child may be kept: the process has not ended, and its control groups and the
 * machine have memory left, and will have at the next check at the current rate. Call 100 times a
 * second; if it returns false, the tracer ends the child, and fork->was_short is the reason.
 * Relying on the OOM killer is not enough: before the child's memory is free, the kernel may end
 * the process, too. */
bool attach_fork_may_stay(struct attach_fork *fork);

/* Ends the child, and has the process wait for it, and for children left there by previous runs. */
void attach_fork_end(struct attach_fork *fork);

/* ==== makes the memory of another process huge pages, while it runs ====
 *
 * A fork copies the page tables, and huge pages have 512 times fewer entries. The kernel copies 2
 * MB at a time to a new page (MADV_COLLAPSE, since Linux 6.1), on this program's processor time;
 * the process has to wait only when it requests memory from the system, or touches these 2 MB, at
 * that moment.
 */

/*
 * Collapses memory that is nearly all resident already, so that the process takes hardly more
 * memory than before, and stops when memory becomes short. Returns how many bytes are huge pages
 * now; if there are none, *ret_error is the errno value of the reason: EPERM: it takes
 * CAP_SYS_NICE; ENOSYS, EINVAL: the kernel does not support it.
 */
uint64_t attach_collapse(struct attach_fork *fork, const struct g2h_progress *progress,
                         int *ret_error);

#endif
