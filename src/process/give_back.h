/*
 * give_back: returns the memory of a copy to the system while the dump of it is written.
 *
 * The copy does not need the parts of the heap that are already in the dump, so both together take
 * little more memory than one of them. Memory is returned in blocks, each block once the last span
 * in it has been written; memory outside the heap's arenas stays.
 */
#ifndef PROCESS_GIVE_BACK_H
#define PROCESS_GIVE_BACK_H

#include "process/pointer_masks.h"
#include "process/spans.h"

struct release {
    const struct runtime *runtime;
    uint8_t *copy;
    size_t blocks;    /* 0: there is no copy */
    uint32_t *wanted; /* by block: bytes that are still needed */
    bool *kept;       /* by block: it is not returned */
};

/*
 * Prepares for writing all objects of a process. Types and their masks in the heap, such as those
 * that reflect makes, stay there; masks that they lack are made of other types now. *ret goes to
 * release_deinit(). Errors: G2H_ERROR_MEMORY.
 */
struct g2h_error *release_init(struct release *ret, struct type_masks *masks);

/* Notes that the bytes at [address, address + size) are needed after all objects have been
 * written. */
void release_keep(struct release *release, uint64_t address, uint64_t size);

/* Notes that the bytes of a span are no longer needed. Several threads may call it, each for its
 * own spans. */
void release_span(struct release *release, const struct span *span);

void release_deinit(struct release *release);

#endif
