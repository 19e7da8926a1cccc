/* A slice of an input or a string, not NUL-terminated. Each function that returns one documents how
 * long it stays valid. */
#ifndef GO2HEAPSNAPSHOT_BYTES_H
#define GO2HEAPSNAPSHOT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/visibility.h>

G2H_BEGIN

struct g2h_bytes {
    const uint8_t *data;
    size_t size;
};

/*
 * Makes a string safe to show, in place. Names and strings of a heap come from the process and may
 * contain anything. Replaces with '?' each byte that is not valid UTF-8 and each character that a
 * terminal would interpret instead of showing, or that would reorder other characters: controls,
 * including newlines, and characters that change the direction of text. Returns the remaining size.
 * Async-signal-safe.
 */
G2H_PUBLIC size_t g2h_printable(char *text, size_t size);

G2H_END

#endif
