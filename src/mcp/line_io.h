/* line_io: messages as lines of text, which are read and written as a whole. */
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

/* Waits for the next line. The last one need not end in a line feed. A line that is longer than
 * LINES_MOST is told when it is, and is then thrown away as it comes. Errors: G2H_ERROR_MEMORY,
 * G2H_ERROR_SYSTEM. */
struct g2h_error *lines_read(struct lines *lines, enum lines_state *ret);
void lines_deinit(struct lines *lines);

/* Writes all of a text. Errors: G2H_ERROR_SYSTEM. */
struct g2h_error *lines_write(int fd, const struct text *text);

#endif
