/* debug where this program is built without libdw: there is nothing. Else see dwarf.c. */
#include "exe/debug.h"

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>

const char *debug_library(void)
{
    return dwfl_version(NULL);
}
#else
const char *debug_library(void)
{
    return NULL;
}

struct g2h_error *debug_init(struct debug *debug, struct image *image, struct types *types,
                             uint64_t types_start)
{
    (void)image, (void)types, (void)types_start;
    *debug = (struct debug){.dwarf = NULL};
    return NULL;
}

void debug_deinit(struct debug *debug)
{
    *debug = (struct debug){.dwarf = NULL};
}

struct g2h_error *debug_locals(struct debug *debug, struct types *types, uint64_t pc,
                               debug_local_vector *ret, debug_piece_vector *ret_pieces)
{
    (void)debug, (void)types, (void)pc, (void)ret, (void)ret_pieces;
    return NULL;
}
#endif
