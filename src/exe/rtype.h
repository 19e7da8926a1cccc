/*
 * rtype: the types that an executable's runtime type descriptors (abi.Type) tell of, which stripped
 * executables have as well. Go 1.7 to 1.27.
 */
#ifndef EXE_RTYPE_H
#define EXE_RTYPE_H

#include "exe/image.h"
#include "exe/moduledata.h"
#include "heap/heap.h"
#include "types/types.h"

/*
 * Adds the types of all descriptors to types, which is empty, ascending by address, and checks them
 * against the dump's type records; headers of maps and channels are left to others. moduledata
 * tells where they are; where that does not fit, or was not found, it is tried out. *ret_start is
 * runtime.types in the process; 0 where nothing fits: then no type is added. slide is from the
 * file's addresses to the process'. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *rtypes_init(struct types *types, const struct image *image,
                              const struct moduledata *moduledata, uint64_t slide,
                              const struct g2h_heap *heap, uint64_t *ret_start);

#endif
