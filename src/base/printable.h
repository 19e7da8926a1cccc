/* printable: which text from outside is safe to show to people; g2h_printable() makes it so. */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <go2heapsnapshot/bytes.h>

/* Returns whether a character is shown as it is: it is none that a terminal would act upon, or that
 * would make other characters appear in another place: no control, and none that changes the
 * direction of text. */
bool printable_is_shown(uint32_t character);

/* Returns whether a text is UTF-8, and all of its characters are shown. */
bool printable_is(const char *text, size_t size);

#endif
