/* line_io: messages as lines, which are read and written as a whole. */
#ifndef MCP_LINE_IO_H
#define MCP_LINE_IO_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum { LINES_MOST = 1 << 20 /* bytes of a line */ };

struct lines {
    int fd;
    const char *line; /* the one that was read, size bytes without the line feed; until the next */
    size_t size;
    struct text in;
    size_t used;      /* bytes of in that are done with */
    bool is_skipping; /* the rest of a line that is too long */
};

enum lines_state { LINES_READ, LINES_TOO_LONG, LINES_END };

/* Gets memory for the longest line in advance, so that reading needs no more. Returns false if
 * there is none. */
bool lines_reserve(struct lines *lines);

/* Waits for the next line. The last one need not end in a line feed. A line longer than LINES_MOST
 * is reported as soon as it is, and the rest is discarded as it comes. Errors: G2H_ERROR_MEMORY,
 * G2H_ERROR_SYSTEM. */
struct g2h_error *lines_read(struct lines *lines, enum lines_state *ret);
void lines_deinit(struct lines *lines);

/* Writes an entire buffer. Errors: G2H_ERROR_SYSTEM. */
struct g2h_error *lines_write(int fd, const struct text *text);

#endif
