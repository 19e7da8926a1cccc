/*
 * death_reserve: memory for the copy of a process that may come to its end (death_copy.h), which is
 * allocated while it lives: at its end there may be none.
 *
 * It is at the positions of what is copied first: memory outside the Go heap, stacks, spans with
 * pointers. Spans without pointers, up to half of a heap, and free memory get theirs at the end, so
 * that less is held all the time.
 */
#ifndef PROCESS_ATTACH_DEATH_RESERVE_H
#define PROCESS_ATTACH_DEATH_RESERVE_H

#include "process/attach/process.h"
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

/* Compares the addresses of two parts, for vector_sort(). */
int death_part_compare(const void *a, const void *b);
void death_parts_deinit(struct death_parts *parts);

/* The order in which memory is copied. */
struct death_order {
    struct range heap; /* addresses that only the Go heap has */
    /* Finds the parts of the heap in the memory outside it; in any order. Returns false if memory
     * runs out. NULL: not known. */
    bool (*find)(void *context, const struct memory *memory, struct death_parts *ret);
    void *context;
    unsigned after;      /* as in struct attach_options: memory that is left for what follows */
    int spill;           /* an empty file for what memory has no space for; -1: none */
    uint64_t spill_most; /* bytes that may be written to it */
    uint64_t expected;   /* bytes, without files, that the process had shortly before */
};

/* Memory allocated for a copy. */
struct death_reserve {
    struct attach_space space;
    uint64_t most;    /* bytes that may be copied */
    uint64_t enough;  /* bytes that the process cannot exceed; 0: not known */
    uint64_t touched; /* bytes allocated */
    uint64_t margin;  /* bytes for growth until the next call; the caller's */
    uint64_t wanted;  /* bytes to allocate, the margin included */
    uint64_t later;   /* bytes of the process for which none are allocated until it dies */
    bool is_shared;   /* enough is this program's limit, too: the process would lack what is
                         allocated */
    bool is_refused;  /* there was no memory to spare for the rest */
};

/*
 * Allocates memory for a copy of a running process: for what is copied first by the order, which is
 * all but objects without pointers and free memory of the heap, and for reserve->margin bytes of
 * growth; but no more than reserve->most and reserve->enough. Leaves alone memory that this
 * program's control groups or the machine do not have to spare, and stops when a signal, blocked,
 * is pending that reports an event or ends the program. Call it again when the process has grown.
 * Returns 0 or an errno value; ENOMEM: not even the address space is available. *reserve goes to
 * death_reserve_deinit().
 */
int death_reserve(uint64_t pid, const struct death_order *order, struct death_reserve *reserve);
void death_reserve_deinit(struct death_reserve *reserve);

/* Makes a space for pages and for the slow ones, unless the existing one holds them. Returns false
 * if there are no addresses. */
bool death_reserve_space(struct death_reserve *reserve, const struct attach_pages *pages);

/* Returns how many bytes of pages are in memory that was reserved: it may have been reserved for
 * others that the process had then. */
uint64_t death_reserve_present(const struct death_reserve *reserve,
                               const struct attach_pages *pages);

/* Gives the memory back to the system, but not the space: it is not where what matters most comes,
 * and its huge pages would take more than there is. */
void death_reserve_give_back(struct death_reserve *reserve);

/* Returns how much memory may be allocated besides. *ret_is_group is whether a control group says
 * so. */
uint64_t death_reserve_left(bool *ret_is_group);

#endif
