/*
 * function_names: the functions of an executable by their names, to tell whether it has those of
 * the frames of a process, and where.
 */
#ifndef EXE_FUNCTION_NAMES_H
#define EXE_FUNCTION_NAMES_H

#include "base/map.h"
#include "exe/pclntab.h"

struct function_names {
    struct map index_of; /* name → index in the pclntab, FUNCTION_AMBIGUOUS */
};

/* Several functions have the name, as instances of a generic function do. */
#define FUNCTION_AMBIGUOUS (MAP_NONE - 1)

/* Error: G2H_ERROR_MEMORY; G2H_ERROR_NOT_EXE where the names are absurd. Whoever goes through the
 * names of all functions afterwards is done in time. */
struct g2h_error *function_names_init(struct function_names *names, const struct pclntab *pclntab);
void function_names_deinit(struct function_names *names);

/* The index of a function in the pclntab; FUNCTION_AMBIGUOUS; MAP_NONE where there is none. */
uint32_t function_names_find(const struct function_names *names, struct g2h_bytes name);

#endif
