/* built_by: the release of Go that built an executable, and its main module. */
#ifndef EXE_GO_BUILT_BY_H
#define EXE_GO_BUILT_BY_H

#include "exe/go/moduledata.h"

struct built_by {
    struct g2h_bytes version; /* as in the file, "go1.27.4" or "unknown"; empty: none */
    struct g2h_bytes module;  /* path of the main module; empty: not known */
    bool is_plugin;           /* -buildmode=plugin */
    bool is_asan;             /* -asan */
    int minor;                /* the N of go1.N; 0: not known */
    bool is_guess;            /* the version does not name the release */
    int newest;               /* it may be a later one, up to this, if only structures identify it,
                                 not names of functions; else equal to minor */
};

/* Finds the builder of an executable; symbols is the image that has its symbols. */
void built_by_find(const struct image *image, const struct image *symbols,
                   const struct pclntab *pclntab, const struct moduledata *moduledata,
                   struct built_by *ret);

#endif
