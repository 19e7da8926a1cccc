/*
 * release: gives the memory of a copy back while the dump of it is written.
 *
 * What the dump has of the heap is not needed in the copy any more, so that both together take
 * little more than one of them. Memory goes back in blocks, each once the last span in it has been
 * written; what is not of the heap's arenas stays.
 */
#ifndef PROCESS_RELEASE_H
#define PROCESS_RELEASE_H

#include "process/spans.h"

struct release {
    const struct runtime *runtime;
    uint8_t *copy;
    size_t blocks;    /* 0: there is no copy */
    uint32_t *wanted; /* by block: bytes that are still needed */
};

/*
 * Prepares for all objects of a process to be written. Types and their masks that lie in the heap,
 * as those that reflect makes, stay there. *ret goes to release_deinit().
 * Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *release_init(struct release *ret, const struct runtime *runtime);

/* A span's objects, and what else it has, are not needed any more. Several threads may say so, each
 * of its own spans. */
void release_span(struct release *release, const struct span *span);

void release_deinit(struct release *release);

#endif
