/*
 * rtype: the types of an executable, from its type descriptors for the runtime (abi.Type). Stripped
 * executables have these as well. Go 1.7 to 1.27.
 */
#ifndef EXE_GO_RTYPE_H
#define EXE_GO_RTYPE_H

#include "exe/image/image.h"
#include "exe/go/moduledata.h"
#include "types/types.h"

/* A type that the process is known to have: the address of its descriptor in the process, and its
 * name as package reflect prints it, "net/http.conn" or "http.conn". The name is "net/http." for a
 * type of that package without a name, mostly a pointer. */
struct rtype_witness {
    uint64_t address;
    struct g2h_bytes name;
};

/*
 * Adds the types of all descriptors, ascending by address, to types, which is empty. Does not set
 * the headers of maps and channels. moduledata locates the descriptors. If moduledata was not
 * found, or the witnesses do not agree, all sections are tried. slide is the distance from the
 * addresses of the file to those of the process. *ret_start is runtime.types in the process, or 0
 * if nothing fits: then no type is added. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *rtypes_init(struct types *types, const struct image *image,
                              const struct moduledata *moduledata, uint64_t slide,
                              const struct rtype_witness *witnesses, size_t witness_count,
                              uint64_t *ret_start);

#endif
