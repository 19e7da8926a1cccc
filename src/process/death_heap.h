/*
 * death_heap: where the Go heap of a process is, and the ranks of its parts (death.h).
 *
 * The addresses of the runtime's tables are found while the process lives; its spans, at its end.
 */
#ifndef PROCESS_DEATH_HEAP_H
#define PROCESS_DEATH_HEAP_H

#include "process/attach/death.h"
#include "process/runtime.h"

struct death_heap {
    bool is_known;          /* otherwise the parts are not known */
    struct runtime runtime; /* the layout and the addresses of the variables only */
    struct range range;     /* of addresses; a guess unless is_known */
    uint16_t machine;       /* EM_… */
};

/* Finds the heap of a running process, without stopping it. exe is its executable. If its runtime
 * is not ready, as just after the start, ret->is_known is not set. Errors: G2H_ERROR_SYSTEM: it may
 * not be read, or has ended; G2H_ERROR_NOT_DUMP; G2H_ERROR_NOT_EXE: exe is not its executable, or
 * of an unknown release; G2H_ERROR_MEMORY. */
struct g2h_error *death_heap_find(uint64_t pid, struct g2h_exe *exe, struct death_heap *ret);

/* A function of struct death_order; context is the heap. */
bool death_heap_parts(void *context, const struct memory *memory, struct death_parts *ret);

#endif
