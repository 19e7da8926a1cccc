/*
 * death: stops a process at its end, while its memory still exists, and copies that memory (see
 * death_copy()).
 *
 * What the copy needs is made while the process lives: memory for the most useful part of it, and a
 * file for what there is no memory for.
 */
#ifndef ATTACH_DEATH_H
#define ATTACH_DEATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/attach/attach.h"
#include "process/attach/pages.h"
#include "process/attach/process.h"

/* ==== stops a process at its end, while its memory still exists ====
 *
 * One thread of the process is seized with PTRACE_O_TRACEEXIT, and nothing else changes: the thread
 * runs on, and stops only for signals that are delivered to it. When the process is killed, by any
 * sender, that thread stops in PTRACE_EVENT_EXIT before it gives up the memory, which all threads
 * share. It is normally the second thread, which runs no goroutines and gets no signals of the
 * scheduler (sysmon). If the tracer ends, the kernel detaches the thread and the process lives on.
 *
 * All functions must be called by the same thread of this program: the tracer.
 */

struct death_watch {
    uint64_t pid;
    pid_t thread;               /* the seized one; 0: none */
    bool is_stopped;            /* it has stopped at its end */
    int status;                 /* its exit status, as in waitpid(); valid if is_stopped, or if it
                                   has ended without that */
    bool is_alone;              /* only the thread ends: the process continues; valid if
                                   is_stopped */
    unsigned long signal_stops; /* how often it stopped for a signal */
};

/* Seizes a thread of watch->pid that is not about to end. Returns 0 or an errno value: ESRCH: the
 * process has ended, or is about to; EPERM: it may not be traced. */
int death_seize(struct death_watch *watch);

/* Seizes the first thread of a child of this program that has not called execve() yet. Returns 0 or
 * an errno value. */
int death_seize_child(struct death_watch *watch);

/* Seizes the second thread instead of the first one, if there is a second one by now. The first one
 * may turn out to have stopped at its end, as after death_note(). */
void death_prefer_second(struct death_watch *watch);

/* Returns whether a status of waitpid() reports an execve(), after which the process is still
 * stopped. */
bool death_is_exec(int wait_status);

/* Returns whether a result of waitpid() concerns the seized thread, which execve() may have given
 * another number. */
bool death_concerns(const struct death_watch *watch, pid_t id, int wait_status);

/* Processes a result of waitpid() for the thread, and lets it run on unless it has stopped at its
 * end: then watch->is_stopped. If it has ended without that, watch->thread is 0. */
void death_note(struct death_watch *watch, pid_t id, int wait_status);

/* Lets the thread run untraced; watch->thread becomes 0. If the thread has stopped at its end, does
 * nothing and returns false. */
bool death_let_run(struct death_watch *watch);

/* Lets the thread end, or run, untraced. watch->thread becomes 0. */
void death_let_go(struct death_watch *watch);

/* Returns whether the process has a thread that is not about to end, other than the given one,
 * which may be 0. */
bool death_is_alive(uint64_t pid, pid_t but);

/* ==== memory for the copy, which is allocated while the process lives ====
 *
 * It is at the positions of what is copied first: memory outside the Go heap, stacks, spans with
 * pointers. Spans without pointers, up to half of a heap, and free memory get theirs at the end, so
 * that less is held all the time.
 */

/* The contents of a part of the Go heap, in the order in which they are copied. */
enum death_rank { DEATH_STACKS, DEATH_POINTERS, DEATH_OTHER, DEATH_NOSCAN, DEATH_RANKS };

struct death_part {
    uint64_t address, size;
    enum death_rank rank;
};

struct death_parts {
    struct death_part *data;
    size_t count, capacity;
};

/* The order in which memory is copied. */
struct death_order {
    struct range heap; /* addresses that only the Go heap has */
    /* Finds the parts of the heap in the memory outside it; in any order. Returns false if memory
     * runs out. NULL: not known. */
    bool (*find)(void *context, const struct memory *memory, struct death_parts *ret);
    void *context;
    unsigned after;      /* as in struct attach_options: memory that is left for what follows */
    int spill;           /* an empty file for what memory has no space for; -1: none */
    uint64_t spill_most; /* bytes that may be written to it */
    uint64_t expected;   /* bytes, without files, that the process had shortly before */
};

/* Memory allocated for a copy. */
struct death_reserve {
    struct attach_space space;
    uint64_t most;    /* bytes that may be copied */
    uint64_t enough;  /* bytes that the process cannot exceed; 0: not known */
    uint64_t touched; /* bytes allocated */
    uint64_t margin;  /* bytes for growth until the next call; the caller's */
    uint64_t wanted;  /* bytes to allocate, the margin included */
    uint64_t later;   /* bytes of the process for which none are allocated until it dies */
    bool is_shared;   /* enough is this program's limit, too: the process would lack what is
                         allocated */
    bool is_refused;  /* there was no memory to spare for the rest */
};

/*
 * Allocates memory for a copy of a running process: for what is copied first by the order, which is
 * all but objects without pointers and free memory of the heap, and for reserve->margin bytes of
 * growth; but no more than reserve->most and reserve->enough. Leaves alone memory that this
 * program's control groups or the machine do not have to spare, and stops when a signal, blocked,
 * is pending that reports an event or ends the program. Call it again when the process has grown.
 * Returns 0 or an errno value; ENOMEM: not even the address space is available. *reserve goes to
 * death_reserve_deinit().
 */
int death_reserve(uint64_t pid, const struct death_order *order, struct death_reserve *reserve);

void death_reserve_deinit(struct death_reserve *reserve);

/* ==== copies the memory of a process that has stopped at its end ====
 *
 * When the kernel ends a process for lack of memory, it reclaims the pages about two seconds later,
 * even if they are still being read (oom_reaper). So memory for the copy is allocated while the
 * process lives, and the most useful memory is copied first: memory outside the Go heap, which has
 * the runtime's tables and the global variables; then stacks, spans with pointers, other spans.
 * Memory that the kernel reclaimed, that exceeds a limit, or for which there is no memory here, is
 * missing in the copy, and counted.
 */

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
