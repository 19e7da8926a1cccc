/*
 * death_spill: copies pages of a process at its end (death_copy.h) to a file, if there is no memory
 * for them.
 *
 * They go through a small buffer, and the file is mapped where their copy would be, so that all
 * that reads the copy need not know. The kernel drops pages of the file as it needs their memory.
 */
#ifndef PROCESS_ATTACH_DEATH_SPILL_H
#define PROCESS_ATTACH_DEATH_SPILL_H

#include "process/attach/copy.h"

struct death_spill {
    int file;                         /* -1: none */
    uint64_t most, size;              /* bytes that may be written to it, and that have been */
    const struct attach_space *space; /* of the copy */
};

/* Copies pages of a process, of which a thread is given, and adds those that could be read to
 * memory. Returns how many bytes the file does not take. */
uint64_t death_spill(struct death_spill *spill, uint64_t thread, const struct attach_pages *pages,
                     struct memory *memory, struct attach_copied *ret);

#endif
