/*
 * Redaction: snapshots and reports without the strings of the heap.
 */
#ifndef GO2HEAPSNAPSHOT_REDACTION_H
#define GO2HEAPSNAPSHOT_REDACTION_H

#include <stdint.h>

#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

enum { G2H_REDACT_KEY = 16 /* bytes */ };

/* Makes names show hashes instead of the heap's strings; holds the key of the hash. */
struct g2h_redaction;

/*
 * Creates a redaction. key: G2H_REDACT_KEY random bytes; equal strings have equal names wherever
 * the same key is used. If key is NULL, a random key is generated. Errors: G2H_ERROR_MEMORY;
 * G2H_ERROR_SYSTEM if the system provides no random numbers.
 */
G2H_PUBLIC struct g2h_error *g2h_redaction_create(const uint8_t *key, struct g2h_redaction **ret);
G2H_PUBLIC void g2h_redaction_destroy(struct g2h_redaction *redaction);

G2H_END

#endif
