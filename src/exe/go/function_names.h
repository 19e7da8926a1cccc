/*
 * function_names: finds functions of an executable by their names, to check that it has the
 * functions on the stacks of a process, and at which addresses.
 */
#ifndef EXE_GO_FUNCTION_NAMES_H
#define EXE_GO_FUNCTION_NAMES_H

#include "base/map.h"
#include "exe/go/pclntab.h"

struct function_names {
    struct map index_of; /* hash of a name → index in the pclntab, or FUNCTION_AMBIGUOUS */
};

/* Several functions have the name, as instances of a generic function do. */
#define FUNCTION_AMBIGUOUS (MAP_NONE - 1)

/* Indexes the names of all functions. Error: G2H_ERROR_MEMORY; G2H_ERROR_NOT_EXE if all names
 * together are much longer than the table, as they may be in a damaged executable. So visiting the
 * names of all functions takes bounded time. */
struct g2h_error *function_names_init(struct function_names *names, const struct pclntab *pclntab);
void function_names_deinit(struct function_names *names);

/* Returns the index in the pclntab of the function with a name, FUNCTION_AMBIGUOUS if there are
 * several, or MAP_NONE if there is none. */
uint32_t function_names_find(const struct function_names *names, struct g2h_bytes name);

#endif
