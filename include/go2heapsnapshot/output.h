/*
 * Writing a view: formats by name, to a file descriptor.
 */
#ifndef GO2HEAPSNAPSHOT_OUTPUT_H
#define GO2HEAPSNAPSHOT_OUTPUT_H

#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/view.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_output_options {
    int fd;           /* where to; not closed */
    const char *name; /* of it, for messages */
    bool gzip;        /* compress (RFC 1952) */
    unsigned threads; /* 0: one per processor. The bytes are the same for any number */
    const struct g2h_progress *progress; /* may be NULL */
};

/*
 * Writes a V8 heap snapshot (.heapsnapshot) as Chrome DevTools reads it; docs/snapshot.md.
 * Errors: G2H_ERROR_SYSTEM (the write failed: part of the file may be there), G2H_ERROR_MEMORY.
 */
G2H_PUBLIC struct g2h_error *g2h_write_heapsnapshot(const struct g2h_view *view,
                                                    const struct g2h_output_options *options);

G2H_END

#endif
