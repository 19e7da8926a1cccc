/* sha1: SHA-1 (RFC 3174), which the handshake of WebSocket prescribes. It protects nothing here. */
#ifndef INSPECT_SHA1_H
#define INSPECT_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { SHA1_SIZE = 20 };

/* Computes the digest of size bytes. */
void sha1(const void *data, size_t size, uint8_t ret[SHA1_SIZE]);

#endif
