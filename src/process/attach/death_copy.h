/*
 * death_copy: copies the memory of a process that has stopped at its end (death.h).
 *
 * When the kernel ends a process for lack of memory, it reclaims the pages about two seconds later,
 * even if they are still being read (oom_reaper). So memory for the copy is allocated while the
 * process lives, and the most useful memory is copied first: memory outside the Go heap, which has
 * the runtime's tables and the global variables; then stacks, spans with pointers, other spans.
 * Memory that the kernel reclaimed, or that exceeds a limit, is missing in the copy, and counted.
 */
#ifndef PROCESS_ATTACH_DEATH_COPY_H
#define PROCESS_ATTACH_DEATH_COPY_H

#include "process/attach/attach.h"
#include "process/attach/death.h"
#include "process/attach/space.h"

/* The contents of a part of the Go heap, in the order in which they are copied. */
enum death_rank { DEATH_STACKS, DEATH_POINTERS, DEATH_OTHER, DEATH_NOSCAN, DEATH_RANKS };

struct death_part {
    uint64_t address, size;
    enum death_rank rank;
};

struct death_parts {
    struct death_part *data;
    size_t count, capacity;
};

/* The order in which memory is copied. */
struct death_order {
    struct range heap; /* addresses that only the Go heap has */
    /* Finds the parts of the heap in the memory outside it; in any order. Returns false if memory
     * runs out. NULL: not known. */
    bool (*find)(void *context, const struct memory *memory, struct death_parts *ret);
    void *context;
};

/* Memory allocated for a copy. */
struct death_reserve {
    struct attach_space space;
    uint64_t most;    /* bytes that may be copied */
    uint64_t enough;  /* bytes that the process cannot exceed; 0: not known */
    uint64_t touched; /* bytes allocated */
    uint64_t wanted;  /* bytes to allocate: the process's, and some more for growth */
    bool is_refused;  /* there was no memory to spare for the rest */
};

/*
 * Allocates memory for a copy of a running process, and for its possible growth: a quarter, but no
 * more than reserve->most and reserve->enough. Leaves alone memory that this program's control
 * groups or the machine do not have to spare, and stops when SIGCHLD, blocked, is pending. Call it
 * again when the process has grown. Returns 0 or an errno value; ENOMEM: not even the address space
 * is available. *reserve goes to death_reserve_deinit().
 */
int death_reserve(uint64_t pid, const struct range *heap, struct death_reserve *reserve);
void death_reserve_deinit(struct death_reserve *reserve);

/* What a copy of a dying process lacks. */
struct death_loss {
    uint64_t lost;    /* bytes that could not be read any more */
    uint64_t limited; /* bytes beyond reserve->most */
    bool is_late;     /* the kernel had begun to reclaim pages before they were listed: more may be
                         lost than is counted */
};

/*
 * Copies the memory of a process that has stopped at its end and the registers of its one thread,
 * into the reserve, which *ret then owns. expected is the number of bytes, without files, that it
 * had shortly before. Does not let it continue. *account->name is the name of the process. Returns
 * 0 or an errno value. *ret goes to process_deinit() in any case.
 */
int death_copy(const struct death_watch *watch, const struct death_order *order, uint64_t expected,
               struct death_reserve *reserve, struct process *ret, struct attach_account *account,
               struct death_loss *loss);

#endif
