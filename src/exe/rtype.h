/*
 * rtype: the names of runtime type descriptors (abi.Type), which stripped executables have as well.
 *
 * A descriptor holds its name's offset from the start of all types, runtime.types, which no section
 * header tells. It is found by trying: with the right start, the names of the types that the dump
 * has records of are those records' names.
 */
#ifndef EXE_RTYPE_H
#define EXE_RTYPE_H

#include "exe/image.h"
#include "heap/heap.h"

struct rtypes {
    const struct image *image;
    uint64_t slide; /* from the file's addresses to the process' */
    uint64_t start; /* runtime.types, in the file */
    bool found;
    bool varint_lengths; /* of names: from 1.17 on; before, two bytes */
};

/* Finds the start of the types. rtypes->found stays false where no start fits: then there are no
 * names. */
void rtypes_init(struct rtypes *rtypes, const struct image *image, uint64_t slide,
                 const struct g2h_heap *heap);

/* The name of the type at an address of the process, as reflect prints it ("*http.conn"); false
 * where there is none. */
bool rtypes_name(const struct rtypes *rtypes, uint64_t address, struct g2h_bytes *ret);

#endif
