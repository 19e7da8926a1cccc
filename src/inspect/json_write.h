/* json_write: writes a string as JSON for a program to read. It may not be shown on a terminal as
 * it is; json_string() of output/json.h is for that, whose escapes take more space. */
#ifndef INSPECT_JSON_WRITE_H
#define INSPECT_JSON_WRITE_H

#include <stddef.h>

#include "base/text.h"

/* Appends UTF-8 as a JSON string with its quotes. Invalid bytes become U+FFFD. */
void json_write(struct text *text, const char *data, size_t size);

/* The same for a C string. */
void json_write_string(struct text *text, const char *string);

/* Appends an event Runtime.consoleAPICalled of this moment: a line for DevTools' console, with type
 * "log", "warning" or "error". */
void json_write_console(struct text *text, const char *type, const char *line);

#endif
