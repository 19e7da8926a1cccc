/* redaction; see redaction.h. */
#include "base/contract.h"
#include "base/redaction.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/port.h"
#include "base/scope.h"

/* The number of shown bytes of the hash, and the multiple that a size is rounded up to. */
enum { SHOWN = 10, GRAIN = 16 };

struct g2h_error *redaction_init(struct g2h_redaction *redaction, const uint8_t *key)
{
    if (key) {
        memcpy(redaction->key, key, SIPHASH_KEY);
        return NULL;
    }
    const int error = port_random(redaction->key, SIPHASH_KEY, true);
    return error == 0 ? NULL : error_system(error, "cannot redact: no random numbers");
}

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

/* The size is rounded up, because an exact one would say much about a short secret. */
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
    return (size_t)(at - ret);
}
