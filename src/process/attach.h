/*
 * attach: the memory and the registers of a process that lives.
 *
 * All of its threads are stopped, what they have in memory is copied, and they go on: for about as
 * long as it takes to copy that, with nothing changed in the process. What was made of it is then
 * read at leisure.
 */
#ifndef PROCESS_ATTACH_H
#define PROCESS_ATTACH_H

#include <go2heapsnapshot/progress.h>

#include "process/process.h"

struct attach_account {
    char name[32]; /* "process 1234" */
    unsigned threads;
    unsigned stuck;        /* those whose registers are missing: they were deep in the kernel */
    uint64_t bytes, reads; /* that were copied, and system calls */
    uint64_t unreadable;   /* bytes that could not be */
    double stopped_seconds, copy_seconds;
};

/*
 * Stops all threads of a process, copies its resident memory and its threads' registers, and lets
 * it go on. Anonymous memory that nobody has touched is in *ret too: as zeros, which it is, so no
 * object has holes. *ret goes to process_deinit(); its name is that of *ret_account. Phases of
 * progress: "preparing" while it still runs, "copying" while it is stopped.
 *
 * Errors: G2H_ERROR_SYSTEM: it cannot be read, and what to do about it; G2H_ERROR_NOT_DUMP: it is
 * not of a kind that is read; G2H_ERROR_MEMORY.
 */
struct g2h_error *attach_copy(uint64_t pid, const struct g2h_progress *progress,
                              struct process *ret, struct attach_account *ret_account);

#endif
