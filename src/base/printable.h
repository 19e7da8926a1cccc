/* printable: makes text from outside safe to show to people. */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/*
 * Replaces by '?', in place, each byte that is not valid UTF-8 and each character that a terminal
 * would act upon instead of showing it, or that would make other characters appear in another
 * place: controls, including new lines, and characters that change the direction of text. Returns
 * the size that is left. It may be called from a signal handler.
 */
size_t printable(char *text, size_t size);

#endif
