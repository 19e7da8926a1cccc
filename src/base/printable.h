/* printable: which outside text is safe to show to people; g2h_printable() makes it so. */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

/* Returns whether a character is shown as it is: neither a control that a terminal would interpret,
 * nor a character that changes the direction of text and so moves other characters. */
bool printable_is_shown(uint32_t character);

/* Returns whether a string is valid UTF-8 and all of its characters are shown. */
bool printable_is(const char *text, size_t size);

#endif
