/*
 * rtype: the types of an executable, from its type descriptors for the runtime (abi.Type). Stripped
 * executables have these as well. Go 1.7 to 1.27.
 */
#ifndef EXE_GO_RTYPE_H
#define EXE_GO_RTYPE_H

#include "exe/go/pclntab.h"
#include "exe/image/image.h"
#include "types/types.h"

/* A type that the process has: the address of its descriptor in the process, and its name as the
 * runtime writes it to a dump. That is the path of the package and the type's own name,
 * "net/http.conn"; "net/http." for a type with methods that has no name, mostly a pointer; or, for
 * a type without a package, what package reflect prints, with names of packages instead of paths:
 * "struct { http.Flusher }". */
struct rtype_witness {
    uint64_t address;
    struct g2h_bytes name;
};

struct rtype_witnesses {
    const struct rtype_witness *data;
    size_t count;
};

/* What rtypes_init() found beside the types. */
struct rtypes_found {
    uint64_t start; /* runtime.types in the process; 0: nothing fits, and no type was added */
    size_t unfit;   /* witnesses whose type was left out, or is not in the executable */
};

/*
 * Adds the types of all descriptors, ascending by address, to types, which is empty. Does not set
 * the headers of maps and channels. moduledata locates the descriptors. If moduledata was not
 * found, or no witness agrees with it, all sections are tried. A type that a witness has by another
 * name is added without its parts and address, so that no object gets it. slide is the distance
 * from the addresses of the file to those of the process. Error: G2H_ERROR_MEMORY.
 */
struct g2h_error *rtypes_init(struct types *types, const struct image *image,
                              const struct moduledata *moduledata, uint64_t slide,
                              struct rtype_witnesses witnesses, struct rtypes_found *ret);

#endif
