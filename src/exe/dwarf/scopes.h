/*
 * scopes: the variables that functions have in memory at some program counters, by DWARF.
 *
 * DWARF is read once, when it is known which program counters are needed. From then on scopes are
 * constant.
 */
#ifndef DWARF_SCOPES_H
#define DWARF_SCOPES_H

#include "exe/dwarf/dwarf_info.h"

/* The variables at a program counter: locals [first, first + count). */
struct scope {
    uint32_t first, count;
    uint32_t inlined; /* string: the innermost function inlined there; UINT32_MAX: none */
};

/* The frames of a process whose variables are wanted. */
struct scopes_frames {
    const uint64_t *pcs; /* their distinct program counters, each of which is in a call */
    size_t pc_count;
    uint64_t count; /* of frames: it bounds the number of variables */
};

struct scopes {
    struct map by_pc; /* program counter → index in list */
    VECTOR(struct scope) list;
    dwarf_local_vector locals;
    dwarf_piece_vector pieces;
};

/*
 * Collects the variables of the frames: a few per frame are enough for any program that is not
 * damaged. slide is the distance from addresses of the file to those of the process. May add types.
 * Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *scopes_init(struct scopes *scopes, struct dwarf_info *dwarf_info,
                              struct types *types, const struct scopes_frames *frames,
                              uint64_t slide);

void scopes_deinit(struct scopes *scopes);

/* Returns the variables at a program counter, or NULL if there are none. */
const struct dwarf_local *scopes_locals(const struct scopes *scopes, uint64_t pc,
                                        uint32_t *ret_count);

/* Returns the innermost function that is inlined at a program counter (string), or UINT32_MAX if
 * there is none. */
uint32_t scopes_inlined(const struct scopes *scopes, uint64_t pc);

#endif
