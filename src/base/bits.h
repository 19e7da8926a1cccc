/* bits: sets of numbers as arrays of words, a bit for each number. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Walks over all objects call these, and tests count the instructions of builds that do not
 * optimize. */
#define BITS_INLINE inline __attribute__((always_inline))

static BITS_INLINE bool bits_have(const uint64_t *bits, uint64_t number)
{
    return (bits[number / 64] >> (number % 64) & 1) != 0;
}

static BITS_INLINE void bits_add(uint64_t *bits, uint64_t number)
{
    bits[number / 64] |= (uint64_t)1 << (number % 64);
}

static BITS_INLINE void bits_remove(uint64_t *bits, uint64_t number)
{
    bits[number / 64] &= ~((uint64_t)1 << (number % 64));
}

#endif
