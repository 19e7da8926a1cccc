/*
 * memory_use: the memory that the process had from the system, and its uses.
 *
 * The numbers of the dump's MemStats are the runtime's. RSS and its parts (struct g2h_memory) are
 * known only for a live process.
 *
 * outside_holders: which fields and variables point to memory outside of the heap.
 *
 * The graph has an edge for each pointer into a mapping. If a holder, such as a field of a type,
 * points into a mapping, the mapping's resident size counts for the holder, once. Garbage and the
 * runtime's own holders are left out. Fields and variables come before elements of slices and maps,
 * which are described by the holder of the first one. The list of all mappings that packages
 * syscall and x/sys/unix keep is reported only if the program has no pointer of its own.
 */
#ifndef FINDINGS_MEMORY_USE_H
#define FINDINGS_MEMORY_USE_H

#include "findings/findings.h"

/* ---- memory_use ---- */

/* Returns whether RSS and its parts are known. */
bool memory_has_resident(const struct findings *findings);

/* Returns the numbers of MemStats (enum g2h_memstats_number), or NULL if they are not known. */
const uint64_t *memory_stats(const struct findings *findings);

/* The memory that the runtime had from the system by these numbers, without what it has returned,
 * and its uses. */
struct memory_use {
    uint64_t bytes, objects, free, stacks, runtime;
};

struct memory_use memory_use_of(const uint64_t *stats);

/* Returns how many percent of whole some bytes are. */
uint64_t memory_percent(uint64_t bytes, uint64_t whole);

/* Returns the bytes of a part of RSS, whose parts must be known, that are not in the graph: stacks
 * of goroutines are. */
uint64_t memory_beside(const struct findings *findings, enum g2h_memory_part part);

/* Returns whether objects and goroutines' stacks are less than half of the resident memory: then a
 * report begins with that, unless it is about growth. *ret becomes the part that is largest then,
 * other than programs. With a base it is false. */
bool memory_is_outside(const struct findings *findings, enum g2h_memory_part *ret);

/* The same with a base, too. */
bool memory_is_mostly_outside(const struct findings *findings, enum g2h_memory_part *ret);

/* ---- outside_holders ---- */

enum { OUTSIDE_MOST = 3 };

struct outside_holders {
    struct {
        struct text name; /* main.cache.data, or a path to an element */
        uint64_t bytes;   /* resident, of the mappings that it points into */
    } list[OUTSIDE_MOST];
    size_t count;
};

/* Finds the holders that point to a twentieth or more of a part of RSS: of mapped files, or of
 * anonymous memory that is not Go's; other parts have none. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *outside_holders_find(const struct findings *findings, enum g2h_memory_part part,
                                       struct outside_holders *ret);

void outside_holders_deinit(struct outside_holders *holders);

#endif
