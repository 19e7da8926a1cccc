/*
 * call_sites: the functions that a function's code calls, by its instructions.
 *
 * Only calls whose instruction contains the callee are found, on amd64, 386 and arm64.
 */
#ifndef EXE_GO_CALL_SITES_H
#define EXE_GO_CALL_SITES_H

#include "base/map.h"
#include "base/memory.h"
#include "exe/go/moduledata.h"

struct call_sites {
    const struct pclntab *pclntab;
    uint64_t text;         /* address of the first function in the file; 0: not known */
    struct map allocators; /* function → enum call_sites_allocator */
};

struct call_site {
    uint32_t behind; /* the return address, as a distance from the function's start */
    uint32_t callee; /* the called function, by its index in the pclntab */
};

struct call_site_list {
    VECTOR(struct call_site) sites; /* ascending */
};

void call_sites_init(struct call_sites *sites, const struct pclntab *pclntab,
                     const struct moduledata *moduledata);
void call_sites_deinit(struct call_sites *sites);

/* Appends the calls of a function. *left is the number of bytes of code that may still be read; the
 * bytes read are subtracted from it. Error: G2H_ERROR_MEMORY. */
struct g2h_error *call_sites_find(struct call_sites *sites, uint64_t function, uint64_t *left,
                                  struct call_site_list *ret);

/* How a function allocates memory for its caller. */
enum call_sites_allocator {
    ALLOCATES_NOT,
    ALLOCATES_BY_CALL, /* a function of the runtime that calls mallocgc: runtime.newobject */
    ALLOCATES_ITSELF,  /* runtime.mallocgc and its variants */
};
struct g2h_error *call_sites_allocator(struct call_sites *sites, uint64_t function, uint64_t *left,
                                       enum call_sites_allocator *ret);

#endif
