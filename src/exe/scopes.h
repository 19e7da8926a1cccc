/*
 * scopes: the variables that are in the frames of a heap, by DWARF.
 *
 * Asked of DWARF once, when an executable has been matched; from then on constant.
 */
#ifndef EXE_SCOPES_H
#define EXE_SCOPES_H

#include "exe/dwarf_info.h"
#include "heap/heap.h"

/* The variables that are in memory at some pc: locals [first, first + count). */
struct scope {
    uint32_t first, count;
};

struct scopes {
    struct map by_pc; /* → scope */
    VECTOR(struct scope) list;
    dwarf_local_vector locals;
    dwarf_piece_vector pieces;
};

/* Collects them for all frames; may add types. Error: G2H_ERROR_MEMORY. */
struct g2h_error *scopes_init(struct scopes *scopes, struct dwarf_info *debug, struct types *types,
                              const struct g2h_heap *heap, uint64_t slide);
void scopes_deinit(struct scopes *scopes);

/* Those of a frame; NULL where there are none. */
const struct dwarf_local *scopes_locals(const struct scopes *scopes,
                                        const struct g2h_stackframe *frame, uint32_t *ret_count);

#endif
