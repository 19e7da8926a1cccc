/*
 * constants: the addresses that the code of a function contains, in the order of the code.
 *
 * Supports only amd64.
 */
#ifndef EXE_GO_CONSTANTS_H
#define EXE_GO_CONSTANTS_H

#include "base/memory.h"
#include "exe/go/moduledata.h"

typedef VECTOR(uint64_t) address_vector;

/* Appends the addresses, in the file, that instructions of a function load into registers. function
 * is its index in the pclntab. *left is the number of bytes of code that may still be read; the
 * bytes that are read are subtracted from it. Returns false if memory runs out. */
bool constants_find(const struct pclntab *pclntab, const struct moduledata *moduledata,
                    uint64_t function, uint64_t *left, address_vector *ret);

#endif
