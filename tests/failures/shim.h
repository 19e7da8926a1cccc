/* shim: declarations that the preloaded library (shim.c) and its driver (drive.c) share. */
#ifndef FAILURES_SHIM_H
#define FAILURES_SHIM_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of calls that may fail. */
enum failure_kind {
    FAILURE_MEMORY, /* malloc and its like */
    FAILURE_MAP,    /* mmap, mremap */
    FAILURE_THREAD, /* pthread_create */
    FAILURE_WRITE,  /* write and its like, except to standard error */
    FAILURE_FILE,   /* all other calls on files, except close */
    FAILURE_KINDS,
};
#define FAILURE_NAMES \
    { \
        "memory", "map", "thread", "write", "file" \
    }

/* What there was at the end of the program: how many calls of each kind it made, and how many
 * blocks of memory, mapped pages and open files are left. */
struct failure_report {
    uint64_t calls[FAILURE_KINDS];
    int64_t blocks, mapped, files; /* mapped: pages */
};

#endif
