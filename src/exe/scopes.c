/* scopes; see scopes.h. */
#include "exe/scopes.h"

#include <stdlib.h>

static uint64_t call_pc(const struct g2h_stackframe *frame)
{
    return frame->pc > frame->entry ? frame->pc - 1 : frame->pc;
}

/* Variables that are kept: of a function, and more of all functions together than of sane ones. */
enum { LOCALS_OF_SCOPE = 4096, LOCALS_MORE = 1 << 20, LOCALS_PER_FRAME = 64 };

/* How many of a scope's variables are made use of: each word of a frame is looked for in them. */
static uint32_t usable_locals(const struct scopes *scopes, uint32_t first)
{
    uint32_t count = 0, pieces = 0;
    while (first + count < scopes->locals.count) {
        pieces += scopes->locals.data[first + count].piece_count;
        if (pieces > LOCALS_OF_SCOPE)
            break;
        count++;
    }
    return count;
}

struct g2h_error *scopes_init(struct scopes *scopes, struct dwarf_info *debug, struct types *types,
                              const struct g2h_heap *heap, uint64_t slide)
{
    *scopes = (struct scopes){.by_pc = {0}};
    for (size_t i = 0; i < heap->frames.count; i++) {
        struct g2h_record record;
        uint32_t number = (uint32_t)scopes->list.count, first;
        g2h_heap_record(heap, G2H_RECORD_STACKFRAME, i, &record);
        const uint64_t pc = call_pc(&record.stackframe);
        if (!map_put(&scopes->by_pc, pc, number, &first))
            return &error_no_memory;
        if (first != number)
            continue;
        struct scope scope = {.first = (uint32_t)scopes->locals.count};
        const bool is_enough = scopes->locals.count + scopes->pieces.count >
                               LOCALS_MORE + LOCALS_PER_FRAME * heap->frames.count;
        struct g2h_error *error = is_enough ? NULL
                                            : dwarf_info_locals(debug, types, pc - slide,
                                                                &scopes->locals, &scopes->pieces);
        if (error)
            return error;
        scope.count = usable_locals(scopes, scope.first);
        if (!vector_push(&scopes->list, scope))
            return &error_no_memory;
    }
    return NULL;
}

void scopes_deinit(struct scopes *scopes)
{
    map_deinit(&scopes->by_pc);
    free(scopes->list.data);
    free(scopes->locals.data);
    free(scopes->pieces.data);
    *scopes = (struct scopes){.by_pc = {0}};
}

const struct dwarf_local *scopes_locals(const struct scopes *scopes,
                                        const struct g2h_stackframe *frame, uint32_t *ret_count)
{
    const uint32_t number = map_get(&scopes->by_pc, call_pc(frame));
    *ret_count = number == MAP_NONE ? 0 : scopes->list.data[number].count;
    return *ret_count == 0 ? NULL : scopes->locals.data + scopes->list.data[number].first;
}
