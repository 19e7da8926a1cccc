/* built_by: which release of Go built an executable, and of which module. */
#ifndef EXE_GO_BUILT_BY_H
#define EXE_GO_BUILT_BY_H

#include "exe/go/moduledata.h"

struct built_by {
    struct g2h_bytes version; /* as the file has it, "go1.27.4" or "unknown"; empty: it has none */
    struct g2h_bytes module;  /* path of the main module; empty: not known */
    bool is_plugin;           /* -buildmode=plugin */
    bool is_asan;             /* -asan */
    int minor;                /* the N of go1.N; 0: not known */
    bool is_guess;            /* the version does not name it */
    int newest;               /* it may be a later one, up to this: only structures tell, no names
                                 of functions; else it is minor */
};

/* Finds out what built an executable; symbols is the image that has its symbols. */
void built_by_find(const struct image *image, const struct image *symbols,
                   const struct pclntab *pclntab, const struct moduledata *moduledata,
                   struct built_by *ret);

#endif
