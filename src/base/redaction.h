/*
 * redaction: the replacement for a string of the heap that must not be shown, such as "(<=16 bytes,
 */
#ifndef BASE_REDACTION_H
#define BASE_REDACTION_H

#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/redaction.h>

#include "base/error.h"

/* ==== SipHash-2-4 ====
 *
 * SipHash-2-4 with a result of 128 bits (Aumasson and Bernstein, 2012 and 2015), a keyed hash.
 * Without the key it can be neither computed nor distinguished from random numbers.
 */

enum { SIPHASH_KEY = 16, SIPHASH_SIZE = 16 }; /* bytes */

/* Hashes size bytes. The result is the same on every machine. */
void siphash(const uint8_t key[SIPHASH_KEY], const void *data, size_t size,
             uint8_t ret[SIPHASH_SIZE]);

/* ==== a string's replacement ====
 *
 * The replacement for a string of the heap that must not be shown, such as "(<=16 bytes,
 * #0123456789abcdef0123)".
 *
 * It shows two things. One is the string's size, rounded up to a multiple of 16: the exact size of
 * a short string reveals a good deal about it, and the size of the string's object reveals the rest
 * anyway. The other is 80 bits of a SipHash, so that equal strings stay equal, and different ones
 * differ. Without the key a string cannot be found by trial, not even one of four bytes. The chance
 * that two among ten million strings have the same 80 bits is one in 24 billion.
 */

struct g2h_redaction {
    uint8_t key[SIPHASH_KEY];
};

enum { REDACTED_MOST = 64 }; /* characters */

/* Initializes a redaction with the bytes of key, or with random ones if key is NULL. Error:
 * G2H_ERROR_SYSTEM. */
struct g2h_error *redaction_init(struct g2h_redaction *redaction, const uint8_t *key);

/* Writes the replacement for size bytes to ret. Returns its number of characters, all of them
 * ASCII. */
size_t redaction_write(const struct g2h_redaction *redaction, const void *data, size_t size,
                       char ret[REDACTED_MOST]);

#endif
