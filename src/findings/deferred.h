/* deferred: the memory that a function's deferred calls hold, by class. */
#ifndef FINDINGS_DEFERRED_H
#define FINDINGS_DEFERRED_H

#include "findings/findings.h"

/* The objects of a class that deferred calls hold. */
struct deferred_held {
    uint32_t node; /* of merged: some of these objects */
    uint64_t count, retained;
};
typedef VECTOR(struct deferred_held) deferred_vector;

/* Finds what the calls below a node of merged hold; the class that retains most comes first. The
 * caller frees ret->data. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *deferred_find(const struct findings *findings, uint32_t calls,
                                deferred_vector *ret);

#endif
