/*
 * attach: the memory and the registers of a running process.
 *
 * It stops all threads of the process, copies their memory and registers, and lets them continue.
 * The stop lasts about as long as the copying, and changes nothing in the process. Everything else
 * is read from the copy afterwards, while the process runs.
 *
 *   attach              calls these; refuse: why a process cannot be read
 *   stop                stops threads and reads registers, with real-time priority; ends this
 *                       program if it stands still meanwhile
 *   fork, inject, inject_amd64
 *                       a copy of the process by a fork from outside, which is read instead
 *   death               stops a process at its end, and copies its most useful memory first, to
 *                       memory or a file
 *   pages, copy         the pages to copy, address space for them; copying them, and what else is
 *                       known of the process
 *   available           whether there is memory for the copy; counts of OOM kills
 *   process             the result, also of process/read.h; the child's memory, read on demand, if
 *                       there is no memory for a copy
 *   procfs              files of /proc: mapped files, processes that a process has started
 */
#ifndef PROCESS_ATTACH_ATTACH_H
#define PROCESS_ATTACH_ATTACH_H

#include <go2heapsnapshot/progress.h>

#include "process/attach/inject.h"
#include "process/attach/process.h"

/* In place of the bytes of a dump, if they are not known: about as many as the copy has. */
#define ATTACH_LIKE_COPY UINT64_MAX

struct attach_options {
    unsigned after;      /* see attach_copy() */
    uint64_t after_most; /* what follows takes at most so many bytes; 0: not known */
    uint64_t dump;       /* so many bytes of a dump are mapped beside the copy */
    const struct g2h_progress *progress; /* NULL: none */
    bool forks;                 /* the process is forked, if possible, and the child is copied */
    bool collapses;             /* before that, its memory is collapsed into huge pages
                                   (fork.h) */
    struct inject_code code;    /* for a fork */
    struct attach_space *space; /* memory that was allocated before, and is used up; NULL: none */
    void (*around)(void *context, bool begins); /* called just before the process is traced, and
                                                   once it is not any more; or NULL */
    void *context;
};

struct attach_account {
    char name[32]; /* "process 1234" */
    unsigned threads;
    unsigned stuck;        /* threads without registers, because they were deep in the kernel */
    unsigned in_vfork;     /* of these, threads that wait for a child of vfork(2) */
    bool is_frozen;        /* because their control group is frozen */
    uint64_t bytes, reads; /* bytes copied, and the number of system calls for them */
    uint64_t unreadable;   /* bytes that could not be copied */
    int urgent_error;      /* why the threads that stopped and copied it had no real-time priority:
                              an errno value; 0: they had */
    double stopped_seconds, copy_seconds;
    bool is_forked;       /* copy_seconds is the lifetime of the child */
    bool is_window;       /* the child is read through a window, until attach_finish() */
    uint64_t collapsed;   /* bytes that were collapsed into huge pages for the fork, or were huge
                             pages before */
    int collapse_error;   /* why not all were, an errno value; 0: all were */
    bool is_left;         /* the child is a zombie of the process */
    char not_forked[200]; /* why the requested fork was not used; "": it was, or none was
                             requested */
};

/*
 * Stops all threads of a process, copies its resident memory and its threads' registers, and lets
 * it continue. Untouched anonymous memory is in *ret too, as zeros, which is what it contains, so
 * no object has holes. *ret goes to process_deinit(); its name is that of *ret_account. The phases
 * of progress are "preparing", while the process still runs, and "copying", while it is stopped.
 * There must be memory for the copy and, once the copy is gone, for the processing of the records:
 * options->after percent of the resident memory. If options->forks, it is stopped only for a fork
 * (fork.h), and the child is copied; if it cannot be forked, it is copied itself. If there is no
 * memory for the copy, but enough for a window (process.h), the child is read through that until
 * attach_finish(). options may be NULL.
 *
 * Errors: G2H_ERROR_SYSTEM: the process cannot be read; the message says what to do about it;
 * G2H_ERROR_NOT_DUMP: processes of this kind are not supported; G2H_ERROR_MEMORY.
 */
struct g2h_error *attach_copy(uint64_t pid, const struct attach_options *options,
                              struct process *ret, struct attach_account *ret_account);

/* Ends the child that the memory of a process is read from, if there is one; after that its memory
 * must not be read any more. Records in account what was read. Returns an error if some memory
 * could not be read, so that the results are worthless. */
struct g2h_error *attach_finish(struct process *process, struct attach_account *account);

#endif
