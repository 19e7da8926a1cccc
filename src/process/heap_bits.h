/*
 * heap_bits: which words of an object the collector takes for pointers.
 *
 * Up to Go 1.21 the heap's arenas have bitmaps. From 1.22 on a span of slots up to 512 bytes has a
 * bitmap at its end, a larger slot begins with its type, and of slots above 32768 bytes the mspan
 * has it (runtime/mbitmap_allocheaders.go, mbitmap.go).
 */
#ifndef PROCESS_HEAP_BITS_H
#define PROCESS_HEAP_BITS_H

#include "process/spans.h"

/* Bits of words, that come again and again up to the object's end. */
struct heap_mask {
    const uint8_t *bits;
    uint64_t first;          /* bit */
    uint64_t words;          /* that have bits; 0: no pointers */
    uint64_t offset, period; /* words before the first one; from one repetition to the next, 0:
                                there is one */
};

/* What a type says, as heap_mask does. */
struct heap_type {
    uint64_t address, period, words;
    const uint8_t *bits;
};

enum { HEAP_TYPES = 1 << 10 };

/* One thread's. */
struct heap_bits {
    const struct runtime *runtime;
    struct heap_type seen[HEAP_TYPES]; /* types that were looked up lately, by hash */
    VECTOR(uint8_t) scratch;           /* bits that are put together */
    uint64_t missing;                  /* objects of which it is not there */
};

/* Whether the objects of a span have their bits from types. */
bool heap_bits_are_of_types(const struct runtime *runtime, const struct span *span);

/* The address of the type of an object of such a span; 0 where it has none. */
uint64_t heap_bits_type(const struct runtime *runtime, const struct span *span, uint64_t address);

/* The type at an address; without bits and period where it is not there. */
void heap_type_read(const struct runtime *runtime, uint64_t address, struct heap_type *ret);

/* The pointers of the object at an address, which is in the slot of a span; valid until the next
 * call. False where there is no memory. */
bool heap_bits_of(struct heap_bits *bits, const struct span *span, uint64_t address,
                  struct heap_mask *ret);

void heap_bits_deinit(struct heap_bits *bits);

#endif
