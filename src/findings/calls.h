/* calls: the stacks of allocation sites, with the calls that the compiler inlined. */
#ifndef FINDINGS_CALLS_H
#define FINDINGS_CALLS_H

#include <go2heapsnapshot/dump.h>
#include <go2heapsnapshot/exe.h>

#include "base/memory.h"

/* The calls of one stack. */
struct calls {
    struct g2h_inlining *inlining; /* NULL: no executable */
    VECTOR(struct g2h_call) list;  /* innermost first */
    size_t first; /* the first call that is shown: the runtime's allocation functions are left out,
                   * unless it allocates for itself */
};

/* Prepares for reading the stacks of a heap. exe is the executable that wrote it; NULL: none is
 * known. The caller calls calls_deinit() in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *calls_init(struct calls *calls, const struct g2h_exe *exe);
void calls_deinit(struct calls *calls);

/* Reads the calls of a site. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *calls_read(struct calls *calls, struct g2h_memprof site);

#endif
