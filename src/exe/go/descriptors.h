/*
 * descriptors: the type descriptors (abi.Type) of an executable for the runtime: their parts, and
 * how they are found.
 */
#ifndef GO_DESCRIPTORS_H
#define GO_DESCRIPTORS_H

#include "base/memory.h"
#include "exe/image/image.h"
#include "types/types.h"

/* abi.TFlag, and bits of abi.Kind_ above the kind. */
enum {
    TFLAG_UNCOMMON = 1,
    TFLAG_EXTRA_STAR = 2, /* the name begins with a * that does not belong to it */
    TFLAG_NAMED = 4,
    TFLAG_GC_MASK_ON_DEMAND = 16, /* from 1.24 */
    TFLAG_DIRECT_IFACE = 32,      /* from 1.26 */
    TFLAG_MOST = 63,              /* no release has other flags */
    KIND_MASK = 31,
    KIND_DIRECT_IFACE = 32, /* before 1.26 */
    KIND_GC_PROG = 64,      /* before 1.24 */
};

/* The flag of a field's name (abi.Name) by which the field is embedded, since 1.19. */
enum { NAME_EMBEDDED = 8 };

enum { NAME_MOST = 1024 }; /* longer names are cut, as in V8 */

struct descriptor {
    uint32_t offset; /* from runtime.types */
    uint32_t first_reference;
};

struct descriptors {
    const struct image *image;
    uint64_t start;      /* runtime.types in the file */
    const uint8_t *data; /* the range of names and descriptors, which begins at start */
    uint64_t size;       /* of the range */
    unsigned word;       /* bytes of a word */
    bool varint_names;   /* lengths of names are uvarints, as from 1.17 on, instead of two bytes */
    bool shifted_fields; /* the lowest bit of a field's offset is its embedded flag: 1.9 to 1.18 */
    unsigned map_size;   /* of abi.MapType */
    VECTOR(struct descriptor) list; /* ascending */
    /*
     * The types that each descriptor is composed of, as indexes into list: element and slice of an
     * array; key, element and bucket or group of a map; parameters and results of a function; types
     * of the methods of an interface and of the fields of a struct; the element of all other types.
     */
    VECTOR(uint32_t) references;
};

struct descriptor_field {
    struct g2h_bytes name; /* empty if the field is embedded, before 1.9 */
    uint64_t offset;
    bool embedded;
};

/* Finds the descriptors in a range of the file. Finds few or none if the range is damaged, or is
 * not the range of types. Error: G2H_ERROR_MEMORY. */
struct g2h_error *descriptors_init(struct descriptors *descriptors, const struct image *image,
                                   uint64_t start, uint64_t size);

void descriptors_deinit(struct descriptors *descriptors);

/* Returns the name, in the form of descriptor_name(), of the descriptor at an address, assuming
 * that the range from start, whose bytes are data, is the range of types. The name is empty if no
 * descriptor can be at the address. */
struct g2h_bytes descriptors_peek(const struct image *image, uint64_t start, const uint8_t *data,
                                  uint64_t size, bool varint_names, uint64_t address);

/* Returns the index of the descriptor at an address of the file, or list.count if none is there. */
size_t descriptors_find(const struct descriptors *descriptors, uint64_t address);

/* All functions below take an index that is less than list.count. */
uint64_t descriptor_size(const struct descriptors *descriptors, size_t index);

uint64_t descriptor_pointer_bytes(const struct descriptors *descriptors, size_t index);

uint8_t descriptor_flags(const struct descriptors *descriptors, size_t index); /* TFLAG_… */

uint8_t descriptor_kind(const struct descriptors *descriptors, size_t index); /* with KIND_… */

/* Returns the name as package reflect prints it: with the package's name, not its path. */
struct g2h_bytes descriptor_name(const struct descriptors *descriptors, size_t index);

/* Returns the path of the type's package; it is empty for types that are in no package, such as
 * "int". */
struct g2h_bytes descriptor_package(const struct descriptors *descriptors, size_t index);

/* Returns the mask of pointers, abi.Type.GCData, or NULL if the type has no pointers, or GCData is
 * not a mask or is not in the file. */
const uint8_t *descriptor_mask(const struct descriptors *descriptors, size_t index);

/* Return the number of types that a descriptor is composed of, and the index of one of them in
 * list. */
size_t descriptor_reference_count(const struct descriptors *descriptors, size_t index);

uint32_t descriptor_reference(const struct descriptors *descriptors, size_t index, size_t number);

uint64_t descriptor_length(const struct descriptors *descriptors, size_t index); /* of an array */

unsigned descriptor_direction(const struct descriptors *descriptors,
                              size_t index); /* abi.ChanDir */

/* Returns how many of a function's references are parameters; *ret_variadic: the last parameter is
 * "...". */
unsigned descriptor_parameters(const struct descriptors *descriptors, size_t index,
                               bool *ret_variadic);

/* Returns a field of a struct; number is less than descriptor_reference_count(). */
struct descriptor_field descriptor_field(const struct descriptors *descriptors, size_t index,
                                         size_t number);

#endif
