/* scopes; see scopes.h. */
#include "exe/dwarf/scopes.h"

#include <stdlib.h>

#include "base/scope.h"

/* The most pieces of variables that are used of a scope, since each word of a frame is looked up
 * among them, and the most variables and pieces of all scopes together. No undamaged program has as
 * many. */
enum { LOCALS_OF_SCOPE = 4096, LOCALS_MORE = 1 << 20, LOCALS_PER_FRAME = 64 };

/* Returns how many of a scope's variables, from the index first on, are used: as many as have
 * LOCALS_OF_SCOPE pieces together. */
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

/* Many frames share a program counter: the variables at each are read once. */
struct g2h_error *scopes_init(struct scopes *scopes, struct dwarf_info *dwarf_info,
                              struct types *types, const struct scopes_frames *frames,
                              uint64_t slide)
{
    const uint64_t *pcs = frames->pcs, most = LOCALS_MORE + LOCALS_PER_FRAME * frames->count;
    *scopes = (struct scopes){.by_pc = {0}};
    for (size_t i = 0; i < frames->pc_count; i++) {
        uint32_t number = (uint32_t)scopes->list.count, first;
        if (!map_put(&scopes->by_pc, pcs[i], number, &first))
            return &error_no_memory;
        if (first != number)
            continue;
        struct scope scope = {.first = (uint32_t)scopes->locals.count, .inlined = UINT32_MAX};
        if (scopes->locals.count + scopes->pieces.count <= most)
            TRY(dwarf_info_locals(dwarf_info, types, pcs[i] - slide, &scopes->locals,
                                  &scopes->pieces, &scope.inlined));
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

const struct dwarf_local *scopes_locals(const struct scopes *scopes, uint64_t pc,
                                        uint32_t *ret_count)
{
    const uint32_t number = map_get(&scopes->by_pc, pc);
    *ret_count = number == MAP_NONE ? 0 : scopes->list.data[number].count;
    return *ret_count == 0 ? NULL : scopes->locals.data + scopes->list.data[number].first;
}

uint32_t scopes_inlined(const struct scopes *scopes, uint64_t pc)
{
    const uint32_t number = map_get(&scopes->by_pc, pc);
    return number == MAP_NONE ? UINT32_MAX : scopes->list.data[number].inlined;
}
