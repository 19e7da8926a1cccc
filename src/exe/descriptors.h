/*
 * descriptors: the runtime type descriptors (abi.Type) of an executable, found by looking at each
 * word where one may begin.
 *
 * Typelinks do not lead to all of them: a named type that only an interface's type word knows is in
 * none. So the whole range is searched, and a descriptor is believed where all that it says makes
 * sense, and so do all types that it is made of. What differs between releases is told by what is
 * there; see descriptors.c.
 */
#ifndef EXE_DESCRIPTORS_H
#define EXE_DESCRIPTORS_H

#include "base/memory.h"
#include "exe/image.h"
#include "types/types.h"

/* abi.TFlag, and bits of abi.Kind_ above the kind. */
enum {
    TFLAG_UNCOMMON = 1,
    TFLAG_EXTRA_STAR = 2, /* the name in the file has a * before it that is not part of it */
    TFLAG_NAMED = 4,
    TFLAG_GC_MASK_ON_DEMAND = 16, /* from 1.24 */
    TFLAG_DIRECT_IFACE = 32,      /* from 1.26 */
    KIND_MASK = 31,
    KIND_DIRECT_IFACE = 32, /* before 1.26 */
    KIND_GC_PROG = 64,      /* before 1.24 */
};

enum { NAME_MOST = 1024 }; /* longer names are cut: V8 does so as well */

struct descriptor {
    uint32_t offset; /* from runtime.types */
    uint32_t first_reference;
};

struct descriptors {
    const struct image *image;
    uint64_t start;      /* runtime.types in the file */
    const uint8_t *data; /* there */
    uint64_t size;       /* of names and descriptors */
    unsigned word;       /* bytes */
    bool varint_names;   /* lengths of names: from 1.17; before, two bytes */
    bool shifted_fields; /* offsets of fields have the embedded flag as lowest bit: 1.9 to 1.18 */
    unsigned map_size;   /* of abi.MapType */
    VECTOR(struct descriptor) list; /* ascending */
    /*
     * The types that each descriptor is made of, as indexes into list: an array's element and
     * slice, a map's key, element and bucket or group, a function's parameters and results, an
     * interface's methods, a struct's fields, and elements.
     */
    VECTOR(uint32_t) references;
};

struct descriptor_field {
    struct g2h_bytes name; /* empty where it is embedded, before 1.9 */
    uint64_t offset;
    bool embedded;
};

/* Finds the descriptors among size bytes at start. Few or none where it is damaged. Error:
 * G2H_ERROR_MEMORY. */
struct g2h_error *descriptors_init(struct descriptors *descriptors, const struct image *image,
                                   uint64_t start, uint64_t size);
void descriptors_deinit(struct descriptors *descriptors);

/* The name (as of descriptor_name()) of the descriptor that may be at an address of the file, were
 * the size bytes of data at start the range of the types; empty where there cannot be one. */
struct g2h_bytes descriptors_peek(const struct image *image, uint64_t start, const uint8_t *data,
                                  uint64_t size, bool varint_names, uint64_t address);

/* What follows takes an index below list.count. */
uint64_t descriptor_size(const struct descriptors *descriptors, size_t index);
uint64_t descriptor_pointer_bytes(const struct descriptors *descriptors, size_t index);
uint8_t descriptor_flags(const struct descriptors *descriptors, size_t index); /* TFLAG_… */
uint8_t descriptor_kind(const struct descriptors *descriptors, size_t index);  /* with KIND_… */

/* As package reflect prints it: with the name of the package, not its path. */
struct g2h_bytes descriptor_name(const struct descriptors *descriptors, size_t index);

/* The path of the package; empty where it has none, as "int". */
struct g2h_bytes descriptor_package(const struct descriptors *descriptors, size_t index);

/* abi.Type.GCData, where it is a mask and the file has it, else NULL. */
const uint8_t *descriptor_mask(const struct descriptors *descriptors, size_t index);

size_t descriptor_reference_count(const struct descriptors *descriptors, size_t index);
uint32_t descriptor_reference(const struct descriptors *descriptors, size_t index, size_t number);

uint64_t descriptor_length(const struct descriptors *descriptors, size_t index); /* of an array */
unsigned descriptor_direction(const struct descriptors *descriptors,
                              size_t index); /* abi.ChanDir */

/* How many of a function's references are parameters; the last may be "...". */
unsigned descriptor_parameters(const struct descriptors *descriptors, size_t index,
                               bool *ret_variadic);

/* Field number < descriptor_reference_count() of a struct. */
struct descriptor_field descriptor_field(const struct descriptors *descriptors, size_t index,
                                         size_t number);

#endif
