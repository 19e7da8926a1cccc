/*
 * The bytes of a dump, mapped into memory.
 *
 * A regular file is mapped where it lies. A pipe, and gzip of either, is spooled to an unlinked
 * temporary file in $TMPDIR (default /tmp) first, so that it takes no memory of the process.
 */
#ifndef GO2HEAPSNAPSHOT_INPUT_H
#define GO2HEAPSNAPSHOT_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <go2heapsnapshot/error.h>
#include <go2heapsnapshot/progress.h>
#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct stat;

struct g2h_input {
    const char *name;    /* for messages: the path, or "standard input" */
    const uint8_t *data; /* size bytes, readable until g2h_input_close() */
    uint64_t size;
    uint64_t stored; /* bytes of the file that was given, which may be gzipped */
    /* Of a gzip stream that ended early or failed its checks: why. What was inflated before is
     * there. */
    struct g2h_error *damage;
    bool unpacked;           /* it was gzipped */
    bool borrowed;           /* data is the caller's: g2h_input_close() leaves it alone */
    struct input_file *file; /* where it comes from; NULL: from memory */
};

/*
 * Opens the dump at path, "-" for standard input. gzip (RFC 1952, several members too) is told by
 * its magic 1f 8b. Of what has to be spooled, and is no dump or is damaged, not much more is
 * spooled than can be read. progress may be NULL.
 *
 * Errors: G2H_ERROR_SYSTEM (open, read, no space in $TMPDIR), G2H_ERROR_MEMORY. A damaged gzip
 * stream is none: see damage above.
 */
G2H_PUBLIC struct g2h_error *g2h_input_open(const char *path, const struct g2h_progress *progress,
                                            struct g2h_input **ret);

/* Takes bytes that are in memory already; they must stay until g2h_input_close(). */
G2H_PUBLIC struct g2h_error *g2h_input_from_memory(const char *name, const void *data,
                                                   uint64_t size, struct g2h_input **ret);

/*
 * Whether the file is as it was when it was opened, by its size and its times; to be asked when all
 * has been made of it. A file that is written to while it is read is no dump of any moment, and
 * what has been made of it is worth nothing, though it did no other harm. Error: G2H_ERROR_SYSTEM.
 */
G2H_PUBLIC struct g2h_error *g2h_input_check(const struct g2h_input *input);

/* What fstat() said of the file when it was opened; NULL of memory. */
G2H_PUBLIC const struct stat *g2h_input_status(const struct g2h_input *input);

/*
 * For a handler of SIGBUS, which says that mapped bytes cannot be had: why not, and the name of the
 * open input that has the address. NULL where none has it.
 */
G2H_PUBLIC const char *g2h_input_fault(const void *address, const char **ret_name);

/* Unmaps and frees. NULL is fine. */
G2H_PUBLIC void g2h_input_close(struct g2h_input *input);

G2H_END

#endif
