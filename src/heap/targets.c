/* targets; see targets.h. */
#include "heap/targets.h"

#include <stdlib.h>

struct g2h_error *targets_init(struct targets *targets, const struct g2h_heap *heap)
{
    const uint32_t objects = heap->object_count;
    const size_t count = ((size_t)objects + BLOCK_OBJECTS - 1) >> BLOCK_SHIFT;
    *targets = (struct targets){.blocks = calloc(count + 1, sizeof(*targets->blocks))};
    if (!targets->blocks)
        return &error_no_memory;
    targets->block_count = count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t left = objects - ((uint32_t)i << BLOCK_SHIFT);
        targets->blocks[i].objects = left < BLOCK_OBJECTS ? left : BLOCK_OBJECTS;
    }
    return NULL;
}

void targets_deinit(struct targets *targets)
{
    for (size_t i = 0; i < targets->block_count; i++) {
        free(targets->blocks[i].targets);
        free(targets->blocks[i].starts);
        free(targets->blocks[i].outside);
    }
    free(targets->blocks);
    *targets = (struct targets){0};
}
