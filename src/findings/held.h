/*
 * held: indexes for repeated queries of one heap: the retainers of each node, the objects of each
 * class, and the paths to all objects.
 */
#ifndef FINDINGS_HELD_H
#define FINDINGS_HELD_H

#include "findings/class_index.h"
#include "findings/findings.h"

struct held {
    struct class_index classes;
    struct g2h_retainers *retainers;
};

/* Builds the indexes after findings_merge(), and sets findings->held, so that findings use them
 * instead of walking all nodes or edges. They take some 24 bytes per object and 4 per pointer. The
 * caller passes *ret, {0} before, to held_deinit() in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *held_make(struct findings *findings, struct held *ret);
void held_deinit(struct held *held);

#endif
