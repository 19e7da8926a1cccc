/*
 * build_info: the build information of a program, as debug/buildinfo reads it: the version of Go,
 * the modules, and the settings of the build, such as the revision in the version control system.
 * It is in the data, so that processes and their cores have it as well.
 */
#ifndef EXE_GO_BUILD_INFO_H
#define EXE_GO_BUILD_INFO_H

#include "base/text.h"
#include "exe/go/pclntab.h"
#include "exe/image/image.h"

/* Finds the build information, from its header to the end of its section, and its address in the
 * file. It is empty if there is none. */
struct g2h_bytes build_info_find(const struct image *image, uint64_t *ret_address);

/* Finds the version and the lines about modules and settings in build information, whose bytes are
 * untrusted. Returns false, and makes both empty, if it does not contain them: before Go 1.18 it
 * has pointers to them. */
bool build_info_read(struct g2h_bytes info, struct g2h_bytes *ret_version,
                     struct g2h_bytes *ret_lines);

/* Appends a difference between the build information of an executable and of a process: "its
 * vcs.revision is 1f3e, the process's 5a2b". */
void build_info_describe(struct g2h_bytes file, struct g2h_bytes process, struct text *text);

/* ---- what built the executable ---- */

/* The release of Go that built an executable, and its main module. */
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
