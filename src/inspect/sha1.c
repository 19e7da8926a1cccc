/* sha1; see sha1.h. The names of variables are those of RFC 3174. */
#include "inspect/sha1.h"

#include <string.h>

enum { BLOCK = 64, LENGTH = 8 }; /* bytes of a block, and of the length at the end */

static uint32_t rotate(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

/* The function and constant of a step. */
static uint32_t mix(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void add_block(uint32_t h[5], const uint8_t block[BLOCK])
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (unsigned t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (unsigned t = 0; t < 80; t++) {
        const uint32_t temp = rotate(a, 5) + mix(t, b, c, d) + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = temp;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1(const void *data, size_t size, uint8_t ret[SHA1_SIZE])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t last[2 * BLOCK] = {0};
    const uint8_t *at = data;
    const size_t left = size % BLOCK, padded = left + 1 + LENGTH <= BLOCK ? BLOCK : 2 * BLOCK;
    for (size_t done = 0; done + BLOCK <= size; done += BLOCK, at += BLOCK)
        add_block(h, at);
    if (left > 0)
        memcpy(last, at, left);
    last[left] = 0x80;
    for (unsigned i = 0; i < LENGTH; i++)
        last[padded - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    for (size_t done = 0; done < padded; done += BLOCK)
        add_block(h, last + done);
    for (unsigned i = 0; i < SHA1_SIZE; i++)
        ret[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
