/* threads: which thread of the process runs which M of Go's, and where a goroutine was stopped. */
#ifndef PROCESS_THREADS_H
#define PROCESS_THREADS_H

#include "base/map.h"
#include "process/unwind.h"

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
