/* siphash: SipHash-2-4 with a result of 128 bits (Aumasson and Bernstein, 2012 and 2015), a keyed
 * hash. Without the key it can be neither computed nor distinguished from random numbers. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { SIPHASH_KEY = 16, SIPHASH_SIZE = 16 }; /* bytes */

/* Hashes size bytes. The result is the same on every machine. */
void siphash(const uint8_t key[SIPHASH_KEY], const void *data, size_t size,
             uint8_t ret[SIPHASH_SIZE]);

#endif
