/* line_io; see line_io.h. */
#include "mcp/line_io.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"

enum { STEP = 64 << 10 /* bytes that are read at a time */ };

/* Finds a line in what has been read. */
static bool lines_take(struct lines *lines)
{
    const size_t left = lines->in.size - lines->used;
    if (left == 0)
        return false; /* there may be no memory yet */
    const char *begin = lines->in.data + lines->used, *end = memchr(begin, '\n', left);
    if (!end)
        return false;
    lines->line = begin;
    lines->size = (size_t)(end - begin);
    lines->used += lines->size + 1;
    return true;
}

/* Reads more. *ret is the number of bytes, 0 at the end. */
static struct g2h_error *lines_read_more(struct lines *lines, size_t *ret)
{
    struct text *in = &lines->in;
    ssize_t size;
    if (lines->used > 0)
        memmove(in->data, in->data + lines->used, in->size - lines->used);
    in->size -= lines->used;
    lines->used = 0;
    if (in->capacity - in->size < STEP)
        TRY_MEMORY(text_grow(in, STEP));
    do
        size = read(lines->fd, in->data + in->size, STEP);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return error_system(errno, "standard input");
    in->size += (size_t)size;
    *ret = (size_t)size;
    return NULL;
}

bool lines_reserve(struct lines *lines)
{
    return text_grow(&lines->in, LINES_MOST + 2 * STEP);
}

/* Returns the rest when no more input comes. */
static enum lines_state lines_take_last(struct lines *lines)
{
    lines->line = lines->in.data + lines->used;
    lines->size = lines->in.size - lines->used;
    lines->used = lines->in.size;
    return lines->size > 0 && !lines->is_skipping ? LINES_READ : LINES_END;
}

struct g2h_error *lines_read(struct lines *lines, enum lines_state *ret)
{
    for (size_t more = 0;;) {
        if (lines_take(lines)) {
            const bool is_rest = lines->is_skipping;
            lines->is_skipping = false;
            *ret = lines->size > LINES_MOST ? LINES_TOO_LONG : LINES_READ;
            if (is_rest)
                continue;
            return NULL;
        }
        if (lines->in.size - lines->used > LINES_MOST || lines->is_skipping) {
            const bool is_new = !lines->is_skipping;
            lines->is_skipping = true;
            lines->used = lines->in.size;
            *ret = LINES_TOO_LONG;
            if (is_new)
                return NULL;
        }
        TRY(lines_read_more(lines, &more));
        if (more == 0) {
            *ret = lines_take_last(lines);
            return NULL;
        }
    }
}

void lines_deinit(struct lines *lines)
{
    text_deinit(&lines->in);
}

struct g2h_error *lines_write(int fd, const struct text *text)
{
    for (size_t at = 0; at < text->size;) {
        const ssize_t size = write(fd, text->data + at, text->size - at);
        if (size < 0 && errno != EINTR)
            return error_system(errno, "standard output");
        at += size > 0 ? (size_t)size : 0;
    }
    return NULL;
}
