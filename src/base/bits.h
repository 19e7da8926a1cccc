/* bits: sets of numbers as arrays of words, a bit for each number. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bits_have(const uint64_t *bits, uint64_t number)
{
    return (bits[number / 64] >> (number % 64) & 1) != 0;
}

static inline void bits_add(uint64_t *bits, uint64_t number)
{
    bits[number / 64] |= (uint64_t)1 << (number % 64);
}

static inline void bits_remove(uint64_t *bits, uint64_t number)
{
    bits[number / 64] &= ~((uint64_t)1 << (number % 64));
}

#endif
