/*
 * moduledata: the addresses of the parts of a Go program, from its runtime.firstmoduledata.
 *
 * Every Go executable has one, stripped or not. It is found by its first word, the address of the
 * pclntab. Its layout is the one that makes its fields valid.
 */
#ifndef EXE_GO_MODULEDATA_H
#define EXE_GO_MODULEDATA_H

#include "exe/go/pclntab.h"

/* Addresses in the file, named as the runtime's fields. All are 0 if there is no moduledata. */
struct moduledata {
    const uint8_t *at; /* in the file */
    uint64_t minpc;    /* the first function */
    uint64_t text, etext;
    uint64_t data, edata;
    uint64_t bss, ebss;
    uint64_t types, etypes;
    int since;       /* the first release whose layout it has: the N of go1.N */
    uint64_t gofunc; /* base of the offsets of functions' data; from Go 1.18 on */
};

/* Finds the moduledata. Returns false if there is none, or the relocations of a
 * position-independent executable could not be applied. */
bool moduledata_find(const struct image *image, const struct pclntab *pclntab,
                     struct moduledata *ret);

#endif
