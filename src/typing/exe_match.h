/* exe_match: declarations that exe_match.c shares with the code that looks up the variables of
 * frames; g2h_exe_match() is in include/go2heapsnapshot/match.h. */
#ifndef TYPING_EXE_MATCH_H
#define TYPING_EXE_MATCH_H

#include <go2heapsnapshot/match.h>

#include "base/memory.h"
#include "heap/heap.h"

/* Returns a program counter within a frame's current call. The frame's pc is the return address,
 * which may be in another scope. */
static inline uint64_t match_call_pc(const struct heap_stack_frame *frame)
{
    return frame->pc > frame->entry ? frame->pc - 1 : frame->pc;
}

struct match_pcs {
    VECTOR(uint64_t) list;
};

/* Finds the program counters within the calls of all frames, each once, in any order;
 * free(ret->list.data) frees them. Error: G2H_ERROR_MEMORY. */
struct g2h_error *match_find_pcs(const struct g2h_heap *heap, struct match_pcs *ret);

#endif
