/* redact_key: the file of --redact-key. */
#ifndef CLI_REDACT_KEY_H
#define CLI_REDACT_KEY_H

#include <stdint.h>

#include <go2heapsnapshot/graph.h>

/*
 * Makes a key of all bytes of a file, which others must not be able to read, and which must be as
 * many as a key has at least. Error: G2H_ERROR_SYSTEM; the message says what is wrong with it.
 */
struct g2h_error *redact_key_read(const char *path, uint8_t ret[G2H_REDACT_KEY]);

#endif
