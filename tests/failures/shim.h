/* shim: what the library of that name and its driver share. */
#ifndef FAILURES_SHIM_H
#define FAILURES_SHIM_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of calls that may fail. */
enum failure_kind {
    FAILURE_MEMORY, /* malloc and its like */
    FAILURE_MAP,    /* mmap, mremap */
    FAILURE_THREAD, /* pthread_create */
    FAILURE_WRITE,  /* but to standard error */
    FAILURE_FILE,   /* all else that is done to files, but closing them */
    FAILURE_KINDS,
};
#define FAILURE_NAMES \
    { \
        "memory", "map", "thread", "write", "file" \
    }

/* At the end of the program: how many calls of each kind there were; what is left. */
struct failure_report {
    uint64_t calls[FAILURE_KINDS];
    int64_t blocks, mapped, files; /* mapped: pages */
};

#endif
