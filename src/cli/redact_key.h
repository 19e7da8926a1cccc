/* redact_key: reads the file of --redact-key. */
#ifndef CLI_REDACT_KEY_H
#define CLI_REDACT_KEY_H

#include <stdint.h>

#include <go2heapsnapshot/graph.h>

/*
 * Makes a key from all bytes of a file. The file must not be readable by everybody, and must have
 * at least as many bytes as a key. Error: G2H_ERROR_SYSTEM, whose message explains the problem with
 * the file.
 */
struct g2h_error *redact_key_read(const char *path, uint8_t ret[G2H_REDACT_KEY]);

#endif
