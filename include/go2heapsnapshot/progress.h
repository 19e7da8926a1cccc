/* How a long conversion reports its progress. */
#ifndef GO2HEAPSNAPSHOT_PROGRESS_H
#define GO2HEAPSNAPSHOT_PROGRESS_H

#include <stdint.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

/*
 * update() is called on the thread that called the library, every few MB, so that it costs at most
 * a few calls per second. phase is a constant string ("reading", "writing", …); done and total are
 * bytes in the phases that read or copy, and units of work in the others; total is 0 if unknown.
 * objects is the number of objects read so far, or 0.
 */
struct g2h_progress {
    void (*update)(void *context, const char *phase, uint64_t done, uint64_t total,
                   uint64_t objects);
    void *context;
};

G2H_END

#endif
