/*
 * memory: the bytes of a process, by their addresses.
 *
 * They come from an ELF core, from the copy of a live process, and, where neither has them, from
 * the executable. What is not there is not there: nobody is given zeros in its place.
 */
#ifndef PROCESS_MEMORY_H
#define PROCESS_MEMORY_H

#include <string.h>

#include "base/memory.h"
#include "exe/image.h"

/* Bytes that are one after the other in the process and here. */
struct memory_range {
    uint64_t address, size;
    const uint8_t *data;
};

struct memory {
    /* Of the process; after memory_sort() ascending, and no two overlap, or adjoin in both places.
     */
    VECTOR(struct memory_range) ranges;
    VECTOR(struct memory_range) read_only; /* of the executable; ascending */
    uint64_t bytes;                        /* in ranges */
};

/* Adds a range, of which the end is no address any more. False where there is no memory. */
bool memory_add(struct memory *memory, uint64_t address, uint64_t size, const uint8_t *data);

/* To be called once all ranges are there: puts them in order, and makes one of those that adjoin.
 * Where two overlap, the one that begins first counts. */
void memory_sort(struct memory *memory);

/* Adds the sections of an executable that nobody writes to, for what is not in ranges; slide is the
 * distance from its addresses to those of the process. False where there is no memory. */
bool memory_add_image(struct memory *memory, const struct image *image, uint64_t slide);

void memory_deinit(struct memory *memory);

/* So many bytes at an address, valid as long as what they came from; NULL where not all of them are
 * there in one piece. */
const uint8_t *memory_at(const struct memory *memory, uint64_t address, uint64_t size);

/* The range of the process, not of the executable, that has an address, or NULL. */
const struct memory_range *memory_range_at(const struct memory *memory, uint64_t address);

/* A number of at most 8 bytes, little endian. */
static inline uint64_t memory_number(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, bytes, size);
#else
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
#endif
    return value;
}

/* The same at an address. False where it is not there. */
static inline bool memory_read(const struct memory *memory, uint64_t address, unsigned size,
                               uint64_t *ret)
{
    const uint8_t *bytes = memory_at(memory, address, size);
    if (bytes)
        *ret = memory_number(bytes, size);
    return bytes != NULL;
}

#endif
