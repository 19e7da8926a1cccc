/* How a long conversion tells how far it is. */
#ifndef GO2HEAPSNAPSHOT_PROGRESS_H
#define GO2HEAPSNAPSHOT_PROGRESS_H

#include <stdint.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/*
 * Called on the thread that called the library, a few times a second at most in cost: every few MB.
 * phase is a constant string ("reading", "writing", …); done and total are bytes for the phases
 * that read and objects for the others, total 0 where it is unknown.
 */
struct g2h_progress {
    void (*update)(void *context, const char *phase, uint64_t done, uint64_t total,
                   uint64_t objects);
    void *context;
};

G2H_END

#endif
