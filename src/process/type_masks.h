/*
 * type_masks: the pointer masks that a type descriptor does not have.
 *
 * From Go 1.24 on the descriptor of a large type has no mask (abi.TFlagGCMaskOnDemand; in 1.27 each
 * type whose pointers end after 128 words): the runtime makes one when a collection first needs it.
 * The masks here are always made from the descriptors of elements and fields, as the runtime does
 * (runtime/type.go: buildGCMask), so that they depend neither on what has been collected so far nor
 * on another thread that is making the mask at this moment.
 */
#ifndef PROCESS_TYPE_MASKS_H
#define PROCESS_TYPE_MASKS_H

#include <pthread.h>

#include "base/map.h"
#include "process/runtime.h"

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

#endif
