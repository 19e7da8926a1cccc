/*
 * memory_use: the memory that the process had from the system, and its uses.
 *
 * The numbers of the dump's MemStats are the runtime's. RSS and its parts (struct g2h_memory) are
 * known only for a live process.
 */
#ifndef FINDINGS_MEMORY_USE_H
#define FINDINGS_MEMORY_USE_H

#include "findings/findings.h"

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

/* Returns whether objects are less than half of the resident memory: then a report begins with
 * that, unless it is about growth. *ret becomes the part that is largest then, other than programs.
 * With a base it is false. */
bool memory_is_outside(const struct findings *findings, enum g2h_memory_part *ret);

#endif
