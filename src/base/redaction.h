/*
 * redaction: what stands for a text of the heap that is not to be shown, "(<=16 bytes,
 * #0123456789abcdef0123)".
 *
 * It tells two things: the text's size, rounded up to a multiple of 16, for that of a short one
 * says a good deal about it, and its object's size tells the rest; and 80 bits of a SipHash, so
 * that equal texts stay equal, and others differ. Who does not have the key cannot try out texts,
 * not even the few that there are of four bytes. That among ten million texts two have the same 80
 * bits has a chance of one in 24 billion.
 */
#ifndef BASE_REDACTION_H
#define BASE_REDACTION_H

#include <go2heapsnapshot/redaction.h>

#include "base/error.h"
#include "base/siphash.h"

struct g2h_redaction {
    uint8_t key[SIPHASH_KEY];
};

enum { REDACTED_MOST = 64 }; /* characters */

/* With the bytes of key; NULL: with random ones. Error: G2H_ERROR_SYSTEM. */
struct g2h_error *redaction_init(struct g2h_redaction *redaction, const uint8_t *key);

/* Writes what stands for size bytes to ret; gives the number of characters, all of them ASCII. */
size_t redaction_write(const struct g2h_redaction *redaction, const void *data, size_t size,
                       char ret[REDACTED_MOST]);

#endif
