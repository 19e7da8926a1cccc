/*
 * moduledata: where the linker put the parts of a Go program, from its runtime.firstmoduledata.
 *
 * Every Go executable has it, stripped or not. Its first word is the address of the pclntab, by
 * which it is found; its layout is told by which one makes sense.
 */
#ifndef EXE_MODULEDATA_H
#define EXE_MODULEDATA_H

#include "exe/pclntab.h"

/* Addresses of the file, named as the runtime's fields. All 0 where there is none. */
struct moduledata {
    const uint8_t *at; /* where it was found */
    uint64_t text, etext;
    uint64_t data, edata;
    uint64_t bss, ebss;
    uint64_t types, etypes;
};

/* False where there is none, as in a position-independent executable whose relocations are not
 * applied. */
bool moduledata_find(const struct image *image, const struct pclntab *pclntab,
                     struct moduledata *ret);

#endif
