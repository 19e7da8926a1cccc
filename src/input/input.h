/*
 * input: functions for other modules beyond include/go2heapsnapshot/input.h: opening a file, and
 * examining its first bytes before much of it is copied.
 *
 *   input               any source of bytes as one mapped range
 *   magic               the kinds of files that several modules test for
 *   unpack              files that gzip, zstd, xz or lz4 packed
 */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <sys/stat.h>

#include <go2heapsnapshot/input.h>

#include "base/ranges.h"

/* The file behind an input. */
struct input_file {
    int fd;              /* the mapped file: the file itself, or its copy */
    bool is_copy;        /* the file was copied when it was read; the original is not needed any
                            more */
    struct stat status;  /* of the file, not of the copy */
    struct ranges holes; /* of the mapped file */
};

/* Returns the ranges of an input that are known to be zeros. Reading them would fill memory with
 * zeros. */
const struct ranges *input_holes(const struct g2h_input *input);

/*
 * A watcher examines what has been copied so far, so that /dev/zero, or a gzip stream of as many
 * zeros, does not fill a disk. look() returns the size that the copy may reach before the next
 * call; if that is not more than its present size, copying ends. taken is the number of bytes read
 * from the file.
 */
struct input_watcher {
    uint64_t (*look)(void *context, const struct g2h_input *so_far, uint64_t taken);
    void *context;
};
enum { INPUT_FIRST_LOOK = 1 << 16 }; /* look() is first called at this size */

/* Does the work of g2h_input_open(). The watcher is not called for a file that need not be
 * copied. */
struct g2h_error *input_open(const char *path, const struct g2h_progress *progress,
                             const struct input_watcher *watcher, struct g2h_input **ret);

/* Gives an input another name for messages, which is copied. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *input_rename(struct g2h_input *input, const char *name);

/* Writes the bytes of an input to a file. */
typedef struct g2h_error *input_writer(void *context, int fd);

/*
 * Makes an input of the bytes that write() writes to a temporary file. source is the file that they
 * are made from: g2h_input_status() then returns it, so that outputs get no wider permissions; NULL
 * if there is none, as for a pipe. in_memory: no directory has the file. Errors: G2H_ERROR_SYSTEM,
 * G2H_ERROR_MEMORY, and those of write().
 */
struct g2h_error *input_spooled(const char *name, const struct stat *source, bool in_memory,
                                input_writer *write, void *context, struct g2h_input **ret);

/* Makes an input that has a name and a file as above, but no bytes: these have been written
 * elsewhere. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *input_without_bytes(const char *name, const struct stat *source,
                                      struct g2h_input **ret);

/*
 * Declares the access pattern of an input, which matters if it may be larger than memory. With
 * INPUT_HERE_AND_THERE it is read page by page: readahead would evict pages that are needed for
 * others that are not. With INPUT_ALL memory has room for all of it: pages that the system has
 * dropped meanwhile are read back now, in large pieces, and holes are not.
 */
enum input_order { INPUT_FORWARDS, INPUT_HERE_AND_THERE, INPUT_ALL };
void input_expect(const struct g2h_input *input, enum input_order order);

/* Returns the directory of temporary files; "": they are in memory. */
const char *input_directory(void);

/* Returns whether somebody has said where temporary files go. */
bool input_has_directory(void);

/* Has temporary files be created in a directory in place of $TMPDIR, or in memory if it is "". The
 * string must live as long as files are opened. */
void input_use_directory(const char *directory);

/* Creates a temporary file without a name in a directory, or in memory if it is "". Returns its
 * descriptor, or -1 with errno set. */
int input_temporary_file(const char *directory);

#endif
