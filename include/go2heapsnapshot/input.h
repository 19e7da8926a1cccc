/*
 * The bytes of a dump, mapped into memory.
 *
 * A regular file is mapped directly. A pipe, and any gzip stream, is first written to an unlinked
 * temporary file in $TMPDIR (default /tmp), so that it takes no memory of the process.
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
    uint64_t stored; /* size of the original file in bytes, possibly gzipped */
    /* Why a gzip stream ended early or failed its checks; NULL if it did not. data has the bytes
     * inflated before that. */
    struct g2h_error *damage;
    bool unpacked;           /* the file was compressed: by gzip, zstd … */
    bool borrowed;           /* data belongs to the caller: g2h_input_close() leaves it alone */
    struct input_file *file; /* where data comes from; NULL: from memory */
};

/*
 * Opens the dump at path, "-" for standard input. gzip (RFC 1952, several members too) is detected
 * by its magic 1f 8b. If an input must be copied to a temporary file but is not a dump, or is
 * damaged, copying stops soon after that is known. progress may be NULL.
 *
 * Errors: G2H_ERROR_SYSTEM (open, read, no space in $TMPDIR), G2H_ERROR_MEMORY. A damaged gzip
 * stream is not an error: see damage above.
 */
G2H_PUBLIC struct g2h_error *g2h_input_open(const char *path, const struct g2h_progress *progress,
                                            struct g2h_input **ret);

/*
 * Finds the first bytes of [from, end) that are known to be zero because the file has a hole there:
 * reading them would only fill memory. Returns false if there are none; then *ret_begin and
 * *ret_end are end.
 */
G2H_PUBLIC bool g2h_input_hole(const struct g2h_input *input, uint64_t from, uint64_t end,
                               uint64_t *ret_begin, uint64_t *ret_end);

/* Makes an input of bytes that are already in memory; they must stay valid until g2h_input_close().
 * The name is copied. Errors: G2H_ERROR_MEMORY. */
G2H_PUBLIC struct g2h_error *g2h_input_from_memory(const char *name, const void *data,
                                                   uint64_t size, struct g2h_input **ret);

/*
 * Checks by size and times that the file has not changed since it was opened; call this after all
 * results have been produced. If a file was written to while it was read, it is not a dump of any
 * one moment and the results are worthless, though reading it does no other harm. Errors:
 * G2H_ERROR_SYSTEM.
 */
G2H_PUBLIC struct g2h_error *g2h_input_check(const struct g2h_input *input);

/* Returns the result of fstat() when the file was opened: of a core or a live process, the core
 * file or /proc/PID/mem. All zeros if the bytes come from neither; NULL for an input from
 * memory. */
G2H_PUBLIC const struct stat *g2h_input_status(const struct g2h_input *input);

/*
 * For a handler of SIGBUS, which is raised when mapped bytes cannot be read: returns the reason,
 * and the name of the open input that contains the address. Returns NULL if no input contains it.
 */
G2H_PUBLIC const char *g2h_input_fault(const void *address, const char **ret_name);

/* Unmaps and frees an input; NULL is allowed. */
G2H_PUBLIC void g2h_input_close(struct g2h_input *input);

G2H_END

#endif
