/* A part of an input, or a text, which is not terminated by a 0. The function that returns it says
 * how long it stays valid. */
#ifndef GO2HEAPSNAPSHOT_BYTES_H
#define GO2HEAPSNAPSHOT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_bytes {
    const uint8_t *data;
    uint64_t size;
};

/*
 * Makes a text safe to show, in place. Names and texts of a heap are as they were in the process,
 * and may contain anything. Replaces by '?' each byte that is not valid UTF-8 and each character
 * that a terminal would act upon instead of showing it, or that would make other characters appear
 * in another place: controls, including new lines, and characters that change the direction of
 * text. Returns the size that is left. It may be called from a signal handler.
 */
G2H_PUBLIC size_t g2h_printable(char *text, size_t size);

G2H_END

#endif
