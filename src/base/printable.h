/* printable: text from outside, such that it can be shown to people. */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/*
 * Replaces, in place, by '?' each byte that is no UTF-8 and each character that a terminal would
 * not show but act upon, or by which it would show others in another place than they are: controls,
 * a new line among them, and what changes the direction of text. Returns the size that is left. May
 * be called from a signal handler.
 */
size_t printable(char *text, size_t size);

#endif
