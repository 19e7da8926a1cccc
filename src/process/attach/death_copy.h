/*
 * death_copy: copies the memory of a process that has stopped at its end (death.h).
 *
 * Of a process that the kernel ends for lack of memory, the kernel takes the pages about two
 * seconds later, whoever still looks at them (oom_reaper). So memory for the copy is got while the
 * process lives, and what is worth most is copied first: what is outside of the Go heap, which has
 * the runtime's tables and the global variables; then stacks, spans with pointers, other spans.
 * What the kernel took, or does not fit in a limit, is missing in the copy, and counted.
 */
#ifndef PROCESS_ATTACH_DEATH_COPY_H
#define PROCESS_ATTACH_DEATH_COPY_H

#include "process/attach/attach.h"
#include "process/attach/death.h"
#include "process/attach/space.h"

/* What a part of the Go heap has, in the order in which it is copied. */
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
    /* Finds the parts of the heap in the memory outside of it; in any order. Returns false if
     * memory runs out. NULL: not known. */
    bool (*find)(void *context, const struct memory *memory, struct death_parts *ret);
    void *context;
};

/* Memory that was got for a copy. */
struct death_reserve {
    struct attach_space space;
    uint64_t most;    /* bytes that may be copied */
    uint64_t enough;  /* bytes that the process cannot exceed; 0: not known */
    uint64_t touched; /* bytes that were got */
    uint64_t wanted;  /* bytes that were to be got: the process's, and some more to grow */
    bool is_refused;  /* there was no memory to spare for the rest */
};

/*
 * Gets memory for a copy of a process that runs, and for what it may grow by: a quarter, but no
 * more than reserve->most and reserve->enough. Does not take what this program's control groups or
 * the machine do not have to spare, and stops when SIGCHLD, blocked, comes. To be called again when
 * the process has grown. Returns 0 or an errno value; ENOMEM: not even the addresses can be had.
 * *reserve goes to death_reserve_deinit().
 */
int death_reserve(uint64_t pid, const struct range *heap, struct death_reserve *reserve);
void death_reserve_deinit(struct death_reserve *reserve);

/* What a copy of a dying process lacks. */
struct death_loss {
    uint64_t lost;    /* bytes that could not be read any more */
    uint64_t limited; /* bytes that were not to be copied, by reserve->most */
    bool is_late;     /* the kernel had begun to take pages before it was known which there are:
                         more may be lost than is counted */
};

/*
 * Copies the memory of a process that has stopped at its end and the registers of its one thread,
 * into what was reserved, which *ret owns then. expected is how many bytes, files left out, it had
 * shortly before. Does not let it go. *account->name is the name of
 * the process. Returns 0 or an errno value. *ret goes to process_deinit() in any case.
 */
int death_copy(const struct death_watch *watch, const struct death_order *order, uint64_t expected,
               struct death_reserve *reserve, struct process *ret, struct attach_account *account,
               struct death_loss *loss);

#endif
