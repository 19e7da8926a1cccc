/*
 * unpack: the supported compression formats: gzip always; zstd, xz and lz4 if the program was built
 * with their libraries.
 *
 * A packed file is one stream, or several in a row. Each method is called with the bytes available
 * so far, and with space for the unpacked bytes, which may be many more.
 */
#ifndef INPUT_UNPACK_H
#define INPUT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The remaining packed bytes, and the remaining space for unpacked ones. */
struct unpack_buffers {
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t out_size;
};

/* GOES_ON: it takes further bytes or space, which the caller may not have. ENDED: the stream is
 * complete; in points after it. */
enum unpack_status { UNPACK_GOES_ON, UNPACK_ENDED, UNPACK_DAMAGED, UNPACK_NO_MEMORY };

/* The most bytes that is_it() reads. */
enum { UNPACK_MAGIC = 6 };

struct unpack_method {
    const char *name;    /* as in "the gzip stream is cut" */
    const char *command; /* the command that unpacks such a file */
    /* Returns whether bytes begin a stream. */
    bool (*is_it)(const uint8_t *data, uint64_t size);
    /* begin() returns NULL if memory runs out; its result goes to end(). begin itself is NULL if
     * the method's library was not built in. */
    void *(*begin)(void);
    enum unpack_status (*step)(void *state, struct unpack_buffers *buffers, const char **ret_why);
    /* Prepares for the next stream of the file. */
    bool (*again)(void *state);
    void (*end)(void *state);
    const char *(*version)(void); /* of the library */
};

/* Returns the method by which data is packed, or NULL if it is none of these. */
const struct unpack_method *unpack_method_of(const uint8_t *data, uint64_t size);

/* Returns the method with an index, NULL after the last one. 0 is gzip. */
const struct unpack_method *unpack_method_at(unsigned index);

#endif
