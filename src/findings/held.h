/*
 * held: what makes questions to a heap quick that is asked again and again: who points where, which
 * objects are of a class, and the paths to all objects.
 */
#ifndef FINDINGS_HELD_H
#define FINDINGS_HELD_H

#include "findings/class_index.h"
#include "findings/findings.h"

struct held {
    struct class_index classes;
    struct g2h_retainers *retainers;
};

/* Makes it of findings after findings_merge(), and sets findings->held, so that findings take it
 * instead of going over all nodes or edges. It takes some 24 bytes per object and 4 per pointer.
 * The caller gives *ret, {0} before, to held_deinit() in any case. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *held_make(struct findings *findings, struct held *ret);
void held_deinit(struct held *held);

#endif
