/*
 * redaction: replaces strings by keyed hashes, so that equal ones stay equal and none can be read;
 * see include/go2heapsnapshot/redaction.h. The first part is SipHash-2-4; the second writes a
 * replacement, "(<=32 bytes, #…)": the length, rounded up, and the first bytes of the hash.
 */
#include "base/redaction.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/port.h"

/* ==== SipHash-2-4 ==== */

enum { ROUNDS_PER_WORD = 2, ROUNDS_AT_END = 4 };

/* Rotates a word to the left. */
static inline uint64_t siphash_rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

/* Returns the number of up to eight bytes, little-endian. */
static inline uint64_t read_word(const uint8_t *data, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)data[i] << (8 * i);
    return word;
}

/* Writes a word, little-endian. */
static inline void write_word(uint8_t *at, uint64_t word)
{
    for (size_t i = 0; i < 8; i++)
        at[i] = (uint8_t)(word >> (8 * i));
}

/* Runs rounds of SipHash (SipRound). */
static inline void mix(uint64_t state[4], unsigned rounds)
{
    uint64_t a = state[0];
    uint64_t b = state[1];
    uint64_t c = state[2];
    uint64_t d = state[3];
    while (rounds-- > 0) {
        a += b;
        c += d;
        b = siphash_rotate(b, 13) ^ a;
        d = siphash_rotate(d, 16) ^ c;
        a = siphash_rotate(a, 32) + d;
        c += b;
        d = siphash_rotate(d, 21) ^ a;
        b = siphash_rotate(b, 17) ^ c;
        c = siphash_rotate(c, 32);
    }
    state[0] = a;
    state[1] = b;
    state[2] = c;
    state[3] = d;
}

/* Mixes eight bytes of the input into the state. */
static inline void absorb(uint64_t state[4], uint64_t word)
{
    state[3] ^= word;
    mix(state, ROUNDS_PER_WORD);
    state[0] ^= word;
}

/* Runs the last rounds, and returns 64 bits of the hash. */
static inline uint64_t squeeze(uint64_t state[4])
{
    mix(state, ROUNDS_AT_END);
    return state[0] ^ state[1] ^ state[2] ^ state[3];
}

/* Computes the keyed hash of some bytes, SipHash-2-4 with 128 bits of output: each word of input is
 * mixed in, the last one with the size. The constants are those of the reference implementation
 * (https://github.com/veorq/SipHash). */
void siphash(const uint8_t key[SIPHASH_KEY], const void *data, size_t size,
             uint8_t ret[SIPHASH_SIZE])
{
    const uint8_t *at = data;
    const uint64_t low = read_word(key, 8);
    const uint64_t high = read_word(key + 8, 8);
    uint64_t state[4] = {
        low ^ 0x736f6d6570736575,         /* "somepseudorandomlygeneratedbytes" */
        high ^ 0x646f72616e646f6d ^ 0xee, /* 0xee selects 128 bits */
        low ^ 0x6c7967656e657261,
        high ^ 0x7465646279746573,
    };
    const uint64_t last = (uint64_t)size << 56; /* the size's lowest byte comes last */
    for (; size >= 8; size -= 8, at += 8)
        absorb(state, read_word(at, 8));
    absorb(state, last | read_word(at, size));
    state[2] ^= 0xee;
    write_word(ret, squeeze(state));
    state[1] ^= 0xdd;
    write_word(ret + 8, squeeze(state));
}

/* ==== a string's replacement ==== */

enum {
    SHOWN = 10, /* bytes of the hash */
    GRAIN = 16  /* a size is rounded up to a multiple of this */
};

/* Initializes a redaction with the bytes of key, or with random ones if key is NULL. */
struct g2h_error *redaction_init(struct g2h_redaction *redaction, const uint8_t *key)
{
    if (key) {
        memcpy(redaction->key, key, SIPHASH_KEY);
        return NULL;
    }
    const int error = port_random(redaction->key, SIPHASH_KEY, true);
    return error == 0 ? NULL : error_system(error, "cannot redact: no random numbers");
}

/* Makes a redaction with the key, or with a random one if it is NULL. *ret is set only without an
 * error. */
struct g2h_error *g2h_redaction_create(const uint8_t *key, struct g2h_redaction **ret)
{
    _cleanup_free_ struct g2h_redaction *redaction = malloc(sizeof(*redaction));
    TRY_MEMORY(redaction);
    TRY(redaction_init(redaction, key));
    *ret = take_pointer(redaction);
    return NULL;
}

void g2h_redaction_destroy(struct g2h_redaction *redaction)
{
    free(redaction);
}

/* Writes what replaces some bytes: about how many there were, and a hash. Returns its size; it does
 * not end with a NUL. The number is rounded up, because an exact one would say much about a short
 * secret. */
size_t redaction_write(const struct g2h_redaction *redaction, const void *data, size_t size,
                       char ret[REDACTED_MOST])
{
    static const char digits[] = "0123456789abcdef";
    const size_t grains = size > 0 ? (size - 1) / GRAIN + 1 : 1; /* "" and "a" look alike */
    uint8_t hash[SIPHASH_SIZE];
    siphash(redaction->key, data, size, hash);
    char *at =
        ret + snprintf(ret, REDACTED_MOST, "(<=%llu bytes, #", (unsigned long long)grains * GRAIN);
    for (size_t i = 0; i < SHOWN; i++) {
        *at++ = digits[hash[i] >> 4];
        *at++ = digits[hash[i] & 15];
    }
    *at++ = ')';
    assert(at - ret <= REDACTED_MOST);
    return as_size(at - ret);
}
