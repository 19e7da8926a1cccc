/* match: the declarations that match.c shares with the code that looks up the variables of frames;
 * g2h_exe_match() is in include/go2heapsnapshot/match.h. */
#ifndef TYPING_MATCH_H
#define TYPING_MATCH_H

#include <go2heapsnapshot/match.h>

#include "heap/heap.h"

/* Returns a program counter within the call that a frame is in. The frame's pc is the address that
 * the call returns to, which may be in another scope. */
static inline uint64_t match_call_pc(const struct frame *frame)
{
    return frame->pc > frame->entry ? frame->pc - 1 : frame->pc;
}

#endif
