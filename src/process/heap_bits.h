/*
 * heap_bits: which words of an object the collector treats as pointers.
 *
 * Up to Go 1.21 the heap's arenas have bitmaps. From 1.22 on, a span with slots of up to 512 bytes
 * has a bitmap at its end, a larger slot begins with its type, and for slots above 32768 bytes the
 * mspan has the type (runtime/mbitmap_allocheaders.go, mbitmap.go).
 */
#ifndef PROCESS_HEAP_BITS_H
#define PROCESS_HEAP_BITS_H

#include "process/spans.h"
#include "process/type_masks.h"

/* A mask with a bit per word, which repeats up to the object's end. */
struct heap_mask {
    const uint8_t *bits;
    uint64_t first;          /* index of the first bit */
    uint64_t words;          /* words that have bits; 0: no pointers */
    uint64_t offset, period; /* words before the first repetition; from one repetition to the next,
                                0: there is only one */
};

enum { HEAP_TYPES = 1 << 10 };

/* The state of one thread. */
struct heap_bits {
    const struct runtime *runtime;
    struct type_masks *masks;
    struct type_mask seen[HEAP_TYPES]; /* recently read types, by hash */
    VECTOR(uint8_t) scratch;           /* the bits of an object in arenas */
    uint64_t missing;                  /* objects whose mask is missing, so that it is all ones */
};

/* Returns whether the objects of a span have their masks from types. */
bool heap_bits_are_of_types(const struct runtime *runtime, const struct span *span);

/* Returns the address of the type of an object of such a span, or 0 if it has none. */
uint64_t heap_bits_type(const struct runtime *runtime, const struct span *span, uint64_t address);

/* Finds the pointers of the object at an address, which is in a slot of the span; those after its
 * first listed bytes need not be found. *ret is valid until the next call. Returns false if memory
 * runs out. */
bool heap_bits_of(struct heap_bits *bits, const struct span *span, uint64_t address,
                  uint64_t listed, struct heap_mask *ret);

void heap_bits_deinit(struct heap_bits *bits);

#endif
