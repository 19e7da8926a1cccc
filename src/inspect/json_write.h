/* json_write: a text as a JSON string that a program reads. It may not be shown on a terminal as it
 * is; for that there is json_string() of output/json.h, whose escapes take more room. */
#ifndef INSPECT_JSON_WRITE_H
#define INSPECT_JSON_WRITE_H

#include <stddef.h>

#include "base/text.h"

/* Appends UTF-8 as a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD. */
void json_write(struct text *text, const char *data, size_t size);

/* The same for a C string. */
void json_write_string(struct text *text, const char *string);

#endif
