/*
 * unwind: where a goroutine was stopped, on which thread, and its frames from there.
 */
#ifndef PROCESS_UNWIND_H
#define PROCESS_UNWIND_H

#include "base/map.h"
#include "process/runtime.h"

/* ==== the frames of a goroutine, as runtime/traceback.go walks them ====
 *
 * A walk is complete when it has reached a function at which stacks begin (TopFrame), or one that
 * changes the stack pointer other than by calls (SPWRITE).
 */

/* The start of a walk. */
struct unwind_start {
    uint64_t sp, pc, lr;
    bool is_syscall;          /* sp and pc are syscallsp and syscallpc */
    bool is_saved;            /* they were saved by the runtime for a goroutine that is not
                                 running */
    bool at_registers;        /* they are of a thread stopped at an arbitrary instruction */
    const uint8_t *registers; /* then: all registers, in words; NULL: not there */
    bool in_signal;           /* in the order of a signal's frame; else of NT_PRSTATUS */
};

/* The function at a pc. */
struct unwind_function {
    uint64_t pc;              /* 0: no function */
    struct runtime_code code; /* which function it is */
    uint64_t entry;
    uint64_t delta; /* bytes of its frame at the pc */
    struct pclntab_function record;
    int32_t map; /* PCDATA_StackMapIndex at pc - 1 */
    enum unwind_kind {
        UNWIND_GO,
        UNWIND_SIGPANIC,
        UNWIND_ASYNC_PREEMPT,
        UNWIND_DEBUG_CALL,
        UNWIND_CGOCALLBACK
    } kind;
};

struct unwind_frame {
    uint64_t sp, fp, pc, continpc, varp, argp;
    const struct unwind_function *function;
    bool is_conservative; /* not stopped at a safe point: any of its words may be a pointer */
};

enum { UNWIND_FUNCTIONS = 1 << 12 };

struct unwinder {
    struct runtime *runtime;
    uint64_t low, high; /* of the stack */
    bool usual_lr;      /* calls leave the return address in a register */
    unsigned minimum;   /* bytes between a frame's end and the arguments */
    unsigned pushed;    /* bytes that a signal pushes between an interrupted frame and the function
                           it calls: goarch.MinFrameSize, rounded up to StackAlign */
    struct unwind_frame frame;
    uint64_t lr;
    bool is_innermost, is_syscall;
    bool is_complete;    /* valid once the walk is over */
    uint64_t stack_left; /* remaining bytes for frames of all walks: stacks do not overlap */
    uint64_t table_left; /* bytes of the pclntab that may still be read */
    struct unwind_function seen[UNWIND_FUNCTIONS]; /* by hash of the pc */
    struct unwind_function current;
};

/* Prepares for walks over the stacks of a process; nothing has to be freed. */
void unwinder_init(struct unwinder *unwinder, struct runtime *runtime);

/* Goes to the innermost frame of the stack [low, high). Returns false if there is none. */
bool unwind_first(struct unwinder *unwinder, uint64_t low, uint64_t high,
                  const struct unwind_start *start);

/* Goes to the frame's caller. Returns false if there is none, or if it cannot be found. */
bool unwind_next(struct unwinder *unwinder);

/* ==== which thread of the process runs which M of Go's, and where a goroutine was stopped ==== */

/* An M, the runtime's representation of a thread. */
struct thread_m {
    uint64_t address, id, procid, gsignal, vdso_sp, vdso_pc;
    const struct process_thread *thread; /* NULL: not known */
};

struct threads {
    struct runtime *runtime;
    const struct process_thread **by_sp; /* by stack pointer, ascending */
    VECTOR(struct thread_m) ms;          /* allm, in its order */
    struct map m_by_address;             /* → index in ms */
    struct map thread_by_id;             /* → index in the threads of the process */
    uint64_t words_left; /* words of signals' stacks that may still be read: they do not overlap */
};

/* Lists the Ms and finds their threads. Error: G2H_ERROR_MEMORY. */
struct g2h_error *threads_init(struct threads *threads, struct runtime *runtime);

void threads_deinit(struct threads *threads);

/* Finds the innermost frame of the goroutine at address g. */
void threads_find_start(struct threads *threads, uint64_t g, struct unwind_start *ret);

/* Finds register number index of a goroutine that was stopped at registers. *ret_name is "rax" or
 * the like. Returns false after the last register, and if start has no registers. */
bool threads_register(const struct threads *threads, const struct unwind_start *start,
                      unsigned index, const char **ret_name, uint64_t *ret);

#endif
