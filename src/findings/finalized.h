/* finalized: objects whose finalizers or cleanups never run. */
#ifndef FINDINGS_FINALIZED_H
#define FINDINGS_FINALIZED_H

#include "findings/findings.h"

enum finalized {
    FINALIZED_CAN_RUN,     /* or it has neither a finalizer nor a cleanup */
    FINALIZED_SELF,        /* the object with the finalizer reaches itself */
    FINALIZED_BY_FUNCTION, /* the finalizer's function reaches the object */
    FINALIZED_BY_CLEANUP,  /* the cleanup's function or argument reaches the object */
};

/* Finds out why an object, a node of the view, is never freed, if only a finalizer, or an object
 * that is kept for a cleanup, holds it. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *finalized_find(const struct findings *findings, uint32_t node,
                                 enum finalized *ret);

/* The goroutine that runs finalizers or cleanups, while one of these blocks: all others wait for
 * it. */
struct finalized_blocker {
    uint32_t goroutine;   /* a node of the view, or UINT32_MAX */
    const char *runs;     /* "cleanups", for example */
    const char *function; /* the program's that it waits in: the view's name, not terminated */
    size_t function_size;
};

/* Finds the goroutine that runs finalizers or cleanups, if an object, a node of the view, waits for
 * its own; ret->goroutine is UINT32_MAX otherwise, or if no such goroutine is blocked. */
void finalized_find_blocker(const struct findings *findings, uint32_t node,
                            struct finalized_blocker *ret);

#endif
