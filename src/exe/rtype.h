/*
 * rtype: the types that an executable has descriptors of for the runtime (abi.Type). Stripped
 * executables have them as well. Go 1.7 to 1.27.
 */
#ifndef EXE_RTYPE_H
#define EXE_RTYPE_H

#include "exe/image.h"
#include "exe/moduledata.h"
#include "types/types.h"

/* A type that the process is known to have: the address of its descriptor there, and its name as
 * package reflect prints it, "net/http.conn" or "http.conn"; "net/http." for a type of that package
 * without a name, mostly a pointer. */
struct rtype_witness {
    uint64_t address;
    struct g2h_bytes name;
};

/*
 * Adds the types of all descriptors to types, which is empty, ascending by address; headers of maps
 * and channels are left to others. moduledata tells where the descriptors are. Where moduledata was
 * not found, or the witnesses do not agree, all sections are tried. slide is from the addresses of
 * the file to those of the process. *ret_start is runtime.types in the process; 0 where nothing
 * fits: then no type is added. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *rtypes_init(struct types *types, const struct image *image,
                              const struct moduledata *moduledata, uint64_t slide,
                              const struct rtype_witness *witnesses, size_t witness_count,
                              uint64_t *ret_start);

#endif
