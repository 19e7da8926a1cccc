/*
 * unwind: the frames of a goroutine, as runtime/traceback.go walks over them.
 *
 * A walk is over when it has reached a function at which stacks begin (TopFrame), or one that
 * changes the stack pointer otherwise (SPWRITE); then it was complete.
 */
#ifndef PROCESS_UNWIND_H
#define PROCESS_UNWIND_H

#include "process/runtime.h"

/* Where a walk begins. */
struct unwind_start {
    uint64_t sp, pc, lr;
    bool is_syscall;          /* these are syscallsp and syscallpc */
    bool at_registers;        /* these are a thread's registers: it was stopped anywhere */
    const uint8_t *registers; /* all of them, in words of the process, then; NULL: not there */
    bool in_signal;           /* as a signal's frame has them; else as NT_PRSTATUS does */
};

/* What is known of the function at a pc. */
struct unwind_function {
    uint64_t pc;    /* 0: nothing */
    uint64_t index; /* of the function in the pclntab */
    uint64_t entry;
    uint64_t delta; /* bytes of its frame at the pc */
    struct pclntab_function record;
    int32_t map; /* PCDATA_StackMapIndex, by the pc before */
    enum unwind_kind {
        UNWIND_PLAIN,
        UNWIND_SIGPANIC,
        UNWIND_ASYNC_PREEMPT,
        UNWIND_DEBUG_CALL,
        UNWIND_CGOCALLBACK
    } kind;
};

struct unwind_frame {
    uint64_t sp, fp, pc, continpc, varp, argp;
    const struct unwind_function *function;
    bool is_conservative; /* it was stopped at no safe point: any of its words may be a pointer */
};

enum { UNWIND_FUNCTIONS = 1 << 12 };

struct unwinder {
    struct runtime *runtime;
    uint64_t low, high; /* of the stack */
    bool usual_lr;      /* calls leave the return address in a register */
    unsigned minimum;   /* bytes between a frame's end and the arguments */
    unsigned pushed;    /* bytes that a signal puts between an interrupted frame and what it calls:
                           goarch.MinFrameSize,    of StackAlign */
    struct unwind_frame frame;
    uint64_t lr;
    bool is_innermost, is_syscall;
    bool is_complete;    /* once it is over */
    uint64_t stack_left; /* bytes that frames may have yet, of all walks: stacks do not overlap */
    uint64_t table_left; /* bytes of the pclntab that may be read yet */
    struct unwind_function seen[UNWIND_FUNCTIONS]; /* by hash of the pc */
    struct unwind_function current;
};

/* A walk over the stacks of a machine; nothing is to be freed. */
void unwinder_init(struct unwinder *unwinder, struct runtime *runtime);

/* Goes to the innermost frame of a stack, which lies in [low, high). False where there is none. */
bool unwind_first(struct unwinder *unwinder, uint64_t low, uint64_t high,
                  const struct unwind_start *start);

/* Goes to the frame's caller. False where there is none, or it cannot be found. */
bool unwind_next(struct unwinder *unwinder);

#endif
