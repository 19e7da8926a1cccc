/*
 * Redaction: snapshots and reports without the texts of the heap.
 */
#ifndef GO2HEAPSNAPSHOT_REDACTION_H
#define GO2HEAPSNAPSHOT_REDACTION_H

#include <stdint.h>

#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

enum { G2H_REDACT_KEY = 16 /* bytes */ };

/* Says that texts of the heap are not to be shown, and by what key they are hashed instead. */
struct g2h_redaction;

/*
 * key: G2H_REDACT_KEY random bytes, so that equal texts have equal names wherever the same key is
 * used; NULL: with a key that is made up. Errors: G2H_ERROR_MEMORY; G2H_ERROR_SYSTEM where there
 * are no random numbers.
 */
G2H_PUBLIC struct g2h_error *g2h_redaction_create(const uint8_t *key, struct g2h_redaction **ret);
G2H_PUBLIC void g2h_redaction_destroy(struct g2h_redaction *redaction);

G2H_END

#endif
