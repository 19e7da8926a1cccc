/*
 * pointer_masks: which words of a type, and which of an object, the collector treats as pointers.
 */
#ifndef PROCESS_POINTER_MASKS_H
#define PROCESS_POINTER_MASKS_H

#include <pthread.h>

#include "base/map.h"
#include "process/runtime.h"
#include "process/spans.h"

/* ==== the pointer masks that a type descriptor does not have ====
 *
 * From Go 1.24 on the descriptor of a large type has no mask (abi.TFlagGCMaskOnDemand; in 1.27 each
 * type whose pointers end after 128 words): the runtime makes one when a collection first needs it.
 * The masks here are always made from the descriptors of elements and fields, as the runtime does
 * (runtime/type.go: buildGCMask), so that they depend neither on what has been collected so far nor
 * on another thread that is making the mask at this moment.
 */

/* A type's pointers: a bit per word, for this many words from its start on, and its size in words.
 * Of an invalid type all of it is 0. */
struct type_mask {
    uint64_t address, period, words;
    const uint8_t *bits;
};

/* The masks of a process, each of which is made once. */
struct type_masks {
    const struct runtime *runtime;
    pthread_mutex_t lock;
    struct map by_address; /* address of a type → index in list */
    VECTOR(struct type_mask) list;
};

/* Begins without masks. *ret goes to type_masks_deinit(). */
void type_masks_init(struct type_masks *ret, const struct runtime *runtime);

void type_masks_deinit(struct type_masks *masks);

/* Gets the mask of the type at an address, of which an object has at most this many bytes. *ret is
 * valid until type_masks_deinit(); if the type is invalid or missing, it has no period, words and
 * bits. Several threads may call it. Returns false if memory runs out. */
bool type_masks_get(struct type_masks *masks, uint64_t address, uint64_t most,
                    struct type_mask *ret);

/*
 * Runs the GC program at an address, which up to Go 1.23 describes the pointers of large variables
 * (runtime/mbitmap.go: runGCProg). It makes the bits of this many words in ret, which has (words +
 * 7) / 8 bytes of zeros and one more. Returns false if the program is missing or invalid.
 */
bool type_masks_run(const struct runtime *runtime, uint64_t address, uint64_t words, uint8_t *ret);

/* ==== which words of an object the collector treats as pointers ====
 *
 * Up to Go 1.21 the heap's arenas have bitmaps. From 1.22 on, a span with slots of up to 512 bytes
 * has a bitmap at its end, a larger slot begins with its type, and for slots above 32768 bytes the
 * mspan has the type (runtime/mbitmap_allocheaders.go, mbitmap.go).
 */

/* A mask with a bit per word, which repeats up to the object's end. */
struct heap_mask {
    const uint8_t *bits;
    uint64_t first;          /* index of the first bit */
    uint64_t words;          /* words that have bits; 0: no pointers */
    uint64_t offset, period; /* words before the first repetition; from one repetition to the next,
                                0: there is only one */
};

/* Returns count bits of a mask, at most 64, from a word on. They may begin within a byte, and so be
 * spread over nine. */
static inline uint64_t heap_mask_bits(const struct heap_mask *mask, uint64_t word, uint64_t count)
{
    const uint64_t first = mask->first + word;
    const uint64_t bytes = (first % 8 + count + 7) / 8;
    const uint8_t *at = mask->bits + first / 8;
    uint64_t bits = memory_number(at, bytes < 8 ? (unsigned)bytes : 8) >> (first % 8);
    if (bytes > 8)
        bits |= (uint64_t)at[8] << (64 - first % 8);
    return bits & (count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX);
}

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
